//! Emission: writes tests to files, through one sink per test form.

use super::sink::{RetainedTestFiles, SinkGroup, SinkResult, TestSink, TestSinks};
use crate::plan::Plan;
use crate::plan::Work;
use crate::program::CampaignError;
use crate::request::Notice;
use crate::request::check_file;
use crate::request::{Purpose, TestDestination, TestForm};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use touchstone_criteria::{CoveredObjective, TestCase, objectives_by_test};
use touchstone_emit::{
    CSuite, CTestForm, EmitError, JUnit, JUnitSuite, ProgramFacts, Replayed, RetainedSuites, SuiteDestination,
    SuitePlace, TestCompSuite, deliver_file, deliver_suite, discard_staged_suites, existing_suites, remove_tests,
    retained_suite_count,
};
use touchstone_ir::{FuncId, Module};
use touchstone_report::{FormSuites, SkippedTest};

/// Writes all tests again, with the objectives that each covers, and without those that don't compile.
pub(crate) fn emit<'s>(
    work: &Work<'s>,
    sinks: &'s dyn TestSinks,
    tests: &[TestCase],
    replayed: &Replayed,
) -> Result<Box<dyn TestSink + 's>, CampaignError> {
    let mut sink = sinks.open(work.module(), work.task.func)?;
    let covered = objectives_by_test(work.objectives.list.values());
    for test in tests {
        let covers = covered.get(test.id.as_str()).map_or(&[][..], Vec::as_slice);
        match replayed.left_out.get(&test.id).filter(|_| replayed.given_up.is_none()) {
            Some(why) => sink.leave_out(test, covers, why)?,
            None if replayed.only_without_assertions.contains(&test.id) => {
                sink.add_without_assertions(test, covers)?;
            }
            None => sink.add(test, covers)?,
        }
    }
    if let Some(why) = &replayed.given_up {
        sink.give_up(why)?;
    }
    Ok(sink)
}

/// The test files of a plan: one sink per requested form.
pub(crate) struct TestFiles<'p> {
    plan: &'p Plan,
    /// Facts about the plan's program, once a suite in C needs them.
    facts: OnceLock<Arc<ProgramFacts>>,
    /// The destination of each suite, by directory and function: it stays the same during a run.
    destinations: Mutex<BTreeMap<(PathBuf, PathBuf), SuiteDestination>>,
    /// The suites without edits that stay, by function.
    retained: Mutex<BTreeMap<String, RetainedTestFiles>>,
}

/// Staged suites that are not delivered belong to interrupted functions, or the run failed.
impl Drop for TestFiles<'_> {
    fn drop(&mut self) {
        let destinations = std::mem::take(self.destinations.get_mut().unwrap_or_else(PoisonError::into_inner));
        let folders: BTreeSet<PathBuf> = destinations.into_keys().map(|(folder, _)| folder).collect();
        for folder in folders {
            let _ = discard_staged_suites(&folder);
        }
    }
}

