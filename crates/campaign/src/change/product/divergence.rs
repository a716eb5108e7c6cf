//! Decides whether a change is observable: finds an input on which the versions differ in their return value, in memory
//! or in the way they end, or shows that none exists.
//!
//! Inputs are searched for with the product program (`product_program.rs`) and by differential runs
//! (`differential_runs.rs`), and every test of the new version also runs on the old one. Only a difference in a real
//! run of the old version counts.

use super::differential_runs::DifferentialRunner;
use super::object_graphs::ParameterPassing;
use super::product_program::{Driver, ProductProgram};
use crate::change::impact::ChangeImpact;
use crate::change::impact::Effects;
use crate::change::impact::Versions;
use crate::java::JavaProgram;
use crate::plan::Work;
use crate::request::stem;
use crate::reuse::input_parser::test_with;
use std::sync::Arc;
use std::time::Duration;
use touchstone_base::{Deadline, IndexMap};
use touchstone_criteria::{Bound, Goal, GoalId, GoalIndex, Incomplete, IncompletePaths, Outcome, TestCase, TestKind};
use touchstone_engine::{
    Config, End, Goals, MachineTemplates, RunObservation, SearchEvent, Sink, explore_goals, prove_infeasible,
    watch_test,
};
use touchstone_ir::{FuncId, PointId};
use touchstone_report::document::{Behaviour, ChangedFunction};

/// The result of comparing the behaviour of two versions of a function.
pub(crate) struct BehaviourComparison {
    pub behaviour: Behaviour,
    /// The reason of an unknown result, or the kind of proof.
    pub why: Option<&'static str>,
    /// A test on which the versions differ.
    pub test: Option<TestCase>,
}

impl BehaviourComparison {
    fn unknown(why: &'static str) -> BehaviourComparison {
        BehaviourComparison { behaviour: Behaviour::Unknown, why: Some(why), test: None }
    }

    /// Returns the result after a run of the real program contradicted the model: a proof does not hold any more.
    pub fn contradicted(self) -> BehaviourComparison {
        match self.behaviour {
            Behaviour::Equivalent => BehaviourComparison::unknown("a replay contradicts the proof of equivalence"),
            Behaviour::Differs | Behaviour::Unknown => self,
        }
    }

    /// Returns the entry of the report, after tests have run on both versions.
    pub fn changed_function(&self, work: &Work<'_>, tests: &[TestCase]) -> ChangedFunction {
        let differ: Vec<String> =
            tests.iter().filter(|test| test.older.is_some()).map(|test| test.id.clone()).collect();
        let (behaviour, why) = match (self.behaviour, differ.is_empty()) {
            (_, false) => (Behaviour::Differs, None),
            (Behaviour::Differs, true) => (Behaviour::Unknown, Some("an input that should tell them apart does not")),
            (behaviour, true) => (behaviour, self.why),
        };
        ChangedFunction { name: work.name().to_string(), behaviour, why: why.map(str::to_string), tests: differ }
    }

    fn equivalent(why: &'static str) -> BehaviourComparison {
        BehaviourComparison { behaviour: Behaviour::Equivalent, why: Some(why), test: None }
    }
}

