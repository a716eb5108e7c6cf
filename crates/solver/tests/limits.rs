//! Limits end a query with a reason, never with a wrong verdict.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use touchstone_base::Deadline;

use touchstone_solver::{Answer, Config, Path, Rel, Solver, TermId, Terms, Why};

/// x * y is a prime of 61 bits, 1 < x < y: no answer in any reasonable time. As an equation it would be decided by divisors.
fn hard(terms: &mut Terms) -> TermId {
    let (x, y) = (terms.var(32, "x"), terms.var(32, "y"));
    let (wide_x, wide_y) = (terms.zext(x, 64), terms.zext(y, 64));
    let product = terms.mul(wide_x, wide_y);
    let prime = terms.constant(64, (1 << 61) - 1);
    let one = terms.constant(32, 1);
    let (low, order) = (terms.cmp(Rel::Ult, one, x), terms.cmp(Rel::Ult, x, y));
    let both = terms.and(low, order);
    let (least, most) = (terms.cmp(Rel::Ule, prime, product), terms.cmp(Rel::Ule, product, prime));
    let equal = terms.and(least, most);
    terms.and(equal, both)
}

fn check(config: Config, expected: Why) {
    let mut terms = Terms::new();
    let condition = hard(&mut terms);
    let start = Instant::now();
    match Solver::new(config).check(&mut terms, &Path::new(), condition) {
        Answer::Unknown(why) => assert_eq!(why, expected),
        Answer::Sat(_) => panic!("a prime was factored"),
        Answer::Unsat => panic!("too fast to be true"),
    }
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_conflict_limit_ends_a_query() {
    check(Config { conflicts: Some(50), ..Config::default() }, Why::Conflicts);
}

#[test]
fn a_timeout_ends_a_query() {
    check(Config { timeout: Some(Duration::from_millis(50)), ..Config::default() }, Why::Timeout);
}

#[test]
fn a_deadline_that_has_passed_ends_a_query() {
    check(Config { deadline: Deadline::after(Duration::ZERO), ..Config::default() }, Why::Timeout);
}

#[test]
fn an_interrupt_ends_a_query() {
    check(Config { interrupt: Some(Arc::new(AtomicBool::new(true))), ..Config::default() }, Why::Interrupted);
}

#[test]
fn what_needs_no_search_is_answered_after_the_deadline() {
    let mut terms = Terms::new();
    let x = terms.var(32, "x");
    let ten = terms.constant(32, 10);
    let condition = terms.cmp(Rel::Ult, x, ten);
    let mut solver = Solver::new(Config { deadline: Deadline::after(Duration::ZERO), ..Config::default() });
    assert!(matches!(solver.check(&mut terms, &Path::new(), condition), Answer::Sat(_)));
}
