//! POLICY

/// What drivers differ in, said once when the executor is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Policy {
    pub environment: Environment,
    pub labels: LabelQueries,
    pub checks: Checks,
    pub effort: SolverEffort,
}

/// How long the solver thinks about one question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SolverEffort {
    /// As long as the user lets it.
    Time,
    /// For so many conflicts: the same on every machine.
    Conflicts(u64),
}

/// When a question for a label that is not easily answered is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LabelQueries {
    /// When nothing else is left: another path may cover the label.
    Deferred,
    /// At once.
    Immediate,
}

/// Whether a step tells the checks that it made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Checks {
    Recorded,
    Ignored,
}

impl Policy {
    /// A search for tests.
    pub const TESTS: Policy = Policy {
        environment: Environment::Testable,
        labels: LabelQueries::Deferred,
        checks: Checks::Ignored,
        effort: SolverEffort::Time,
    };
    /// A proof: in any world, and nothing waits.
    pub const PROOF: Policy =
        Policy { environment: Environment::Any, labels: LabelQueries::Immediate, ..Policy::TESTS };
    /// An explanation wants to know what was checked.
    pub const EXPLANATION: Policy = Policy { checks: Checks::Recorded, ..Policy::TESTS };

    /// A proof whose questions may cost so many conflicts each.
    pub const fn proof_within(conflicts: u64) -> Policy {
        Policy { effort: SolverEffort::Conflicts(conflicts), ..Policy::PROOF }
    }
}

/// Which world a function runs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Environment {
    /// What tests can make. Inputs for which something has no defined result are avoided as long as a path has others.
    Testable,
    /// Whatever a program could do. A proof leaves nothing out.
    Any,
}
