//! Whole explorations with known numbers of paths.

#[path = "../examples/programs/mod.rs"]
mod programs;

use programs::{bubble_sort, controller, get_order, get_order_entangled, wildcard};
use touchstone_solver::Config;

fn configurations() -> Vec<Config> {
    vec![
        Config::default(),
        Config { pool: 1, ..Config::default() },
        Config { enumeration: 100, seed: 3, ..Config::default() },
    ]
}

#[test]
fn get_order_has_exactly_the_paths_of_the_paper() {
    for config in configurations() {
        for (n, paths) in [(3, 4), (4, 7), (5, 16)] {
            assert_eq!(get_order(n, config.clone()).paths, paths, "N = {n}");
        }
    }
    assert_eq!(get_order(6, Config::default()).paths, 30);
}

#[test]
fn a_domain_still_refutes_when_it_is_entangled_with_an_unbounded_variable() {
    for config in configurations() {
        for (n, paths) in [(3, 8), (4, 14), (5, 32)] {
            assert_eq!(get_order_entangled(n, config.clone()).paths, paths, "N = {n}");
        }
    }
}

#[test]
fn get_order_without_enumeration_relies_on_alias_lemmas() {
    let report = get_order(4, Config { enumeration: 0, ..Config::default() });
    assert_eq!(report.paths, 7);
    assert!(report.stats.lemmas > 0 && report.stats.domains == 0);
}

#[test]
fn bubble_sort_has_one_path_for_each_permutation() {
    for config in configurations() {
        assert_eq!(bubble_sort(5, config).paths, 120);
    }
    assert_eq!(bubble_sort(6, Config::default()).paths, 720);
}

#[test]
fn the_configuration_does_not_change_the_number_of_paths() {
    let counts = |config: Config| (wildcard(3, 3, config.clone()).paths, controller(config).paths);
    let expected = counts(Config::default());
    for config in configurations() {
        assert_eq!(counts(config), expected);
    }
}

#[test]
fn the_same_exploration_does_the_same_work_twice() {
    let work = || {
        let stats = wildcard(4, 3, Config::default()).stats;
        (stats.queries, stats.sat_calls, stats.pool_hits, stats.cache_hits, stats.guesses, stats.refuted)
    };
    assert_eq!(work(), work());
}
