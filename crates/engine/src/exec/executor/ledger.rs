//! The ledger of an execution: counters, and everything that was not explored.

use crate::growth::Shortage;
use std::collections::BTreeSet;
use touchstone_base::Span;
use touchstone_criteria::{Caveat, Incomplete, IncompletePaths};

/// Counters, and everything that was not explored.
#[derive(Clone, Default)]
pub(crate) struct Ledger {
    /// True if inputs were excluded: an operation has no defined result for them, they order pointers into different
    /// objects, objects have other addresses in them, or padding bytes matter.
    pub excluded_inputs: bool,
    /// The caveats that the testable environment excludes.
    pub caveats: BTreeSet<Caveat>,
    /// Bytes of large objects that were allocated or copied since the last memory check.
    pub allocated_bytes: u64,
    /// The number of instructions over constants that no path was charged for.
    pub free_steps: u64,
    /// The number of branch sides and checks that no input of their path takes.
    pub infeasible: u64,
    /// The number of solver queries for labels.
    pub labels_asked: u64,
    /// The number of these queries that are satisfiable.
    pub labels_found: u64,
    /// Input objects that were too short.
    pub shortage: Shortage,
    incomplete: Vec<IncompletePaths>,
}

impl Ledger {
    /// Records that paths were given up.
    pub fn give_up(&mut self, why: Incomplete, span: Span, count: u64) {
        match self.incomplete.iter_mut().find(|known| known.why == why && known.span == span) {
            Some(known) => known.count += count,
            None => self.incomplete.push(IncompletePaths { why, span, count }),
        }
    }

    /// Adds the counters of another execution, which did not start with those of this one.
    pub fn add(&mut self, other: Ledger) {
        let Ledger { excluded_inputs, caveats, free_steps, infeasible, labels_asked, labels_found, .. } = other;
        self.excluded_inputs |= excluded_inputs;
        self.caveats.extend(caveats);
        self.free_steps += free_steps;
        self.infeasible += infeasible;
        self.labels_asked += labels_asked;
        self.labels_found += labels_found;
        self.shortage.add(&other.shortage);
        for IncompletePaths { why, span, count } in other.incomplete {
            self.give_up(why, span, count);
        }
    }

    /// Returns true if anything was given up so far.
    pub fn gave_up(&self) -> bool {
        !self.incomplete.is_empty()
    }

    /// Returns what was given up, ordered by reason and location.
    pub fn incomplete(&self) -> Vec<IncompletePaths> {
        let mut sorted = self.incomplete.clone();
        sorted.sort();
        sorted
    }

    /// Returns true if the testable environment excluded inputs or behaviour.
    pub fn excludes_anything(&self) -> bool {
        self.excluded_inputs || !self.caveats.is_empty()
    }
}
