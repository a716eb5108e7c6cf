//! Existing suites: those that users edited are kept, run on the current program, and count.
//!
//! An edited suite in the form `c` is compiled with probes and replayed: one run determines which of its tests still
//! pass, and what they cover. Covered objectives are settled, so only missing ones are searched for. With `--update`,
//! and where a change is tested, suites without edits are replayed as well before they are overwritten
//! (`reuse/earlier_tests.rs` has their inputs).
//!
//! Tests of suites without edits that pass stay as well, unless the request prunes them: those whose inputs the document
//! of the earlier run has become tests of this run, and a suite with other passing tests stays as a file. JUnit tests
//! stay as text.
//!
//! Deliberately not here: the ownership of files (`touchstone_emit`'s), and the meaning of measured coverage
//! (`reuse/baseline_suite.rs`).

use super::emit::{IN_JUNIT, junit_folder};
use super::sink::RetainedTestFiles;
use crate::plan::Work;
use crate::program::CampaignError;
use crate::request::{Purpose, ReplayMode, TestForm, UnneededTests};
use crate::reuse::baseline_suite::BaselineSuite;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_criteria::{NotCheckable, Outcome, Replay, TestCase};
use touchstone_emit::{
    Build, EmitError, ExistingJUnitClass, ExistingSuite, JavaTarget, Replayed, existing_junit_classes, existing_suites,
    existing_tests, replay_existing_junit_class, replayable_unity_suite, retain_junit_tests, suite_test_names,
};
use touchstone_engine::{MachineTemplates, MutationSearch};
use touchstone_instrument::{CRITERIA_VARIABLE, DIRECTORY_VARIABLE, read_measurements};
use touchstone_report::{ReportedSuite, ReportedTest, ReportedVerdict, failed_expectations};

/// The existing suites of a function.
#[derive(Debug, Default)]
pub(crate) struct ExistingSuites {
    /// The suites, as the report shows them.
    pub suites: Vec<ReportedSuite>,
    /// The names of kept tests in the form `c`. In other forms, a test of the same name is the same test.
    pub names: BTreeSet<String>,
    /// The coverage of kept tests.
    pub covers: Vec<BaselineSuite>,
    /// The passing tests of suites without edits, as tests of the current program.
    pub passing: Vec<TestCase>,
    /// The suites without edits that stay as files.
    pub retained: RetainedTestFiles,
}

/// Finds the suites of a function, and runs those that are kept.
pub(crate) fn find_and_run(work: &Work<'_>) -> Result<ExistingSuites, CampaignError> {
    let request = &work.plan.request;
    let mut kept = ExistingSuites::default();
    if request.purpose != Purpose::Tests {
        return Ok(kept);
    }
    if let Some(target) = work.plan.target.java().filter(|_| request.runs_first()) {
        for (_, _, folder) in IN_JUNIT.into_iter().filter(|(form, ..)| request.emit.contains(form)) {
            for class in existing_junit_classes(&junit_folder(work.plan, folder), target, work.name()) {
                let entry = run_junit(work, &class, target)?;
                if request.keeps_passing_tests() && !class.edited {
                    let tests = tests_that_stay(&entry, &class.tests);
                    retain_junit_tests(&class, target, work.name(), &tests);
                }
                kept.suites.push(entry);
            }
        }
    }
    if work.plan.target.c().is_none() {
        return Ok(kept);
    }
    for (form, folder) in C_FORMS.into_iter().filter(|(form, _)| request.emit.contains(form)) {
        for suite in existing_suites(&work.plan.out.path().join(folder), work.name())? {
            // Beside tests in the form `c`, those for frameworks are copies of the same tests.
            let is_copy = form != TestForm::C && request.emit.contains(&TestForm::C);
            if suite.edited && !is_copy {
                kept.names.extend(suite_test_names(&suite.path)?);
            } else if !suite.edited && (is_copy || !request.runs_first()) {
                continue;
            }
            let entry = kept.run(work, &suite, form)?;
            if request.keeps_passing_tests() && !suite.edited {
                kept.keep_passing_tests(work, &suite, &entry)?;
            }
            kept.suites.push(entry);
        }
    }
    Ok(kept)
}

