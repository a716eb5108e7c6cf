//! A document by line, as line-oriented formats want it.
//!
//! - A line counts as executed if a test covers a statement that begins on it. Without the criterion `stmt`, any objective
//!   on the line does: no criterion's objective can be covered without executing its line.
//! - Branches are the objectives of `branch`, or else of `decision`, or else of `condition`.
//! - The line on which a function begins is a line too, as gcov has it; LCOV 2 wants one.
//! - A line whose decisions were begun but never decided (every run that came there ended inside) counts as not executed:
//!   LCOV refuses a line that is hit while none of its branches is, and too little is better than too much.
//! - These formats have no word for "infeasible" or "excluded", so such objectives are left out, as the formats' own
//!   exclusion comments would do; what is left is the feasible part.
//! - Hits are numbers of tests, not of executions.

use crate::document::{Decision, Document, Objective, SideStatus, Verdict};
use crate::figures::merged;
use std::collections::{BTreeMap, BTreeSet};

/// One file.
#[derive(Default)]
pub(super) struct FileLines<'d> {
    /// Functions by line and name, with their hits.
    pub(super) functions: BTreeMap<(u32, &'d str), u64>,
    /// Hits of lines.
    pub(super) lines: BTreeMap<u32, u64>,
    /// Branches of each line: one group a decision or switch, hits in each.
    pub(super) branches: BTreeMap<u32, Vec<Vec<u64>>>,
    /// Conditions of the decisions of each line: text, and whether it was shown when false and when true.
    pub(super) conditions: BTreeMap<u32, Vec<(&'d str, [bool; 2])>>,
}

/// Lines found and hit.
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
    /// Of nothing, all is covered.
    pub(super) fn rate(self) -> String {
        if self.found == 0 { "1".to_string() } else { short(self.hit as f64 / self.found as f64) }
    }
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

/// The branches of each decision or switch, by file and stretch, with their positions and hits.
type Groups<'d> = BTreeMap<(&'d str, u32, u32, u32, u32), Vec<(usize, u64)>>;

/// All files, by path.
pub(super) fn by_file(document: &Document) -> BTreeMap<&str, FileLines<'_>> {
    let mut files: BTreeMap<&str, FileLines<'_>> = BTreeMap::new();
    let objectives = merged(document);
    let has = |criterion: &str| objectives.values().any(|objective| objective.criterion == criterion);
    let branches = ["branch", "decision", "condition"].into_iter().find(|criterion| has(criterion)).unwrap_or("branch");
    let only_statements = has("stmt");
    let counts = |objective: &Objective| objective.excluded.is_none() && objective.status != Verdict::Infeasible;
    let mut line_tests: BTreeMap<(&str, u32), BTreeSet<&str>> = BTreeMap::new();
    let mut function_tests: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    let mut groups: Groups<'_> = BTreeMap::new();
    // Lines with branches that nobody could look at.
    let mut unknown: BTreeSet<(&str, u32)> = BTreeSet::new();
    for objective in objectives.values() {
        let Some((file, line)) = objective.at.start() else { continue };
        function_tests
            .entry((file, &objective.function))
            .or_default()
            .extend(objective.tests.iter().map(String::as_str));
        if !counts(objective) {
            continue;
        }
        files.entry(file).or_default();
        if !only_statements || objective.criterion == "stmt" {
            line_tests.entry((file, line)).or_default().extend(objective.tests.iter().map(String::as_str));
        }
        if objective.criterion == branches {
            let at = &objective.at;
            let key = (file, line, at.column.unwrap_or(0), at.end_line.unwrap_or(0), at.end_column.unwrap_or(0));
            let hits = objective.tests.len() as u64;
            if objective.status == Verdict::Unknown {
                unknown.insert((file, line));
            }
            groups.entry(key).or_default().push((position(&objective.id), hits));
        }
    }
    for ((file, line), tests) in line_tests {
        files.entry(file).or_default().lines.insert(line, tests.len() as u64);
    }
    for ((file, line, ..), mut group) in groups {
        group.sort_unstable();
        let hits = group.into_iter().map(|(_, hits)| hits).collect();
        files.entry(file).or_default().branches.entry(line).or_default().push(hits);
    }
    for (name, file) in &mut files {
        for (line, groups) in &file.branches {
            if !unknown.contains(&(*name, *line))
                && groups.iter().flatten().all(|hits| *hits == 0)
                && let Some(hits) = file.lines.get_mut(line)
            {
                *hits = 0;
            }
        }
    }
    for function in &document.functions {
        let Some(line) = function.line else { continue };
        let tests = function_tests.get(&(function.file.as_str(), function.name.as_str()));
        let hits = tests.map_or(function.tests, |tests| tests.len() as u64);
        let file = files.entry(&function.file).or_default();
        file.functions.insert((line, &function.name), hits);
        file.lines.entry(line).or_insert(hits);
    }
    if has("mcdc") {
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

/// Adds the conditions of a decision; those that can't decide with any value are left out.
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

/// The position in an objective's identity (`f.branch.12.0123abcd`), which is the order in the source.
pub(crate) fn position(id: &str) -> usize {
    id.rsplit('.').nth(1).and_then(|position| position.parse().ok()).unwrap_or(0)
}
