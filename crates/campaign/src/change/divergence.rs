//! Whether a change can be seen: inputs on which both versions differ in what they return, leave in memory, or how they end; or that
//! there are none.
//!
//! Inputs are searched for with both versions as one function (`together.rs`), and every test of the new version is run on the old one, too. Only
//! what a real run of the old version does otherwise counts as a difference.

use super::impact::Touched;
use super::together::{Driven, Together};
use super::versions::Versions;
use crate::error::CampaignError;
use crate::old_version::OldVersion;
use crate::plan::{Plan, keeping};
use crate::program::Program;
use crate::request::{Purpose, Replaying};
use crate::work::Work;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use touchstone_base::{Deadline, IndexMap};
use touchstone_criteria::{
    Disagreement, Expected, Goal, GoalId, Heap, MadeInput, NamedValue, Outcome, Replay, TestCase, TestKind, Unmakeable,
    Watch,
};
use touchstone_emit::{Build, CSuite, EmitError, Form, JUnit, JUnitSuite, Once, Preprocessed, Target};
use touchstone_engine::{
    ConcreteRun, Config, End, Event, Goals, Look, Machines, Sink, Variation, explore_goals, prove_infeasible,
    watch_kind, watch_test,
};
use touchstone_ir::{DataValue, FuncId, InputSource, Module};
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
    let Some(together) = Together::new(versions, work.task.func) else {
        return Compared::unknown("the versions have no memory in common: only tests can tell");
    };
    let both = Both { machines: Machines::of(&together.module), new: work.task.func, old: together.old };
    let mut apart = false;
    for test in tests.iter_mut().filter(|test| both.differ(&test.kind, &test.answers)) {
        test.older = Some(not_replayed(work));
        apart = true;
    }
    if apart {
        return Compared { behaviour: Behaviour::Differs, why: None, test: None };
    }
    let searched = match &together.driver {
        Some(driver) => search(work, versions, &together, driver),
        None => Compared::unknown("more than numbers comes in or out: only tests can tell"),
    };
    let varied = (searched.behaviour == Behaviour::Unknown).then(|| both.vary(work, tests)).flatten();
    varied.map_or(searched, |test| differing(work, &test))
}

/// Both versions, to be run on the same inputs.
struct Both<'m> {
    machines: Machines<'m>,
    new: FuncId,
    old: FuncId,
}

/// Tests are varied for at most this share of the time for a function, and for so long.
const VARIED: u32 = 4;
const LONGEST: Duration = Duration::from_secs(3);

impl Both<'_> {
    /// Whether the versions differ on these inputs.
    fn differ(&self, kind: &TestKind, answers: &[MadeInput]) -> bool {
        // What earlier calls leave differs by itself.
        let TestKind::Function { earlier, globals, .. } = kind else { return false };
        if !earlier.is_empty() {
            return false;
        }
        let run = |func: FuncId| left(watch_kind(&self.machines, func, kind, answers, Look::default()));
        match run(self.new).zip(run(self.old)) {
            Some((new, old)) => new.differs(&old, globals),
            None => false,
        }
    }

    /// Varies tests until the versions differ. Ways through the old version count as much as those through the new one.
    fn vary(&self, work: &Work<'_>, tests: &[TestCase]) -> Option<TestCase> {
        let some = tests.first()?;
        // What the change touches is the way to what differs. Of the old version nothing is known.
        let nothing = Watch::new(self.machines.module(), IndexMap::default());
        let time = work.plan.request.effort.timeout.map_or(LONGEST, |timeout| (timeout / VARIED).min(LONGEST));
        let varied = |func: FuncId| {
            let variation = Variation {
                machines: &self.machines,
                func,
                watch: if func == self.new { &work.watch } else { &nothing },
                config: &work.config,
                deadline: Deadline::after(time / 2),
                longest: MOST_ELEMENTS,
                patience: PATIENCE,
                seed: work.config.seed,
                still: None,
                first: &[],
            };
            variation.until(tests, &mut |kind, answers| self.differ(kind, answers))
        };
        let (kind, answers) = varied(self.new).or_else(|| varied(self.old))?;
        Some(TestCase { kind, answers, replayed: Replay::NotRun, heap: Heap::Made, ..some.clone() })
    }
}

