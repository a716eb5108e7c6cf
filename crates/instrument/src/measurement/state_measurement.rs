//! State coverage of a test suite, from the traces of both languages.

use super::MeasuredSuite;
use crate::c::state::{EventTrace, TraceEvaluation, evaluate_traces};
use crate::hits::{HitFile, MeasuredUnit, unattributed_test_name};
use crate::java::state::{JavaTrace, TestOwner, follow};
use crate::state::{ObservedTestEnd, StateLocation, StateRecord, StateRules, SuggestionOutcome, TestStateCoverage};
use std::collections::BTreeMap;
use std::path::Path;

/// The state coverage of a test suite.
#[derive(Debug, Default)]
pub struct StateMeasurement {
    /// The state that the tests modified, and whether their assertions depend on it.
    pub tests: Vec<TestStateCoverage>,
    /// The observed expressions at the ends of C tests.
    ends: Vec<ObservedTestEnd>,
    /// The number of units without a record, and of unmatched events.
    pub unexplained: u64,
}

/// Computes the state coverage of the tests.
pub fn measure_states(measured: &MeasuredSuite, rules: &StateRules) -> StateMeasurement {
    let identity = |unit: &MeasuredUnit| u64::from_str_radix(&unit.record.unit, 16).unwrap_or(0);
    let empty = StateRecord::default();
    let units: Vec<(u64, &StateRecord)> =
        measured.units.iter().map(|unit| (identity(unit), unit.record.state.as_ref().unwrap_or(&empty))).collect();
    let named = |command: &[String], pid: u32| {
        HitFile { test: None, command: command.to_vec(), pid, units: Vec::new() }.process_name()
    };
    let name = |trace: &EventTrace| named(&trace.command, trace.pid);
    // A trace that can't be read belongs to a process without events.
    let traces = measured.traces.iter().filter_map(|path| EventTrace::read(path).ok().flatten());
    let TraceEvaluation { mut tests, ends, mut unexplained } = evaluate_traces(&units, traces, rules, &name);
    // Java tests are different from C tests of the same name.
    let places = units.iter().enumerate().rev().map(|(place, (unit, _))| (*unit, place));
    let places: BTreeMap<u64, usize> = places.collect();
    let unit_of = |identity: u64| places.get(&identity).copied().unwrap_or(usize::MAX);
    let mut of_java: BTreeMap<String, TestStateCoverage> = BTreeMap::new();
    for path in &measured.java_traces {
        // The agent writes complete headers: a file without one is damaged.
        let Some(trace) = JavaTrace::read(path) else {
            unexplained += 1;
            continue;
        };
        let classes = path.parent().and_then(Path::parent).unwrap_or(Path::new("")).join("units");
        let (judged, unfit) = follow(&trace, &classes, rules, &unit_of);
        unexplained += unfit;
        for judged in judged {
            let process = || trace.test.clone().unwrap_or_else(|| named(&trace.command, trace.pid));
            let test = match judged.owner {
                TestOwner::Test(name) => name,
                TestOwner::Process => process(),
                TestOwner::Unattributed => unattributed_test_name(&process()),
            };
            let known = of_java
                .entry(test.clone())
                .or_insert_with(|| TestStateCoverage { test, ..TestStateCoverage::default() });
            known.beside |= judged.has_unattributed_threads;
            known.merge(judged.uses, judged.is_cut_off, judged.asserts);
        }
    }
    tests.extend(of_java.into_values());
    StateMeasurement { tests, ends, unexplained }
}

/// Suggests assertions for the state that tests left unchecked, if their ends were observed.
pub fn suggest_assertions(measured: &MeasuredSuite, states: &StateMeasurement) -> Vec<SuggestionOutcome> {
    let is_of_c = |test: &&TestStateCoverage| test.uses.iter().any(|used| matches!(used.piece, StateLocation::Left(_)));
    let (c, java): (Vec<&TestStateCoverage>, Vec<&TestStateCoverage>) = states.tests.iter().partition(is_of_c);
    let mut found = crate::java::suggest::suggest(&java, &measured.java_traces, &measured.java_ends);
    found.extend(crate::c::suggest::suggest(&c, &states.ends, &measured.units));
    found
}

/// Truncates all traces of a measurement after their last events.
pub fn trim_traces(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory.join("hits")) else { return };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    // A trace that can't be truncated only takes more space.
    paths.for_each(|path| match path.extension().and_then(|extension| extension.to_str()) {
        Some("state") => drop(EventTrace::trim(&path)),
        Some("jstate") => drop(JavaTrace::trim(&path)),
        _ => {}
    });
}
