//! Truth tables of decisions: the rows that tests evaluated, the conditions that each row shows, and the independence
//! pairs. Reviewers of MC/DC read these tables.
//!
//! The definitions, for a condition `c` of a decision and two evaluated rows:
//!
//! - A row *shows* `c` if `c` was evaluated in it and not masked ([`Row::independent`]).
//! - **Masking pair**: both rows show `c`, with different values, and the outcomes of the decision differ.
//! - **Unique-cause pair**: `c` was evaluated in both rows, with different values; every *other* condition that was
//!   evaluated in both has the
//!   same value in both; and the outcomes differ. A condition that was not evaluated in one of the rows counts as equal to anything.
//!
//! Every unique-cause pair is a masking pair. If a decision has only `and`, `or` and `not`, a condition that rows show
//! with both values always has a masking pair, because its value determines the outcome of a row that shows it. With
//! exclusive or, equivalence and the conditional operator it need not: in `a ^ b`, the rows true-false and false-true
//! show all four values, though the decision is true in both. So a table has the shown values and the pairs apart, and
//! [`DecisionTable::is_complete`] requires both.
//!
//! Deliberately not here: running tests and rendering tables.

use crate::{DecisionGraph, Goal, Objectives, PairSearch, Row, Status, WhyInfeasible, WhyUnknown};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{IndexMap, Span};
use touchstone_ir::{CondId, Condition, DecisionId, FuncId, Function};

/// The rows of a decision are known beforehand if there are no more than this.
pub const MAX_ROWS_LISTED: usize = 64;

/// The maximum number of pairs of a kind that are kept for each condition; the others are only counted.
pub const MAX_PAIRS_LISTED: usize = 16;

/// The coverage of one decision by a suite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecisionTable {
    /// The function of the decision.
    pub function: String,
    /// The decision, in that function.
    pub decision: DecisionId,
    /// The source position.
    pub span: Span,
    /// Its source text.
    pub text: String,
    /// Its conditions, in evaluation order.
    pub conditions: IndexMap<CondId, TableCondition>,
    /// The distinct rows that were seen: in the order of the conditions, false before true.
    pub rows: Vec<TableRow>,
    /// The independence pairs among the rows, by condition; at most [`MAX_PAIRS_LISTED`] of a kind for each condition.
    pub pairs: Vec<IndependencePair>,
    /// Pairs that were found but are not in `pairs`.
    pub pairs_left_out: usize,
    /// The status of the search for unique-cause pairs.
    pub pair_search: PairSearch,
    /// All rows that there are; none if they are many.
    pub possible: Vec<TableRow>,
}

/// A condition of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableCondition {
    /// The source position.
    pub span: Span,
    /// Its source text.
    pub text: String,
    /// Masking MC/DC of its values: false, true.
    pub sides: [ValueStatus; 2],
}

/// The status of one value of a condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueStatus {
    /// Some row shows it.
    Shown,
    /// No row shows it, and no test can: how that is known.
    Infeasible(WhyInfeasible),
    /// No row shows it, and why it isn't known whether one could.
    Unknown(WhyUnknown),
    /// No row shows it; nothing more was asked.
    NotShown,
}

/// One distinct evaluation of a decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableRow {
    /// The conditions' values; `None` where a condition was not evaluated.
    pub values: IndexMap<CondId, Option<bool>>,
    /// The decision's outcome.
    pub result: bool,
    /// The conditions that are not masked in it, in order.
    pub shows: Vec<CondId>,
    /// The tests that evaluated it, in the order in which they were given.
    pub tests: Vec<String>,
}

/// Two rows that show together that a condition matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct IndependencePair {
    /// The condition.
    pub condition: CondId,
    /// In which sense; the stronger one if both.
    pub kind: PairKind,
    /// Positions in [`DecisionTable::rows`], the smaller first.
    pub rows: [usize; 2],
}

