//! Induction over loops with the solver: proofs that no run reaches a goal, for any number of iterations.
//!
//! The function is executed symbolically, as in an exploration, except at loop heads. Where a loop is entered,
//! everything that it can change (`loop_effects.rs`) is havocked, constrained by the fixpoint and by the candidate
//! invariants (`invariant_candidates.rs`) that hold on entry; one iteration is executed from this state, which
//! represents the start of *any* iteration, and a path that returns to the head ends. A candidate that does not hold on
//! entry or after the iteration is dropped and everything is repeated with the rest, so in the last pass all
//! assumptions have been proved: by induction, base and step. Goals that this pass does not reach are infeasible.
//!
//! Sound or nothing: where the executor gives something up (a bound, an unsupported construct, an unknown of the
//! solver) all goals that control flow can still reach count as possible. A path from there to a loop head would reach
//! the goals behind that head, so whatever rests on an unchecked invariant counts as possible too; for the same reason
//! a state that can reach no open goal is pruned without loss. The changes of an iteration are compared with the
//! predicted ones; a difference ends the proof.
//!
//! Unknown pointers are integers without an object: they compare as any address, and an access through one gives the
//! path up.

use crate::config::{Aliases, Config, Entry, Labels, SearchOptions};
use crate::exec::executor::Executor;
use crate::exec::executor::policy::Policy;
use crate::exec::instructions::fork::{self, Fork, OutcomeFork};
use crate::exec::instructions::step::{Flow, StepResult};
use crate::goals::coverage::{Aim, Coverage};
use crate::prover::abstract_state::AbstractState;
use crate::prover::c;
use crate::prover::control_flow_reach::{ControlFlowReach, GoalBlocks};
use crate::prover::invariant_candidates::{Candidate, LoopVar, Var, candidates};
use crate::prover::loop_effects::{LoopEffects, Loops};
use crate::prover::loop_havoc::LoopHavoc;
use crate::state::value::{LazyPointerId, ObjectId, Scalar, Value};
use crate::state::{PathEnd, PointerUse, State};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use touchstone_base::Id;
use touchstone_criteria::{GoalId, GoalIndex};
use touchstone_ir::{
    BlockId, Builtin, CallGraph, Callee, DataType, DataTypeId, FuncId, InstKind, Module, Operand, Param, TermKind, Ty,
};
use touchstone_solver::{Path, Side, TermId};

/// The maximum number of branch sides in one pass.
const MAX_BRANCH_SIDES: u32 = 4_000;
/// The maximum number of passes.
const MAX_PASSES: u32 = 64;
/// The maximum number of frames of a recursion.
const MAX_FRAMES: usize = 12;
/// The maximum number of conflicts of a query for invariants: hard candidates are dropped early.
const CONFLICTS_FOR_INVARIANTS: u64 = 2_000;
/// The maximum number of conflicts of a query for goals.
const CONFLICTS_FOR_GOALS: u64 = 20_000;
/// The number of candidates in one query.
const CANDIDATES_PER_QUERY: usize = 8;

/// Abstract states at loop heads, by function.
pub(crate) type Fixpoints = BTreeMap<FuncId, BTreeMap<BlockId, AbstractState>>;

