//! Prefixes: a state as the list of choices from the entry. For every example, a search is cut at random and continues
//! from the prefixes of its frontier, each in an executor of its own. It finds exactly what an uncut search finds, and so
//! does a search in rounds.

use crate::support::lowering::lower_once;
use crate::support::{examples, long};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use touchstone_base::Cores;
use touchstone_criteria::{CriteriaOptions, GoalId, GoalIndex, TestCase, criterion_named, objectives};
use touchstone_engine::{
    Aliases, Config, Entry, ExplorationResult, Goals, Prefix, Rounds, Search, SearchEvent, SearchOptions, SearchTarget,
    Sink, explore, explore_from, explore_goals, explore_paths_and_goals, explore_turns,
};
use touchstone_ir::{FuncId, Module};

/// Returns the maximum number of tests of a function whose paths are compared.
fn max_tests() -> u64 {
    if long() { 600 } else { 100 }
}

/// Returns the maximum number of tests of a function whose goals are compared.
fn max_tests_with_goals() -> u64 {
    if long() { 60 } else { 20 }
}

#[derive(Default)]
struct Paths(Vec<u64>);

impl Sink for Paths {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.0.push(test.path);
        }
    }
}

#[derive(Default, PartialEq, Debug)]
struct Tests(Vec<TestCase>);

impl Sink for Tests {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.0.push(test.clone());
        }
    }
}

/// Returns the results of a search that is cut after a number of turns and continues in pieces, and the paths that they
/// found.
fn cut(
    module: &Module,
    func: FuncId,
    wanted: &SearchTarget,
    config: &Config,
    turns: u64,
    name: &str,
) -> (BTreeSet<u64>, Vec<ExplorationResult>) {
    let mut first = Paths::default();
    let (result, prefixes) = explore_turns(module, func, wanted.clone(), config, &mut first, turns);
    let (mut found, mut results) = (BTreeSet::from_iter(first.0), vec![result]);
    for prefix in &prefixes {
        let text = serde_json::to_string(prefix).expect("a prefix is plain data");
        let prefix: Prefix = serde_json::from_str(&text).expect("and comes back");
        let mut rest = Paths::default();
        let resumed = explore_from(module, func, &prefix, wanted.clone(), config, &mut rest);
        let resumed = resumed.unwrap_or_else(|lost| panic!("{name} after {turns} turns: {lost}\n{prefix:?}"));
        assert_eq!(resumed.result.incomplete, Vec::new(), "{name} after {turns} turns");
        found.extend(rest.0);
        results.push(resumed);
    }
    (found, results)
}

/// A function of an example, and how it is explored.
struct Subject<'a> {
    module: &'a Module,
    func: FuncId,
    config: Config,
    seed: u64,
    name: String,
}