/// In which sense two rows are an independence pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PairKind {
    /// Nothing else that both rows evaluated differs. Such a pair is a masking pair, too.
    UniqueCause,
    /// Something else differs, but the condition is unmasked in both rows.
    Masking,
}

/// The tables of a function's decisions, in their order, from the rows that each test (by id) evaluated.
///
/// Decisions in which no condition is ever evaluated (`while (1)`, `0 && a`) have no table. Decisions that no test
/// evaluated have one without rows.
/// A row that doesn't fit the function's decisions (an id out of range) is left out.
pub fn decision_tables(function: &Function, tests: &[(String, Vec<(DecisionId, Row)>)]) -> Vec<DecisionTable> {
    let mut seen: BTreeMap<DecisionId, BTreeMap<&Row, Vec<String>>> = BTreeMap::new();
    for (test, rows) in tests {
        for (decision, row) in rows {
            let by = seen.entry(*decision).or_default().entry(row).or_default();
            if by.last() != Some(test) {
                by.push(test.clone());
            }
        }
    }
    let mut tables = Vec::new();
    for (id, decision) in function.decisions.iter() {
        let graph = DecisionGraph::new(decision);
        let evaluated = graph.evaluated();
        if evaluated.is_empty() {
            continue;
        }
        let head = TableHead {
            function: function.name.clone(),
            decision: id,
            span: decision.span,
            text: decision.text.clone(),
            conditions: decision.conditions.values().cloned().collect(),
            evaluated,
            possible: graph.rows(MAX_ROWS_LISTED).unwrap_or_default(),
        };
        tables.push(head.with(seen.remove(&id).unwrap_or_default().into_iter()));
    }
    tables
}

/// A decision before its rows are known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableHead {
    /// The function of the decision.
    pub function: String,
    /// The decision, in that function.
    pub decision: DecisionId,
    /// The source position.
    pub span: Span,
    /// Its source text.
    pub text: String,
    /// Its conditions.
    pub conditions: IndexMap<CondId, Condition>,
    /// The conditions that some evaluation evaluates; constants cut off the others.
    pub evaluated: BTreeSet<CondId>,
    /// All rows that there are; none if they are many.
    pub possible: Vec<Row>,
}

impl TableHead {
    /// The table with the distinct rows that were seen and the tests that saw each.
    pub fn with<'r>(self, rows: impl Iterator<Item = (&'r Row, Vec<String>)>) -> DecisionTable {
        let TableHead { function, decision, span, text, conditions, evaluated, possible } = self;
        let count = conditions.len();
        let rows: Vec<TableRow> = rows.filter_map(|(row, tests)| table_row(row, tests, count)).collect();
        let known = conditions.iter().map(|(condition, info)| {
            let side = |value: bool| {
                let shown = |row: &TableRow| row.shows.contains(&condition) && row.values[condition] == Some(value);
                if rows.iter().any(shown) {
                    ValueStatus::Shown
                } else if evaluated.contains(&condition) {
                    ValueStatus::NotShown
                } else {
                    ValueStatus::Infeasible(WhyInfeasible::Constant)
                }
            };
            TableCondition { span: info.span, text: info.text.clone(), sides: [side(false), side(true)] }
        });
        let conditions = known.collect();
        let (pairs, pairs_left_out) = pairs(&rows, count);
        let pair_search = PairSearch::NotAsked;
        let possible = possible.iter().filter_map(|row| table_row(row, Vec::new(), count)).collect();
        DecisionTable { function, decision, span, text, conditions, rows, pairs, pairs_left_out, pair_search, possible }
    }
}

fn table_row(row: &Row, tests: Vec<String>, count: usize) -> Option<TableRow> {
    let mut values: IndexMap<CondId, Option<bool>> = (0..count).map(|_| None).collect();
    for (condition, value) in &row.outcomes {
        values.get(*condition)?;
        values[*condition] = Some(*value);
    }
    let mut shows: Vec<CondId> = row.independent.iter().map(|(condition, _)| *condition).collect();
    shows.sort_unstable();
    let fits = row.independent.iter().all(|(condition, value)| values.get(*condition) == Some(&Some(*value)));
    fits.then_some(TableRow { values, result: row.result, shows, tests })
}

