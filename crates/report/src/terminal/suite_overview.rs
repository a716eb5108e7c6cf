//! The terminal's summary of a measured suite: totals by criterion, then the files, lowest coverage first.

use crate::analysis::figures::{Figures, Tally, across_variants};
use crate::document::suggestions::MissingAssertion;
use crate::document::{Document, Objective, TestState, Verdict};
use crate::terminal::run_text::Detail;
use crate::terminal::style::{Align, Paint, Style, columns, cut, heading};
use std::collections::BTreeSet;

/// The width of the widest bar, in characters.
const BAR: usize = 20;
/// The number of entries that each list shows.
const MAX_LISTED: usize = 20;

/// Renders the summary of a measured suite.
pub fn overview(document: &Document, detail: Detail, style: Style) -> String {
    let figures = Figures::new(document);
    let mut out = String::new();
    if figures.total.is_empty() {
        out.push_str("no objectives\n");
        return out;
    }
    totals(&mut out, &figures, style);
    let folder = common_folder(figures.worst_first().iter().map(|(file, _)| *file));
    files(&mut out, &figures, folder, style);
    state(&mut out, document, style);
    open(&mut out, document, folder, detail, style);
    suggestions(&mut out, document, style);
    not_measured(&mut out, document, style);
    excluded(&mut out, document, style);
    out
}

fn totals(out: &mut String, figures: &Figures, style: Style) {
    let some = figures.total.iter().any(|(_, tally)| tally.unmeasured > 0);
    let head = ["criterion", "covered", "infeasible", if some { "not measured" } else { "" }, "of feasible"];
    let mut rows = vec![head.map(str::to_string)];
    for (criterion, tally) in figures.total.iter() {
        let share = format!("{:>5} of {}", tally.percent(), tally.feasible());
        let covered = format!("{}/{}", tally.covered, tally.total);
        let unmeasured = if some { tally.unmeasured.to_string() } else { String::new() };
        rows.push([criterion.to_string(), covered, tally.infeasible.to_string(), unmeasured, share]);
    }
    let aligned = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];
    let lines = match some {
        true => columns(&rows, aligned),
        false => {
            let rows: Vec<[String; 4]> = rows.into_iter().map(|[a, b, c, _, e]| [a, b, c, e]).collect();
            columns(&rows, [Align::Left, Align::Right, Align::Right, Align::Left])
        }
    };
    let widest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let bar = style.width.saturating_sub(widest + 2).min(BAR);
    let tallies = figures.total.iter().map(|(_, tally)| Some(tally));
    for (line, tally) in lines.iter().zip(std::iter::once(None).chain(tallies)) {
        match tally {
            None => out.push_str(&style.paint(Paint::Bold, &cut(line, style.width))),
            Some(tally) => {
                let line = cut(line, style.width);
                let fill = widest.saturating_sub(line.chars().count()) + 2;
                out.push_str(&line);
                if bar >= 4 && tally.feasible() > 0 {
                    out.push_str(&" ".repeat(fill));
                    out.push_str(&paint_bar(tally, bar, style));
                }
            }
        }
        out.push('\n');
    }
}

/// Returns the common directory of all files if all paths are absolute, else the empty string.
fn common_folder<'d>(files: impl Iterator<Item = &'d str>) -> &'d str {
    let folder = |file: &'d str| file.rsplit_once('/').map_or("", |(folder, _)| &file[..=folder.len()]);
    let mut common: Option<&str> = None;
    for file in files {
        let mut shared = common.unwrap_or(folder(file));
        while !file.starts_with(shared) {
            shared = folder(shared.trim_end_matches('/'));
        }
        common = Some(shared);
    }
    common.filter(|folder| folder.starts_with('/')).unwrap_or("")
}

