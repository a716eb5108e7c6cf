//! The contents of arrays and of library objects, as one test has modified them.
//!
//! Contents are collected repeatedly while containers grow, so a container refers only to those of its members that
//! have contents themselves.

use super::test_execution::{ContainerKey, ObjectId};
use crate::state::{Deps, NONE, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum depth to which nested containers are read.
const MAX_CONTAINER_DEPTH: usize = 4;

/// The contents of one array or container.
#[derive(Default)]
pub(super) struct Contents {
    /// The node of the contents as a whole.
    pub content: NodeId,
    /// The elements of an array that were written, by index.
    pub elements: BTreeMap<u32, NodeId>,
    /// The entries of a container that were written under a constant key since the last modification of the whole.
    pub entries: BTreeMap<ContainerKey, NodeId>,
    /// The objects that were added to it and that have contents.
    pub members: BTreeSet<ObjectId>,
}

impl Contents {
    /// Returns the nodes of the whole and of all parts.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        [self.content].into_iter().chain(self.elements.values().copied()).chain(self.entries.values().copied())
    }
}

/// The contents of all arrays and containers.
#[derive(Default)]
pub(super) struct ContainerContents {
    all: FxHashMap<ObjectId, Contents>,
    /// The objects without contents, and the containers that they were added to.
    pub holders: FxHashMap<ObjectId, FxHashSet<ObjectId>>,
}

impl ContainerContents {
    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, &Contents)> {
        self.all.iter().map(|(object, inside)| (*object, inside))
    }

    /// Returns the contents of an object, and creates them if there are none yet.
    fn of(&mut self, object: ObjectId) -> &mut Contents {
        if !self.all.contains_key(&object) {
            for holder in self.holders.remove(&object).into_iter().flatten() {
                if let Some(holder) = self.all.get_mut(&holder) {
                    holder.members.insert(object);
                }
            }
        }
        self.all.entry(object).or_default()
    }

    pub fn element(&self, array: ObjectId, index: u32) -> Deps {
        let Some(inside) = self.all.get(&array) else { return Deps::new() };
        inside.elements.get(&index).copied().into_iter().chain([inside.content]).collect()
    }

    pub fn set_element(&mut self, array: ObjectId, index: u32, node: NodeId) {
        self.of(array).elements.insert(index, node);
    }

    pub fn content(&self, object: ObjectId) -> NodeId {
        self.all.get(&object).map_or(NONE, |inside| inside.content)
    }

    /// Replaces the contents of an object as a whole; `put` are the objects that may be added to it.
    pub fn set_content(&mut self, object: ObjectId, node: NodeId, put: &[ObjectId]) {
        let inside = self.of(object);
        inside.content = node;
        inside.entries.clear();
        self.put(object, put);
    }

    /// Lets the contents of an object as a whole depend on more than before.
    pub fn add_influence(&mut self, object: ObjectId, node: NodeId) {
        self.of(object).content = node;
    }

    /// Sets the contents of an object that is a copy of another one.
    pub fn set_copied(&mut self, object: ObjectId, content: NodeId, elements: &[(u32, NodeId)]) {
        let inside = self.of(object);
        inside.content = content;
        inside.elements.extend(elements.iter().copied());
    }

    /// Returns the node of the whole and the elements of an array.
    pub fn array(&self, array: ObjectId) -> Option<(NodeId, Vec<(u32, NodeId)>)> {
        let inside = self.all.get(&array)?;
        Some((inside.content, inside.elements.iter().map(|(index, node)| (*index, *node)).collect()))
    }

    /// Replaces the entry of a container for a key; `put` are the objects that may be added to it.
    pub fn set_entry(&mut self, object: ObjectId, key: ContainerKey, node: NodeId, put: &[ObjectId]) {
        self.of(object).entries.insert(key, node);
        self.put(object, put);
    }

    fn put(&mut self, object: ObjectId, put: &[ObjectId]) {
        for other in put.iter().copied().filter(|other| *other != object && *other != 0) {
            if self.all.contains_key(&other) {
                self.of(object).members.insert(other);
            } else {
                self.holders.entry(other).or_default().insert(object);
            }
        }
    }

    /// Collects the nodes that a query for one key may read.
    pub fn collect_entry_dependences(&self, object: ObjectId, key: &ContainerKey, deps: &mut Deps) {
        let Some(inside) = self.all.get(&object) else { return };
        deps.push(inside.content);
        deps.extend(inside.entries.get(key));
        let members = inside.members.iter().map(|member| (*member, 1));
        self.collect_nested_dependences(members.collect(), FxHashSet::from_iter([object]), deps);
    }

    /// Collects the nodes that a library method may read of an object.
    pub fn collect_dependences(&self, object: ObjectId, deps: &mut Deps) {
        if self.all.contains_key(&object) {
            self.collect_nested_dependences(vec![(object, 0)], FxHashSet::default(), deps);
        }
    }

    fn collect_nested_dependences(
        &self,
        mut worklist: Vec<(ObjectId, usize)>,
        mut seen: FxHashSet<ObjectId>,
        deps: &mut Deps,
    ) {
        while let Some((object, depth)) = worklist.pop() {
            if !seen.insert(object) {
                continue;
            }
            let Some(inside) = self.all.get(&object) else { continue };
            deps.extend(inside.nodes());
            // Without this bound, containers that contain each other would each depend on all others.
            if depth < MAX_CONTAINER_DEPTH {
                worklist.extend(inside.members.iter().map(|member| (*member, depth + 1)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(contents: &ContainerContents, object: ObjectId) -> Deps {
        let mut deps = Deps::new();
        contents.collect_dependences(object, &mut deps);
        deps.sort_unstable();
        deps
    }

    #[test]
    fn what_gets_an_inside_after_it_was_put_somewhere_is_seen_there() {
        let mut contents = ContainerContents::default();
        contents.set_content(1, 10, &[1, 2, 3]);
        assert_eq!(seen(&contents, 1), [10]);
        contents.set_element(2, 0, 20);
        contents.set_entry(3, ContainerKey::Number(0), 30, &[4]);
        assert_eq!(seen(&contents, 1), [0, 0, 10, 20, 30]);
        contents.set_content(4, 40, &[]);
        assert_eq!(seen(&contents, 1), [0, 0, 10, 20, 30, 40]);
        // New contents replace the entries; members stay.
        contents.set_content(3, 31, &[]);
        assert_eq!(seen(&contents, 1), [0, 10, 20, 31, 40]);
        assert!(seen(&contents, 5).is_empty());
    }

    #[test]
    fn containers_that_hold_each_other_are_looked_into_once() {
        let mut contents = ContainerContents::default();
        contents.set_content(1, 10, &[2]);
        contents.set_content(2, 20, &[1]);
        assert_eq!(seen(&contents, 1), [10, 20]);
        assert_eq!(seen(&contents, 2), [10, 20]);
    }
}
