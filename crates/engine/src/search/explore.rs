//! Exploration of a function: every feasible path or every goal, from an explicit worklist.

use crate::config::Config;
use crate::search::exploration::Exploration;
use crate::search::search_events::Sink;
use crate::search::search_result::{ExplorationResult, Goals, SearchTarget};
use std::sync::Arc;
use touchstone_criteria::{FunctionResult, PathsOf};
use touchstone_ir::{FuncId, Module};

/// Explores `func` and passes one test for every feasible path to `sink`.
pub fn explore(module: &Module, func: FuncId, config: &Config, sink: &mut dyn Sink) -> FunctionResult {
    search(module, func, SearchTarget::Paths, config, sink, 0).result
}

/// Explores `func` until every goal has a test or nothing is left to explore.
pub fn explore_goals(
    module: &Module,
    func: FuncId,
    goals: Goals,
    config: &Config,
    sink: &mut dyn Sink,
) -> ExplorationResult {
    explore_goals_after(module, func, goals, config, sink, 0)
}

/// Like [`explore_goals`], after `tests` were found earlier.
pub fn explore_goals_after(
    module: &Module,
    func: FuncId,
    goals: Goals,
    config: &Config,
    sink: &mut dyn Sink,
    tests: u64,
) -> ExplorationResult {
    search(module, func, SearchTarget::Goals(goals), config, sink, tests)
}

/// Explores `func` again with the longer objects of [`Config::growth`], for goals that are still open, after `tests`
/// were found earlier. It only adds tests and yields no verdicts.
pub fn explore_further(
    module: &Module,
    func: FuncId,
    goals: Goals,
    config: &Config,
    sink: &mut dyn Sink,
    tests: u64,
) -> ExplorationResult {
    run(module, func, SearchTarget::Goals(goals), config, sink, tests).0
}

/// Explores `func` for all its paths and detects goals on the way.
pub fn explore_paths_and_goals(
    module: &Module,
    func: FuncId,
    goals: Goals,
    config: &Config,
    sink: &mut dyn Sink,
) -> ExplorationResult {
    search(module, func, SearchTarget::PathsAndGoals(goals), config, sink, 0)
}

/// Explores, after `tests` of the function were found earlier.
pub(crate) fn search(
    module: &Module,
    func: FuncId,
    wanted: SearchTarget,
    config: &Config,
    sink: &mut dyn Sink,
    tests: u64,
) -> ExplorationResult {
    let watch = wanted.goals().map(|goals| Arc::clone(&goals.watch));
    let (mut found, left_out) = run(module, func, wanted, config, sink, tests);
    if let Some(watch) = watch.filter(|_| found.result.exhaustive) {
        // A goal that an unrestricted environment reaches is not infeasible.
        let found_wider = left_out || config.paths != PathsOf::Any;
        if found_wider && !found.open.is_empty() {
            found.doubted =
                crate::search::environment_check::check_environment(module, func, &watch, &found.open, config);
        }
        found.excluded = found.open.iter().copied().filter(|goal| !found.doubted.contains_key(goal)).collect();
        found.result.doubt(found.doubted.values().flatten());
    }
    found
}

/// Runs one exploration; also returns whether the testable environment excluded anything.
fn run(
    module: &Module,
    func: FuncId,
    wanted: SearchTarget,
    config: &Config,
    sink: &mut dyn Sink,
    tests: u64,
) -> (ExplorationResult, bool) {
    let mut exploration = Exploration::new(module, func, wanted, config, sink);
    exploration.tests = tests;
    exploration.begin();
    exploration.explore_all();
    exploration.finish();
    (exploration.found(), exploration.executor.ledger.excludes_anything())
}
