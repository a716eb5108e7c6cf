//! Existing suites: those that users edited are kept, run on the current program, and count.
//!
//! An edited suite in the form `c` is compiled with probes and replayed: one run determines which of its tests still
//! pass, and what they cover. Covered objectives are settled, so only missing ones are searched for. With `--update`,
//! and where a change is tested, suites without edits are replayed as well before they are overwritten
//! (`reuse/earlier_tests.rs` has their inputs).
//!
//! Deliberately not here: the ownership of files (`touchstone_emit`'s), and the meaning of measured coverage
//! (`reuse/baseline_suite.rs`).

use super::emit::{IN_JUNIT, junit_folder};
use crate::plan::Work;
use crate::program::CampaignError;
use crate::request::{Purpose, ReplayMode, TestForm};
use crate::reuse::baseline_suite::BaselineSuite;
use std::collections::BTreeSet;
use std::path::PathBuf;
use touchstone_criteria::{NotCheckable, Outcome, Replay, TestCase};
use touchstone_emit::{
    Build, EmitError, ExistingJUnitClass, ExistingSuite, JavaTarget, Replayed, existing_junit_classes, existing_suites,
    existing_tests, replay_existing_junit_class, suite_test_names,
};
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
                kept.suites.push(run_junit(work, &class, target)?);
            }
        }
    }
    if work.plan.target.c().is_none() {
        return Ok(kept);
    }
    for (form, folder) in C_FORMS.into_iter().filter(|(form, _)| request.emit.contains(form)) {
        for suite in existing_suites(&work.plan.out.path().join(folder), work.name())? {
            if suite.edited && form == TestForm::C {
                kept.names.extend(suite_test_names(&suite.path)?);
            } else if !suite.edited && (!request.runs_first() || form != TestForm::C) {
                continue;
            }
            let entry = kept.run(work, &suite, form)?;
            kept.suites.push(entry);
        }
    }
    Ok(kept)
}

/// The test forms in C, with their directories.
const C_FORMS: [(TestForm, &str); 4] =
    [(TestForm::C, ""), (TestForm::Unity, "unity"), (TestForm::Cmocka, "cmocka"), (TestForm::Gtest, "gtest")];

impl ExistingSuites {
    /// Returns the entries of the report, given the file with new tests and the number of tests with reused inputs.
    pub fn report_entries(mut self, new_tests: Option<PathBuf>, used_again: usize) -> Vec<ReportedSuite> {
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
        };
        let tests = match form {
            TestForm::C => existing_tests(&suite.path, work.name())?,
            _ => {
                entry.not_run = Some("only tests in the form c are run".to_string());
                return Ok(entry);
            }
        };
        if request.replay == ReplayMode::Off {
            entry.not_run = Some("--no-replay".to_string());
            return Ok(entry);
        }
        let interrupted = || request.is_interrupted();
        let probed = match suite.edited {
            true => ProbedBuild::new(work)?,
            false => None,
        };
        let Some(own) = work.plan.target.c() else { return Ok(entry) };
        let build = probed.as_ref().map_or(own, |probed| &probed.build);
        match touchstone_emit::replay(&suite.path, work.module(), build, &tests, &mut |_| {}) {
            _ if interrupted() => entry.not_run = Some("interrupted".to_string()),
            Ok(replayed) => entry.tests = verdicts(&tests, &replayed),
            Err(error @ (EmitError::Io { .. } | EmitError::NoCompiler { .. })) => return Err(error.into()),
            Err(error) => entry.not_run = Some(error.to_string()),
        }
        if let Some(probed) = probed {
            self.covers.extend(probed.covers());
        }
        Ok(entry)
    }
}

/// Runs the tests of a method in a JUnit class.
fn run_junit(work: &Work<'_>, class: &ExistingJUnitClass, target: &JavaTarget) -> Result<ReportedSuite, CampaignError> {
    let request = &work.plan.request;
    let mut entry = ReportedSuite {
        file: class.path.display().to_string(),
        function: work.name().to_string(),
        edited: class.edited,
        tests: Vec::new(),
        not_run: (request.replay == ReplayMode::Off).then(|| "--no-replay".to_string()),
        new_tests: None,
        used_again: None,
    };
    if entry.not_run.is_none() {
        let verdicts = replay_existing_junit_class(class, target, work.name())?;
        entry.not_run = request.is_interrupted().then(|| "interrupted".to_string());
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