impl<'p> TestFiles<'p> {
    pub(crate) fn new(plan: &'p Plan) -> TestFiles<'p> {
        // A run that was killed may have left staged suites.
        for (_, _, folder) in IN_C {
            let _ = discard_staged_suites(&plan.out.path().join(folder));
        }
        TestFiles { plan, facts: OnceLock::new(), destinations: Mutex::default(), retained: Mutex::default() }
    }

    /// Returns the destination of a function's suite in a directory: an older suite is replaced at the end.
    fn destination(&self, folder: &Path, function: &str) -> Result<SuiteDestination, CampaignError> {
        self.destination_of(folder, Path::new(function), |_| {
            Ok(existing_suites(folder, function)?.iter().any(|suite| !suite.edited))
        })
    }

    /// Returns the destination of something in a directory, given whether it replaces something older.
    fn destination_of(
        &self,
        folder: &Path,
        what: &Path,
        replaces: impl Fn(&Path) -> Result<bool, CampaignError>,
    ) -> Result<SuiteDestination, CampaignError> {
        let mut known = self.destinations.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (folder.to_path_buf(), what.to_path_buf());
        if let Some(destination) = known.get(&key) {
            return Ok(*destination);
        }
        let destination = if replaces(what)? { SuiteDestination::Staged } else { SuiteDestination::InPlace };
        known.insert(key, destination);
        Ok(destination)
    }

    /// Returns the suites of a function that stay in all directories of C suites.
    fn retained_suites(&self, function: &str) -> Result<RetainedSuites, CampaignError> {
        let retained = self.retained.lock().unwrap_or_else(PoisonError::into_inner);
        let unedited = retained.get(function).into_iter().flat_map(|suites| suites.keys().cloned()).collect();
        let mut suites = RetainedSuites { counterparts: 0, unedited };
        let request = &self.plan.request;
        // Only tests that suites in the form `c` lack are generated, so their counterparts of other forms stay as well.
        if request.purpose == Purpose::Tests && request.emit.contains(&TestForm::C) {
            suites.counterparts = retained_suite_count(self.plan.out.path(), function, &suites)?;
        }
        Ok(suites)
    }

    fn facts(&self, module: &Module) -> Arc<ProgramFacts> {
        let computed = || Arc::new(ProgramFacts::new(module));
        match std::ptr::eq(module, &self.plan.program.module) {
            true => Arc::clone(self.facts.get_or_init(computed)),
            false => computed(),
        }
    }
}

/// The test forms in C, with their directories.
const IN_C: [(TestForm, CTestForm, &str); 4] = [
    (TestForm::C, CTestForm::Touchstone, ""),
    (TestForm::Unity, CTestForm::Unity, "unity"),
    (TestForm::Cmocka, CTestForm::Cmocka, "cmocka"),
    (TestForm::Gtest, CTestForm::Gtest, "gtest"),
];

impl TestSinks for TestFiles<'_> {
    fn open<'s>(&'s self, module: &'s Module, func: FuncId) -> Result<Box<dyn TestSink + 's>, CampaignError> {
        let plan = self.plan;
        let (request, out) = (&plan.request, plan.out.path());
        let emits = |form: TestForm| request.purpose == Purpose::Tests && request.emit.contains(&form);
        let mut sinks: Vec<Box<dyn TestSink + 's>> = Vec::new();
        if let Some(target) = plan.target.java() {
            for (_, junit, folder) in IN_JUNIT.into_iter().filter(|(requested, ..)| emits(*requested)) {
                let suite = JUnitSuite::create(&junit_folder(plan, folder), module, func, target, junit)?;
                sinks.push(Box::new(InJUnit(suite)));
            }
        }
        let function = &module.functions[func].name;
        for (requested, form, folder) in IN_C.into_iter().filter(|(requested, ..)| emits(*requested)) {
            let Some(target) = plan.target.c() else { continue };
            let folder = out.join(folder);
            let (retained, destination) = (self.retained_suites(function)?, self.destination(&folder, function)?);
            let place = SuitePlace { retained, destination, root: Some(out.to_path_buf()) };
            match CSuite::create_in(&folder, module, &self.facts(module), func, target, form, &place) {
                // Tests of this function cannot be written; others may.
                Err(error @ (EmitError::NoUnit { .. } | EmitError::NotIncludable { .. })) => {
                    sinks.push(Box::new(Refusal { why: error.to_string() }));
                }
                suite => sinks.push(Box::new(InC { suite: suite?, form: requested })),
            }
        }
        if let (true, Some(target)) = (emits(TestForm::TestComp), plan.target.c()) {
            let producer = concat!("touchstone ", env!("CARGO_PKG_VERSION"));
            let suite = TestCompSuite::create(out, module, func, target, producer)?;
            sinks.push(Box::new(InTestComp(suite)));
        }
        if emits(TestForm::Json) {
            let path = json_path(out, function);
            let destination = self.destination_of(out, &path, |path| Ok(path.exists()))?;
            sinks.push(Box::new(JsonLines::create(out, &path, module, destination)?));
        }
        Ok(Box::new(SinkGroup(sinks)))
    }

