//! The head of the text: one line a function and criterion. Criteria that count paths and criteria that have objectives are
//! tables of their own, because hardly a column means the same for both.

use crate::document::{Counts, Document, Function};
use crate::style::{Align, Paint, Style, columns};
use std::collections::BTreeSet;

/// Blocks of the widest bar.
const BAR: usize = 8;
/// A bar with fewer blocks says nothing.
const LEAST_BAR: usize = 4;

/// Names of functions get at least so many columns.
const LEAST_NAME: usize = 12;

/// A name in so many columns.
fn cut_name(name: &str, most: usize) -> String {
    match name.chars().count() > most {
        true => name.chars().take(most - 1).chain(['…']).collect(),
        false => name.to_string(),
    }
}

/// Both tables, as far as they have lines.
pub(crate) fn summary(out: &mut String, document: &Document, style: Style) {
    // What a change does not touch is counted below.
    let unaffected: BTreeSet<&str> =
        document.change.iter().flat_map(|change| &change.unaffected).map(String::as_str).collect();
    let shown = document.functions.iter().filter(|function| !unaffected.contains(function.name.as_str()));
    let (paths, goals): (Vec<_>, Vec<_>) = shown.partition(|function| function.counts_paths());
    if !unaffected.is_empty() && paths.is_empty() && goals.is_empty() {
        return;
    }
    if !paths.is_empty() || goals.is_empty() {
        path_table(out, &paths, style);
    }
    if !goals.is_empty() {
        if !paths.is_empty() {
            out.push('\n');
        }
        goal_table(out, &goals, style);
    }
}

fn path_table(out: &mut String, functions: &[&Function], style: Style) {
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
    push_table(out, &columns(&rows, align), style);
}

fn goal_table(out: &mut String, functions: &[&Function], style: Style) {
    let rows = |bar: usize, most: usize| {
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
        let mut before: Option<&Function> = None;
        for function in functions {
            let mut row = goal_row(function, before, bar);
            row[0] = cut_name(&row[0], most);
            rows.push(row);
            before = Some(function);
        }
        let mut align = [Align::Right; 10];
        (align[0], align[1], align[5], align[6]) = (Align::Left, Align::Left, Align::Left, Align::Left);
        columns(&rows, align)
    };
    let width = |lines: &[String]| lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    // The bar gets what is left of the line.
    let least = width(&rows(0, usize::MAX));
    let names = functions.iter().map(|function| function.name.chars().count()).max().unwrap_or(0);
    let most = names.saturating_sub(least.saturating_sub(style.width)).max(LEAST_NAME);
    let bar = style.width.saturating_sub(least).min(BAR);
    push_table(out, &rows(if bar < LEAST_BAR { 0 } else { bar }, most), style);
}

/// One criterion of a function. The criteria of one function share their exploration, so its name, tests and times stand
/// only in the first of its lines.
fn goal_row(function: &Function, before: Option<&Function>, bar: usize) -> [String; 10] {
    let same = |other: &Function| {
        let key = |result: &Function| (result.tests, result.seconds.to_bits(), result.replay_seconds.to_bits());
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

/// `95% of 40` with its bar: covered of what is not infeasible. Rounded down, so that only all is 100 %. Straight-line code
/// has no decision: that is nothing to cover, and no bad result.
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

/// A dash where nothing was replayed.
fn replay_seconds(function: &Function) -> String {
    if function.replay_seconds > 0.0 { seconds(function.replay_seconds) } else { "-".to_string() }
}

fn push_table(out: &mut String, lines: &[String], style: Style) {
    for (index, line) in lines.iter().enumerate() {
        out.push_str(&if index == 0 { style.paint(Paint::Bold, line) } else { line.clone() });
        out.push('\n');
    }
}
