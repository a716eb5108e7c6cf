//! Runs the suites of C units once more against instrumented copies of their sources.

use super::observed_coverage::{Observed, ReplayedSuite, has_run};
use crate::plan::Plan;
use crate::program::CampaignError;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use touchstone_criteria::CriteriaOptions;
use touchstone_emit::{Build, ProbedProgram, ProbedRun, ProbedSuite, run_with_probes};
use touchstone_instrument::{ProbeObstacle, ProbeStorage, ProbedCopy, ProbingOptions, REPLAY_RUNTIME};
use touchstone_ir::Module;

/// Observes the tests of candidates, those of a unit together, and passes each candidate to `judge`.
pub(super) fn observe<'p>(
    plan: &Plan,
    build: &Build,
    candidates: Vec<ReplayedSuite<'_, 'p>>,
    judge: &(dyn Fn(&mut ReplayedSuite<'_, 'p>, &Observed) + Sync),
) -> Result<(), CampaignError> {
    let module = &plan.program.module;
    let mut groups: BTreeMap<(Option<usize>, String), Vec<ReplayedSuite<'_, '_>>> = BTreeMap::new();
    for candidate in candidates {
        let task = candidate.work.task;
        let unit = build.unit_with(module, &module.functions[task.func]);
        groups.entry((unit, format!("{:?}", task.criteria))).or_default().push(candidate);
    }
    let groups: Vec<Mutex<(Option<usize>, Vec<ReplayedSuite<'_, '_>>)>> =
        groups.into_iter().map(|((unit, _), group)| Mutex::new((unit, group))).collect();
    let copies = Copies { plan, build, known: Mutex::default() };
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || {
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut group = group.lock().expect("invariant: no worker panics with the lock");
            let (unit, candidates) = &mut *group;
            match copies.observe(*unit, candidates) {
                Ok(observed) => candidates.iter_mut().for_each(|candidate| judge(candidate, &observed)),
                Err(error) => *failed.lock().expect("invariant: no worker panics with the lock") = Some(error),
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|scope| {
        let others = (1..cores.min(groups.len())).filter_map(|_| touchstone_base::spawn_deep(scope, work)).count();
        // This thread takes over work for which no other could be started.
        debug_assert!(others < cores);
        work();
    });
    failed.into_inner().expect("invariant: no worker panics with the lock").map_or(Ok(()), Err)
}

/// An instrumented copy of a unit, or the obstacle to it.
type UnitCopy = Arc<Result<ProbedCopy, ProbeObstacle>>;

/// The instrumented copies of a program's units.
struct Copies<'p> {
    plan: &'p Plan,
    build: &'p Build,
    /// The copies so far, by unit and criteria options.
    known: Mutex<BTreeMap<(usize, String), UnitCopy>>,
}