/// The conditions that both rows evaluated with different values.
fn differing(a: &TableRow, b: &TableRow) -> Vec<CondId> {
    let differ = |condition: &CondId| match (a.values[*condition], b.values[*condition]) {
        (Some(x), Some(y)) => x != y,
        _ => false,
    };
    a.values.ids().filter(differ).collect()
}

/// The pairs by condition, unique-cause ones first, and how many more there are.
fn pairs(rows: &[TableRow], conditions: usize) -> (Vec<IndependencePair>, usize) {
    let mut by_condition: IndexMap<CondId, [Vec<IndependencePair>; 2]> =
        (0..conditions).map(|_| [vec![], vec![]]).collect();
    let mut left_out = 0;
    for (first, a) in rows.iter().enumerate() {
        for (second, b) in rows.iter().enumerate().skip(first + 1).filter(|(_, b)| a.result != b.result) {
            let differing = differing(a, b);
            for &condition in &differing {
                let kind = if differing.len() == 1 {
                    PairKind::UniqueCause
                } else if a.shows.contains(&condition) && b.shows.contains(&condition) {
                    PairKind::Masking
                } else {
                    continue;
                };
                let list = &mut by_condition[condition][usize::from(kind == PairKind::Masking)];
                if list.len() < MAX_PAIRS_LISTED {
                    list.push(IndependencePair { condition, kind, rows: [first, second] });
                } else {
                    left_out += 1;
                }
            }
        }
    }
    (by_condition.values().flatten().flatten().copied().collect(), left_out)
}

impl DecisionTable {
    /// Takes over what is known of values that no row shows: the verdicts on the goals "unmasked with this value"
    /// ([`Goal::Independent`]) of this decision. `func` is the table's function.
    pub fn judge(&mut self, func: FuncId, objectives: &Objectives) {
        for (id, goal) in objectives.goals.iter() {
            let Goal::Independent { func: of, decision, condition, value } = goal else { continue };
            if *of != func || *decision != self.decision || self.conditions.get(*condition).is_none() {
                continue;
            }
            let side = &mut self.conditions[*condition].sides[usize::from(*value)];
            match (&*side, objectives.list.get(id).map(|objective| &objective.status)) {
                (ValueStatus::NotShown, Some(Status::Infeasible(why))) => *side = ValueStatus::Infeasible(*why),
                (ValueStatus::NotShown, Some(Status::Unknown(why))) => *side = ValueStatus::Unknown(why.clone()),
                _ => {}
            }
        }
    }

    /// Rows that would show what no row shows and something may, or with a result that it was not shown with: for each such value one,
    /// first those that make a unique-cause pair with a row that was seen. None if there are too many to choose from.
    pub fn needed(&self) -> Vec<&TableRow> {
        let mut needed: Vec<&TableRow> = Vec::new();
        for (condition, known) in self.conditions.iter() {
            let completes = |row: &&TableRow| {
                let other = |seen: &TableRow| seen.result != row.result && differing(seen, row) == [condition];
                self.rows.iter().any(other)
            };
            for value in [true, false] {
                let shows = |row: &&TableRow| row.values[condition] == Some(value) && row.shows.contains(&condition);
                let open = matches!(known.sides[usize::from(value)], ValueStatus::Unknown(_) | ValueStatus::NotShown);
                if open && !needed.iter().any(shows) {
                    let showing = || self.possible.iter().filter(shows);
                    needed.extend(showing().find(completes).or_else(|| showing().next()));
                }
            }
            let both_shown = known.sides.iter().all(|side| *side == ValueStatus::Shown);
            if both_shown && self.pairs_of(condition).next().is_none() && !needed.iter().any(completes) {
                needed.extend(self.possible.iter().find(completes));
            }
        }
        needed
    }

