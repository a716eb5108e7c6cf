//! Objectives without a test: what is infeasible in short, what is unknown one by one.

use crate::style::{Align, Paint, Style, columns, cut, heading};
use std::collections::BTreeMap;
use touchstone_base::Files;
use touchstone_criteria::{Campaign, Objective, Status};

/// So many infeasible objectives of a criterion are shown unless all are asked for.
const FIRST_FEW: usize = 3;

/// Counts a criterion, by how it was shown, and the first few.
pub(crate) fn infeasible(out: &mut String, campaign: &Campaign, files: &Files, verbose: bool, style: Style) {
    let mut by_criterion: Vec<(String, Vec<(String, &Objective)>)> = Vec::new();
    for objective in &campaign.objectives {
        let Status::Infeasible(why) = &objective.status else { continue };
        group(&mut by_criterion, objective.criterion.clone()).push((why.to_string(), objective));
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
        let first = if verbose { found.len() } else { FIRST_FEW.min(found.len()) };
        let shown: Vec<&Objective> = found[..first].iter().map(|(_, objective)| *objective).collect();
        push_list(out, &shown, files, style);
        if first < found.len() {
            out.push_str(&style.paint(Paint::Dim, &format!("    … and {} more", found.len() - first)));
            out.push('\n');
        }
    }
}

/// Each of them, under why it is unknown.
pub(crate) fn unknown(out: &mut String, campaign: &Campaign, files: &Files, style: Style) {
    let mut by_reason: Vec<(String, Vec<&Objective>)> = Vec::new();
    for objective in &campaign.objectives {
        let Status::Unknown(why) = &objective.status else { continue };
        group(&mut by_reason, why.to_string()).push(objective);
    }
    if by_reason.is_empty() {
        return;
    }
    heading(out, style, Paint::Yellow, "unknown");
    for (why, found) in by_reason {
        out.push_str(&format!("  {why}\n"));
        push_list(out, &found, files, style);
    }
}

/// The group with this name, in the order of first use.
fn group<T>(groups: &mut Vec<(String, Vec<T>)>, name: String) -> &mut Vec<T> {
    let index = groups.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
        groups.push((name, Vec::new()));
        groups.len() - 1
    });
    &mut groups[index].1
}

/// Identity, place and text, each under the other.
fn push_list(out: &mut String, objectives: &[&Objective], files: &Files, style: Style) {
    let row = |objective: &&Objective| [objective.id.clone(), objective.span.display(files), objective.text.clone()];
    let rows: Vec<[String; 3]> = objectives.iter().map(row).collect();
    for line in columns(&rows, [Align::Left; 3]) {
        out.push_str(&cut(&format!("    {line}"), style.width));
        out.push('\n');
    }
}
