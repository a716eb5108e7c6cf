//! Objectives without a test: infeasible ones by proof, unknown ones by reason.

use crate::document::{Document, Objective, Verdict};
use crate::terminal::run_text::Detail;
use crate::terminal::style::{Align, Paint, Style, columns, cut, heading};
use std::collections::BTreeMap;

/// The number of objectives that are listed under each proof or reason without `--verbose`.
const MAX_LISTED: usize = 3;

/// Writes the number of infeasible objectives of each criterion by proof, and the first ones.
pub(crate) fn infeasible(out: &mut String, document: &Document, detail: Detail, style: Style) {
    let mut by_criterion: Vec<(&str, Vec<(&str, &Objective)>)> = Vec::new();
    for objective in with(document, Verdict::Infeasible) {
        group(&mut by_criterion, &objective.criterion).push((why(objective), objective));
    }
    if by_criterion.is_empty() {
        return;
    }
    heading(out, style, Paint::Bold, "infeasible");
    for (criterion, found) in by_criterion {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (why, _) in &found {
            *counts.entry(why).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(why, count)| format!("{count} {why}")).collect();
        out.push_str(&cut(&format!("  {criterion}: {}", counts.join(", ")), style.width));
        out.push('\n');
        let objectives: Vec<&Objective> = found.iter().map(|(_, objective)| *objective).collect();
        push_first(out, &objectives, detail, style);
    }
}

/// Writes the unknown objectives by reason.
pub(crate) fn unknown(out: &mut String, document: &Document, detail: Detail, style: Style) {
    let mut by_reason: Vec<(&str, Vec<&Objective>)> = Vec::new();
    for objective in with(document, Verdict::Unknown) {
        group(&mut by_reason, why(objective)).push(objective);
    }
    if by_reason.is_empty() {
        return;
    }
    heading(out, style, Paint::Yellow, "unknown");
    for (why, found) in by_reason {
        let count = if found.len() > 1 { format!(" ({} objectives)", found.len()) } else { String::new() };
        out.push_str(&format!("  {why}{count}\n"));
        push_first(out, &found, detail, style);
    }
}

/// Returns the objectives with a verdict.
fn with(document: &Document, status: Verdict) -> impl Iterator<Item = &Objective> {
    document.objectives.iter().filter(move |objective| objective.status == status)
}

/// Returns the proof of an infeasible objective, or the reason of an unknown one.
fn why(objective: &Objective) -> &str {
    objective.why.as_deref().unwrap_or_default()
}

/// Returns the group with a name, and adds it if it is missing. Groups keep the order of first use.
fn group<'n, 'g, T>(groups: &'g mut Vec<(&'n str, Vec<T>)>, name: &'n str) -> &'g mut Vec<T> {
    let index = groups.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
        groups.push((name, Vec::new()));
        groups.len() - 1
    });
    &mut groups[index].1
}

/// Writes all objectives, or the first ones and the number of the others.
fn push_first(out: &mut String, objectives: &[&Objective], detail: Detail, style: Style) {
    let first = if detail == Detail::Everything { objectives.len() } else { MAX_LISTED.min(objectives.len()) };
    push_list(out, &objectives[..first], style);
    if first < objectives.len() {
        let line = format!("    … and {} more; --verbose lists them", objectives.len() - first);
        out.push_str(&style.paint(Paint::Dim, &line));
        out.push('\n');
    }
}

/// Writes id, source position and text of each objective.
fn push_list(out: &mut String, objectives: &[&Objective], style: Style) {
    let row = |objective: &&Objective| [objective.id.clone(), objective.at.display(), objective.text.clone()];
    let rows: Vec<[String; 3]> = objectives.iter().map(row).collect();
    for line in columns(&rows, [Align::Left; 3]) {
        out.push_str(&cut(&format!("    {line}"), style.width));
        out.push('\n');
    }
}