    /// Returns the number of shown values of conditions, and of all of them.
    pub fn shown(&self) -> (usize, usize) {
        let sides = self.conditions.values().flat_map(|condition| &condition.sides);
        (sides.filter(|side| **side == ValueStatus::Shown).count(), 2 * self.conditions.len())
    }

    /// The pairs of a condition, unique-cause ones first.
    pub fn pairs_of(&self, condition: CondId) -> impl Iterator<Item = &IndependencePair> + '_ {
        self.pairs.iter().filter(move |pair| pair.condition == condition)
    }

    /// Returns true if every condition is shown with both values, by a pair of rows with different outcomes.
    pub fn is_complete(&self) -> bool {
        let (shown, all) = self.shown();
        shown == all && self.conditions.ids().all(|condition| self.pairs_of(condition).next().is_some())
    }

    /// Returns true if every condition has a unique-cause pair.
    pub fn is_unique_cause_complete(&self) -> bool {
        let unique = |pair: &IndependencePair| pair.kind == PairKind::UniqueCause;
        self.conditions.ids().all(|condition| self.pairs_of(condition).any(unique))
    }
}

#[cfg(test)]
mod tests {
    //! Tables against definitions by brute force over complete assignments.

    use super::*;
    use crate::mcdc::decision_graph::DecisionStep;
    use crate::{DecisionEvaluation, GoalId, Objective};
    use touchstone_base::Id;
    use touchstone_ir::{BoolTree, Condition, DataType, DataTypes, Decision, DecisionKind};

    type Assignment = Vec<bool>;

    fn cond(index: usize) -> Box<BoolTree> {
        Box::new(BoolTree::Cond(CondId::new(index)))
    }

    fn and(a: Box<BoolTree>, b: Box<BoolTree>) -> Box<BoolTree> {
        Box::new(BoolTree::And(a, b))
    }

    fn or(a: Box<BoolTree>, b: Box<BoolTree>) -> Box<BoolTree> {
        Box::new(BoolTree::Or(a, b))
    }

    fn not(a: Box<BoolTree>) -> Box<BoolTree> {
        Box::new(BoolTree::Not(a))
    }

    fn function(tree: &BoolTree, count: usize) -> Function {
        let condition = |index| Condition { span: Span::none(), text: format!("c{index}") };
        let decision = Decision {
            kind: DecisionKind::If,
            span: Span::none(),
            text: "decision".into(),
            tree: tree.clone(),
            conditions: (0..count).map(condition).collect(),
        };
        let mut types = DataTypes::default();
        Function {
            name: "f".into(),
            span: Span::none(),
            internal: false,
            role: touchstone_ir::FunctionRole::Program,
            variadic: false,
            left_open: Default::default(),
            params: Vec::new(),
            result: None,
            result_data: types.push(DataType::Bool { name: "_Bool".into() }),
            aggregate_result: false,
            regs: IndexMap::new(),
            slots: IndexMap::new(),
            decisions: [decision].into_iter().collect(),
            points: IndexMap::new(),
            blocks: IndexMap::new(),
        }
    }

    /// The plain value of a decision, without any notion of evaluation order.
    fn value(tree: &BoolTree, given: &Assignment) -> bool {
        match tree {
            BoolTree::Cond(id) => given[id.index()],
            BoolTree::Const(value) => *value,
            BoolTree::Not(a) => !value(a, given),
            BoolTree::And(a, b) => value(a, given) && value(b, given),
            BoolTree::Or(a, b) => value(a, given) || value(b, given),
            BoolTree::Xor(a, b) => value(a, given) != value(b, given),
            BoolTree::Iff(a, b) => value(a, given) == value(b, given),
            BoolTree::Ite(c, a, b) => {
                if value(c, given) {
                    value(a, given)
                } else {
                    value(b, given)
                }
            }
        }
    }

