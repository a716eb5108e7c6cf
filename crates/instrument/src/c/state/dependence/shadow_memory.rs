//! Shadow memory: maps each byte of a process to its last update and to its object.

use crate::state::{NONE, NodeId};
use std::collections::BTreeMap;

/// The shadow memory of a process.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShadowMemory {
    /// By first byte: the byte after the last, and the node. Ranges don't overlap.
    bytes: BTreeMap<u64, (u64, NodeId)>,
    /// By first byte: the byte after the last, and the object. Objects don't overlap.
    objects: BTreeMap<u64, (u64, u32)>,
}

/// Bit-fields are above the address of their struct (`state_probes.rs`).
const ADDRESS_MASK: u64 = (1 << 48) - 1;

impl ShadowMemory {
    /// Calls `each` for the parts of a range, in order.
    pub fn read(&self, at: u64, size: u64, each: &mut dyn FnMut(u64, u64, NodeId)) {
        let end = at.saturating_add(size);
        // Most objects are read as they were written.
        if let Some((until, node)) = self.bytes.get(&at)
            && *until >= end
            && end > at
        {
            each(at, end, *node);
            return;
        }
        let before = self.bytes.range(..at).next_back().filter(|(_, (until, _))| *until > at);
        for (start, (until, node)) in before.into_iter().chain(self.bytes.range(at..end)) {
            each((*start).max(at), (*until).min(end), *node);
        }
    }

    /// Returns the length of the range that begins at a byte and continues while `together` holds for neighbouring
    /// parts.
    pub fn run(&self, at: u64, together: &dyn Fn(NodeId, NodeId) -> bool) -> u64 {
        let before = self.bytes.range(..=at).next_back().filter(|(_, (until, _))| *until > at);
        let Some((_, (mut end, mut last))) = before.map(|(start, rest)| (*start, *rest)) else { return 0 };
        while let Some((until, node)) = self.bytes.get(&end).copied() {
            if !together(last, node) {
                break;
            }
            (end, last) = (until, node);
        }
        end - at
    }

    /// Removes the nodes of a range, and passes them to `each`.
    pub fn clear(&mut self, at: u64, size: u64, each: &mut dyn FnMut(NodeId)) {
        let end = at.saturating_add(size);
        let before = self.bytes.range(..at).next_back().map(|(start, rest)| (*start, *rest));
        if let Some((start, (until, node))) = before.filter(|(_, (until, _))| *until > at) {
            each(node);
            self.bytes.insert(start, (at, node));
            if until > end {
                self.bytes.insert(end, (until, node));
            }
        }
        let inside: Vec<u64> = self.bytes.range(at..end).map(|(start, _)| *start).collect();
        for start in inside {
            if let Some((until, node)) = self.bytes.remove(&start) {
                each(node);
                if until > end {
                    self.bytes.insert(end, (until, node));
                }
            }
        }
    }

    /// Assigns a node to a range, and passes the nodes that it had to `each`.
    pub fn replace(&mut self, at: u64, size: u64, node: NodeId, each: &mut dyn FnMut(NodeId)) {
        // Most objects are written as they were written before.
        if let Some((until, old)) = self.bytes.get_mut(&at)
            && *until == at.saturating_add(size)
            && node != NONE
        {
            each(std::mem::replace(old, node));
            return;
        }
        self.clear(at, size, each);
        self.set(at, size, node);
    }

    /// Assigns a node to a range without nodes.
    pub fn set(&mut self, at: u64, size: u64, node: NodeId) {
        if size > 0 && node != NONE {
            self.bytes.insert(at, (at.saturating_add(size), node));
        }
    }

    /// Returns all nodes.
    pub fn all(&self) -> impl Iterator<Item = NodeId> {
        self.bytes.values().map(|(_, node)| *node)
    }

    /// Returns the object that contains a byte: its first byte, the byte after its last, and its id.
    pub fn object(&self, at: u64) -> Option<(u64, u64, u32)> {
        let at = at & ADDRESS_MASK;
        let (start, (end, object)) = self.objects.range(..=at).next_back()?;
        (at < *end).then_some((*start, *end, *object))
    }

    /// Begins the life of an object, and ends that of the objects in its range.
    pub fn place(&mut self, at: u64, size: u64, object: u32) {
        self.remove(at, size.max(1));
        self.objects.insert(at, (at.saturating_add(size.max(1)), object));
    }

    /// Ends the life of the objects in a range.
    pub fn remove(&mut self, at: u64, size: u64) {
        let end = at.saturating_add(size);
        let before =
            self.objects.range(..at).next_back().filter(|(_, (until, _))| *until > at).map(|(start, _)| *start);
        let inside: Vec<u64> = before.into_iter().chain(self.objects.range(at..end).map(|(start, _)| *start)).collect();
        for start in inside {
            self.objects.remove(&start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_that_is_written_over_in_the_middle_is_cut() {
        let mut memory = ShadowMemory::default();
        memory.set(100, 10, 1);
        let mut gone = Vec::new();
        memory.replace(103, 2, 2, &mut |node| gone.push(node));
        let mut seen = Vec::new();
        memory.read(98, 10, &mut |start, end, node| seen.push((start, end, node)));
        assert_eq!((gone, seen), (vec![1], vec![(100, 103, 1), (103, 105, 2), (105, 108, 1)]));
        assert_eq!(memory.run(101, &|_, _| true), 9);
        assert_eq!(memory.run(101, &|_, _| false), 2);
        assert_eq!(memory.run(90, &|_, _| true), 0);
    }

    #[test]
    fn a_range_is_replaced_whatever_was_there() {
        // Each range is replaced in a map of bytes, too.
        let mut memory = ShadowMemory::default();
        let mut bytes = [NONE; 64];
        let mut random = 12345u64;
        for node in 1..3000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (random >> 33) as usize % 60;
            let size = [1, 2, 4, 4, 8, 8, 12, 16][(random >> 40) as usize % 8].min(64 - at);
            let node = if node % 17 == 0 { NONE } else { node };
            let mut gone = Vec::new();
            memory.replace(at as u64, size as u64, node, &mut |old| gone.push(old));
            let mut expected: Vec<NodeId> = bytes[at..at + size].to_vec();
            for found in [&mut gone, &mut expected] {
                found.retain(|node| *node != NONE);
                found.sort_unstable();
                found.dedup();
            }
            assert_eq!(gone, expected);
            bytes[at..at + size].fill(node);
            let mut seen = [NONE; 64];
            let from = (random >> 50) as usize % 64;
            memory.read(from as u64, 8, &mut |start, end, node| seen[start as usize..end as usize].fill(node));
            let until = (from + 8).min(64);
            assert_eq!(seen[from..until], bytes[from..until]);
        }
    }

    #[test]
    fn objects_end_where_others_begin() {
        let mut memory = ShadowMemory::default();
        memory.place(100, 16, 1);
        memory.place(200, 4, 2);
        assert_eq!(memory.object(115), Some((100, 116, 1)));
        assert_eq!(memory.object(116), None);
        assert_eq!(memory.object(100 + (7 << 48)), Some((100, 116, 1)));
        memory.place(110, 4, 3);
        assert_eq!((memory.object(100), memory.object(110)), (None, Some((110, 114, 3))));
    }
}
