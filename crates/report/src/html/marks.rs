//! Which stretches of a source are marked, and how: the objectives that stand on exactly one stretch are one mark.

use crate::document::{Decision, Objective, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A longer stretch (the whole of a switch) is marked at its line only.
const MOST_LINES: u32 = 8;
/// So many objectives are told in a tooltip.
const MOST_TOLD: usize = 8;

/// What is known of a group of objectives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum State {
    /// No test can cover any.
    Infeasible,
    /// The measurement can say nothing about any.
    Unmeasured,
    /// Comments exclude all, or a change leaves all alone.
    Excluded,
    /// All that can be.
    Covered,
    /// Some.
    Half,
    /// None.
    Uncovered,
}

impl State {
    pub(super) fn class(self) -> &'static str {
        match self {
            State::Infeasible => "i",
            State::Unmeasured => "m",
            State::Excluded => "x",
            State::Covered => "c",
            State::Half => "h",
            State::Uncovered => "u",
        }
    }

    /// What is known of several objectives together; `None` of none.
    pub(super) fn of<'a>(objectives: impl IntoIterator<Item = &'a &'a Objective>) -> Option<State> {
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
            _ if excluded == all => Some(State::Excluded),
            (_, 0) if unmeasured > 0 => Some(State::Unmeasured),
            (_, 0) => Some(State::Infeasible),
            _ if covered == feasible => Some(State::Covered),
            _ if covered == 0 => Some(State::Uncovered),
            _ => Some(State::Half),
        }
    }
}

/// A stretch: lines and columns from 1, the end exclusive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Extent {
    pub(super) from: (u32, u32),
    pub(super) to: (u32, u32),
}

/// A marked stretch.
pub(super) struct Mark {
    pub(super) extent: Extent,
    pub(super) state: State,
    /// The truth table that it opens, by its number in the file.
    pub(super) decision: Option<usize>,
    /// What is known, for people.
    pub(super) title: String,
}

/// By beginning; of those that begin together, the one that ends last comes first.
type OuterFirst = (u32, u32, std::cmp::Reverse<(u32, u32)>);

/// The marks of a file: outer ones before inner ones, none crossing another.
pub(super) fn marks(objectives: &[&Objective], decisions: &[&Decision]) -> Vec<Mark> {
    let mut groups: BTreeMap<OuterFirst, Vec<&Objective>> = BTreeMap::new();
    for objective in objectives.iter().filter(|objective| objective.criterion != "stmt") {
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
        // What crosses another stretch (macros do that) is told at its line only.
        if open.iter().any(|outer| outer.to < extent.to) {
            continue;
        }
        let Some(state) = State::of(&group) else { continue };
        open.push(extent);
        marks.push(Mark { extent, state, decision: tables.get(&extent).copied(), title: title(&group) });
    }
    marks
}

/// The stretch, if it is one that can be marked.
fn extent(at: &crate::document::Stretch) -> Option<Extent> {
    let (from, to) = ((at.line?, at.column?), (at.end_line?, at.end_column?));
    let usable = from.0 > 0 && from.1 > 0 && from < to && to.0 - from.0 < MOST_LINES;
    usable.then_some(Extent { from, to })
}

/// Which stretch opens which truth table: a decision's own, and each of its conditions'.
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

/// One line an objective, what is missing first.
fn title(group: &[&Objective]) -> String {
    let mut sorted: Vec<&&Objective> = group.iter().collect();
    sorted.sort_by_key(|objective| (objective.status == Verdict::Covered, objective.status));
    let mut out = String::new();
    for objective in sorted.iter().take(MOST_TOLD) {
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
    if sorted.len() > MOST_TOLD {
        let _ = write!(out, "\n… and {} more", sorted.len() - MOST_TOLD);
    }
    out
}

/// One sign a status.
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
