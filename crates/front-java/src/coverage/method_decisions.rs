//! The decision table of a method: which jumps are conditions of which decisions, and which instructions begin
//! statements.
//!
//! With source, the compiler's helper has recorded the condition of each jump; jumps without a condition are checks.
//! Without source, every conditional jump is a decision of its own, named by its line. Code of the JDK has no
//! decisions.

use crate::classfile::{Code, Decoded, Insn};
use crate::coverage::implicit_exceptions::ImplicitException;
use crate::coverage::source_marks::{DecisionMark, MarkedRange, MethodMarks, Selector, SwitchMark, is_conditional};
use crate::coverage::value_locations::ValuePointLocation;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_base::{FileId, IndexMap, Span};
use touchstone_ir::{
    BoolTree, CondId, CondTag, Condition, Decision, DecisionId, DecisionKind, Function, InstKind, Point, PointId,
    PointKind,
};

/// The origin of a method's decisions.
#[derive(Debug)]
pub(crate) enum DecisionSource {
    /// The method is the JDK's: it has no decisions.
    Library,
    /// The source was compiled, and its marks are known.
    Source(Rc<MethodMarks>),
    /// Only the bytecode exists.
    CodeOnly,
}

/// The helper's reason for a jump that computes a boolean which is stored or passed on.
const STORED_VALUE_REASON: &str = "a value that nothing is decided by";

/// The length of the keyword `switch`.
const WORD: u32 = 6;

/// The predicate of a point, evaluated before an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InstructionPredicate {
    /// The instruction throws this exception.
    Throws(ImplicitException),
    /// The condition of a label holds.
    Label,
}

/// The location of a point in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PointLocation {
    /// Offset of the instruction.
    pub at: usize,
    /// The predicate that the point evaluates.
    pub predicate: InstructionPredicate,
}

/// The locations of a method's points in its code.
#[derive(Clone, Debug, Default)]
pub(crate) struct PointLocations {
    /// Points with a predicate on a single instruction.
    pub points: Vec<(PointId, PointLocation)>,
    /// Points about values.
    pub values: Vec<(PointId, ValuePointLocation)>,
    /// The fields of the receiver that points read: from the offset in memory to the index in the constant pool.
    pub own_fields: BTreeMap<u64, u16>,
}

impl PointLocations {
    pub fn is_empty(&self) -> bool {
        self.points.is_empty() && self.values.is_empty()
    }
}

/// The decisions and points of a method, created before its code is lowered so that they have the order of the source.
#[derive(Debug, Default)]
pub(crate) struct MethodDecisions {
    decisions: IndexMap<DecisionId, Decision>,
    points: IndexMap<PointId, Point>,
    pub jumps: FxHashMap<usize, (CondTag, u8)>,
    pub statements: FxHashMap<usize, Vec<PointId>>,
    /// Jumps that compute a boolean which is stored.
    values: FxHashSet<usize>,
    /// The switches of the source, by offset.
    pub switches: FxHashMap<usize, (Selector, Span)>,
    /// Decisions without objectives, with their texts: a condition is compiled to something other than a jump.
    pub skipped: Vec<(Span, String)>,
    pub is_library: bool,
    pub all_switches: bool,
    point_locations: Vec<(PointId, PointLocation)>,
    value_point_locations: Vec<(PointId, ValuePointLocation)>,
}

fn span(file: FileId, place: MarkedRange) -> Span {
    let [line, column, end_line, end_column] = place;
    Span { file, line, column, end_line, end_column }
}

impl MethodDecisions {
    pub fn new(known: &DecisionSource, file: FileId, code: &Code, insns: &[Decoded]) -> MethodDecisions {
        match known {
            DecisionSource::Library => MethodDecisions { is_library: true, ..MethodDecisions::default() },
            DecisionSource::Source(marks) => MethodDecisions::of_source(marks, file, insns),
            DecisionSource::CodeOnly => MethodDecisions::of_code(file, code, insns),
        }
    }

