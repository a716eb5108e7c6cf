//! The executor: everything that executing one instruction needs, whoever drives it.
//!
//! Drivers are the searches (`search/`), the proof by induction (`prover/`) and folding (`fold.rs`). They differ in which
//! ways of a fork they take; instructions are the same. What a step did comes back as [`StepResult`](crate::exec::instructions::step::StepResult).

mod constraints;
pub(in crate::exec) mod flow_graph;
pub(crate) mod ledger;
pub(crate) mod machine_templates;
pub(crate) mod path_replay;
pub(crate) mod policy;
pub(in crate::exec) mod summary_candidates;
pub(crate) mod used_globals;
pub(in crate::exec) mod visited_call;

use crate::config::Config;
use crate::exec::executor::flow_graph::FlowGraph;
use crate::exec::executor::ledger::Ledger;
use crate::exec::executor::machine_templates::Machines;
use crate::exec::executor::path_replay::{InputKey, PathReplay};
use crate::exec::executor::policy::{Policy, SolverEffort};
use crate::exec::executor::summary_candidates::SummaryCandidates;
use crate::exec::executor::used_globals::{FunctionsByType, InitialGlobals, UsedGlobals};
use crate::exec::executor::visited_call::VisitedCall;
use crate::goals::coverage::Coverage;
use crate::goals::tracker::{GoalHit, GoalTracker};
use crate::state::memory::{Cell, Pointers};
use crate::state::{PathEnd, State, Stop};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_base::Span;
use touchstone_criteria::{Bound, Doubt, Incomplete, IncompletePaths};
use touchstone_ir::{ErrorKind, FuncId, GlobalId, Module};
use touchstone_solver::{Path, Solver, Term, TermId, Terms};

/// A check of an instruction: what must hold, and the error if it does not.
pub(crate) struct Check {
    pub fine: TermId,
    pub kind: ErrorKind,
    pub span: Span,
}

/// What a step does beside moving its state; the step hands it out.
#[derive(Default)]
pub(in crate::exec) struct Effects {
    /// Paths that a check has ended.
    pub ended: Vec<(State, PathEnd)>,
    /// Goals that were reached.
    pub hits: Vec<GoalHit>,
    /// What was given up.
    pub gave_up: Vec<IncompletePaths>,
    /// Checks that were made, if they are told.
    pub checks: Vec<Check>,
    /// What the step rests on in a wider world; it goes to the state.
    pub raised: Vec<Doubt>,
}

impl Effects {
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty()
            && self.hits.is_empty()
            && self.gave_up.is_empty()
            && self.checks.is_empty()
            && self.raised.is_empty()
    }
}

/// Everything that executing one instruction needs.
pub(crate) struct Executor<'m> {
    pub module: &'m Module,
    pub config: &'m Config,
    pub policy: Policy,
    pub terms: Terms,
    pub solver: Solver,
    pub pointers: Pointers,
    pub goal_tracker: GoalTracker,
    pub ledger: Ledger,
    /// Addresses that are null and an index: there is nothing, in any world.
    pub null_based: FxHashSet<TermId>,
    /// Globals that input pointers may lead to.
    pub reachable_globals: BTreeSet<GlobalId>,
    pub used_globals: Option<Rc<UsedGlobals>>,
    pub initial_globals: InitialGlobals,
    /// Once they are asked for.
    pub functions_by_type: OnceCell<FunctionsByType>,
    /// Globals that are no inputs and in which calls leave something, if there are several calls.
    pub sequence_globals: Vec<GlobalId>,
    /// What was found there before calls.
    pub(in crate::exec) visited_calls: FxHashMap<Vec<u8>, Vec<VisitedCall>>,
    pub(in crate::exec) summary_candidates: SummaryCandidates,
    pub(in crate::exec) effects: Effects,
    /// Variables of inputs by their number on their path, width and name.
    input_vars: FxHashMap<InputKey, TermId>,
    /// The path that is followed, if it is known.
    pub replay: Option<PathReplay>,
    flow_graphs: Vec<Option<FlowGraph>>,
    /// What tests are confirmed on.
    pub machines: Machines<'m>,
}

