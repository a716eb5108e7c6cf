//! Batches: waiting states that one thread explores with an executor of its own.
//!
//! A batch depends on nothing but the states and the context that it was given, so its result is the same on whatever
//! thread and whenever it runs. `exploration_rounds.rs` distributes and joins batches.

use crate::config::Config;
use crate::exec::executor::ledger::Ledger;
use crate::exec::executor::machine_templates::MachineTemplates;
use crate::growth::Shortage;
use crate::search::exploration::Exploration;
use crate::search::frontier::Waiting;
use crate::search::parked_state::TransferredState;
use crate::search::search_events::{SearchEvent, Sink, TestFilter};
use crate::search::search_result::SearchTarget;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::time::Duration;
use touchstone_base::{Deadline, work_time};
use touchstone_criteria::{Bound, PathCounts, SolverUse, TestCase};
use touchstone_ir::{FuncId, Module};

/// Waiting states in the order in which they are explored, with their distances to open goals.
pub(super) type Batch = Vec<(u32, Arc<TransferredState>)>;

/// Everything that the batches of one round share.
pub(super) struct BatchContext<'c> {
    pub module: &'c Module,
    pub func: FuncId,
    pub target: SearchTarget,
    /// The configuration of the search, with an earlier deadline.
    pub config: &'c Config,
    /// The deadline of the search.
    pub deadline: Deadline,
    pub filter: &'c TestFilter<'c>,
    /// The paths that have a test.
    pub seen: Arc<FxHashSet<u64>>,
    /// The number of tests so far.
    pub tests: u64,
    /// The number of instructions that no path was charged for.
    pub free_steps: u64,
    /// Input objects that were too short.
    pub shortage: Shortage,
    /// The work time after which a batch ends.
    pub quota: Duration,
}

/// The result of a batch.
pub(super) struct BatchResult {
    pub tests: Vec<TestCase>,
    pub paths: PathCounts,
    /// The paths that ended.
    pub seen: FxHashSet<u64>,
    /// Counters of this batch alone.
    pub ledger: Ledger,
    /// The states that are still waiting.
    pub waiting: Batch,
    /// The bound that ended the exploration. The end of the quota is none.
    pub stopped: Option<Bound>,
    pub solver: SolverUse,
    /// The work time of the replays of transferred states.
    pub replay_work: Duration,
    /// True if a long query hit the deadline of the batch: the result does not count.
    pub void: bool,
}

/// Explores a batch until its quota is spent or nothing is left. The machines of a thread serve all its batches.
pub(super) fn explore_batch<'m>(
    context: &BatchContext<'m>,
    batch: Batch,
    machines: &mut MachineTemplates<'m>,
) -> BatchResult {
    let begun = work_time();
    let mut sink = BatchSink { filter: context.filter, tests: Vec::new() };
    let (target, config) = (context.target.clone(), context.config);
    let mut exploration = Exploration::new(context.module, context.func, target, config, &mut sink);
    std::mem::swap(&mut exploration.executor.machines, machines);
    exploration.seen_before = Arc::clone(&context.seen);
    exploration.tests = context.tests;
    exploration.executor.ledger.free_steps = context.free_steps;
    exploration.executor.ledger.shortage = context.shortage.clone();
    exploration.pause = Some(begun + context.quota);
    let waiting = batch.into_iter().map(|(distance, state)| (distance, Waiting::Transferred(state)));
    exploration.worklist.extend(waiting.collect());
    exploration.turn(u64::MAX);
    let mut ledger = std::mem::take(&mut exploration.executor.ledger);
    ledger.free_steps -= context.free_steps;
    let stats = exploration.executor.solver.stats();
    let solver = SolverUse { queries: stats.queries, seconds: stats.seconds };
    let waiting = exploration.worklist.drain();
    let waiting = exploration.transferred(&waiting);
    std::mem::swap(&mut exploration.executor.machines, machines);
    let void = config.deadline.is_over() && !context.deadline.is_over();
    let Exploration { paths, seen, stopped, replay_work, .. } = exploration;
    BatchResult { tests: sink.tests, paths, seen, ledger, waiting, stopped, solver, replay_work, void }
}

/// Collects the tests of a batch.
struct BatchSink<'c> {
    filter: &'c TestFilter<'c>,
    tests: Vec<TestCase>,
}

impl Sink for BatchSink<'_> {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.tests.push(test.clone());
        }
    }

    fn filter(&self) -> Box<TestFilter<'_>> {
        Box::new(self.filter)
    }
}
