//! Objectives without a test: what is infeasible in short, what is unknown one by one.

use crate::document::{Document, Objective, Verdict};
use crate::style::{Align, Paint, Style, columns, cut, heading};
use crate::text::Detail;
use std::collections::BTreeMap;

/// So many infeasible objectives of a criterion are shown unless all are asked for.
const FIRST_FEW: usize = 3;

/// Counts a criterion, by how it was shown, and the first few.
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
        let first = if detail == Detail::Everything { found.len() } else { FIRST_FEW.min(found.len()) };
        let shown: Vec<&Objective> = found[..first].iter().map(|(_, objective)| *objective).collect();
        push_list(out, &shown, style);
        if first < found.len() {
            out.push_str(&style.paint(Paint::Dim, &format!("    … and {} more", found.len() - first)));
            out.push('\n');
        }
    }
}

/// Each of them, under why it is unknown.
pub(crate) fn unknown(out: &mut String, document: &Document, style: Style) {
    let mut by_reason: Vec<(&str, Vec<&Objective>)> = Vec::new();
    for objective in with(document, Verdict::Unknown) {
        group(&mut by_reason, why(objective)).push(objective);
    }
    if by_reason.is_empty() {
        return;
    }
    heading(out, style, Paint::Yellow, "unknown");
    for (why, found) in by_reason {
        out.push_str(&format!("  {why}\n"));
        push_list(out, &found, style);
    }
}

/// The objectives of this status.
fn with(document: &Document, status: Verdict) -> impl Iterator<Item = &Objective> {
    document.objectives.iter().filter(move |objective| objective.status == status)
}

/// How that is known, or why it isn't.
fn why(objective: &Objective) -> &str {
    objective.why.as_deref().unwrap_or_default()
}

/// The group with this name, in the order of first use.
fn group<'n, 'g, T>(groups: &'g mut Vec<(&'n str, Vec<T>)>, name: &'n str) -> &'g mut Vec<T> {
    let index = groups.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
        groups.push((name, Vec::new()));
        groups.len() - 1
    });
    &mut groups[index].1
}

/// Identity, place and text, each under the other.
fn push_list(out: &mut String, objectives: &[&Objective], style: Style) {
    let row = |objective: &&Objective| [objective.id.clone(), objective.at.display(), objective.text.clone()];
    let rows: Vec<[String; 3]> = objectives.iter().map(row).collect();
    for line in columns(&rows, [Align::Left; 3]) {
        out.push_str(&cut(&format!("    {line}"), style.width));
        out.push('\n');
    }
}
