//! Whether a change can be seen: inputs on which both versions differ in what they return, leave in memory, or how they end; or that
//! there are none.
//!
//! Inputs are searched for with both versions as one function (`together.rs`) and by runs of both (`runs.rs`), and every test of the new version is run on the
//! old one, too. Only what a real run of the old version does otherwise counts as a difference.

use super::differential_runs::Both;
use super::object_graphs::Passed;
use super::product_program::{Driven, Together};
use crate::change::impact::Effects;
use crate::change::impact::Touched;
use crate::change::impact::Versions;
use crate::java::JavaProgram;
use crate::plan::Work;
use crate::request::stem;
use crate::reuse::input_reader::test_with;
use std::rc::Rc;
use std::time::Duration;
use touchstone_base::{Deadline, IndexMap};
use touchstone_criteria::{
    Bound, Goal, GoalId, Incomplete, IncompletePaths, Outcome, TestCase, TestKind, Unmakeable, Watch,
};
use touchstone_engine::{Config, End, Event, Goals, Look, Machines, Sink, explore_goals, prove_infeasible, watch_test};
use touchstone_ir::{FuncId, PointId};
use touchstone_report::document::{Behaviour, ChangedFunction};

/// What both versions were found to do.
pub(crate) struct Compared {
    pub behaviour: Behaviour,
    /// Why nothing more is known, or how it is known.
    pub why: Option<&'static str>,
    /// An input on which they differ.
    pub test: Option<TestCase>,
}

impl Compared {
    fn unknown(why: &'static str) -> Compared {
        Compared { behaviour: Behaviour::Unknown, why: Some(why), test: None }
    }

    /// What is said of it, after tests ran on both.
    pub fn told(&self, work: &Work<'_>, tests: &[TestCase]) -> ChangedFunction {
        let differ: Vec<String> =
            tests.iter().filter(|test| test.older.is_some()).map(|test| test.id.clone()).collect();
        let (behaviour, why) = match (self.behaviour, differ.is_empty()) {
            (_, false) => (Behaviour::Differs, None),
            (Behaviour::Differs, true) => (Behaviour::Unknown, Some("an input that should tell them apart does not")),
            (behaviour, true) => (behaviour, self.why),
        };
        ChangedFunction { name: work.name().to_string(), behaviour, why: why.map(str::to_string), tests: differ }
    }

    fn equivalent(why: &'static str) -> Compared {
        Compared { behaviour: Behaviour::Equivalent, why: Some(why), test: None }
    }
}

/// Searches for an input on which the versions of a function differ. `tests` were found for the new one; those that tell them apart
/// say so then.
pub(crate) fn compare(work: &Work<'_>, versions: &Versions<'_>, touched: &Touched, tests: &mut [TestCase]) -> Compared {
    match touched {
        Touched::Nothing | Touched::Places { same_end: true, .. } => {
            return Compared::equivalent("nothing that the change touches comes out of it");
        }
        Touched::Everything => return Compared::unknown("the versions have no inputs in common"),
        Touched::Places { .. } => {}
    }
    let passed = work.plan.program.java.as_ref().map_or_else(Vec::new, |java| passed_by_tests(java, work));
    let Some(together) = Together::new(versions, work.task.func, &passed) else {
        return Compared::unknown("the versions have no memory in common: only tests can tell");
    };
    let both = Both::of(&together, work.task.func);
    let mut apart = false;
    for test in tests.iter_mut().filter(|test| both.differ(&test.kind, &test.answers)) {
        test.older = Some(not_replayed(work));
        apart = true;
    }
    if apart {
        return Compared { behaviour: Behaviour::Differs, why: None, test: None };
    }
    if let Some(test) = work.again.iter().find_map(|inputs| again(work, &both, inputs)) {
        return Compared { behaviour: Behaviour::Differs, why: None, test: Some(test) };
    }
    if let Some(equivalent) = on_any_object(work, versions) {
        return equivalent;
    }
    let timeout = work.plan.request.effort.timeout;
    let searched = match &together.driver {
        Some(driver) => search(work, versions, (work.task.func, &together, driver), timeout),
        None => Compared::unknown("more than numbers comes in or out: only tests can tell"),
    };
    let varied = (searched.behaviour == Behaviour::Unknown).then(|| both.vary(work, tests)).flatten();
    varied.map_or(searched, |test| differing(work, &test))
}

