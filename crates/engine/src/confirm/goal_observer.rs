//! Goal observation in a concrete run: the reference that all symbolic detection is checked against.

use crate::confirm::description::{ConditionOutcome, ShortenedOutcomes};
use crate::confirm::run_record::{EdgeRecording, EvaluatedRow, RunObservation};
use rustc_hash::{FxHashMap, FxHashSet};
use touchstone_base::{Id, WorkKind, spend};
use touchstone_criteria::{DecisionEvaluation, DecisionStep, Goal, GoalId, GoalIndex};
use touchstone_interp::{End, Event, Observer, PathRecorder, StateView, Value};
use touchstone_ir::{BlockId, CondTag, DecisionId, FuncId, Module, Operand, PointId};

/// The maximum number of compared pairs that are kept.
const MAX_COMPARED_PAIRS: usize = 256;

/// A control-flow edge from a block: the arm of a switch, 1 for a taken branch, or the callee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ControlFlowEdge {
    pub func: FuncId,
    pub block: BlockId,
    pub to: usize,
}

impl ControlFlowEdge {
    fn number(self) -> u64 {
        ((self.func.index() as u64) << 32) | ((self.block.index() as u64) << 12) | self.to as u64
    }

    /// Decodes an edge from a record that includes its count.
    pub fn from_record(told: u64) -> ControlFlowEdge {
        let edge = told >> 4;
        let block = BlockId::new((edge >> 12) as usize & 0xf_ffff);
        ControlFlowEdge { func: FuncId::new((edge >> 32) as usize), block, to: edge as usize & 0xfff }
    }
}

/// The number of outcomes that are recognised without a look at their decision.
const MAX_SETTLED: usize = 16;

/// Observes a run for goals. `POINTS` is false if no goal is at a point.
pub(crate) struct GoalObserver<'w, const POINTS: bool> {
    module: &'w Module,
    watch: &'w GoalIndex,
    wanted: Option<&'w [bool]>,
    pub recorder: PathRecorder,
    hit: Vec<bool>,
    /// The distinct complete evaluations of watched decisions.
    rows: Vec<EvaluatedRow>,
    /// The same by the outcomes of their conditions: a loop evaluates few rows many times.
    known_rows: FxHashSet<(FuncId, DecisionId, u64)>,
    /// Outcomes of decisions with a single condition that were seen twice: another one changes nothing.
    settled: [Option<(FuncId, CondTag, bool)>; MAX_SETTLED],
    /// Decisions under evaluation, by frame.
    frames: Vec<(FuncId, Vec<(DecisionId, DecisionEvaluation)>)>,
    /// The number of times each edge was taken, if recorded.
    edges: Option<FxHashMap<u64, u32>>,
    /// The outcomes of conditions, if recorded.
    conditions: Option<ShortenedOutcomes>,
    /// Pairs of different integers that were compared, if recorded.
    compared: FxHashSet<(u64, u64)>,
}

impl<'w, const POINTS: bool> GoalObserver<'w, POINTS> {
    pub fn new(module: &'w Module, watch: &'w GoalIndex, look: RunObservation<'w>) -> Self {
        let RunObservation { wanted, recording: edges, .. } = look;
        let hit = vec![false; watch.goals.len()];
        let conditions = (edges == EdgeRecording::Conditions).then(ShortenedOutcomes::default);
        let edges = (edges == EdgeRecording::Edges).then(FxHashMap::default);
        GoalObserver {
            module,
            watch,
            wanted,
            recorder: PathRecorder::default(),
            hit,
            rows: Vec::new(),
            known_rows: FxHashSet::default(),
            settled: [None; MAX_SETTLED],
            frames: Vec::new(),
            edges,
            conditions,
            compared: FxHashSet::default(),
        }
    }

    /// Returns the goals that the run reached, once it has ended.
    pub fn hits(mut self, end: &End) -> Vec<GoalId> {
        if let End::Error { kind, span } = end {
            for goal in self.watch.error(*kind, *span) {
                self.hit[goal.index()] = true;
            }
        }
        self.watch.goals.ids().filter(|goal| self.hit[goal.index()]).collect()
    }

    /// Returns the distinct complete evaluations of watched decisions.
    pub fn rows(&mut self) -> Vec<EvaluatedRow> {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_unstable();
        rows
    }

    /// Returns the recorded edges, each with its logarithmic count.
    pub fn edges(&mut self) -> Vec<u64> {
        let taken = self.edges.take().unwrap_or_default();
        let roughly = |count: u32| u64::from(u32::BITS - count.leading_zeros()).min(15);
        let mut edges: Vec<u64> = taken.into_iter().map(|(edge, count)| edge << 4 | roughly(count)).collect();
        edges.sort_unstable();
        edges
    }

    /// Returns the recorded outcomes of conditions.
    pub fn conditions(&mut self) -> ShortenedOutcomes {
        self.conditions.take().unwrap_or_default()
    }

    /// Returns the recorded pairs of compared integers.
    pub fn compared(&mut self) -> Vec<(u64, u64)> {
        let mut compared: Vec<(u64, u64)> = std::mem::take(&mut self.compared).into_iter().collect();
        compared.sort_unstable();
        compared
    }

    fn went(&mut self, func: FuncId, block: BlockId, to: usize) {
        if let Some(edges) = &mut self.edges {
            *edges.entry(ControlFlowEdge { func, block, to }.number()).or_default() += 1;
        }
    }

