//! Selects the observers of each test: what it asserts besides the result of its call. Everything runs in the reference
//! interpreter first.
//!
//! Changed state that an observer can read is always asserted. Other observers are selected by mutation: each mutant of
//! the method runs, and an observer that kills a mutant is worth an assertion.

use super::observation::{ObservedResult, ObservedRun, ObservedTest, ObserverCall};
use crate::java::JavaProgram;
use crate::plan::Work;
use std::collections::BTreeSet;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{GoalId, HeapOrigin, Observation, ObservationPoint, ObserverArgument, Outcome, TestCase};
use touchstone_engine::{AddressLayout, MachineTemplates, MutationGoals, MutationSearch, SeedPool, Value, mutants};
use touchstone_fixture_java::FixtureValue;
use touchstone_front_java::classfile::Desc;
use touchstone_front_java::{
    ObjectObservers, ObservedObject, ObserverEffect, PassedValue, PreparedCall, StateObserver,
};
use touchstone_ir::{DataValue, FuncId, Function, Module};

/// The maximum number of observers of one changed object.
const MAX_CHANGE_OBSERVERS: usize = 4;
/// The maximum number of further observers that kill mutants.
const MAX_KILLING_OBSERVERS: usize = 3;
/// The maximum number of argument values per method.
const MAX_ARGUMENT_VALUES: usize = 4;
/// The maximum number of repeated calls of a method that changes the object.
const MAX_REPEATED_CALLS: usize = 4;
/// The maximum number of runs for the mutants of one method.
const MAX_MUTANT_RUNS: usize = 4_000;
/// The maximum number of mutants.
const MAX_MUTANTS: usize = 150;

/// The maximum number of further tests that kill mutants, where weak mutation is requested.
const MAX_FURTHER_TESTS: usize = 6;

/// The search for such tests: its time, the maximum number of elements of inputs, and the number of runs without gain.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(1);
const MAX_INPUT_ELEMENTS: usize = 4;
const MAX_RUNS_WITHOUT_GAIN: u32 = 1_000;

/// Adds observers to tests. Where weak mutation is requested, it also searches for tests that kill surviving mutants: a
/// value that differs for a moment need not show at the end.
pub(crate) fn add_observers(work: &Work<'_>, java: &JavaProgram, tests: &mut Vec<TestCase>, made: usize) {
    let Some(prepared) = java.prepared.get(&work.task.func) else { return };
    let module = work.module();
    let machines = MachineTemplates::of(module);
    let mut mutants_left = SurvivingMutants::new(module);
    for test in tests.iter_mut() {
        if work.plan.request.is_interrupted() {
            return;
        }
        if let Some(assertions) = assertions(&machines, prepared, test, &mut mutants_left, NewMethods::Mutated) {
            test.expected.noticed = assertions;
        }
    }
    if !work.criteria.iter().any(|criterion| criterion.asks_for_mutants()) {
        return;
    }
    let most = tests.len() + MAX_FURTHER_TESTS;
    let mut count = made;
    mutants_left.runs = MAX_MUTANT_RUNS;
    let goals: BTreeSet<GoalId> = tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
    let first = java.initial_inputs(work.task.func, work.config.options.seed).few;
    let variation = MutationSearch {
        machines: &machines,
        func: work.task.func,
        watch: &work.watch,
        config: &work.config,
        deadline: Deadline::after(MAX_SEARCH_TIME),
        longest: MAX_INPUT_ELEMENTS,
        patience: MAX_RUNS_WITHOUT_GAIN,
        seed: work.config.options.seed,
        still: None,
        first: &first,
    };
    let is_made = |test: &TestCase| java.heap_of(work.task.func, test) == HeapOrigin::Made;
    let seeds: Vec<TestCase> = tests.iter().filter(|test| is_made(test)).cloned().collect();
    let mut take = |mut test: TestCase| {
        if mutants_left.open.is_empty() || tests.len() == most || work.plan.request.is_interrupted() {
            return true;
        }
        if !is_made(&test) {
            return false;
        }
        let open = mutants_left.open.len();
        let assertions = assertions(&machines, prepared, &test, &mut mutants_left, NewMethods::Unmutated);
        if let Some(assertions) = assertions.filter(|_| mutants_left.open.len() < open) {
            count += 1;
            test.id = format!("{}_{count}", work.name());
            test.expected.noticed = assertions;
            tests.push(test);
        }
        false
    };
    let wishes = MutationGoals { untested: goals, unreturned: BTreeSet::new() };
    variation.run(&mut SeedPool::default(), &seeds, wishes, &mut take);
}

/// Says whether mutants are created of methods that a test is the first to call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NewMethods {
    Mutated,
    Unmutated,
}

