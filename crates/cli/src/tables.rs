//! The truth tables of decisions: every test runs once more in the interpreter, which tells the rows that it evaluates.

use touchstone_criteria::{DecisionTable, Objectives, Replay, TestCase, Watch};
use touchstone_engine::{Look, PairsFound, SeenRow, rows_of, watch_test};
use touchstone_ir::{FuncId, Module};

/// Runs every test once more: each then names all goals that it covers, not only those that were open when it was found.
/// A second opinion, too: the engine tells what a path reaches without watching each run.
pub fn watch_tests(module: &Module, entry: FuncId, tests: &mut [TestCase], wanted: &Objectives) {
    let watch = Watch::new(module, wanted.goals.clone());
    let look = Look { watch: Some(&watch), ..Look::default() };
    for test in tests {
        let run = watch_test(module, entry, test, look);
        let missed = test.covers.iter().find(|goal| run.path == test.path && !run.hits.contains(goal));
        if let Some(missed) = missed {
            test.replayed = Replay::Disagreed(format!("the reference interpreter does not reach {missed}"));
        }
        test.covers.extend(run.hits);
        test.covers.sort_unstable();
        test.covers.dedup();
    }
}

/// The tables of all decisions of these functions (`known` are rows of other tests), with the verdicts for what no row shows.
pub fn decision_tables(
    module: &Module,
    entry: FuncId,
    functions: &[FuncId],
    tests: &[TestCase],
    known: &[(String, SeenRow)],
    wanted: &Objectives,
    pairs: Option<&PairsFound>,
) -> Vec<DecisionTable> {
    let watch = Watch::new(module, wanted.goals.clone());
    let runs = rows_of(module, entry, tests, &watch);
    let mut tables = Vec::new();
    for &func in functions {
        let mut rows: Vec<_> = tests
            .iter()
            .zip(&runs)
            .map(|(test, rows)| {
                let own = rows.iter().filter(|row| row.0 == func).map(|row| (row.1, row.2.clone())).collect();
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