    fn of_source(marks: &MethodMarks, file: FileId, insns: &[Decoded]) -> MethodDecisions {
        let mut table = MethodDecisions::default();
        let is_jump = |at: &usize| insns.iter().any(|insn| insn.at == *at && is_conditional(&insn.insn));
        let mut jumps: Vec<_> = marks.jumps.iter().filter(|(at, _)| is_jump(at)).collect();
        // A condition may be compiled to something other than a known jump; then the outcome of its decision can't be
        // observed.
        let mut observed: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (_, jump) in &jumps {
            observed.entry(jump.decision.number).or_default().insert(jump.condition);
        }
        let is_observed =
            |decision: &DecisionMark| evaluable_conditions(&decision.tree).is_subset(&observed[&decision.number]);
        let skipped = jumps.iter().map(|(_, jump)| &jump.decision).filter(|decision| !is_observed(decision));
        let skipped: BTreeMap<usize, _> = skipped.map(|decision| (decision.number, decision)).collect();
        table.skipped = skipped.into_values().map(|mark| (span(file, mark.range), mark.text.clone())).collect();
        jumps.retain(|(_, jump)| is_observed(&jump.decision));
        let mut numbers: BTreeMap<usize, DecisionId> = BTreeMap::new();
        let decisions: BTreeMap<usize, _> =
            jumps.iter().map(|(_, jump)| (jump.decision.number, &jump.decision)).collect();
        for (number, mark) in decisions {
            let condition =
                |(range, text): &(MarkedRange, String)| Condition { span: span(file, *range), text: text.clone() };
            let id = table.decisions.push(Decision {
                kind: mark.kind,
                span: span(file, mark.range),
                text: mark.text.clone(),
                tree: mark.tree.clone(),
                conditions: mark.conditions.iter().map(condition).collect(),
            });
            numbers.insert(number, id);
        }
        for (at, jump) in jumps {
            let tag = CondTag { decision: numbers[&jump.decision.number], condition: CondId::new(jump.condition) };
            table.jumps.insert(*at, (tag, jump.opcode));
        }
        let kept = marks.others.iter().filter(|(_, reason)| reason.as_deref() == Some(STORED_VALUE_REASON));
        table.values = kept.map(|(at, _)| *at).collect();
        let mut statements: BTreeMap<MarkedRange, (String, Vec<usize>)> = BTreeMap::new();
        for (at, marks) in &marks.statements {
            for mark in marks {
                let entry = statements.entry(mark.range).or_insert_with(|| (mark.text.clone(), Vec::new()));
                entry.1.push(*at);
            }
        }
        for (range, (text, places)) in statements {
            let point = table.points.push(Point::new(PointKind::Statement, span(file, range), text));
            places.into_iter().for_each(|at| table.statements.entry(at).or_default().push(point));
        }
        // The selector of a switch may contain switches: these start at a later offset and come first in the code.
        for (start, SwitchMark { selector, line, column }) in marks.switches.iter().rev() {
            let is_it =
                |insn: &&Decoded| matches!(insn.insn, Insn::Switch(..)) && !table.switches.contains_key(&insn.at);
            let first = insns.iter().find(|insn| insn.at >= *start && is_it(insn));
            if let Some(first) = first {
                let word = [*line, *column, *line, *column + WORD];
                table.switches.insert(first.at, (*selector, span(file, word)));
            }
        }
        table
    }

    fn of_code(file: FileId, code: &Code, insns: &[Decoded]) -> MethodDecisions {
        let mut table = MethodDecisions { all_switches: true, ..MethodDecisions::default() };
        let mut of_line: BTreeMap<u32, u32> = BTreeMap::new();
        let mut last = 0;
        for insn in insns {
            let line = code.line(insn.at);
            let at = Span::at(file, line, 1);
            if line != 0 && line != last {
                let text = format!("line {line}");
                let point = table.points.push(Point::new(PointKind::Statement, at, text));
                table.statements.entry(insn.at).or_default().push(point);
                last = line;
            }
            if is_conditional(&insn.insn) {
                let number = of_line.entry(line).or_default();
                *number += 1;
                let text = format!("line {line}, jump {number}: not taken");
                let conditions = [Condition { span: at, text: text.clone() }].into_iter().collect();
                let tree = BoolTree::Cond(CondId::new(0));
                let decision =
                    table.decisions.push(Decision { kind: DecisionKind::If, span: at, text, tree, conditions });
                // Opcode 0 is never in the code, so the jump counts as the negation of its condition, which holds on
                // fall-through.
                table.jumps.insert(insn.at, (CondTag { decision, condition: CondId::new(0) }, 0));
            }
        }
        table
    }

    /// Iterates over the jumps that are conditions, with the opcode that jumps if the condition holds.
    pub fn jumps(&self) -> impl Iterator<Item = (usize, CondTag, u8)> {
        self.jumps.iter().map(|(at, (tag, opcode))| (*at, *tag, *opcode))
    }

    /// Iterates over the switches of the source, with their positions.
    pub fn switches(&self) -> impl Iterator<Item = (usize, Span)> {
        self.switches.iter().map(|(at, (_, span))| (*at, *span))
    }

    /// Iterates over the offsets at which statements begin.
    pub fn statement_starts(&self) -> impl Iterator<Item = (usize, &Point)> {
        self.statements.iter().flat_map(|(at, points)| points.iter().map(|point| (*at, &self.points[*point])))
    }

    /// Returns the source position of a condition.
    pub fn span_of(&self, tag: CondTag) -> Span {
        self.decisions[tag.decision].conditions[tag.condition].span
    }

    /// Returns a condition as the source writes it.
    pub fn text_of(&self, tag: CondTag) -> String {
        self.decisions[tag.decision].conditions[tag.condition].text.clone()
    }

