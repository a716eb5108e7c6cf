//! Events of an exploration, and the trait of their consumers.

use crate::confirm::case::SummaryCase;
use touchstone_criteria::{TestCase, Untestable};

/// An event of an exploration.
pub enum SearchEvent<'a> {
    /// A test was found.
    Test(&'a TestCase),
    /// The figures changed; sent often.
    Progress(Progress),
}

/// Figures for a progress display.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// The number of paths so far.
    pub paths: u64,
    /// The number of waiting states.
    pub open: usize,
    /// The number of tests so far.
    pub tests: u64,
    /// The share of the time spent in the solver, 0 to 1.
    pub solver_share: f64,
}

/// A consumer of events.
pub trait Sink {
    /// Receives an event.
    fn event(&mut self, event: SearchEvent<'_>);

    /// Returns true if the consumer wants every path as a case.
    fn wants_cases(&self) -> bool {
        false
    }

    /// Receives an ended path as a case of its function.
    fn case(&mut self, case: SummaryCase) {
        let _ = case;
    }

    /// Returns the filter of tests that cannot be emitted. Their goals stay open, so that other inputs are searched for;
    /// their paths are given up.
    fn filter(&self) -> Box<TestFilter<'_>> {
        Box::new(|_| None)
    }
}

/// Returns the reason why a test cannot be emitted. Any thread may ask.
pub type TestFilter<'f> = dyn Fn(&TestCase) -> Option<Untestable> + Sync + 'f;
