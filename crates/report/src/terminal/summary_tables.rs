//! The tables at the head of the text report: one line for each file, then one for each function and criterion. Path criteria
//! have a table of their own, because their columns have other meanings.

use crate::document::{Counts, Document, ReportedFunction};
use crate::terminal::run_text::Detail;
use crate::terminal::style::{Align, Paint, Style, columns, selected_columns, width_of};
use std::collections::BTreeSet;

/// The width of the widest bar, in characters.
const BAR: usize = 8;
/// The width below which no bar is drawn, in characters.
const LEAST_BAR: usize = 4;

/// The largest number of functions that are listed in full without `--verbose`.
const MAX_FUNCTIONS_LISTED: usize = 20;

/// Writes the table of files, if there is more than one, then the tables of functions.
pub(crate) fn summary(out: &mut String, document: &Document, detail: Detail, style: Style) {
    // The section on the change counts unaffected functions.
    let unaffected: BTreeSet<&str> =
        document.change.iter().flat_map(|change| &change.unaffected).map(String::as_str).collect();
    let shown = document.functions.iter().filter(|function| !unaffected.contains(function.name.as_str()));
    let (paths, goals): (Vec<_>, Vec<_>) = shown.partition(|function| function.counts_paths());
    if !unaffected.is_empty() && paths.is_empty() && goals.is_empty() {
        return;
    }
    file_table(out, &goals, style);
    if !paths.is_empty() || goals.is_empty() {
        path_table(out, &paths, style);
    }
    if !goals.is_empty() {
        if !paths.is_empty() {
            out.push('\n');
        }
        function_tables(out, &goals, detail, style);
    }
}

/// Writes one line for each file and criterion if there are several files.
fn file_table(out: &mut String, functions: &[&ReportedFunction], style: Style) {
    let mut rows: Vec<(&str, &str, Counts, BTreeSet<&str>)> = Vec::new();
    for function in functions {
        let (file, criterion) = (function.file.as_str(), &*function.criterion);
        let index = rows.iter().position(|row| (row.0, row.1) == (file, criterion)).unwrap_or_else(|| {
            rows.push((file, criterion, Counts::default(), BTreeSet::new()));
            rows.len() - 1
        });
        let (_, _, sum, names) = &mut rows[index];
        sum.total += function.objectives.total;
        sum.covered += function.objectives.covered;
        sum.infeasible += function.objectives.infeasible;
        sum.unknown += function.objectives.unknown;
        names.insert(&function.name);
    }
    if rows.iter().map(|row| row.0).collect::<BTreeSet<_>>().len() < 2 {
        return;
    }
    rows.sort_by_key(|row| row.0);
    let head = ["file", "criterion", "functions", "covered", "infeasible", "unknown", "of feasible"];
    let mut cells = vec![head.map(str::to_string)];
    let mut previous = None;
    for (file, criterion, counts, names) in &rows {
        // The name of a file is only in the first of its lines.
        let name = if previous == Some(file) { String::new() } else { file.to_string() };
        previous = Some(file);
        cells.push([
            name,
            criterion.to_string(),
            names.len().to_string(),
            format!("{}/{}", counts.covered, counts.total),
            counts.infeasible.to_string(),
            counts.unknown.to_string(),
            share(counts, 0).0,
        ]);
    }
    let mut align = [Align::Right; 7];
    (align[0], align[1], align[6]) = (Align::Left, Align::Left, Align::Left);
    push_fitting(out, &cells, align, &[&[0, 1, 2, 3, 4, 5, 6], &[0, 1, 3, 4, 5, 6]], style);
    out.push('\n');
}

/// Writes the functions: all of them, or those with open objectives if there are many and the user wants it short.
fn function_tables(out: &mut String, functions: &[&ReportedFunction], detail: Detail, style: Style) {
    let count = functions.iter().map(|function| (&function.file, &function.name)).collect::<BTreeSet<_>>().len();
    if detail == Detail::Everything || count <= MAX_FUNCTIONS_LISTED {
        return goal_table(out, functions, style);
    }
    let is_open = |function: &&ReportedFunction| {
        let counts = &function.objectives;
        counts.covered + counts.infeasible < counts.total
    };
    let open: Vec<&ReportedFunction> = functions.iter().copied().filter(is_open).collect();
    let named = open.iter().map(|function| (&function.file, &function.name)).collect::<BTreeSet<_>>().len();
    if !open.is_empty() {
        goal_table(out, &open, style);
    }
    let rest = count - named;
    if rest > 0 {
        let line = format!("{rest} functions are decided completely; --verbose lists them");
        out.push_str(&style.paint(Paint::Dim, &line));
        out.push('\n');
    }
}

fn path_table(out: &mut String, functions: &[&ReportedFunction], style: Style) {
    let head =
        ["function", "criterion", "tests", "paths", "infeasible", "errors", "incomplete", "explore", "replay", ""];
    let mut rows = vec![head.map(str::to_string)];
    for function in functions {
        let paths = &function.paths;
        let mut complete = if function.exhaustive {
            style.paint(Paint::Green, "complete")
        } else {
            style.paint(Paint::Yellow, "incomplete")
        };
        if paths.longer > 0 {
            let longer = if function.criterion.starts_with("block") { "visits" } else { "iterations" };
            complete.push_str(&format!(" ({} with more {} left out)", paths.longer, longer));
        }
        rows.push([
            function.name.clone(),
            function.criterion.to_string(),
            function.tests.to_string(),
            paths.explored.to_string(),
            paths.infeasible.to_string(),
            paths.error.to_string(),
            paths.incomplete.to_string(),
            seconds(function.seconds),
            replay_seconds(function),
            complete,
        ]);
    }
    let mut align = [Align::Right; 10];
    (align[0], align[1], align[9]) = (Align::Left, Align::Left, Align::Left);
    push_fitting(out, &rows, align, &[&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], &[0, 1, 2, 3, 4, 5, 6, 9]], style);
}

