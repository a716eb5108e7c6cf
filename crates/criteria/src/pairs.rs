//! Independence pairs that a suite lacks: for which conditions, and which rows would complete one.
//!
//! Masking MC/DC asks that a condition decides with both values. Reviewers (and llvm-cov) ask for two rows beside each
//! other: a *unique-cause pair* ([`unique_cause`]). A suite can have the first without the second, so a search for tests
//! goes on with *wishes*: goals that are no objectives, never count in a verdict, and may stay open.
//!
//! No row is enumerated for [`SeenRows::partners`]: a pair's rows are equal up to the condition, and beyond it a partner
//! keeps whatever the seen row has, which is how [`crate::DecisionGraph::can_reach`] steers the search.

use crate::{DecisionGraph, Goal, Row};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_ir::{CondId, DecisionId, FuncId, Module};

/// So many rows of a decision are tried one by one where no seen row has a partner.
pub const MOST_ROWS_TRIED: usize = 128;

/// The condition for which two rows of a decision are a unique-cause pair: their outcomes differ, it has different values in
/// them, and no other condition that both evaluate has.
///
/// Two evaluations go the same way until a condition differs, so the first difference is the only candidate.
pub fn unique_cause(a: &Row, b: &Row) -> Option<CondId> {
    if a.result == b.result {
        return None;
    }
    let same = a.outcomes.iter().zip(&b.outcomes).take_while(|(x, y)| x == y).count();
    let (condition, _) = *a.outcomes.get(same)?;
    let agrees = |(of, value): &(CondId, bool)| b.value(*of).is_none_or(|other| other == *value);
    (b.outcomes.get(same)?.0 == condition && a.outcomes[same + 1..].iter().all(agrees)).then_some(condition)
}

/// The distinct rows of decisions that tests evaluated.
#[derive(Clone, Debug, Default)]
pub struct SeenRows {
    by: BTreeMap<(FuncId, DecisionId), BTreeSet<Row>>,
}

/// A condition of a decision of a function.
pub type ConditionOf = (FuncId, DecisionId, CondId);

impl SeenRows {
    /// More rows were seen.
    pub fn add<'r>(&mut self, rows: impl IntoIterator<Item = &'r (FuncId, DecisionId, Row)>) {
        for (func, decision, row) in rows {
            let seen = self.by.entry((*func, *decision)).or_default();
            if !seen.contains(row) {
                seen.insert(row.clone());
            }
        }
    }

    /// The conditions that have a unique-cause pair.
    pub fn paired(&self) -> BTreeSet<ConditionOf> {
        let mut paired = BTreeSet::new();
        for ((func, decision), rows) in &self.by {
            for (index, a) in rows.iter().enumerate() {
                let causes = rows.iter().skip(index + 1).filter_map(|b| unique_cause(a, b));
                paired.extend(causes.map(|condition| (*func, *decision, condition)));
            }
        }
        paired
    }

    /// The conditions that were seen to decide with both values, but have no unique-cause pair. (Without both values there
    /// is none: both rows of a pair show the condition.)
    pub fn unpaired(&self) -> Vec<ConditionOf> {
        let paired = self.paired();
        let mut unpaired = Vec::new();
        for ((func, decision), rows) in &self.by {
            let shown: BTreeSet<(CondId, bool)> = rows.iter().flat_map(|row| row.independent.iter().copied()).collect();
            let both = shown.iter().filter(|(condition, value)| !value && shown.contains(&(*condition, true)));
            let all = both.map(|(condition, _)| (*func, *decision, *condition));
            unpaired.extend(all.filter(|condition| !paired.contains(condition)));
        }
        unpaired
    }

    /// Wishes: for each condition without pair a row that completes one with a row that was seen.
    pub fn partners(&self) -> Vec<Goal> {
        let partner = |(func, decision, condition): ConditionOf| {
            let shows = |row: &&Row| row.independent.iter().any(|(shown, _)| *shown == condition);
            let rows = self.by[&(func, decision)].iter().filter(shows).cloned().collect();
            Goal::Partner { func, decision, condition, rows }
        };
        self.unpaired().into_iter().map(partner).collect()
    }

    /// Wishes for where no seen row has a partner: every other row that shows a condition without pair. Decisions with more
    /// than [`MOST_ROWS_TRIED`] rows have none; they are the second result.
    pub fn other_rows(&self, module: &Module) -> (Vec<Goal>, BTreeSet<(FuncId, DecisionId)>) {
        let (mut wishes, mut too_big) = (Vec::new(), BTreeSet::new());
        let mut unpaired: BTreeMap<(FuncId, DecisionId), BTreeSet<CondId>> = BTreeMap::new();
        for (func, decision, condition) in self.unpaired() {
            unpaired.entry((func, decision)).or_default().insert(condition);
        }
        for ((func, decision), conditions) in unpaired {
            let graph = DecisionGraph::new(&module.functions[func].decisions[decision]);
            let Some(mut rows) = graph.rows(MOST_ROWS_TRIED) else {
                too_big.insert((func, decision));
                continue;
            };
            rows.sort();
            let helps = |row: &Row| row.independent.iter().any(|(shown, _)| conditions.contains(shown));
            rows.retain(|row| helps(row) && !self.by[&(func, decision)].contains(row));
            wishes.extend(rows.into_iter().map(|row| Goal::Row { func, decision, outcomes: row.outcomes }));
        }
        (wishes, too_big)
    }
}

/// What a search for pairs found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum PairSearch {
    /// There was none.
    #[default]
    NotAsked,
    /// It went on until every condition had its pair or nothing was left to try.
    Finished,
    /// It was stopped, and why.
    Stopped(String),
}
