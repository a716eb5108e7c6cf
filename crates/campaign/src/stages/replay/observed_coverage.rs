//! Confirmation: an objective counts as covered only if its probe fired in the real program, in a test that passed. For
//! some mutants no probe is possible, because it would read memory that the program does not read; they count if all
//! other probes confirm the path of the test.
//!
//! The suites run once more, against instrumented copies of the sources (`c.rs`) or classes (`java.rs`). If no test reaches an
//! objective that it should cover, its path was another one than the model predicts. A test of any function that reaches
//! an infeasible objective does what the model excludes. Both contradict the model, as a disagreement does, and every
//! proof for that function is withdrawn.

use super::{c, java};
use crate::plan::{Plan, Work};
use crate::program::CampaignError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use touchstone_criteria::{NotCheckable, Outcome, Replay, Status, TestCase, Unconfirmed, WhyUnknown};
use touchstone_emit::Target;

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
    pub(super) covered: BTreeMap<String, BTreeSet<String>>,
    /// The objectives with a probe.
    pub(super) probed: BTreeSet<String>,
    /// The obstacles to probes, by objective.
    pub(super) unprobed: BTreeMap<String, String>,
    /// The reason why tests are missing.
    pub(super) obstacle: Option<String>,
    /// The objectives of other functions that passing tests reach, each with one of the tests.
    #[serde(default)]
    pub(super) elsewhere: BTreeMap<String, String>,
}

/// Confirms the coverage of functions, and withdraws what was not confirmed. The candidates of a unit are run together.
/// `keep` gets what was observed of each function.
pub(crate) fn confirm(
    plan: &Plan,
    candidates: Vec<ReplayedSuite<'_, '_>>,
    keep: &(dyn Fn(&ReplayedSuite<'_, '_>, &Observed) + Sync),
) -> Result<(), CampaignError> {
    let judge = |candidate: &mut ReplayedSuite<'_, '_>, observed: &Observed| {
        let own = observed.of(candidate);
        candidate.judge(&own);
        keep(candidate, &own);
    };
    match &plan.target {
        Target::C(build) => c::observe(plan, build, candidates, &judge),
        Target::Java(target) => java::observe(plan, target, candidates, &judge),
    }
}

impl Observed {
    /// Returns true if all tests ran.
    pub fn is_complete(&self) -> bool {
        self.obstacle.is_none()
    }

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
            elsewhere: self.reached_elsewhere(candidate.tests, &ids),
        }
    }

    fn reached_elsewhere(&self, tests: &[TestCase], own: &BTreeSet<&str>) -> BTreeMap<String, String> {
        let mut reached = BTreeMap::new();
        for test in tests.iter().filter(|test| is_passed(test)) {
            let ids = self.covered.get(&test.id).into_iter().flatten().filter(|id| !own.contains(id.as_str()));
            reached.extend(ids.map(|id| (id.clone(), test.id.clone())));
        }
        reached
    }
}

/// The objectives that tests of other functions reach, each with one of the tests.
#[derive(Default)]
pub(crate) struct ReachedElsewhere(BTreeMap<String, String>);

impl ReachedElsewhere {
    /// Adds what the tests of a function were observed to reach.
    pub fn add(&mut self, observed: &Observed) {
        self.0.extend(observed.elsewhere.iter().map(|(id, test)| (id.clone(), test.clone())));
    }

    /// Returns a contradiction to a proof for a function. Other functions may pass inputs that the user excluded.
    pub fn contradiction(&self, work: &Work<'_>) -> Option<String> {
        let config = &work.task.config;
        let excludes_inputs = config.precondition.is_some() || !config.ranges.is_empty() || !config.lengths.is_empty();
        if excludes_inputs || !config.assume.is_empty() {
            return None;
        }
        let infeasible = work.objectives.list.values().filter(|one| matches!(one.status, Status::Infeasible(_)));
        let mut reached = infeasible.filter_map(|one| Some((self.0.get(&one.id)?, one)));
        reached.next().map(|(test, one)| format!("{test} reaches: {}", one.text))
    }
}

/// Returns true if a test ran on the real program, and the program did not disagree with it.
pub(super) fn has_run(test: &TestCase) -> bool {
    use NotCheckable::{
        NoTestFile, NotLinked, NotWritten, ProgramDoesNotCompile, RunnerGaveUp, TestDoesNotCompile, Timeout,
        UndefinedFunction,
    };
    match &test.replayed {
        Replay::Agreed => true,
        Replay::NotCheckable(why) => !matches!(
            why,
            NoTestFile(_)
                | NotLinked(_)
                | NotWritten(_)
                | ProgramDoesNotCompile(_)
                | RunnerGaveUp(_)
                | TestDoesNotCompile(_)
                | Timeout
                | UndefinedFunction(_)
        ),
        Replay::NotRun | Replay::Disagreed(_) => false,
    }
}

/// Returns true if a test passed, without an error, after which a run may do anything.
fn is_passed(test: &TestCase) -> bool {
    test.replayed == Replay::Agreed && !is_agreed_error(test)
}

impl ReplayedSuite<'_, '_> {
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
        // An objective for which no probe is possible counts if the probes of the others confirm the path of the test.
        let is_on_path = |test: &str, id: &str| {
            let others = observed.covered.get(test).is_some_and(|covered| !covered.is_empty());
            others && observed.unprobed.contains_key(id) && !observed.probed.contains(id) && !strayed.contains(test)
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
                    // Without an obstacle, a test that is missing was not written or did not compile.
                    let is_known = |test: &str| observed.obstacle.is_some() || observed.covered.contains_key(test);
                    let ran = by.iter().find(|test| has_run(tests[test.as_str()]) && is_known(test));
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
                    let passed = self.tests.iter().filter(|test| is_passed(test));
                    if let Some(test) = passed.into_iter().find(|test| reaches(&test.id, id)) {
                        contradiction.get_or_insert(format!("{} reaches: {}", test.id, objective.text));
                    }
                }
                Status::Unknown(_) | Status::Uncovered | Status::Unaffected => {}
            }
        }
        *self.contradiction = self.contradiction.take().or(contradiction);
    }
}

/// Withdraws the coverage of tests that could not be replayed.
pub(crate) fn require_replay(work: &mut Work<'_>, tests: &[TestCase]) {
    let own: BTreeSet<&str> = tests.iter().map(|test| test.id.as_str()).collect();
    for objective in work.objectives.list.values_mut() {
        let Status::Covered(by) = &mut objective.status else { continue };
        by.retain(|test| !own.contains(test.as_str()));
        if by.is_empty() {
            objective.status = Status::Unknown(WhyUnknown::Unconfirmed(Unconfirmed::NoTestPassed));
        }
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