    /// The row that a complete assignment evaluates as.
    fn row(graph: &DecisionGraph, given: &Assignment) -> Row {
        let mut walk = DecisionEvaluation::default();
        loop {
            match walk.at(graph) {
                DecisionStep::Done(result) => return walk.row(result),
                DecisionStep::Node(node) => walk.step(graph, given[graph.nodes[node].condition.index()]),
            }
        }
    }

    fn assignments(count: usize) -> Vec<Assignment> {
        (0..1u32 << count).map(|bits| (0..count).map(|index| bits >> index & 1 == 1).collect()).collect()
    }

    /// The table of a suite in which each assignment is a test of its own, named by its position.
    fn table_of(tree: &BoolTree, count: usize, suite: &[Assignment]) -> DecisionTable {
        let function = function(tree, count);
        let graph = DecisionGraph::new(&function.decisions[DecisionId::new(0)]);
        let test = |(index, given): (usize, &Assignment)| {
            (format!("t{index}"), vec![(DecisionId::new(0), row(&graph, given))])
        };
        let tests: Vec<_> = suite.iter().enumerate().map(test).collect();
        let mut tables = decision_tables(&function, &tests);
        assert_eq!(tables.len(), 1);
        tables.remove(0)
    }

    /// One line a row and one a pair: `F - = F shows c0 by t0`, `c0 unique 0 2`.
    fn shown(table: &DecisionTable) -> String {
        let mut out = String::new();
        for row in &table.rows {
            for value in row.values.values() {
                out += match value {
                    None => "- ",
                    Some(true) => "T ",
                    Some(false) => "F ",
                };
            }
            let shows: Vec<String> = row.shows.iter().map(CondId::to_string).collect();
            out += &format!(
                "= {} shows {} by {}\n",
                if row.result { "T" } else { "F" },
                shows.join(" "),
                row.tests.join(" ")
            );
        }
        for pair in &table.pairs {
            let kind = if pair.kind == PairKind::UniqueCause { "unique" } else { "masking" };
            out += &format!("{} {kind} {} {}\n", pair.condition, pair.rows[0], pair.rows[1]);
        }
        out
    }

    fn check(tree: &BoolTree, count: usize, suite: &str, expected: &str) {
        let suite: Vec<Assignment> =
            suite.split_whitespace().map(|word| word.chars().map(|c| c == 'T').collect()).collect();
        let table = table_of(tree, count, &suite);
        assert_eq!(shown(&table), expected, "{tree:?}");
    }

    #[test]
    fn a_short_circuit_table_has_dashes_and_each_row_its_tests() {
        check(
            &and(cond(0), cond(1)),
            2,
            "FF TT FT TF",
            "F - = F shows c0 by t0 t2\nT F = F shows c1 by t3\nT T = T shows c0 c1 by t1\n\
             c0 unique 0 2\nc1 unique 1 2\n",
        );
    }

    #[test]
    fn a_masking_pair_may_differ_elsewhere() {
        // (a && b) || c: for c, the left side is false in two ways; for a, c must be false.
        check(
            &or(and(cond(0), cond(1)), cond(2)),
            3,
            "TFT FTF TTF",
            "F - F = F shows c0 c2 by t1\nT F T = T shows c2 by t0\nT T - = T shows c0 c1 by t2\n\
             c0 unique 0 2\nc2 masking 0 1\n",
        );
    }

    #[test]
    fn without_the_other_outcome_values_are_shown_but_there_is_no_pair() {
        let xor = BoolTree::Xor(cond(0), cond(1));
        let table = table_of(&xor, 2, &[vec![true, false], vec![false, true]]);
        assert_eq!(table.shown(), (4, 4));
        assert!(table.pairs.is_empty());
        assert!(!table.is_complete());
        let table = table_of(&xor, 2, &[vec![true, false], vec![false, false], vec![false, true]]);
        assert!(table.is_complete() && table.is_unique_cause_complete());
    }

