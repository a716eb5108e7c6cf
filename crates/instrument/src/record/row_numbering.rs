//! Numbers for the short-circuit rows of a decision.
//!
//! A local variable of the instrumented program computes the number of the row while the decision is evaluated. One
//! store at the end of the decision then records everything that any criterion requires of it: the outcome, the
//! conditions, their combination and masking.
//!
//! If every condition has one node in the decision graph (only `and`, `or`, `not`), the number is a sum: each outcome
//! adds the number of rows of the other outcome, as in the path numbering of Ball and Larus. Otherwise an operator
//! evaluates its operands in an unspecified order (`!a != !b`), and the number must not depend on the order: the set of
//! true conditions is an index into a table. The set identifies the row, because at the first difference between two
//! rows a condition is true in one and false in the other.

use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Id;
use touchstone_criteria::{DecisionGraph, DecisionStep, Row};
use touchstone_ir::CondId;

/// The rows of a decision and the way to compute their numbers.
#[derive(Clone, Debug)]
pub(crate) struct NumberedRows {
    /// The rows, by number.
    pub rows: Vec<Row>,
    /// The way to compute the number at run time.
    pub scheme: NumberingScheme,
}

/// The way in which a run computes the number of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NumberingScheme {
    /// The sum of these numbers over the true conditions.
    Sum(BTreeMap<CondId, u32>),
    /// A table of row numbers, indexed by the sum of these numbers over the true conditions.
    Set(BTreeMap<CondId, u32>, Vec<u32>),
}

/// The maximum number of conditions of a decision with unspecified evaluation order: the table has two to the power of
/// it entries.
const MAX_UNORDERED_CONDITIONS: usize = 12;

/// The maximum number of rows that are distinguished.
pub(crate) const MAX_ROWS: usize = 4096;

/// The maximum number of outcomes in all rows of a decision: the rows of a wide decision are long as well as many.
const MAX_TOTAL_OUTCOMES: usize = 1 << 18;

/// Numbers the rows of a decision, or returns `None` if there are too many.
pub(crate) fn number_rows(graph: &DecisionGraph) -> Option<NumberedRows> {
    let all = graph.rows(MAX_ROWS.min(MAX_TOTAL_OUTCOMES / graph.nodes.len().max(1)))?;
    let conditions: BTreeSet<CondId> = graph.nodes.values().map(|node| node.condition).collect();
    match conditions.len() == graph.nodes.len() {
        true => Some(by_sum(graph, all)),
        false => (conditions.len() <= MAX_UNORDERED_CONDITIONS).then(|| by_set(&conditions, all)),
    }
}

fn by_sum(graph: &DecisionGraph, all: Vec<Row>) -> NumberedRows {
    let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
    count(graph, graph.start, &mut counts);
    let mut adds = BTreeMap::new();
    for node in graph.nodes.values() {
        let other = match node.edges[0].target {
            DecisionStep::Done(_) => 1,
            DecisionStep::Node(next) => counts.get(&next.index()).copied().unwrap_or(0),
        };
        adds.insert(node.condition, other);
    }
    let mut rows: Vec<(u32, Row)> = all.into_iter().map(|row| (sum(&adds, &row), row)).collect();
    rows.sort();
    debug_assert!(rows.iter().enumerate().all(|(index, (number, _))| index as u32 == *number));
    NumberedRows { rows: rows.into_iter().map(|(_, row)| row).collect(), scheme: NumberingScheme::Sum(adds) }
}

fn count(graph: &DecisionGraph, at: DecisionStep, counts: &mut BTreeMap<usize, u32>) -> u32 {
    let DecisionStep::Node(node) = at else { return 1 };
    if let Some(known) = counts.get(&node.index()) {
        return *known;
    }
    let made = graph.nodes[node].edges.iter().map(|edge| count(graph, edge.target, counts)).sum();
    counts.insert(node.index(), made);
    made
}

fn by_set(conditions: &BTreeSet<CondId>, rows: Vec<Row>) -> NumberedRows {
    let adds: BTreeMap<CondId, u32> =
        conditions.iter().enumerate().map(|(bit, condition)| (*condition, 1 << bit)).collect();
    let mut numbers = vec![0; 1 << conditions.len()];
    for (number, row) in rows.iter().enumerate() {
        numbers[sum(&adds, row) as usize] = number as u32;
    }
    NumberedRows { rows, scheme: NumberingScheme::Set(adds, numbers) }
}

/// Adds the numbers of the true conditions of a row.
fn sum(adds: &BTreeMap<CondId, u32>, row: &Row) -> u32 {
    row.outcomes.iter().filter(|(_, value)| *value).map(|(condition, _)| adds[condition]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::{IndexMap, Span};
    use touchstone_ir::{BoolTree, Condition, Decision, DecisionKind};

    fn cond(index: usize) -> Box<BoolTree> {
        Box::new(BoolTree::Cond(CondId::new(index)))
    }

    #[track_caller]
    fn check(tree: BoolTree, count: usize, sum: bool) {
        let condition = Condition { span: Span::none(), text: String::new() };
        let conditions: IndexMap<CondId, Condition> = (0..count).map(|_| condition.clone()).collect();
        let decision = Decision { kind: DecisionKind::If, span: Span::none(), text: String::new(), tree, conditions };
        let graph = DecisionGraph::new(&decision);
        let numbered = number_rows(&graph).expect("few rows");
        assert_eq!(matches!(numbered.scheme, NumberingScheme::Sum(_)), sum);
        for (index, row) in numbered.rows.iter().enumerate() {
            let computed = match &numbered.scheme {
                NumberingScheme::Sum(adds) => super::sum(adds, row),
                NumberingScheme::Set(adds, numbers) => numbers[super::sum(adds, row) as usize],
            };
            assert_eq!(computed as usize, index, "{row:?}");
        }
    }

    #[test]
    fn rows_of_wide_decisions_are_told_apart_only_while_they_are_short() {
        let has_rows = |count: usize| {
            let tree = (1..count).fold(*cond(0), |tree, number| BoolTree::Or(Box::new(tree), cond(number)));
            let condition = Condition { span: Span::none(), text: String::new() };
            let conditions = (0..count).map(|_| condition.clone()).collect();
            let decision =
                Decision { kind: DecisionKind::If, span: Span::none(), text: String::new(), tree, conditions };
            number_rows(&DecisionGraph::new(&decision)).is_some()
        };
        touchstone_base::on_deep_stack(|| assert!(has_rows(500) && !has_rows(600)));
    }

    #[test]
    fn a_run_computes_the_number_of_its_row() {
        use BoolTree::{And, Iff, Ite, Not, Or, Xor};
        check(BoolTree::Cond(CondId::new(0)), 1, true);
        check(And(cond(0), Box::new(Or(cond(1), Box::new(Not(cond(2)))))), 3, true);
        check(Or(Box::new(And(cond(0), cond(1))), Box::new(And(cond(2), cond(3)))), 4, true);
        check(Xor(cond(0), Box::new(And(cond(1), cond(2)))), 3, false);
        check(Ite(cond(0), cond(1), cond(2)), 3, true);
        check(And(Box::new(Iff(cond(0), cond(1))), cond(2)), 3, false);
    }
}
