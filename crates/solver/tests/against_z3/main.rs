//! Our verdicts against Z3's, on random walks over terms of all widths and memory with unknown offsets.
//!
//! `cargo test -p touchstone-solver --features z3 -- --nocapture` shows the numbers; `PROPTEST_CASES` makes it longer.
//! Brute force (in `brute_force`) judges small domains completely; this judges the wide ones.

mod twin;
mod walk;

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use touchstone_solver::Config;
use walk::{Choices, Tally, Walk};

/// Walks for each configuration: `PROPTEST_CASES`, or enough for every run.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(50)
}

/// Runs the walks of one configuration; the same ones each time.
fn check(name: &str, config: &Config, seed: u8) -> Tally {
    let total = RefCell::new(Tally::default());
    let settings =
        ProptestConfig { failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::with_cases(cases()) };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let outcome = TestRunner::new_with_rng(settings, rng).run(&prop::collection::vec(any::<u16>(), 40..400), |list| {
        let context = z3::Context::new(&z3::Config::new());
        let mut walk = Walk::new(&context, Choices::new(&list), config.clone());
        let result = walk.run();
        total.borrow_mut().add(&walk.tally);
        result.map_err(TestCaseError::fail)
    });
    if let Err(error) = outcome {
        panic!("{name}: {error}");
    }
    total.into_inner()
}

#[test]
fn every_verdict_and_every_model_agrees_with_z3() {
    let default = Config::default();
    let configurations = [
        ("default", default.clone()),
        ("no enumeration", Config { enumeration: 0, ..default.clone() }),
        ("one model, no enumeration", Config { enumeration: 0, pool: 1, ..default.clone() }),
        ("small enumeration, seed", Config { enumeration: 64, pool: 4, seed: 7, ..default }),
    ];
    let mut total = Tally::default();
    for (seed, (name, config)) in configurations.into_iter().enumerate() {
        let tally = check(name, &config, seed as u8 + 1);
        println!("{name}: {tally}");
        total.add(&tally);
    }
    println!("all: {total}");
    // The comparison must have had something to compare.
    assert!(total.infeasible * 10 > total.questions, "too few refutations: {total}");
    assert!(total.reads * 20 > total.questions, "too few reads: {total}");
    assert!(total.our_unknowns * 100 < total.questions, "too many unknowns: {total}");
    assert!(total.unconfirmed * 50 < total.infeasible, "too many refutations unconfirmed: {total}");
}