/// Elements of objects that tests are varied with, at most, and runs that may show nothing new.
const MOST_ELEMENTS: usize = 64;
const PATIENCE: u32 = 20_000;

/// What is said of a test until it ran on the old version.
fn not_replayed(work: &Work<'_>) -> String {
    let name = work.plan.request.old.as_ref().map_or("the older version", |old| &old.name);
    format!("differs from {name}; that was not replayed")
}

/// All that a run leaves.
struct Left {
    end: String,
    expected: Expected,
}

/// What a run leaves; `None` if that can't be compared.
fn left(run: ConcreteRun) -> Option<Left> {
    let end = match run.end {
        End::Returned(_) => "returned".to_string(),
        End::Threw { class, .. } => format!("{class:?}"),
        End::Exited(status) => status.to_string(),
        End::Error { kind, .. } => kind.to_string(),
        End::Hung | End::Assumed | End::Limit(_) | End::Unsupported { .. } => return None,
    };
    let is_volatile = run.requested.iter().any(|input| input.source == InputSource::Volatile);
    let comparable = !run.shows_addresses && !run.guessed && !run.of_one_run && !run.traps && !is_volatile;
    comparable.then_some(Left { end, expected: run.expected })
}

impl Left {
    fn differs(&self, other: &Left, before: &[NamedValue]) -> bool {
        let (one, two) = (&self.expected, &other.expected);
        // What a version neither reads nor writes is not in its list.
        let of = |list: &'_ [NamedValue], name: &str| {
            list.iter().find(|value| value.name == name).map(|it| it.value.clone())
        };
        let value = |expected: &Expected, name: &str| of(&expected.globals, name).or_else(|| of(before, name));
        let differs = |global: &NamedValue| match (value(one, &global.name), value(two, &global.name)) {
            (Some(one), Some(two)) => clash(&one, &two),
            _ => false,
        };
        let results = one.result.as_ref().zip(two.result.as_ref());
        let mut objects = one.objects.iter().zip(&two.objects);
        self.end != other.end
            || results.is_some_and(|(one, two)| clash(one, two))
            || objects.any(|(one, two)| any_clash(one, two))
            || one.output != two.output
            || one.globals.iter().chain(&two.globals).any(differs)
    }
}

/// Whether values differ wherever both are something.
fn clash(one: &DataValue, two: &DataValue) -> bool {
    match (one, two) {
        (DataValue::Undefined, _) | (_, DataValue::Undefined) => false,
        (DataValue::Array(one), DataValue::Array(two)) | (DataValue::Struct(one), DataValue::Struct(two)) => {
            any_clash(one, two)
        }
        (DataValue::Member(one_is, one), DataValue::Member(two_is, two)) => one_is == two_is && clash(one, two),
        _ => one != two,
    }
}

fn any_clash(one: &[DataValue], two: &[DataValue]) -> bool {
    one.len() != two.len() || one.iter().zip(two).any(|(one, two)| clash(one, two))
}