impl<'m> Executor<'m> {
    pub fn new(module: &'m Module, config: &'m Config, policy: Policy, goals: Option<Coverage>) -> Executor<'m> {
        let usual = touchstone_solver::Config::default();
        let (timeout, conflicts) = match policy.effort {
            SolverEffort::Time => (config.solver_timeout, usual.conflicts),
            SolverEffort::Conflicts(most) => (usual.timeout, Some(most)),
        };
        let solver = Solver::new(touchstone_solver::Config {
            timeout,
            conflicts,
            deadline: config.deadline,
            interrupt: config.interrupt.clone(),
            // What is remembered saves time only; most memory is for what has to be kept.
            remembered: config
                .memory
                .map_or(usual.remembered, |limit| usual.remembered.min((limit.most() / 8) as usize)),
            memory: config.memory,
            seed: config.seed,
            ..usual
        });
        Executor {
            module,
            config,
            policy,
            terms: Terms::new(),
            solver,
            pointers: Pointers::default(),
            summary_candidates: SummaryCandidates::of(
                module,
                config.summaries,
                goals.as_ref().map(|coverage| Rc::clone(&coverage.watch)),
            ),
            goal_tracker: GoalTracker::new(goals),
            ledger: Ledger::default(),
            null_based: FxHashSet::default(),
            reachable_globals: BTreeSet::new(),
            used_globals: None,
            initial_globals: InitialGlobals::default(),
            functions_by_type: OnceCell::new(),
            sequence_globals: Vec::new(),
            visited_calls: FxHashMap::default(),
            effects: Effects::default(),
            input_vars: FxHashMap::default(),
            replay: None,
            flow_graphs: module.functions.values().map(|_| None).collect(),
            machines: Machines::of(module),
        }
    }

    /// The control flow of a function, computed once.
    pub fn flow_graph(&mut self, func: FuncId) -> &FlowGraph {
        let module = self.module;
        self.flow_graphs[func.index()].get_or_insert_with(|| FlowGraph::of(&module.functions[func]))
    }

    /// The variable of an input. Paths whose inputs came up in the same order share the variables: their number, and with it the
    /// size of a path, is that of the inputs of one path, however many paths there are.
    pub fn variable(&mut self, number: u32, width: u8, name: &str) -> TermId {
        let key: InputKey = (number, width, name.into());
        let terms = &mut self.terms;
        let term = *self.input_vars.entry(key.clone()).or_insert_with(|| terms.var(width, name));
        if let (Some(replay), Term::Var { var, .. }) = (&mut self.replay, self.terms.get(term)) {
            replay.meet(&key, *var);
        }
        term
    }

    /// The inputs that have a value other than zero in a model of a path.
    pub fn input_values(&self, path: &Path) -> Vec<(InputKey, u64)> {
        let model = path.model();
        let value = |(key, term): (&InputKey, &TermId)| {
            let value = model.eval(&self.terms, *term);
            (value != 0).then(|| (key.clone(), value))
        };
        let mut values: Vec<(InputKey, u64)> = self.input_vars.iter().filter_map(value).collect();
        values.sort_unstable();
        values
    }

    /// Remembers that paths were given up.
    pub fn give_up(&mut self, why: Incomplete, span: Span, count: u64) {
        self.effects.gave_up.push(IncompletePaths { why: why.clone(), span, count });
        self.ledger.give_up(why, span, count);
    }

    /// Whether objects of so many bytes may still be made; `Err` if there is no memory for them. RequestedType before they are
    /// there: a byte of the program takes several of ours.
    pub fn ensure_memory(&self, bytes: u64, span: Span) -> Result<(), Stop> {
        match self.has_memory_for(bytes, std::mem::size_of::<Cell>() as u64) {
            true => Ok(()),
            false => Err(Stop::bound(Bound::Memory, span)),
        }
    }

    /// Whether there is memory for so many things of this size.
    pub fn has_memory_for(&self, things: u64, size: u64) -> bool {
        /// To ask the system takes as long as to make so many things.
        const MIN_ITEMS_CHECKED: u64 = 1 << 16;
        /// So many times what is made stays free.
        const HEADROOM_FACTOR: u64 = 4;
        let limit = self.config.memory.filter(|_| things > MIN_ITEMS_CHECKED);
        // Up to half of the memory is for all that is not large, or one path with large objects would end the others. Where others
        // took much already, what is small beside that is still made.
        let bytes = things.saturating_mul(size);
        limit.is_none_or(|limit| {
            let rest = bytes.saturating_mul(HEADROOM_FACTOR).min(limit.most() / 2);
            limit.has_room(bytes.saturating_add(rest))
        })
    }
}