/// Compares two versions of a function. `tests` were found for the new one; those that distinguish the versions are
/// marked.
pub(crate) fn compare(
    work: &Work<'_>,
    versions: &Versions<'_>,
    impact: &ChangeImpact,
    tests: &mut [TestCase],
) -> BehaviourComparison {
    match impact {
        ChangeImpact::Unaffected | ChangeImpact::Partial { same_end: true, .. } => {
            return BehaviourComparison::equivalent("nothing that the change touches comes out of it");
        }
        ChangeImpact::All => return BehaviourComparison::unknown("the versions have no inputs in common"),
        ChangeImpact::Partial { .. } => {}
    }
    let passing = work.plan.program.java.as_ref().map_or_else(Vec::new, |java| passing_by_tests(java, work));
    let Some(product) = ProductProgram::new(versions, work.task.func, &passing) else {
        return BehaviourComparison::unknown("the versions have no memory in common: only tests can tell");
    };
    let runner = DifferentialRunner::of(&product, work.task.func);
    let mut apart = false;
    for test in tests.iter_mut().filter(|test| runner.differ(&test.kind, &test.answers)) {
        test.older = Some(not_replayed(work));
        apart = true;
    }
    if apart {
        return BehaviourComparison { behaviour: Behaviour::Differs, why: None, test: None };
    }
    if let Some(test) = work.earlier_inputs.iter().find_map(|inputs| rerun_earlier(work, &runner, inputs)) {
        return BehaviourComparison { behaviour: Behaviour::Differs, why: None, test: Some(test) };
    }
    if let Some(equivalent) = on_any_object(work, versions) {
        return equivalent;
    }
    let func = work.task.func;
    let unsupported = versions.new.executes_unsupported(func)
        || versions.old_of(func).is_none_or(|old| versions.old.executes_unsupported(old));
    if unsupported && work.plan.program.java.is_none() {
        return BehaviourComparison::unknown("an unsupported construct may do anything: only tests can tell");
    }
    let searched = match &product.driver {
        Some(driver) => search(work, versions, (work.task.func, &product, driver), work.plan.deadline()),
        None => BehaviourComparison::unknown("more than numbers comes in or out: only tests can tell"),
    };
    // Both versions start in the same state there.
    let searched = match searched.behaviour {
        Behaviour::Equivalent if !is_same_state(work, versions) => {
            BehaviourComparison::unknown("calls before may leave another state than in the old version")
        }
        _ => searched,
    };
    let varied = (searched.behaviour == Behaviour::Unknown).then(|| runner.vary(work, tests)).flatten();
    varied.map_or(searched, |test| differing(work, &test))
}

/// Returns true if the same calls before the function leave the same state in both versions: by the impact analysis, or
/// because all changed functions behave the same.
fn is_same_state(work: &Work<'_>, versions: &Versions<'_>) -> bool {
    let proved = |func: &FuncId| {
        versions.on_any_object(*func, || {
            let product = ProductProgram::new(versions, *func, &[]);
            let driver = product.as_ref().and_then(|product| Some((product, product.driver.as_ref()?)));
            driver.is_some_and(|(product, driver)| {
                let limit = proof_time(work);
                search(work, versions, (*func, product, driver), Deadline::after(limit)).behaviour
                    == Behaviour::Equivalent
            })
        })
    };
    if versions.left_by_earlier_calls(work.task.func).is_empty() {
        return true;
    }
    let changed = versions.state_changers();
    work.plan.program.java.is_none() && changed.len() <= MAX_PROVED_CHANGERS && changed.iter().all(proved)
}

/// The maximum number of changed functions that are proved to leave the same state.
const MAX_PROVED_CHANGERS: usize = 8;

/// Returns a test with the inputs of an earlier one if these distinguish the versions.
fn rerun_earlier(work: &Work<'_>, runner: &DifferentialRunner<'_>, inputs: &TestKind) -> Option<TestCase> {
    let config = &work.config;
    if config.precondition.is_some() || !config.ranges.is_empty() || !config.lengths.is_empty() {
        return None;
    }
    let test = of_function(work, &test_with(work.module(), work.task.func, inputs.clone()))?;
    let returns = matches!(test.outcome, Outcome::Returned | Outcome::Threw { .. });
    let tells = returns && runner.differ(&test.kind, &test.answers);
    tells.then(|| TestCase { older: Some(not_replayed(work)), ..test })
}

/// Returns how tests pass the parameters of the entry point. Objects that no API sequence constructs are not passed.
fn passing_by_tests(java: &JavaProgram, work: &Work<'_>) -> Vec<ParameterPassing> {
    let heaps = java.heap_params(work.task.func);
    let params = work.module().functions[work.task.func].own_params().iter().enumerate();
    params
        .map(
            |(at, param)| {
                if heaps.contains(&at) { ParameterPassing::Omitted } else { ParameterPassing::Unchanged(param.data) }
            },
        )
        .collect()
}

