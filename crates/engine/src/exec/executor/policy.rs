//! POLICY

/// What drivers differ in, said once when the executor is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Policy {
    pub world: World,
    pub labels: LabelQuestions,
    pub checks: Checks,
    pub effort: Effort,
}

/// How long the solver thinks about one question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// As long as the user lets it.
    Time,
    /// For so many conflicts: the same on every machine.
    Conflicts(u64),
}

/// When a question for a label that is not easily answered is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LabelQuestions {
    /// When nothing else is left: another path may cover the label.
    Wait,
    /// At once.
    AtOnce,
}

/// Whether a step tells the checks that it made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Checks {
    Told,
    Untold,
}

impl Policy {
    /// A search for tests.
    pub const TESTS: Policy =
        Policy { world: World::Tested, labels: LabelQuestions::Wait, checks: Checks::Untold, effort: Effort::Time };
    /// A proof: in any world, and nothing waits.
    pub const PROOF: Policy = Policy { world: World::Any, labels: LabelQuestions::AtOnce, ..Policy::TESTS };
    /// An explanation wants to know what was checked.
    pub const EXPLANATION: Policy = Policy { checks: Checks::Told, ..Policy::TESTS };

    /// A proof whose questions may cost so many conflicts each.
    pub const fn proof_within(conflicts: u64) -> Policy {
        Policy { effort: Effort::Conflicts(conflicts), ..Policy::PROOF }
    }
}

/// Which world a function runs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum World {
    /// What tests can make. Inputs for which something has no defined result are avoided as long as a path has others.
    Tested,
    /// Whatever a program could do. A proof leaves nothing out.
    Any,
}
