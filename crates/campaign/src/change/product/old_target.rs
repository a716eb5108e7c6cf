//! The compiled old version: tests of the new version are replayed on it.

use crate::plan::{Plan, keeping};
use crate::program::{CampaignError, Program};
use crate::request::{OldVersion, Purpose, ReplayMode};
use std::path::PathBuf;
use touchstone_criteria::{Disagreement, Replay, TestCase};
use touchstone_emit::{
    Build, CSuite, CTestForm, EmitError, JUnit, JUnitSuite, PreprocessedUnits, SuiteToReplay, Target, UnitObjects,
};
use touchstone_ir::{FuncId, Module};

/// The old version, compiled, for tests of the new one.
pub(crate) struct OldTarget {
    name: String,
    target: Target,
    /// The module of the new version, with the file paths of the old one.
    module: Module,
    directory: PathBuf,
}

impl OldTarget {
    pub fn new(plan: &Plan, version: &OldVersion, old: &Program) -> Option<OldTarget> {
        if plan.request.purpose != Purpose::Tests || plan.request.replay == ReplayMode::Off {
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
                preprocessed: PreprocessedUnits::default(),
                unit_objects: UnitObjects::default(),
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

    /// Replays tests of the new version on the old one, and records differences in them.
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
        let function = &self.module.functions[func].name;
        let suite = SuiteToReplay { suite: &suite, function, tests: &picked };
        let replayed = self.target.replay(&[suite], &self.module, &mut |_, _| {})?;
        let verdicts = replayed.into_iter().flat_map(|replayed| replayed.verdicts);
        for (index, verdict) in ran.into_iter().zip(verdicts) {
            match verdict {
                // A test that did not run says nothing.
                Replay::Disagreed(Disagreement::NotReached) => {}
                Replay::Disagreed(why) => tests[index].older = Some(format!("fails on {}: {why}", self.name)),
                Replay::Agreed => tests[index].older = None,
                Replay::NotRun | Replay::NotCheckable(_) => {}
            }
        }
        Ok(())
    }

    fn suite(&self, func: FuncId, tests: &[TestCase]) -> Result<PathBuf, EmitError> {
        match &self.target {
            Target::C(build) => {
                let mut suite = CSuite::create(&self.directory, &self.module, func, build, CTestForm::Touchstone)?;
                tests.iter().try_for_each(|test| suite.add(test, &[]))?;
                suite.finish()?;
                Ok(suite.path().to_path_buf())
            }
            Target::Java(target) => {
                let mut suite = JUnitSuite::create(&self.directory, &self.module, func, target, JUnit::Five)?;
                tests.iter().try_for_each(|test| suite.add(test, &[]))?;
                suite.finish()?;
                Ok(suite.path().to_path_buf())
            }
        }
    }
}
