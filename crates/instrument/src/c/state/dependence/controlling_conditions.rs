//! Control dependences: the conditions that decide what is executed, and the conditions that are assertions.

use super::activation_stack::{Activity, ActivityKind, ControllingCondition, PendingAssignment};
use super::{DependenceAnalysis, EventStream, SiteRef, close_all};
use crate::state::{Deps, NodeId, SiteKind, StateSite};

impl DependenceAnalysis<'_> {
    /// Returns the condition that an expression depends on. If `guarded`, this includes the operands that were
    /// evaluated before it.
    pub(super) fn control(&mut self, stream: &mut EventStream, guarded: bool) -> NodeId {
        let mut now = stream.stack.running().now();
        if !guarded {
            return now;
        }
        let mut deps = Deps::new();
        let mut from = stream.stack.function_at();
        // Operands before an expression whose value is unused decide nothing inside of it.
        let whole = |frame: &Activity| self.control_of_whole(&frame.what);
        let inner = stream.stack.frames.iter().enumerate().skip(from + 1).rev();
        if let Some((at, control)) = inner.filter_map(|(at, frame)| Some((at, whole(frame)?))).next() {
            (from, now) = (at, control);
        }
        for frame in &stream.stack.frames[from..] {
            deps.extend(&frame.deps);
        }
        self.node(deps, now, None)
    }

    /// Returns the condition of an expression whose value is unused.
    fn control_of_whole(&self, what: &ActivityKind) -> Option<NodeId> {
        let used = |site: SiteRef| match self.site(site).map(|(_, site)| &site.kind) {
            Some(SiteKind::Write { used, .. } | SiteKind::Call { used, .. }) => *used,
            _ => true,
        };
        match what {
            ActivityKind::Assignment(PendingAssignment { first: true, control, .. }) => Some(*control),
            ActivityKind::Assignment(PendingAssignment { site, control, .. }) => (!used(*site)).then_some(*control),
            ActivityKind::Call(calling) => (!used(calling.site)).then_some(calling.control),
            ActivityKind::Function(_) | ActivityKind::Choice(_) => None,
        }
    }

    /// Adds a condition to the slicing criterion if it guards the report of a failure.
    pub(super) fn ask(&mut self, stream: &mut EventStream, site: SiteRef, deps: &Deps) {
        let Some((record, described)) = self.site(site) else { return };
        let asserts = self.site_rules.of(site, record, described, self.rules).asserts;
        if asserts {
            let test = self.processes[stream.process].test;
            self.tests[test].roots.extend(deps);
        }
    }

    pub(super) fn condition(&mut self, stream: &mut EventStream, site: SiteRef) {
        if !self.align(stream, site) {
            return;
        }
        let deps = std::mem::take(&mut stream.stack.top().deps);
        self.ask(stream, site, &deps);
        let Some((_, StateSite { kind: SiteKind::Branch { depth, .. }, .. })) = self.site(site) else { return };
        let mut deps = deps;
        let running = stream.stack.running();
        // Each iteration of a loop depends on those before it.
        deps.extend(
            running.controls.iter().filter(|control| control.depth == *depth && control.site == site).map(|c| c.node),
        );
        running.controls.retain(|control| control.depth < *depth);
        let around = running.now();
        let node = self.node(deps, around, None);
        stream.stack.running().controls.push(ControllingCondition { depth: *depth, site, node });
    }

    /// Passes a label. A statement that was left by a jump has not ended: that it was left depends on its condition.
    pub(super) fn label(&mut self, stream: &mut EventStream, depth: u32) {
        close_all(self, stream);
        let running = stream.stack.running();
        let left = running.controls.iter().rfind(|control| control.depth > depth).map(|control| control.node);
        running.controls.retain(|control| control.depth <= depth);
        if let Some(left) = left {
            self.depend_from_here(stream, left, 0);
        }
    }

    /// Lets a variable that a statement may assign depend on the condition, even if it was not assigned.
    pub(super) fn touch(&mut self, stream: &mut EventStream, site: SiteRef, at: u64, size: u64) {
        if !self.align(stream, site) {
            return;
        }
        let running = stream.stack.running();
        if !running.controls.iter().any(|control| control.site == site) {
            return;
        }
        // A loop that was left early depends on the condition that left it.
        let own = running.now();
        let mut pieces: Vec<(u64, u64, NodeId)> = Vec::new();
        self.processes[stream.process].memory.read(at, size, &mut |start, end, node| pieces.push((start, end, node)));
        if pieces.is_empty() {
            self.store(stream, at, size, own);
        }
        let begun = self.tests[self.processes[stream.process].test].start;
        for (start, end, old) in pieces {
            if old != own && !self.graph.deps(old).contains(&own) {
                let node = self.node(vec![old], own, None);
                // It represents the same update, under the condition.
                if node != old && old >= begun {
                    self.graph.looks_at(node, self.graph.update(old));
                }
                self.store(stream, start, end - start, node);
            }
        }
    }

    /// Lets everything that is executed from here on, within a depth, depend on a condition.
    fn depend_from_here(&mut self, stream: &mut EventStream, condition: NodeId, depth: u32) {
        let running = stream.stack.running();
        let mut controls = std::mem::take(&mut running.controls);
        if depth == 0 {
            let control = running.control;
            let made = self.node(vec![condition], control, None);
            stream.stack.running().control = made;
        }
        for control in controls.iter_mut().filter(|control| control.depth >= depth) {
            control.node = self.node(vec![condition], control.node, None);
        }
        stream.stack.running().controls = controls;
    }

    pub(super) fn end(&mut self, stream: &mut EventStream, site: SiteRef) {
        if !self.align(stream, site) {
            return;
        }
        stream.stack.top().deps.clear();
        let Some((_, StateSite { kind: SiteKind::Branch { depth, escape, .. }, .. })) = self.site(site) else { return };
        let running = stream.stack.running();
        let began = running.controls.iter().any(|control| control.depth == *depth && control.site == site);
        // A loop that was left early depends on the condition that left it.
        let own = began.then(|| running.now());
        running.controls.retain(|control| control.depth < *depth);
        // Code after a conditional exit depends on the condition.
        if let (Some(own), Some(escape)) = (own, escape) {
            self.depend_from_here(stream, own, *escape);
        }
    }
}
