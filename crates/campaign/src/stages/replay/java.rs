//! Runs JUnit classes once more on the classes under test with probes.

use super::observed_coverage::{Observed, ReplayedSuite};
use crate::java::JavaProgram;
use crate::plan::Plan;
use crate::program::CampaignError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use touchstone_criteria::{CriteriaOptions, GoalCriterion, Replay};
use touchstone_emit::{
    JavaTarget, ProbedClassFiles, ProbedClassPath, ProbedJUnitSuite, ProbedRun, run_junit_with_probes,
};
use touchstone_front_java::CodeLocations;
use touchstone_front_java::classfile::ClassFile;
use touchstone_front_java::path::ClassPath;
use touchstone_instrument::{JavaClass, ReplayWeaver};
use touchstone_ir::{FuncId, Module};

/// The beginning of the names of the classes with hits. Classes of the JDK have access only to packages of the JDK.
const HITS: &str = "touchstone/replay/Hits";
const HITS_IN_JDK: &str = "java/lang/TouchstoneReplayHits";
/// The module of [`HITS_IN_JDK`].
const BASE_MODULE: &str = "java.base";

/// Observes the tests of candidates, and passes each candidate to `judge`.
pub(super) fn observe<'p>(
    plan: &Plan,
    target: &JavaTarget,
    candidates: Vec<ReplayedSuite<'_, 'p>>,
    judge: &(dyn Fn(&mut ReplayedSuite<'_, 'p>, &Observed) + Sync),
) -> Result<(), CampaignError> {
    let Some(java) = &plan.program.java else { return Ok(()) };
    let class_path = match java.class_path() {
        Ok(class_path) => class_path,
        Err(why) => {
            stop(candidates, &why.to_string(), judge);
            return Ok(());
        }
    };
    // Classes of the JDK need a JVM of their own, and other options are other probes.
    let group = |candidate: &ReplayedSuite<'_, 'p>| {
        let task = candidate.work.task;
        let mut classes = task.functions.iter().filter_map(|func| java.located.get(func)).map(|located| &located.class);
        let of_jdk =
            classes.any(|class| class_path.find(class).is_ok_and(|found| found.is_some_and(|found| found.of_jdk)));
        (of_jdk, format!("{:?}", task.criteria))
    };
    let mut groups: BTreeMap<(bool, String), Vec<ReplayedSuite<'_, 'p>>> = BTreeMap::new();
    for candidate in candidates {
        groups.entry(group(&candidate)).or_default().push(candidate);
    }
    for ((of_jdk, _), candidates) in groups {
        match WovenProgram::new(plan, java, &class_path, of_jdk, &candidates) {
            Ok(woven) => woven.observe(plan, target, candidates, judge)?,
            Err(why) => stop(candidates, &why.to_string(), judge),
        }
    }
    Ok(())
}

/// Passes candidates that could not run to `judge`.
fn stop<'p>(
    candidates: Vec<ReplayedSuite<'_, 'p>>,
    why: &str,
    judge: &(dyn Fn(&mut ReplayedSuite<'_, 'p>, &Observed) + Sync),
) {
    let observed = Observed { obstacle: Some(why.to_string()), ..Observed::default() };
    candidates.into_iter().for_each(|mut candidate| judge(&mut candidate, &observed));
}

/// The classes under test with probes.
struct WovenProgram {
    weaver: ReplayWeaver,
    probed: ProbedClassPath,
    /// The obstacles to probes in classes without any, by function.
    obstacles: BTreeMap<FuncId, String>,
    /// The directory with the classes, which is deleted with this value.
    _directory: TempDir,
}