    #[test]
    fn a_condition_that_is_written_twice_may_have_masking_pairs_only() {
        // (a || b) && (a || c), where the two `a` always agree: c0 and c2.
        check(
            &and(or(cond(0), cond(1)), or(cond(2), cond(3))),
            4,
            "TFTF FTFT FTFF FFFF",
            "F F - - = F shows c0 c1 by t3\nF T F F = F shows c2 c3 by t2\nF T F T = T shows c1 c3 by t1\n\
             T - T - = T shows c0 c2 by t0\n\
             c0 unique 0 3\nc1 unique 0 2\nc2 masking 1 3\nc3 unique 1 2\n",
        );
    }

    /// A tree with conditions numbered from left to right, from a stream of numbers.
    fn tree(seed: &mut u64, depth: u32, next: &mut usize, constants: bool) -> Box<BoolTree> {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        let mut sub = |seed: &mut u64| tree(seed, depth - 1, next, constants);
        match if depth == 0 { 0 } else { *seed % 13 } {
            1 => not(sub(seed)),
            2..=4 => and(sub(seed), sub(seed)),
            5..=7 => or(sub(seed), sub(seed)),
            8 => Box::new(BoolTree::Xor(sub(seed), sub(seed))),
            9 => Box::new(BoolTree::Iff(sub(seed), sub(seed))),
            10 => Box::new(BoolTree::Ite(sub(seed), sub(seed), sub(seed))),
            11 if constants => Box::new(BoolTree::Const(*seed & 64 == 0)),
            _ => {
                *next += 1;
                cond(*next - 1)
            }
        }
    }

    fn only_and_or_not(tree: &BoolTree) -> bool {
        match tree {
            BoolTree::Cond(_) => true,
            BoolTree::Const(_) | BoolTree::Xor(..) | BoolTree::Iff(..) | BoolTree::Ite(..) => false,
            BoolTree::Not(a) => only_and_or_not(a),
            BoolTree::And(a, b) | BoolTree::Or(a, b) => only_and_or_not(a) && only_and_or_not(b),
        }
    }

    fn flipped(given: &Assignment, condition: usize) -> Assignment {
        let mut other = given.clone();
        other[condition] = !other[condition];
        other
    }

