//! Probes of decisions: one for each outcome, one for each row, or a walk through the decision graph where there are
//! too many rows.

use super::function_probes::FunctionProbes;
use super::unit_probes::source_range;
use crate::record::{NumberedRows, NumberingScheme, ProbeObstacle, ProbedDecision, ProbedRow, number_rows};
use std::collections::BTreeMap;
use touchstone_base::{Id, Span};
use touchstone_criteria::{DecisionGraph, DecisionStep, Goal, Row};
use touchstone_front_c::RETURNS_TWICE;
use touchstone_ir::{Callee, CondId, DecisionId, Init, InstKind};

/// The rank of an insertion that keeps the value of a decision: the first operand of `a ?: b` may be a decision. Ranks
/// order insertions around one expression, the lower is the outer.
const KEPT_RANK: usize = 1;
pub(super) const DECISION_RANK: usize = 2;
const CONDITION_RANK: usize = 3;

/// The probes of a decision, numbered from `first` on.
pub(super) enum DecisionProbes {
    /// One probe for false and one for true, if no criterion requires more, or if a call in the decision may return
    /// twice: the local variable of a row would hold conditions of both evaluations.
    Outcomes { first: u32 },
    /// One probe for each row.
    Rows { first: u32, rows: Vec<Row> },
    /// For decisions with too many rows: probes for the outcomes of the decision, then of the conditions, then of the
    /// unmasked conditions.
    Walk { first: u32, conditions: u32 },
}

impl DecisionProbes {
    /// Returns the probes of which one is hit whenever the decision is evaluated.
    pub(super) fn evaluated(&self) -> Vec<u32> {
        match self {
            DecisionProbes::Rows { first, rows } => (*first..*first + rows.len() as u32).collect(),
            DecisionProbes::Outcomes { first } | DecisionProbes::Walk { first, .. } => vec![*first, *first + 1],
        }
    }

    /// Returns the probes that cover a goal of the decision; one of them suffices.
    pub(super) fn of(&self, goal: &Goal) -> Result<Vec<u32>, ProbeObstacle> {
        match (self, goal) {
            (DecisionProbes::Rows { first, rows }, _) => {
                let reached = |row: &Row| match goal {
                    Goal::Outcome { value, .. } => row.result == *value,
                    Goal::Condition { condition, value, .. } => row.outcomes.contains(&(*condition, *value)),
                    Goal::Independent { condition, value, .. } => row.independent.contains(&(*condition, *value)),
                    Goal::Row { outcomes, .. } => row.outcomes == *outcomes,
                    _ => false,
                };
                let matching = rows.iter().enumerate().filter(|(_, row)| reached(row));
                Ok(matching.map(|(index, _)| first + index as u32).collect())
            }
            (DecisionProbes::Outcomes { first } | DecisionProbes::Walk { first, .. }, Goal::Outcome { value, .. }) => {
                Ok(vec![first + u32::from(*value)])
            }
            (DecisionProbes::Walk { first, .. }, Goal::Condition { condition, value, .. }) => {
                Ok(vec![first + 2 + 2 * condition.index() as u32 + u32::from(*value)])
            }
            (DecisionProbes::Walk { first, conditions }, Goal::Independent { condition, value, .. }) => {
                Ok(vec![first + 2 + 2 * (conditions + condition.index() as u32) + u32::from(*value)])
            }
            (DecisionProbes::Outcomes { .. }, _) => Err(ProbeObstacle::ReturnsTwice),
            _ => Err(ProbeObstacle::TooManyRows),
        }
    }
}

