//! What tests look at besides the result of their call. All of it is run in the reference interpreter first.
//!
//! What a call changed that somebody can ask for without changing anything is always looked at. What else is looked at is chosen
//! by what would go unnoticed: the method gets small faults, one at a time, and a look that tells such a run from the right one is
//! worth a line.

use super::observation::{Run, Sight, Step, Viewer};
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

/// So many looks at one object that its call changed.
const MOST_CHANGED: usize = 4;
/// So many more for what would go unnoticed.
const MOST_CHOSEN: usize = 3;
/// So many values one method is asked with.
const MOST_VALUES: usize = 4;
/// So often a method is called that changes the object.
const MOST_REPEATED: usize = 4;
/// So many runs the faults of one method may take.
const RUNS: usize = 4_000;
/// So many faults are looked for.
const MOST_FAULTS: usize = 150;

/// So many tests more stay for what would go unnoticed, where mutants are asked for.
const MOST_MORE: usize = 6;

/// They are looked for so long, among inputs with so many elements, until so many show nothing new.
const MOST_TIME: Duration = Duration::from_secs(1);
const LONGEST: usize = 4;
const PATIENCE: u32 = 1_000;

/// Completes tests with what they look at. Where mutants are asked for, tests are looked for as well that notice faults which no other does: a
/// value that differs for a moment need not show in the end.
pub(crate) fn look_around(work: &Work<'_>, java: &JavaProgram, tests: &mut Vec<TestCase>, made: usize) {
    let Some(prepared) = java.prepared.get(&work.task.func) else { return };
    let module = work.module();
    let machines = MachineTemplates::of(module);
    let mut faults = Faults::new(module);
    for test in tests.iter_mut() {
        if work.plan.request.is_interrupted() {
            return;
        }
        if let Some(noticed) = noticed(&machines, prepared, test, &mut faults, New::AreMet) {
            test.expected.noticed = noticed;
        }
    }
    if !work.criteria.iter().any(|criterion| criterion.name() == MUTANTS) {
        return;
    }
    let most = tests.len() + MOST_MORE;
    let mut count = made;
    faults.runs = RUNS;
    let goals: BTreeSet<GoalId> = tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
    let first = java.first_inputs(work.task.func, work.config.seed).few;
    let variation = MutationSearch {
        machines: &machines,
        func: work.task.func,
        watch: &work.watch,
        config: &work.config,
        deadline: Deadline::after(MOST_TIME),
        longest: LONGEST,
        patience: PATIENCE,
        seed: work.config.seed,
        still: None,
        first: &first,
    };
    let is_made = |test: &TestCase| java.heap_of(work.task.func, test) == HeapOrigin::Made;
    let seeds: Vec<TestCase> = tests.iter().filter(|test| is_made(test)).cloned().collect();
    let mut take = |mut test: TestCase| {
        if faults.open.is_empty() || tests.len() == most || work.plan.request.is_interrupted() {
            return true;
        }
        if !is_made(&test) {
            return false;
        }
        let open = faults.open.len();
        let noticed = noticed(&machines, prepared, &test, &mut faults, New::AreNot);
        if let Some(noticed) = noticed.filter(|_| faults.open.len() < open) {
            count += 1;
            test.id = format!("{}_{count}", work.name());
            test.expected.noticed = noticed;
            tests.push(test);
        }
        false
    };
    let wishes = MutationGoals { untested: goals, unreturned: BTreeSet::new() };
    variation.run(&mut SeedPool::default(), &seeds, wishes, &mut take);
}

/// The criterion that asks for mutants.
const MUTANTS: &str = "wm";

/// Whether methods that a test is the first to call get faults, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum New {
    AreMet,
    AreNot,
}

