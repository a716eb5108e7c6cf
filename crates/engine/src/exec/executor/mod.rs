//! The executor: everything that the execution of one instruction needs, independent of the driver.
//!
//! Drivers are the searches (`search/`), the proof by induction (`prover/`) and folding (`exec/compose/fold.rs`). They
//! differ in the outcomes of a fork that they take; instructions are the same. A step returns its effects as
//! `StepResult`.
//!
//! The other files hold the data that an executor carries (`policy.rs`, `ledger.rs`, `path_replay.rs`,
//! `machine_templates.rs`, `used_globals.rs`, `flow_graph.rs`, `summary_candidates.rs`, `visited_call.rs`) and its
//! operations on path conditions (`constraints.rs`).

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
use crate::exec::executor::machine_templates::MachineTemplates;
use crate::exec::executor::path_replay::{InputKey, PathReplay};
use crate::exec::executor::policy::{Policy, QueryLimit};
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
use std::sync::Arc;
use touchstone_base::Id;
use touchstone_base::Span;
use touchstone_criteria::{Bound, Caveat, Incomplete, IncompletePaths};
use touchstone_ir::{ErrorKind, FuncId, GlobalId, Module};
use touchstone_solver::{Path, Solver, Term, TermId, Terms, VarId};

/// A check of an instruction: the condition that must hold, and the error if it does not.
pub(crate) struct Check {
    pub fine: TermId,
    pub kind: ErrorKind,
    pub span: Span,
}

/// The effects of a step besides the change of its state; the step returns them.
#[derive(Default)]
pub(in crate::exec) struct StepEffects {
    /// Paths that a failed check has ended.
    pub ended: Vec<(State, PathEnd)>,
    /// Goals that were reached.
    pub hits: Vec<GoalHit>,
    /// Paths that were given up.
    pub gave_up: Vec<IncompletePaths>,
    /// Checks that were made, if the policy records them.
    pub checks: Vec<Check>,
    /// Caveats that the step raised in an unrestricted environment; they are moved to the state.
    pub raised: Vec<Caveat>,
}

impl StepEffects {
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty()
            && self.hits.is_empty()
            && self.gave_up.is_empty()
            && self.checks.is_empty()
            && self.raised.is_empty()
    }
}

/// Everything that the execution of one instruction needs.
pub(crate) struct Executor<'m> {
    pub module: &'m Module,
    pub config: &'m Config,
    pub policy: Policy,
    pub terms: Terms,
    pub solver: Solver,
    pub pointers: Pointers,
    pub goal_tracker: GoalTracker,
    pub ledger: Ledger,
    /// Addresses computed from null: no environment has an object there.
    pub null_based: FxHashSet<TermId>,
    /// Variables that symbolic pointers may point to.
    pub reachable_globals: BTreeSet<GlobalId>,
    /// Constants and functions that symbolic pointers may point to.
    pub reachable_constants: BTreeSet<GlobalId>,
    pub used_globals: Option<Rc<UsedGlobals>>,
    pub initial_globals: InitialGlobals,
    /// Functions by type, computed on demand.
    pub functions_by_type: OnceCell<FunctionsByType>,
    /// In a call sequence, the globals that are no inputs and that calls may change.
    pub sequence_globals: Vec<GlobalId>,
    /// In a call sequence, the states that reached a call, by the constants in these globals.
    pub(in crate::exec) visited_calls: FxHashMap<Vec<u8>, Vec<VisitedCall>>,
    pub(in crate::exec) summary_candidates: SummaryCandidates,
    pub(in crate::exec) effects: StepEffects,
    /// The variables of inputs, by number on the path, width and name.
    input_vars: FxHashMap<InputKey, TermId>,
    /// The path that is replayed, if any.
    pub replay: Option<PathReplay>,
    flow_graphs: Vec<Option<FlowGraph>>,
    /// The machines on which tests are confirmed.
    pub machines: MachineTemplates<'m>,
}

