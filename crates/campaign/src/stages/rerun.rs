//! Runs the inputs of earlier tests before any search.

use super::rounds::{RoundContext, RoundCoverage, TestCollector, round_coverage};
use crate::request::stem;
use std::collections::BTreeSet;
use touchstone_criteria::{TestCase, TestKind};
use touchstone_engine::{MutationGoals, MutationSearch, SearchEvent};

/// Runs inputs again. Those that reach an untested goal become tests.
pub(crate) fn rerun_inputs(rounds: &RoundContext<'_, '_>, inputs: &[TestKind], collector: &mut dyn TestCollector) {
    let RoundCoverage { untested, .. } = round_coverage(rounds.objectives, None, collector.tests());
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
        seed: rounds.config.options.seed,
        still: None,
        first: &[],
    };
    let name = &rounds.module.functions[rounds.func].name;
    let stem = stem(name);
    let mut take = |mut test: TestCase| {
        test.id = format!("{stem}_{}", collector.tests().len() + 1);
        let taken = collector.filter()(&test).is_none();
        if taken {
            collector.event(SearchEvent::Test(&test));
        }
        taken
    };
    again.run_again(inputs, MutationGoals { untested, unreturned: BTreeSet::new() }, &mut take);
}
