//! The dynamic dependence graph: updates of memory, conditions and values, in the order of execution.

use std::collections::BTreeSet;

/// A node of the dependence graph: an update of memory, a condition or a computed value.
pub(crate) type NodeId = u32;
/// No node: a value that depends on nothing.
pub(crate) const NONE: NodeId = 0;

/// The nodes that a value depends on.
pub(crate) type Deps = Vec<NodeId>;

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    first: u32,
    count: u32,
    /// The number of the update, counted from 1, or 0 if the node is none.
    update: u32,
}

/// A dependence graph. Every node depends only on earlier ones.
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
    /// Returns the id of the next node.
    pub fn next(&self) -> NodeId {
        self.nodes.len() as NodeId
    }

    /// Adds a node that depends on all of `deps`. If `update` is not 0, the node is the update with that number.
    pub fn node(&mut self, mut deps: Deps, update: u32) -> NodeId {
        deps.sort_unstable();
        deps.dedup();
        deps.retain(|node| *node != NONE);
        if update == 0 {
            match deps.as_slice() {
                [] => return NONE,
                // A value that was computed from an update is no update itself.
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

    /// Adds a node without dependences that is different from [`NONE`].
    pub fn source(&mut self) -> NodeId {
        self.nodes.push(Node { first: self.deps.len() as u32, count: 0, update: 0 });
        self.nodes.len() as NodeId - 1
    }

    /// Computes the forward slice of a node: for each node, true if it depends on `source` or is `source`.
    pub fn behind(&self, source: NodeId) -> Vec<bool> {
        let mut found = vec![false; self.nodes.len()];
        for node in source..self.next() {
            found[node as usize] = node == source || self.deps(node).iter().any(|dep| found[*dep as usize]);
        }
        found
    }

    /// Returns the direct dependences of a node.
    pub fn deps(&self, node: NodeId) -> &[NodeId] {
        let Node { first, count, .. } = self.nodes[node as usize];
        &self.deps[first as usize..(first + count) as usize]
    }

    /// Returns the number of the update that a node represents, or 0 if it represents none.
    pub fn update(&self, node: NodeId) -> u32 {
        self.nodes.get(node as usize).map_or(0, |node| node.update)
    }

    /// Lets a node represent an existing update, under an additional condition.
    pub fn looks_at(&mut self, node: NodeId, update: u32) {
        self.nodes[node as usize].update = update;
    }

    /// Computes the backward slice of `roots` within a range of nodes: the numbers of all updates in it.
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