/// Writes one line for each file: a bar over all criteria, then the criteria that fit.
fn files(out: &mut String, figures: &Figures, folder: &str, style: Style) {
    let worst = figures.worst_first();
    if worst.is_empty() {
        return;
    }
    let inside = if folder.is_empty() { String::new() } else { format!(" in {}", folder.trim_end_matches('/')) };
    heading(out, style, Paint::Bold, &format!("files{inside}, lowest coverage first"));
    let short = |file: &str| file.strip_prefix(folder).unwrap_or(file).to_string();
    let criteria: Vec<&str> = figures.total.iter().map(|(name, _)| name).collect();
    let cell = |tally: Option<&Tally>| tally.map_or("–".to_string(), Tally::percent);
    let column = |name: &str| {
        let cells = worst.iter().take(MAX_LISTED).map(|(_, tallies)| cell(tallies.get(name)).chars().count());
        cells.max().unwrap_or(0).max(name.len())
    };
    let wide = worst.iter().take(MAX_LISTED).map(|(file, _)| short(file).chars().count()).max().unwrap_or(0);
    let bar = if style.width >= 60 { 10 } else { 5 };
    // A file name is never truncated; the criteria take the columns that are left.
    let name_width = wide.max(4);
    let mut left = style.width.saturating_sub(2 + bar + 2 + 5 + 2 + name_width);
    let mut shown: Vec<(&str, usize)> = Vec::new();
    if criteria.len() > 1 {
        for name in &criteria {
            let width = column(name);
            if left < width + 2 {
                break;
            }
            left -= width + 2;
            shown.push((name, width));
        }
    }
    let mut head = format!("  {:bar$}  {:>5}", "", "all");
    for (name, width) in &shown {
        head.push_str(&format!("  {name:>width$}"));
    }
    head.push_str("  file");
    out.push_str(&style.paint(Paint::Dim, &head));
    out.push('\n');
    for (file, tallies) in worst.iter().take(MAX_LISTED) {
        let sum = tallies.sum();
        let mut line = format!("{:>5}", sum.percent());
        for (name, width) in &shown {
            line.push_str(&format!("  {:>width$}", cell(tallies.get(name))));
        }
        let file = if file.is_empty() { "<no file>".to_string() } else { short(file) };
        out.push_str(&format!("  {}  {line}  {}\n", paint_bar(&sum, bar, style), file));
    }
    more(out, worst.len(), "files", style);
}

/// Writes the share of checked state for each test, lowest first.
fn state(out: &mut String, document: &Document, style: Style) {
    if document.state.is_empty() {
        return;
    }
    heading(out, style, Paint::Bold, "state coverage by test, lowest first");
    let tests = document.least_checked_first();
    let row = |test: &&TestState| {
        let why = test.unknown.iter().map(|why| format!(": unknown: {why}"));
        [test.share(), std::iter::once(test.test.clone()).chain(why).collect()]
    };
    let rows: Vec<[String; 2]> = tests.iter().take(MAX_LISTED).map(row).collect();
    for line in columns(&rows, [Align::Right, Align::Left]) {
        out.push_str(&cut(&format!("  {line}"), style.width));
        out.push('\n');
    }
    more(out, tests.len(), "tests", style);
}

/// Writes the number of objectives that are not covered, and lists them if the user wants all details.
fn open(out: &mut String, document: &Document, folder: &str, detail: Detail, style: Style) {
    let objectives = across_variants(document);
    let mut found: Vec<_> = objectives
        .iter()
        .filter(|o| o.excluded.is_none() && matches!(o.status, Verdict::Unknown | Verdict::Uncovered))
        .filter(|o| o.not_measured().is_none())
        .collect();
    if found.is_empty() {
        return;
    }
    found.sort_by_key(|o| (&o.at.file, o.at.line, o.at.column, &o.criterion, crate::export::position(&o.id)));
    heading(out, style, Paint::Yellow, &format!("not covered ({})", found.len()));
    if detail == Detail::Short {
        out.push_str(&style.paint(Paint::Dim, "  --verbose lists them"));
        out.push('\n');
        return;
    }
    let rows: Vec<[String; 3]> = found
        .iter()
        .map(|objective| {
            let at = objective.at.display();
            let at = at.strip_prefix(folder).unwrap_or(&at).to_string();
            [at, objective.criterion.clone(), asked(objective)]
        })
        .collect();
    for line in columns(&rows, [Align::Left; 3]) {
        out.push_str(&cut(&format!("  {line}"), style.width));
        out.push('\n');
    }
}

