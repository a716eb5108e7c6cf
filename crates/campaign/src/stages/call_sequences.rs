//! Tests of several calls. State that no test can set (a static local, for example) holds what earlier calls left, so a
//! goal that needs another value is searched for behind other calls. The search is breadth-first: one call before the
//! one under test, then two, and so on.
//!
//! Sequences only add tests. Whether a goal is infeasible for *any* value of such state is decided before, by the
//! search over hidden state and by the prover; excluded goals are not searched for.

use super::conclude::Proofs;
use super::rounds::{RoundContext, RoundCoverage, TestCollector, add, round_coverage, stopped};
use crate::program::Program;
use crate::program::precondition;
use crate::request::stem;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{
    AssumeOption, Caveat, GoalId, GoalIndex, HeapOrigin, Incomplete, IncompletePaths, Outcome, TestCase,
};
use touchstone_engine::{
    Config, End, ExplorationResult, Goals, Growth, MachineTemplates, PrivateGlobals, RunObservation, SearchEvent,
    Sequence, SequenceCall, SequencePlan, SequenceStates, Sink, TestFilter, explore_further, global_inputs,
    state_changers, watch_test,
};
use touchstone_ir::{FuncId, Linkage, Module};

/// The maximum divisor of the remaining time: a round gets an equal share if fewer rounds follow.
const MAX_TIME_SHARES: usize = 4;

/// Searches for tests of at most `calls` calls in the remaining time; `config` is that of the last round.
pub(crate) fn sequences(
    program: &Program,
    rounds: &RoundContext<'_, '_>,
    config: &Config,
    calls: u32,
    found: &mut ExplorationResult,
    collector: &mut dyn TestCollector,
) -> Proofs {
    let proofs = search_sequences(program, rounds, config, calls, found, collector);
    found.settle(&collector.tests().iter().flat_map(|test| test.covers.iter().copied()).collect());
    proofs
}

fn search_sequences(
    program: &Program,
    rounds: &RoundContext<'_, '_>,
    config: &Config,
    calls: u32,
    found: &mut ExplorationResult,
    collector: &mut dyn TestCollector,
) -> Proofs {
    let (module, func) = (rounds.module, rounds.func);
    let mut proofs = Proofs::default();
    let reachable_by_calls = reachable_by_calls(rounds, found, collector.tests());
    let ruled_out = calls < 2 || config.assume.contains(&AssumeOption::InitialState);
    if ruled_out || reachable_by_calls.is_empty() || config.deadline.is_over() || stopped(&found.result.incomplete) {
        return proofs;
    }
    let call_of = |way: FuncId| SequenceCall::of(way, precondition_of(program, config, func, way));
    let ways: Vec<SequenceCall> = state_changers(module, func).into_iter().map(call_of).collect();
    if ways.is_empty() {
        return proofs;
    }
    let untested: Vec<GoalId> = reachable_by_calls.into_iter().filter(|goal| found.open.contains(goal)).collect();
    proofs.prove(module, func, rounds.watch, &untested, config);
    let last = call_of(func);
    let config = &Config { deadline: sequence_deadline(found, config), ..config.clone() };
    let search = SequenceSearch { rounds, ways, last, config, proofs: &proofs, most: calls as usize - 1 };
    search.all(found, collector);
    proofs
}

/// Returns the deadline: that of the function if earlier calls are known to influence the program's own state.
/// Otherwise the cause may be different, and a part of the search time is enough to find out.
fn sequence_deadline(found: &ExplorationResult, config: &Config) -> Deadline {
    const MIN_SEQUENCE_TIME: Duration = Duration::from_secs(2);
    const SEARCH_TIME_FACTOR: u32 = 4;
    let is_own = |name: &str| name.starts_with('`');
    let of_calls =
        |reason: &IncompletePaths| matches!(&reason.why, Incomplete::Doubt(Caveat::EarlierCalls(name)) if is_own(name));
    match found.doubted.values().flatten().any(of_calls) {
        true => config.deadline,
        false => config.deadline.or_earlier(Deadline::after(MIN_SEQUENCE_TIME + SEARCH_TIME_FACTOR * found.work)),
    }
}

fn is_of_calls(why: &Incomplete) -> bool {
    matches!(why, Incomplete::Doubt(Caveat::EarlierCalls(_)))
}

/// Returns the goals that other calls may make reachable.
fn reachable_by_calls(
    rounds: &RoundContext<'_, '_>,
    found: &ExplorationResult,
    tests: &[TestCase],
) -> BTreeSet<GoalId> {
    let RoundCoverage { closed, .. } = round_coverage(rounds.objectives, Some(found), tests);
    let may_help = |goal: &GoalId| match found.doubted.get(goal) {
        Some(reasons) => reasons.iter().any(|reason| is_of_calls(&reason.why)),
        None => true,
    };
    rounds.objectives.goals.ids().filter(|goal| !closed.contains(goal) && may_help(goal)).collect()
}

