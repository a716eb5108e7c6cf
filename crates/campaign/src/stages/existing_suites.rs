//! Suites that are there already: what their users edited stays, runs on the program as it is now, and counts.
//!
//! An edited suite in our own form is compiled with probes and replayed: one run says which of its tests still hold and what
//! they cover. What they cover is settled, so only what is missing is searched for. With `--update`, and where a change is tested, suites that nobody edited
//! are replayed, too, before they are written again (`earlier.rs` has the inputs of their tests).
//!
//! Deliberately not here: which files are whose (`touchstone_emit`'s), what a test covers once it is measured (`suite.rs`).

use super::emit::{IN_JUNIT, junit_folder};
use crate::plan::Work;
use crate::program::CampaignError;
use crate::request::{Purpose, Replaying, TestForm};
use crate::reuse::measured_suite::Suite;
use std::collections::BTreeSet;
use std::path::PathBuf;
use touchstone_criteria::{NotCheckable, Outcome, Replay, TestCase};
use touchstone_emit::{
    Build, EmitError, ExistingJUnitClass, ExistingSuite, JavaTarget, Replayed, existing_junit_classes, existing_suites,
    existing_tests, replay_existing_junit_class, suite_test_names,
};
use touchstone_instrument::{CRITERIA_VARIABLE, DIRECTORY_VARIABLE, read_measurements};
use touchstone_report::{KeptSuite, KeptTest, KeptVerdict, changes};

/// What is there for a function before its tests are written.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// What is to be said of it.
    pub suites: Vec<KeptSuite>,
    /// Names of tests that stay, in our own form. In others a test of the same name is the same test.
    pub names: BTreeSet<String>,
    /// What the tests that stay cover.
    pub covers: Vec<Suite>,
}

/// Looks at the suites of a function, and runs those that stay.
pub(crate) fn look(work: &Work<'_>) -> Result<Kept, CampaignError> {
    let request = &work.plan.request;
    let mut kept = Kept::default();
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
    for (form, folder) in FOLDERS.into_iter().filter(|(form, _)| request.emit.contains(form)) {
        for suite in existing_suites(&work.plan.out.path().join(folder), work.name())? {
            if suite.edited && form == TestForm::C {
                kept.names.extend(suite_test_names(&suite.path)?);
            } else if !suite.edited && (!request.runs_first() || form != TestForm::C) {
                continue;
            }
            let said = kept.run(work, &suite, form)?;
            kept.suites.push(said);
        }
    }
    Ok(kept)
}

/// The forms that are C, and the folder of each.
const FOLDERS: [(TestForm, &str); 4] =
    [(TestForm::C, ""), (TestForm::Unity, "unity"), (TestForm::Cmocka, "cmocka"), (TestForm::Gtest, "gtest")];

impl Kept {
    /// What is to be said of it, once it is known where new tests went, and how many of them have inputs of some that were there.
    pub fn said(mut self, new_tests: Option<PathBuf>, used_again: usize) -> Vec<KeptSuite> {
        if let Some(first) = self.suites.iter_mut().find(|suite| !suite.edited) {
            first.used_again = Some(used_again);
        }
        if let (Some(last), Some(file)) = (self.suites.iter_mut().rfind(|suite| suite.edited), new_tests) {
            last.new_tests = Some(file.display().to_string());
        }
        self.suites
    }

    fn run(&mut self, work: &Work<'_>, suite: &ExistingSuite, form: TestForm) -> Result<KeptSuite, CampaignError> {
        let request = &work.plan.request;
        let mut said = KeptSuite {
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
                said.not_run = Some("only tests in the form c are run".to_string());
                return Ok(said);
            }
        };
        if request.replay == Replaying::Off {
            said.not_run = Some("--no-replay".to_string());
            return Ok(said);
        }
        let interrupted = || request.is_interrupted();
        let probing = match suite.edited {
            true => Probing::new(work)?,
            false => None,
        };
        let Some(own) = work.plan.target.c() else { return Ok(said) };
        let build = probing.as_ref().map_or(own, |probing| &probing.build);
        match touchstone_emit::replay(&suite.path, work.module(), build, &tests, &mut |_| {}) {
            _ if interrupted() => said.not_run = Some("interrupted".to_string()),
            Ok(replayed) => said.tests = verdicts(&tests, &replayed),
            Err(error @ (EmitError::Io { .. } | EmitError::NoCompiler { .. })) => return Err(error.into()),
            Err(error) => said.not_run = Some(error.to_string()),
        }
        if let Some(probing) = probing {
            self.covers.extend(probing.covers());
        }
        Ok(said)
    }
}

/// Runs the tests of a method that a class has.
fn run_junit(work: &Work<'_>, class: &ExistingJUnitClass, target: &JavaTarget) -> Result<KeptSuite, CampaignError> {
    let request = &work.plan.request;
    let mut said = KeptSuite {
        file: class.path.display().to_string(),
        function: work.name().to_string(),
        edited: class.edited,
        tests: Vec::new(),
        not_run: (request.replay == Replaying::Off).then(|| "--no-replay".to_string()),
        new_tests: None,
        used_again: None,
    };
    if said.not_run.is_none() {
        let verdicts = replay_existing_junit_class(class, target, work.name())?;
        said.not_run = request.is_interrupted().then(|| "interrupted".to_string());
        if said.not_run.is_none() {
            let test = |(name, replay): (&String, &Replay)| told(name.clone(), replay, false);
            said.tests = class.tests.iter().zip(&verdicts).map(test).collect();
        }
    }
    Ok(said)
}

/// What replayed tests say of the program as it is now.
fn verdicts(tests: &[TestCase], replayed: &Replayed) -> Vec<KeptTest> {
    let verdict = |(test, replay): (&TestCase, &Replay)| {
        told(test.id.clone(), replay, matches!(test.outcome, Outcome::Error { .. }))
    };
    tests.iter().zip(&replayed.verdicts).map(verdict).collect()
}

/// What is said of one test.
fn told(name: String, replay: &Replay, expects_error: bool) -> KeptTest {
    let (verdict, why) = match replay {
        Replay::Agreed => (KeptVerdict::Passes, None),
        Replay::Disagreed(why) => (KeptVerdict::Fails, Some(why.to_string())),
        Replay::NotCheckable(NotCheckable::TestDoesNotCompile(why)) => (KeptVerdict::DoesNotCompile, Some(why.clone())),
        Replay::NotCheckable(why) => (KeptVerdict::NotCheckable, Some(why.to_string())),
        Replay::NotRun => (KeptVerdict::NotRun, None),
    };
    KeptTest {
        name,
        verdict,
        expects_error,
        changes: why.as_deref().filter(|_| verdict == KeptVerdict::Fails).map(changes).unwrap_or_default(),
        why,
    }
}

/// A build whose compiler puts probes into what it compiles, and whose programs leave hits in a directory of ours.
struct Probing {
    build: Build,
    directory: tempfile::TempDir,
}

impl Probing {
    /// `None` if there is nothing to measure, or nobody to do it.
    fn new(work: &Work<'_>) -> Result<Option<Probing>, CampaignError> {
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
        Ok(Some(Probing { build: own.with_compiler_wrapper(&command, &place)?, directory }))
    }

    /// What the tests covered; nothing if nothing could be measured.
    fn covers(&self) -> Option<Suite> {
        read_measurements(&[self.directory.path().to_path_buf()]).ok().map(|measured| Suite::of(&measured))
    }
}
