//! The static prover: proofs that no run can reach a goal. Two proofs, the cheap one first.
//!
//! Exploration leaves goals open when it hits a bound. Here all runs are covered by one analysis.
//!
//! *Intervals* are an abstract interpretation: known bits and bounds of registers and of memory at known offsets, up to
//! a fixpoint with widening over loops. A goal is proved infeasible if no abstract state reaches it. Everything that
//! the analysis does not model is unconstrained: other memory, results and writes of calls, computed pointers. Each
//! function is analysed once, for all its callers. Preconditions are not used, which only enlarges the set of runs.
//! Read `interval_domain.rs` (integers), `abstract_value.rs` and `abstract_state.rs`, `transfer.rs` (instructions),
//! `fixpoint.rs`, then `predicates.rs` (labels) and `run_time_errors.rs`. `function_facts.rs` and `entry_state.rs` hold
//! what is known before a function runs.
//!
//! Outcomes of branches that a short chain of blocks excludes from any state are removed first (`dead_edges.rs`).
//!
//! *Induction* derives relations: the engine's own symbolic execution, with every loop cut at its head. Read
//! `induction.rs`, then `loop_effects.rs` (what a loop changes), `loop_havoc.rs` (the state of any iteration),
//! `invariant_candidates.rs` and `control_flow_reach.rs` (the goals behind a path that was given up).
//!
//! `c.rs` holds the effects of C builtins.
//!
//! Deliberately not here: summaries of calls, objects that grow in a loop.

mod abstract_state;
mod abstract_value;
mod c;
mod control_flow_reach;
mod dead_edges;
mod entry_state;
mod fixpoint;
mod function_facts;
mod induction;
mod interval_domain;
mod invariant_candidates;
mod loop_effects;
mod loop_havoc;
mod predicates;
mod run_time_errors;
mod transfer;

pub(crate) use control_flow_reach::{ControlFlowReach, GoalBlocks};

use crate::config::Config;
use crate::inputs::globals::changeable_globals;
use abstract_state::AbstractState;
use dead_edges::is_mark;
use fixpoint::ProofBudget;
use function_facts::FunctionFacts;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{Deadline, Id, Span};
use touchstone_criteria::{DecisionGoals, DecisionGraph, DecisionStep, Goal, GoalId, GoalIndex, Proof};
use touchstone_ir::{
    Block, BlockId, CallGraph, Cfg, CondId, CondTag, DecisionId, ErrorKind, FuncId, GlobalId, Inst, InstKind, Module,
    TermKind, possible_callees,
};

/// Returns the goals among `open` that no run of `func` can reach, whatever its inputs are (within their types, ranges
/// and precondition), with the kind of proof.
///
/// Sound, not complete: a goal that is not returned may still be infeasible.
pub fn prove_infeasible(
    module: &Module,
    func: FuncId,
    watch: &GoalIndex,
    open: &[GoalId],
    config: &Config,
) -> BTreeMap<GoalId, Proof> {
    // The initial values of globals are only known after start-up code.
    if !module.startup.is_empty() {
        return BTreeMap::new();
    }
    // Both proofs share one deadline: nothing is concluded from an unfinished proof.
    let config = &Config { deadline: Deadline::after(config.proof_time), ..config.clone() };
    let mut analysis = Analysis::new(module, func, watch, config);
    let possible = analysis.possible(open);
    let (left, gone): (Vec<GoalId>, Vec<GoalId>) = open.iter().copied().partition(|goal| possible[goal.index()]);
    let mut proved: BTreeMap<GoalId, Proof> = gone.into_iter().map(|goal| (goal, Proof::Intervals)).collect();
    if !left.is_empty() {
        let more = induction::prove(module, func, watch, &left, config, &analysis.fixpoints);
        proved.extend(more.into_iter().map(|goal| (goal, Proof::Induction)));
    }
    proved
}

/// Outcomes of one decision's conditions.
type Outcomes = FxHashSet<(CondId, bool)>;