/// Returns the precondition of a function that a test of `tested` calls.
pub(super) fn precondition_of(program: &Program, config: &Config, tested: FuncId, func: FuncId) -> Option<FuncId> {
    let name = &program.module.functions[func].name;
    let own = config.precondition.clone().filter(|_| func == tested);
    let given = || program.helper(name, precondition::SUFFIX).or_else(|| program.helper(name, "_pre"));
    let precondition = own.or_else(given).and_then(|name| program.module.function_named(&name));
    let fits = |helper: &FuncId| {
        let (helper, function) = (&program.module.functions[*helper], &program.module.functions[func]);
        helper.is_defined() && helper.result.is_some() && helper.params.len() == function.own_params().len()
    };
    precondition.filter(fits)
}

/// One search for sequences.
struct SequenceSearch<'a, 'm> {
    rounds: &'a RoundContext<'a, 'm>,
    ways: Vec<SequenceCall>,
    last: SequenceCall,
    config: &'a Config,
    proofs: &'a Proofs,
    /// The maximum number of calls before the last one.
    most: usize,
}

/// The start of rounds with a growing number of calls.
#[derive(Clone, Copy)]
struct Start<'s> {
    /// The candidates for the calls before the last one.
    ways: &'s [SequenceCall],
    privates: PrivateGlobals,
    kept_states: SequenceStates,
}

impl SequenceSearch<'_, '_> {
    /// Returns the initial states to start from: first that of the program, as a user has it; then one that a test
    /// sets.
    fn kinds(&self) -> Vec<PrivateGlobals> {
        let module = self.rounds.module;
        let inputs = self.ways.iter().flat_map(|way| global_inputs(module, way.func));
        let mut settable = inputs.filter(|id| !self.config.unnamed.contains(id));
        let settable = settable.any(|id| module.globals[id].linkage == Linkage::Internal);
        let all = [PrivateGlobals::Initial, PrivateGlobals::Inputs];
        all[..if settable { 2 } else { 1 }].to_vec()
    }

    /// Searches longer and longer sequences; first of the function itself, if it changes state. A first pass keeps only
    /// few states after each call: it is quick and finds most of the tests.
    fn all(&self, found: &mut ExplorationResult, collector: &mut dyn TestCollector) {
        let own: Vec<SequenceCall> = self.ways.iter().filter(|way| **way == self.last).cloned().collect();
        let sets: Vec<&[SequenceCall]> = match own.is_empty() || own.len() == self.ways.len() {
            true => vec![&self.ways],
            false => vec![&own, &self.ways],
        };
        let kinds = self.kinds();
        let mut left = 2 * sets.len() * kinds.len() * self.most;
        for (kept_states, ways) in [SequenceStates::Few, SequenceStates::All]
            .into_iter()
            .flat_map(|few| sets.iter().map(move |set| (few, *set)))
        {
            let mut growths = vec![self.config.growth.clone().unwrap_or_default(); kinds.len()];
            // The shortest sequence is the most readable, whatever state it starts from.
            for earlier in 1..=self.most {
                for (privates, growth) in kinds.iter().copied().zip(&mut growths) {
                    let config = Config { growth: Some(growth.clone()), ..self.with_share_of(left) };
                    left -= 1;
                    match self.round(Start { ways, privates, kept_states }, earlier, &config, found, collector) {
                        Some(grown) => *growth = grown,
                        None => return,
                    }
                }
            }
        }
    }

    /// Returns the configuration of a round that gets its share of the time, if `left` rounds follow.
    fn with_share_of(&self, left: usize) -> Config {
        let share = u32::try_from(left.min(MAX_TIME_SHARES)).unwrap_or(1).max(1);
        let deadline = self.config.deadline;
        let deadline = deadline.or_earlier(Deadline::within(deadline.left().map(|left| left / share)));
        Config { deadline, first_round: Deadline::NEVER, ..self.config.clone() }
    }

