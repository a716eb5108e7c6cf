//! Independence pairs that a suite lacks: for which conditions, and which rows would complete one.
//!
//! Masking MC/DC asks that a condition decides with both values. Reviewers (and llvm-cov) ask for two rows beside each
//! other: a *unique-cause pair* ([`unique_cause`]). A suite can have the first without the second, so a search for tests
//! goes on with *wishes*: goals that are no objectives, never count in a verdict, and may stay open.
//!
//! No row is enumerated for [`EvaluatedRows::partners`]: a pair's rows are equal up to the condition, and beyond it a partner
//! keeps whatever the seen row has, which is how [`crate::DecisionGraph::can_reach`] steers the search.

use crate::{DecisionGraph, Goal, Incomplete, Row};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Deadline;
use touchstone_ir::{CondId, DecisionId, FuncId, Module};

/// The maximum number of rows of a decision that are tried one by one if no evaluated row has a partner.
pub const MAX_ROWS_TRIED: usize = 128;

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
    // Before it both have the same, and no condition is evaluated twice: only what follows can agree or not.
    let (rest, others) = (&a.outcomes[same + 1..], b.outcomes.get(same + 1..)?);
    let agrees = |(of, value): &(CondId, bool)| others.iter().all(|(other, now)| other != of || now == value);
    (b.outcomes[same].0 == condition && rest.iter().all(agrees)).then_some(condition)
}

/// The conditions for which some two of a decision's rows are a unique-cause pair.
///
/// Rows that begin alike are taken apart where they first differ: that condition is the only candidate for a pair with a row
/// on each side, and once it has one, nothing is compared for it any more. Without that, 2,000 rows of 2,000 conditions are
/// 8 thousand million comparisons.
fn paired_conditions(rows: Vec<&Row>, deadline: Deadline) -> BTreeSet<CondId> {
    let mut paired = BTreeSet::new();
    let mut waiting = vec![(0, rows)];
    while let Some((depth, rows)) = waiting.pop().filter(|_| !deadline.is_over()) {
        let Some(&(condition, _)) = rows.first().and_then(|row| row.outcomes.get(depth)) else { continue };
        let is_true = |row: &&Row| row.outcomes.get(depth) == Some(&(condition, true));
        let (yes, no): (Vec<&Row>, Vec<&Row>) = rows.into_iter().partition(is_true);
        let has_pair = |a: &&Row| !deadline.is_over() && no.iter().any(|b| unique_cause(a, b) == Some(condition));
        if !paired.contains(&condition) && yes.iter().any(has_pair) {
            paired.insert(condition);
        }
        waiting.extend([no, yes].into_iter().filter(|side| side.len() > 1).map(|side| (depth + 1, side)));
    }
    paired
}

/// The distinct rows of decisions that tests evaluated.
#[derive(Clone, Debug, Default)]
pub struct EvaluatedRows {
    by: BTreeMap<(FuncId, DecisionId), BTreeSet<Row>>,
}

/// A condition of a decision of a function.
pub type ConditionKey = (FuncId, DecisionId, CondId);