/// Returns the assertions of a test, or `None` if it cannot be observed.
fn assertions(
    machines: &MachineTemplates<'_>,
    prepared: &PreparedCall,
    test: &TestCase,
    mutants_left: &mut SurvivingMutants,
    new: NewMethods,
) -> Option<Vec<Observation>> {
    let module = machines.module();
    if !matches!(test.outcome, Outcome::Returned | Outcome::Threw { .. }) {
        return None;
    }
    let observed = ObservedTest::new(machines, module, prepared, test)?;
    let plain = observed.run(module, &[], AddressLayout::Compact);
    if !plain.fits(&test.outcome) {
        return None;
    }
    let choice = ObserverSelection { prepared, observed: &observed, module };
    let mut steps = choice.changed(plain.result_is_new());
    if new == NewMethods::Mutated {
        mutants_left.add_mutants(&plain.called);
    }
    steps = choice.completed(steps, mutants_left);
    // Values that depend on addresses cannot be expected.
    let first = observed.run(module, &steps, AddressLayout::Compact);
    let second = observed.run(module, &steps, AddressLayout::Spread);
    let mut found = Vec::new();
    for (one, other) in first.before.iter().zip(&second.before) {
        if let ((selector, ObservedResult::Seen(seen)), true) = (one, one == other) {
            found.push(Observation { at: ObservationPoint::Before(*selector), seen: seen.clone() });
        }
    }
    if let (ObservedResult::Seen(seen), true) = (&first.outcome, first.outcome == second.outcome) {
        found.push(Observation { at: ObservationPoint::Result, seen: seen.clone() });
    }
    for ((step, one), other) in steps.iter().zip(&first.steps).zip(&second.steps) {
        match one {
            ObservedResult::Seen(seen) if one == other => {
                found.push(Observation { at: step.noticing(prepared), seen: seen.clone() })
            }
            // Later observers would see another state.
            _ => break,
        }
    }
    Some(found)
}

/// The mutants that have survived all tests so far.
struct SurvivingMutants {
    /// The module in which one function at a time is replaced by a mutant.
    module: Module,
    met: Vec<FuncId>,
    open: Vec<(FuncId, Function)>,
    runs: usize,
}

impl SurvivingMutants {
    fn new(module: &Module) -> SurvivingMutants {
        SurvivingMutants { module: module.clone(), met: Vec::new(), open: Vec::new(), runs: MAX_MUTANT_RUNS }
    }

    /// Adds the mutants of called methods.
    fn add_mutants(&mut self, called: &[FuncId]) {
        for func in called {
            if !self.met.contains(func) {
                self.met.push(*func);
                let all = mutants(&self.module, &self.module.functions[*func]);
                let room = MAX_MUTANTS.saturating_sub(self.open.len());
                self.open.extend(all.into_iter().take(room).map(|mutant| (*func, mutant)));
            }
        }
    }

    /// Runs every surviving mutant while runs are left; returns the result of each.
    fn each<T>(&mut self, mut run: impl FnMut(&Module) -> T) -> Vec<Option<T>> {
        let mut said = Vec::new();
        for (func, mutant) in &mut self.open {
            if self.runs == 0 {
                said.push(None);
                continue;
            }
            self.runs -= 1;
            std::mem::swap(&mut self.module.functions[*func], mutant);
            said.push(Some(run(&self.module)));
            std::mem::swap(&mut self.module.functions[*func], mutant);
        }
        said
    }

    /// Removes killed mutants.
    fn settle(&mut self, killed: &[bool]) {
        let mut killed = killed.iter();
        self.open.retain(|_| !killed.next().copied().unwrap_or(false));
    }
}

/// Selects the observers of one test.
struct ObserverSelection<'a, 'm> {
    prepared: &'a PreparedCall,
    observed: &'a ObservedTest<'a, 'm>,
    module: &'a Module,
}

impl ObserverSelection<'_, '_> {
    /// Returns observers without arguments that return another value after the call than before it.
    fn changed(&self, result_is_new: bool) -> Vec<ObserverCall> {
        let all = self.steps(|looks, probe| {
            let shows = probe.takes.is_empty() && probe.effect == ObserverEffect::Pure;
            shows && (result_is_new || looks.object != ObservedObject::Result)
        });
        let after = self.observed.run(self.module, &all, AddressLayout::Compact);
        let before = self.observed.before(self.module, &all);
        let results = after.steps.into_iter().zip(before);
        let mut count = 0;
        let mut chosen = Vec::new();
        let mut last = None;
        for (step, (after, before)) in all.into_iter().zip(results) {
            if last.replace(step.looks) != Some(step.looks) {
                count = 0;
            }
            let is_new = matches!(after, ObservedResult::Seen(_)) && before.as_ref() != Some(&after);
            if is_new && count < MAX_CHANGE_OBSERVERS {
                count += 1;
                chosen.push(step);
            }
        }
        chosen
    }

