//! Decides whether runs of the twin cover an objective of Touchstone. It shares no code with Touchstone: an objective
//! is identified by its line, its column and its text.

use crate::soundness::text::{Shape, Text};
use serde_json::Value;
use std::collections::BTreeSet;

/// Everything that some run did, as the driver prints it.
#[derive(Default)]
pub struct Covered {
    statements: BTreeSet<usize>,
    /// Decision, leaf, value; also of evaluations that a fault ended.
    conditions: BTreeSet<(usize, usize, bool)>,
    /// Decision, and the value of each leaf that was evaluated.
    rows: BTreeSet<(usize, Vec<Option<bool>>)>,
}

impl Covered {
    /// Reads `S statement`, `C decision leaf value` and `R decision row`, where a row has digits 0 and 1, and 2 for a leaf
    /// that was not evaluated.
    pub fn read(printed: &str) -> Covered {
        let mut covered = Covered::default();
        let number = |word: &str| word.parse::<usize>().expect("a number");
        for line in printed.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["S", statement] => drop(covered.statements.insert(number(statement))),
                ["C", decision, leaf, value] => {
                    covered.conditions.insert((number(decision), number(leaf), value == "1"));
                }
                ["R", decision, row] => {
                    let row = row.chars().map(|digit| (digit != '2').then_some(digit == '1')).collect();
                    covered.rows.insert((number(decision), row));
                }
                _ => panic!("the driver said {line:?}"),
            }
        }
        covered
    }
}

/// Returns true if the runs reach an objective, or an error if the objective refers to nothing in the text.
pub fn reached(text: &Text, covered: &Covered, objective: &Value) -> Result<bool, String> {
    let place = |key: &str| objective[key].as_u64().unwrap_or_default() as usize;
    let (line, column) = (place("line"), place("column"));
    let words = objective["text"].as_str().unwrap_or_default();
    let nothing = || format!("no such thing in the text: {objective}");
    let criterion = objective["criterion"].as_str().unwrap_or_default();
    if criterion == "stmt" {
        let statement = text.statements.iter().position(|at| *at == line).ok_or_else(nothing)?;
        return Ok(covered.statements.contains(&statement));
    }
    if let Some(label) = words.strip_prefix("switch: ") {
        let arm = text.arms.iter().find(|arm| arm.line == line && arm.label == label).ok_or_else(nothing)?;
        return Ok(covered.statements.contains(&arm.statement));
    }
    let number = text.decisions.iter().position(|decision| decision.line == line).ok_or_else(nothing)?;
    let decision = &text.decisions[number];
    let value = ends(words).ok_or_else(nothing)?;
    let mut rows = covered.rows.iter().filter(|(of, _)| *of == number).map(|(_, row)| row);
    if matches!(criterion, "branch" | "decision") {
        return Ok(rows.any(|row| can_be(&decision.shape, value, row)));
    }
    // A leaf may be reported with or without a parenthesis of its own.
    let leaf = decision.leaves.iter().position(|(from, to)| (*from..*to).contains(&column)).ok_or_else(nothing)?;
    match criterion {
        "condition" => Ok(covered.conditions.contains(&(number, leaf, value))),
        "mcdc" => Ok(rows.any(|row| row[leaf] == Some(value) && decides(&decision.shape, leaf, row))),
        _ => Err(format!("criterion {criterion}?")),
    }
}

fn ends(words: &str) -> Option<bool> {
    let words = words.strip_suffix(" and independently affects the outcome").unwrap_or(words);
    if words.ends_with(" is true") {
        return Some(true);
    }
    words.ends_with(" is false").then_some(false)
}

/// Returns true if the expression can have the value when conditions that were not evaluated are free.
fn can_be(shape: &Shape, wanted: bool, row: &[Option<bool>]) -> bool {
    let be = |shape: &Shape, wanted: bool| can_be(shape, wanted, row);
    match shape {
        Shape::Leaf(leaf) => row[*leaf].is_none_or(|value| value == wanted),
        Shape::Not(a) => be(a, !wanted),
        Shape::And(a, b) if wanted => be(a, true) && be(b, true),
        Shape::And(a, b) => be(a, false) || be(b, false),
        Shape::Or(a, b) if wanted => be(a, true) || be(b, true),
        Shape::Or(a, b) => be(a, false) && be(b, false),
    }
}

/// Masking MC/DC: flipping the leaf can flip the decision, what was not evaluated being free.
fn decides(shape: &Shape, leaf: usize, row: &[Option<bool>]) -> bool {
    let inner = |shape: &Shape| decides(shape, leaf, row);
    match shape {
        Shape::Leaf(own) => *own == leaf,
        Shape::Not(a) => inner(a),
        Shape::And(a, b) => (inner(a) && can_be(b, true, row)) || (inner(b) && can_be(a, true, row)),
        Shape::Or(a, b) => (inner(a) && can_be(b, false, row)) || (inner(b) && can_be(a, false, row)),
    }
}