    /// Compares a table with the definitions over complete assignments; says how many pairs of each kind there were.
    fn compare(tree: &BoolTree, count: usize, suite: &[Assignment], constants: bool) -> [usize; 2] {
        let table = table_of(tree, count, suite);
        let what = format!("{tree:?}\n{suite:?}\n{}", shown(&table));
        let all = assignments(count);
        let evaluates_as = |given: &Assignment, row: &TableRow| {
            let agrees = |(value, given): (&Option<bool>, &bool)| value.is_none_or(|value| value == *given);
            row.values.values().zip(given).all(agrees)
        };
        // Every assignment evaluates as exactly one row, with the decision's plain value.
        for (position, given) in suite.iter().enumerate() {
            let rows: Vec<&TableRow> = table.rows.iter().filter(|row| evaluates_as(given, row)).collect();
            assert_eq!(rows.len(), 1, "{what}");
            assert_eq!(rows[0].result, value(tree, given), "{what}");
            assert!(rows[0].tests.contains(&format!("t{position}")), "{what}");
        }
        assert_eq!(table.rows.iter().map(|row| row.tests.len()).sum::<usize>(), suite.len(), "{what}");
        let mut found = [0, 0];
        for condition in 0..count {
            let id = CondId::new(condition);
            // A row shows a condition if some completion of it changes its outcome with the condition. With constants, what
            // comes after may be unable to make it matter, which the masks don't look ahead for.
            for row in table.rows.iter().filter(|_| !constants) {
                let hinges = row.values[id].is_some()
                    && all
                        .iter()
                        .filter(|given| evaluates_as(given, row))
                        .any(|given| value(tree, given) != value(tree, &flipped(given, condition)));
                assert_eq!(row.shows.contains(&id), hinges, "{id}: {what}");
            }
            for (i, a) in table.rows.iter().enumerate() {
                for (j, b) in table.rows.iter().enumerate().skip(i + 1) {
                    // The definition of a unique cause without the third value.
                    let unique = a.values[id].is_some()
                        && b.values[id].is_some()
                        && a.result != b.result
                        && all
                            .iter()
                            .any(|given| evaluates_as(given, a) && evaluates_as(&flipped(given, condition), b));
                    let both_show = a.shows.contains(&id) && b.shows.contains(&id);
                    let masking = both_show && a.values[id] != b.values[id] && a.result != b.result;
                    assert!(!unique || masking, "a unique-cause pair is a masking pair; {id} {i} {j}: {what}");
                    let expected = match (unique, masking) {
                        (true, _) => Some(PairKind::UniqueCause),
                        (false, true) => Some(PairKind::Masking),
                        (false, false) => None,
                    };
                    let listed = table.pairs_of(id).find(|pair| pair.rows == [i, j]).map(|pair| pair.kind);
                    assert!(listed == expected || table.pairs_left_out > 0 && listed.is_none(), "{id} {i} {j}: {what}");
                    found[0] += usize::from(expected == Some(PairKind::UniqueCause));
                    found[1] += usize::from(expected == Some(PairKind::Masking));
                }
            }
            let sides = &table.conditions[id].sides;
            for side in [false, true] {
                let shown = table.rows.iter().any(|row| row.shows.contains(&id) && row.values[id] == Some(side));
                assert_eq!(sides[usize::from(side)] == ValueStatus::Shown, shown, "{what}");
            }
            if only_and_or_not(tree) {
                let both = sides.iter().all(|side| *side == ValueStatus::Shown);
                assert_eq!(both, table.pairs_of(id).next().is_some(), "{id}: {what}");
            }
        }
        assert_eq!(found.iter().sum::<usize>(), table.pairs.len() + table.pairs_left_out, "{what}");
        found
    }

    #[test]
    fn tables_of_random_suites_are_what_the_definitions_say() {
        let mut seed = 0x2545_f491_4f6c_dd1d;
        let (mut done, mut found) = (0, [0, 0]);
        while done < 300 {
            let (mut count, constants) = (0, done % 3 == 0);
            let tree = tree(&mut seed, 3, &mut count, constants);
            if !(1..=6).contains(&count) {
                continue;
            }
            done += 1;
            // A part of the assignments, about as many as a real suite has; each third time all of them.
            let keep = |given: &Assignment| {
                let bits = given.iter().fold(1u64, |bits, value| bits * 2 + u64::from(*value));
                done % 3 == 1 || (seed ^ bits.wrapping_mul(0x9e37_79b9_7f4a_7c15)).count_ones() % 3 == 0
            };
            let suite: Vec<Assignment> = assignments(count).into_iter().filter(keep).collect();
            // A decision that constants decide has no conditions to evaluate, and no table.
            if DecisionGraph::new(&function(&tree, count).decisions[DecisionId::new(0)]).nodes.is_empty() {
                assert!(decision_tables(&function(&tree, count), &[]).is_empty());
                continue;
            }
            let more = compare(&tree, count, &suite, constants);
            found = [found[0] + more[0], found[1] + more[1]];
        }
        assert!(found[0] > 500 && found[1] > 500, "only {found:?} pairs");
    }

    #[test]
    fn more_pairs_than_anyone_reads_are_counted() {
        let mut tree = *cond(0);
        for index in 1..6 {
            tree = BoolTree::Xor(Box::new(tree), cond(index));
        }
        let table = table_of(&tree, 6, &assignments(6));
        assert_eq!(table.rows.len(), 64);
        assert_eq!(table.pairs.len(), 6 * 2 * MAX_PAIRS_LISTED);
        // For each condition: 32 unique-cause pairs; of the 32 × 16 pairs with other values and outcomes, the rest.
        assert_eq!(table.pairs_left_out, 6 * (32 * 16 - 2 * MAX_PAIRS_LISTED));
    }