/// Returns an equivalence verdict if the changed methods behave the same on any object, whatever its fields hold. Tests
/// construct their objects by the same calls, so they cannot distinguish the versions then.
fn on_any_object(work: &Work<'_>, versions: &Versions<'_>) -> Option<BehaviourComparison> {
    let (java, entry) = (work.plan.program.java.as_ref()?, work.task.func);
    if java.tested(entry) == entry {
        return None;
    }
    let changed = versions.changed_callees(entry)?;
    let same = |callee: &FuncId| behaves_same(work, versions, java, *callee, MAX_DISPATCH_DEPTH);
    changed.iter().all(same).then(|| BehaviourComparison::equivalent(WITHIN_BOUNDS))
}

/// The maximum number of calls between an entry point and a method: they dispatch among classes.
const MAX_DISPATCH_DEPTH: usize = 3;

/// Returns true if a function behaves the same on any object: because all its changed callees do, or by a proof.
fn behaves_same(work: &Work<'_>, versions: &Versions<'_>, java: &JavaProgram, func: FuncId, deepest: usize) -> bool {
    let only_calls = || {
        let changed = versions.changed_callees(func).filter(|changed| deepest > 0 && !changed.is_empty());
        changed.is_some_and(|changed| {
            changed.iter().all(|callee| behaves_same(work, versions, java, *callee, deepest - 1))
        })
    };
    only_calls() || versions.on_any_object(func, || is_proved_same(work, versions, java, func))
}

fn is_proved_same(work: &Work<'_>, versions: &Versions<'_>, java: &JavaProgram, method: FuncId) -> bool {
    let passing = || {
        let entry = java.entry(method);
        let (receiver, arguments) = java.inputs_of_method(entry)?;
        let data = |at: usize| Some(work.module().functions[entry].own_params().get(at)?.data);
        let receiver = receiver.map(|at| data(at).map(ParameterPassing::Receiver));
        let arguments = arguments.into_iter().map(|at| data(at).map(ParameterPassing::Unchanged));
        receiver.into_iter().chain(arguments).collect::<Option<Vec<ParameterPassing>>>()
    };
    let takes = work.module().functions[method].own_params().len();
    let Some(passing) = passing().filter(|passing| passing.len() == takes) else { return false };
    let Some(product) = ProductProgram::new(versions, method, &passing) else { return false };
    let Some(driver) = &product.driver else { return false };
    search(work, versions, (method, &product, driver), Deadline::after(proof_time(work))).behaviour
        == Behaviour::Equivalent
}

/// The explanation of an equivalence verdict.
const WITHIN_BOUNDS: &str = "no input distinguishes the versions, within the bounds";

/// The maximum time for one proof; a search follows.
const MAX_PROOF_TIME: Duration = Duration::from_secs(5);

fn proof_time(work: &Work<'_>) -> Duration {
    work.plan.request.effort.budget.map_or(MAX_PROOF_TIME, |budget| budget.min(MAX_PROOF_TIME))
}

/// Returns the remark on a test that has not run on the old version yet.
fn not_replayed(work: &Work<'_>) -> String {
    let name = work.plan.request.old.as_ref().map_or("the older version", |old| &old.name);
    format!("should fail on {name}; that was not replayed")
}