/// Writes the suggested assertions.
fn suggestions(out: &mut String, document: &Document, style: Style) {
    let found = &document.suggestions;
    if !found.assertions.is_empty() {
        let objectives: BTreeSet<&String> =
            found.assertions.iter().flat_map(|assertion| &assertion.objectives).collect();
        let count = found.assertions.len();
        let what = format!("assertions to add ({count}): they check {} pieces of state", objectives.len());
        heading(out, style, Paint::Green, &what);
    }
    for assertion in found.assertions.iter().take(MAX_LISTED) {
        let MissingAssertion { test, file, line, statement, checks, .. } = assertion;
        out.push_str(&cut(&format!("  {file}:{line}  {statement}"), style.width));
        out.push('\n');
        let about = format!("      checks {} in {test}", checks.join(", "));
        out.push_str(&style.paint(Paint::Dim, &cut(&about, style.width)));
        out.push('\n');
    }
    more(out, found.assertions.len(), "assertions", style);
    by_reason(out, "no assertion found", found.none.iter().map(|none| none.why.as_str()), style);
}

/// Writes the number of objectives that were not measured, by reason.
fn not_measured(out: &mut String, document: &Document, style: Style) {
    let objectives = across_variants(document);
    let counted = objectives.iter().filter(|objective| objective.excluded.is_none());
    by_reason(
        out,
        "not measured: neither covered nor uncovered",
        counted.filter_map(|objective| objective.not_measured()),
        style,
    );
}

/// Writes the number of objectives that comments exclude, by reason.
fn excluded(out: &mut String, document: &Document, style: Style) {
    let objectives = across_variants(document);
    let found = objectives.iter().filter_map(|objective| objective.excluded.as_deref());
    by_reason(out, "excluded by comments", found, style);
}

fn by_reason<'d>(out: &mut String, title: &str, found: impl Iterator<Item = &'d str>, style: Style) {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for reason in found {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    if reasons.is_empty() {
        return;
    }
    heading(out, style, Paint::Bold, title);
    for (reason, count) in reasons {
        out.push_str(&cut(&format!("  {count:>5}  {reason}"), style.width));
        out.push('\n');
    }
}

fn more(out: &mut String, count: usize, what: &str, style: Style) {
    if count > MAX_LISTED {
        out.push_str(&style.paint(Paint::Dim, &format!("  … and {} more {what}", count - MAX_LISTED)));
        out.push('\n');
    }
}

fn paint_bar(tally: &Tally, width: usize, style: Style) -> String {
    let tenths = tally.per_mille().unwrap_or(1000);
    let full = usize::try_from(tenths).unwrap_or(1000) * width / 1000;
    let paint = match tenths {
        1000 => Paint::Green,
        500.. => Paint::Yellow,
        _ => Paint::Red,
    };
    style.paint(paint, &("█".repeat(full) + &"░".repeat(width - full)))
}

/// Returns the text of an objective, with the reason if a measured objective is not covered.
fn asked(objective: &Objective) -> String {
    let variant = objective.variant.as_deref().map_or(String::new(), |variant| format!(" [{variant}]"));
    match &objective.why {
        Some(why) if objective.status == Verdict::Uncovered => format!("{}{variant} ({why})", objective.text),
        _ => format!("{}{variant}", objective.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_directory_that_all_are_in() {
        let check =
            |files: &[&str], expected: &str| assert_eq!(common_folder(files.iter().copied()), expected, "{files:?}");
        check(&["/home/p/src/a.c", "/home/p/src/b.c"], "/home/p/src/");
        check(&["/home/p/src/a.c", "/home/p/tests/b.c", "/home/p/c.c"], "/home/p/");
        check(&["/home/p/src/a.c", "/home/pp/src/a.c"], "/home/");
        check(&["/home/a.c", "/usr/b.c"], "/");
        check(&["src/a.c", "src/b.c"], "");
        check(&["/home/a.c", "src/b.c"], "");
        check(&["/home/a.c"], "/home/");
        check(&["", "/home/a.c"], "");
        check(&[], "");
    }
}