/// What a test should notice; `None` if nothing can be said of it.
fn noticed(
    machines: &MachineTemplates<'_>,
    prepared: &PreparedCall,
    test: &TestCase,
    faults: &mut Faults,
    new: New,
) -> Option<Vec<Observation>> {
    let module = machines.module();
    if !matches!(test.outcome, Outcome::Returned | Outcome::Threw { .. }) {
        return None;
    }
    let viewer = Viewer::new(machines, module, prepared, test)?;
    let plain = viewer.run(module, &[], AddressLayout::Compact);
    if !plain.fits(&test.outcome) {
        return None;
    }
    let choice = Choice { prepared, viewer: &viewer, module };
    let mut steps = choice.changed(plain.result_is_new());
    if new == New::AreMet {
        faults.meet(&plain.called);
    }
    steps = choice.completed(steps, faults);
    // What depends on where objects lie is nobody's to expect.
    let first = viewer.run(module, &steps, AddressLayout::Compact);
    let second = viewer.run(module, &steps, AddressLayout::Spread);
    let mut found = Vec::new();
    for (one, other) in first.before.iter().zip(&second.before) {
        if let ((selector, Sight::Seen(seen)), true) = (one, one == other) {
            found.push(Observation { at: ObservationPoint::Before(*selector), seen: seen.clone() });
        }
    }
    if let (Sight::Seen(seen), true) = (&first.outcome, first.outcome == second.outcome) {
        found.push(Observation { at: ObservationPoint::Result, seen: seen.clone() });
    }
    for ((step, one), other) in steps.iter().zip(&first.steps).zip(&second.steps) {
        match one {
            Sight::Seen(seen) if one == other => {
                found.push(Observation { at: step.noticing(prepared), seen: seen.clone() })
            }
            // What follows would see another state.
            _ => break,
        }
    }
    Some(found)
}

/// The faults that no test has noticed yet.
struct Faults {
    /// The module, for one function to be another at a time.
    module: Module,
    met: Vec<FuncId>,
    open: Vec<(FuncId, Function)>,
    runs: usize,
}

impl Faults {
    fn new(module: &Module) -> Faults {
        Faults { module: module.clone(), met: Vec::new(), open: Vec::new(), runs: RUNS }
    }

    /// Methods that tests call have faults, too.
    fn meet(&mut self, called: &[FuncId]) {
        for func in called {
            if !self.met.contains(func) {
                self.met.push(*func);
                let all = mutants(&self.module, &self.module.functions[*func]);
                let room = MOST_FAULTS.saturating_sub(self.open.len());
                self.open.extend(all.into_iter().take(room).map(|mutant| (*func, mutant)));
            }
        }
    }

    /// Runs something with every fault that is open, as long as there is time; gives what it said of each.
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

    /// Forgets those that are noticed.
    fn settle(&mut self, noticed: &[bool]) {
        let mut noticed = noticed.iter();
        self.open.retain(|_| !noticed.next().copied().unwrap_or(false));
    }
}

/// Chooses what one test looks at.
struct Choice<'a, 'm> {
    prepared: &'a PreparedCall,
    viewer: &'a Viewer<'a, 'm>,
    module: &'a Module,
}

impl Choice<'_, '_> {
    /// What can be asked for without arguments, and answers something else after the call than before it.
    fn changed(&self, result_is_new: bool) -> Vec<Step> {
        let all = self.steps(|looks, probe| {
            let shows = probe.takes.is_empty() && probe.effect == ObserverEffect::Pure;
            shows && (result_is_new || looks.object != ObservedObject::Result)
        });
        let after = self.viewer.run(self.module, &all, AddressLayout::Compact);
        let before = self.viewer.before(self.module, &all);
        let sights = after.steps.into_iter().zip(before);
        let mut count = 0;
        let mut chosen = Vec::new();
        let mut last = None;
        for (step, (after, before)) in all.into_iter().zip(sights) {
            if last.replace(step.looks) != Some(step.looks) {
                count = 0;
            }
            let is_new = matches!(after, Sight::Seen(_)) && before.as_ref() != Some(&after);
            if is_new && count < MOST_CHANGED {
                count += 1;
                chosen.push(step);
            }
        }
        chosen
    }