    /// Adds observers that kill surviving mutants.
    fn completed(&self, mut steps: Vec<ObserverCall>, mutants_left: &mut SurvivingMutants) -> Vec<ObserverCall> {
        // For most of many tests, no mutant or no run is left.
        if mutants_left.open.is_empty() || mutants_left.runs == 0 {
            return steps;
        }
        let right = self.observed.run(self.module, &steps, AddressLayout::Compact);
        let limits = self.observed.limits(&right);
        let said = mutants_left.each(|module| self.observed.run_within(module, &steps, limits).differs(&right));
        mutants_left.settle(&said.iter().map(|killed| *killed == Some(true)).collect::<Vec<bool>>());
        if mutants_left.open.is_empty() {
            return steps;
        }
        let more = self.looks(&steps);
        steps.extend(self.killing_observers(&steps, more, mutants_left, MAX_KILLING_OBSERVERS));
        if !mutants_left.open.is_empty() {
            let last = self.best_of(&steps, self.sequences(), mutants_left);
            steps.extend(last);
        }
        steps
    }

    /// Selects observers without side effects, one by one: those that kill most mutants.
    fn killing_observers(
        &self,
        steps: &[ObserverCall],
        more: Vec<ObserverCall>,
        mutants_left: &mut SurvivingMutants,
        most: usize,
    ) -> Vec<ObserverCall> {
        let (begin, all) = (steps.len(), [steps, more.as_slice()].concat());
        let right = self.observed.run(self.module, &all, AddressLayout::Compact);
        let limits = self.observed.limits(&right);
        let runs = mutants_left.each(|module| self.observed.run_within(module, &all, limits));
        let usable = |at: usize| matches!(right.steps.get(begin + at), Some(ObservedResult::Seen(_)));
        let kills =
            |at: usize, run: &Option<ObservedRun>| run.as_ref().is_some_and(|run| run.differs_at(&right, begin + at));
        let mut killed = vec![false; runs.len()];
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < most {
            let new =
                |at: usize| (0..runs.len()).filter(|mutant| !killed[*mutant] && kills(at, &runs[*mutant])).count();
            let all = (0..more.len()).filter(|at| usable(*at) && !chosen.contains(at));
            let Some((count, at)) = all.map(|at| (new(at), at)).max_by_key(|(count, at)| (*count, usize::MAX - at))
            else {
                break;
            };
            if count == 0 {
                break;
            }
            chosen.push(at);
            (0..runs.len()).for_each(|mutant| killed[mutant] |= kills(at, &runs[mutant]));
        }
        mutants_left.settle(&killed);
        chosen.sort_unstable();
        chosen.into_iter().map(|at| more[at].clone()).collect()
    }

    /// Returns the sequence of calls that kills most mutants; among those, the shortest.
    fn best_of(
        &self,
        steps: &[ObserverCall],
        sequences: Vec<Vec<ObserverCall>>,
        mutants_left: &mut SurvivingMutants,
    ) -> Vec<ObserverCall> {
        let mut best: (usize, Vec<ObserverCall>, Vec<bool>) = (0, Vec::new(), Vec::new());
        for sequence in sequences {
            let begin = steps.len();
            let all = [steps, sequence.as_slice()].concat();
            let right = self.observed.run(self.module, &all, AddressLayout::Compact);
            let told =
                right.steps.iter().skip(begin).take_while(|sight| matches!(sight, ObservedResult::Seen(_))).count();
            if told == 0 {
                continue;
            }
            let limits = self.observed.limits(&right);
            let runs = mutants_left.each(|module| self.observed.run_within(module, &all[..begin + told], limits));
            let sees = |run: &Option<ObservedRun>, length: usize| {
                run.as_ref().is_some_and(|run| (begin..begin + length).any(|at| run.differs_at(&right, at)))
            };
            let count = |length: usize| runs.iter().filter(|run| sees(run, length)).count();
            let most = count(told);
            let length = (1..=told).find(|length| count(*length) == most).unwrap_or(told);
            if most > best.0 || most == best.0 && most > 0 && length < best.1.len() {
                let killed = runs.iter().map(|run| sees(run, length)).collect();
                best = (most, sequence[..length].to_vec(), killed);
            }
        }
        mutants_left.settle(&best.2);
        best.1
    }

    /// Returns all observers without side effects that are not selected yet.
    fn looks(&self, steps: &[ObserverCall]) -> Vec<ObserverCall> {
        let plain = self.steps(|_, probe| probe.effect == ObserverEffect::Pure && probe.takes.is_empty());
        let asked =
            self.each_probe().filter(|(_, probe)| probe.effect == ObserverEffect::Pure && !probe.takes.is_empty());
        let asked: Vec<ObserverCall> = asked.flat_map(|(at, probe)| self.asked(at, probe)).collect();
        plain.into_iter().chain(asked).filter(|step| !self.is_among(steps, step)).collect()
    }