    fn retain(&self, module: &Module, func: FuncId, suites: RetainedTestFiles) {
        let mut retained = self.retained.lock().unwrap_or_else(PoisonError::into_inner);
        retained.insert(module.functions[func].name.clone(), suites);
    }

    fn deliver(&self, module: &Module, func: FuncId) -> Result<(), CampaignError> {
        let (plan, function) = (self.plan, &module.functions[func].name);
        let emits = |form: &TestForm| plan.request.purpose == Purpose::Tests && plan.request.emit.contains(form);
        if let Some(target) = plan.target.java() {
            for (_, junit, folder) in IN_JUNIT.into_iter().filter(|(requested, ..)| emits(requested)) {
                touchstone_emit::deliver_junit_tests(&junit_folder(plan, folder), module, func, target, junit)?;
            }
        }
        let json = json_path(plan.out.path(), function);
        let staged = SuiteDestination::Staged.path_of(&json);
        if emits(&TestForm::Json) && staged.exists() {
            deliver_file(&staged, &json)?;
        }
        if plan.target.c().is_none() {
            return Ok(());
        }
        let failing = self.retained.lock().unwrap_or_else(PoisonError::into_inner).get(function).cloned();
        for (suite, failing) in failing.unwrap_or_default() {
            remove_tests(&suite, &failing)?;
        }
        for (_, _, folder) in IN_C.into_iter().filter(|(requested, ..)| emits(requested)) {
            let folder = plan.out.path().join(folder);
            if self.destination(&folder, function)? == SuiteDestination::Staged {
                deliver_suite(&folder, function, &self.retained_suites(function)?)?;
            }
        }
        Ok(())
    }
}

/// Writes the build files of test frameworks. Foreign files are kept and reported.
pub(crate) fn build_files(plan: &Plan) -> Result<Vec<Notice>, CampaignError> {
    let mut notices = Vec::new();
    if plan.request.purpose != Purpose::Tests {
        return Ok(notices);
    }
    if let Some(target) = plan.target.java() {
        for (_, _, folder) in IN_JUNIT.into_iter().filter(|(requested, ..)| plan.request.emit.contains(requested)) {
            let kept = touchstone_emit::edited_junit_files(&junit_folder(plan, folder), target);
            notices.extend(kept.into_iter().map(|(file, new_tests)| Notice::TestsStay { file, new_tests }));
        }
    }
    for (requested, form, folder) in IN_C.into_iter().filter(|(requested, ..)| plan.request.emit.contains(requested)) {
        if requested == TestForm::C {
            continue;
        }
        let Some(target) = plan.target.c() else { continue };
        let dir = plan.out.path().join(folder);
        let stay = touchstone_emit::write_build_files(&dir, &plan.program.module, target, form)?;
        notices.extend(stay.into_iter().map(|file| Notice::FileStays { file }));
    }
    Ok(notices)
}

/// Returns the directory of a JUnit form: that of the project's tests if its root was given and the request does not
/// say otherwise. It holds one form only.
pub(crate) fn junit_folder(plan: &Plan, folder: &str) -> PathBuf {
    let request = &plan.request;
    let forms = IN_JUNIT.iter().filter(|(form, ..)| request.emit.contains(form)).count();
    let project = plan.program.java.as_ref().and_then(|java| java.project_tests());
    match project.filter(|_| request.tests == TestDestination::Project && (folder.is_empty() || forms == 1)) {
        Some(tests) => tests,
        None => plan.out.path().join(folder),
    }
}

/// The JUnit forms, with their directories.
pub(crate) const IN_JUNIT: [(TestForm, JUnit, &str); 2] =
    [(TestForm::JUnit5, JUnit::Five, ""), (TestForm::JUnit4, JUnit::Four, "junit4")];

/// Writes JUnit classes.
struct InJUnit<'m>(JUnitSuite<'m>);

