//! Maps the coverage of another tool to objectives. Objectives that it cannot decide stay open.
//!
//! A location counts only if it is exactly that of the objective. If a tool reports lines only, the line must contain
//! no second statement or decision. A source file that is newer than the coverage has none.

use crate::request::Notice;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use touchstone_base::Span;
use touchstone_criteria::{CoverageKind, CoverageSource, Goal, Objectives, Status, coverage_kind, criterion_named};
use touchstone_instrument::{FileCoverage, ImportError, ImportedCoverage, LineCoverage};
use touchstone_ir::{BoolTree, CondId, Decision, DecisionId, FuncId, Module, PointKind};

/// Coverage of another tool, as far as it concerns the current sources.
#[derive(Debug)]
pub(crate) struct ForeignCoverage {
    /// The name of its test here: the path of the file.
    name: String,
    outside: ImportedCoverage,
    /// Source files that have changed since.
    changed: BTreeSet<String>,
}

impl ForeignCoverage {
    /// Reads a coverage file.
    pub fn read(path: &Path) -> Result<ForeignCoverage, ImportError> {
        let outside = ImportedCoverage::read(path)?;
        let time = |path: &Path| std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
        let written = time(path);
        let is_newer = |file: &&String| matches!((time(Path::new(file)), written), (Some(a), Some(b)) if a > b);
        let changed = outside.files.keys().filter(is_newer).cloned().collect();
        Ok(ForeignCoverage { name: path.display().to_string(), outside, changed })
    }

    fn seen(&self, module: &Module, span: Span) -> Option<&FileCoverage> {
        let file = canonical(module.files.get(span.file)?);
        self.outside.files.get(&file).filter(|_| !self.changed.contains(&file))
    }

    /// Returns true if it covers the file of a function.
    pub fn knows(&self, module: &Module, func: FuncId) -> bool {
        self.seen(module, module.functions[func].span).is_some()
    }

    /// Returns notices about what it cannot decide.
    pub fn notices(&self, module: &Module, criteria: &[&str]) -> Vec<Notice> {
        let suite = PathBuf::from(&self.name);
        let used: BTreeSet<String> = module.files.values().map(|file| canonical(file)).collect();
        let mut notices: Vec<Notice> = self
            .changed
            .intersection(&used)
            .map(|file| Notice::ChangedSince { suite: suite.clone(), file: PathBuf::from(file) })
            .collect();
        let imported = |name: &str| criterion_named(name).map(|criterion| criterion.coverage_source());
        let says = |criterion: &str| match imported(criterion) {
            Some(CoverageSource::Lines) => true,
            Some(CoverageSource::Branches) => self.outside.has_branches(),
            Some(CoverageSource::Mcdc) => self.outside.has_branches() || self.outside.has_mcdc(),
            Some(CoverageSource::None) | None => false,
        };
        let unsaid: Vec<String> =
            criteria.iter().filter(|criterion| !says(criterion)).map(|criterion| criterion.to_string()).collect();
        if !unsaid.is_empty() {
            notices.push(Notice::SaysNothing { suite: suite.clone(), criteria: unsaid });
        }
        let is_mcdc = |name: &&&str| imported(name) == Some(CoverageSource::Mcdc);
        let single = criteria.iter().find(is_mcdc).is_some_and(|name| says(name)) && !self.outside.has_mcdc();
        if single {
            notices.push(Notice::OnlySingleConditions { suite });
        }
        notices
    }

    /// Marks the objectives that it certainly covers.
    pub fn settle(&self, module: &Module, objectives: &mut Objectives) {
        let lines = LineContents::of(module);
        for id in objectives.list.ids().collect::<Vec<_>>() {
            let (span, statement) =
                (objectives.list[id].span, coverage_kind(&objectives.list[id].criterion) == CoverageKind::Statements);
            let Some(seen) = self.seen(module, span) else { continue };
            let covered = match &objectives.goals[id] {
                Goal::Label { predicate: None, .. } if statement => lines.executed(seen, span),
                Goal::Condition { func, decision, condition, value } => {
                    lines.condition(seen, &module.functions[*func].decisions[*decision], *condition, *value)
                }
                Goal::Outcome { func, decision, value } => {
                    let decision = &module.functions[*func].decisions[*decision];
                    let only = decision.conditions.ids().next().filter(|_| decision.conditions.len() == 1);
                    let value = *value == is_not_negated(&decision.tree);
                    only.is_some_and(|only| lines.condition(seen, decision, only, value))
                }
                Goal::Independent { func, decision, condition, value } => {
                    lines.affects_independently(seen, &module.functions[*func].decisions[*decision], *condition, *value)
                }
                _ => false,
            };
            if covered {
                objectives.list[id].status = Status::Covered(vec![self.name.clone()]);
                objectives.settled.insert(id);
            }
        }
    }
}

