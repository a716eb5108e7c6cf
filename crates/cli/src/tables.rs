//! The truth tables of decisions: every test runs once more in the interpreter, which tells the rows that
//! it evaluates.

use std::collections::BTreeMap;
use touchstone_base::Deadline;
use touchstone_criteria::{DecisionTable, Objectives, Replay, TestCase, Watch};
use touchstone_engine::{Look, PairsFound, SeenRow, distinct, watch_test};
use touchstone_ir::{FuncId, Module};

/// What tests evaluated when they ran once more.
#[derive(Default)]
pub struct Watched {
    /// The distinct rows of decisions, by test.
    pub rows: BTreeMap<String, Vec<SeenRow>>,
    /// Tests that there was no time to run.
    pub left_out: usize,
}

impl Watched {
    /// The rows of a test; none if it did not run.
    pub fn rows(&self, test: &TestCase) -> &[SeenRow] {
        self.rows.get(&test.id).map_or(&[], Vec::as_slice)
    }
}

/// Runs every test once more: each then names all goals that it covers, not only those that were open when it was found.
/// A second opinion, too: the engine tells what a path reaches without watching each run.
///
/// Tests for which there is no time keep what they were found for.
pub fn watch_tests(
    module: &Module,
    entry: FuncId,
    tests: &mut [TestCase],
    watch: &Watch,
    deadline: Deadline,
) -> Watched {
    let look = Look { watch: Some(watch), ..Look::default() };
    let mut watched = Watched::default();
    for test in tests {
        if deadline.is_over() {
            watched.left_out += 1;
            continue;
        }
        let run = watch_test(module, entry, test, look);
        let missed = test.covers.iter().find(|goal| run.path == test.path && !run.hits.contains(goal));
        if let Some(missed) = missed {
            test.replayed = Replay::Disagreed(format!("the reference interpreter does not reach {missed}"));
        }
        test.covers.extend(run.hits);
        test.covers.sort_unstable();
        test.covers.dedup();
        watched.rows.insert(test.id.clone(), distinct(run.rows));
    }
    watched
}

/// The tables of all decisions of these functions (`known` are rows of other tests), with the verdicts for what no row shows.
pub fn decision_tables(
    module: &Module,
    functions: &[FuncId],
    tests: &[TestCase],
    known: &[(String, SeenRow)],
    watched: &Watched,
    (wanted, watch): (&Objectives, &Watch),
    pairs: Option<&PairsFound>,
) -> Vec<DecisionTable> {
    let mut tables = Vec::new();
    for &func in functions {
        let mut rows: Vec<_> = tests
            .iter()
            .map(|test| {
                let own =
                    watched.rows(test).iter().filter(|row| row.0 == func).map(|row| (row.1, row.2.clone())).collect();
                (test.id.clone(), own)
            })
            .collect();
        let known = known.iter().filter(|(_, row)| row.0 == func);
        rows.extend(known.map(|(test, row)| (test.clone(), vec![(row.1, row.2.clone())])));
        for mut table in touchstone_criteria::decision_tables(&module.functions[func], &rows) {
            table.judge(func, wanted);
            if let Some(pairs) = pairs
                && watch.asks_for_mcdc(func, table.decision)
            {
                table.pair_search = pairs.of(func, table.decision);
            }
            tables.push(table);
        }
    }
    tables
}
