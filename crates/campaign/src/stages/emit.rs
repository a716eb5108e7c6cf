//! Emission: writes tests to files, through one sink per test form.

use super::sink::{SinkGroup, SinkResult, TestSink, TestSinks};
use crate::plan::Plan;
use crate::plan::Work;
use crate::program::CampaignError;
use crate::request::Notice;
use crate::request::check_file;
use crate::request::{Purpose, TestDestination, TestForm};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use touchstone_criteria::{CoveredObjective, TestCase, objectives_by_test};
use touchstone_emit::{
    CSuite, CTestForm, EmitError, JUnit, JUnitSuite, ProgramFacts, Replayed, TestCompSuite, edited_suite_count,
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
}

impl<'p> TestFiles<'p> {
    pub(crate) fn new(plan: &'p Plan) -> TestFiles<'p> {
        TestFiles { plan, facts: OnceLock::new() }
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
        // Only tests that suites in the form `c` lack are generated, so edited suites of other forms are kept as well.
        let staying = match emits(TestForm::C) {
            true => edited_suite_count(out, &module.functions[func].name)?,
            false => 0,
        };
        for (requested, form, folder) in IN_C.into_iter().filter(|(requested, ..)| emits(*requested)) {
            let Some(target) = plan.target.c() else { continue };
            match CSuite::create_after(&out.join(folder), module, &self.facts(module), func, target, form, staying) {
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
            sinks.push(Box::new(JsonLines::create(out, module, func)?));
        }
        Ok(Box::new(SinkGroup(sinks)))
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
        Ok(SinkResult::Suite(self.0.path().to_path_buf()))
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
        Some(self.suite.path().to_path_buf())
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

/// Writes one JSON object per line, also for tests that cannot be written in C. The file is complete after every test.
struct JsonLines<'m> {
    module: &'m Module,
    path: PathBuf,
    file: File,
}

impl<'m> JsonLines<'m> {
    fn create(out: &Path, module: &'m Module, func: FuncId) -> Result<JsonLines<'m>, CampaignError> {
        let path = out.join(format!("tests_{}.jsonl", module.functions[func].name));
        check_file(&path, "{\"id\":")?;
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