/// Returns the goals among `open` that induction proves infeasible.
pub(crate) fn prove(
    module: &Module,
    func: FuncId,
    watch: &GoalIndex,
    open: &[GoalId],
    config: &Config,
    fixpoints: &Fixpoints,
) -> Vec<GoalId> {
    if config.deadline.is_over() || !inputs_are_complete(module, func, config) {
        return Vec::new();
    }
    let config = Config {
        aliases: Aliases::Late,
        labels: Labels::Idl,
        paths: touchstone_criteria::PathsOf::Any,
        loop_bound: None,
        max_paths: None,
        options: SearchOptions { depth: None, call_depth: config.options.call_depth.min(MAX_FRAMES), ..config.options },
        ..config.clone()
    };
    let executor = Executor::new(module, &config, Policy::proof_within(CONFLICTS_FOR_INVARIANTS), None);
    let closed: Vec<GoalId> = watch.goals.ids().filter(|goal| !open.contains(goal)).collect();
    let mut induction = Induction {
        executor,
        goals: Coverage::new(Arc::new(watch.clone()), &closed, Aim::Goals),
        func,
        calls: CallGraph::new(module),
        fixpoints,
        loops: BTreeMap::new(),
        dropped: BTreeSet::new(),
        sweep: ControlFlowReach::new(watch),
        wanted: None,
        sides: 0,
    };
    match induction.find_inductive_invariants().and_then(|()| induction.search_goals()) {
        Ok(()) => induction.goals.open_goals().collect(),
        Err(GiveUp) => Vec::new(),
    }
}

/// Returns true if every input can have all its values: unmodelled inputs (a function pointer, an unknown type) are
/// only zero, which is no basis for a proof.
fn inputs_are_complete(module: &Module, func: FuncId, config: &Config) -> bool {
    let function = &module.functions[func];
    if config.entry == Entry::Program {
        return !function.params.iter().any(|param| function.reads(param.reg));
    }
    let own = function.params.iter().skip(usize::from(function.aggregate_result)).filter(|param| !param.aggregate);
    let fits = |param: &Param| match (function.regs[param.reg].ty, &module.types[param.data]) {
        (Ty::Ptr, DataType::Pointer { .. } | DataType::Array { .. }) => true,
        (Ty::Ptr, _) => false,
        (Ty::Int(_), DataType::Void) => true,
        (ty, data) => data.size(&module.types) == u64::from(ty.bytes()),
    };
    let all_fit = own.into_iter().all(fits);
    let globals =
        crate::inputs::globals::changeable_globals(module, func).into_iter().map(|id| module.globals[id].data);
    let mut pending: Vec<DataTypeId> = function.params.iter().map(|param| param.data).chain(globals).collect();
    let mut seen: BTreeSet<DataTypeId> = BTreeSet::new();
    while let Some(data) = pending.pop() {
        if !seen.insert(data) {
            continue;
        }
        match &module.types[data] {
            DataType::Bits { .. } | DataType::Union { .. } | DataType::OneOf { .. } | DataType::Opaque { .. } => {
                return false;
            }
            DataType::Pointer { pointee, .. } => pending.push(*pointee),
            DataType::Array { element, .. } => pending.push(*element),
            DataType::Struct { fields, .. } => pending.extend(fields.iter().map(|field| field.ty)),
            DataType::Int { .. }
            | DataType::Enum { .. }
            | DataType::Bool { .. }
            | DataType::Float { .. }
            | DataType::Void => {}
        }
    }
    all_fit
}

/// The proof is abandoned.
struct GiveUp;

/// A loop that a path is in, cut at its head.
struct LoopCut {
    /// The number of frames, the loop's own included.
    depth: usize,
    func: FuncId,
    head: BlockId,
    /// The candidates that were assumed.
    assumed: Vec<Candidate>,
    /// The values of variables on entry to the loop.
    entry: BTreeMap<Var, TermId>,
    /// The state that represents the start of any iteration.
    any: State,
    /// Objects that the loop may write.
    written: BTreeSet<ObjectId>,
}

/// A state with the loops that it is in.
#[derive(Clone)]
struct CutState {
    state: State,
    cuts: Vec<Rc<LoopCut>>,
    /// Set if the state has just arrived at a block.
    arrived: Option<ArrivedFrom>,
}

/// The origin of an arrival.
#[derive(Clone, Copy)]
enum ArrivedFrom {
    Call,
    Block(BlockId),
}

/// The fate of a path at a loop head.
enum Arrival {
    Continues,
    Over,
}

