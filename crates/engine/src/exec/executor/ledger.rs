//! What an execution counts and what it leaves out.

use crate::growth::Shortage;
use std::collections::BTreeSet;
use touchstone_base::Span;
use touchstone_criteria::{Doubt, Incomplete, IncompletePaths};

/// Counts, and everything that was not followed.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Inputs were left out: something has no defined result for them, or they have pointers in order whose objects are
    /// different, or objects have other addresses there, or something stands between the fields of structures.
    pub excluded_inputs: bool,
    /// What the tested world leaves out.
    pub doubts: BTreeSet<Doubt>,
    /// Bytes of large objects that were made or copied since memory was looked at.
    pub allocated_bytes: u64,
    /// Branch sides and checks that no input of their path takes.
    pub infeasible: u64,
    /// Questions asked for labels.
    pub labels_asked: u64,
    /// Of them, those that some input answers.
    pub labels_found: u64,
    /// Input objects that were too short.
    pub shortage: Shortage,
    incomplete: Vec<IncompletePaths>,
}

impl Ledger {
    /// Remembers that paths were given up.
    pub fn give_up(&mut self, why: Incomplete, span: Span, count: u64) {
        match self.incomplete.iter_mut().find(|known| known.why == why && known.span == span) {
            Some(known) => known.count += count,
            None => self.incomplete.push(IncompletePaths { why, span, count }),
        }
    }

    /// Whether anything was given up so far.
    pub fn gave_up(&self) -> bool {
        !self.incomplete.is_empty()
    }

    /// What was given up, by reason and place.
    pub fn incomplete(&self) -> Vec<IncompletePaths> {
        let mut sorted = self.incomplete.clone();
        sorted.sort();
        sorted
    }

    /// Whether the tested world left something out.
    pub fn excludes_anything(&self) -> bool {
        self.excluded_inputs || !self.doubts.is_empty()
    }
}