    fn branch(&mut self, tag: CondTag, taken: bool) {
        let Some((func, decisions)) = self.frames.last_mut() else { return };
        let place = (2 * tag.decision.index() + usize::from(taken)) % MAX_SETTLED;
        if self.settled[place] == Some((*func, tag, taken)) {
            return;
        }
        let Some(watch) = self.watch.decision(*func, tag.decision) else { return };
        let index = match decisions.iter().position(|(known, _)| *known == tag.decision) {
            Some(index) => index,
            None => {
                decisions.push((tag.decision, DecisionEvaluation::default()));
                decisions.len() - 1
            }
        };
        let is_next = |walk: &DecisionEvaluation| match walk.at(&watch.graph) {
            DecisionStep::Node(node) => watch.graph.nodes[node].condition == tag.condition,
            DecisionStep::Done(_) => false,
        };
        let walk = &mut decisions[index].1;
        if !is_next(walk) {
            walk.restart();
            if !is_next(walk) {
                return;
            }
        }
        walk.step(&watch.graph, taken);
        for goal in self.watch.condition(watch, (tag.condition, taken)) {
            self.hit[goal.index()] = true;
        }
        if let DecisionStep::Done(result) = walk.at(&watch.graph) {
            let is_new = outcomes_code(walk).is_none_or(|code| self.known_rows.insert((*func, tag.decision, code)));
            if is_new {
                let row = walk.clone().row(result);
                for goal in self.watch.row(watch, &row) {
                    self.hit[goal.index()] = true;
                }
                let row = (*func, tag.decision, row);
                if !self.rows.contains(&row) {
                    self.rows.push(row);
                }
            } else if watch.graph.nodes.len() == 1 {
                self.settled[place] = Some((*func, tag, taken));
            }
            walk.restart();
        }
    }

    /// Returns true if a label was not reached yet and matters.
    fn is_wanted(&self, goal: GoalId) -> bool {
        !self.hit[goal.index()] && self.wanted.is_none_or(|wanted| wanted[goal.index()])
    }

    fn labels(&mut self, goals: &[GoalId], at: &StateView<'_>) {
        let mut evaluated = 0;
        for &goal in goals {
            if !self.is_wanted(goal) {
                continue;
            }
            evaluated += 1;
            let holds = match &self.watch.goals[goal] {
                Goal::Label { predicate: None, .. } => true,
                Goal::Label { predicate: Some(predicate), .. } | Goal::Entry { predicate, .. } => {
                    matches!(at.eval(predicate), Some(Value::Int(1)))
                }
                _ => false,
            };
            self.hit[goal.index()] = holds;
        }
        spend(WorkKind::Label, evaluated);
    }
}

/// Returns the outcomes of an evaluation as a number, or `None` if they are too many.
fn outcomes_code(evaluation: &DecisionEvaluation) -> Option<u64> {
    let outcomes = evaluation.outcomes();
    let code = || outcomes.iter().fold(1, |code, (_, value)| code << 1 | u64::from(*value));
    (outcomes.len() < 64).then(code)
}

impl<const POINTS: bool> Observer for GoalObserver<'_, POINTS> {
    const WATCHES_POINTS: bool = POINTS;

    fn event(&mut self, event: &Event) {
        self.recorder.event(event);
        match *event {
            Event::Branch { func, block, taken, .. } => self.went(func, block, usize::from(taken)),
            Event::Switch { func, block, arm, .. } => self.went(func, block, arm),
            Event::Indirect { func, block, callee } => self.went(func, block, callee.index()),
            Event::Call(_) | Event::Return => {}
        }
        match *event {
            Event::Branch { func, tag: Some(tag), taken, .. } => {
                let outcome = ConditionOutcome { func, tag, taken };
                let module = self.module;
                self.conditions.iter_mut().for_each(|conditions| conditions.push(module, outcome));
                self.branch(tag, taken);
            }
            Event::Branch { tag: None, .. } | Event::Indirect { .. } => {}
            Event::Switch { role, .. } if !role.is_outcome() => {}
            Event::Switch { func, block, target, .. } => {
                for goal in self.watch.arm(func, block, target) {
                    self.hit[goal.index()] = true;
                }
            }
            Event::Call(func) => self.frames.push((func, Vec::new())),
            Event::Return => {
                self.frames.pop();
            }
        }
    }

    fn output(&mut self, bytes: &[u8]) {
        self.recorder.output(bytes);
    }

    fn compared(&mut self, a: u64, b: u64) {
        if self.edges.is_some() && a != b && self.compared.len() < MAX_COMPARED_PAIRS {
            self.compared.insert((a, b));
        }
    }

    fn watches(&self, func: FuncId, point: PointId) -> bool {
        self.watch.point(func, point).iter().any(|goal| self.is_wanted(*goal))
    }

    fn point(&mut self, point: PointId, at: &StateView<'_>) {
        let watch = self.watch;
        self.labels(watch.point(at.func(), point), at);
    }

    fn enter(&mut self, at: &StateView<'_>) {
        let watch = self.watch;
        self.labels(watch.entry(at.func()), at);
    }

    fn returning(&mut self, operand: Operand, at: &StateView<'_>) {
        for &goal in self.watch.returns(at.func()) {
            if let Goal::Return { func, predicate } = self.watch.goals[goal] {
                self.hit[goal.index()] |= at.holds(&predicate.over(operand, func, at.module()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_is_decoded_from_its_record() {
        let edge = ControlFlowEdge { func: FuncId::new(70_000), block: BlockId::new(1_000), to: 17 };
        assert_eq!(ControlFlowEdge::from_record(edge.number() << 4 | 15), edge);
    }
}