struct Induction<'m, 'f> {
    executor: Executor<'m>,
    /// Goals that may still be proved infeasible. The executor observes them only in the last pass.
    goals: Coverage,
    func: FuncId,
    calls: CallGraph,
    fixpoints: &'f Fixpoints,
    loops: BTreeMap<FuncId, Rc<Loops>>,
    /// Candidates that do not hold.
    dropped: BTreeSet<(FuncId, BlockId, Candidate)>,
    sweep: ControlFlowReach,
    wanted: Option<GoalBlocks>,
    sides: u32,
}

impl Induction<'_, '_> {
    /// Drops candidates until the rest is inductive.
    fn find_inductive_invariants(&mut self) -> Result<(), GiveUp> {
        for _ in 0..MAX_PASSES {
            let dropped = self.dropped.len();
            self.pass()?;
            if dropped == self.dropped.len() {
                return Ok(());
            }
        }
        Err(GiveUp)
    }

    /// Runs a last pass with the invariants, to find the goals that it reaches: with an executor of its own and a
    /// larger limit per query.
    fn search_goals(&mut self) -> Result<(), GiveUp> {
        let dropped = self.dropped.len();
        let open: Vec<GoalId> = self.goals.open_goals().collect();
        let closed: Vec<GoalId> = self.goals.watch.goals.ids().filter(|goal| !open.contains(goal)).collect();
        let goals = Coverage::new(self.goals.watch.clone(), &closed, Aim::Goals);
        let policy = Policy::proof_within(CONFLICTS_FOR_GOALS);
        self.executor = Executor::new(self.executor.module, self.executor.config, policy, Some(goals));
        self.pass()?;
        // The same queries have the same answers; otherwise (a timeout) nothing was proved.
        if self.dropped.len() == dropped { Ok(()) } else { Err(GiveUp) }
    }

    fn cover(&mut self, goals: impl IntoIterator<Item = GoalId>) {
        for goal in goals {
            self.goals.cover(goal);
            if let Some(coverage) = &mut self.executor.goal_tracker.coverage {
                coverage.cover(goal);
            }
        }
    }

    /// Executes everything once, with the remaining candidates.
    fn pass(&mut self) -> Result<(), GiveUp> {
        self.sides = 0;
        let starts = self.executor.starts(self.func).map_err(|_| GiveUp)?;
        if !starts.gave_up.is_empty() {
            return Err(GiveUp);
        }
        self.cover(starts.hits.into_iter().map(|hit| hit.goal));
        let way = |state| CutState { state, cuts: Vec::new(), arrived: Some(ArrivedFrom::Call) };
        let mut waiting: Vec<CutState> = starts.states.into_iter().map(way).collect();
        while let Some(way) = waiting.pop() {
            self.follow(way, &mut waiting)?;
            if self.goals.remaining() == 0 {
                return Err(GiveUp);
            }
        }
        Ok(())
    }

    /// Processes the result of a step and returns its flow.
    fn done(&mut self, place: &[(FuncId, BlockId)], stepped: StepResult) -> Flow {
        self.cover(stepped.hits.into_iter().map(|hit| hit.goal));
        for (_, end) in stepped.ended {
            self.take_end(&end);
        }
        if !stepped.gave_up.is_empty() {
            self.give_up(place);
        }
        stepped.flow
    }

    fn take_end(&mut self, end: &PathEnd) {
        if let PathEnd::Error { kind, span } = end {
            let goals: Vec<GoalId> = self.goals.watch.error(*kind, *span).collect();
            self.cover(goals);
        }
    }

    /// Gives up a path: everything that control flow can reach is possible.
    fn give_up(&mut self, place: &[(FuncId, BlockId)]) {
        let goals = self.sweep.from(self.executor.module, place);
        self.cover(goals);
    }

