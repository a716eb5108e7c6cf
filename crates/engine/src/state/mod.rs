//! Symbolic states: small, cheap to copy, one for every path that is still open.

pub(crate) mod inputs;
pub(crate) mod memory;
pub(crate) mod trail;
pub(crate) mod value;

use crate::state::inputs::Inputs;
use crate::state::memory::Memory;
use crate::state::trail::Trail;
use crate::state::value::{ObjectId, Value};
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Incomplete, Unanswered, Unsupported};
use touchstone_ir::{BlockId, DecisionId, ErrorKind, FuncId, Operand, PathHash, Reg};
use touchstone_solver::{Path, TermId, Terms, Why};

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
    /// How often each block was come to, if that is counted.
    pub visits: Vec<u32>,
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
    /// It stays where it is.
    Hung,
    /// Nobody caught an object of this class.
    Threw {
        class: Option<u64>,
    },
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

impl PathEnd {
    /// The identity of a path that has come here and ends so.
    pub fn path(&self, so_far: PathHash) -> PathHash {
        let mut path = so_far;
        match self {
            PathEnd::Error { kind, span } => path.end_error(*kind, *span),
            PathEnd::Threw { class } => path.end_threw(*class),
            _ => {}
        }
        path
    }
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

/// A term that must be fixed, and what for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Unfixed {
    pub term: TermId,
    pub role: FixedFor,
}

/// What a term is fixed for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FixedFor {
    /// An offset, a size, a number.
    Number,
    /// The function that is called.
    Callee,
}

/// Why an instruction could not simply be executed.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stop {
    /// The path is over.
    End(PathEnd),
    /// An undecided input pointer must be decided first; then the instruction is executed again.
    Force(crate::state::value::LazyId, Purpose),
    /// A term must be fixed to each of its values first; then the instruction is executed again.
    Enumerate(Unfixed),
}

impl From<PathEnd> for Stop {
    fn from(end: PathEnd) -> Stop {
        Stop::End(end)
    }
}

/// A question that the solver did not answer.
pub(crate) fn unanswered(why: Why) -> Incomplete {
    Incomplete::Solver(match why {
        Why::Timeout => Unanswered::Timeout,
        Why::Conflicts => Unanswered::Conflicts,
        Why::Interrupted => Unanswered::Interrupted,
        Why::Internal => Unanswered::Internal,
    })
}

impl Stop {
    /// A number must be fixed first.
    pub fn unfixed(term: TermId) -> Stop {
        Stop::Enumerate(Unfixed { term, role: FixedFor::Number })
    }
    pub fn error(kind: ErrorKind, span: Span) -> Stop {
        Stop::End(PathEnd::Error { kind, span })
    }
    pub fn unsupported(what: Unsupported, span: Span) -> Stop {
        Stop::End(PathEnd::Incomplete { why: Incomplete::Unsupported(what), span })
    }
    pub fn bound(bound: touchstone_criteria::Bound, span: Span) -> Stop {
        Stop::End(PathEnd::Incomplete { why: Incomplete::Bound(bound), span })
    }
}

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
    /// Only of an execution that is folded (`exec/fold.rs`): the condition under which it is a proper one. Checks end no
    /// path there, but add to it.
    pub proper: Option<TermId>,
    /// Goals that this path has reached but that could not be confirmed before its end.
    pub pending: Rc<Vec<touchstone_criteria::GoalId>>,
    /// What this path rests on in a wider world than tests make.
    pub doubts: Rc<Vec<touchstone_criteria::Doubt>>,
    /// Calls were composed: runs take one of several paths.
    pub composed: bool,
    /// Set when the outermost frame has returned.
    pub returned: Option<Option<Value>>,
}

impl State {
    /// Whether the execution is folded into one term: no paths, no outcomes, no goals.
    pub fn is_folded(&self) -> bool {
        self.proper.is_some()
    }

    /// A folded execution is proper only where this holds.
    pub fn must(&mut self, terms: &mut Terms, fine: TermId) {
        self.proper = self.proper.map(|proper| terms.and(proper, fine));
    }

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