impl<'m> Executor<'m> {
    pub fn new(module: &'m Module, config: &'m Config, policy: Policy, goals: Option<Coverage>) -> Executor<'m> {
        let usual = touchstone_solver::Config::default();
        let (timeout, conflicts) = match policy.effort {
            QueryLimit::Time => (config.solver_timeout, usual.conflicts),
            QueryLimit::Conflicts(most) => (usual.timeout, Some(most)),
        };
        let solver = Solver::new(touchstone_solver::Config {
            timeout,
            conflicts,
            deadline: config.deadline,
            interrupt: config.interrupt.clone(),
            // Memoised answers only save time; most memory is needed for data that must be kept.
            remembered: config
                .memory
                .map_or(usual.remembered, |limit| usual.remembered.min((limit.most() / 8) as usize)),
            memory: config.memory,
            seed: config.options.seed,
            query_log: config.query_log.clone(),
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
                config.options.summaries,
                goals.as_ref().map(|coverage| Arc::clone(&coverage.watch)),
            ),
            goal_tracker: GoalTracker::new(goals),
            ledger: Ledger::default(),
            null_based: FxHashSet::default(),
            reachable_globals: BTreeSet::new(),
            reachable_constants: BTreeSet::new(),
            used_globals: None,
            initial_globals: InitialGlobals::default(),
            functions_by_type: OnceCell::new(),
            sequence_globals: Vec::new(),
            visited_calls: FxHashMap::default(),
            effects: StepEffects::default(),
            input_vars: FxHashMap::default(),
            replay: None,
            flow_graphs: module.functions.values().map(|_| None).collect(),
            machines: MachineTemplates::of(module),
        }
    }

    /// Returns the control-flow graph of a function, computed once.
    pub fn flow_graph(&mut self, func: FuncId) -> &FlowGraph {
        let module = self.module;
        self.flow_graphs[func.index()].get_or_insert_with(|| FlowGraph::of(&module.functions[func]))
    }

    /// Returns the variable of an input. Paths with inputs in the same order share the variables: their number,
    /// and with it the size of a path, is bounded by the inputs of one path, independent of the number of paths.
    pub fn variable(&mut self, number: u32, width: u8, name: &str) -> TermId {
        let key: InputKey = (number, width, name.into());
        let terms = &mut self.terms;
        let term = *self.input_vars.entry(key.clone()).or_insert_with(|| terms.var(width, name));
        if let (Some(replay), Term::Var { var, .. }) = (&mut self.replay, self.terms.get(term)) {
            replay.meet(&key, *var);
        }
        term
    }

    /// Returns the inputs that exist so far, by variable.
    pub fn input_table(&self) -> FxHashMap<VarId, InputKey> {
        let input = |(key, term): (&InputKey, &TermId)| match self.terms.get(*term) {
            Term::Var { var, .. } => Some((*var, key.clone())),
            _ => None,
        };
        self.input_vars.iter().filter_map(input).collect()
    }

    /// Binds the inputs that exist so far to their values in a replay.
    pub fn bind_inputs(&self, replay: &mut PathReplay) {
        for (key, term) in &self.input_vars {
            if let Term::Var { var, .. } = self.terms.get(*term) {
                replay.meet(key, *var);
            }
        }
    }

    /// Returns the inputs that are not zero in a model of a path.
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

    /// Records that paths were given up.
    pub fn give_up(&mut self, why: Incomplete, span: Span, count: u64) {
        self.effects.gave_up.push(IncompletePaths { why: why.clone(), span, count });
        self.ledger.give_up(why, span, count);
    }

    /// Returns `Err` if there is no memory for objects of this many bytes. Callers ask before the allocation: a byte of
    /// the program takes several bytes of the host.
    pub fn ensure_memory(&self, bytes: u64, span: Span) -> Result<(), Stop> {
        match self.has_memory_for(bytes, std::mem::size_of::<Cell>() as u64) {
            true => Ok(()),
            false => Err(Stop::bound(Bound::Memory, span)),
        }
    }

    /// Returns true if there is memory for this many items of this size.
    pub fn has_memory_for(&self, things: u64, size: u64) -> bool {
        /// Fewer items are not checked: asking the system takes as long as allocating this many.
        const MIN_ITEMS_CHECKED: u64 = 1 << 16;
        /// The multiple of the allocation that must stay free.
        const HEADROOM_FACTOR: u64 = 4;
        let limit = self.config.memory.filter(|_| things > MIN_ITEMS_CHECKED);
        // Up to half of the memory is reserved for small objects, or one path with large objects would end the others.
        // If other paths took most of the memory, relatively small allocations still succeed.
        let bytes = things.saturating_mul(size);
        limit.is_none_or(|limit| {
            let rest = bytes.saturating_mul(HEADROOM_FACTOR).min(limit.most() / 2);
            limit.has_room(bytes.saturating_add(rest))
        })
    }
}