/// The test forms in C, with their directories.
const C_FORMS: [(TestForm, &str); 4] =
    [(TestForm::C, ""), (TestForm::Unity, "unity"), (TestForm::Cmocka, "cmocka"), (TestForm::Gtest, "gtest")];

impl ExistingSuites {
    /// Keeps the passing tests of a suite without edits in the form `c`. Tests that were not run may pass.
    fn keep_passing_tests(
        &mut self,
        work: &Work<'_>,
        suite: &ExistingSuite,
        entry: &ReportedSuite,
    ) -> Result<(), CampaignError> {
        let names = suite_test_names(&suite.path)?;
        let staying = tests_that_stay(entry, &names);
        let machines = MachineTemplates::of(work.module());
        let again = MutationSearch {
            machines: &machines,
            func: work.task.func,
            watch: &work.watch,
            config: &work.config,
            deadline: work.config.deadline,
            longest: 0,
            patience: 0,
            seed: work.config.options.seed,
            still: None,
            first: &[],
        };
        let test = |name: &String| {
            let inputs = work.plan.earlier.inputs_of(work.module(), work.task.func, name)?;
            Some(TestCase { id: name.clone(), ..again.test_of(&inputs)? })
        };
        match staying.iter().map(test).collect::<Option<Vec<TestCase>>>() {
            Some(tests) => self.passing.extend(tests),
            None => {
                if let Some(probed) = ProbedBuild::new(work)? {
                    let tests = existing_tests(&suite.path, work.name())?;
                    let tests: Vec<TestCase> = tests.into_iter().filter(|test| staying.contains(&test.id)).collect();
                    if work.plan.request.replay != ReplayMode::Off {
                        match touchstone_emit::replay(&suite.path, work.module(), &probed.build, &tests, &mut |_| {}) {
                            Err(EmitError::NoSandbox) => {}
                            replayed => {
                                replayed?;
                                self.covers.extend(probed.covers());
                            }
                        }
                    }
                }
                let failing = names.into_iter().filter(|name| !staying.contains(name)).collect();
                self.names.extend(staying);
                self.retained.insert(suite.path.clone(), failing);
            }
        }
        Ok(())
    }

    /// Returns the entries of the report, given the file with new tests, the names of the new tests, and the number of
    /// tests with reused inputs.
    pub fn report_entries(
        mut self,
        new_tests: Option<PathBuf>,
        names: &BTreeSet<&str>,
        pruned: UnneededTests,
        used_again: usize,
    ) -> Vec<ReportedSuite> {
        for suite in self.suites.iter_mut().filter(|suite| !suite.edited) {
            suite.kept = self.retained.contains_key(Path::new(&suite.file));
            let is_pruned = |test: &&ReportedTest| {
                test.verdict == ReportedVerdict::Passes && !names.iter().any(|name| is_same_test(&test.name, name))
            };
            if pruned == UnneededTests::Pruned {
                suite.pruned = suite.tests.iter().filter(is_pruned).map(|test| test.name.clone()).collect();
            }
        }
        if let Some(first) = self.suites.iter_mut().find(|suite| !suite.edited) {
            first.used_again = Some(used_again);
        }
        if let (Some(last), Some(file)) = (self.suites.iter_mut().rfind(|suite| suite.edited), new_tests) {
            last.new_tests = Some(file.display().to_string());
        }
        self.suites
    }