/// The results of the analysis of all reachable functions.
struct Analysis<'m> {
    module: &'m Module,
    func: FuncId,
    watch: &'m GoalIndex,
    config: &'m Config,
    calls: CallGraph,
    /// The function under test, its precondition and its oracle.
    roots: Vec<FuncId>,
    /// Globals that may change.
    inputs: BTreeSet<GlobalId>,
    /// True if some reachable code copies raw memory.
    copies: bool,
    /// True if some reachable code also calls the function under test.
    called: bool,
    /// The functions that contain goals: unmodelled code may call them with any arguments.
    wanted: BTreeSet<FuncId>,
    /// The remaining budget.
    budget: ProofBudget,
    /// For every goal, whether the analysis could not exclude it.
    possible: Vec<bool>,
    /// Outcomes of conditions that may happen.
    outcomes: BTreeSet<(FuncId, CondTag, bool)>,
    /// The errors that are goals, by location.
    errors: BTreeMap<Span, Vec<(ErrorKind, GoalId)>>,
    /// The abstract states at loop heads, where the analysis terminated.
    fixpoints: induction::Fixpoints,
}

impl<'m> Analysis<'m> {
    fn new(module: &'m Module, func: FuncId, watch: &'m GoalIndex, config: &'m Config) -> Analysis<'m> {
        let calls = CallGraph::new(module);
        let helpers = [&config.precondition, &config.oracle].into_iter().flatten();
        let mut roots: Vec<FuncId> = helpers.filter_map(|name| module.function_named(name)).collect();
        roots.push(func);
        let inputs = roots.iter().flat_map(|root| changeable_globals(module, *root)).collect();
        let reachable: BTreeSet<FuncId> = roots.iter().flat_map(|root| calls.reachable_from(*root)).collect();
        let called = reachable.iter().any(|caller| calls.callees(*caller).contains(&func));
        let mut insts =
            reachable.iter().flat_map(|id| module.functions[*id].blocks.values()).flat_map(|block| &block.insts);
        let copies = insts.any(|inst| matches!(inst.kind, InstKind::MemCopy { .. }));
        let mut errors: BTreeMap<Span, Vec<(ErrorKind, GoalId)>> = BTreeMap::new();
        for (id, goal) in watch.goals.iter() {
            if let Goal::Error { kind, span, .. } = goal {
                errors.entry(*span).or_default().push((*kind, id));
            }
        }
        Analysis {
            module,
            func,
            watch,
            config,
            calls,
            roots,
            inputs,
            copies,
            called,
            wanted: watch.goals.values().map(Goal::func).collect(),
            budget: ProofBudget::new(config.deadline),
            possible: vec![false; watch.goals.len()],
            outcomes: BTreeSet::new(),
            errors,
            fixpoints: BTreeMap::new(),
        }
    }

    /// Returns for every goal whether some run may reach it.
    fn possible(&mut self, open: &[GoalId]) -> Vec<bool> {
        let mut pending = self.roots.clone();
        let mut seen: BTreeSet<FuncId> = pending.iter().copied().collect();
        while let Some(func) = pending.pop() {
            for callee in self.analyse(func) {
                if seen.insert(callee) {
                    pending.push(callee);
                }
            }
        }
        // Goals of one decision are adjacent.
        let mut last: Option<((FuncId, DecisionId), Option<Outcomes>)> = None;
        for &id in open {
            let goal = &self.watch.goals[id];
            let left = match goal {
                _ if self.config.deadline.is_over() => true,
                Goal::Independent { func, decision, condition, value } => {
                    let of = (*func, *decision);
                    if last.as_ref().is_none_or(|(known, _)| *known != of) {
                        let happening = self.happening(*func, *decision);
                        let watch = self.watch.decision(*func, *decision);
                        let deciding =
                            |watch: &DecisionGoals| watch.graph.deciding(|of, value| happening.contains(&(of, value)));
                        last = Some((of, watch.map(deciding)));
                    }
                    let deciding = last.as_ref().and_then(|(_, deciding)| deciding.as_ref());
                    deciding.is_none_or(|deciding| deciding.contains(&(*condition, *value)))
                }
                goal => self.is_possible(goal),
            };
            if left {
                self.possible[id.index()] = true;
            }
        }
        std::mem::take(&mut self.possible)
    }

    /// Analyses a function and marks the goals that it may reach; returns the functions that it may call.
    fn analyse(&mut self, func: FuncId) -> BTreeSet<FuncId> {
        let module = self.module;
        let function = &module.functions[func];
        if !function.is_defined() {
            return BTreeSet::new();
        }
        let inputs = self.inputs.clone();
        let (mut frame, start) = if func == self.func && !self.called {
            entry_state::under_test(module, func, &inputs, self.config)
        } else {
            let frame = FunctionFacts::new(module, function, &inputs, Vec::new());
            (frame, AbstractState::unknown(function))
        };
        // If tests construct objects first, goals are in the functions called then.
        if func == self.func || self.wanted.contains(&func) {
            frame.dead = dead_edges::dead_edges(function, self.config);
        }
        for &goal in self.watch.entry(func) {
            if let Goal::Entry { predicate, .. } = &self.watch.goals[goal]
                && frame.can_hold(&start, predicate)
            {
                self.possible[goal.index()] = true;
            }
        }
        let Some(fixpoint) = frame.fixpoint(&start, &mut self.budget) else {
            self.give_up(func);
            let is_stop = |block: &Block| matches!(block.terminator.kind, TermKind::Unsupported(_));
            let mut callees: BTreeSet<FuncId> = self.calls.callees(func).iter().copied().collect();
            if function.blocks.values().any(is_stop) {
                callees.extend(&self.wanted);
            }
            return callees;
        };
        let mut callees = BTreeSet::new();
        for (block, state) in function.blocks.ids().zip(&fixpoint.states) {
            if let Some(state) = state {
                self.mark_block(&frame, func, block, state.clone(), &mut callees);
            }
        }
        // Behind an unsupported construct anything may happen, and a mark may be resumed in any state.
        let stops = |(block, state): (BlockId, &Option<AbstractState>)| {
            let block = &function.blocks[block];
            let resumes = block.insts.iter().any(|inst| is_mark(&inst.kind));
            state.is_some() && (resumes || matches!(block.terminator.kind, TermKind::Unsupported(_)))
        };
        if function.blocks.ids().zip(&fixpoint.states).any(stops) {
            self.give_up(func);
            callees.extend(self.calls.callees(func));
            callees.extend(&self.wanted);
        }
        // Only induction uses the states again, at loop heads: storing all of them would take gigabytes.
        let mut states = fixpoint.states;
        let cfg = Cfg::new(function);
        let heads = cfg.loops().values().filter_map(|found| Some((found.head, states[found.head.index()].take()?)));
        self.fixpoints.insert(func, heads.collect());
        callees
    }

    /// Gives up a function: everything in it may happen.
    fn give_up(&mut self, func: FuncId) {
        let function = &self.module.functions[func];
        let spans: BTreeSet<Span> = function
            .blocks
            .values()
            .flat_map(|block| block.insts.iter().map(|inst| inst.span).chain([block.terminator.span]))
            .collect();
        for (id, goal) in self.watch.goals.iter() {
            let here = match goal {
                Goal::Error { span, func: at, .. } => *at == func || spans.contains(span),
                other => other.func() == func,
            };
            self.possible[id.index()] |= here;
        }
        for block in function.blocks.values() {
            if let TermKind::Branch { tag: Some(tag), .. } = &block.terminator.kind {
                self.outcomes.extend([(func, *tag, false), (func, *tag, true)]);
            }
        }
    }

    /// Marks the goals that a block may reach.
    fn mark_block(
        &mut self,
        frame: &FunctionFacts<'_>,
        func: FuncId,
        block: BlockId,
        state: AbstractState,
        callees: &mut BTreeSet<FuncId>,
    ) {
        let terminator = &frame.function.blocks[block].terminator;
        let edges = frame.run_block(block, state, &mut |inst, state| match inst {
            Some(inst) => self.mark_instruction(frame, func, inst, state, callees),
            None => {
                for (kind, goal) in self.errors.get(&terminator.span).into_iter().flatten() {
                    self.possible[goal.index()] |= frame.end_may_fail(state, &terminator.kind, *kind);
                }
                if let TermKind::Return(Some(operand)) = terminator.kind {
                    for &goal in self.watch.returns(func) {
                        if let Goal::Return { predicate, .. } = self.watch.goals[goal] {
                            let predicate = predicate.over(operand, func, frame.module);
                            self.possible[goal.index()] |= frame.can_hold(state, &predicate);
                        }
                    }
                }
            }
        });
        for edge in edges {
            match (&terminator.kind, edge.outcome) {
                (TermKind::Branch { tag: Some(tag), .. }, Some(outcome)) => {
                    self.outcomes.insert((func, *tag, outcome));
                }
                (TermKind::Switch { .. }, _) => {
                    for goal in self.watch.arm(func, block, edge.target) {
                        self.possible[goal.index()] = true;
                    }
                }
                _ => {}
            }
        }
    }

    fn mark_instruction(
        &mut self,
        frame: &FunctionFacts<'_>,
        func: FuncId,
        inst: &Inst,
        state: &AbstractState,
        callees: &mut BTreeSet<FuncId>,
    ) {
        match &inst.kind {
            InstKind::Call { dst, callee, args } => {
                callees.extend(possible_callees(frame.module, frame.function, *dst, callee, args));
            }
            InstKind::Point { point } => {
                for goal in self.watch.point(func, *point) {
                    let holds = match &self.watch.goals[*goal] {
                        Goal::Label { predicate: Some(predicate), .. } => frame.can_hold(state, predicate),
                        _ => true,
                    };
                    self.possible[goal.index()] |= holds;
                }
            }
            _ => {}
        }
        for (kind, goal) in self.errors.get(&inst.span).into_iter().flatten() {
            self.possible[goal.index()] |= frame.may_fail(state, inst, *kind, self.copies);
        }
    }

    /// Returns true if the outcomes of all functions together do not exclude a goal. Labels, arms and entries are
    /// marked where they occur.
    fn is_possible(&self, goal: &Goal) -> bool {
        let func = goal.func();
        match goal {
            Goal::Label { .. } | Goal::Entry { .. } | Goal::Return { .. } | Goal::Arm { .. } => false,
            // The analysis must cover the location.
            Goal::Error { span, .. } => !span.is_some() || !self.has_location(func, *span),
            Goal::Condition { decision, condition, value, .. } => self.happens(func, *decision, *condition, *value),
            Goal::Row { decision, outcomes, .. } => {
                outcomes.iter().all(|(condition, value)| self.happens(func, *decision, *condition, *value))
            }
            Goal::Outcome { decision, value, .. } => match self.watch.decision(func, *decision) {
                Some(watch) => self.can_end(func, *decision, &watch.graph, *value),
                None => true,
            },
            // Independence is computed for all conditions of a decision at the same time; a partner is an auxiliary
            // goal.
            Goal::Independent { .. } | Goal::Partner { .. } => true,
        }
    }

    /// Returns the outcomes of a decision's conditions that may happen.
    fn happening(&self, func: FuncId, decision: DecisionId) -> Outcomes {
        let first = (func, CondTag { decision, condition: CondId::new(0) }, false);
        let own = self.outcomes.range(first..).take_while(|(of, tag, _)| *of == func && tag.decision == decision);
        own.map(|(_, tag, value)| (tag.condition, *value)).collect()
    }

    fn has_location(&self, func: FuncId, span: Span) -> bool {
        let mut blocks = self.module.functions[func].blocks.values();
        blocks.any(|block| block.insts.iter().any(|inst| inst.span == span) || block.terminator.span == span)
    }

    /// Returns true if a condition may have this outcome.
    fn happens(&self, func: FuncId, decision: DecisionId, condition: CondId, value: bool) -> bool {
        self.outcomes.contains(&(func, CondTag { decision, condition }, value))
    }

    /// Returns true if possible outcomes lead through the decision graph to this value.
    fn can_end(&self, func: FuncId, decision: DecisionId, graph: &DecisionGraph, value: bool) -> bool {
        let mut pending = vec![graph.start];
        let mut seen = BTreeSet::new();
        while let Some(target) = pending.pop() {
            match target {
                DecisionStep::Done(result) if result == value => return true,
                DecisionStep::Done(_) => {}
                DecisionStep::Node(node) => {
                    if seen.insert(node) {
                        let node = &graph.nodes[node];
                        for outcome in [false, true] {
                            if self.happens(func, decision, node.condition, outcome) {
                                pending.push(node.edges[usize::from(outcome)].target);
                            }
                        }
                    }
                }
            }
        }
        false
    }
}
