//! Rounds: a long exploration goes on in batches, on as many cores as are free.
//!
//! A round deals the waiting states to a fixed number of batches (`batch.rs`), each with a quota of work time, and joins
//! their results in the order of the batches. Batches run ahead speculatively: a result counts only if a search that
//! runs the batches one after the other would have come to it within its budget. So tests and verdicts depend neither
//! on the number of cores nor on the speed of threads.
//!
//! A batch starts without what the solver has learned. If a query then takes longer than a batch may, the result is void:
//! the search goes on in one piece for a while, with the states that it had.
//!
//! A search for goals begins a round only after a long time without a new test: batches do not know what the others
//! cover, and explore many states a little instead of the nearest.
//!
//! Deliberately not here: searches for goals with longer objects, which seldom come to an end; criteria with labels and
//! the baselines, whose states no prefix describes; call sequences, whose states are compared with one another.

use crate::config::{Aliases, Calls, Config, Labels, Search};
use crate::exec::executor::machine_templates::MachineTemplates;
use crate::goals::coverage::{Aim, Coverage};
use crate::search::batch::{Batch, BatchContext, BatchResult, explore_batch};
use crate::search::exploration::Exploration;
use crate::search::frontier::Waiting;
use crate::search::parked_state::{ParkedState, TransferredState};
use crate::search::search_result::{Goals, SearchTarget};
use rustc_hash::FxHashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use touchstone_base::{Cores, Deadline, Id, advance_work_time, spawn_deep, work_time, work_time_from};
use touchstone_criteria::{Bound, GoalId, Incomplete, Outcome, PathCounts, Replay, TestCase};

/// The number of batches of a round: enough for eight cores, with little idle time at the end of a round.
const BATCHES: usize = 16;

/// The minimum number of waiting states of a round.
const MIN_STATES: usize = 4;

/// The largest quota of a batch.
const MAX_QUOTA: Duration = Duration::from_secs(2);

/// The smallest quota of a batch, towards the end of the budget.
const MIN_QUOTA: Duration = Duration::from_millis(10);

/// The divisor of the work of a round that replays of states may take before the quota is doubled.
const REPLAY_SHARE: u32 = 8;

/// The multiple of its quota that a batch may take: a query may be longer than the quota.
const QUERY_ALLOWANCE: u32 = 2;

/// The multiple of the work that a void batch took after which the next round is tried.
const RETRY_FACTOR: u32 = 8;

/// The consequences of a round for the next one.
struct RoundResult {
    /// The work of void batches.
    wasted: Duration,
    /// True if batches need a larger quota.
    was_short: bool,
}

impl Exploration<'_, '_> {
    /// Explores until nothing is left or a bound is hit.
    pub fn explore_all(&mut self) {
        let (interval, mut quota) = (self.round_interval(), self.executor.config.rounds.quota);
        let mut wait = interval;
        while self.can_begin_rounds() && quota <= MAX_QUOTA {
            self.pause = Some(work_time() + wait);
            self.turn(u64::MAX);
            wait = interval;
            while self.is_round_due(interval) && wait == interval && quota <= MAX_QUOTA {
                let round = self.explore_round(quota);
                wait = interval.max(round.wasted * RETRY_FACTOR);
                quota *= if round.was_short { 2 } else { 1 };
            }
            if self.stopped.is_some() || self.worklist.len() == 0 {
                return;
            }
        }
        self.pause = None;
        self.turn(u64::MAX);
    }

    /// Returns true if prefixes describe the states of this search completely.
    fn can_begin_rounds(&self) -> bool {
        let config = self.executor.config;
        self.parks
            && config.aliases == Aliases::Late
            && config.labels == Labels::Idl
            && config.calls == Calls::Itself
            && config.questions.is_none()
            && (self.aim == Aim::Paths || config.growth.is_none())
            && matches!(config.search, Search::Dfs | Search::Nearest)
            && !self.sink.wants_cases()
    }

    /// Returns the work before a round; in a search for goals, without a new test.
    fn round_interval(&self) -> Duration {
        let rounds = self.executor.config.rounds;
        match self.aim {
            Aim::Paths => rounds.begin,
            Aim::Goals => {
                let left = self.executor.config.deadline.left().unwrap_or_default();
                rounds.unproductive.max(left.mul_f64(rounds.unproductive_share))
            }
        }
    }

    fn is_round_due(&self, interval: Duration) -> bool {
        let is_unproductive = || work_time() >= self.last_test + interval;
        self.stopped.is_none() && self.worklist.len() >= MIN_STATES && (self.aim == Aim::Paths || is_unproductive())
    }