    fn run(&mut self, work: &Work<'_>, suite: &ExistingSuite, form: TestForm) -> Result<ReportedSuite, CampaignError> {
        let request = &work.plan.request;
        let mut entry = ReportedSuite {
            file: suite.path.display().to_string(),
            function: work.name().to_string(),
            edited: suite.edited,
            tests: Vec::new(),
            not_run: None,
            new_tests: None,
            used_again: None,
            kept: false,
            pruned: Vec::new(),
        };
        let copy = match form {
            TestForm::C => None,
            TestForm::Unity => Some(replayable_unity_suite(&suite.path)?),
            _ => {
                entry.not_run = Some(OTHER_FRAMEWORK.to_string());
                return Ok(entry);
            }
        };
        let path = copy.as_ref().map_or(suite.path.as_path(), |copy| copy.path());
        let tests = existing_tests(path, work.name())?;
        if request.replay == ReplayMode::Off {
            entry.not_run = Some(NO_REPLAY.to_string());
            return Ok(entry);
        }
        let interrupted = || request.is_interrupted();
        // Beside tests in the form `c`, those for frameworks are copies of the same tests: they cover nothing else.
        let counts = suite.edited && (form == TestForm::C || !request.emit.contains(&TestForm::C));
        let probed = if counts { ProbedBuild::new(work)? } else { None };
        let Some(own) = work.plan.target.c() else { return Ok(entry) };
        let build = probed.as_ref().map_or(own, |probed| &probed.build);
        match touchstone_emit::replay(path, work.module(), build, &tests, &mut |_| {}) {
            _ if interrupted() => entry.not_run = Some(INTERRUPTED.to_string()),
            Ok(replayed) => entry.tests = verdicts(&tests, &replayed),
            Err(error @ (EmitError::Io { .. } | EmitError::NoCompiler { .. })) => return Err(error.into()),
            Err(EmitError::NoSandbox) => entry.not_run = Some(NO_SANDBOX.to_string()),
            Err(error) => entry.not_run = Some(error.to_string()),
        }
        if let Some(probed) = probed {
            self.covers.extend(probed.covers());
        }
        Ok(entry)
    }
}

/// Returns the tests of a suite that may pass: all but those that were seen to fail.
fn tests_that_stay(entry: &ReportedSuite, names: &[String]) -> BTreeSet<String> {
    let is_broken =
        |test: &&ReportedTest| matches!(test.verdict, ReportedVerdict::Fails | ReportedVerdict::DoesNotCompile);
    let broken: BTreeSet<&str> = entry.tests.iter().filter(is_broken).map(|test| test.name.as_str()).collect();
    match entry.not_run.as_deref() {
        // No test of the suite compiles.
        Some(why)
            if ![NO_REPLAY, INTERRUPTED, NO_SANDBOX, OTHER_FRAMEWORK].contains(&why) && entry.tests.is_empty() =>
        {
            BTreeSet::new()
        }
        _ => names.iter().filter(|name| !broken.contains(name.as_str())).cloned().collect(),
    }
}

/// The reasons for which existing tests are not run.
const NO_REPLAY: &str = "--no-replay";
const INTERRUPTED: &str = "interrupted";
const NO_SANDBOX: &str = "no sandbox works on this machine; --unsafe-replay runs tests without one";
const OTHER_FRAMEWORK: &str = "only tests in the forms c and unity are run";

/// Returns true if an existing test, by its name in the suite, is the test with this id. The name of a JUnit method has
/// the number of the id, and may name an exception behind it.
pub(crate) fn is_same_test(name: &str, id: &str) -> bool {
    let method = name.split_once("_throws_").map_or(name, |(method, _)| method);
    let number = |text: &str| text.rsplit_once('_').map(|(_, number)| number.to_string());
    name == id || (id.contains('.') && number(method) == number(id))
}

