//! Confirmation: an objective counts as covered only if its probe fired in the real program, in a test that passed. For
//! some mutants no probe is possible, because it would read memory that the program does not read; they count if all
//! other probes confirm the path of the test.
//!
//! The suites of a unit run once more, against instrumented copies of the sources. A passing test that does not reach
//! what it should cover took another path than the model predicts, and so did a test that reaches an infeasible
//! objective: both contradict the model, as a disagreement does, and every proof for that function is withdrawn.

use crate::plan::{Plan, Work};
use crate::program::CampaignError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use touchstone_criteria::{CriteriaOptions, Outcome, Replay, Status, TestCase, Unconfirmed, WhyUnknown};
use touchstone_emit::{Build, ProbedProgram, ProbedRun, ProbedSuite, run_with_probes};
use touchstone_instrument::{ProbeObstacle, ProbeStorage, ProbedCopy, ProbingOptions, REPLAY_RUNTIME};

/// The replayed tests of a function.
pub(crate) struct ReplayedSuite<'a, 'p> {
    pub work: &'a mut Work<'p>,
    pub tests: &'a [TestCase],
    /// The first file of its suite.
    pub suite: PathBuf,
    /// The cache key of the replay.
    pub key: Option<u128>,
    /// The first contradiction between the model and the real program.
    pub contradiction: &'a mut Option<String>,
    /// Set to true if something was not confirmed.
    pub changed: &'a mut bool,
}

/// The results of a run with probes, by test.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Observed {
    /// The objectives that each test covers in the real program.
    covered: BTreeMap<String, BTreeSet<String>>,
    /// The objectives with a probe.
    probed: BTreeSet<String>,
    /// The obstacles to probes, by objective.
    unprobed: BTreeMap<String, String>,
    /// The reason why tests are missing.
    obstacle: Option<String>,
}

/// Confirms the coverage of functions, and withdraws what was not confirmed. The candidates of a unit are run together.
/// `keep` gets what was observed of each function.
pub(crate) fn confirm(
    plan: &Plan,
    candidates: Vec<ReplayedSuite<'_, '_>>,
    keep: &(dyn Fn(&ReplayedSuite<'_, '_>, &Observed) + Sync),
) -> Result<(), CampaignError> {
    let Some(build) = plan.target.c() else {
        candidates.into_iter().for_each(|mut candidate| candidate.require_passing_tests());
        return Ok(());
    };
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
                Ok(observed) => {
                    for candidate in candidates {
                        candidate.judge(&observed);
                        if observed.obstacle.is_none() {
                            keep(candidate, &observed.of(candidate));
                        }
                    }
                }
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
        for (_, copy) in &made {
            observed.probed.extend(copy.probed().map(str::to_string));
            let unprobed = copy.unprobed().into_iter();
            observed.unprobed.extend(unprobed.map(|(id, why)| (id.to_string(), why.to_string())));
        }
        if !made.iter().any(|(unit, _)| *unit == tested) {
            return Ok(observed);
        }
        let texts = made.iter().map(|(unit, copy)| (*unit, copy.text.as_str())).collect();
        let program = ProbedProgram { tested, copies: texts, runtime: REPLAY_RUNTIME };
        let suites: Vec<ProbedSuite> = candidates.iter().map(ReplayedSuite::suite_to_run).collect();
        let ProbedRun { hits, obstacle } = run_with_probes(self.build, module, &program, &suites)?;
        for (test, hits) in hits {
            let covered = made.iter().flat_map(|(_, copy)| copy.covered(&hits)).map(str::to_string);
            observed.covered.insert(test, covered.collect());
        }
        observed.obstacle = observed.obstacle.or(obstacle);
        Ok(observed)
    }
}

impl Observed {
    /// Returns the part that concerns one function.
    fn of(&self, candidate: &ReplayedSuite<'_, '_>) -> Observed {
        let ids: BTreeSet<&str> =
            candidate.work.objectives.list.values().map(|objective| objective.id.as_str()).collect();
        let own = |id: &&String| ids.contains(id.as_str());
        let covered = candidate.tests.iter().filter_map(|test| {
            let covered = self.covered.get(&test.id)?.iter().filter(own).cloned().collect();
            Some((test.id.clone(), covered))
        });
        Observed {
            covered: covered.collect(),
            probed: self.probed.iter().filter(own).cloned().collect(),
            unprobed: self
                .unprobed
                .iter()
                .filter(|(id, _)| own(id))
                .map(|(id, why)| (id.clone(), why.clone()))
                .collect(),
            obstacle: self.obstacle.clone(),
        }
    }
}

/// Returns true if a test ran on the real program, and the program did not disagree with it.
fn has_run(test: &TestCase) -> bool {
    matches!(test.replayed, Replay::Agreed | Replay::NotCheckable(_))
}

impl ReplayedSuite<'_, '_> {
    fn suite_to_run(&self) -> ProbedSuite {
        let tests = self.tests.iter().filter(|test| has_run(test)).map(|test| test.id.clone()).collect();
        ProbedSuite { suite: self.suite.clone(), tests }
    }