    /// Returns sequences of calls with side effects: one method, several times.
    fn sequences(&self) -> Vec<Vec<ObserverCall>> {
        let changing = self.each_probe().filter(|(_, probe)| probe.effect == ObserverEffect::Mutates);
        let mut found = Vec::new();
        for (at, probe) in changing {
            match probe.takes.is_empty() {
                true => found
                    .push(vec![ObserverCall { looks: at.0, probe: at.1, arguments: Vec::new() }; MAX_REPEATED_CALLS]),
                false => found.push(self.asked(at, probe)),
            }
        }
        found
    }

    fn each_probe(&self) -> impl Iterator<Item = ((usize, usize), &StateObserver)> {
        // Arguments are asserted elsewhere; the receiver or the new object is what the test is about.
        let receiver = self.prepared.receiver.map(ObservedObject::Object);
        let about =
            move |looks: &ObjectObservers| looks.object == ObservedObject::Result || Some(looks.object) == receiver;
        let all = self.prepared.observers.iter().enumerate().filter(move |(_, looks)| about(looks));
        all.flat_map(|(at, looks)| looks.observers.iter().enumerate().map(move |(probe, found)| ((at, probe), found)))
    }

    fn steps(&self, wanted: impl Fn(&ObjectObservers, &StateObserver) -> bool) -> Vec<ObserverCall> {
        let mut found = Vec::new();
        for (at, looks) in self.prepared.observers.iter().enumerate() {
            let probes = looks.observers.iter().enumerate().filter(|(_, probe)| wanted(looks, probe));
            for (probe, _) in probes {
                let step = ObserverCall { looks: at, probe, arguments: Vec::new() };
                if !self.is_among(&found, &step) {
                    found.push(step);
                }
            }
        }
        found
    }

    /// Returns true if one of these observers reads the same: parameters may be one object.
    fn is_among(&self, steps: &[ObserverCall], step: &ObserverCall) -> bool {
        steps.iter().any(|other| self.observed.is_same(other, step))
    }

    /// Returns calls of a method with values that the test passes elsewhere.
    fn asked(&self, (looks, probe): (usize, usize), found: &StateObserver) -> Vec<ObserverCall> {
        let first = self.values(&found.takes[0], found.effect);
        let mut steps = Vec::new();
        for (at, value) in first.into_iter().enumerate() {
            let mut arguments = vec![value];
            for other in &found.takes[1..] {
                let values = self.values(other, found.effect);
                // Another value than the first argument has, if there is one.
                match values.get((at + 1) % values.len().max(1)) {
                    Some(value) => arguments.push(value.clone()),
                    None => return Vec::new(),
                }
            }
            steps.push(ObserverCall { looks, probe, arguments });
        }
        steps
    }

    /// Returns the values for a parameter of a type: those that calls of the test get, and small numbers.
    fn values(&self, desc: &Desc, effect: ObserverEffect) -> Vec<ObserverArgument> {
        let mut found: Vec<(Value, ObserverArgument)> = Vec::new();
        // A method that changes a collection takes its elements; a variable of type `Object` is none.
        let is_any =
            |making: &FixtureValue| matches!(making, FixtureValue::Object(object) if object.ty == "java.lang.Object");
        let passed = self.prepared.passed.iter().filter(|passed| passed.desc == *desc && self.is_made(passed));
        let passed = passed.filter(|passed| effect == ObserverEffect::Pure || !is_any(&passed.value));
        for passed in passed {
            let again = match &passed.value {
                FixtureValue::Parameter(at) => ObserverArgument::Param(*at),
                FixtureValue::Object(object) => ObserverArgument::Object(object.number),
            };
            if let Some(value) = self.observed.value(&again)
                && !found.iter().any(|(known, _)| *known == value)
            {
                found.push((value, again));
            }
        }
        if matches!(desc, Desc::Int | Desc::Long) {
            let data = self.observed.data_of(desc);
            for (number, data) in (0..3).filter_map(|number| Some((number, data?))) {
                if !found.iter().any(|(known, _)| *known == Value::Int(number)) {
                    found.push((Value::Int(number), ObserverArgument::Number(data, DataValue::Int(number))));
                }
            }
        }
        found.truncate(MAX_ARGUMENT_VALUES);
        found.into_iter().map(|(_, again)| again).collect()
    }

    /// Returns true if the call with this argument is made.
    fn is_made(&self, passed: &PassedValue) -> bool {
        passed.by.is_none_or(|(selector, number)| self.observed.chosen(selector) == number)
    }
}