fn goal_table(out: &mut String, functions: &[&ReportedFunction], style: Style) {
    let rows = |bar: usize| {
        let head = [
            "function",
            "criterion",
            "covered",
            "infeasible",
            "unknown",
            "of feasible",
            "",
            "tests",
            "explore",
            "replay",
        ];
        let mut rows = vec![head.map(str::to_string)];
        let mut before: Option<&ReportedFunction> = None;
        for function in functions {
            rows.push(goal_row(function, before, bar));
            before = Some(function);
        }
        rows
    };
    let mut align = [Align::Right; 10];
    (align[0], align[1], align[5], align[6]) = (Align::Left, Align::Left, Align::Left, Align::Left);
    const ALL: [usize; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    const WITHOUT_BAR: [usize; 9] = [0, 1, 2, 3, 4, 5, 7, 8, 9];
    const WITHOUT_TIMES: [usize; 7] = [0, 1, 2, 3, 4, 5, 7];
    // The bar takes the columns that are left.
    let bar = style.width.saturating_sub(width_of(&columns(&rows(0), align))).min(BAR);
    let bar = if bar < LEAST_BAR { 0 } else { bar };
    push_fitting(out, &rows(bar), align, &[&ALL, &WITHOUT_BAR, &WITHOUT_TIMES], style);
}

/// Writes a table with the first selection of columns that fits. If none fits, each name gets a line of its own: a name is
/// never truncated.
fn push_fitting<const N: usize>(
    out: &mut String,
    rows: &[[String; N]],
    align: [Align; N],
    selections: &[&[usize]],
    style: Style,
) {
    for selected in selections {
        // A last column without a header is a remark, which may continue on the next line.
        let table = match selected.split_last() {
            Some((&last, rest)) if rows[0][last].is_empty() => rest,
            _ => selected,
        };
        if width_of(&selected_columns(rows, align, table)) <= style.width {
            return push_table(out, &selected_columns(rows, align, selected), style);
        }
    }
    let Some(narrowest) = selections.last() else { return };
    let lines = selected_columns(rows, align, &narrowest[1..]);
    for (index, (row, line)) in rows.iter().zip(&lines).enumerate() {
        if !row[0].is_empty() {
            out.push_str(&if index == 0 { style.paint(Paint::Bold, &row[0]) } else { row[0].clone() });
            out.push('\n');
        }
        let line = format!("  {line}");
        out.push_str(&if index == 0 { style.paint(Paint::Bold, &line) } else { line });
        out.push('\n');
    }
}

/// Returns the row of one criterion of a function. The criteria of a function share one exploration, so only its first
/// row has the name, the tests and the times.
fn goal_row(function: &ReportedFunction, before: Option<&ReportedFunction>, bar: usize) -> [String; 10] {
    let same = |other: &ReportedFunction| {
        let key = |result: &ReportedFunction| (result.tests, result.seconds.to_bits(), result.replay_seconds.to_bits());
        other.name == function.name && other.file == function.file && key(other) == key(function)
    };
    let counts = &function.objectives;
    let (percent, blocks) = share(counts, bar);
    let mut row = [
        function.name.clone(),
        function.criterion.to_string(),
        format!("{}/{}", counts.covered, counts.total),
        counts.infeasible.to_string(),
        counts.unknown.to_string(),
        percent,
        blocks,
        function.tests.to_string(),
        seconds(function.seconds),
        replay_seconds(function),
    ];
    if before.is_some_and(same) {
        for column in [0, 7, 8, 9] {
            row[column].clear();
        }
    }
    row
}

/// Returns the covered share of the feasible objectives with its bar: `95% of 40`. Rounded down, so that only full
/// coverage is 100 %. Straight-line code without objectives has nothing to cover.
fn share(counts: &Counts, bar: usize) -> (String, String) {
    let feasible = counts.total.saturating_sub(counts.infeasible);
    if counts.total == 0 {
        return ("nothing to cover".to_string(), String::new());
    }
    if feasible == 0 {
        return ("-".to_string(), String::new());
    }
    let covered = counts.covered.min(feasible);
    let percent = covered * 100 / feasible;
    let percent = if percent == 0 && covered > 0 { " <1".to_string() } else { format!("{percent:>3}") };
    let full = usize::try_from(covered * bar as u64 / feasible).unwrap_or(bar).min(bar);
    (format!("{percent}% of {feasible}"), "█".repeat(full) + &"░".repeat(bar - full))
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.2}")
}

/// Returns the time of the replay; a dash without one.
fn replay_seconds(function: &ReportedFunction) -> String {
    if function.replay_seconds > 0.0 { seconds(function.replay_seconds) } else { "-".to_string() }
}

fn push_table(out: &mut String, lines: &[String], style: Style) {
    for (index, line) in lines.iter().enumerate() {
        out.push_str(&if index == 0 { style.paint(Paint::Bold, line) } else { line.clone() });
        out.push('\n');
    }
}
