//! EVENTS

use crate::confirm::case::Case;
use touchstone_criteria::{TestCase, Unmakeable};

/// What an exploration tells while it runs.
pub enum Event<'a> {
    /// A path has its test.
    Test(&'a TestCase),
    /// Something moved; sent often.
    Progress(Progress),
}

/// Figures for a progress display.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Paths so far.
    pub paths: u64,
    /// States that wait.
    pub open: usize,
    /// Tests so far.
    pub tests: u64,
    /// Share of the time spent in the solver, 0 to 1.
    pub solver_share: f64,
}

/// Consumes events.
pub trait Sink {
    /// Something happened.
    fn event(&mut self, event: Event<'_>);

    /// Whether it wants to be told of paths as cases.
    fn wants_cases(&self) -> bool {
        false
    }

    /// A path that ended, as a case of its function.
    fn case(&mut self, case: Case) {
        let _ = case;
    }

    /// Why nobody can run this test. What it reaches stays open, so that other inputs are looked for; its path is given up.
    fn refuses(&self, test: &TestCase) -> Option<Unmakeable> {
        let _ = test;
        None
    }
}
