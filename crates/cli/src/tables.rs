//! The truth tables of decisions: every test runs once more in the interpreter, which tells the rows that it evaluates.

use touchstone_criteria::{DecisionTable, Objectives, TestCase, TestKind, Watch};
use touchstone_engine::{Call, Look, watch_function, watch_program};
use touchstone_ir::{FuncId, Module};

/// The tables of all decisions of these functions, with the verdicts for what no row shows.
pub fn decision_tables(
    module: &Module,
    entry: FuncId,
    functions: &[FuncId],
    tests: &[TestCase],
    wanted: &Objectives,
) -> Vec<DecisionTable> {
    let watch = Watch::new(module, wanted.goals.clone());
    let look = Look { watch: Some(&watch), ..Look::default() };
    let runs: Vec<_> = tests
        .iter()
        .map(|test| match &test.kind {
            TestKind::Function { params, globals, objects } => {
                watch_function(module, entry, Call { params, globals, objects }, look).rows
            }
            TestKind::Program { inputs } => watch_program(module, entry, inputs, look).rows,
        })
        .collect();
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
            tables.push(table);
        }
    }
    tables
}
