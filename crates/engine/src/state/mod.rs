//! Symbolic states: small and cheap to copy, one for every path that is still open.
//!
//! `value.rs` and `memory.rs` refer to each other: a value may be a part of a stored pointer, and a cell may hold a
//! value.

pub(crate) mod inputs;
pub(crate) mod memory;
pub(crate) mod trail;
pub(crate) mod value;

use crate::state::inputs::Inputs;
use crate::state::memory::Memory;
use crate::state::trail::Trail;
use crate::state::value::{LazyPointerId, ObjectId, Value};
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Incomplete, Unanswered, Unsupported};
use touchstone_ir::{BlockId, DecisionId, ErrorKind, FuncId, Operand, PathHash, Reg};
use touchstone_solver::{Path, TermId, Terms, Why};

/// The maximum number of bytes of the locals of all frames; the compiled program would overflow its stack beyond.
pub(crate) const MAX_STACK_BYTES: u64 = 8 << 20;

/// A stack frame.
#[derive(Clone)]
pub(crate) struct Frame {
    pub func: FuncId,
    pub block: BlockId,
    /// The index of the next instruction in the block.
    pub inst: usize,
    pub regs: Vec<Value>,
    pub slots: Vec<ObjectId>,
    /// The caller's register for the result.
    pub result: Option<Reg>,
    /// Decisions under evaluation, recorded only where pruning needs them.
    pub decisions: Vec<DecisionId>,
    /// The number of arrivals at each loop header since its loop was entered.
    pub arrivals: Vec<(BlockId, u32)>,
    /// The number of visits of each block, if they are bounded.
    pub visits: Vec<u32>,
    /// The bytes of the locals of this frame and those below it.
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

/// The end of a path, or the reason why it was given up.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum PathEnd {
    Returned(Option<Value>),
    Exited(Value),
    /// The program hangs.
    Hung,
    /// An object of this class was thrown and not caught.
    Threw {
        class: Option<u64>,
    },
    Error {
        kind: ErrorKind,
        span: Span,
    },
    /// An assumption of the program (`assume`) excludes the path.
    Assumed,
    /// The path has more loop iterations than the criterion asks for.
    ExceedsCriterion,
    Incomplete {
        why: Incomplete,
        span: Span,
    },
}

impl PathEnd {
    /// Returns the identity of a path that ends here.
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

/// The use for which a symbolic pointer must be materialised.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum PointerUse {
    /// An access, or a computation that may result in one.
    Access,
    /// A comparison: the pointer may also point just behind an object.
    Compare,
    /// A comparison with a pointer into this constant, at this offset.
    EqualTo(ObjectId, u64),
    /// The order with, or distance from, a pointer into this object.
    SameObject(ObjectId),
}

/// A term that must be fixed to a value, with its role.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Unfixed {
    pub term: TermId,
    pub role: FixedFor,
}

/// The role of a term that must be fixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FixedFor {
    /// An offset, a size or another integer.
    Number,
    /// The function that is called.
    Callee,
}

/// The reason why an instruction could not simply be executed.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Stop {
    /// The path has ended.
    End(PathEnd),
    /// A symbolic pointer must be materialised first; then the instruction is executed again.
    Materialise(LazyPointerId, PointerUse),
    /// A term must be fixed to each of its values first; then the instruction is executed again.
    Enumerate(Unfixed),
}

impl From<PathEnd> for Stop {
    fn from(end: PathEnd) -> Stop {
        Stop::End(end)
    }
}

/// Converts the reason why the solver gave no answer.
pub(crate) fn unanswered(why: Why) -> Incomplete {
    Incomplete::Solver(match why {
        Why::Timeout => Unanswered::Timeout,
        Why::Conflicts => Unanswered::Conflicts,
        Why::Interrupted => Unanswered::Interrupted,
        Why::Internal => Unanswered::Internal,
    })
}

impl Stop {
    /// Requests that an integer be fixed first.
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
    /// The number of input-dependent outcomes so far.
    pub depth: u32,
    /// The number of instructions so far.
    pub steps: u64,
    /// Those that count for `Config::steps`.
    pub charged_steps: u64,
    pub inputs: Rc<Inputs>,
    /// Terms that have been fixed on this path, with their values.
    pub fixed: Rc<Vec<(TermId, u64)>>,
    /// Only in an execution that is folded (`exec/compose/fold.rs`): the condition under which it is well-defined.
    /// Checks end no path there but strengthen this condition.
    pub proper: Option<TermId>,
    /// Goals that the path has reached but that only its end can confirm.
    pub pending: Rc<Vec<touchstone_criteria::GoalId>>,
    /// The caveats that the path rests on in an unrestricted environment.
    pub caveats: Rc<Vec<touchstone_criteria::Caveat>>,
    /// True if calls were composed: runs then take one of several paths.
    pub composed: bool,
    /// The result of the outermost frame, once it has returned.
    pub returned: Option<Option<Value>>,
}

impl State {
    /// Returns true if the execution is folded into one term: no paths, no outcomes, no goals.
    pub fn is_folded(&self) -> bool {
        self.proper.is_some()
    }

    /// Strengthens the condition under which a folded execution is well-defined.
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

    /// Sets the target of a symbolic pointer.
    #[must_use]
    pub fn with_target(mut self, id: LazyPointerId, target: Value) -> State {
        self.inputs_mut().set_target(id, target);
        self
    }

    pub fn fixed_value(&self, term: TermId) -> Option<u64> {
        self.fixed.iter().find(|(fixed, _)| *fixed == term).map(|(_, value)| *value)
    }
}