/// A test with the inputs of one that was there, if these tell the versions apart.
fn again(work: &Work<'_>, both: &Both<'_>, inputs: &TestKind) -> Option<TestCase> {
    let config = &work.config;
    if config.precondition.is_some() || !config.ranges.is_empty() || !config.lengths.is_empty() {
        return None;
    }
    let test = of_function(work, &test_with(work.module(), work.task.func, inputs.clone()))?;
    let returns = matches!(test.outcome, Outcome::Returned | Outcome::Threw { .. });
    let tells = returns && both.differ(&test.kind, &test.answers);
    tells.then(|| TestCase { older: Some(not_replayed(work)), ..test })
}

/// How tests pass the parameters of what they call: objects that no calls make are not there.
fn passed_by_tests(java: &JavaProgram, work: &Work<'_>) -> Vec<Passed> {
    let heaps = java.heap_params(work.task.func);
    let params = work.module().functions[work.task.func].own_params().iter().enumerate();
    params.map(|(at, param)| if heaps.contains(&at) { Passed::Nowhere } else { Passed::AsItIs(param.data) }).collect()
}

/// Whether the versions of a method do the same on any object, whatever its fields hold, and so do all others that tests call before it. Then tests can't
/// tell them apart, since they make their objects by the same calls.
fn on_any_object(work: &Work<'_>, versions: &Versions<'_>) -> Option<Compared> {
    let (java, entry) = (work.plan.program.java.as_ref()?, work.task.func);
    if java.tested(entry) == entry {
        return None;
    }
    let changed = versions.changed_callees(entry)?;
    let same = |callee: &FuncId| is_same(work, versions, java, *callee, MOST_DISPATCHES);
    changed.iter().all(same).then(|| Compared::equivalent(WITHIN_BOUNDS))
}

/// Calls between what tests call and a method, at most: they choose among classes.
const MOST_DISPATCHES: usize = 3;

/// Whether a function does the same on any object: all that it calls does, or it is shown of itself.
fn is_same(work: &Work<'_>, versions: &Versions<'_>, java: &JavaProgram, func: FuncId, deepest: usize) -> bool {
    let only_calls = || {
        let changed = versions.changed_callees(func).filter(|changed| deepest > 0 && !changed.is_empty());
        changed.is_some_and(|changed| changed.iter().all(|callee| is_same(work, versions, java, *callee, deepest - 1)))
    };
    only_calls() || versions.on_any_object(func, || is_same_on_any(work, versions, java, func))
}

fn is_same_on_any(work: &Work<'_>, versions: &Versions<'_>, java: &JavaProgram, method: FuncId) -> bool {
    let passed = || {
        let entry = java.entry(method);
        let (receiver, arguments) = java.inputs_of_method(entry)?;
        let data = |at: usize| Some(work.module().functions[entry].own_params().get(at)?.data);
        let receiver = receiver.map(|at| data(at).map(Passed::Receiver));
        let arguments = arguments.into_iter().map(|at| data(at).map(Passed::AsItIs));
        receiver.into_iter().chain(arguments).collect::<Option<Vec<Passed>>>()
    };
    let takes = work.module().functions[method].own_params().len();
    let Some(passed) = passed().filter(|passed| passed.len() == takes) else { return false };
    let Some(together) = Together::new(versions, method, &passed) else { return false };
    let Some(driver) = &together.driver else { return false };
    let limit = work.plan.request.effort.timeout.map_or(MOST_ON_ANY_OBJECT, |timeout| timeout.min(MOST_ON_ANY_OBJECT));
    search(work, versions, (method, &together, driver), Some(limit)).behaviour == Behaviour::Equivalent
}

/// How it is known that nothing tells versions apart.
const WITHIN_BOUNDS: &str = "no input tells them apart, within bounds";

/// A proof takes at most so long: a search follows.
const MOST_ON_ANY_OBJECT: Duration = Duration::from_secs(5);

/// What is said of a test until it ran on the old version.
fn not_replayed(work: &Work<'_>) -> String {
    let name = work.plan.request.old.as_ref().map_or("the older version", |old| &old.name);
    format!("differs from {name}; that was not replayed")
}

