//! The text report of a run: one line for each function, then the findings that need attention.

use crate::document::{
    Assumption, Document, IncompletePaths, ON_ANY_HEAP, Objective, Replay, ReportedFunction, Test, Verdict,
};
use crate::terminal::change::change;
use crate::terminal::existing_suites_section::kept_suites;
use crate::terminal::forms_section::forms;
use crate::terminal::style::{Paint, Style, cut, heading, longest};
use crate::terminal::summary_tables::summary;
use crate::terminal::truth_table::truth_tables;
use crate::terminal::uncovered::{infeasible, unknown};
use std::collections::{BTreeMap, BTreeSet};

/// The amount of detail in a text report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detail {
    /// Findings that need attention, and the first entries of long lists.
    #[default]
    Short,
    /// Every function, every objective that is not covered, every row of the truth tables.
    Everything,
}

/// Renders the text report of a run.
pub fn text(document: &Document, detail: Detail, style: Style) -> String {
    let mut out = String::new();
    summary(&mut out, document, detail, style);
    infeasible(&mut out, document, detail, style);
    unknown(&mut out, document, detail, style);
    rests_on(&mut out, document, detail, style);
    truth_tables(&mut out, document, detail, style);
    errors(&mut out, document, style);
    covered_by_errors(&mut out, document, style);
    on_any_heap(&mut out, document, style);
    rejections(&mut out, document, style);
    incomplete(&mut out, document, style);
    disagreements(&mut out, document, style);
    kept_suites(&mut out, &document.kept, style);
    forms(&mut out, document, style);
    change(&mut out, document, style);
    replay_line(&mut out, document, style);
    cache_line(&mut out, document);
    out
}

/// Writes the number of functions with results from the cache.
fn cache_line(out: &mut String, document: &Document) {
    let names = |cached: bool| -> usize {
        let functions = document.functions.iter().filter(|function| function.cached || !cached);
        functions.map(|function| &function.name).collect::<BTreeSet<_>>().len()
    };
    if names(true) > 0 {
        out.push_str(&format!("{} of {} functions from the cache\n", names(true), names(false)));
    }
}