/// Runs the tests of a method in a JUnit class.
fn run_junit(work: &Work<'_>, class: &ExistingJUnitClass, target: &JavaTarget) -> Result<ReportedSuite, CampaignError> {
    let request = &work.plan.request;
    let mut entry = ReportedSuite {
        file: class.path.display().to_string(),
        function: work.name().to_string(),
        edited: class.edited,
        tests: Vec::new(),
        not_run: (request.replay == ReplayMode::Off).then(|| NO_REPLAY.to_string()),
        new_tests: None,
        used_again: None,
        kept: false,
        pruned: Vec::new(),
    };
    if entry.not_run.is_none() {
        let verdicts = match replay_existing_junit_class(class, target, work.name()) {
            Err(EmitError::NoSandbox) => {
                entry.not_run = Some(NO_SANDBOX.to_string());
                return Ok(entry);
            }
            verdicts => verdicts?,
        };
        entry.not_run = request.is_interrupted().then(|| INTERRUPTED.to_string());
        if entry.not_run.is_none() {
            let test = |(name, replay): (&String, &Replay)| kept_test(name.clone(), replay, false);
            entry.tests = class.tests.iter().zip(&verdicts).map(test).collect();
        }
    }
    Ok(entry)
}

/// Returns the results of replayed tests on the current program.
fn verdicts(tests: &[TestCase], replayed: &Replayed) -> Vec<ReportedTest> {
    let verdict = |(test, replay): (&TestCase, &Replay)| {
        kept_test(test.id.clone(), replay, matches!(test.outcome, Outcome::Error { .. }))
    };
    tests.iter().zip(&replayed.verdicts).map(verdict).collect()
}

/// Returns the report entry of one test.
fn kept_test(name: String, replay: &Replay, expects_error: bool) -> ReportedTest {
    let (verdict, why) = match replay {
        Replay::Agreed => (ReportedVerdict::Passes, None),
        Replay::Disagreed(why) => (ReportedVerdict::Fails, Some(why.to_string())),
        Replay::NotCheckable(NotCheckable::TestDoesNotCompile(why)) => {
            (ReportedVerdict::DoesNotCompile, Some(why.clone()))
        }
        Replay::NotCheckable(why) => (ReportedVerdict::NotCheckable, Some(why.to_string())),
        Replay::NotRun => (ReportedVerdict::NotRun, None),
    };
    ReportedTest {
        name,
        verdict,
        expects_error,
        changes: why
            .as_deref()
            .filter(|_| verdict == ReportedVerdict::Fails)
            .map(failed_expectations)
            .unwrap_or_default(),
        why,
    }
}

/// A build with a compiler wrapper that inserts probes; its programs write hits to a temporary directory.
struct ProbedBuild {
    build: Build,
    directory: tempfile::TempDir,
}

impl ProbedBuild {
    /// Creates the build, or returns `None` if there is nothing to measure, or no executable to do it.
    fn new(work: &Work<'_>) -> Result<Option<ProbedBuild>, CampaignError> {
        let request = &work.plan.request;
        let (Some(tool), false) = (&request.tool, work.criteria.is_empty()) else { return Ok(None) };
        let Some(own) = work.plan.target.c() else { return Ok(None) };
        let failed = |source| CampaignError::NotWritten { path: work.plan.out.path().to_path_buf(), source };
        let directory = tempfile::tempdir().map_err(failed)?;
        let place = directory.path().canonicalize().map_err(failed)?;
        let criteria: Vec<&str> = work.criteria.iter().map(|criterion| criterion.name()).collect();
        let command = [
            "env".to_string(),
            format!("{DIRECTORY_VARIABLE}={}", place.display()),
            format!("{CRITERIA_VARIABLE}={}", criteria.join(",")),
            tool.display().to_string(),
            "cc".to_string(),
        ];
        Ok(Some(ProbedBuild { build: own.with_compiler_wrapper(&command, &place)?, directory }))
    }

    /// Returns the coverage of the tests, or `None` if it could not be measured.
    fn covers(&self) -> Option<BaselineSuite> {
        read_measurements(&[self.directory.path().to_path_buf()]).ok().map(|measured| BaselineSuite::of(&measured))
    }
}
