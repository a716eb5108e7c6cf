//! The truth tables of decisions: every test runs once more in the interpreter, which tells the rows that it evaluates.

use crate::work::Work;
use touchstone_criteria::{DecisionTable, TestCase, Watch};
use touchstone_engine::{PairsFound, rows_of};

/// The tables of all decisions whose objectives count (with the rows of a measured suite), with the verdicts for what no row
/// shows.
pub(crate) fn decision_tables(work: &Work<'_>, tests: &[TestCase], pairs: Option<&PairsFound>) -> Vec<DecisionTable> {
    let module = work.module();
    let watch = Watch::new(module, work.wanted.goals.clone());
    let runs = rows_of(module, work.task.func, tests, &watch);
    let mut tables = Vec::new();
    for &func in &work.task.functions {
        let mut rows: Vec<_> = tests
            .iter()
            .zip(&runs)
            .map(|(test, rows)| {
                let own = rows.iter().filter(|row| row.0 == func).map(|row| (row.1, row.2.clone())).collect();
                (test.id.clone(), own)
            })
            .collect();
        let known = work.known.iter().filter(|(_, row)| row.0 == func);
        rows.extend(known.map(|(test, row)| (test.clone(), vec![(row.1, row.2.clone())])));
        for mut table in touchstone_criteria::decision_tables(&module.functions[func], &rows) {
            table.judge(func, &work.wanted);
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
