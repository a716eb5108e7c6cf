//! A document by line, for line-oriented formats.
//!
//! - `executed_lines.rs` determines the executed lines.
//! - Branches are the objectives of `branch`, otherwise of `decision`, otherwise of `condition`.
//! - The first line of a function is a line, too, as in gcov; LCOV 2 expects one.
//! - A line with decisions that were begun but never decided (every run ended inside) counts as not executed: LCOV
//!   rejects an
//!   executed line without an executed branch, and underreporting is safer.
//! - The formats have no notion of "infeasible" or "excluded", so such objectives are omitted, as the formats' own
//!   exclusion
//!   comments do; the feasible part remains. Objectives that were not measured are omitted, too, with their lines and
//!   functions.
//! - Hits are numbers of executions if they were counted (`measure --counts`), otherwise numbers of tests.

use crate::analysis::executed_lines::{counts, implies_execution, ran};
use crate::analysis::figures::merged;
use crate::document::name::Name;
use crate::document::{Decision, Document, Objective, SideStatus, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::{CoverageKind, REGISTRY, coverage_kind};

/// The lines of one file.
#[derive(Default)]
pub(super) struct FileLines<'d> {
    /// Functions by line and name, with their hits.
    pub(super) functions: BTreeMap<(u32, &'d str), u64>,
    /// The hits of each line.
    pub(super) lines: BTreeMap<u32, u64>,
    /// The branches of each line: one group for each decision or switch, with the hits of each branch.
    pub(super) branches: BTreeMap<u32, Vec<Vec<u64>>>,
    /// The conditions of the decisions on each line: text, and whether false and true were shown.
    pub(super) conditions: BTreeMap<u32, Vec<(&'d str, [bool; 2])>>,
}

/// A number of lines, and the number of executed ones.
#[derive(Clone, Copy, Default)]
pub(super) struct Ratio {
    pub(super) found: u64,
    pub(super) hit: u64,
}

impl Ratio {
    pub(super) fn add(&mut self, hit: bool) {
        self.found += 1;
        self.hit += u64::from(hit);
    }
    pub(super) fn join(self, other: Ratio) -> Ratio {
        Ratio { found: self.found + other.found, hit: self.hit + other.hit }
    }
    /// Returns the share; an empty set is fully covered.
    pub(super) fn rate(self) -> String {
        if self.found == 0 { "1".to_string() } else { short(self.hit as f64 / self.found as f64) }
    }
}

/// The executed part of a document, as these formats count it.
pub(crate) struct ExecutedLines {
    /// The numbers of executed functions and of all functions.
    pub functions: (u64, u64),
    /// The numbers of executed lines and of all lines.
    pub lines: (u64, u64),
}

/// Computes the executed part of a document.
pub(crate) fn run(document: &Document) -> ExecutedLines {
    let (mut functions, mut lines) = (Ratio::default(), Ratio::default());
    for file in by_file(document).values() {
        functions = functions.join(ratio(file.functions.values().map(|hits| *hits > 0)));
        lines = lines.join(file.line_ratio());
    }
    ExecutedLines { functions: (functions.hit, functions.found), lines: (lines.hit, lines.found) }
}

fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

impl FileLines<'_> {
    pub(super) fn line_ratio(&self) -> Ratio {
        ratio(self.lines.values().map(|hits| *hits > 0))
    }
    pub(super) fn branch_ratio(&self) -> Ratio {
        ratio(self.branches.values().flatten().flatten().map(|hits| *hits > 0))
    }
}

pub(super) fn ratio(hits: impl Iterator<Item = bool>) -> Ratio {
    let mut ratio = Ratio::default();
    hits.for_each(|hit| ratio.add(hit));
    ratio
}

/// A line and a column, if they are known.
type Start = (Option<u32>, Option<u32>);

/// Facts about a function.
#[derive(Default)]
struct OfFunction<'d> {
    tests: BTreeSet<&'d str>,
    /// The first statement and its hits, which equal the number of calls.
    first: Option<(Start, u64)>,
    /// True if an execution of the function would cover something of it.
    told: bool,
}

impl OfFunction<'_> {
    fn hits(&self) -> u64 {
        (self.tests.len() as u64).max(self.first.map_or(0, |(_, count)| count))
    }
}

/// The branches of each decision or switch by file and source range, with their positions and hits.
type Groups<'d> = BTreeMap<(&'d str, u32, u32, u32, u32), Vec<(usize, u64)>>;