    /// Explores one round.
    fn explore_round(&mut self, quota: Duration) -> RoundResult {
        let config = self.executor.config;
        let mut left = config.deadline.left();
        if !self.executor.ledger.shortage.is_empty() {
            left = left.into_iter().chain(config.first_round.left()).min();
        }
        let fair = left.map_or(quota, |left| quota.min(left / BATCHES as u32)).max(MIN_QUOTA.min(quota));
        let waiting = self.worklist.drain();
        let transferred = self.transferred(&waiting);
        let count = waiting.len().min(BATCHES);
        let batches = dealt(transferred, count);
        let mut remaining = dealt(waiting, count);
        let deadline = config.deadline.or_earlier(Deadline::after(fair * QUERY_ALLOWANCE));
        Arc::make_mut(&mut self.seen_before).extend(self.seen.drain());
        let filter = self.sink.filter();
        let context = BatchContext {
            module: self.executor.module,
            func: self.func,
            target: self.open_target(),
            config: &Config { deadline, ..config.clone() },
            deadline: config.deadline,
            filter: &*filter,
            seen: Arc::clone(&self.seen_before),
            tests: self.tests,
            free_steps: self.executor.ledger.free_steps,
            shortage: self.executor.ledger.shortage.clone(),
            quota: fair,
        };
        let open = self.executor.goal_tracker.coverage.as_ref().filter(|_| self.prunes()).map(OpenGoals::of);
        let acceptance = Acceptance::new(left, open);
        let results = run_batches(&context, &batches, config.cores.as_deref(), acceptance);
        drop(context);
        drop(filter);
        let (mut work, mut replays, mut wasted) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        for (states, (result, taken)) in remaining.iter_mut().zip(results) {
            work += taken;
            if result.void {
                wasted += taken;
            } else {
                replays += result.replay_work;
                *states = waiting_again(self.join(result));
            }
        }
        advance_work_time(work);
        self.worklist.extend(interleaved(remaining));
        if self.all_covered() {
            self.worklist.clear();
        } else {
            self.out_of_time();
        }
        self.progress();
        let was_short = fair == quota && (replays * REPLAY_SHARE > work || !wasted.is_zero());
        RoundResult { wasted, was_short }
    }

    /// Returns waiting states in a form that any executor replays.
    pub(super) fn transferred(&self, waiting: &[(u32, Waiting)]) -> Batch {
        let inputs = Arc::new(self.executor.input_table());
        let transferred = |parked| Arc::new(TransferredState { parked, inputs: Arc::clone(&inputs) });
        let waiting = waiting.iter().map(|(distance, waiting)| {
            let state = match waiting {
                Waiting::State(state) => transferred(Arc::new(ParkedState::new(state))),
                Waiting::ParkedState(parked) => transferred(Arc::clone(parked)),
                Waiting::Transferred(state) => Arc::clone(state),
            };
            (*distance, state)
        });
        waiting.collect()
    }

    /// Returns the target of this search, without the goals that are covered by now.
    fn open_target(&self) -> SearchTarget {
        let Some(coverage) = &self.executor.goal_tracker.coverage else { return SearchTarget::Paths };
        let watch = Arc::clone(&coverage.watch);
        let closed = watch.goals.ids().filter(|goal| !coverage.is_open(*goal)).collect();
        match self.aim {
            Aim::Paths => SearchTarget::PathsAndGoals(Goals { watch, closed }),
            Aim::Goals => SearchTarget::Goals(Goals { watch, closed }),
        }
    }

    /// Adds the result of a batch; returns its waiting states. Tests that an earlier batch made redundant are dropped.
    fn join(&mut self, result: BatchResult) -> Batch {
        let BatchResult { tests, mut paths, seen, ledger, waiting, stopped, solver, .. } = result;
        let mut counted = FxHashSet::default();
        let mut beyond_limit = 0;
        for test in tests {
            let is_first = counted.insert(test.path);
            if self.is_redundant(&test, is_first) {
                // The batch counted a new path once.
                if self.aim == Aim::Paths && is_first {
                    paths.explored = paths.explored.saturating_sub(1);
                    let is_error = matches!(test.outcome, Outcome::Error { .. });
                    paths.error = paths.error.saturating_sub(u64::from(is_error));
                }
                continue;
            }
            if self.stopped == Some(Bound::MaxPaths) {
                beyond_limit += 1;
                continue;
            }
            let id = self.next_id();
            self.publish(TestCase { id, ..test });
        }
        if beyond_limit > 0 {
            // The batch left out states for goals that these tests cover: they are open.
            let counted = if self.aim == Aim::Paths { beyond_limit } else { 0 };
            paths.explored = paths.explored.saturating_sub(counted);
            let span = self.executor.module.functions[self.func].span;
            self.give_up(Incomplete::Bound(Bound::MaxPaths), span, beyond_limit);
        }
        Arc::make_mut(&mut self.seen_before).extend(seen);
        self.paths = sum(self.paths, paths);
        self.executor.ledger.add(ledger);
        self.batch_solver.queries += solver.queries;
        self.batch_solver.seconds += solver.seconds;
        // The number of tests is limited here: a batch also counts those that are dropped.
        if let Some(bound) = stopped.filter(|bound| *bound != Bound::MaxPaths) {
            self.stopped.get_or_insert(bound);
        }
        waiting
    }

    /// Returns true if a test covers no open goal and, in a search for paths, takes a path that has a test. `is_first` says
    /// if it is the first one of its path in a batch.
    fn is_redundant(&self, test: &TestCase, is_first: bool) -> bool {
        let coverage = self.executor.goal_tracker.coverage.as_ref();
        let covers = coverage.is_some_and(|coverage| test.covers.iter().any(|goal| coverage.is_open(*goal)));
        let is_new = self.aim == Aim::Paths && is_first && !self.seen_before.contains(&test.path);
        !covers && !is_new && !matches!(test.replayed, Replay::Disagreed(_))
    }
}