/// Searches with both versions as one function.
fn search(
    work: &Work<'_>,
    versions: &Versions<'_>,
    (func, together, driver): (FuncId, &Together, &Driven),
    timeout: Option<Duration>,
) -> Compared {
    let mut config = Config { deadline: Deadline::within(timeout), oracle: None, ..work.config.clone() };
    if func != work.task.func {
        // What is known of the parameters of what tests call is not known of those of the method.
        (config.precondition, config.not_taken) = (None, Vec::new());
    }
    let Sought { test, excluded, met } = seek(together, driver, driver.differs, &config);
    if let Some(driven) = test {
        if func != work.task.func {
            return Compared::unknown("an object that tells them apart was not shown reachable");
        }
        return differing(work, &driven);
    }
    // What is thrown is compared. Where everything was followed, accesses that go wrong were met.
    let effects = [Some(versions.new.of_call(func)), versions.old_of(func).map(|old| versions.old.of_call(old))];
    let may_end = |effects: &Effects| match met && together.module.has_classes() {
        // What is not followed would have been met.
        true => driver.exits,
        false => effects.ends || effects.fails && !met,
    };
    let ends = effects.iter().any(|effects| effects.as_ref().is_none_or(may_end));
    let sure = |point| seek(together, driver, point, &config).excluded;
    match (excluded, ends) {
        (true, _) if !driver.whole => {
            Compared::unknown("what both return is the same; not all that they leave was compared")
        }
        (true, _) if !driver.unsure.is_none_or(sure) => {
            Compared::unknown("what can be compared is the same; they leave other objects, too")
        }
        (true, false) => Compared::equivalent(WITHIN_BOUNDS),
        (true, true) => Compared::unknown("what both leave is the same; an error may end one of them only"),
        (false, _) => Compared::unknown("the search for an input was not finished"),
    }
}

/// What became of the search for a point of a driver.
struct Sought {
    test: Option<TestCase>,
    /// Nothing gets there.
    excluded: bool,
    /// Everything was followed, and nothing went wrong.
    met: bool,
}

fn seek(together: &Together, driver: &Driven, point: PointId, config: &Config) -> Sought {
    let func = driver.func;
    let goals: IndexMap<GoalId, Goal> = [Goal::Label { func, point, predicate: None }].into_iter().collect();
    let watch = Rc::new(Watch::new(&together.module, goals));
    let mut found = First { test: None };
    let goals = Goals { watch: Rc::clone(&watch), closed: Vec::new() };
    let explored = explore_goals(&together.module, func, goals, config, &mut found);
    let goal = touchstone_base::Id::new(0);
    // How long arrays are is a bound of the run. A wider world is looked at only where nothing else is open, so there must be none.
    let shorter = |paths: &IncompletePaths| paths.why == Incomplete::Bound(Bound::Length);
    let within = !driver.hidden && explored.result.incomplete.iter().all(shorter);
    let excluded = found.test.is_none()
        && (within
            || explored.excluded.contains(&goal)
            || prove_infeasible(&together.module, func, &watch, &[goal], config).contains_key(&goal));
    let followed = within || explored.result.exhaustive;
    Sought { test: found.test, excluded, met: followed && explored.result.paths.error == 0 }
}

/// The versions differ on the inputs of this test.
fn differing(work: &Work<'_>, driven: &TestCase) -> Compared {
    match of_function(work, driven) {
        Some(mut test) => {
            test.older = Some(not_replayed(work));
            Compared { behaviour: Behaviour::Differs, why: None, test: Some(test) }
        }
        None => Compared::unknown("an input that tells them apart can't be run"),
    }
}

/// A test of the driver as one of the function: both take the same.
fn of_function(work: &Work<'_>, driven: &TestCase) -> Option<TestCase> {
    let (module, func) = (work.module(), work.task.func);
    let name = &module.functions[func].name;
    let mut test = TestCase { function: name.clone(), description: String::new(), ..driven.clone() };
    // Gets its number with all others.
    test.id = format!("{}_{}", stem(name), usize::MAX);
    let oracle = work.config.oracle.as_ref().and_then(|name| module.function_named(name));
    let run =
        watch_test(&Machines::of(module), func, &test, Look { watch: Some(&work.watch), oracle, ..Look::default() });
    test.oracle = work.config.oracle.clone();
    test.expected = run.expected;
    test.path = run.path;
    test.covers = run.hits;
    test.outcome = match run.end {
        _ if !run.accepted => Outcome::OracleRejected,
        End::Returned(_) => Outcome::Returned,
        End::Threw { class, .. } => Outcome::Threw { class: module.class_name(class) },
        End::Exited(status) => Outcome::Exited(status),
        End::Error { kind, span } => Outcome::Error { kind, span },
        _ => return None,
    };
    Some(test)
}

/// Keeps the first test.
struct First {
    test: Option<TestCase>,
}

impl Sink for First {
    fn event(&mut self, event: Event<'_>) {
        if let (Event::Test(test), None) = (event, &self.test) {
            self.test = Some(test.clone());
        }
    }

    fn refuses(&self, _: &TestCase) -> Option<Unmakeable> {
        None
    }
}
