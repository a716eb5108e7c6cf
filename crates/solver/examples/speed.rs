//! Measures the exploration of a few programs. `cargo run --release -p touchstone-solver --example speed [NAME]`.

// An example is a program of its own.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod programs;

use std::time::Instant;

use programs::Report;
use touchstone_solver::Config;

fn show(name: &str, run: impl FnOnce() -> Report) {
    if std::env::args().nth(1).is_some_and(|only| !name.starts_with(&only)) {
        return;
    }
    let start = Instant::now();
    let Report { paths, infeasible, stats } = run();
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name:14} {paths:6} paths {infeasible:6} infeasible {seconds:8.3} s {:9.0} paths/s {:9.0} queries/s",
        paths as f64 / seconds,
        stats.queries as f64 / seconds
    );
    println!(
        "               queries {} pool {} cache {} refuted {} guesses {} domains {} sat {} lemmas {} in {:.3} s",
        stats.queries,
        stats.pool_hits,
        stats.cache_hits,
        stats.refuted,
        stats.guesses,
        stats.domains,
        stats.sat_calls,
        stats.lemmas,
        stats.seconds
    );
}

fn main() {
    let config = Config::default;
    for n in 5..=9 {
        show(&format!("get_order {n}"), || programs::get_order(n, config()));
    }
    let large = || Config { enumeration: 1 << 22, ..config() };
    show("get_order 10", || programs::get_order(10, large()));
    for n in 5..=8 {
        show(&format!("entangled {n}"), || programs::get_order_entangled(n, config()));
    }
    show("sort 6", || programs::bubble_sort(6, config()));
    show("wildcard 4 5", || programs::wildcard(4, 5, config()));
    show("wildcard 5 5", || programs::wildcard(5, 5, config()));
    show("controller", || programs::controller(config()));
}