impl FunctionProbes<'_, '_, '_> {
    pub(super) fn decision(&mut self, id: DecisionId) -> Result<DecisionProbes, ProbeObstacle> {
        let decision = &self.place.function.decisions[id];
        let graph = DecisionGraph::new(decision);
        let whole = self.expression(decision.span)?;
        if graph.nodes.is_empty() {
            return self.constant(whole, &graph);
        }
        if !self.by_row.contains(&id) {
            let first = self.fresh(2);
            self.two_ways(id, whole, [first, first + 1]);
            return Ok(DecisionProbes::Outcomes { first });
        }
        let mut spans: BTreeMap<CondId, (usize, usize)> = BTreeMap::new();
        for condition in graph.evaluated() {
            spans.insert(condition, self.expression(decision.conditions[condition].span)?);
        }
        if spans.len() > 1 && self.returns_twice(id) {
            let first = self.fresh(2);
            self.two_ways(id, whole, [first, first + 1]);
            return Ok(DecisionProbes::Outcomes { first });
        }
        let Some(numbered) = number_rows(&graph) else {
            return Ok(self.walk(id, &graph, whole, spans));
        };
        let first = self.fresh(numbered.rows.len() as u32);
        self.record(id, first, &numbered);
        if let (NumberingScheme::Sum(_), [no, yes]) = (&numbered.scheme, numbered.rows.as_slice())
            && no.result != yes.result
        {
            // Only one condition is evaluated: its outcomes are those of the decision, possibly negated. Next to a
            // constant they are not.
            self.two_ways(id, whole, if no.result { [first + 1, first] } else { [first, first + 1] });
            return Ok(DecisionProbes::Rows { first, rows: numbered.rows });
        }
        let (name, index) = (format!("__touchstone_r{}", id.index()), id.index());
        let insertions = &mut self.unit.insertions;
        let (NumberingScheme::Sum(adds) | NumberingScheme::Set(adds, _)) = &numbered.scheme;
        for (condition, (start, end)) in spans {
            let close = format!(") ? ({name} += {}, 1) : 0)", adds[&condition]);
            insertions.wrap(start, end, CONDITION_RANK, "((".to_string(), close);
        }
        let number = match &numbered.scheme {
            NumberingScheme::Sum(_) => name.clone(),
            NumberingScheme::Set(_, numbers) => {
                let (table, numbers) = (self.place.table(index), numbers.iter().map(u32::to_string));
                let numbers: Vec<String> = numbers.collect();
                self.tables += &format!("static const unsigned short {table}[] = {{{}}}; ", numbers.join(", "));
                format!("{table}[{name}]")
            }
        };
        let store = format!("__touchstone_h[{first} + {number}] = 1");
        let close = format!(")) ? ({store}, 1) : ({store}, 0))");
        insertions.wrap(whole.0, whole.1, DECISION_RANK, format!("(({name} = 0, ("), close);
        self.declarations += &format!("unsigned {name}; ");
        Ok(DecisionProbes::Rows { first, rows: numbered.rows })
    }

    /// Returns true if a call in a decision may return twice, like `setjmp`.
    fn returns_twice(&self, id: DecisionId) -> bool {
        let (module, function) = (self.place.module, self.place.function);
        let decision = function.decisions[id].span;
        let is_inside = |span: Span| {
            let (start, end) = ((span.line, span.column), (span.end_line, span.end_column));
            span.file == decision.file
                && (decision.line, decision.column) <= start
                && end <= (decision.end_line, decision.end_column)
        };
        let twice =
            |kind: &InstKind| match kind {
                InstKind::Call { callee: Callee::Direct(callee), .. } => {
                    RETURNS_TWICE.contains(&module.functions[*callee].name.as_str())
                }
                // The front end lowers `setjmp` to a builtin with this text.
                InstKind::GlobalAddr { global, .. } => module.globals[*global].init.iter().flatten().any(
                    |init| matches!(init, Init::Bytes { bytes, .. } if bytes.strip_suffix(b"\0") == Some(b"setjmp")),
                ),
                _ => false,
            };
        let mut insts = function.blocks.values().flat_map(|block| &block.insts);
        insts.any(|inst| is_inside(inst.span) && twice(&inst.kind))
    }

    /// Inserts a probe for each outcome, unless the next decision implies it.
    fn two_ways(&mut self, id: DecisionId, (start, end): (usize, usize), probes: [u32; 2]) {
        let mut marks = [String::new(), String::new()];
        for value in [false, true] {
            let probe = probes[usize::from(value)];
            let next = self.flow.as_ref().and_then(|flow| flow.decision_after(id, value));
            match next.and_then(|next| self.decisions.get(&next)?.as_ref().ok()) {
                Some(next) => self.unit.implied.push((probe, next.evaluated())),
                None => marks[usize::from(value)] = format!("__touchstone_h[{probe}] = 1"),
            }
        }
        if marks.iter().all(String::is_empty) {
            return;
        }
        let [on_false, on_true] = marks;
        if self.value_is_used(end) {
            // The conditional converts a bit-field to a number and an array to a pointer; the type of `a ?: b` stays
            // the same.
            let open = "(__extension__ ({ __auto_type __touchstone_e = 1 ? (".to_string();
            let close =
                format!(") : 0; if (__touchstone_e) {{ {on_true}; }} else {{ {on_false}; }} __touchstone_e; }}))");
            self.unit.insertions.wrap(start, end, KEPT_RANK, open, close);
            return;
        }
        let valued =
            |mark: String, value: u32| if mark.is_empty() { value.to_string() } else { format!("({mark}, {value})") };
        let close = format!(") ? {} : {})", valued(on_true, 1), valued(on_false, 0));
        self.unit.insertions.wrap(start, end, DECISION_RANK, "((".to_string(), close);
    }

    /// Returns true if the expression that ends here may be the first operand of `a ?: b`, whose value is used.
    fn value_is_used(&self, end: usize) -> bool {
        let source = self.place.source;
        let mut next = source.first_token_from(end);
        while source.word(next) == ")" {
            next += 1;
        }
        source.word(next) == "?" && source.word(next + 1) == ":"
    }

    /// Instruments a decision so that a run records the outcomes of its conditions, and walks through the decision
    /// graph at the end to find those that were not masked.
    fn walk(
        &mut self,
        id: DecisionId,
        graph: &DecisionGraph,
        whole: (usize, usize),
        spans: BTreeMap<CondId, (usize, usize)>,
    ) -> DecisionProbes {
        let conditions = self.place.function.decisions[id].conditions.len() as u32;
        let first = self.fresh(2 + 4 * conditions);
        let (name, table) = (format!("__touchstone_r{}", id.index()), self.place.table(id.index()));
        let insertions = &mut self.unit.insertions;
        for (condition, (start, end)) in spans {
            let step = |outcome: u32| format!("__touchstone_step({name}, {}, {outcome})", condition.index());
            let close = format!(") ? {} : {})", step(1), step(0));
            insertions.wrap(start, end, CONDITION_RANK, "((".to_string(), close);
        }
        let (start, end) = (walk_node(graph, graph.start), graph.nodes.len());
        let done = |result: u32| {
            let to = format!("{conditions}, __touchstone_h + {first}");
            format!("__touchstone_done({name}, {table}, {start}, {end}, {to}, {result})")
        };
        let close = format!(")) ? {} : {})", done(1), done(0));
        let open = format!("((__touchstone_start({name}, {conditions}), (");
        insertions.wrap(whole.0, whole.1, DECISION_RANK, open, close);
        let numbers: Vec<String> = walk_table(graph).iter().map(u32::to_string).collect();
        self.tables += &format!("static const unsigned {table}[] = {{{}}}; ", numbers.join(", "));
        self.declarations += &format!("unsigned {name}[{conditions}]; ");
        self.unit.walks = true;
        DecisionProbes::Walk { first, conditions }
    }

    /// Instruments a decision that the compiler folds. The expression stays as it is, since dead code after it may not
    /// link; the statement that contains it gets the probe.
    fn constant(&mut self, (start, _): (usize, usize), graph: &DecisionGraph) -> Result<DecisionProbes, ProbeObstacle> {
        let source = self.place.source;
        let first = source.first_token_from(start);
        let keyword = first.checked_sub(2).filter(|at| matches!(source.word(*at), "if" | "while"));
        let at = keyword.map(|at| source.tokens[at].start).ok_or(ProbeObstacle::ConstantInExpression)?;
        let layout = self.place.layout.as_ref().ok_or(ProbeObstacle::StatementsNotUnderstood)?;
        let statement = *layout.at(at).ok_or(ProbeObstacle::ConstantInStatement)?;
        let rows = graph.rows(1).unwrap_or_default();
        let probe = self.fresh(1);
        let store = format!("__touchstone_h[{probe}] = 1; ");
        match statement.single {
            true => self.unit.insertions.brace(statement.start, statement.end, &store),
            false => self.unit.insertions.before(statement.start, store),
        }
        Ok(DecisionProbes::Rows { first: probe, rows })
    }

    fn record(&mut self, id: DecisionId, first: u32, numbered: &NumberedRows) {
        let decision = &self.written.decisions[id];
        let flat = |list: &[(CondId, bool)]| list.iter().map(|(c, value)| (c.index() as u32, *value)).collect();
        let rows = numbered.rows.iter().map(|row| ProbedRow {
            outcomes: flat(&row.outcomes),
            independent: flat(&row.independent),
            result: row.result,
        });
        self.unit.decisions.push(ProbedDecision {
            function: self.written.name.clone(),
            decision: id.index() as u32,
            place: source_range(decision.span),
            text: decision.text.clone(),
            conditions: decision.conditions.values().map(|c| (source_range(c.span), c.text.clone())).collect(),
            rows: rows.collect(),
            first,
        });
    }
}

/// Encodes a decision graph as a table: for each node its condition, and for false and true the next node and the index
/// of a list of masked conditions. A list is the number of its ranges, and for each the first condition and the one
/// after the last. The end has the number after the last node.
fn walk_table(graph: &DecisionGraph) -> Vec<u32> {
    let mut masks: Vec<u32> = Vec::new();
    let mut table = Vec::new();
    for from in graph.nodes.values() {
        table.push(from.condition.index() as u32);
        for edge in &from.edges {
            table.push(walk_node(graph, edge.target));
            table.push((graph.nodes.len() * WORDS_PER_WALK_NODE + masks.len()) as u32);
            let ranges = edge.masks.ranges();
            masks.push(ranges.len() as u32);
            masks.extend(ranges.iter().flat_map(|masked| [masked.start as u32, masked.end as u32]));
        }
    }
    table.extend(masks);
    table
}

/// Returns the number of the next node.
fn walk_node(graph: &DecisionGraph, target: DecisionStep) -> u32 {
    match target {
        DecisionStep::Node(node) => node.index() as u32,
        DecisionStep::Done(_) => graph.nodes.len() as u32,
    }
}

/// The number of table entries for a node.
const WORDS_PER_WALK_NODE: usize = 5;
