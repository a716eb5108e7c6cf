//! Evaluates traces: computes the state that each test modified, and whether its assertions depend on it.

use super::dependence::{DependenceAnalysis, StateUpdate, TestTrace};
use super::event_trace::EventTrace;
use crate::state::{
    ModifiedState, ObservedExpression, ObservedTestEnd, SiteKind, StateLocation, StateRecord, StateRules,
    TestStateCoverage,
};
use std::collections::BTreeMap;

/// The results of the traces of a suite.
#[derive(Default)]
pub(crate) struct TraceEvaluation {
    pub tests: Vec<TestStateCoverage>,
    pub ends: Vec<ObservedTestEnd>,
    /// The number of units without a record.
    pub unexplained: u64,
}

/// Evaluates the traces of a suite. `units` are all units with their identities; `name` names a process without a test
/// name.
pub(crate) fn evaluate_traces(
    units: &[(u64, &StateRecord)],
    traces: impl Iterator<Item = EventTrace>,
    rules: &StateRules,
    name: &dyn Fn(&EventTrace) -> String,
) -> TraceEvaluation {
    type Key = (usize, String, String, String);
    let mut found: BTreeMap<String, (BTreeMap<Key, ModifiedState>, bool, bool)> = BTreeMap::new();
    let (mut unexplained, mut ends) = (0, Vec::new());
    for trace in traces {
        let flow = DependenceAnalysis::new(units, rules, &trace);
        unexplained += flow.unexplained;
        for (index, run) in flow.tests.iter().enumerate() {
            let marked = flow.checked(run);
            let mut finals = run.finals.clone();
            finals.sort_unstable();
            finals.dedup();
            let test = run.name.clone().unwrap_or_else(|| name(&trace));
            let found_ends = run_ends(&flow, run, &test);
            let inherited = if found_ends.is_empty() { Default::default() } else { flow.inherited(run) };
            ends.extend(found_ends);
            let cut_off = trace.left_out > 0 && index + 1 == flow.tests.len();
            let (uses, known_cut, asserts) = found.entry(test).or_default();
            *known_cut |= cut_off;
            *asserts |= !run.roots.is_empty();
            for node in finals {
                let Some(update) = flow.update(node) else { continue };
                let number = flow.update_number(node);
                let Some(mut made) = described(&flow, update, marked.contains(&number)) else { continue };
                let key = (made.unit, made.function.clone(), made.name.clone(), made.object.clone());
                let known = uses.remove(&key);
                made.checked |= known.as_ref().is_some_and(|known| known.checked);
                made.piece = match known.map(|known| known.piece) {
                    _ if inherited.contains(&number) || flow.adds_up(number, run) => StateLocation::Inherited,
                    Some(StateLocation::Inherited) => StateLocation::Inherited,
                    // An array may have thousands of last updates: the list is extended, not copied.
                    Some(StateLocation::Left(mut numbers)) => {
                        numbers.push(number);
                        StateLocation::Left(numbers)
                    }
                    _ => StateLocation::Left(vec![number]),
                };
                uses.insert(key, made);
            }
        }
    }
    let tests = found.into_iter().map(|(test, (uses, cut_off, asserts))| {
        let mut uses: Vec<ModifiedState> = uses.into_values().collect();
        uses.sort_by(|a, b| (&a.file, a.line, &a.name, &a.object).cmp(&(&b.file, b.line, &b.name, &b.object)));
        TestStateCoverage { test, uses, cut_off, beside: false, asserts }
    });
    TraceEvaluation { tests: tests.collect(), ends, unexplained }
}

/// Returns the observed expressions of a test, by function.
fn run_ends(flow: &DependenceAnalysis<'_>, run: &TestTrace, test: &str) -> Vec<ObservedTestEnd> {
    let mut found: Vec<ObservedTestEnd> = Vec::new();
    for seen in &run.seen {
        let Some((_, site)) = flow.site(seen.site) else { continue };
        let SiteKind::Seen { text, form } = &site.kind else { continue };
        let (unit, function) = ((seen.site >> 32) as usize, site.function);
        let expression = ObservedExpression {
            text: text.clone(),
            form: form.clone(),
            bytes: seen.bytes.clone(),
            updates: seen.updates.clone(),
        };
        match found.iter_mut().find(|end| (end.unit, end.function) == (unit, function)) {
            Some(end) => end.seen.push(expression),
            None => found.push(ObservedTestEnd { test: test.to_string(), function, unit, seen: vec![expression] }),
        }
    }
    found
}

fn described(flow: &DependenceAnalysis<'_>, update: &StateUpdate, checked: bool) -> Option<ModifiedState> {
    let (record, site) = flow.site(update.site)?;
    let target = record.targets.get(update.target.1 as usize)?;
    Some(ModifiedState {
        unit: update.target.0 as usize,
        id: target.id.clone(),
        function: target.function.clone(),
        name: target.name.clone(),
        object: flow.objects.get(update.object as usize).map_or(String::new(), |object| object.name.clone()),
        piece: StateLocation::Unknown,
        file: record.files.get(site.file as usize).cloned().unwrap_or_default(),
        line: site.line,
        column: site.column,
        checked,
    })
}
