//! Marks in the source view: the objectives of one source range form one mark.

use crate::document::{Decision, Objective, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;
use touchstone_criteria::{CoverageKind, coverage_kind};

/// The maximum number of lines of a mark; a longer range (a whole switch) is only marked in the gutter.
const MAX_MARK_LINES: u32 = 8;
/// The maximum number of objectives in a tooltip.
const MAX_TOOLTIP_OBJECTIVES: usize = 8;

/// The combined status of several objectives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum MarkStatus {
    /// All are infeasible.
    Infeasible,
    /// None was measured.
    Unmeasured,
    /// All are excluded by comments or unaffected by a change.
    Excluded,
    /// All feasible ones are covered.
    Covered,
    /// Some are covered.
    Half,
    /// None is covered.
    Uncovered,
}

impl MarkStatus {
    pub(super) fn class(self) -> &'static str {
        match self {
            MarkStatus::Infeasible => "i",
            MarkStatus::Unmeasured => "m",
            MarkStatus::Excluded => "x",
            MarkStatus::Covered => "c",
            MarkStatus::Half => "h",
            MarkStatus::Uncovered => "u",
        }
    }

    /// Returns the combined status of objectives; `None` for none.
    pub(super) fn of<'a>(objectives: impl IntoIterator<Item = &'a &'a Objective>) -> Option<MarkStatus> {
        let (mut all, mut excluded, mut unmeasured, mut feasible, mut covered) = (0, 0, 0, 0, 0);
        for objective in objectives {
            all += 1;
            if objective.excluded.is_some() || objective.status == Verdict::Unaffected {
                excluded += 1;
                continue;
            }
            if objective.not_measured().is_some() {
                unmeasured += 1;
                continue;
            }
            feasible += usize::from(objective.status != Verdict::Infeasible);
            covered += usize::from(objective.status == Verdict::Covered);
        }
        match (all, feasible) {
            (0, _) => None,
            _ if excluded == all => Some(MarkStatus::Excluded),
            (_, 0) if unmeasured > 0 => Some(MarkStatus::Unmeasured),
            (_, 0) => Some(MarkStatus::Infeasible),
            _ if covered == feasible => Some(MarkStatus::Covered),
            _ if covered == 0 => Some(MarkStatus::Uncovered),
            _ => Some(MarkStatus::Half),
        }
    }
}

/// A range: lines and columns from 1, with an exclusive end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Extent {
    pub(super) from: (u32, u32),
    pub(super) to: (u32, u32),
}

/// A marked range.
pub(super) struct Mark {
    pub(super) extent: Extent,
    pub(super) state: MarkStatus,
    /// The truth table that it opens, by its number in the file.
    pub(super) decision: Option<usize>,
    /// The tooltip.
    pub(super) title: String,
}

/// A sort key: by beginning, then the one that ends last.
type OuterFirst = (u32, u32, std::cmp::Reverse<(u32, u32)>);

/// Returns the marks of a file: outer ones before inner ones, without overlaps.
pub(super) fn marks(objectives: &[&Objective], decisions: &[&Decision]) -> Vec<Mark> {
    let mut groups: BTreeMap<OuterFirst, Vec<&Objective>> = BTreeMap::new();
    for objective in
        objectives.iter().filter(|objective| coverage_kind(&objective.criterion) != CoverageKind::Statements)
    {
        if let Some(Extent { from, to }) = extent(&objective.at) {
            groups.entry((from.0, from.1, std::cmp::Reverse(to))).or_default().push(objective);
        }
    }
    let tables = tables(decisions);
    let mut open: Vec<Extent> = Vec::new();
    let mut marks = Vec::new();
    for ((line, column, std::cmp::Reverse(to)), group) in groups {
        let extent = Extent { from: (line, column), to };
        open.retain(|outer| outer.to > extent.from);
        // A range that overlaps another one (because of macros) is only shown in the gutter.
        if open.iter().any(|outer| outer.to < extent.to) {
            continue;
        }
        let Some(state) = MarkStatus::of(&group) else { continue };
        open.push(extent);
        marks.push(Mark { extent, state, decision: tables.get(&extent).copied(), title: title(&group) });
    }
    marks
}

/// Returns the range, if it can be marked.
fn extent(at: &crate::document::ReportedRange) -> Option<Extent> {
    let (from, to) = ((at.line?, at.column?), (at.end_line?, at.end_column?));
    let usable = from.0 > 0 && from.1 > 0 && from < to && to.0 - from.0 < MAX_MARK_LINES;
    usable.then_some(Extent { from, to })
}

/// Maps ranges to truth tables: that of a decision, and those of its conditions.
fn tables(decisions: &[&Decision]) -> BTreeMap<Extent, usize> {
    let mut tables = BTreeMap::new();
    for (number, decision) in decisions.iter().enumerate() {
        for at in decision.conditions.iter().map(|condition| &condition.at).chain([&decision.at]) {
            if let Some(extent) = extent(at) {
                tables.entry(extent).or_insert(number);
            }
        }
    }
    tables
}

/// Returns one line for each objective, open ones first.
fn title(group: &[&Objective]) -> String {
    let mut sorted: Vec<&&Objective> = group.iter().collect();
    sorted.sort_by_key(|objective| (objective.status == Verdict::Covered, objective.status));
    let mut out = String::new();
    for objective in sorted.iter().take(MAX_TOOLTIP_OBJECTIVES) {
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = write!(out, "{} {}: {}", sign(objective), objective.criterion, objective.text);
        if let Some(variant) = &objective.variant {
            let _ = write!(out, " [{variant}]");
        }
        if let Some(count) = objective.count {
            let _ = write!(out, " ({count}×)");
        }
        if let Some(reason) = &objective.excluded {
            let _ = write!(out, " — excluded: {reason}");
        } else if objective.status == Verdict::Unaffected {
            out.push_str(" — unaffected by the change");
        } else if let Some(why) = &objective.why {
            let _ = write!(out, " — {}: {why}", objective.status.name());
        } else if let Some(first) = objective.tests.first() {
            let _ = write!(out, " — {first}");
            if objective.tests.len() > 1 {
                let _ = write!(out, " +{}", objective.tests.len() - 1);
            }
        }
    }
    if sorted.len() > MAX_TOOLTIP_OBJECTIVES {
        let _ = write!(out, "\n… and {} more", sorted.len() - MAX_TOOLTIP_OBJECTIVES);
    }
    out
}

/// Returns the sign of a status.
pub(super) fn sign(objective: &Objective) -> &'static str {
    match (&objective.excluded, objective.status) {
        (Some(_), _) => "⊘",
        _ if objective.not_measured().is_some() => "–",
        (None, Verdict::Covered) => "✓",
        (None, Verdict::Infeasible) => "∅",
        (None, Verdict::Unknown) => "?",
        (None, Verdict::Uncovered) => "✗",
        (None, Verdict::Unaffected) => "=",
    }
}
