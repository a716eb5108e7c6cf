//! Probes of one function: of its statements, labels and errors.

use super::decision_probes::DecisionProbes;
use super::error_probes::{self as errors, ErrorProbes};
use super::probe_sharing::{PrecedingProbe, SharingAnalysis};
use super::unit_probes::UnitProbes;
use crate::c::annotate::{AnnotatedFunction, LabelPosition};
use crate::record::ProbeObstacle;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Span;
use touchstone_criteria::{Goal, ResultPredicate};
use touchstone_ir::{BlockId, DecisionId, ErrorKind, Function, PointId};

/// The rank of the first label, inside of the probes of decisions.
const LABEL_RANK: usize = 4;

/// The probes of one function.
pub(super) struct FunctionProbes<'u, 'a, 'p> {
    pub(super) unit: &'u mut UnitProbes<'a>,
    pub(super) place: &'p AnnotatedFunction<'p>,
    pub(super) written: &'p Function,
    /// The decisions of which a goal requires more than the outcome.
    pub(super) by_row: BTreeSet<DecisionId>,
    pub(super) decisions: BTreeMap<DecisionId, Result<DecisionProbes, ProbeObstacle>>,
    pub(super) flow: Option<SharingAnalysis<'p>>,
    /// For each statement, the probes that record its execution.
    pub(super) statements: BTreeMap<PointId, Vec<u32>>,
    /// For each switch, the probe of each target.
    pub(super) switches: BTreeMap<BlockId, Result<BTreeMap<BlockId, u32>, ProbeObstacle>>,
    /// Declarations to insert at the beginning of the body.
    pub(super) declarations: String,
    /// Declarations of tables, before those.
    pub(super) tables: String,
    pub(super) errors: ErrorProbes<'a>,
    /// Predicates over the result, with their probes.
    pub(super) results: Vec<(ResultPredicate, u32)>,
}

impl<'u, 'a, 'p> FunctionProbes<'u, 'a, 'p> {
    pub(super) fn new(
        unit: &'u mut UnitProbes<'a>,
        place: &'p AnnotatedFunction<'p>,
        written: &'p Function,
        goals: &[Option<Goal>],
    ) -> Self {
        let by_row = goals.iter().flatten().filter_map(|goal| match goal {
            Goal::Condition { decision, .. } | Goal::Independent { decision, .. } | Goal::Row { decision, .. } => {
                Some(*decision)
            }
            _ => None,
        });
        let hazards = unit.request.hazards.as_ref().ok().and_then(|hazards| hazards.get(&written.name));
        let hazards = hazards.map_or(&[][..], Vec::as_slice);
        let flow = SharingAnalysis::new(place.module, place.function, &place.graphs, unit.request.order);
        FunctionProbes {
            unit,
            place,
            written,
            by_row: by_row.collect(),
            decisions: BTreeMap::new(),
            flow,
            statements: BTreeMap::new(),
            switches: BTreeMap::new(),
            declarations: String::new(),
            tables: String::new(),
            errors: ErrorProbes::new(hazards),
            results: Vec::new(),
        }
    }

    pub(super) fn fresh(&mut self, count: u32) -> u32 {
        let first = self.unit.next;
        self.unit.next += count;
        first
    }

    /// Instruments all decisions that goals refer to, from the last to the first, since a decision can imply outcomes
    /// of those before it.
    pub(super) fn decisions(&mut self, goals: &[Option<Goal>]) {
        let asked: BTreeSet<DecisionId> = goals.iter().flatten().filter_map(asked_decision).collect();
        for decision in asked.into_iter().rev() {
            let made = self.decision(decision);
            self.decisions.insert(decision, made);
        }
    }

    /// Returns the probes that cover a goal.
    pub(super) fn goal(&mut self, goal: &Goal) -> Result<Vec<u32>, ProbeObstacle> {
        match goal {
            Goal::Label { point, predicate: None, .. } => self.statement(*point, goal),
            Goal::Label { .. } | Goal::Entry { .. } => self.label(goal),
            Goal::Return { predicate, .. } => self.result(*predicate),
            Goal::Arm { block, target, .. } => {
                self.switch(*block);
                let probes = self.switches[block].as_ref().map_err(Clone::clone)?;
                probes.get(target).map(|probe| vec![*probe]).ok_or(ProbeObstacle::CaseLabelNotFound)
            }
            Goal::Outcome { decision, .. }
            | Goal::Condition { decision, .. }
            | Goal::Independent { decision, .. }
            | Goal::Row { decision, .. } => self.decisions[decision].as_ref().map_err(Clone::clone)?.of(goal),
            Goal::Partner { .. } => Err(ProbeObstacle::Wish),
            Goal::Error { kind, span, .. } => self.error(*kind, *span),
        }
    }

