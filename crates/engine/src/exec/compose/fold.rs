//! Folding: a whole function call as one term, without forking.
//!
//! A precondition must not multiply the paths of the function under test. Folding executes both sides of an
//! input-dependent branch up to its immediate post-dominator and merges the two states there; calls, loops and early
//! returns need no special treatment, since the return post-dominates every block.
//!
//! An execution that fails (an error, a violated assumption) is not *proper*; the caller receives the condition under
//! which the execution is proper together with the result.

use crate::exec::executor::Executor;
use crate::exec::instructions::fork::{Fork, OutcomeFork};
use crate::exec::instructions::step::Flow;
use crate::state::inputs::Inputs;
use crate::state::memory::{Contents, Memory, disassemble};
use crate::state::trail::Choice;
use crate::state::value::{Scalar, Value};
use crate::state::{Frame, PathEnd, State, Stop};
use std::rc::Rc;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_base::{Id, Span};
use touchstone_criteria::{Bound, Incomplete, Unsupported};
use touchstone_ir::{BlockId, FuncId, Ty};
use touchstone_solver::{Op, Rel, Term, TermId};

/// The maximum number of instructions that a fold executes, over all branches.
const MAX_FOLDED_STEPS: u64 = 2_000_000;

/// The maximum size of an object that a composed call writes on one side of a branch only.
const MAX_MERGED_BYTES: u64 = 4096;

/// A fold in progress.
struct Folding {
    /// The number of instructions left.
    budget: u64,
    undefined: Undefined,
    /// The type of the function's result.
    result: Option<Ty>,
}

/// The merge of a defined with an undefined value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::exec) enum Undefined {
    /// The defined value: in a formula over inputs, a proper execution reads it only on that side.
    Given,
    /// Undefined: an execution that reads it is not proper.
    Kept,
}

/// The result of a folded call: the condition under which it is proper, and its result and memory in that case.
pub(in crate::exec) struct Folded {
    pub proper: TermId,
    pub result: Option<Value>,
    pub memory: Memory,
    pub inputs: Rc<Inputs>,
}

/// The join of a branch's two sides: a block of the frame, or the return to the caller.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Join {
    depth: usize,
    block: Option<BlockId>,
}

