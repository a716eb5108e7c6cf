//! What depends on what: updates of memory, conditions and values, in the order in which they came to be.

use std::collections::BTreeSet;

/// An update of memory, or a condition: a node of the dependence graph. 0 is none.
pub(crate) type NodeId = u32;
/// None.
pub(crate) const NONE: NodeId = 0;

/// What values depend on.
pub(crate) type Deps = Vec<NodeId>;

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    first: u32,
    count: u32,
    /// The number of its update, counted from 1; 0 is none.
    update: u32,
}

/// A graph; every node depends on earlier ones.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    deps: Vec<NodeId>,
}

impl Default for Graph {
    fn default() -> Self {
        Graph { nodes: vec![Node::default()], deps: Vec::new() }
    }
}

impl Graph {
    /// The node that comes next.
    pub fn next(&self) -> NodeId {
        self.nodes.len() as NodeId
    }

    /// What depends on all of these. It is an update if it has a number.
    pub fn node(&mut self, mut deps: Deps, update: u32) -> NodeId {
        deps.sort_unstable();
        deps.dedup();
        deps.retain(|node| *node != NONE);
        if update == 0 {
            match deps.as_slice() {
                [] => return NONE,
                // What was computed from an update is no update itself.
                [one] if self.nodes[*one as usize].update == 0 => return *one,
                _ => {}
            }
        }
        let first = self.deps.len() as u32;
        let count = deps.len() as u32;
        self.deps.extend(deps);
        self.nodes.push(Node { first, count, update });
        self.nodes.len() as NodeId - 1
    }

    /// A node that depends on nothing, and is none.
    pub fn source(&mut self) -> NodeId {
        self.nodes.push(Node { first: self.deps.len() as u32, count: 0, update: 0 });
        self.nodes.len() as NodeId - 1
    }

    /// By node: whether it depends on one, or is it.
    pub fn behind(&self, source: NodeId) -> Vec<bool> {
        let mut found = vec![false; self.nodes.len()];
        for node in source..self.next() {
            found[node as usize] = node == source || self.deps(node).iter().any(|dep| found[*dep as usize]);
        }
        found
    }

    /// What a node depends on directly.
    pub fn deps(&self, node: NodeId) -> &[NodeId] {
        let Node { first, count, .. } = self.nodes[node as usize];
        &self.deps[first as usize..(first + count) as usize]
    }

    /// The number of the update that a node is, or is another look at; 0 if it is none.
    pub fn update(&self, node: NodeId) -> u32 {
        self.nodes.get(node as usize).map_or(0, |node| node.update)
    }

    /// A node is another look at an update.
    pub fn looks_at(&mut self, node: NodeId, update: u32) {
        self.nodes[node as usize].update = update;
    }

    /// The numbers of all updates that nodes depend on, themselves included, within a stretch of the graph.
    pub fn updates_behind(&self, roots: &[NodeId], within: std::ops::Range<NodeId>) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        let mut marked = vec![false; within.end.saturating_sub(within.start) as usize];
        let mut pending: Vec<NodeId> = roots.to_vec();
        while let Some(node) = pending.pop() {
            let Some(index) = (node as usize).checked_sub(within.start as usize) else { continue };
            if index >= marked.len() || std::mem::replace(&mut marked[index], true) {
                continue;
            }
            found.insert(self.update(node));
            pending.extend(self.deps(node));
        }
        found
    }
}