/// Every example with few tests, in three orders.
fn each(most: u64, mut check: impl FnMut(&Subject<'_>)) {
    for example in examples() {
        for expectation in example.expectations.iter().filter(|expectation| expectation.tests <= most) {
            let module = lower_once(&example.files, expectation.defines());
            let func = module.function_named(&expectation.function).expect("the function");
            let precondition = format!("{}_pre", expectation.function);
            let precondition = module.function_named(&precondition).map(|_| precondition);
            let searches = [(1, Search::Dfs), (2, Search::Random), (3, Search::Random)];
            for (seed, search) in searches.into_iter().take(if long() { 3 } else { 2 }) {
                let config = Config {
                    entry: if expectation.has("--entry") { Entry::Program } else { Entry::Function },
                    aliases: if expectation.has("eager") { Aliases::Eager } else { Aliases::Late },
                    precondition: precondition.clone(),
                    search,
                    options: SearchOptions { seed, ..SearchOptions::default() },
                    ..Config::default()
                };
                let name = format!("{} {} {:?}", example.name, expectation.function, expectation.options);
                check(&Subject { module: &module, func, config, seed, name });
            }
        }
    }
}

#[test]
fn a_search_that_goes_on_from_prefixes_finds_what_an_uncut_one_finds() {
    let (mut compared, mut followed) = (0, 0);
    each(max_tests(), |Subject { module, func, config, seed, name }| {
        let mut all = Paths::default();
        let whole = explore(module, *func, config, &mut all);
        if !whole.exhaustive {
            return;
        }
        let all: BTreeSet<u64> = all.0.into_iter().collect();
        // From the first fork to somewhere in the middle.
        for turns in [0, 2 + seed, all.len() as u64 / (1 + seed)] {
            let (found, results) = cut(module, *func, &SearchTarget::Paths, config, turns, name);
            assert!(found == all, "{name}: {} paths in pieces, {} in one", found.len(), all.len());
            followed += results.len() - 1;
        }
        compared += 1;
    });
    assert!(compared >= 30, "only {compared} searches were compared");
    assert!(followed >= 300, "only {followed} prefixes were followed");
}

#[test]
fn goals_that_a_search_reaches_are_reached_in_pieces_too() {
    let criteria: Vec<_> = ["mcdc", "wm"].iter().map(|name| criterion_named(name).expect("one")).collect();
    let (mut compared, mut followed, mut reached) = (0, 0, 0);
    each(max_tests_with_goals(), |Subject { module, func, config, seed, name }| {
        // There, a goal may fix an index, and which goals were open is nothing that a prefix knows.
        if config.aliases == Aliases::Eager {
            return;
        }
        let asked = objectives(module, &[*func], &criteria, &CriteriaOptions::default());
        let goals = Goals { watch: GoalIndex::new(module, asked.goals.clone()).into(), closed: Vec::new() };
        for wanted in [SearchTarget::Goals(goals.clone()), SearchTarget::PathsAndGoals(goals.clone())] {
            let (mut sink, goals) = (Paths::default(), goals.clone());
            let whole = match &wanted {
                SearchTarget::Goals(_) => explore_goals(module, *func, goals, config, &mut sink),
                _ => explore_paths_and_goals(module, *func, goals, config, &mut sink),
            };
            if !whole.result.incomplete.is_empty() {
                continue;
            }
            let open: BTreeSet<GoalId> = whole.open.into_iter().collect();
            for turns in [0, 1, 3 * seed] {
                let (_, results) = cut(module, *func, &wanted, config, turns, name);
                let left = |found: &ExplorationResult| found.open.iter().copied().collect::<BTreeSet<GoalId>>();
                let left = results.iter().map(left).reduce(|a, b| a.intersection(&b).copied().collect());
                let left = left.unwrap_or_default();
                let missed = left.symmetric_difference(&open).map(|goal| &asked.list[*goal].id).collect::<Vec<_>>();
                let how = if matches!(wanted, SearchTarget::Goals(_)) { "goals" } else { "paths" };
                assert!(missed.is_empty(), "{name} after {turns} turns, seed {seed}, {how}: {missed:?}");
                followed += results.len() - 1;
            }
            reached += asked.goals.ids().count() - open.len();
            compared += 1;
        }
    });
    assert!(compared >= 60, "only {compared} searches were compared");
    assert!(followed >= 300 && reached >= 500, "only {followed} prefixes were followed, {reached} goals reached");
}

#[test]
fn states_that_wait_as_the_way_to_them_miss_nothing() {
    let criteria: Vec<_> =
        ["mcdc", "decision", "condition", "branch"].iter().map(|name| criterion_named(name).expect("one")).collect();
    let (mut compared, mut reached) = (0, 0);
    each(max_tests(), |Subject { module, func, config, seed, name }| {
        // Eager aliases are searched without, and so are labels.
        if config.aliases == Aliases::Eager || *seed > 1 {
            return;
        }
        let asked = objectives(module, &[*func], &criteria, &CriteriaOptions::default());
        let goals = Goals { watch: GoalIndex::new(module, asked.goals.clone()).into(), closed: Vec::new() };
        let look = |waiting_states| {
            let config = Config { search: Search::Nearest, waiting_states, ..config.clone() };
            explore_goals(module, *func, goals.clone(), &config, &mut Paths::default())
        };
        let (all, parked) = (look(usize::MAX), look(1));
        assert_eq!(parked.result.incomplete, all.result.incomplete, "{name}");
        if all.result.incomplete.is_empty() {
            assert_eq!(parked.open, all.open, "{name}");
            assert_eq!(parked.result.exhaustive, all.result.exhaustive, "{name}");
        }
        reached += asked.goals.ids().count() - all.open.len();
        compared += 1;
    });
    assert!(compared >= 10 && reached >= 200, "only {compared} searches were compared, {reached} goals reached");
}

#[test]
fn a_search_in_rounds_finds_what_one_in_a_piece_finds_on_any_number_of_cores() {
    let never = Duration::from_secs(1000);
    let whole = Rounds { begin: never, unproductive: never, ..Rounds::default() };
    let criteria: Vec<_> = ["mcdc", "branch"].iter().map(|name| criterion_named(name).expect("one")).collect();
    let (mut compared, mut paths, mut reached) = (0, 0, 0);
    each(max_tests(), |Subject { module, func, config, seed, name }| {
        if config.aliases == Aliases::Eager || *seed > 1 {
            return;
        }
        let asked = objectives(module, &[*func], &criteria, &CriteriaOptions::default());
        let goals = Goals { watch: GoalIndex::new(module, asked.goals.clone()).into(), closed: Vec::new() };
        let run = |rounds, cores: usize, for_paths: bool, max_paths| {
            let search = if for_paths { Search::Dfs } else { Search::Nearest };
            let cores = (cores > 0).then(|| Arc::new(Cores::new(cores)));
            let config = Config { search, rounds, cores, max_paths, ..config.clone() };
            let mut tests = Tests::default();
            let found = match for_paths {
                true => explore_paths_and_goals(module, *func, goals.clone(), &config, &mut tests),
                false => explore_goals(module, *func, goals.clone(), &config, &mut tests),
            };
            (found, tests.0)
        };
        for for_paths in [true, false] {
            let (in_piece, tests) = run(whole, 0, for_paths, None);
            let (alone, own) = run(Rounds::SMALL, 0, for_paths, None);
            let (helped, others) = run(Rounds::SMALL, 3, for_paths, None);
            assert_eq!(own, others, "{name}");
            assert_eq!((&alone.open, &alone.result.incomplete), (&helped.open, &helped.result.incomplete), "{name}");
            assert_eq!(alone.result.paths, helped.result.paths, "{name}");
            if in_piece.result.incomplete.is_empty() {
                assert_eq!((&alone.open, &alone.excluded), (&in_piece.open, &in_piece.excluded), "{name}");
                assert_eq!(alone.result.incomplete, Vec::new(), "{name}");
            }
            if for_paths && in_piece.result.exhaustive {
                let set = |tests: &[TestCase]| tests.iter().map(|test| test.path).collect::<BTreeSet<u64>>();
                assert_eq!(set(&own), set(&tests), "{name}");
                let (alone, in_piece) = (alone.result.paths, in_piece.result.paths);
                assert_eq!((alone.explored, alone.error), (in_piece.explored, in_piece.error), "{name}");
                paths += tests.len();
            }
            // A limit ends it at this number of tests, and what it left out is not excluded.
            let limit = own.len() as u64 / 2 + 1;
            let (limited, first) = run(Rounds::SMALL, 2, for_paths, Some(limit));
            let (_, sequential) = run(whole, 0, for_paths, Some(limit));
            // One step may reach several goals.
            assert!(first.len() <= sequential.len().max(limit as usize), "{name}: {} of {limit}", first.len());
            let possible = tests.iter().flat_map(|test| &test.covers);
            let wrong: Vec<_> = possible.filter(|goal| limited.excluded.contains(goal)).collect();
            assert!(wrong.is_empty(), "{name}: {wrong:?} are excluded");
            reached += asked.goals.ids().count() - in_piece.open.len();
            compared += 1;
        }
    });
    assert!(compared >= 40 && paths >= 500 && reached >= 400, "{compared} searches, {paths} paths, {reached} goals");
}