    /// Returns true if control flow can reach an open goal from here.
    fn reaches_open_goal(&mut self, place: &[(FuncId, BlockId)]) -> bool {
        let old = self.wanted.as_ref().is_none_or(|wanted| wanted.is_old(&self.goals));
        if old {
            self.wanted = Some(GoalBlocks::new(self.executor.module, &self.goals));
        }
        self.wanted.as_ref().is_some_and(|wanted| wanted.reaches(place))
    }

    fn follow(&mut self, mut way: CutState, waiting: &mut Vec<CutState>) -> Result<(), GiveUp> {
        loop {
            if let Some(from) = way.arrived.take()
                && matches!(self.arrive(&mut way, from, waiting)?, Arrival::Over)
            {
                return Ok(());
            }
            let place = frame_blocks(&way.state);
            if !self.reaches_open_goal(&place) {
                return Ok(());
            }
            if self.is_untreated(&way.state) {
                self.give_up(&place);
                return Ok(());
            }
            let (depth, at_end) = (way.state.frames.len(), is_at_end(self.executor.module, &way.state));
            let from = way.state.top().block;
            let stepped = self.executor.step(&mut way.state);
            match self.done(&place, stepped) {
                Flow::Next => {}
                Flow::Fork(Fork::Labels { .. }) => return Err(GiveUp),
                Flow::Fork(Fork::Outcome(fork)) => {
                    for on in self.executor.fork_outcomes(&way.state, &fork).into_iter().rev() {
                        self.go(&way, &fork, on, from, waiting)?;
                    }
                    return Ok(());
                }
                Flow::Fork(Fork::Shape { id, purpose }) => {
                    self.materialise(&way, id, purpose, waiting);
                    return Ok(());
                }
                Flow::Fork(Fork::Value(_)) => {
                    self.give_up(&place);
                    return Ok(());
                }
                Flow::End(end) => {
                    if matches!(end, PathEnd::Incomplete { .. } | PathEnd::ExceedsCriterion) {
                        self.give_up(&place);
                    }
                    self.take_end(&end);
                    return Ok(());
                }
            }
            let now = way.state.frames.len();
            way.cuts.retain(|cut| cut.depth <= now);
            way.arrived = match now.cmp(&depth) {
                std::cmp::Ordering::Greater => Some(ArrivedFrom::Call),
                std::cmp::Ordering::Equal if at_end => Some(ArrivedFrom::Block(from)),
                _ => None,
            };
        }
    }

    fn go(
        &mut self,
        way: &CutState,
        fork: &OutcomeFork,
        on: fork::ForkOutcome,
        from: BlockId,
        waiting: &mut Vec<CutState>,
    ) -> Result<(), GiveUp> {
        self.sides += 1;
        let late = self.executor.config.deadline.is_over();
        if self.sides > MAX_BRANCH_SIDES || late {
            return Err(GiveUp);
        }
        let here = frame_blocks(&way.state);
        match on.side {
            Side::Infeasible => {}
            Side::Unknown(_) => self.give_up(&here),
            Side::Feasible(path) => {
                let mut next = CutState { arrived: Some(ArrivedFrom::Block(from)), ..way.clone() };
                let taken = self.executor.take_outcome(&mut next.state, fork, on.choice, path);
                match self.done(&here, taken) {
                    Flow::Next => waiting.push(next),
                    Flow::Fork(_) | Flow::End(_) => self.give_up(&here),
                }
            }
        }
        Ok(())
    }

    /// Materialises a symbolic pointer: each target is followed.
    fn materialise(&mut self, way: &CutState, id: LazyPointerId, purpose: PointerUse, waiting: &mut Vec<CutState>) {
        for shape in self.executor.pointer_targets(&way.state, id, purpose) {
            match shape {
                Ok(state) => waiting.push(CutState { state, ..way.clone() }),
                Err(PathEnd::Assumed) => {}
                Err(_) => self.give_up(&frame_blocks(&way.state)),
            }
        }
    }