/// Writes the assumptions of infeasible verdicts and of complete sets of paths.
fn rests_on(out: &mut String, document: &Document, detail: Detail, style: Style) {
    let is_infeasible = |function: &ReportedFunction| {
        let mut ours = document.objectives.iter().filter(|objective| objective.function == function.name);
        ours.any(|objective| objective.status == Verdict::Infeasible)
    };
    let mut rows: Vec<(&str, &Assumption)> = Vec::new();
    for function in &document.functions {
        let complete = function.counts_paths() && function.exhaustive;
        let wanted = |assumption: &&Assumption| match assumption.binds_verdicts() {
            true => complete || is_infeasible(function),
            // The inputs that tests leave out are a long list.
            false => complete && detail == Detail::Everything,
        };
        for assumption in function.assumptions.iter().filter(wanted) {
            let row = (function.name.as_str(), assumption);
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    heading(out, style, Paint::Bold, "assumptions");
    for (function, assumption) in rows {
        out.push_str(&format!("  {function}: {} ({})\n", assumption.text, assumption.by));
    }
}

/// Writes the run-time errors: kind, source position, and the inputs of the first test. Several paths to one position share a
/// line.
fn errors(out: &mut String, document: &Document, style: Style) {
    let mut rows: Vec<(String, String, &str)> = Vec::new();
    let mut seen: BTreeMap<(&str, String), (usize, u64)> = BTreeMap::new();
    for test in &document.tests {
        let Some(error) = &test.error else { continue };
        let entry = seen.entry((&error.kind, error.at.display())).or_insert((rows.len(), 0));
        entry.1 += 1;
        if entry.1 == 1 {
            rows.push((error.kind.clone(), error.at.display(), test.brief.as_deref().unwrap_or_default()));
        }
    }
    if rows.is_empty() {
        return;
    }
    for (row, count) in seen.into_values().filter(|(_, count)| *count > 1) {
        rows[row].1.push_str(&format!(" ({count} paths)"));
    }
    heading(out, style, Paint::Red, "errors");
    let (kinds, places) = (longest(rows.iter().map(|row| &row.0)), longest(rows.iter().map(|row| &row.1)));
    for (kind, place, inputs) in &rows {
        out.push_str(&cut(&format!("  {kind:<kinds$}  {place:<places$}  {inputs}"), style.width));
        out.push('\n');
    }
}

/// Writes the number of objectives, by function, that only tests cover which end in an error.
fn covered_by_errors(out: &mut String, document: &Document, style: Style) {
    let Some((count, functions)) = by_function(document, |objective| objective.by_error) else { return };
    heading(out, style, Paint::Yellow, "covered by an error");
    let (objectives, have) = if count == 1 { ("objective", "has") } else { ("objectives", "have") };
    let line = format!("  {count} {objectives} {have} no test that returns: {functions}");
    out.push_str(&cut(&line, style.width));
    out.push('\n');
}

/// Writes the number of objectives, by function, that are covered only on heaps that were not shown reachable.
fn on_any_heap(out: &mut String, document: &Document, style: Style) {
    let rests = |objective: &Objective| objective.reason.as_deref() == Some(ON_ANY_HEAP.1);
    let Some((count, functions)) = by_function(document, rests) else { return };
    heading(out, style, Paint::Yellow, "covered in a state not shown reachable");
    let (objectives, are) = if count == 1 { ("objective", "is") } else { ("objectives", "are") };
    let line = format!("  {count} {objectives} {are} covered {}: {functions}", ON_ANY_HEAP.0);
    out.push_str(&cut(&line, style.width));
    out.push('\n');
}

/// Returns the number of selected objectives and a list of their functions, or `None` if there are none.
fn by_function(document: &Document, wanted: impl Fn(&Objective) -> bool) -> Option<(usize, String)> {
    let mut by_function: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for objective in document.objectives.iter().filter(|objective| wanted(objective)) {
        by_function.entry(objective.function.as_str()).or_default().insert(objective.id.as_str());
    }
    let count: usize = by_function.values().map(BTreeSet::len).sum();
    let mut most: Vec<(&str, usize)> = by_function.iter().map(|(name, ids)| (*name, ids.len())).collect();
    most.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let shown: Vec<String> = most.iter().map(|(name, count)| format!("{name} {count}")).collect();
    (count > 0).then(|| (count, shown.join(", ")))
}

fn rejections(out: &mut String, document: &Document, style: Style) {
    let found: Vec<&Test> = document.tests.iter().filter(|test| test.outcome == "oracle_rejected").collect();
    if found.is_empty() {
        return;
    }
    heading(out, style, Paint::Red, "rejected by the oracle");
    let names = longest(found.iter().map(|test| &test.id));
    for test in found {
        let line = format!("  {:<names$}  {}", test.id, test.brief.as_deref().unwrap_or_default());
        out.push_str(&cut(&line, style.width));
        out.push('\n');
    }
}

/// Writes the incomplete explorations, with the option that raises the bound.
fn incomplete(out: &mut String, document: &Document, style: Style) {
    let mut rows: Vec<(&ReportedFunction, &IncompletePaths)> = Vec::new();
    for function in &document.functions {
        for paths in &function.incomplete {
            // The criteria of a function share one exploration.
            let same = |(other, known): &(&ReportedFunction, &IncompletePaths)| {
                (&other.name, &other.file, *known) == (&function.name, &function.file, paths)
            };
            if !rows.iter().any(same) {
                rows.push((function, paths));
            }
        }
    }
    if rows.is_empty() {
        return;
    }
    heading(out, style, Paint::Yellow, "incomplete");
    for (function, paths) in rows {
        let place = if paths.at.file.is_some() { format!(" at {}", paths.at.display()) } else { String::new() };
        let what = match paths.why.split_once(": ") {
            Some(("bound", "interrupted")) => format!("interrupted{place}"),
            Some(("bound", flag)) => format!("bound hit{place}; raise {flag}"),
            Some(("world", doubt)) => format!("not decided{place}: {doubt}"),
            Some(("solver", why)) => format!("the solver gave up{place}: {why}"),
            _ => format!("{}{place}", paths.why),
        };
        let count = format!("{} {}", paths.count, if paths.count == 1 { "path" } else { "paths" });
        out.push_str(&format!("  {}: {what} ({count})\n", function.name));
    }
}

/// Writes every disagreement: it is either a wrong prediction or undefined behaviour.
fn disagreements(out: &mut String, document: &Document, style: Style) {
    let found: Vec<&Test> = document.tests.iter().filter(|test| test.replay == Replay::Disagreed).collect();
    if found.is_empty() {
        return;
    }
    heading(out, style, Paint::Red, "the real program disagrees");
    for test in found {
        out.push_str(&format!("  {}: {}\n", test.id, test.replay_why.as_deref().unwrap_or_default()));
    }
}

fn replay_line(out: &mut String, document: &Document, style: Style) {
    let (mut agreed, mut disagreed, mut unchecked) = (0u64, 0u64, BTreeMap::new());
    for test in &document.tests {
        match test.replay {
            Replay::Agreed => agreed += 1,
            Replay::Disagreed => disagreed += 1,
            Replay::NotCheckable => {
                *unchecked.entry(test.replay_why.as_deref().unwrap_or_default()).or_insert(0u64) += 1
            }
            Replay::NotRun => {}
        }
    }
    if agreed + disagreed == 0 && unchecked.is_empty() {
        let is_covered = |objective: &Objective| objective.status == Verdict::Covered && !objective.tests.is_empty();
        if !document.forms.is_empty() && document.objectives.iter().any(is_covered) {
            out.push_str("\nreplay: not run; coverage is predicted\n");
        }
        return;
    }
    let mut line = format!("{agreed} agreed");
    if disagreed > 0 {
        line.push_str(&format!(", {}", style.paint(Paint::Red, &format!("{disagreed} disagreed"))));
    }
    if !unchecked.is_empty() {
        line.push_str(&format!(", {} not checkable", unchecked.values().sum::<u64>()));
    }
    out.push_str(&format!("\nreplay: {line}\n"));
    for (why, count) in unchecked {
        out.push_str(&style.paint(Paint::Dim, &format!("  {count} not checkable: {why}")));
        out.push('\n');
    }
    let unconfirmed = |objective: &&Objective| objective.reason.as_deref() == Some("unconfirmed");
    match document.objectives.iter().filter(unconfirmed).count() {
        0 => {}
        1 => out.push_str("  1 objective should be covered, but no replay confirmed it\n"),
        count => out.push_str(&format!("  {count} objectives should be covered, but no replay confirmed them\n")),
    }
}
