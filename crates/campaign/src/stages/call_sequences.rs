//! Tests of several calls: what no test can set (a static local, say) holds what earlier calls left, so what needs another
//! value is looked for behind other calls. Breadth first: one call before the one under test, then two, and so on.
//!
//! Sequences only add tests. Whether something holds for *any* value of such variables is asked before, of the search's wider
//! world and of the prover; what they exclude is not looked for.

use super::conclude::Proofs;
use super::rounds::{Collector, Covered, Rounds, add, covered, stopped};
use crate::program::Program;
use crate::program::precondition;
use crate::request::stem;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{
    AssumeOption, Caveat, GoalId, GoalIndex, Incomplete, IncompletePaths, Outcome, TestCase, TestKind, Untestable,
};
use touchstone_engine::{
    Config, ExplorationResult, Goals, Growth, MachineTemplates, PrivateGlobals, RunObservation, SearchEvent, Sequence,
    SequenceCall, SequencePlan, SequenceStates, Sink, explore_further, global_inputs, state_changers, watch_test,
};
use touchstone_ir::{FuncId, Linkage, Module};

/// A round has this share of the time that is left, if as many follow.
const MOST_SHARES: usize = 4;

/// Looks for tests of at most so many calls, in the time that is left; `config` is what the last round of the search was
/// asked.
pub(crate) fn sequences(
    program: &Program,
    rounds: &Rounds<'_, '_>,
    config: &Config,
    calls: u32,
    found: &mut ExplorationResult,
    collector: &mut dyn Collector,
) -> Proofs {
    let proofs = look_for(program, rounds, config, calls, found, collector);
    found.settle(&collector.tests().iter().flat_map(|test| test.covers.iter().copied()).collect());
    proofs
}

fn look_for(
    program: &Program,
    rounds: &Rounds<'_, '_>,
    config: &Config,
    calls: u32,
    found: &mut ExplorationResult,
    collector: &mut dyn Collector,
) -> Proofs {
    let (module, func) = (rounds.module, rounds.func);
    let mut proofs = Proofs::default();
    let wished = wished(rounds, found, collector.tests());
    let ruled_out = calls < 2 || config.assume.contains(&AssumeOption::InitialState);
    if ruled_out || wished.is_empty() || config.deadline.is_over() || stopped(&found.result.incomplete) {
        return proofs;
    }
    let ways = state_changers(module, func).into_iter().map(|way| call_of(program, config, func, way));
    let ways: Vec<SequenceCall> = ways.collect();
    if ways.is_empty() {
        return proofs;
    }
    let untested: Vec<GoalId> = wished.into_iter().filter(|goal| found.open.contains(goal)).collect();
    proofs.ask(module, func, rounds.watch, &untested, config);
    let last = call_of(program, config, func, func);
    let config = &Config { deadline: within_reason(found, config), ..config.clone() };
    let hunt = Hunt { rounds, ways, last, config, proofs: &proofs, most: calls as usize - 1 };
    hunt.all(found, collector);
    proofs
}

/// When to stop: with the function's time where earlier calls are known to matter and change what the program has; else
/// something different may stand in the way, and a part of what the search took is enough to see.
fn within_reason(found: &ExplorationResult, config: &Config) -> Deadline {
    const LEAST: f64 = 2.0;
    const TIMES: f64 = 4.0;
    let is_own = |name: &str| name.starts_with('`');
    let of_calls =
        |reason: &IncompletePaths| matches!(&reason.why, Incomplete::Doubt(Caveat::EarlierCalls(name)) if is_own(name));
    match found.doubted.values().flatten().any(of_calls) {
        true => config.deadline,
        false => {
            let most = Duration::try_from_secs_f64(LEAST + TIMES * found.result.seconds).ok();
            config.deadline.or_earlier(Deadline::within(most))
        }
    }
}

fn is_of_calls(why: &Incomplete) -> bool {
    matches!(why, Incomplete::Doubt(Caveat::EarlierCalls(_)))
}

/// The goals that other calls may help to.
fn wished(rounds: &Rounds<'_, '_>, found: &ExplorationResult, tests: &[TestCase]) -> BTreeSet<GoalId> {
    let Covered { closed, .. } = covered(rounds.wanted, Some(found), tests);
    let may_help = |goal: &GoalId| match found.doubted.get(goal) {
        Some(reasons) => reasons.iter().any(|reason| is_of_calls(&reason.why)),
        None => true,
    };
    rounds.wanted.goals.ids().filter(|goal| !closed.contains(goal) && may_help(goal)).collect()
}

/// A call, with what the function may be called with.
fn call_of(program: &Program, config: &Config, tested: FuncId, func: FuncId) -> SequenceCall {
    let name = &program.module.functions[func].name;
    let own = config.precondition.clone().filter(|_| func == tested);
    let given = || program.helper(name, precondition::SUFFIX).or_else(|| program.helper(name, "_pre"));
    let precondition = own.or_else(given).and_then(|name| program.module.function_named(&name));
    let fits = |helper: &FuncId| {
        let (helper, function) = (&program.module.functions[*helper], &program.module.functions[func]);
        helper.is_defined() && helper.result.is_some() && helper.params.len() == function.own_params().len()
    };
    SequenceCall { func, precondition: precondition.filter(fits) }
}