impl WovenProgram {
    /// Weaves the classes of the functions that candidates test.
    fn new(
        plan: &Plan,
        java: &JavaProgram,
        class_path: &ClassPath,
        of_jdk: bool,
        candidates: &[ReplayedSuite<'_, '_>],
    ) -> std::io::Result<WovenProgram> {
        let functions: BTreeSet<FuncId> =
            candidates.iter().flat_map(|candidate| &candidate.work.task.functions).copied().collect();
        let mut classes: BTreeMap<Arc<str>, Vec<(FuncId, CodeLocations)>> = BTreeMap::new();
        for (func, located) in functions.iter().filter_map(|func| Some((func, java.located.get(func)?))) {
            classes.entry(located.class.clone()).or_default().push((*func, located.clone()));
        }
        let criteria = plan.request.labellings();
        let options = candidates.first().map(|candidate| candidate.work.task.criteria.clone()).unwrap_or_default();
        let hits = if of_jdk { HITS_IN_JDK } else { HITS };
        let directory = tempfile::tempdir()?;
        let mut weaver = ReplayWeaver::new(hits, &criteria);
        let (mut obstacles, mut modules) = (BTreeMap::new(), BTreeSet::from([BASE_MODULE.to_string()]));
        let folder = |module: &str| if of_jdk { directory.path().join(module) } else { directory.path().to_path_buf() };
        for (name, methods) in &classes {
            let woven = weave(
                &mut weaver,
                &ClassToWeave { plan, class_path, name, methods, criteria: &criteria, options: &options },
            );
            match woven {
                Ok(bytes) => {
                    let module = class_path.image().module_of_class(name).unwrap_or_default();
                    write(&folder(&module), &format!("{name}.class"), &bytes)?;
                    modules.insert(module);
                }
                Err(why) => obstacles.extend(methods.iter().map(|(func, _)| (*func, why.clone()))),
            }
        }
        for (file, bytes) in weaver.helpers() {
            write(&folder(BASE_MODULE), &file, &bytes)?;
        }
        let classes = match of_jdk {
            true => ProbedClassFiles::Modules(modules.into_iter().map(|name| (name.clone(), folder(&name))).collect()),
            false => ProbedClassFiles::Directory(directory.path().to_path_buf()),
        };
        let probed = ProbedClassPath { hits: hits.replace('/', "."), classes };
        Ok(WovenProgram { weaver, probed, obstacles, _directory: directory })
    }

    /// Runs the tests of candidates, and passes each candidate to `judge`.
    fn observe<'p>(
        &self,
        plan: &Plan,
        target: &JavaTarget,
        mut candidates: Vec<ReplayedSuite<'_, 'p>>,
        judge: &(dyn Fn(&mut ReplayedSuite<'_, 'p>, &Observed) + Sync),
    ) -> Result<(), CampaignError> {
        let mut observed = Observed {
            probed: self.weaver.probed().map(str::to_string).collect(),
            unprobed: self.weaver.unprobed().map(|(id, why)| (id.to_string(), why.to_string())).collect(),
            ..Observed::default()
        };
        let suites: Vec<ProbedJUnitSuite<'_>> =
            candidates.iter().map(|candidate| suite_to_run(&plan.program.module, candidate)).collect();
        let is_interrupted = || plan.request.is_interrupted();
        let runs = run_junit_with_probes(target, &self.probed, &suites, &is_interrupted)?;
        for (candidate, ProbedRun { hits, obstacle }) in candidates.iter_mut().zip(runs) {
            let covered = |hits| self.weaver.covered(hits).into_iter().map(str::to_string).collect();
            observed.covered = hits.iter().map(|(test, hits)| (test.clone(), covered(hits))).collect();
            observed.obstacle = obstacle;
            let why = candidate.work.task.functions.iter().find_map(|func| self.obstacles.get(func));
            let why = why.map_or("its class has no probes", String::as_str);
            for objective in candidate.work.objectives.list.values() {
                if !observed.probed.contains(&objective.id) {
                    observed.unprobed.entry(objective.id.clone()).or_insert_with(|| why.to_string());
                }
            }
            judge(candidate, &observed);
        }
        Ok(())
    }
}

/// Returns the tests of a candidate that passed without probes.
fn suite_to_run<'a>(module: &'a Module, candidate: &ReplayedSuite<'a, '_>) -> ProbedJUnitSuite<'a> {
    ProbedJUnitSuite {
        suite: candidate.suite.clone(),
        function: &module.functions[candidate.work.task.func].name,
        tests: candidate.tests.iter().filter(|test| test.replayed == Replay::Agreed).collect(),
    }
}

/// A class under test.
struct ClassToWeave<'a> {
    plan: &'a Plan,
    class_path: &'a ClassPath,
    name: &'a str,
    /// The methods under test.
    methods: &'a [(FuncId, CodeLocations)],
    criteria: &'a [&'static dyn GoalCriterion],
    options: &'a CriteriaOptions,
}

/// Weaves a class, or returns the obstacle.
fn weave(weaver: &mut ReplayWeaver, of: &ClassToWeave<'_>) -> Result<Vec<u8>, String> {
    let found = of.class_path.find(of.name).map_err(|error| error.to_string())?;
    let found = found.ok_or_else(|| "its class is not on the class path".to_string())?;
    let class = ClassFile::read(&found.bytes).map_err(|error| error.to_string())?;
    let class = JavaClass {
        unit: 0,
        bytes: &found.bytes,
        class: &class,
        plan: None,
        file: found.origin.clone(),
        module: &of.plan.program.module,
        methods: of.methods,
        criteria: of.criteria,
        options: of.options,
        from_bytecode: None,
    };
    weaver.add(&class).map_err(|obstacle| obstacle.to_string())
}

/// Writes a class file below a directory.
fn write(directory: &Path, file: &str, bytes: &[u8]) -> std::io::Result<()> {
    let path = directory.join(file);
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, bytes)
}