    fn error(&mut self, kind: ErrorKind, span: Span) -> Result<Vec<u32>, ProbeObstacle> {
        self.unit.request.hazards.as_ref().map_err(Clone::clone)?;
        let spans = errors::places(self.written, self.place.function, kind, span)?;
        let places = spans.into_iter().map(|span| self.expression(span)).collect::<Result<BTreeSet<_>, _>>()?;
        self.errors.check(kind, &places)?;
        let probe = self.fresh(1);
        places.into_iter().for_each(|at| self.errors.place(kind, at, probe));
        Ok(vec![probe])
    }

    /// Returns the probes of a statement. If a probe precedes it without anything in between, that probe is shared.
    fn statement(&mut self, point: PointId, goal: &Goal) -> Result<Vec<u32>, ProbeObstacle> {
        let known = match self.flow.as_ref().and_then(|flow| flow.before(point)) {
            Some(PrecedingProbe::Statement(before)) => self.statements.get(&before).cloned(),
            Some(PrecedingProbe::Outcome(decision, value)) => {
                let asked = Goal::Outcome { func: goal.func(), decision, value };
                self.decisions.get(&decision).and_then(|made| made.as_ref().ok()?.of(&asked).ok())
            }
            None => None,
        };
        let probes = match known {
            Some(probes) => probes,
            None => self.label(goal)?,
        };
        self.statements.insert(point, probes.clone());
        Ok(probes)
    }

    fn label(&mut self, goal: &Goal) -> Result<Vec<u32>, ProbeObstacle> {
        let (spot, predicate) = self.place.label(goal)?;
        let probe = self.fresh(1);
        let store = format!("__touchstone_h[{probe}] = 1");
        let always = predicate == "1";
        match spot {
            LabelPosition::Before(start) if always => self.unit.insertions.before(start, format!("{store}; ")),
            LabelPosition::Before(start) => self.unit.insertions.before(start, format!("if ({predicate}) {store}; ")),
            LabelPosition::Braced(start, end) if always => {
                self.unit.insertions.brace(start, end, &format!("{store}; "))
            }
            LabelPosition::Braced(start, end) => {
                self.unit.insertions.brace(start, end, &format!("if ({predicate}) {store}; "));
            }
            LabelPosition::Wrapped(start, end) => {
                let asked = if always { store } else { format!("({predicate}) ? (void)({store}) : (void)0") };
                // Later labels are inside of earlier ones; their order has no effect.
                let rank = LABEL_RANK + probe as usize;
                self.unit.insertions.wrap(start, end, rank, format!("({asked}, "), ")".to_string());
            }
        }
        Ok(vec![probe])
    }

    pub(super) fn expression(&self, span: Span) -> Result<(usize, usize), ProbeObstacle> {
        let (start, end) = self.place.bytes(span)?;
        match self.place.wrap(start, end)? {
            LabelPosition::Wrapped(start, end) => Ok((start, end)),
            LabelPosition::Before(_) | LabelPosition::Braced(..) => Err(ProbeObstacle::NoExpression),
        }
    }

    /// Records the beginning of a test in this function. `name` is a C expression.
    pub(super) fn test(&mut self, name: &str) {
        self.declarations += &format!("int __touchstone_b = (touchstone_test_begin({name}), 0); ");
    }

    /// Inserts the declarations that the probes of this function use.
    pub(super) fn locals(self) {
        let Some((_, open)) = self.place.body else { return };
        let text = format!("{}{}", self.tables, self.declarations);
        if !text.is_empty() {
            self.unit.insertions.before(open, format!(" {text}"));
        }
    }
}

/// Returns the decision of a goal.
fn asked_decision(goal: &Goal) -> Option<DecisionId> {
    match goal {
        Goal::Outcome { decision, .. }
        | Goal::Condition { decision, .. }
        | Goal::Independent { decision, .. }
        | Goal::Row { decision, .. } => Some(*decision),
        _ => None,
    }
}