    /// Returns true for instructions that the executor treats as certain although a pointer is an integer for any
    /// address, or although it does not track uninitialised bytes.
    fn is_untreated(&self, state: &State) -> bool {
        let frame = state.top();
        let block = &self.executor.module.functions[frame.func].blocks[frame.block];
        // An exception may arrive at a loop in another frame.
        let Some(inst) = block.insts.get(frame.inst) else {
            return matches!(block.terminator.kind, TermKind::Throw(_));
        };
        let number = |value: &Value| matches!(value, Value::Int(Scalar::Term(_)));
        // Some location in an object, not necessarily its start.
        let anywhere_in =
            |value: &Value| matches!(value, Value::Ptr(pointer) if matches!(pointer.offset, Scalar::Term(_)));
        let any_of = |operand: &Operand, holds: &dyn Fn(&Value) -> bool| match frame.value(*operand) {
            Value::Choice(options) => options.iter().any(|(_, option)| holds(option)),
            _ => false,
        };
        let among = |operand: &Operand| any_of(operand, &number);
        let start_unknown = |operand: &Operand| {
            let unknown = |value: &Value| number(value) || anywhere_in(value);
            unknown(&frame.value(*operand)) || any_of(operand, &unknown)
        };
        let partly_written = || {
            state.memory.ids().any(|id| {
                matches!(
                    state.memory.get(id).contents,
                    crate::state::memory::Contents::Delayed { defined: Some(_), .. }
                )
            })
        };
        match &inst.kind {
            InstKind::Load { addr, .. } | InstKind::Store { addr, .. } => among(addr),
            InstKind::MemCopy { .. }
            | InstKind::MemSet { .. }
            | InstKind::Builtin { builtin: Builtin::MakeSymbolic(_), .. } => {
                inst.kind.operands().iter().any(among) || partly_written()
            }
            InstKind::Builtin { builtin: Builtin::C(builtin), args, .. } if c::ends_a_life(*builtin) => {
                args.iter().any(start_unknown)
            }
            InstKind::Builtin { args, .. } => args.iter().any(among),
            InstKind::Call { callee: Callee::Indirect(callee), .. } => start_unknown(callee),
            _ => false,
        }
    }

    fn loops(&mut self, func: FuncId) -> Rc<Loops> {
        let module = self.executor.module;
        if let Some(known) = self.loops.get(&func) {
            return Rc::clone(known);
        }
        let made = Rc::new(Loops::of(module, func, &self.calls, &self.goals.watch));
        self.loops.insert(func, Rc::clone(&made));
        made
    }

    /// Handles an arrival at a block: at a loop head the state is havocked, or compared with the havocked one.
    fn arrive(
        &mut self,
        way: &mut CutState,
        from: ArrivedFrom,
        waiting: &mut Vec<CutState>,
    ) -> Result<Arrival, GiveUp> {
        let (func, head, depth) = (way.state.top().func, way.state.top().block, way.state.frames.len());
        let loops = self.loops(func);
        let found = match loops.by_head.get(&head) {
            None => return Ok(Arrival::Continues),
            Some(None) => {
                self.give_up(&frame_blocks(&way.state));
                return Ok(Arrival::Over);
            }
            Some(Some(found)) => found,
        };
        let again = matches!(from, ArrivedFrom::Block(block) if found.blocks.contains(&block));
        let cut = way.cuts.iter().find(|cut| cut.depth == depth && cut.head == head).cloned();
        match (again, cut) {
            (true, Some(cut)) => {
                self.check_induction_step(way, &cut, found)?;
                Ok(Arrival::Over)
            }
            (true, None) => Err(GiveUp),
            (false, _) => {
                way.cuts.retain(|cut| cut.depth != depth || cut.head != head);
                self.enter(way, from, &loops, found, waiting);
                Ok(Arrival::Over)
            }
        }
    }