impl TestSink for InJUnit<'_> {
    fn add(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>]) -> Result<(), CampaignError> {
        Ok(self.0.add(test, covers)?)
    }

    fn leave_out(&mut self, test: &TestCase, _: &[CoveredObjective<'_>], why: &str) -> Result<(), CampaignError> {
        Ok(self.0.leave_out(test, why)?)
    }

    fn add_without_assertions(
        &mut self,
        test: &TestCase,
        covers: &[CoveredObjective<'_>],
    ) -> Result<(), CampaignError> {
        Ok(self.0.add_without_assertions(test, covers)?)
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.0.path().to_path_buf())
    }

    fn finish(&mut self) -> Result<SinkResult, CampaignError> {
        self.0.finish()?;
        Ok(SinkResult::Suite(self.0.written_path().to_path_buf()))
    }
}

/// Writes C files.
struct InC<'m> {
    suite: CSuite<'m>,
    form: TestForm,
}

impl TestSink for InC<'_> {
    fn add(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>]) -> Result<(), CampaignError> {
        Ok(self.suite.add(test, covers)?)
    }

    fn leave_out(&mut self, test: &TestCase, _: &[CoveredObjective<'_>], why: &str) -> Result<(), CampaignError> {
        Ok(self.suite.leave_out(test, why)?)
    }

    fn give_up(&mut self, why: &str) -> Result<(), CampaignError> {
        Ok(self.suite.give_up(why)?)
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.suite.delivered_path())
    }

    fn forms(&self) -> Vec<FormSuites> {
        let (added, skipped) = self.suite.runs();
        let skipped: Vec<SkippedTest> =
            skipped.iter().map(|(test, why)| SkippedTest { test: test.clone(), why: why.clone() }).collect();
        let tests = added.saturating_sub(skipped.len()) as u64;
        vec![FormSuites { form: self.form.word().to_string(), tests, skipped, covered: BTreeMap::new() }]
    }

    fn finish(&mut self) -> Result<SinkResult, CampaignError> {
        self.suite.finish()?;
        Ok(match self.form {
            TestForm::C => SinkResult::Suite(self.suite.path().to_path_buf()),
            _ => SinkResult::Nothing,
        })
    }
}

/// Refuses all tests, because no C file can be written for the function.
struct Refusal {
    why: String,
}

impl TestSink for Refusal {
    fn add(&mut self, _: &TestCase, _: &[CoveredObjective<'_>]) -> Result<(), CampaignError> {
        Ok(())
    }

    fn finish(&mut self) -> Result<SinkResult, CampaignError> {
        Ok(SinkResult::Refused { why: self.why.clone() })
    }
}

/// Writes inputs of a whole program, also for tests that cannot be written in C.
struct InTestComp(TestCompSuite);

impl TestSink for InTestComp {
    fn add(&mut self, test: &TestCase, _: &[CoveredObjective<'_>]) -> Result<(), CampaignError> {
        Ok(self.0.add(test)?)
    }

    fn finish(&mut self) -> Result<SinkResult, CampaignError> {
        self.0.finish()?;
        Ok(SinkResult::Nothing)
    }
}

/// Returns the file with the tests of a function as JSON.
fn json_path(out: &Path, function: &str) -> PathBuf {
    out.join(format!("tests_{function}.jsonl"))
}

/// Writes one JSON object per line, also for tests that cannot be written in C. The file is complete after every test.
struct JsonLines<'m> {
    module: &'m Module,
    path: PathBuf,
    file: File,
}

impl<'m> JsonLines<'m> {
    fn create(
        out: &Path,
        path: &Path,
        module: &'m Module,
        destination: SuiteDestination,
    ) -> Result<JsonLines<'m>, CampaignError> {
        check_file(out, path, "{\"id\":")?;
        let path = destination.path_of(path);
        match File::create(&path) {
            Ok(file) => Ok(JsonLines { module, path, file }),
            Err(source) => Err(CampaignError::NotWritten { path, source }),
        }
    }
}

impl TestSink for JsonLines<'_> {
    fn add(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>]) -> Result<(), CampaignError> {
        let line = touchstone_report::test_json(test, covers, self.module).replace('\n', " ");
        writeln!(self.file, "{line}").map_err(|source| CampaignError::NotWritten { path: self.path.clone(), source })
    }
}