    #[test]
    fn verdicts_say_why_a_value_is_not_shown() {
        let tree = and(cond(0), cond(1));
        let mut table = table_of(&tree, 2, &[vec![true, true]]);
        let func = FuncId::new(3);
        let mut objectives = Objectives::default();
        let mut add = |func, condition: usize, value, status| {
            let condition = CondId::new(condition);
            let id: GoalId =
                objectives.goals.push(Goal::Independent { func, decision: DecisionId::new(0), condition, value });
            let text = |text: &str| text.to_string();
            let (criterion, function) = (text("mcdc"), text("f"));
            objectives.list.push(Objective {
                id: id.to_string(),
                criterion,
                function,
                span: Span::none(),
                text: text(""),
                status,
            });
        };
        add(FuncId::new(1), 1, false, Status::Infeasible(WhyInfeasible::Constant));
        add(func, 0, true, Status::Covered(vec!["t0".into()]));
        add(func, 1, true, Status::Infeasible(WhyInfeasible::Constant));
        add(func, 0, false, Status::Infeasible(WhyInfeasible::Exhaustive));
        add(func, 1, false, Status::Unknown(WhyUnknown::NotFollowed));
        add(func, 7, false, Status::Infeasible(WhyInfeasible::Constant));
        table.judge(func, &objectives);
        let sides = |index: usize| table.conditions[CondId::new(index)].sides.clone();
        assert_eq!(sides(0), [ValueStatus::Infeasible(WhyInfeasible::Exhaustive), ValueStatus::Shown]);
        assert_eq!(sides(1), [ValueStatus::Unknown(WhyUnknown::NotFollowed), ValueStatus::Shown]);
        assert!(!table.is_complete());
    }

    #[test]
    fn a_condition_that_constants_cut_off_is_infeasible_and_rows_that_fit_nothing_are_left_out() {
        let tree = BoolTree::Or(cond(0), Box::new(BoolTree::And(Box::new(BoolTree::Const(false)), cond(1))));
        let function = function(&tree, 2);
        let strange = Row { outcomes: vec![(CondId::new(9), true)], independent: vec![], result: true };
        let tests = vec![("t".to_string(), vec![(DecisionId::new(0), strange.clone()), (DecisionId::new(5), strange)])];
        let tables = decision_tables(&function, &tests);
        assert!(tables[0].rows.is_empty());
        let constant = || ValueStatus::Infeasible(WhyInfeasible::Constant);
        assert_eq!(tables[0].conditions[CondId::new(0)].sides, [ValueStatus::NotShown, ValueStatus::NotShown]);
        assert_eq!(tables[0].conditions[CondId::new(1)].sides, [constant(), constant()]);
    }

    #[test]
    fn the_rows_that_are_still_needed_show_what_no_row_shows() {
        let (a, b) = (CondId::new(0), CondId::new(1));
        let leaf = |condition| Box::new(BoolTree::Cond(condition));
        let tree = BoolTree::And(leaf(a), leaf(b));
        let needed = |suite: &[Assignment]| {
            let table = table_of(&tree, 2, suite);
            let values = table.needed().into_iter().map(|row| row.values.values().copied().collect::<Vec<_>>());
            values.collect::<Vec<_>>()
        };
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(needed(&[vec![true, true], vec![true, false]]), [vec![no, None]]);
        assert_eq!(needed(&[vec![true, true]]), [vec![no, None], vec![yes, no]]);
        assert_eq!(needed(&[]).len(), 3);
        assert!(needed(&[vec![true, true], vec![true, false], vec![false, true]]).is_empty());
    }
}
