//! What a run tells about itself while it happens.

use crate::{End, StateView};
use touchstone_ir::{BlockId, BranchRole, CondTag, FuncId, PathHash, PointId};

/// Something that happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A branch was executed.
    Branch {
        /// Function of the branch.
        func: FuncId,
        /// Block that ends in it.
        block: BlockId,
        /// What it is to the source.
        role: BranchRole,
        /// Which condition of the source it evaluates.
        tag: Option<CondTag>,
        /// Whether it went to its then side.
        taken: bool,
    },
    /// A switch was executed.
    Switch {
        /// Function of the switch.
        func: FuncId,
        /// Block that ends in it.
        block: BlockId,
        /// What it is to the source.
        role: BranchRole,
        /// Index of the first arm that has the taken target; the number of arms if only the default has it.
        arm: usize,
        /// Where it went.
        target: BlockId,
    },
    /// A call through a pointer was executed; its [`Event::Call`] follows.
    Indirect {
        /// Function of the call.
        func: FuncId,
        /// Its block.
        block: BlockId,
        /// Where it goes.
        callee: FuncId,
    },
    /// A function is entered, also the outermost one.
    Call(FuncId),
    /// The innermost function was left: by its return, or because something thrown goes to one of its callers.
    Return,
}

/// Listens to a run.
pub trait Observer {
    /// Something happened.
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
    /// others nothing.
    fn enter(&mut self, _at: &StateView<'_>) {}
    /// A point was executed.
    fn point(&mut self, _point: PointId, _at: &StateView<'_>) {}
}

/// Listens to nothing.
#[derive(Clone, Copy, Default, Debug)]
pub struct NullObserver;

impl Observer for NullObserver {
    fn event(&mut self, _: &Event) {}
    fn output(&mut self, _: &[u8]) {}
}

/// Hashes the outcomes of a run into the identity of its path, and keeps the output.
#[derive(Clone, Default, Debug)]
pub struct PathRecorder {
    /// The path so far.
    pub path: PathHash,
    /// How many outcomes it has.
    pub outcomes: u64,
    /// What was printed.
    pub output: Vec<u8>,
}

impl PathRecorder {
    /// The identity of the whole path, once the run has ended.
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
