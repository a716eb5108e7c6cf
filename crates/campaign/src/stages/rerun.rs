//! Inputs of tests that an earlier run left are run again before anything is searched for.

use super::rounds::{Collector, Covered, Rounds, covered};
use crate::request::stem;
use std::collections::BTreeSet;
use touchstone_criteria::{TestCase, TestKind};
use touchstone_engine::{MutationGoals, MutationSearch, SearchEvent};

/// Runs inputs again. Those that reach something that no test did are tests.
pub(crate) fn run_again(rounds: &Rounds<'_, '_>, inputs: &[TestKind], collector: &mut dyn Collector) {
    let Covered { untested, .. } = covered(rounds.wanted, None, collector.tests());
    if inputs.is_empty() || untested.is_empty() {
        return;
    }
    let again = MutationSearch {
        machines: rounds.machines,
        func: rounds.func,
        watch: rounds.watch,
        config: rounds.config,
        deadline: rounds.config.deadline,
        longest: 0,
        patience: 0,
        seed: rounds.config.seed,
        still: None,
        first: &[],
    };
    let name = &rounds.module.functions[rounds.func].name;
    let stem = stem(name);
    let mut take = |mut test: TestCase| {
        test.id = format!("{stem}_{}", collector.tests().len() + 1);
        let taken = collector.refuses(&test).is_none();
        if taken {
            collector.event(SearchEvent::Test(&test));
        }
        taken
    };
    again.run_again(inputs, MutationGoals { untested, unreturned: BTreeSet::new() }, &mut take);
}