    /// Withdraws the coverage of tests that did not pass, where no probes are used.
    fn require_passing_tests(&mut self) {
        let passed: BTreeMap<&str, bool> =
            self.tests.iter().map(|test| (test.id.as_str(), test.replayed == Replay::Agreed)).collect();
        for objective in self.work.objectives.list.values_mut() {
            let Status::Covered(by) = &mut objective.status else { continue };
            let all = by.len();
            by.retain(|test| passed.get(test.as_str()).copied().unwrap_or(true));
            *self.changed |= by.len() < all;
            if by.is_empty() && all > 0 {
                objective.status = Status::Unknown(WhyUnknown::Unconfirmed(Unconfirmed::NoTestPassed));
            }
        }
    }

    /// Returns the tests that missed an objective that they should cover.
    fn strayed(&self, observed: &Observed) -> BTreeSet<String> {
        let mut strayed = BTreeSet::new();
        for objective in self.work.objectives.list.values().filter(|one| observed.probed.contains(&one.id)) {
            let Status::Covered(by) = &objective.status else { continue };
            let missed = |test: &&String| observed.covered.get(*test).is_some_and(|all| !all.contains(&objective.id));
            strayed.extend(by.iter().filter(missed).cloned());
        }
        strayed
    }

    /// Withdraws coverage that was not observed, and looks for contradictions.
    pub fn judge(&mut self, observed: &Observed) {
        let tests: BTreeMap<&str, &TestCase> = self.tests.iter().map(|test| (test.id.as_str(), test)).collect();
        let strayed = self.strayed(observed);
        let reaches = |test: &str, id: &str| observed.covered.get(test).is_some_and(|covered| covered.contains(id));
        // An objective without a probe counts if the probes of the others confirm the path of the test.
        let is_on_path = |test: &str, id: &str| {
            let others = observed.covered.get(test).is_some_and(|covered| !covered.is_empty());
            others && !observed.probed.contains(id) && !strayed.contains(test)
        };
        let errors: BTreeSet<&str> =
            self.work.criteria.iter().filter(|one| one.asks_for_errors()).map(|one| one.name()).collect();
        let mut contradiction = None;
        for objective in self.work.objectives.list.values_mut() {
            let id = objective.id.as_str();
            match &objective.status {
                Status::Covered(by) => {
                    let is_error = errors.contains(objective.criterion.as_str());
                    // A measured suite was observed already, and the replay of an error compares its place.
                    let is_seen = |test: &&String| {
                        tests.get(test.as_str()).is_none_or(|case| {
                            let observed = reaches(test, id) || is_on_path(test, id);
                            has_run(case) && (observed || (is_error && is_agreed_error(case)))
                        })
                    };
                    let seen: Vec<String> = by.iter().filter(is_seen).cloned().collect();
                    *self.changed |= seen.len() < by.len();
                    if !seen.is_empty() {
                        objective.status = Status::Covered(seen);
                        continue;
                    }
                    let ran = by.iter().find(|test| has_run(tests[test.as_str()]));
                    let why = match (ran, observed.unprobed.get(id)) {
                        (None, _) => Unconfirmed::NoTestPassed,
                        (_, Some(why)) => Unconfirmed::NoProbe(why.clone()),
                        (Some(test), None) if strayed.contains(test) => {
                            contradiction.get_or_insert(format!("{test} does not reach: {}", objective.text));
                            Unconfirmed::NotReached
                        }
                        _ => Unconfirmed::NotRun(observed.obstacle.clone().unwrap_or_else(|| "no probe fired".into())),
                    };
                    objective.status = Status::Unknown(WhyUnknown::Unconfirmed(why));
                }
                Status::Infeasible(_) => {
                    // After an error, a run may do anything.
                    let passed = |test: &&TestCase| test.replayed == Replay::Agreed && !is_agreed_error(test);
                    if let Some(test) = self.tests.iter().filter(passed).find(|test| reaches(&test.id, id)) {
                        contradiction.get_or_insert(format!("{} reaches: {}", test.id, objective.text));
                    }
                }
                Status::Unknown(_) | Status::Uncovered | Status::Unaffected => {}
            }
        }
        *self.contradiction = self.contradiction.take().or(contradiction);
    }
}

/// Returns true if a test ended in the predicted error.
fn is_agreed_error(test: &TestCase) -> bool {
    test.replayed == Replay::Agreed && matches!(test.outcome, Outcome::Error { .. })
}

/// Returns the contradiction of a test with which the real program disagreed.
pub(crate) fn disagreement(tests: &[TestCase]) -> Option<String> {
    tests.iter().find_map(|test| match &test.replayed {
        Replay::Disagreed(why) => Some(format!("{}: {why}", test.id)),
        _ => None,
    })
}

/// Withdraws the proofs of a function that a run of the real program contradicts.
pub(crate) fn withdraw_proofs(work: &mut Work<'_>, contradiction: &str) {
    for objective in work.objectives.list.values_mut() {
        if matches!(objective.status, Status::Infeasible(_)) {
            objective.status = Status::Unknown(WhyUnknown::Contradicted(contradiction.to_string()));
        }
    }
}
