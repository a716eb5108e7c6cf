//! The truth tables of decisions, from the rows that tests evaluated.

use super::test_coverage::TestRows;
use crate::plan::Work;
use touchstone_criteria::{DecisionTable, TestCase};
use touchstone_engine::PairSearchResult;

/// Returns the tables of all decisions under test, with the rows of a measured suite and the verdicts for missing rows.
pub(crate) fn decision_tables(
    work: &Work<'_>,
    tests: &[TestCase],
    evaluated: &TestRows,
    pairs: Option<&PairSearchResult>,
) -> Vec<DecisionTable> {
    let module = work.module();
    let mut tables = Vec::new();
    for &func in &work.task.functions {
        let mut rows: Vec<_> = tests
            .iter()
            .map(|test| {
                let own =
                    evaluated.rows(test).iter().filter(|row| row.0 == func).map(|row| (row.1, row.2.clone())).collect();
                (test.id.clone(), own)
            })
            .collect();
        let known = work.suite_rows.iter().filter(|(_, row)| row.0 == func);
        rows.extend(known.map(|(test, row)| (test.clone(), vec![(row.1, row.2.clone())])));
        for mut table in touchstone_criteria::decision_tables(&module.functions[func], &rows) {
            if work.is_unaffected(func, table.decision) {
                continue;
            }
            table.judge(func, &work.objectives);
            if let Some(pairs) = pairs
                && work.watch.asks_for_mcdc(func, table.decision)
            {
                table.pair_search = pairs.of(func, table.decision);
            }
            tables.push(table);
        }
    }
    tables
}