/// Searches with both versions as one function.
fn search(work: &Work<'_>, versions: &Versions<'_>, together: &Together, driver: &Driven) -> Compared {
    let func = work.task.func;
    let goal = Goal::Label { func: driver.func, point: driver.differs, predicate: None };
    let goals: IndexMap<GoalId, Goal> = [goal].into_iter().collect();
    let watch = Rc::new(Watch::new(&together.module, goals));
    let config =
        Config { deadline: Deadline::within(work.plan.request.effort.timeout), oracle: None, ..work.config.clone() };
    let mut found = First { test: None };
    let goals = Goals { watch: Rc::clone(&watch), closed: Vec::new() };
    let explored = explore_goals(&together.module, driver.func, goals, &config, &mut found);
    if let Some(driven) = found.test {
        return differing(work, &driven);
    }
    let goal = touchstone_base::Id::new(0);
    let excluded = explored.excluded.contains(&goal)
        || prove_infeasible(&together.module, driver.func, &watch, &[goal], &config).contains_key(&goal);
    // What is thrown is compared. Where everything was followed, accesses that go wrong were met.
    let effects = [Some(versions.new.of_call(func)), versions.old_of(func).map(|old| versions.old.of_call(old))];
    let met = explored.result.exhaustive && explored.result.paths.error == 0;
    let ends = effects.into_iter().any(|effects| effects.is_none_or(|effects| effects.ends || effects.fails && !met));
    match (excluded, ends) {
        (true, _) if !driver.whole => {
            Compared::unknown("what both return is the same; what objects hold was not compared")
        }
        (true, false) => Compared::equivalent("no input tells them apart, within bounds"),
        (true, true) => Compared::unknown("what both leave is the same; an error may end one of them only"),
        (false, _) => Compared::unknown("the search for an input was not finished"),
    }
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
    let plain = |char: char| if char.is_ascii_alphanumeric() { char } else { '_' };
    let mut test = TestCase { function: name.clone(), description: String::new(), ..driven.clone() };
    // Gets its number with all others.
    test.id = format!("{}_{}", name.chars().map(plain).collect::<String>(), usize::MAX);
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

/// The old version, compiled, for tests of the new one.
pub(crate) struct OldTarget {
    name: String,
    target: Target,
    /// The new version's module, whose files are those of the old one.
    module: Module,
    directory: PathBuf,
}

impl OldTarget {
    pub fn new(plan: &Plan, version: &OldVersion, old: &Program) -> Option<OldTarget> {
        if plan.request.purpose != Purpose::Tests || plan.request.replay == Replaying::Off {
            return None;
        }
        let mut module = plan.program.module.clone();
        for path in module.files.values_mut() {
            if let Some(was) = version.was(path.as_ref()) {
                *path = was.to_string_lossy().into_owned();
            }
        }
        let directory = plan.request.out.join("old");
        let target = match &plan.target {
            Target::C(build) => Target::C(Box::new(Build {
                units: old.units.clone(),
                include_dir: directory.join("include"),
                cc: build.cc.clone(),
                limits: build.limits,
                interrupt: build.interrupt.clone(),
                sandbox: build.sandbox.clone(),
                preprocessed: Preprocessed::default(),
                once: Once::default(),
            })),
            Target::Java(new) => {
                let mut target = old.java.as_ref()?.target(new.limits, keeping(&plan.request));
                target.methods = new.methods.clone();
                target.fields = new.fields.clone();
                Target::Java(Box::new(target))
            }
        };
        Some(OldTarget { name: version.name.clone(), target, module, directory: directory.join("tests") })
    }

    /// Runs tests of the new version on the old one. What that does otherwise stands in the tests then.
    pub fn run(&self, func: FuncId, tests: &mut [TestCase]) -> Result<(), CampaignError> {
        let ran: Vec<usize> = (0..tests.len()).filter(|index| tests[*index].replayed == Replay::Agreed).collect();
        let picked: Vec<TestCase> = ran.iter().map(|index| tests[*index].clone()).collect();
        if picked.is_empty() {
            return Ok(());
        }
        let suite = match self.suite(func, &picked) {
            Err(EmitError::NoUnit { .. } | EmitError::NotIncludable { .. }) => return Ok(()),
            suite => suite?,
        };
        let replayed = self.target.replay(&suite, &self.module, func, &picked, &mut |_| {})?;
        for (index, verdict) in ran.into_iter().zip(replayed.verdicts) {
            match verdict {
                // What did not get to run says nothing.
                Replay::Disagreed(Disagreement::NotReached) => {}
                Replay::Disagreed(why) => tests[index].older = Some(format!("differs from {}: {why}", self.name)),
                Replay::Agreed => tests[index].older = None,
                Replay::NotRun | Replay::NotCheckable(_) => {}
            }
        }
        Ok(())
    }

    fn suite(&self, func: FuncId, tests: &[TestCase]) -> Result<PathBuf, EmitError> {
        match &self.target {
            Target::C(build) => {
                let mut suite = CSuite::create(&self.directory, &self.module, func, build, Form::Touchstone)?;
                tests.iter().try_for_each(|test| suite.add(test, &[]))?;
                suite.finish()?;
                Ok(suite.path().to_path_buf())
            }
            Target::Java(target) => {
                let mut suite = JUnitSuite::create(&self.directory, &self.module, func, target, JUnit::Five)?;
                tests.iter().try_for_each(|test| suite.add(test, &[]))?;
                Ok(suite.path().to_path_buf())
            }
        }
    }
}