    /// Enters a loop: puts the states that represent any iteration on the worklist.
    fn enter(
        &mut self,
        way: &CutState,
        from: ArrivedFrom,
        loops: &Loops,
        found: &LoopEffects,
        waiting: &mut Vec<CutState>,
    ) {
        let (func, head) = (way.state.top().func, way.state.top().block);
        let escaped: Vec<(FuncId, Rc<Loops>)> = {
            let funcs: BTreeSet<FuncId> = way.state.frames.iter().map(|frame| frame.func).collect();
            funcs.into_iter().map(|func| (func, self.loops(func))).collect()
        };
        let is_shared = |func: FuncId, slot: touchstone_ir::SlotId| {
            escaped.iter().any(|(known, loops)| *known == func && loops.escaped.contains(&slot))
        };
        let known = self.fixpoints.get(&func).and_then(|heads| heads.get(&head));
        let havoc = match LoopHavoc::plan(&self.executor, &way.state, found, known, is_shared) {
            Ok(Some(havoc)) => havoc,
            Err(id) => {
                let before = CutState { arrived: Some(from), ..way.clone() };
                return self.materialise(&before, id, PointerUse::Access, waiting);
            }
            Ok(None) => return self.give_up(&frame_blocks(&way.state)),
        };
        let vars: Vec<LoopVar> = havoc.variables(&mut self.executor, &way.state, found);
        let entry: BTreeMap<Var, TermId> = vars.iter().map(|var| (var.var, var.entry)).collect();
        let at_entry = |var: Var| entry.get(&var).copied();
        let mut assumed = candidates(&vars, loops);
        assumed.retain(|candidate| !self.dropped.contains(&(func, head, candidate.clone())));
        let terms = &mut self.executor.terms;
        let on_entry = assumed.iter().map(|one| (one.clone(), one.term(terms, &at_entry, &at_entry)));
        let on_entry: Vec<(Candidate, Option<TermId>)> = on_entry.collect();
        let failed = self.failing(&way.state.path, on_entry);
        assumed.retain(|candidate| !failed.contains(candidate));
        self.dropped.extend(failed.into_iter().map(|candidate| (func, head, candidate)));

        for (mut any, mut constraints) in havoc.states(&mut self.executor, &way.state, found, known, &assumed, &entry) {
            let values: BTreeMap<Var, TermId> =
                vars.iter().filter_map(|var| Some((var.var, self.number(&any, var.var)?))).collect();
            let now = |var: Var| values.get(&var).copied();
            for candidate in &assumed {
                constraints.extend(candidate.term(&mut self.executor.terms, &now, &at_entry));
            }
            match self.executor.assume_all(&mut any, &constraints) {
                Ok(()) => {}
                Err(PathEnd::Assumed) => continue,
                Err(_) => {
                    self.give_up(&frame_blocks(&way.state));
                    continue;
                }
            }
            let cut = LoopCut {
                depth: any.frames.len(),
                func,
                head,
                assumed: assumed.clone(),
                entry: entry.clone(),
                any: any.clone(),
                written: havoc.written.clone(),
            };
            let mut cuts = way.cuts.clone();
            cuts.push(Rc::new(cut));
            waiting.push(CutState { state: any, cuts, arrived: None });
        }
    }

    /// Checks the induction step: the assumed candidates must hold after an iteration.
    fn check_induction_step(&mut self, way: &CutState, cut: &LoopCut, found: &LoopEffects) -> Result<(), GiveUp> {
        if !changes_only_expected(&way.state, cut, found) {
            return Err(GiveUp);
        }
        let values: BTreeMap<Var, TermId> =
            cut.entry.keys().filter_map(|var| Some((*var, self.number(&way.state, *var)?))).collect();
        let now = |var: Var| values.get(&var).copied();
        let at_entry = |var: Var| cut.entry.get(&var).copied();
        let left: Vec<&Candidate> = cut
            .assumed
            .iter()
            .filter(|candidate| !self.dropped.contains(&(cut.func, cut.head, (*candidate).clone())))
            .collect();
        let terms = &mut self.executor.terms;
        let after: Vec<(Candidate, Option<TermId>)> =
            left.into_iter().map(|one| (one.clone(), one.term(terms, &now, &at_entry))).collect();
        let failed = self.failing(&way.state.path, after);
        self.dropped.extend(failed.into_iter().map(|candidate| (cut.func, cut.head, candidate)));
        Ok(())
    }