/// Searches the product program.
fn search(
    work: &Work<'_>,
    versions: &Versions<'_>,
    (func, product, driver): (FuncId, &ProductProgram, &Driver),
    deadline: Deadline,
) -> BehaviourComparison {
    let mut config = Config { deadline, oracle: None, ..work.config.clone() };
    if func != work.task.func {
        // What is known about the parameters of the entry point does not hold for those of the method.
        (config.precondition, config.excluded_choices) = (None, Vec::new());
        (config.ranges, config.lengths) = (Default::default(), Default::default());
    }
    let SearchResult { test, excluded, exhaustive } = search_point(product, driver, driver.differs, &config);
    if let Some(driven) = test {
        if func != work.task.func {
            return BehaviourComparison::unknown("an object that distinguishes the versions was not shown reachable");
        }
        return differing(work, &driven);
    }
    // Exceptions are compared by the driver. If the search was exhaustive, it has seen all failing accesses.
    let effects =
        [Some(versions.new.call_effects(func)), versions.old_of(func).map(|old| versions.old.call_effects(old))];
    let may_end = |effects: &Effects| match exhaustive && product.module.has_classes() {
        // Anything that is not modelled would have been reported.
        true => driver.exits,
        false => effects.ends || effects.fails && !exhaustive,
    };
    let ends = effects.iter().any(|effects| effects.as_ref().is_none_or(may_end));
    let sure = |point| search_point(product, driver, point, &config).excluded;
    match (excluded, ends) {
        (true, _) if !driver.complete => {
            BehaviourComparison::unknown("what both return is the same; not all that they leave was compared")
        }
        (true, _) if !driver.unsure.is_none_or(sure) => {
            BehaviourComparison::unknown("what can be compared is the same; they leave other objects, too")
        }
        (true, false) => BehaviourComparison::equivalent(WITHIN_BOUNDS),
        (true, true) => BehaviourComparison::unknown("what both leave is the same; an error may end one of them only"),
        (false, _) => BehaviourComparison::unknown("the search for an input was not finished"),
    }
}

/// The result of a search for a point of the driver.
struct SearchResult {
    test: Option<TestCase>,
    /// True if no input reaches the point.
    excluded: bool,
    /// True if the search was exhaustive and met no error.
    exhaustive: bool,
}

fn search_point(product: &ProductProgram, driver: &Driver, point: PointId, config: &Config) -> SearchResult {
    let func = driver.func;
    let goals: IndexMap<GoalId, Goal> = [Goal::Label { func, point, predicate: None }].into_iter().collect();
    let watch = Arc::new(GoalIndex::new(&product.module, goals));
    let mut found = First { test: None };
    let goals = Goals { watch: Arc::clone(&watch), closed: Vec::new() };
    let explored = explore_goals(&product.module, func, goals, config, &mut found);
    let goal = touchstone_base::Id::new(0);
    // The length of arrays is a bound of this run. Hidden state is searched only where nothing else is open, so the
    // driver must have none.
    let shorter = |paths: &IncompletePaths| paths.why == Incomplete::Bound(Bound::Length);
    let within = !driver.has_hidden_state && explored.result.incomplete.iter().all(shorter);
    let excluded = found.test.is_none()
        && (within
            || explored.excluded.contains(&goal)
            || prove_infeasible(&product.module, func, &watch, &[goal], config).contains_key(&goal));
    let followed = within || explored.result.exhaustive;
    SearchResult { test: found.test, excluded, exhaustive: followed && explored.result.paths.error == 0 }
}

/// Returns the result for a test on which the versions differ.
fn differing(work: &Work<'_>, driven: &TestCase) -> BehaviourComparison {
    match of_function(work, driven) {
        Some(mut test) => {
            test.older = Some(not_replayed(work));
            BehaviourComparison { behaviour: Behaviour::Differs, why: None, test: Some(test) }
        }
        None => BehaviourComparison::unknown("an input that distinguishes the versions cannot be run"),
    }
}

/// Translates a test of the driver into one of the function; both take the same parameters.
fn of_function(work: &Work<'_>, driven: &TestCase) -> Option<TestCase> {
    let (module, func) = (work.module(), work.task.func);
    let name = &module.functions[func].name;
    let mut test = TestCase { function: name.clone(), description: String::new(), ..driven.clone() };
    // The final number is assigned with those of all tests.
    test.id = format!("{}_{}", stem(name), usize::MAX);
    let oracle = work.config.oracle.as_ref().and_then(|name| module.function_named(name));
    let run = watch_test(
        &MachineTemplates::of(module),
        func,
        &test,
        RunObservation { watch: Some(&work.watch), oracle, ..RunObservation::default() },
    );
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
    fn event(&mut self, event: SearchEvent<'_>) {
        if let (SearchEvent::Test(test), None) = (event, &self.test) {
            self.test = Some(test.clone());
        }
    }
}