/// One search for sequences.
struct Hunt<'a, 'm> {
    rounds: &'a Rounds<'a, 'm>,
    ways: Vec<SequenceCall>,
    last: SequenceCall,
    config: &'a Config,
    proofs: &'a Proofs,
    /// Calls before the last, at most.
    most: usize,
}

/// What rounds with more and more calls begin from.
#[derive(Clone, Copy)]
struct Start<'s> {
    /// What calls before the last are chosen from.
    ways: &'s [SequenceCall],
    privates: PrivateGlobals,
    kept_states: SequenceStates,
}

impl Hunt<'_, '_> {
    /// First from what the program begins with, as a user would; then from what a test can set.
    fn kinds(&self) -> Vec<PrivateGlobals> {
        let module = self.rounds.module;
        let inputs = self.ways.iter().flat_map(|way| global_inputs(module, way.func));
        let mut settable = inputs.filter(|id| !self.config.unnamed.contains(id));
        let settable = settable.any(|id| module.globals[id].linkage == Linkage::Internal);
        let all = [PrivateGlobals::Initial, PrivateGlobals::Inputs];
        all[..if settable { 2 } else { 1 }].to_vec()
    }

    /// Longer and longer sequences; at first only of the function itself, if that changes anything. All that before with few
    /// states after each call, which is soon done and finds most of what there is.
    fn all(&self, found: &mut ExplorationResult, collector: &mut dyn Collector) {
        let own: Vec<SequenceCall> = self.ways.iter().copied().filter(|way| *way == self.last).collect();
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
            // The shortest sequence reads best, whatever it begins from.
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

    /// How a round is explored that has its share of the time, if so many are left.
    fn with_share_of(&self, left: usize) -> Config {
        let share = u32::try_from(left.min(MOST_SHARES)).unwrap_or(1).max(1);
        let deadline = self.config.deadline;
        let deadline = deadline.or_earlier(Deadline::within(deadline.left().map(|left| left / share)));
        Config { deadline, first_round: Deadline::NEVER, ..self.config.clone() }
    }

    /// Sequences of one length; how long objects are in the next. `None` if there is nothing to look for any more.
    fn round(
        &self,
        start: Start<'_>,
        earlier: usize,
        config: &Config,
        found: &mut ExplorationResult,
        collector: &mut dyn Collector,
    ) -> Option<Growth> {
        let rounds = self.rounds;
        let wished = wished(rounds, found, collector.tests());
        let open: BTreeSet<GoalId> = wished.into_iter().filter(|goal| !self.proofs.excludes(*goal)).collect();
        if open.is_empty() || self.config.deadline.is_over() {
            return None;
        }
        let Start { ways, privates, kept_states } = start;
        let sequence = Sequence::new(rounds.module, SequencePlan { ways, last: self.last, earlier });
        let config = sequence.config(config, privates, kept_states);
        let Covered { untested, .. } = covered(rounds.wanted, Some(found), collector.tests());
        let closed = rounds.wanted.goals.ids().filter(|goal| !open.contains(goal)).collect();
        let goals = Goals { closed, watch: Rc::clone(rounds.watch) };
        collector.begin_round(Some(untested));
        let tests = collector.tests().len() as u64;
        let mut calling = Calling {
            machines: rounds.machines,
            sequence: &sequence,
            module: rounds.module,
            func: rounds.func,
            watch: rounds.watch,
            oracle: self.config.oracle.as_ref(),
            collector: &mut *collector,
        };
        let more = explore_further(&sequence.module, sequence.driver, goals, &config, &mut calling, tests);
        collector.begin_round(None);
        let shortage = add(found, more);
        let own = config.growth.unwrap_or_default();
        Some(own.after(&shortage, rounds.growing.most).unwrap_or(own))
    }
}

/// Makes tests that make the calls themselves of the driver's.
struct Calling<'a, 'm> {
    machines: &'a MachineTemplates<'m>,
    sequence: &'a Sequence,
    module: &'a Module,
    func: FuncId,
    watch: &'a GoalIndex,
    oracle: Option<&'a String>,
    collector: &'a mut dyn Collector,
}

impl Calling<'_, '_> {
    /// The test, as it runs without the driver.
    fn test(&self, driven: &TestCase) -> TestCase {
        let mut test = self.sequence.test(driven);
        let number = driven.id.rsplit('_').next().unwrap_or_default();
        test.id = format!("{}_{number}", stem(&test.function));
        let oracle = self.oracle.and_then(|name| self.module.function_named(name));
        let look = RunObservation { watch: Some(self.watch), oracle, ..RunObservation::default() };
        let run = watch_test(self.machines, self.func, &test, look);
        if let TestKind::Function { earlier, .. } = &mut test.kind {
            earlier.iter_mut().zip(run.earlier).for_each(|(call, result)| call.result = result);
        }
        if !run.accepted {
            test.outcome = Outcome::OracleRejected;
        }
        test.oracle = self.oracle.cloned();
        test.expected = run.expected;
        test.path = run.path;
        test.covers = run.hits;
        test
    }
}

impl Sink for Calling<'_, '_> {
    fn event(&mut self, event: SearchEvent<'_>) {
        match event {
            SearchEvent::Progress(_) => self.collector.event(event),
            SearchEvent::Test(test) => {
                let test = self.test(test);
                self.collector.event(SearchEvent::Test(&test));
            }
        }
    }

    fn refuses(&self, test: &TestCase) -> Option<Untestable> {
        self.collector.refuses(&self.sequence.test(test))
    }
}