    /// These, and what notices faults that go unnoticed otherwise.
    fn completed(&self, mut steps: Vec<Step>, faults: &mut Faults) -> Vec<Step> {
        // Of many tests, most come when nothing is left to notice, or no run to do it.
        if faults.open.is_empty() || faults.runs == 0 {
            return steps;
        }
        let right = self.viewer.run(self.module, &steps, AddressLayout::Compact);
        let limits = self.viewer.limits(&right);
        let said = faults.each(|module| self.viewer.run_within(module, &steps, limits).differs(&right));
        faults.settle(&said.iter().map(|noticed| *noticed == Some(true)).collect::<Vec<bool>>());
        if faults.open.is_empty() {
            return steps;
        }
        let more = self.looks(&steps);
        steps.extend(self.noticing(&steps, more, faults, MOST_CHOSEN));
        if !faults.open.is_empty() {
            let last = self.best_of(&steps, self.sequences(), faults);
            steps.extend(last);
        }
        steps
    }

    /// Looks that change nothing, one by one: those that notice most.
    fn noticing(&self, steps: &[Step], more: Vec<Step>, faults: &mut Faults, most: usize) -> Vec<Step> {
        let (begin, all) = (steps.len(), [steps, more.as_slice()].concat());
        let right = self.viewer.run(self.module, &all, AddressLayout::Compact);
        let limits = self.viewer.limits(&right);
        let runs = faults.each(|module| self.viewer.run_within(module, &all, limits));
        let usable = |at: usize| matches!(right.steps.get(begin + at), Some(Sight::Seen(_)));
        let notices = |at: usize, run: &Option<Run>| run.as_ref().is_some_and(|run| run.differs_at(&right, begin + at));
        let mut noticed = vec![false; runs.len()];
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < most {
            let new =
                |at: usize| (0..runs.len()).filter(|fault| !noticed[*fault] && notices(at, &runs[*fault])).count();
            let all = (0..more.len()).filter(|at| usable(*at) && !chosen.contains(at));
            let Some((count, at)) = all.map(|at| (new(at), at)).max_by_key(|(count, at)| (*count, usize::MAX - at))
            else {
                break;
            };
            if count == 0 {
                break;
            }
            chosen.push(at);
            (0..runs.len()).for_each(|fault| noticed[fault] |= notices(at, &runs[fault]));
        }
        faults.settle(&noticed);
        chosen.sort_unstable();
        chosen.into_iter().map(|at| more[at].clone()).collect()
    }

    /// The sequence of calls that notices most; the shortest of such.
    fn best_of(&self, steps: &[Step], sequences: Vec<Vec<Step>>, faults: &mut Faults) -> Vec<Step> {
        let mut best: (usize, Vec<Step>, Vec<bool>) = (0, Vec::new(), Vec::new());
        for sequence in sequences {
            let begin = steps.len();
            let all = [steps, sequence.as_slice()].concat();
            let right = self.viewer.run(self.module, &all, AddressLayout::Compact);
            let told = right.steps.iter().skip(begin).take_while(|sight| matches!(sight, Sight::Seen(_))).count();
            if told == 0 {
                continue;
            }
            let limits = self.viewer.limits(&right);
            let runs = faults.each(|module| self.viewer.run_within(module, &all[..begin + told], limits));
            let sees = |run: &Option<Run>, length: usize| {
                run.as_ref().is_some_and(|run| (begin..begin + length).any(|at| run.differs_at(&right, at)))
            };
            let count = |length: usize| runs.iter().filter(|run| sees(run, length)).count();
            let most = count(told);
            let length = (1..=told).find(|length| count(*length) == most).unwrap_or(told);
            if most > best.0 || most == best.0 && most > 0 && length < best.1.len() {
                let noticed = runs.iter().map(|run| sees(run, length)).collect();
                best = (most, sequence[..length].to_vec(), noticed);
            }
        }
        faults.settle(&best.2);
        best.1
    }

    /// Everything that can be asked without a change, besides what is asked already.
    fn looks(&self, steps: &[Step]) -> Vec<Step> {
        let plain = self.steps(|_, probe| probe.effect == ObserverEffect::Pure && probe.takes.is_empty());
        let asked =
            self.each_probe().filter(|(_, probe)| probe.effect == ObserverEffect::Pure && !probe.takes.is_empty());
        let asked: Vec<Step> = asked.flat_map(|(at, probe)| self.asked(at, probe)).collect();
        plain.into_iter().chain(asked).filter(|step| !self.is_among(steps, step)).collect()
    }