    /// Returns the decisions with more than one condition.
    pub fn compound_decisions(&self) -> Vec<DecisionId> {
        let several = self.decisions.iter().filter(|(_, decision)| decision.conditions.len() > 1);
        several.map(|(id, _)| id).collect()
    }

    /// Returns the condition of a decision that the jump at an offset evaluates.
    pub fn condition_at(&self, at: usize, decision: DecisionId) -> Option<CondId> {
        self.jumps.get(&at).filter(|(tag, _)| tag.decision == decision).map(|(tag, _)| tag.condition)
    }

    /// Returns the number of conditions of a decision.
    pub fn conditions(&self, decision: DecisionId) -> usize {
        self.decisions[decision].conditions.len()
    }

    pub fn tree(&self, decision: DecisionId) -> &BoolTree {
        &self.decisions[decision].tree
    }

    /// Returns the source position of a decision, and its text.
    pub fn decision(&self, decision: DecisionId) -> (Span, String) {
        (self.decisions[decision].span, self.decisions[decision].text.clone())
    }

    /// Returns true if the jump at an offset computes a boolean that is stored.
    pub fn is_stored_value(&self, at: usize) -> bool {
        self.values.contains(&at)
    }

    /// Adds a point unless there is an equal one: the compiler copies the code of a `finally` block.
    pub fn add_once(&mut self, point: Point) -> PointId {
        let known = self.points.iter().find(|(_, known)| **known == point).map(|(id, _)| id);
        known.unwrap_or_else(|| self.add(point))
    }

    pub fn is_library(&self) -> bool {
        self.is_library
    }

    /// Adds a point.
    pub fn add(&mut self, point: Point) -> PointId {
        self.points.push(point)
    }

    /// Records the location of a point.
    pub fn place(&mut self, point: PointId, location: PointLocation) {
        self.point_locations.push((point, location));
    }

    /// Records the location of a point about values.
    pub fn place_values(&mut self, point: PointId, location: ValuePointLocation) {
        self.value_point_locations.push((point, location));
    }

    /// Returns the last statement that begins at an offset or before it.
    pub fn statement_before(&self, at: usize) -> Option<&Point> {
        let before = self.statements.iter().filter(|(start, _)| **start <= at);
        let (_, points) = before.max_by_key(|(start, _)| **start)?;
        points.last().map(|point| &self.points[*point])
    }

    /// Attaches the decisions and points to a function, in the order of the source, and returns the locations of the
    /// points.
    pub fn attach(self, function: &mut Function) -> PointLocations {
        let mut points: Vec<(PointId, Point)> = self.points.iter().map(|(id, point)| (id, point.clone())).collect();
        points.sort_by_key(|(id, point)| (point.span.line, point.span.column, *id));
        let numbers: FxHashMap<PointId, PointId> =
            points.iter().enumerate().map(|(index, (id, _))| (*id, PointId::new(index))).collect();
        for inst in function.blocks.values_mut().flat_map(|block| &mut block.insts) {
            if let InstKind::Point { point } = &mut inst.kind {
                *point = numbers[point];
            }
        }
        function.decisions = self.decisions;
        function.points = points.into_iter().map(|(_, point)| point).collect();
        PointLocations {
            points: self.point_locations.into_iter().map(|(point, location)| (numbers[&point], location)).collect(),
            values: self
                .value_point_locations
                .into_iter()
                .map(|(point, location)| (numbers[&point], location))
                .collect(),
            own_fields: BTreeMap::new(),
        }
    }
}

/// Returns the conditions that an evaluation of the decision can reach: constant operands short-circuit others.
fn evaluable_conditions(tree: &BoolTree) -> BTreeSet<usize> {
    let both = |a: &BoolTree, b: &BoolTree| evaluable_conditions(a).union(&evaluable_conditions(b)).copied().collect();
    match tree {
        BoolTree::Cond(own) => BTreeSet::from([own.index()]),
        BoolTree::Const(_) => BTreeSet::new(),
        BoolTree::Not(a) => evaluable_conditions(a),
        BoolTree::And(a, b) | BoolTree::Or(a, b) => {
            let goes_on = matches!(tree, BoolTree::And(..));
            match **a {
                BoolTree::Const(value) if value != goes_on => BTreeSet::new(),
                _ => both(a, b),
            }
        }
        BoolTree::Xor(a, b) | BoolTree::Iff(a, b) => both(a, b),
        BoolTree::Ite(c, a, b) => match **c {
            BoolTree::Const(true) => evaluable_conditions(a),
            BoolTree::Const(false) => evaluable_conditions(b),
            _ => evaluable_conditions(c)
                .into_iter()
                .chain(evaluable_conditions(a))
                .chain(evaluable_conditions(b))
                .collect(),
        },
    }
}