impl Executor<'_> {
    /// Returns the condition that `func(args)` is proper and not zero.
    pub(crate) fn fold_truth(&mut self, state: &State, func: FuncId, args: Vec<Value>) -> Result<TermId, Stop> {
        let steps = MAX_FOLDED_STEPS.min(self.config.steps);
        let Folded { proper, result, .. } = self.fold_call(state, func, args, steps, Undefined::Given)?;
        let truth = match result {
            Some(Value::Int(Scalar::Const(value))) => self.terms.truth(value != 0),
            Some(Value::Int(Scalar::Term(term))) => self.nonzero(term),
            _ => self.terms.truth(true),
        };
        Ok(self.terms.and(proper, truth))
    }

    /// Folds `func(args)` in at most `steps` steps.
    pub(in crate::exec) fn fold_call(
        &mut self,
        state: &State,
        func: FuncId,
        args: Vec<Value>,
        steps: u64,
        undefined: Undefined,
    ) -> Result<Folded, Stop> {
        let mut inner = state.clone();
        inner.frames.clear();
        (inner.steps, inner.charged_steps) = (0, 0);
        inner.returned = None;
        inner.proper = Some(self.terms.truth(true));
        self.enter(&mut inner, func, args, None)?;
        let mut folding = Folding { budget: steps, undefined, result: self.module.functions[func].result };
        match self.fold_to_join(inner, Join { depth: 1, block: None }, &mut folding)? {
            Some(State { proper: Some(proper), returned, memory, inputs, .. }) => {
                Ok(Folded { proper, result: returned.flatten(), memory, inputs })
            }
            _ => {
                let (proper, inputs) = (self.terms.truth(false), Rc::clone(&state.inputs));
                Ok(Folded { proper, result: None, memory: Memory::default(), inputs })
            }
        }
    }

    /// Executes up to the join; `None` if no execution reaches it properly.
    fn fold_to_join(&mut self, mut state: State, join: Join, folding: &mut Folding) -> Result<Option<State>, Stop> {
        loop {
            let arrived = state.frames.len() < join.depth
                || (state.frames.len() == join.depth && Some(state.top().block) == join.block && state.top().inst == 0);
            if arrived {
                return Ok(Some(state));
            }
            folding.budget = match folding.budget.checked_sub(1) {
                Some(left) => left,
                None => {
                    let why = Incomplete::Bound(Bound::Steps);
                    return Err(Stop::End(PathEnd::Incomplete { why, span: Span::none() }));
                }
            };
            let fork = match self.step(&mut state).flow {
                Flow::Next | Flow::Fork(Fork::Labels { .. }) => continue,
                Flow::End(PathEnd::Incomplete { why, span }) => {
                    return Err(Stop::End(PathEnd::Incomplete { why, span }));
                }
                Flow::End(_) => return Ok(None),
                Flow::Fork(Fork::Shape { id, purpose }) => return Err(Stop::Materialise(id, purpose)),
                Flow::Fork(Fork::Value(unfixed)) => return Err(Stop::Enumerate(unfixed)),
                Flow::Fork(Fork::Outcome(fork)) => fork,
            };
            match self.fold_fork(state, &fork, folding)? {
                Some(merged) => state = merged,
                None => return Ok(None),
            }
        }
    }

    /// Executes every outcome up to the join and merges them.
    fn fold_fork(
        &mut self,
        mut state: State,
        fork: &OutcomeFork,
        folding: &mut Folding,
    ) -> Result<Option<State>, Stop> {
        let join = self.join_after(&state);
        // Conditions that one side adds to `proper` count only under its own condition.
        let before = state.proper.replace(self.terms.truth(true));
        let merged = match fork {
            OutcomeFork::Branch { cond, .. } => {
                let (mut yes, mut no) = (state.clone(), state);
                self.follow_outcome(&mut yes, fork, Choice::Branch(true))?;
                self.follow_outcome(&mut no, fork, Choice::Branch(false))?;
                let yes = self.fold_to_join(yes, join, folding)?;
                let no = self.fold_to_join(no, join, folding)?;
                self.merge(*cond, yes, no, folding)?
            }
            OutcomeFork::Switch { targets, .. } => {
                let mut result: Option<Option<State>> = None;
                for (target, cond) in targets.iter().rev() {
                    let mut arm = state.clone();
                    self.follow_outcome(&mut arm, fork, Choice::Arm(target.index() as u32))?;
                    let arm = self.fold_to_join(arm, join, folding)?;
                    result = Some(match result {
                        None => arm,
                        Some(others) => self.merge(*cond, arm, others, folding)?,
                    });
                }
                result.flatten()
            }
        };
        Ok(merged.map(|mut merged| {
            if let Some(before) = before {
                merged.must(&mut self.terms, before);
            }
            merged
        }))
    }

    fn join_after(&mut self, state: &State) -> Join {
        let frame = state.top();
        Join { depth: state.frames.len(), block: self.flow_graph(frame.func).join(frame.block) }
    }

    /// Merges two states at the same location: `cond ? yes : no`.
    fn merge(
        &mut self,
        cond: TermId,
        yes: Option<State>,
        no: Option<State>,
        folding: &Folding,
    ) -> Result<Option<State>, Stop> {
        let (yes, no) = match (yes, no) {
            (None, None) => return Ok(None),
            (Some(mut only), None) => {
                only.must(&mut self.terms, cond);
                return Ok(Some(only));
            }
            (None, Some(mut only)) => {
                let otherwise = self.terms.not(cond);
                only.must(&mut self.terms, otherwise);
                return Ok(Some(only));
            }
            (Some(yes), Some(no)) => (yes, no),
        };
        // Inputs that were materialised on one side only would be lost.
        if folding.undefined == Undefined::Kept && !Rc::ptr_eq(&yes.inputs, &no.inputs) {
            return Err(Stop::bound(Bound::Steps, Span::none()));
        }
        let mut merged = yes.clone();
        if let (Some(yes), Some(no)) = (yes.proper, no.proper) {
            merged.proper = Some(self.terms.ite(cond, yes, no));
        }
        merged.steps = yes.steps.max(no.steps);
        merged.charged_steps = yes.charged_steps.max(no.charged_steps);
        for (index, frame) in merged.frames.iter_mut().enumerate() {
            if !Rc::ptr_eq(&yes.frames[index], &no.frames[index]) {
                let (a, b) = (Rc::clone(&yes.frames[index]), &no.frames[index]);
                self.merge_frame(cond, Rc::make_mut(frame), &a, b, folding.undefined);
            }
        }
        merged.returned = match (&yes.returned, &no.returned) {
            (Some(Some(a)), Some(Some(b))) => {
                let ty = folding.result.unwrap_or(Ty::I64);
                Some(Some(self.either(cond, a, b, ty, folding.undefined)))
            }
            (a, _) => a.clone(),
        };
        self.merge_memory(cond, &mut merged, &yes, &no, folding.undefined)?;
        Ok(Some(merged))
    }

    /// Returns `cond ? yes : no`, where one value may be undefined.
    fn either(&mut self, cond: TermId, yes: &Value, no: &Value, ty: Ty, undefined: Undefined) -> Value {
        match undefined {
            Undefined::Kept if *yes == Value::Undefined || *no == Value::Undefined => Value::Undefined,
            Undefined::Kept | Undefined::Given => self.select(cond, yes, no, ty),
        }
    }

    fn merge_frame(&mut self, cond: TermId, frame: &mut Frame, yes: &Frame, no: &Frame, undefined: Undefined) {
        let function = &self.module.functions[frame.func];
        for (reg, info) in function.regs.iter() {
            let (a, b) = (&yes.regs[reg.index()], &no.regs[reg.index()]);
            if a != b {
                frame.regs[reg.index()] = self.either(cond, a, b, info.ty, undefined);
            }
        }
    }

    fn merge_memory(
        &mut self,
        cond: TermId,
        merged: &mut State,
        yes: &State,
        no: &State,
        undefined: Undefined,
    ) -> Result<(), Stop> {
        if is_injected(Fault::OneSidedSummary) {
            return Ok(());
        }
        let common = yes.memory.len().min(no.memory.len());
        for id in no.memory.ids().skip(common) {
            if no.memory.get(id).live {
                return Err(Stop::unsupported(Unsupported::AllocationInPrecondition, Span::none()));
            }
            merged.memory.alloc(no.memory.get(id).clone());
        }
        for id in yes.memory.ids().take(common) {
            let (a, b) = (yes.memory.shared(id), no.memory.shared(id));
            if Rc::ptr_eq(a, b) || a == b || !a.live || !b.live {
                continue;
            }
            if undefined == Undefined::Kept && a.size > MAX_MERGED_BYTES {
                return Err(Stop::bound(Bound::Steps, Span::none()));
            }
            let whole = 0..a.size as usize;
            let cells = |this: &mut Self, state| {
                this.plain_cells(state, id, whole.clone()).map_err(|stop| match stop {
                    Stop::Enumerate(_) => Stop::unsupported(Unsupported::PartlyWrittenInPrecondition, Span::none()),
                    stop => stop,
                })
            };
            let (left, right) = (cells(self, yes)?, cells(self, no)?);
            let mut cells = left.clone();
            // Merges word by word, so that terms and pointers stay whole.
            let mut at = 0;
            while at < cells.len() {
                let width = self.merge_width(merged, id, at, &left, &right);
                let range = at..at + width;
                if left[range.clone()] != right[range.clone()] {
                    let ty = if width == 8 && self.has_pointer(&left[range.clone()], &right[range.clone()]) {
                        Ty::Ptr
                    } else {
                        Ty::Int(8 * width as u8)
                    };
                    let a = self.assemble_cells(merged, &left[range.clone()], ty, Span::none())?;
                    let b = self.assemble_cells(merged, &right[range.clone()], ty, Span::none())?;
                    let (a, b) = (a.unwrap_or(Value::Undefined), b.unwrap_or(Value::Undefined));
                    let value = self.either(cond, &a, &b, ty, undefined);
                    let made = disassemble(&value, width as u8, &mut self.pointers);
                    for (cell, new) in cells[range].iter_mut().zip(made) {
                        *cell = new;
                    }
                }
                at += width;
            }
            merged.memory.get_mut(id).contents = Contents::Cells(cells);
        }
        Ok(())
    }

    fn has_pointer(&self, left: &[crate::state::memory::Cell], right: &[crate::state::memory::Cell]) -> bool {
        left.iter().chain(right).any(|cell| matches!(cell, crate::state::memory::Cell::Pointer { .. }))
    }

    /// Returns the number of bytes to merge as a unit: the width of the scalar in the data type, else of the stored
    /// term.
    fn merge_width(
        &self,
        state: &State,
        id: crate::state::value::ObjectId,
        at: usize,
        left: &[crate::state::memory::Cell],
        right: &[crate::state::memory::Cell],
    ) -> usize {
        use crate::state::memory::Cell;
        let room = left.len() - at;
        if let Some(width) = state.memory.get(id).data.and_then(|data| self.scalar_width(data, at as u64)) {
            return width.min(room);
        }
        for cells in [left, right] {
            match cells[at] {
                Cell::Part { term, index: 0 } => return usize::from(self.terms.width(term) / 8).min(room),
                Cell::Pointer { index: 0, .. } => return 8.min(room),
                _ => {}
            }
        }
        1
    }

    /// Returns `term != 0`, distributed over conditionals, masks and conversions, so that a chain of early returns or
    /// of `ok &= …` becomes a conjunction that the solver can split.
    fn nonzero(&mut self, term: TermId) -> TermId {
        let is_flag = |this: &Self, part: TermId| this.terms.facts(part).unsigned.1 <= 1;
        match *self.terms.get(term) {
            Term::Const { value, .. } => self.terms.truth(value != 0),
            Term::Ite(cond, yes, no) => {
                let (yes, no) = (self.nonzero(yes), self.nonzero(no));
                let cond = self.nonzero(cond);
                self.terms.ite(cond, yes, no)
            }
            Term::ZExt { term: inner, .. } | Term::SExt { term: inner, .. } => self.nonzero(inner),
            Term::Bin(Op::Or, a, b) => {
                let (a, b) = (self.nonzero(a), self.nonzero(b));
                self.terms.or(a, b)
            }
            Term::Bin(Op::And, a, b) if is_flag(self, a) && is_flag(self, b) => {
                let (a, b) = (self.nonzero(a), self.nonzero(b));
                self.terms.and(a, b)
            }
            Term::Not(inner) if self.terms.width(term) == 1 => {
                let inner = match *self.terms.get(inner) {
                    Term::Cmp(Rel::Eq, a, b) if self.terms.as_const(b) == Some(0) => return self.nonzero(a),
                    Term::Cmp(Rel::Eq, a, b) if self.terms.as_const(a) == Some(0) => return self.nonzero(b),
                    _ => inner,
                };
                self.terms.not(inner)
            }
            _ if self.terms.width(term) == 1 => term,
            _ => {
                let zero = self.terms.constant(self.terms.width(term), 0);
                self.terms.ne(term, zero)
            }
        }
    }
}
