//! Symbolic states: small, cheap to copy, one for every path that is still open.

use crate::inputs::Inputs;
use crate::memory::Memory;
use crate::value::{ObjectId, Value};
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::Incomplete;
use touchstone_ir::{BlockId, CondTag, DecisionId, ErrorKind, FuncId, Operand, PathHash, Reg};
use touchstone_solver::{Path, TermId};

/// Locals of all frames together have at most so many bytes: with more, the real program has no stack left.
pub(crate) const MOST_STACK: u64 = 8 << 20;

/// One call.
#[derive(Clone)]
pub(crate) struct Frame {
    pub func: FuncId,
    pub block: BlockId,
    /// Index of the next instruction in the block.
    pub inst: usize,
    pub regs: Vec<Value>,
    pub slots: Vec<ObjectId>,
    /// Where the caller wants the result.
    pub result: Option<Reg>,
    /// Decisions that are being evaluated, where that matters for pruning.
    pub decisions: Vec<DecisionId>,
    /// How often each loop header was arrived at since its loop was entered.
    pub arrivals: Vec<(BlockId, u32)>,
    /// Bytes of the locals of this frame and those below it.
    pub stack: u64,
}

impl Frame {
    pub fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Reg(reg) => self.regs[reg.index()].clone(),
            Operand::Const(_, value) => Value::constant(value),
        }
    }
}

/// How a path ended, or why it was given up.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum PathEnd {
    Returned(Option<Value>),
    Exited(Value),
    Error {
        kind: ErrorKind,
        span: Span,
    },
    /// The program itself says that this is no path (`assume`).
    Assumed,
    /// The path has more loop iterations than the criterion asks for.
    Longer,
    Incomplete {
        why: Incomplete,
        span: Span,
    },
}

/// What an undecided input pointer is wanted for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Purpose {
    /// An access, or a computation that may lead to one.
    Access,
    /// A comparison: it may also lead just behind an object.
    Compare,
    /// Its order with, or distance from, a pointer into this object.
    Beside(ObjectId),
}

/// Why an instruction could not simply be executed.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stop {
    /// The path is over.
    End(PathEnd),
    /// An undecided input pointer must be decided first; then the instruction is executed again.
    Force(crate::value::LazyId, Purpose),
    /// A term must be fixed to each of its values first; then the instruction is executed again.
    Enumerate(TermId),
}

impl Stop {
    pub fn error(kind: ErrorKind, span: Span) -> Stop {
        Stop::End(PathEnd::Error { kind, span })
    }
    pub fn unsupported(what: impl Into<String>, span: Span) -> Stop {
        Stop::End(PathEnd::Incomplete { why: Incomplete::Unsupported(what.into()), span })
    }
    pub fn bound(bound: touchstone_criteria::Bound, span: Span) -> Stop {
        Stop::End(PathEnd::Incomplete { why: Incomplete::Bound(bound), span })
    }
}

/// One outcome of the path, newest first; shared between states.
pub(crate) struct Outcome {
    pub func: FuncId,
    pub tag: Option<CondTag>,
    pub taken: bool,
    /// Number of frames, this one included.
    pub depth: u32,
    pub earlier: Trail,
}

impl Drop for Outcome {
    fn drop(&mut self) {
        // A long trail must not be freed recursively: the host stack is not the program's.
        let mut next = self.earlier.take();
        while let Some(mut outcome) = next.and_then(Rc::into_inner) {
            next = outcome.earlier.take();
        }
    }
}

/// The outcomes of a path.
pub(crate) type Trail = Option<Rc<Outcome>>;

/// A symbolic state.
#[derive(Clone)]
pub(crate) struct State {
    pub frames: Vec<Rc<Frame>>,
    pub memory: Memory,
    pub path: Path,
    pub hash: PathHash,
    pub trail: Trail,
    /// Input-dependent outcomes so far.
    pub depth: u32,
    /// Instructions so far.
    pub steps: u64,
    pub inputs: Rc<Inputs>,
    /// Terms that eager mode has fixed on this path.
    pub fixed: Rc<Vec<(TermId, u64)>>,
    /// Folding only: the condition under which this execution is a proper one.
    pub proper: TermId,
    /// Goals that this path has reached but that could not be confirmed before its end.
    pub pending: Rc<Vec<touchstone_criteria::GoalId>>,
    /// What this path rests on in a wider world than tests make.
    pub doubts: Rc<Vec<touchstone_criteria::Doubt>>,
    /// Set when the outermost frame has returned.
    pub returned: Option<Option<Value>>,
}

impl State {
    pub fn top(&self) -> &Frame {
        self.frames.last().expect("invariant: a running state has a frame")
    }

    pub fn top_mut(&mut self) -> &mut Frame {
        Rc::make_mut(self.frames.last_mut().expect("invariant: a running state has a frame"))
    }

    pub fn set(&mut self, reg: Reg, value: Value) {
        self.top_mut().regs[reg.index()] = value;
    }

    pub fn inputs_mut(&mut self) -> &mut Inputs {
        Rc::make_mut(&mut self.inputs)
    }

    pub fn fixed_value(&self, term: TermId) -> Option<u64> {
        self.fixed.iter().find(|(fixed, _)| *fixed == term).map(|(_, value)| *value)
    }
}