    /// Returns the candidates that are not proved to hold on a path.
    fn failing(&mut self, path: &Path, all: Vec<(Candidate, Option<TermId>)>) -> BTreeSet<Candidate> {
        let mut failing = BTreeSet::new();
        let mut left = Vec::new();
        for (candidate, term) in all {
            match term {
                Some(term) => left.push((candidate, term)),
                None => {
                    failing.insert(candidate);
                }
            }
        }
        // A model that violates one candidate usually violates many.
        let mut seen = vec![path.model()];
        while let Some(model) = seen.pop() {
            left.retain(|(candidate, term)| {
                let holds = model.eval(&self.executor.terms, *term) != 0;
                if !holds {
                    failing.insert(candidate.clone());
                }
                holds
            });
            let late = self.executor.config.deadline.is_over();
            for part in left.chunks(CANDIDATES_PER_QUERY) {
                if late {
                    failing.extend(part.iter().map(|(candidate, _)| candidate.clone()));
                    continue;
                }
                let mut all = self.executor.terms.truth(true);
                for (_, term) in part {
                    all = self.executor.terms.and(all, *term);
                }
                let broken = self.executor.terms.not(all);
                match self.executor.assume(path, broken) {
                    Side::Infeasible => {}
                    Side::Feasible(path) => {
                        seen.push(path.model());
                        break;
                    }
                    Side::Unknown(_) => {
                        // One of them is too hard; the others need not be dropped with it.
                        for (candidate, term) in part {
                            let broken = self.executor.terms.not(*term);
                            let side = self.executor.assume(path, broken);
                            if !matches!(side, Side::Infeasible) {
                                failing.insert(candidate.clone());
                            }
                        }
                    }
                }
            }
            left.retain(|(candidate, _)| !failing.contains(candidate));
        }
        failing
    }

    /// Returns the integer value of a variable in a state.
    fn number(&mut self, state: &State, var: Var) -> Option<TermId> {
        self.executor.integer_value(state, var)
    }
}

/// Returns the functions and blocks of all frames.
fn frame_blocks(state: &State) -> Vec<(FuncId, BlockId)> {
    state.frames.iter().map(|frame| (frame.func, frame.block)).collect()
}

fn is_at_end(module: &Module, state: &State) -> bool {
    let frame = state.top();
    let block = &module.functions[frame.func].blocks[frame.block];
    frame.inst >= block.insts.len() && !matches!(block.terminator.kind, TermKind::Return(_))
}

/// Returns true if an iteration changed only what was predicted.
fn changes_only_expected(state: &State, cut: &LoopCut, found: &LoopEffects) -> bool {
    let (frames, before) = (&state.frames, &cut.any.frames);
    if frames.len() != before.len() || frames.len() != cut.depth {
        return false;
    }
    let (own, callers) = (frames.len() - 1, 0..frames.len() - 1);
    let kept = |reg: usize| found.changed.iter().any(|changed| changed.index() == reg);
    let same = |index: usize, reg: usize| frames[index].regs[reg] == before[index].regs[reg];
    let registers = (0..frames[own].regs.len()).all(|reg| kept(reg) || same(own, reg))
        && callers.into_iter().all(|index| frames[index].regs == before[index].regs);
    let objects = cut.any.memory.ids().filter(|id| !cut.written.contains(id)).all(|id| {
        let (now, then) = (state.memory.shared(id), cut.any.memory.shared(id));
        Rc::ptr_eq(now, then) || now == then
    });
    let alive = cut.written.iter().all(|id| state.memory.get(*id).live == cut.any.memory.get(*id).live);
    registers && objects && alive
}
