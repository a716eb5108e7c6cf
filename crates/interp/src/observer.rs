//! Events of a run, and the observers that receive them.

use crate::{End, StateView};
use touchstone_ir::{BlockId, BranchRole, CondTag, FuncId, Operand, PathHash, PointId};

/// An event of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A branch was executed.
    Branch {
        /// The function of the branch.
        func: FuncId,
        /// The block that ends in it.
        block: BlockId,
        /// Its role in the source.
        role: BranchRole,
        /// The condition of the source that it evaluates.
        tag: Option<CondTag>,
        /// True if the then side was taken.
        taken: bool,
    },
    /// A switch was executed.
    Switch {
        /// The function of the switch.
        func: FuncId,
        /// The block that ends in it.
        block: BlockId,
        /// Its role in the source.
        role: BranchRole,
        /// The index of the first arm with the taken target, or the number of arms if only the default has it.
        arm: usize,
        /// The taken target.
        target: BlockId,
    },
    /// A call through a pointer was executed; its [`Event::Call`] follows.
    Indirect {
        /// The function of the call.
        func: FuncId,
        /// Its block.
        block: BlockId,
        /// The called function.
        callee: FuncId,
    },
    /// A function is entered, also the outermost one.
    Call(FuncId),
    /// The innermost function was left: by its return, or by an exception that one of its callers handles.
    Return,
}

/// Receives the events of a run.
pub trait Observer {
    /// True if the observer watches any points.
    const WATCHES_POINTS: bool = true;
    /// Receives an event.
    fn event(&mut self, event: &Event);
    /// The program wrote to standard output.
    fn output(&mut self, bytes: &[u8]);
    /// The program wrote to standard error.
    fn error_output(&mut self, _bytes: &[u8]) {}
    /// The program reads a byte of standard input; `None` at its end.
    fn input(&mut self) -> Option<u8> {
        None
    }
    /// Two integers were compared.
    fn compared(&mut self, _a: u64, _b: u64) {}
    /// A function was entered, right after its [`Event::Call`]: the registers of its parameters hold the arguments, the
    /// others are undefined.
    fn enter(&mut self, _at: &StateView<'_>) {}
    /// A function is about to return the value of an operand, which is defined.
    fn returning(&mut self, _operand: Operand, _at: &StateView<'_>) {}
    /// Returns true if [`Observer::point`] does anything at a point now.
    fn watches(&self, _func: FuncId, _point: PointId) -> bool {
        true
    }
    /// A point was executed. Points that are not [watched](Observer::watches) may be left out.
    fn point(&mut self, _point: PointId, _at: &StateView<'_>) {}
}

/// Ignores all events.
#[derive(Clone, Copy, Default, Debug)]
pub struct NullObserver;

impl Observer for NullObserver {
    const WATCHES_POINTS: bool = false;
    fn event(&mut self, _: &Event) {}
    fn output(&mut self, _: &[u8]) {}
}

/// Hashes the outcomes of a run into the identity of its path, and records the output.
#[derive(Clone, Default, Debug)]
pub struct PathRecorder {
    /// The path so far.
    pub path: PathHash,
    /// The number of outcomes.
    pub outcomes: u64,
    /// The output.
    pub output: Vec<u8>,
}

impl PathRecorder {
    /// Returns the identity of the whole path, after the end of the run.
    pub fn finish(&self, end: &End) -> PathHash {
        let mut path = self.path;
        match end {
            End::Error { kind, span } => path.end_error(*kind, *span),
            End::Threw { class, .. } => path.end_threw(*class),
            _ => {}
        }
        path
    }
}

impl Observer for PathRecorder {
    const WATCHES_POINTS: bool = false;
    fn event(&mut self, event: &Event) {
        match *event {
            Event::Branch { role, .. } | Event::Switch { role, .. } if !role.is_outcome() => return,
            Event::Branch { func, block, role, tag, taken } => self.path.branch(func, block, role, tag, taken),
            Event::Switch { func, block, role, target, .. } => self.path.switch(func, block, role, target),
            Event::Indirect { func, block, callee } => self.path.indirect(func, block, callee),
            Event::Call(_) | Event::Return => return,
        }
        self.outcomes += 1;
    }
    fn output(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
    }
}