    /// Calls that change the object: one method, several times.
    fn sequences(&self) -> Vec<Vec<Step>> {
        let changing = self.each_probe().filter(|(_, probe)| probe.effect == ObserverEffect::Mutates);
        let mut found = Vec::new();
        for (at, probe) in changing {
            match probe.takes.is_empty() {
                true => found.push(vec![Step { looks: at.0, probe: at.1, arguments: Vec::new() }; MOST_REPEATED]),
                false => found.push(self.asked(at, probe)),
            }
        }
        found
    }

    fn each_probe(&self) -> impl Iterator<Item = ((usize, usize), &StateObserver)> {
        // Arguments show themselves; what was called, or made, is what the test is about.
        let receiver = self.prepared.receiver.map(ObservedObject::Object);
        let about =
            move |looks: &ObjectObservers| looks.object == ObservedObject::Result || Some(looks.object) == receiver;
        let all = self.prepared.observers.iter().enumerate().filter(move |(_, looks)| about(looks));
        all.flat_map(|(at, looks)| looks.observers.iter().enumerate().map(move |(probe, found)| ((at, probe), found)))
    }

    fn steps(&self, wanted: impl Fn(&ObjectObservers, &StateObserver) -> bool) -> Vec<Step> {
        let mut found = Vec::new();
        for (at, looks) in self.prepared.observers.iter().enumerate() {
            let probes = looks.observers.iter().enumerate().filter(|(_, probe)| wanted(looks, probe));
            for (probe, _) in probes {
                let step = Step { looks: at, probe, arguments: Vec::new() };
                if !self.is_among(&found, &step) {
                    found.push(step);
                }
            }
        }
        found
    }

    /// Whether one of these looks is the same: parameters may be one object.
    fn is_among(&self, steps: &[Step], step: &Step) -> bool {
        steps.iter().any(|other| self.viewer.is_same(other, step))
    }

    /// A method, asked with what the test passes elsewhere.
    fn asked(&self, (looks, probe): (usize, usize), found: &StateObserver) -> Vec<Step> {
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
            steps.push(Step { looks, probe, arguments });
        }
        steps
    }

    /// What a parameter of a type may get: what calls of the test get, and small numbers.
    fn values(&self, desc: &Desc, effect: ObserverEffect) -> Vec<ObserverArgument> {
        let mut found: Vec<(Value, ObserverArgument)> = Vec::new();
        // What changes a collection takes its elements, and a variable of type `Object` is none.
        let is_any =
            |making: &FixtureValue| matches!(making, FixtureValue::Object(object) if object.ty == "java.lang.Object");
        let passed = self.prepared.passed.iter().filter(|passed| passed.desc == *desc && self.is_made(passed));
        let passed = passed.filter(|passed| effect == ObserverEffect::Pure || !is_any(&passed.value));
        for passed in passed {
            let again = match &passed.value {
                FixtureValue::Parameter(at) => ObserverArgument::Param(*at),
                FixtureValue::Object(object) => ObserverArgument::Object(object.number),
            };
            if let Some(value) = self.viewer.value(&again)
                && !found.iter().any(|(known, _)| *known == value)
            {
                found.push((value, again));
            }
        }
        if matches!(desc, Desc::Int | Desc::Long) {
            let data = self.viewer.data_of(desc);
            for (number, data) in (0..3).filter_map(|number| Some((number, data?))) {
                if !found.iter().any(|(known, _)| *known == Value::Int(number)) {
                    found.push((Value::Int(number), ObserverArgument::Number(data, DataValue::Int(number))));
                }
            }
        }
        found.truncate(MOST_VALUES);
        found.into_iter().map(|(_, again)| again).collect()
    }

    /// Whether the call is made that something is passed to.
    fn is_made(&self, passed: &PassedValue) -> bool {
        passed.by.is_none_or(|(selector, number)| self.viewer.chosen(selector) == number)
    }
}
