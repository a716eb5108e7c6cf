//! The policy of an executor: everything in which drivers differ.

/// Everything in which drivers differ, fixed when the executor is created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Policy {
    pub environment: Environment,
    pub labels: LabelQueries,
    pub checks: CheckRecording,
    pub effort: QueryLimit,
}

/// The limit on one solver query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QueryLimit {
    /// The user's timeout.
    Time,
    /// A number of conflicts, the same on every machine.
    Conflicts(u64),
}

/// The time at which a hard solver query for a label is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LabelQueries {
    /// At the end of the search: another path may cover the label first.
    Deferred,
    /// At the label.
    Immediate,
}

/// The treatment of the checks that a step makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CheckRecording {
    Recorded,
    Ignored,
}

impl Policy {
    /// The policy of a search for tests.
    pub const TESTS: Policy = Policy {
        environment: Environment::Testable,
        labels: LabelQueries::Deferred,
        checks: CheckRecording::Ignored,
        effort: QueryLimit::Time,
    };
    /// The policy of a proof: any environment, and no query is deferred.
    pub const PROOF: Policy =
        Policy { environment: Environment::Any, labels: LabelQueries::Immediate, ..Policy::TESTS };
    /// The policy of an explanation, which needs the checks that were made.
    pub const EXPLANATION: Policy = Policy { checks: CheckRecording::Recorded, ..Policy::TESTS };

    /// Returns the policy of a proof with queries that are limited to this many conflicts each.
    pub const fn proof_within(conflicts: u64) -> Policy {
        Policy { effort: QueryLimit::Conflicts(conflicts), ..Policy::PROOF }
    }
}

/// The environment that a function runs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Environment {
    /// An environment that a test can create. Inputs without a defined result are avoided as long as the path has
    /// others.
    Testable,
    /// Any environment that a program could provide. A proof excludes nothing.
    Any,
}