impl EvaluatedRows {
    /// More rows were seen.
    pub fn add<'r>(&mut self, rows: impl IntoIterator<Item = &'r (FuncId, DecisionId, Row)>) {
        for (func, decision, row) in rows {
            let seen = self.by.entry((*func, *decision)).or_default();
            if !seen.contains(row) {
                seen.insert(row.clone());
            }
        }
    }

    /// The conditions that have a unique-cause pair, as far as there was time to look.
    pub fn paired(&self, deadline: Deadline) -> BTreeSet<ConditionKey> {
        let mut paired = BTreeSet::new();
        for ((func, decision), rows) in &self.by {
            let conditions = paired_conditions(rows.iter().collect(), deadline);
            paired.extend(conditions.into_iter().map(|condition| (*func, *decision, condition)));
        }
        paired
    }

    /// The conditions that were seen to decide with both values, but have no unique-cause pair. (Without both values there
    /// is none: both rows of a pair show the condition.)
    pub fn unpaired(&self, deadline: Deadline) -> Vec<ConditionKey> {
        let paired = self.paired(deadline);
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
    pub fn partners(&self, deadline: Deadline) -> Vec<Goal> {
        let partner = |(func, decision, condition): ConditionKey| {
            let shows = |row: &&Row| row.independent.iter().any(|(shown, _)| *shown == condition);
            let rows = self.by[&(func, decision)].iter().filter(shows).cloned().collect();
            Goal::Partner { func, decision, condition, rows }
        };
        self.unpaired(deadline).into_iter().map(partner).collect()
    }

    /// Wishes for where no seen row has a partner: every other row that shows a condition without pair. Decisions with more
    /// than [`MAX_ROWS_TRIED`] rows have none; they are the second result.
    pub fn other_rows(&self, module: &Module, deadline: Deadline) -> (Vec<Goal>, BTreeSet<(FuncId, DecisionId)>) {
        let (mut wishes, mut too_big) = (Vec::new(), BTreeSet::new());
        let mut unpaired: BTreeMap<(FuncId, DecisionId), BTreeSet<CondId>> = BTreeMap::new();
        for (func, decision, condition) in self.unpaired(deadline) {
            unpaired.entry((func, decision)).or_default().insert(condition);
        }
        for ((func, decision), conditions) in unpaired {
            let graph = DecisionGraph::new(&module.functions[func].decisions[decision]);
            let Some(mut rows) = graph.rows(MAX_ROWS_TRIED) else {
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

/// The result of a search for pairs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum PairSearch {
    /// There was none.
    #[default]
    NotAsked,
    /// It went on until every condition had its pair or nothing was left to try.
    Finished,
    /// It was stopped, and why.
    Stopped(PairsStopped),
}

/// The reason why the search for unique-cause pairs was stopped.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PairsStopped {
    /// It left something out.
    #[error("{0}")]
    Incomplete(Incomplete),
    /// The decision has more rows than are tried.
    #[error("more than {MAX_ROWS_TRIED} rows")]
    TooManyRows,
}

impl PairsStopped {
    /// The words of its own; others are those of [`Incomplete`].
    pub const WORDS: &'static [&'static str] = &["too_many_rows"];

    /// The word by which programs know it.
    pub fn word(&self) -> &'static str {
        match self {
            PairsStopped::Incomplete(why) => why.word(),
            PairsStopped::TooManyRows => "too_many_rows",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcdc::decision_graph::testing::{decision, random_tree};
    use touchstone_base::Id;

    /// By the definition over three values, without any thought about the order of evaluation.
    fn by_definition(a: &Row, b: &Row, condition: CondId) -> bool {
        let differ = |of: CondId| matches!((a.value(of), b.value(of)), (Some(x), Some(y)) if x != y);
        let others = a.outcomes.iter().filter(|(of, _)| *of != condition);
        a.result != b.result && differ(condition) && !others.into_iter().any(|(of, _)| differ(*of))
    }

    #[test]
    fn the_first_difference_is_the_only_candidate_and_a_pair_shows_its_condition() {
        let mut seed = 0x9e37_79b9_7f4a_7c15;
        let (mut decisions, mut pairs) = (0, 0);
        while decisions < 200 {
            let mut count = 0;
            let tree = random_tree(&mut seed, 3, &mut count);
            if !(1..=7).contains(&count) {
                continue;
            }
            decisions += 1;
            let rows = DecisionGraph::new(&decision(tree.clone())).rows(1 << 12).expect("few rows");
            for a in &rows {
                for b in &rows {
                    let found = unique_cause(a, b);
                    for condition in (0..count).map(CondId::new) {
                        assert_eq!(found == Some(condition), by_definition(a, b, condition), "{tree:?} {a:?} {b:?}");
                    }
                    if let Some(condition) = found {
                        let shows = |row: &Row| row.independent.iter().any(|(shown, _)| *shown == condition);
                        assert!(shows(a) && shows(b), "{tree:?} {a:?} {b:?}");
                        pairs += 1;
                    }
                }
            }
            // Of any part of the rows, the conditions with a pair are those that some two rows show.
            let chosen = |(index, _): &(usize, &Row)| (seed >> (index % 60)) & 3 > 0;
            let part: Vec<&Row> = rows.iter().enumerate().filter(chosen).map(|(_, row)| row).collect();
            let plain = part.iter().flat_map(|a| part.iter().filter_map(|b| unique_cause(a, b))).collect();
            assert_eq!(paired_conditions(part, Deadline::NEVER), plain, "{tree:?}");
        }
        assert!(pairs > 1000, "only {pairs}");
    }

    /// The rows of `(a && b) || (c && d)` that values give, `-` where a condition is not evaluated.
    fn or_of_ands(rows: &[&str]) -> Vec<(FuncId, DecisionId, Row)> {
        use touchstone_ir::BoolTree;
        let and = |first: usize| {
            let cond = |index| Box::new(BoolTree::Cond(CondId::new(index)));
            Box::new(BoolTree::And(cond(first), cond(first + 1)))
        };
        let all = DecisionGraph::new(&decision(BoolTree::Or(and(0), and(2)))).rows(16).expect("few rows");
        let letter = |row: &Row, index| match row.value(CondId::new(index)) {
            None => '-',
            Some(true) => 'T',
            Some(false) => 'F',
        };
        let shown = |row: &Row| (0..4).map(|index| letter(row, index)).collect::<String>();
        let find = |text: &&str| all.iter().find(|row| shown(row) == **text).expect("a row of the decision").clone();
        rows.iter().map(|text| (FuncId::new(0), DecisionId::new(0), find(text))).collect()
    }

    #[test]
    fn a_wish_is_for_what_completes_a_pair_and_there_is_none_where_nothing_is_missing() {
        let mut seen = EvaluatedRows::default();
        // The table of docs/mcdc.md: c decides with both values, but nothing else may differ.
        seen.add(&or_of_ands(&["F-F-", "TT--", "TFTF", "TFTT"]));
        let c = CondId::new(2);
        assert_eq!(seen.unpaired(Deadline::NEVER), [(FuncId::new(0), DecisionId::new(0), c)]);
        let wishes = seen.partners(Deadline::NEVER);
        let [Goal::Partner { condition, rows, .. }] = wishes.as_slice() else { panic!("{wishes:?}") };
        assert_eq!((*condition, rows.len()), (c, 2));
        seen.add(&or_of_ands(&["F-TT"]));
        assert_eq!(seen.partners(Deadline::NEVER), []);
        // A condition that never decides with both values has no pair to wish for.
        let mut few = EvaluatedRows::default();
        few.add(&or_of_ands(&["F-F-", "TT--"]));
        assert_eq!(few.partners(Deadline::NEVER), []);
    }

    #[test]
    fn reduction_keeps_one_test_more_for_a_pair_or_two() {
        let check = |kept: &[usize], tests: &[&str], expected: &[usize]| {
            let rows: Vec<_> = tests.iter().map(|rows| or_of_ands(&rows.split(' ').collect::<Vec<_>>())).collect();
            let mut all = kept.iter().copied().collect();
            crate::suite::keep_pairs(&mut all, &rows, Deadline::NEVER);
            assert_eq!(all.into_iter().collect::<Vec<_>>(), expected, "{tests:?}");
        };
        // `a` has a pair; for `b` there is one with what is kept.
        check(&[0, 1], &["F-F-", "TT--", "TFF-"], &[0, 1, 2]);
        check(&[0], &["F-F-", "TT--", "TFTF", "TFTT"], &[0, 1, 2, 3]);
        // One test can have both rows.
        check(&[], &["F-F- TT--", "F-F-", "TT--"], &[0]);
        check(&[1], &["TT--", "TT--"], &[1]);
    }

    #[test]
    fn the_pairs_of_a_wide_decision_are_found_in_no_time() {
        // 2,000 conditions in a row: 2,001 rows, each as long as the ones before it.
        let row = |last: usize| Row {
            outcomes: (0..=last.min(1999)).map(|at| (CondId::new(at), at != last)).collect(),
            independent: Vec::new(),
            result: last == 2000,
        };
        let rows: Vec<Row> = (0..=2000).map(row).collect();
        let paired = paired_conditions(rows.iter().collect(), Deadline::after(std::time::Duration::from_secs(60)));
        assert_eq!(paired.len(), 2000);
    }
}