/// Returns the lines of all files, by path.
pub(super) fn by_file(document: &Document) -> BTreeMap<&str, FileLines<'_>> {
    let mut files: BTreeMap<&str, FileLines<'_>> = BTreeMap::new();
    let objectives = merged(document);
    let has = |criterion: &str| objectives.values().any(|objective| objective.criterion == criterion);
    let branches = REGISTRY.iter().filter(|criterion| has(criterion.name()) && criterion.branch_rank().is_some());
    let branches = branches.min_by_key(|criterion| criterion.branch_rank()).map(|criterion| criterion.name());
    let mut of_functions: BTreeMap<(&str, &str), OfFunction<'_>> = BTreeMap::new();
    // Functions without a measured objective.
    let mut unmeasured: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut groups: Groups<'_> = BTreeMap::new();
    // Lines with branches that were not measured.
    let mut unknown: BTreeSet<(&str, u32)> = BTreeSet::new();
    for objective in objectives.values() {
        let Some((file, line)) = objective.at.start() else { continue };
        let function = (file, objective.function.as_str());
        if objective.not_measured().is_some() {
            if !of_functions.contains_key(&function) {
                unmeasured.insert(function);
            }
            continue;
        }
        unmeasured.remove(&function);
        let known = of_functions.entry(function).or_default();
        known.tests.extend(objective.tests.iter().map(Name::as_str));
        if let Some(count) = objective.count.filter(|_| coverage_kind(&objective.criterion) == CoverageKind::Statements)
        {
            let at = (objective.at.line, objective.at.column);
            known.first = Some(known.first.map_or((at, count), |first| first.min((at, count))));
        }
        known.told |= implies_execution(objective);
        if !counts(objective) {
            continue;
        }
        files.entry(file).or_default();
        if Some(objective.criterion.as_str()) == branches {
            let at = &objective.at;
            let key = (file, line, at.column.unwrap_or(0), at.end_line.unwrap_or(0), at.end_column.unwrap_or(0));
            let hits = hits(objective);
            if objective.status == Verdict::Unknown {
                unknown.insert((file, line));
            }
            groups.entry(key).or_default().push((position(&objective.id), hits));
        }
    }
    let list: Vec<&Objective> = objectives.values().copied().collect();
    let state: BTreeSet<(&str, u32)> = changed_lines(document);
    for ((file, line), ran) in ran(document, &list) {
        files.entry(file).or_default().lines.insert(line, ran.hits());
    }
    for ((file, line, ..), mut group) in groups {
        group.sort_unstable();
        let hits = group.into_iter().map(|(_, hits)| hits).collect();
        files.entry(file).or_default().branches.entry(line).or_default().push(hits);
    }
    for (name, file) in &mut files {
        for (line, groups) in &file.branches {
            if !unknown.contains(&(*name, *line))
                && !state.contains(&(*name, *line))
                && groups.iter().flatten().all(|hits| *hits == 0)
                && let Some(hits) = file.lines.get_mut(line)
            {
                *hits = 0;
            }
        }
    }
    for function in &document.functions {
        let Some(line) = function.line else { continue };
        let key = (function.file.as_str(), function.name.as_str());
        if unmeasured.contains(&key) {
            continue;
        }
        let known = of_functions.get(&key);
        let hits = known.map_or(function.tests, OfFunction::hits);
        if hits == 0 && known.is_some_and(|known| !known.told) {
            continue;
        }
        let file = files.entry(&function.file).or_default();
        file.functions.insert((line, &function.name), hits);
        file.lines.entry(line).or_insert(hits);
    }
    if REGISTRY.iter().any(|criterion| criterion.shows_truth_tables() && has(criterion.name())) {
        let excluded: BTreeSet<(&str, u32)> = document
            .objectives
            .iter()
            .filter(|objective| objective.excluded.is_some())
            .filter_map(|objective| objective.at.start())
            .collect();
        for decision in &document.decisions {
            conditions(&mut files, decision, &excluded);
        }
    }
    files
}

/// Returns the hits of an objective: executions if they were counted, otherwise tests.
fn hits(objective: &Objective) -> u64 {
    (objective.tests.len() as u64).max(objective.count.unwrap_or(0))
}

/// Returns the lines with state updates of tests.
fn changed_lines(document: &Document) -> BTreeSet<(&str, u32)> {
    let updates = document.state.iter().flat_map(|test| &test.updates);
    updates.filter_map(|update| update.at.file.as_deref().zip(update.at.line)).collect()
}

/// Adds the conditions of a decision, except those that can't affect the outcome with any value.
fn conditions<'d>(
    files: &mut BTreeMap<&'d str, FileLines<'d>>,
    decision: &'d Decision,
    excluded: &BTreeSet<(&str, u32)>,
) {
    let Some((file, line)) = decision.at.start() else { return };
    if excluded.contains(&(file, line)) {
        return;
    }
    let group = files.entry(file).or_default().conditions.entry(line).or_default();
    for condition in &decision.conditions {
        let sides = [condition.r#false.status, condition.r#true.status];
        if sides != [SideStatus::Infeasible; 2] {
            group.push((&condition.text, sides.map(|side| side == SideStatus::Shown)));
        }
    }
}

/// Returns the position in an objective's id (`f.branch.12.0123abcd`), which is the order in the source.
pub(crate) fn position(id: &str) -> usize {
    id.rsplit('.').nth(1).and_then(|position| position.parse().ok()).unwrap_or(0)
}