    /// Searches sequences of one length; returns the growth for the next round, or `None` if no goal is left.
    fn round(
        &self,
        start: Start<'_>,
        earlier: usize,
        config: &Config,
        found: &mut ExplorationResult,
        collector: &mut dyn TestCollector,
    ) -> Option<Growth> {
        let rounds = self.rounds;
        let reachable_by_calls = reachable_by_calls(rounds, found, collector.tests());
        let open: BTreeSet<GoalId> =
            reachable_by_calls.into_iter().filter(|goal| !self.proofs.excludes(*goal)).collect();
        if open.is_empty() || self.config.deadline.is_over() {
            return None;
        }
        let Start { ways, privates, kept_states } = start;
        let sequence = Sequence::new(
            rounds.module,
            SequencePlan { objects: &[], ways, last: &self.last, earlier, optional: false },
        );
        let config = sequence.config(config, privates, kept_states);
        let RoundCoverage { untested, .. } = round_coverage(rounds.objectives, Some(found), collector.tests());
        let closed = rounds.objectives.goals.ids().filter(|goal| !open.contains(goal)).collect();
        let goals = Goals { closed, watch: Arc::clone(rounds.watch) };
        collector.begin_round(Some(untested));
        let tests = collector.tests().len() as u64;
        let mut sequence_tests = SequenceTests {
            machines: rounds.machines,
            sequence: &sequence,
            module: rounds.module,
            func: rounds.func,
            watch: rounds.watch,
            oracle: self.config.oracle.as_ref(),
            collector: &mut *collector,
        };
        let more = explore_further(&sequence.module, sequence.driver, goals, &config, &mut sequence_tests, tests);
        collector.begin_round(None);
        let shortage = add(found, more);
        let own = config.growth.unwrap_or_default();
        Some(own.after(&shortage, rounds.growing.max_elements).unwrap_or(own))
    }
}

/// Translates tests of the driver into tests with several calls.
pub(super) struct SequenceTests<'a, 'm> {
    pub machines: &'a MachineTemplates<'m>,
    pub sequence: &'a Sequence,
    pub module: &'a Module,
    pub func: FuncId,
    pub watch: &'a GoalIndex,
    pub oracle: Option<&'a String>,
    pub collector: &'a mut dyn TestCollector,
}

impl SequenceTests<'_, '_> {
    /// Returns the test as it runs without the driver; `None` if a call does not construct its object there.
    fn test(&self, driven: &TestCase) -> Option<TestCase> {
        let mut test = self.sequence.test(driven);
        let number = driven.id.rsplit('_').next().unwrap_or_default();
        test.id = format!("{}_{number}", stem(&test.function));
        test.oracle = self.oracle.cloned();
        let mut test = self.observed(test)?;
        if test.has_constructed_objects() {
            self.drop_unneeded_changes(&mut test);
        }
        Some(test)
    }

    /// Runs a test and sets everything that the run shows.
    fn observed(&self, mut test: TestCase) -> Option<TestCase> {
        let oracle = self.oracle.and_then(|name| self.module.function_named(name));
        let look = RunObservation { watch: Some(self.watch), oracle, ..RunObservation::default() };
        let run = watch_test(self.machines, self.func, &test, look);
        // The driver may end otherwise than the calls: it does not show that a result is a new object.
        if test.has_constructed_objects() && !matches!(run.end, End::Returned(_)) {
            return None;
        }
        test.set_observed_before(run.earlier, run.constructed, &run.releasable);
        if !run.accepted {
            test.outcome = Outcome::OracleRejected;
        }
        test.expected = run.expected;
        test.path = run.path;
        test.covers = run.hits;
        Some(test)
    }

    /// Removes calls that a test does not need to cover what no other test does, the last call first.
    fn drop_unneeded_changes(&self, test: &mut TestCase) {
        let others = self.collector.tests().iter().filter(|other| {
            other.heap != HeapOrigin::NotShownReachable && !matches!(other.outcome, Outcome::Error { .. })
        });
        let known: BTreeSet<GoalId> = others.flat_map(|other| other.covers.iter().copied()).collect();
        let needed: Vec<GoalId> = test.covers.iter().copied().filter(|goal| !known.contains(goal)).collect();
        for index in (0..test.earlier().len()).rev() {
            let Some(other) = self.sequence.without_change(test, index).and_then(|other| self.observed(other)) else {
                continue;
            };
            if needed.iter().all(|goal| other.covers.contains(goal)) {
                *test = other;
            }
        }
    }
}

impl Sink for SequenceTests<'_, '_> {
    fn event(&mut self, event: SearchEvent<'_>) {
        match event {
            SearchEvent::Progress(_) => self.collector.event(event),
            SearchEvent::Test(test) => {
                if let Some(test) = self.test(test) {
                    self.collector.event(SearchEvent::Test(&test));
                }
            }
        }
    }

    fn filter(&self) -> Box<TestFilter<'_>> {
        let (inner, sequence) = (self.collector.filter(), self.sequence);
        Box::new(move |test| inner(&sequence.test(test)))
    }
}
