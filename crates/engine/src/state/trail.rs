//! The trail of a path, newest first: outcomes of branches, and choices where inputs leave several possibilities.
//! Shared between states.

use std::rc::Rc;
use touchstone_ir::{CondTag, FuncId};

/// A choice at a point where inputs leave several possibilities. The program and the choices of a path determine
/// everything that happens on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Choice {
    /// The number of the initial state, if a run can start in several.
    Start(u32),
    /// The outcome of a branch.
    Branch(bool),
    /// The number of the target block of a switch.
    Arm(u32),
    /// The address that a call through a pointer resolves to.
    Callee(u64),
    /// The target of a symbolic pointer: its index among the possible targets.
    Shape(u32),
    /// The value of a term that is fixed.
    Value(u64),
    /// The value of a term that is fixed is greater than this; a later choice says which one it is.
    Beyond(u64),
    /// The result of a check that may fail, or false if inputs without a defined result could not be avoided.
    Check(bool),
}

/// The outcome of a branch, input-dependent or not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct BranchOutcome {
    pub func: FuncId,
    pub tag: Option<CondTag>,
    pub taken: bool,
    /// True if the outcome depends on inputs: it is also a choice.
    pub chosen: bool,
    /// The number of frames, this one included.
    pub depth: u32,
}

/// An entry of the trail.
#[derive(PartialEq, Eq)]
pub(crate) enum Mark {
    Outcome(BranchOutcome),
    Choice(Choice),
}

/// The history of a path.
#[derive(Clone, Default)]
pub(crate) struct Trail(Option<Rc<Link>>);

struct Link {
    mark: Mark,
    /// The number of times that the mark occurs here in a row.
    count: u32,
    earlier: Trail,
}

impl Drop for Link {
    fn drop(&mut self) {
        // A long trail must not be freed recursively: it would overflow the host stack.
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
        // A loop over constants repeats its outcome.
        if let Some(last) = self.0.as_mut().and_then(Rc::get_mut)
            && last.mark == mark
            && last.count < u32::MAX
        {
            last.count += 1;
            return;
        }
        let earlier = Trail(self.0.take());
        self.0 = Some(Rc::new(Link { mark, count: 1, earlier }));
    }

    fn marks(&self) -> impl Iterator<Item = &Mark> {
        std::iter::successors(self.0.as_deref(), |link| link.earlier.0.as_deref())
            .flat_map(|link| std::iter::repeat_n(&link.mark, link.count as usize))
    }

    /// Returns outcomes of branches, newest first.
    pub fn outcomes(&self) -> impl Iterator<Item = &BranchOutcome> {
        self.marks().filter_map(|mark| match mark {
            Mark::Outcome(outcome) => Some(outcome),
            Mark::Choice(_) => None,
        })
    }

    /// Returns the last entry if it is a choice.
    pub fn last_choice(&self) -> Option<Choice> {
        match self.marks().next()? {
            Mark::Choice(choice) => Some(*choice),
            Mark::Outcome(_) => None,
        }
    }

    /// Returns the choices, oldest first.
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