/// Deals items to this number of batches.
fn dealt<T>(items: Vec<T>, count: usize) -> Vec<Vec<T>> {
    let mut batches: Vec<Vec<T>> = (0..count).map(|_| Vec::new()).collect();
    for (number, item) in items.into_iter().enumerate() {
        batches[number % count].push(item);
    }
    batches
}

fn waiting_again(batch: Batch) -> Vec<(u32, Waiting)> {
    batch.into_iter().map(|(distance, state)| (distance, Waiting::Transferred(state))).collect()
}

/// Puts the waiting states of all batches in one order: that in which they were dealt.
fn interleaved(batches: Vec<Vec<(u32, Waiting)>>) -> Vec<(u32, Waiting)> {
    let mut all: Vec<_> = batches.into_iter().flat_map(|batch| batch.into_iter().enumerate()).collect();
    // The nearest first; a stable sort keeps the order of the batches.
    all.sort_by_key(|(number, (distance, _))| (*distance, *number));
    all.into_iter().map(|(_, waiting)| waiting).collect()
}

fn sum(a: PathCounts, b: PathCounts) -> PathCounts {
    PathCounts {
        explored: a.explored + b.explored,
        infeasible: a.infeasible + b.infeasible,
        error: a.error + b.error,
        incomplete: a.incomplete + b.incomplete,
        longer: a.longer + b.longer,
    }
}

/// The goals that no accepted batch has covered.
struct OpenGoals {
    open: Vec<bool>,
    remaining: usize,
}

impl OpenGoals {
    fn of(coverage: &Coverage) -> OpenGoals {
        OpenGoals { open: coverage.open().to_vec(), remaining: coverage.remaining() }
    }

    fn cover(&mut self, goal: GoalId) {
        self.remaining -= usize::from(std::mem::replace(&mut self.open[goal.index()], false));
    }
}

/// The results of batches, and how many of them count.
struct Acceptance {
    results: Vec<Option<(BatchResult, Duration)>>,
    /// The number of results that were accepted.
    accepted: usize,
    /// The number of the batch that is begun next.
    begun: usize,
    /// The work time that may still be spent.
    left: Option<Duration>,
    open: Option<OpenGoals>,
    /// True if no further result counts.
    complete: bool,
}

impl Acceptance {
    fn new(left: Option<Duration>, open: Option<OpenGoals>) -> Acceptance {
        Acceptance { results: Vec::new(), accepted: 0, begun: 0, left, open, complete: false }
    }

    /// Keeps a result, and accepts results in the order of the batches.
    fn add(&mut self, number: usize, result: (BatchResult, Duration)) {
        self.results[number] = Some(result);
        while let Some(Some((result, work))) = self.results.get(self.accepted).filter(|_| !self.complete) {
            self.accepted += 1;
            self.left = self.left.map(|left| left.saturating_sub(*work));
            if let Some(goals) = self.open.as_mut().filter(|_| !result.void) {
                result.tests.iter().flat_map(|test| &test.covers).for_each(|goal| goals.cover(*goal));
            }
            self.complete = result.void
                || result.stopped.is_some_and(|bound| bound != Bound::MaxPaths)
                || self.left.is_some_and(|left| left.is_zero())
                || self.open.as_ref().is_some_and(|goals| goals.remaining == 0);
        }
    }
}

/// Runs batches on this core and on those that are free; returns the accepted results with their work times.
fn run_batches(
    context: &BatchContext<'_>,
    batches: &[Batch],
    cores: Option<&Cores>,
    mut acceptance: Acceptance,
) -> Vec<(BatchResult, Duration)> {
    acceptance.results.extend(batches.iter().map(|_| None));
    let count = batches.len();
    let acceptance = Mutex::new(acceptance);
    let begun = work_time();
    let work = || {
        let mut machines = MachineTemplates::of(context.module);
        loop {
            let number = {
                let mut acceptance = acceptance.lock().unwrap_or_else(PoisonError::into_inner);
                if acceptance.complete || acceptance.begun == count {
                    return;
                }
                acceptance.begun += 1;
                acceptance.begun - 1
            };
            let result = work_time_from(begun, || explore_batch(context, batches[number].clone(), &mut machines));
            acceptance.lock().unwrap_or_else(PoisonError::into_inner).add(number, result);
        }
    };
    // Logged queries keep their order.
    let helpers = cores.filter(|_| context.config.query_log.is_none()).map(|cores| cores.take(count - 1));
    std::thread::scope(|scope| {
        let work = &work;
        for _ in 0..helpers.as_ref().map_or(0, |helpers| helpers.count()) {
            let _ = spawn_deep(scope, work);
        }
        work();
    });
    let acceptance = acceptance.into_inner().unwrap_or_else(PoisonError::into_inner);
    acceptance.results.into_iter().take(acceptance.accepted).flatten().collect()
}
