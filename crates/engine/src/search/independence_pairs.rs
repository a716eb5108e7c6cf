//! The search for independence pairs: after all goals have tests, it searches for rows that complete a unique-cause
//! pair for each condition.
//!
//! It only adds tests. Its goals are no objectives: nothing that it finds or gives up changes a verdict, so it may stop
//! at any time, and it does after a number of solver queries.

use crate::config::{Config, Labels};
use crate::confirm::concrete_run::watch_test;
use crate::confirm::run_record::{EvaluatedRow, RunObservation};
use crate::exec::executor::machine_templates::MachineTemplates;
use crate::search::explore::search;
use crate::search::search_events::{SearchEvent, Sink, TestFilter};
use crate::search::search_result::{Goals, SearchTarget};
use std::collections::BTreeSet;
use touchstone_base::{Deadline, Id};
use touchstone_criteria::{
    Bound, EvaluatedRows, Goal, GoalId, GoalIndex, Incomplete, PairSearch, PairsStopped, SolverUse, TestCase,
};
use touchstone_ir::{DecisionId, FuncId, Module};

/// The number of queries in addition to twice those of the search for goals.
const MIN_QUERY_BUDGET: u64 = 2000;

/// The result of a search for independence pairs.
#[derive(Clone, Debug, Default)]
pub struct PairSearchResult {
    /// The first reason why the search was incomplete: further pairs may exist.
    pub incomplete: Option<Incomplete>,
    /// Decisions with too many rows to enumerate.
    pub too_big: BTreeSet<(FuncId, DecisionId)>,
    /// The use of the solver.
    pub solver: SolverUse,
    /// The duration in seconds.
    pub seconds: f64,
}

impl PairSearchResult {
    /// Returns the end of the search for one decision.
    pub fn of(&self, func: FuncId, decision: DecisionId) -> PairSearch {
        if let Some(why) = &self.incomplete {
            PairSearch::Stopped(PairsStopped::Incomplete(why.clone()))
        } else if self.too_big.contains(&(func, decision)) {
            PairSearch::Stopped(PairsStopped::TooManyRows)
        } else {
            PairSearch::Finished
        }
    }
}

/// Returns the distinct rows of watched decisions that each test evaluates; none for tests after the deadline.
pub fn rows_of(
    module: &Module,
    entry: FuncId,
    tests: &[TestCase],
    watch: &GoalIndex,
    deadline: Deadline,
) -> Vec<Vec<EvaluatedRow>> {
    let (machines, look) =
        (MachineTemplates::of(module), RunObservation { watch: Some(watch), ..RunObservation::default() });
    let rows = |test: &TestCase| match deadline.is_over() {
        true => Vec::new(),
        false => watch_test(&machines, entry, test, look).rows,
    };
    tests.iter().map(rows).collect()
}

/// The results before a search for pairs.
#[derive(Clone, Copy)]
pub struct PairSearchInput<'a> {
    /// The tests of the goals.
    pub tests: &'a [TestCase],
    /// Rows that other tests evaluated.
    pub known: &'a [EvaluatedRow],
    /// The number of queries of the search for goals.
    pub queries: u64,
}

/// Searches for rows that give conditions of decisions under MC/DC a unique-cause pair. New tests are passed to `sink`.
pub fn explore_pairs(
    module: &Module,
    func: FuncId,
    watch: &GoalIndex,
    before: PairSearchInput<'_>,
    config: &Config,
    sink: &mut dyn Sink,
) -> PairSearchResult {
    let PairSearchInput { tests, known, queries } = before;
    let mut hunt = PairSearchRound {
        module,
        func,
        watch,
        config: Config { labels: Labels::Idl, ..config.clone() },
        left: config.questions.unwrap_or(MIN_QUERY_BUDGET + 2 * queries),
        seen: EvaluatedRows::default(),
        tests: tests.len() as u64,
        found: PairSearchResult::default(),
    };
    hunt.see(tests);
    hunt.seen.add(known.iter().filter(|(func, decision, _)| watch.asks_for_mcdc(*func, *decision)));
    // Each round can open new possibilities, as long as it finds something.
    loop {
        let wishes = hunt.seen.partners(config.deadline);
        let before = wishes.len();
        hunt.round(wishes, sink);
        if config.deadline.is_over() || hunt.seen.unpaired(config.deadline).len() == before {
            break;
        }
    }
    let (wishes, too_big) = hunt.seen.other_rows(module, config.deadline);
    hunt.found.too_big = too_big;
    hunt.round(wishes, sink);
    if config.deadline.is_over() {
        hunt.found.incomplete.get_or_insert(Incomplete::Bound(Bound::of(config.deadline)));
    }
    hunt.found
}

struct PairSearchRound<'m> {
    module: &'m Module,
    func: FuncId,
    watch: &'m GoalIndex,
    config: Config,
    /// The number of queries left.
    left: u64,
    seen: EvaluatedRows,
    tests: u64,
    found: PairSearchResult,
}

impl PairSearchRound<'_> {
    fn see(&mut self, tests: &[TestCase]) {
        for rows in rows_of(self.module, self.func, tests, self.watch, self.config.deadline) {
            self.seen.add(rows.iter().filter(|(func, decision, _)| self.watch.asks_for_mcdc(*func, *decision)));
        }
    }

    /// Runs one exploration for some rows.
    fn round(&mut self, wishes: Vec<Goal>, sink: &mut dyn Sink) {
        if wishes.is_empty() || self.config.deadline.is_over() {
            return;
        }
        let mut goals = self.watch.goals.clone();
        let closed: Vec<GoalId> = goals.ids().collect();
        for wish in wishes {
            goals.push(wish);
        }
        let goals = Goals { watch: GoalIndex::new(self.module, goals).into(), closed };
        let config = Config { questions: Some(self.left), ..self.config.clone() };
        let mut tests = Tests { sink, objectives: self.watch.goals.len(), made: Vec::new() };
        let result = search(self.module, self.func, SearchTarget::Goals(goals), &config, &mut tests, self.tests).result;
        let made = tests.made;
        let mut left_out = result.incomplete.into_iter().map(|incomplete| incomplete.why);
        self.found.incomplete = self.found.incomplete.take().or_else(|| left_out.next());
        self.found.seconds += result.seconds;
        self.found.solver.seconds += result.solver.seconds;
        self.found.solver.queries += result.solver.queries;
        self.left = self.left.saturating_sub(result.solver.queries);
        self.tests += made.len() as u64;
        self.see(&made);
    }
}

/// Passes tests on without the auxiliary goals that they cover, and keeps them.
struct Tests<'s> {
    sink: &'s mut dyn Sink,
    /// The number of goals that are objectives; auxiliary goals come after them.
    objectives: usize,
    made: Vec<TestCase>,
}

impl Sink for Tests<'_> {
    fn event(&mut self, event: SearchEvent<'_>) {
        match event {
            SearchEvent::Progress(_) => self.sink.event(event),
            SearchEvent::Test(test) => {
                let mut test = test.clone();
                test.covers.retain(|goal| goal.index() < self.objectives);
                self.sink.event(SearchEvent::Test(&test));
                self.made.push(test);
            }
        }
    }

    fn filter(&self) -> Box<TestFilter<'_>> {
        self.sink.filter()
    }
}
