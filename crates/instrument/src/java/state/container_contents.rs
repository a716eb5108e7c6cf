//! What is inside of arrays and of objects whose methods are not followed, as one test left it.
//!
//! Containers are looked into again and again as they grow: of what is in a container, only what has an inside of its own is kept at hand.

use super::test_execution::{ContainerKey, ObjectId};
use crate::state::{Deps, NONE, NodeId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Containers inside of each other are looked into so deeply.
const DEEPEST: usize = 4;

/// What one object has inside.
#[derive(Default)]
pub(super) struct Contents {
    /// The whole of it.
    pub content: NodeId,
    /// Elements of an array, by index.
    pub elements: BTreeMap<u32, NodeId>,
    /// What a container holds for keys and indices that are known, and what nobody changed since otherwise.
    pub entries: BTreeMap<ContainerKey, NodeId>,
    /// What was put into it, as far as that has an inside.
    members: BTreeSet<ObjectId>,
}

impl Contents {
    /// All that it holds.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        [self.content].into_iter().chain(self.elements.values().copied()).chain(self.entries.values().copied())
    }
}

/// The insides of objects.
#[derive(Default)]
pub(super) struct ContainerContents {
    all: FxHashMap<ObjectId, Contents>,
    /// Objects without an inside, and what they were put into.
    holders: FxHashMap<ObjectId, FxHashSet<ObjectId>>,
}

impl ContainerContents {
    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, &Contents)> {
        self.all.iter().map(|(object, inside)| (*object, inside))
    }

    /// The inside of an object, which may get one by this.
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

    /// What an object holds is something else now.
    pub fn set_content(&mut self, object: ObjectId, node: NodeId, put: &[ObjectId]) {
        let inside = self.of(object);
        inside.content = node;
        inside.entries.clear();
        self.put(object, put);
    }

    /// What a container holds for a key is something else now.
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

    /// What can be seen of a container by whoever asks for a key.
    pub fn collect_entry_dependences(&self, object: ObjectId, key: &ContainerKey, deps: &mut Deps) {
        let Some(inside) = self.all.get(&object) else { return };
        deps.push(inside.content);
        deps.extend(inside.entries.get(key));
        let members = inside.members.iter().map(|member| (*member, 1));
        self.collect_nested_dependences(members.collect(), FxHashSet::from_iter([object]), deps);
    }

    /// All that can be seen of an object whose methods are not followed.
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
            // Where many containers hold each other most are met at the bottom, and each would name all others.
            if depth < DEEPEST {
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
        // A new content replaces what keys held; what was put in stays.
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
