//! The truth tables of decisions: every test runs once more in the interpreter, which tells the rows that it evaluates.

use touchstone_criteria::{DecisionTable, Objectives, TestCase, Watch};
use touchstone_engine::{PairsFound, rows_of};
use touchstone_ir::{FuncId, Module};

/// The tables of all decisions of these functions, with the verdicts for what no row shows.
pub fn decision_tables(
    module: &Module,
    entry: FuncId,
    functions: &[FuncId],
    tests: &[TestCase],
    wanted: &Objectives,
    pairs: Option<&PairsFound>,
) -> Vec<DecisionTable> {
    let watch = Watch::new(module, wanted.goals.clone());
    let runs = rows_of(module, entry, tests, &watch);
    let mut tables = Vec::new();
    for &func in functions {
        let rows: Vec<_> = tests
            .iter()
            .zip(&runs)
            .map(|(test, rows)| {
                let own = rows.iter().filter(|row| row.0 == func).map(|row| (row.1, row.2.clone())).collect();
                (test.id.clone(), own)
            })
            .collect();
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
