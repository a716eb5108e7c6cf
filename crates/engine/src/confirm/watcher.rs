//! Watching a concrete run: which goals it reaches. The reference that everything symbolic is checked against.

use touchstone_base::Id;
use touchstone_criteria::{Goal, GoalId, Next, Walk, Watch};
use touchstone_interp::{End, Event, Observer, PathRecorder, StateView, Value};
use touchstone_ir::{CondTag, DecisionId, PointId};

/// Listens to a run for goals.
pub(crate) struct Watcher<'w> {
    watch: &'w Watch,
    wanted: Option<&'w [bool]>,
    pub recorder: PathRecorder,
    hit: Vec<bool>,
    /// Complete evaluations of watched decisions, in order.
    pub rows: Vec<(touchstone_ir::FuncId, DecisionId, touchstone_criteria::Row)>,
    /// Decisions that are being evaluated, by frame.
    frames: Vec<(touchstone_ir::FuncId, Vec<(DecisionId, Walk)>)>,
}

impl<'w> Watcher<'w> {
    pub fn new(watch: &'w Watch, wanted: Option<&'w [bool]>) -> Watcher<'w> {
        let hit = vec![false; watch.goals.len()];
        Watcher { watch, wanted, recorder: PathRecorder::default(), hit, rows: Vec::new(), frames: Vec::new() }
    }

    /// The goals that the run reached, once it has ended.
    pub fn hits(mut self, end: &End) -> Vec<GoalId> {
        if let End::Error { kind, span } = end {
            for goal in self.watch.error(*kind, *span) {
                self.hit[goal.index()] = true;
            }
        }
        self.watch.goals.ids().filter(|goal| self.hit[goal.index()]).collect()
    }

    fn branch(&mut self, tag: CondTag, taken: bool) {
        let Some((func, decisions)) = self.frames.last_mut() else { return };
        let Some(watch) = self.watch.decision(*func, tag.decision) else { return };
        let index = match decisions.iter().position(|(known, _)| *known == tag.decision) {
            Some(index) => index,
            None => {
                decisions.push((tag.decision, Walk::default()));
                decisions.len() - 1
            }
        };
        let is_next = |walk: &Walk| match walk.at(&watch.graph) {
            Next::Node(node) => watch.graph.nodes[node].condition == tag.condition,
            Next::Done(_) => false,
        };
        let walk = &mut decisions[index].1;
        if !is_next(walk) {
            *walk = Walk::default();
            if !is_next(walk) {
                return;
            }
        }
        walk.step(&watch.graph, taken);
        for goal in self.watch.condition(watch, (tag.condition, taken)) {
            self.hit[goal.index()] = true;
        }
        if let Next::Done(result) = walk.at(&watch.graph) {
            let row = decisions.remove(index).1.row(result);
            for goal in self.watch.row(watch, &row) {
                self.hit[goal.index()] = true;
            }
            self.rows.push((*func, tag.decision, row));
        }
    }

    fn labels(&mut self, goals: &[GoalId], at: &StateView<'_>) {
        for &goal in goals {
            if self.hit[goal.index()] || self.wanted.is_some_and(|wanted| !wanted[goal.index()]) {
                continue;
            }
            let holds = match &self.watch.goals[goal] {
                Goal::Label { predicate: None, .. } => true,
                Goal::Label { predicate: Some(predicate), .. } | Goal::Entry { predicate, .. } => {
                    matches!(at.eval(predicate), Some(Value::Int(1)))
                }
                _ => false,
            };
            self.hit[goal.index()] = holds;
        }
    }
}

impl Observer for Watcher<'_> {
    fn event(&mut self, event: &Event) {
        self.recorder.event(event);
        match *event {
            Event::Branch { tag: Some(tag), taken, .. } => self.branch(tag, taken),
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

    fn point(&mut self, point: PointId, at: &StateView<'_>) {
        let watch = self.watch;
        self.labels(watch.point(at.func(), point), at);
    }

    fn enter(&mut self, at: &StateView<'_>) {
        let watch = self.watch;
        self.labels(watch.entry(at.func()), at);
    }
}