impl Copies<'_> {
    /// Returns the copy of a unit, and instruments the unit if that was not done.
    fn of(&self, unit: usize, options: &CriteriaOptions) -> UnitCopy {
        let key = (unit, format!("{options:?}"));
        let known = self.known.lock().expect("invariant: no worker panics with the lock").get(&key).cloned();
        known.unwrap_or_else(|| {
            let made = Arc::new(self.instrument(unit, options));
            let mut known = self.known.lock().expect("invariant: no worker panics with the lock");
            known.entry(key).or_insert(made).clone()
        })
    }

    fn instrument(&self, unit: usize, options: &CriteriaOptions) -> Result<ProbedCopy, ProbeObstacle> {
        let scratch = tempfile::tempdir().map_err(|error| ProbeObstacle::System(error.to_string()))?;
        let criteria = self.plan.request.labellings();
        let probing = ProbingOptions {
            directory: scratch.path().to_path_buf(),
            cache: None,
            criteria: &criteria,
            options: options.clone(),
            include_dir: Some(self.build.include_dir.clone()),
            state: false,
            suggest: false,
            path: None,
            keeps: ProbeStorage::Hits,
        };
        let source = &self.build.units[unit];
        let mut flags = source.flags.clone();
        flags.extend(["-I".to_string(), self.build.include_dir.display().to_string()]);
        ProbedCopy::new(&self.build.cc, &flags, &source.path.display().to_string(), &probing)
    }

    /// Runs the tests of all functions of a unit with probes.
    fn observe(&self, unit: Option<usize>, candidates: &[ReplayedSuite<'_, '_>]) -> Result<Observed, CampaignError> {
        let (module, mut observed) = (&self.plan.program.module, Observed::default());
        let Some((tested, first)) = unit.zip(candidates.first()) else { return Ok(observed) };
        let functions = candidates.iter().flat_map(|candidate| &candidate.work.task.functions);
        let mut units: BTreeSet<usize> =
            functions.filter_map(|func| self.build.unit_with(module, &module.functions[*func])).collect();
        units.insert(tested);
        let mut copies = Vec::new();
        for unit in units {
            let copy = self.of(unit, &first.work.task.criteria);
            match copy.as_ref() {
                Ok(_) => copies.push((unit, copy)),
                Err(why) => drop(observed.obstacle.get_or_insert_with(|| why.to_string())),
            }
        }
        let made: Vec<(usize, &ProbedCopy)> =
            copies.iter().filter_map(|(unit, copy)| Some((*unit, copy.as_ref().as_ref().ok()?))).collect();
        let names: Vec<UnitNames<'_>> =
            made.iter().map(|(unit, _)| UnitNames::new(module, self.build, *unit)).collect();
        for ((_, copy), names) in made.iter().zip(&names) {
            observed.probed.extend(copy.probed().filter_map(|id| names.in_module(id)));
            let unprobed = copy.unprobed();
            observed.unprobed.extend(unprobed.filter_map(|(id, why)| Some((names.in_module(id)?, why.to_string()))));
        }
        if !made.iter().any(|(unit, _)| *unit == tested) {
            return Ok(observed);
        }
        let texts = made.iter().map(|(unit, copy)| (*unit, copy.text.as_str())).collect();
        let program = ProbedProgram { tested, copies: texts, runtime: REPLAY_RUNTIME };
        let suites: Vec<ProbedSuite> = candidates.iter().map(suite_to_run).collect();
        let ProbedRun { hits, obstacle } = run_with_probes(self.build, module, &program, &suites)?;
        for (test, hits) in hits {
            let covered = made.iter().zip(&names).flat_map(|((_, copy), names)| {
                copy.covered(&hits).into_iter().filter_map(|id| names.in_module(id)).collect::<Vec<String>>()
            });
            observed.covered.insert(test, covered.collect());
        }
        observed.obstacle = observed.obstacle.or(obstacle);
        Ok(observed)
    }
}

/// The names in the module of the functions of a unit. Private functions of several units may have the same name in the
/// source; the module has `count`, `count@b.c` and `count$2`.
struct UnitNames<'m> {
    /// The function of the unit, for each name in the source that several functions have; `None` if it is not one of them.
    functions: BTreeMap<&'m str, Option<&'m str>>,
}

impl<'m> UnitNames<'m> {
    fn new(module: &'m Module, build: &Build, unit: usize) -> UnitNames<'m> {
        let names = module.functions.values().filter(|function| function.is_defined()).map(|function| &function.name);
        let qualified: BTreeSet<&str> = names.filter_map(|name| Some(name.split_once(['@', '$'])?.0)).collect();
        let mut own: BTreeMap<&str, Vec<&str>> = qualified.into_iter().map(|name| (name, Vec::new())).collect();
        for function in module.functions.values().filter(|function| function.is_defined()) {
            let name = function.name.as_str();
            let source = name.split(['@', '$']).next().unwrap_or(name);
            if let Some(candidates) = own.get_mut(source)
                && build.unit_with(module, function) == Some(unit)
            {
                candidates.push(name);
            }
        }
        let single = |names: Vec<&'m str>| if let [name] = names.as_slice() { Some(*name) } else { None };
        UnitNames { functions: own.into_iter().map(|(source, names)| (source, single(names))).collect() }
    }

    /// Returns the id in the module of an objective of the unit.
    fn in_module(&self, id: &str) -> Option<String> {
        let (function, rest) = id.split_once('.')?;
        match self.functions.get(function) {
            Some(name) => name.map(|name| format!("{name}.{rest}")),
            None => Some(id.to_string()),
        }
    }
}

fn suite_to_run(candidate: &ReplayedSuite<'_, '_>) -> ProbedSuite {
    let tests = candidate.tests.iter().filter(|test| has_run(test)).map(|test| test.id.clone()).collect();
    ProbedSuite { suite: candidate.suite.clone(), tests }
}