/// The number of statements, decisions and conditions by file and line.
struct LineContents {
    statements: BTreeMap<(usize, u32), usize>,
    decisions: BTreeMap<(usize, u32), BTreeSet<(FuncId, DecisionId)>>,
    conditions: BTreeMap<(usize, u32), usize>,
}

impl LineContents {
    fn of(module: &Module) -> LineContents {
        let mut lines =
            LineContents { statements: BTreeMap::new(), decisions: BTreeMap::new(), conditions: BTreeMap::new() };
        for (func, function) in module.functions.iter() {
            for point in function.points.values().filter(|point| matches!(point.kind, PointKind::Statement)) {
                *lines.statements.entry(key(point.span)).or_default() += 1;
            }
            for (id, decision) in function.decisions.iter() {
                for line in decision.span.line..=decision.span.end_line.max(decision.span.line) {
                    let place = (key(decision.span).0, line);
                    lines.decisions.entry(place).or_default().insert((func, id));
                }
                for condition in decision.conditions.values() {
                    *lines.conditions.entry(key(condition.span)).or_default() += 1;
                }
            }
        }
        lines
    }

    fn executed(&self, seen: &FileCoverage, span: Span) -> bool {
        if let Some(executed) = seen.executed((span.line, span.column)) {
            return executed;
        }
        match seen.lines.get(&span.line) {
            Some(LineCoverage::All) => true,
            Some(LineCoverage::Some) => self.statements.get(&key(span)) == Some(&1),
            Some(LineCoverage::Not) | None => false,
        }
    }

    /// Returns true if a condition had a value.
    fn condition(&self, seen: &FileCoverage, decision: &Decision, condition: CondId, value: bool) -> bool {
        if !is_common(&decision.tree) {
            return false;
        }
        let span = decision.conditions[condition].span;
        if let Some((was_true, was_false)) = seen.conditions.get(&(span.line, span.column)) {
            return if value { *was_true } else { *was_false };
        }
        // The two branches of the only condition on a line are its two values, in either order.
        let alone = self.conditions.get(&key(span)) == Some(&1) && self.is_alone(decision);
        let branches = seen.branches.get(&span.line).map_or(&[][..], Vec::as_slice);
        alone && branches == [true, true]
    }

    /// Returns true if a condition with a value was shown to independently affect the outcome.
    fn affects_independently(&self, seen: &FileCoverage, decision: &Decision, condition: CondId, value: bool) -> bool {
        if decision.conditions.len() == 1 {
            return self.condition(seen, decision, condition, value);
        }
        if !is_common(&decision.tree) {
            return false;
        }
        let index = decision.conditions.ids().position(|id| id == condition).unwrap_or(usize::MAX);
        let (line, size) = (decision.span.line, decision.conditions.len());
        if let Some(shown) = seen.decisions.get(&(line, decision.span.column)) {
            return shown.len() == size && shown.get(index).copied().unwrap_or(false);
        }
        let Some(Some(shown)) = seen.decisions_in_line.get(&(line, size)).filter(|_| self.is_alone(decision)) else {
            return false;
        };
        // A compiler may have inverted a negated condition.
        let (when_true, when_false) = shown.get(index).copied().unwrap_or_default();
        match has_not(&decision.tree) {
            true => when_true && when_false,
            false if value => when_true,
            false => when_false,
        }
    }

    /// Returns true if no other decision has a part on the first line of a decision.
    fn is_alone(&self, decision: &Decision) -> bool {
        self.decisions.get(&key(decision.span)).is_some_and(|there| there.len() == 1)
    }
}

fn key(span: Span) -> (usize, u32) {
    (touchstone_base::Id::index(span.file), span.line)
}

/// Returns true if a decision with one condition has its value, false if it has the negated one.
fn is_not_negated(tree: &BoolTree) -> bool {
    match tree {
        BoolTree::Not(inner) => !is_not_negated(inner),
        _ => true,
    }
}

/// Returns true if other tools see the same conditions: they treat other operators as parts of one condition.
fn is_common(tree: &BoolTree) -> bool {
    match tree {
        BoolTree::Cond(_) => true,
        BoolTree::Not(inner) => is_common(inner),
        BoolTree::And(a, b) | BoolTree::Or(a, b) => is_common(a) && is_common(b),
        BoolTree::Const(_) | BoolTree::Xor(..) | BoolTree::Iff(..) | BoolTree::Ite(..) => false,
    }
}

fn has_not(tree: &BoolTree) -> bool {
    match tree {
        BoolTree::Not(_) => true,
        BoolTree::Cond(_) | BoolTree::Const(_) => false,
        BoolTree::And(a, b) | BoolTree::Or(a, b) | BoolTree::Xor(a, b) | BoolTree::Iff(a, b) => {
            has_not(a) || has_not(b)
        }
        BoolTree::Ite(a, b, c) => has_not(a) || has_not(b) || has_not(c),
    }
}

fn canonical(file: &str) -> String {
    let path = std::fs::canonicalize(file).ok();
    path.and_then(|path| path.to_str().map(ToString::to_string)).unwrap_or_else(|| file.to_string())
}
