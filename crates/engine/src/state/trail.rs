//! What happened on a path, newest first: the outcomes of its branches, and what was chosen where inputs leave a choice.
//! Shared between states.

use std::rc::Rc;
use touchstone_ir::{CondTag, FuncId};

/// Something that inputs decide, settled on a path. Together with the program, the choices of a path say all that
/// happens on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Choice {
    /// Which start, where a run can start in several ways.
    Start(u32),
    /// The outcome of a branch.
    Branch(bool),
    /// The block that a switch goes to, by its number.
    Arm(u32),
    /// The address that a call through a pointer goes to.
    Callee(u64),
    /// What an input pointer leads to: one of the shapes that it can have, in their order.
    Shape(u32),
    /// The value of a term that must be fixed.
    Value(u64),
    /// The value of a term that must be fixed is greater than this; which one is settled next.
    Beyond(u64),
    /// Whether a check holds that need not, or whether inputs without a defined result could be avoided.
    Check(bool),
}

/// The outcome of a branch, whether inputs decide it or not.
#[derive(Clone, Copy)]
pub(crate) struct BranchOutcome {
    pub func: FuncId,
    pub tag: Option<CondTag>,
    pub taken: bool,
    /// Inputs decided it: it is a choice, too.
    pub chosen: bool,
    /// Number of frames, this one included.
    pub depth: u32,
}

/// One thing that happened.
pub(crate) enum Mark {
    Outcome(BranchOutcome),
    Choice(Choice),
}

/// What happened on a path.
#[derive(Clone, Default)]
pub(crate) struct Trail(Option<Rc<Link>>);

struct Link {
    mark: Mark,
    earlier: Trail,
}

impl Drop for Link {
    fn drop(&mut self) {
        // A long trail must not be freed recursively: the host stack is not the program's.
        let mut next = self.earlier.0.take();
        while let Some(mut link) = next.and_then(Rc::into_inner) {
            next = link.earlier.0.take();
        }
    }
}

impl Trail {
    pub fn outcome(&mut self, outcome: BranchOutcome) {
        self.push(Mark::Outcome(outcome));
    }

    pub fn choose(&mut self, choice: Choice) {
        self.push(Mark::Choice(choice));
    }

    fn push(&mut self, mark: Mark) {
        let earlier = Trail(self.0.take());
        self.0 = Some(Rc::new(Link { mark, earlier }));
    }

    fn marks(&self) -> impl Iterator<Item = &Mark> {
        std::iter::successors(self.0.as_deref(), |link| link.earlier.0.as_deref()).map(|link| &link.mark)
    }

    /// Outcomes of branches, newest first.
    pub fn outcomes(&self) -> impl Iterator<Item = &BranchOutcome> {
        self.marks().filter_map(|mark| match mark {
            Mark::Outcome(outcome) => Some(outcome),
            Mark::Choice(_) => None,
        })
    }

    /// What was settled last, if nothing else happened since.
    pub fn last_choice(&self) -> Option<Choice> {
        match self.marks().next()? {
            Mark::Choice(choice) => Some(*choice),
            Mark::Outcome(_) => None,
        }
    }

    /// Choices, oldest first.
    pub fn choices(&self) -> Vec<Choice> {
        let newest_first = self.marks().filter_map(|mark| match mark {
            Mark::Choice(choice) => Some(*choice),
            Mark::Outcome(outcome) => outcome.chosen.then_some(Choice::Branch(outcome.taken)),
        });
        let mut choices: Vec<Choice> = newest_first.collect();
        choices.reverse();
        choices
    }
}
