//! Digests of the interpreter's state, to recognise that a pass through a loop changed nothing that later results depend on.
//!
//! Two states are equivalent if all that the interpreter decides by is equal, and each value depends on the same nodes from before the
//! window in which the loop runs. Nodes that the loop itself created are not compared: all passes execute the same events in equivalent states, so the
//! last pass creates the same updates with the same dependences among each other. That requires that each live update of
//! the window is from the last pass. If one is older, a new window begins, for which it is a node from before.
//!
//! Constants that may be keys of containers are listed apart: the counter of a loop is one, and differs in each pass. The keys that a pass used are part
//! of the digest.

use super::function_objects::FunctionObject;
use super::method_frames::MethodFrame;
use super::test_execution::{ContainerKey, FieldOrigin, TestExecution, TracedValue, UpdatedLocation, ValueRef};
use super::thread_ownership::TracedThread;
use super::trace_interpreter::TraceInterpreter;
use crate::state::{NONE, NodeId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The maximum number of nodes in all sets of a window.
const MAX_SET_NODES: usize = 1 << 20;

/// The state after a pass.
pub(super) struct BoundaryDigest {
    pub digest: u128,
    /// The constant numbers in the frames of the thread.
    pub keys: Vec<i32>,
}

/// The nodes and updates that were created since a point of an execution.
pub(super) struct DigestWindow {
    /// The first node of the window.
    first: NodeId,
    /// The number of updates before the window.
    updates: u32,
    /// The number of updates at the last boundary.
    last_updates: u32,
    origins: NodeOrigins,
    /// The number of entries of the state.
    size: usize,
}

/// For each node of a window, the set of nodes from before the window that it depends on.
#[derive(Default)]
struct NodeOrigins {
    sets: Vec<u32>,
    members: Vec<Rc<[NodeId]>>,
    numbers: FxHashMap<Rc<[NodeId]>, u32>,
    unions: FxHashMap<(u32, u32), u32>,
    /// The number of nodes in all sets.
    total: usize,
}

impl NodeOrigins {
    fn number(&mut self, set: Vec<NodeId>) -> u32 {
        let set: Rc<[NodeId]> = set.into();
        if let Some(known) = self.numbers.get(&set) {
            return *known;
        }
        self.total += set.len();
        self.members.push(set.clone());
        let number = self.members.len() as u32 - 1;
        self.numbers.insert(set, number);
        number
    }

    fn union(&mut self, one: u32, other: u32) -> u32 {
        if one == other {
            return one;
        }
        let key = (one.min(other), one.max(other));
        if let Some(known) = self.unions.get(&key) {
            return *known;
        }
        let (one, other) = (self.members[one as usize].clone(), self.members[other as usize].clone());
        let mut all: Vec<NodeId> = one.iter().chain(other.iter()).copied().collect();
        all.sort_unstable();
        all.dedup();
        let number = self.number(all);
        self.unions.insert(key, number);
        number
    }

    /// Adds the nodes that were created since the last call. Returns false if the sets are too large.
    fn extend(&mut self, first: NodeId, execution: &TestExecution) -> bool {
        let from = first + self.sets.len() as NodeId;
        for node in from..execution.graph.next() {
            if self.total > MAX_SET_NODES {
                return false;
            }
            let mut set = match node == execution.initial_state_node {
                true => self.number(vec![node]),
                false => self.number(Vec::new()),
            };
            for dep in execution.graph.deps(node) {
                let of_dep = self.of(first, *dep);
                set = self.union(set, of_dep);
            }
            self.sets.push(set);
        }
        true
    }

    /// Returns the number of the set of a node.
    fn of(&mut self, first: NodeId, node: NodeId) -> u32 {
        match node.checked_sub(first) {
            Some(index) => self.sets[index as usize],
            None if node == NONE => self.number(Vec::new()),
            None => self.number(vec![node]),
        }
    }
}

impl DigestWindow {
    pub fn new(execution: &TestExecution) -> DigestWindow {
        let updates = execution.updates.len() as u32;
        // Estimated without visiting all arrays.
        let size = execution.fields.len() + execution.contents.iter().count() + execution.holders.len();
        DigestWindow {
            first: execution.graph.next(),
            updates,
            last_updates: updates,
            origins: NodeOrigins::default(),
            size,
        }
    }

    /// The number of entries of the state, which a digest visits.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Computes the digest of a state after a pass, or returns `None` and begins a new window if there is none.
    pub fn digest(
        &mut self,
        interpreter: &mut TraceInterpreter<'_>,
        thread: &TracedThread,
        execution: &TestExecution,
    ) -> Option<BoundaryDigest> {
        let used_keys = std::mem::take(&mut interpreter.used_keys);
        if !self.origins.extend(self.first, execution) {
            *self = DigestWindow::new(execution);
            return None;
        }
        let mut digester = StateDigester {
            window: &mut *self,
            execution,
            serials: thread.frames.iter().enumerate().map(|(position, frame)| (frame.serial, position)).collect(),
            values: FxHashMap::default(),
            keys: Vec::new(),
            entries: 0,
            has_older_update: false,
        };
        let mut hash = StateHash::default();
        hash.add(used_keys);
        hash.add(interpreter.classes.fields.len() as u64);
        digester.frames(&mut hash, thread);
        digester.heap(&mut hash);
        digester.functions(&mut hash, interpreter);
        let StateDigester { keys, entries, has_older_update, .. } = digester;
        self.size = entries;
        if has_older_update {
            *self = DigestWindow { size: entries, ..DigestWindow::new(execution) };
            return None;
        }
        self.last_updates = execution.updates.len() as u32;
        Some(BoundaryDigest { digest: hash.finish(), keys })
    }
}

/// A hash of 128 bits.
#[derive(Clone, Copy, Default)]
struct StateHash(u64, u64);

fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

impl StateHash {
    /// Appends a word.
    fn add(&mut self, word: u64) {
        self.0 = mixed(self.0.rotate_left(5) ^ word.wrapping_add(0x9e37_79b9_7f4a_7c15));
        self.1 = mixed(self.1.rotate_left(9).wrapping_add(word ^ 0xd1b5_4a32_d192_ed03));
    }

    fn all(words: &[u64]) -> StateHash {
        let mut hash = StateHash::default();
        words.iter().for_each(|word| hash.add(*word));
        hash
    }

    /// Combines the hashes of a set, in any order.
    fn join(&mut self, other: StateHash) {
        self.0 = self.0.wrapping_add(mixed(other.0));
        self.1 = self.1.wrapping_add(mixed(other.1));
    }

    fn append(&mut self, other: StateHash) {
        self.add(other.0);
        self.add(other.1);
    }

    fn finish(self) -> u128 {
        u128::from(self.0) << 64 | u128::from(self.1)
    }
}

/// The computation of one digest.
struct StateDigester<'d> {
    window: &'d mut DigestWindow,
    execution: &'d TestExecution,
    /// For each activation that has not ended, the position of its frame.
    serials: FxHashMap<u64, usize>,
    /// The values of variables that were visited, in order: two variables may share one.
    values: FxHashMap<*const TracedValue, u64>,
    keys: Vec<i32>,
    entries: usize,
    /// True if a live update of the window is not from the last pass.
    has_older_update: bool,
}

impl StateDigester<'_> {
    /// Returns what is compared of a node.
    fn node(&mut self, node: NodeId) -> u64 {
        if node < self.window.first {
            return u64::from(node);
        }
        let set = self.window.origins.of(self.window.first, node);
        let mut hash = StateHash::all(&[1, u64::from(set)]);
        let number = self.execution.graph.update(node);
        if number > self.window.updates {
            self.has_older_update |= number <= self.window.last_updates;
            let update = &self.execution.updates[number as usize - 1];
            hash.add(Rc::as_ptr(&update.method) as u64);
            hash.add(update.insn as u64);
            if let UpdatedLocation::Contents { is_own, .. } = &update.changed {
                hash.add(u64::from(*is_own));
            }
        } else {
            hash.add(u64::from(number));
        }
        hash.0
    }

    /// Returns what is compared of an activation that allocated an object.
    fn serial(&self, serial: u64) -> u64 {
        match self.serials.get(&serial) {
            _ if serial == 0 => 0,
            Some(position) => *position as u64 + 2,
            None => 1,
        }
    }

    fn value(&mut self, hash: &mut StateHash, value: &ValueRef, is_local: bool) {
        self.entries += 1;
        if is_local {
            let number = self.values.len() as u64;
            if let Some(known) = self.values.get(&Rc::as_ptr(value)) {
                return hash.add(u64::MAX - *known);
            }
            self.values.insert(Rc::as_ptr(value), number);
        }
        hash.add(self.node(value.node.get()));
        hash.add(u64::from(value.object.get()));
        hash.add(origin(value.origin.get()));
        hash.add(self.serial(value.born));
        match &value.key {
            None => hash.add(0),
            Some(ContainerKey::Number(number)) if is_local => {
                hash.add(1);
                self.keys.push(*number);
            }
            Some(key) => {
                hash.add(2);
                hash.add(key.digest(0));
            }
        }
        match &value.function {
            None => hash.add(0),
            Some(function) => self.function(hash, function),
        }
        match &value.copied {
            None => hash.add(0),
            Some(copied) => {
                hash.add(1 + u64::from(copied.is_of_test) * 2 + u64::from(copied.is_identified.get()) * 4);
                hash.add(self.node(copied.content));
                // The fields are in the order of their numbers, the elements in that of their indices.
                for (part, node) in copied.fields.iter().chain(&copied.elements) {
                    hash.add(u64::from(*part));
                    hash.add(self.node(*node));
                }
                hash.add(copied.fields.len() as u64);
            }
        }
    }

    fn function(&mut self, hash: &mut StateHash, function: &FunctionObject) {
        hash.add(1);
        hash.add(function.called.class.bytes().fold(0, |hash, byte| mixed(hash ^ u64::from(byte))));
        hash.add(function.called.name.bytes().fold(0, |hash, byte| mixed(hash ^ u64::from(byte))));
        hash.add(function.called.desc.bytes().fold(0, |hash, byte| mixed(hash ^ u64::from(byte))));
        let is_own = Rc::ptr_eq(&function.graph, &self.execution.identity);
        hash.add(u64::from(is_own));
        for value in &function.captured {
            match is_own {
                true => self.value(hash, value, false),
                // Its nodes belong to another graph, and are not used.
                false => hash.add(u64::from(value.object.get())),
            }
        }
    }

    fn frames(&mut self, hash: &mut StateHash, thread: &TracedThread) {
        hash.add(thread.frames.len() as u64);
        for frame in &thread.frames {
            self.frame(hash, frame);
        }
        thread.new_objects.iter().for_each(|object| hash.add(u64::from(*object)));
        hash.add(thread.new_objects.len() as u64);
    }

    fn frame(&mut self, hash: &mut StateHash, frame: &MethodFrame) {
        let flags = [
            u64::from(frame.method),
            frame.at as u64,
            frame.wait as u64,
            frame.entered as u64,
            u64::from(frame.initialises),
            u64::from(frame.object),
            frame.locals.len() as u64,
            frame.stack.len() as u64,
            frame.controls.len() as u64,
            frame.stores_before_init.len() as u64,
        ];
        flags.iter().for_each(|word| hash.add(*word));
        for node in [frame.entry, frame.chosen, frame.thrown.why, frame.thrown.what] {
            hash.add(self.node(node));
        }
        for control in &frame.controls {
            hash.add(control.block as u64);
            hash.add(control.until.map_or(0, |block| block as u64 + 1));
            hash.add(control.depth as u64);
            hash.add(self.node(control.node));
        }
        for value in frame.locals.iter().chain(&frame.stack) {
            self.value(hash, value, true);
        }
        for (insn, value) in &frame.stores_before_init {
            hash.add(*insn as u64);
            self.value(hash, value, true);
        }
        let Some(call) = &frame.call else { return hash.add(0) };
        hash.add(1 + u64::from(call.entered) * 2 + u64::from(call.called_back) * 4);
        hash.add(call.told as u64);
        hash.add(call.values.len() as u64);
        for node in [call.given_back, call.thrown.why, call.thrown.what] {
            hash.add(self.node(node));
        }
        for value in call.values.iter().chain(&call.result) {
            self.value(hash, value, true);
        }
    }

    fn heap(&mut self, hash: &mut StateHash) {
        let execution = self.execution;
        let mut sum = StateHash::default();
        for ((object, field), node) in &execution.fields {
            sum.join(StateHash::all(&[1, u64::from(*object), u64::from(*field), self.node(*node)]));
        }
        for (field, node) in &execution.statics {
            sum.join(StateHash::all(&[2, u64::from(*field), self.node(*node)]));
        }
        for (object, inside) in execution.contents.iter() {
            let object = u64::from(object);
            sum.join(StateHash::all(&[3, object, self.node(inside.content)]));
            for (index, node) in &inside.elements {
                sum.join(StateHash::all(&[4, object, u64::from(*index), self.node(*node)]));
            }
            for (key, node) in &inside.entries {
                sum.join(StateHash::all(&[5, object, key.digest(0), self.node(*node)]));
            }
            for member in &inside.members {
                sum.join(StateHash::all(&[6, object, u64::from(*member)]));
            }
            self.entries += 1 + inside.elements.len() + inside.entries.len() + inside.members.len();
        }
        for (object, holders) in &execution.contents.holders {
            for holder in holders {
                sum.join(StateHash::all(&[7, u64::from(*object), u64::from(*holder)]));
            }
        }
        for (object, held) in &execution.holders {
            sum.join(StateHash::all(&[8, u64::from(*object), origin(Some(*held))]));
        }
        for ((object, field), held) in &execution.held_objects {
            sum.join(StateHash::all(&[9, u64::from(*object), u64::from(*field), u64::from(*held)]));
        }
        for ((object, field), conditions) in &execution.unresolved_conditions {
            // Every pass adds the same conditions again, which then change nothing more.
            let mut words: Vec<(u32, u64)> =
                conditions.iter().map(|(field, node)| (*field, self.node(*node))).collect();
            words.sort_unstable();
            words.dedup();
            for (conditional, node) in words {
                let place = [10, u64::from(*object), u64::from(*field), u64::from(conditional), node];
                sum.join(StateHash::all(&place));
            }
        }
        for (object, serial) in &execution.allocators {
            sum.join(StateHash::all(&[11, u64::from(*object), self.serial(*serial)]));
        }
        for mock in &execution.verified_mocks {
            sum.join(StateHash::all(&[12, u64::from(*mock)]));
        }
        self.entries += execution.fields.len() + execution.statics.len() + execution.holders.len();
        self.entries += execution.held_objects.len() + execution.allocators.len();
        hash.append(sum);
        hash.add(execution.allocated.len() as u64);
        hash.add(u64::from(execution.initial_state_node));
        hash.add(u64::from(execution.asserts));
        // Only the nodes on which assertions depend count, not how often.
        let asserted: Vec<NodeId> =
            execution.asserted.iter().rev().copied().take_while(|node| *node >= self.window.first).collect();
        let (first, origins) = (self.window.first, &mut self.window.origins);
        let mut set = origins.number(Vec::new());
        for node in asserted {
            let of_node = origins.of(first, node);
            set = origins.union(set, of_node);
        }
        hash.add(u64::from(set));
    }

    fn functions(&mut self, hash: &mut StateHash, interpreter: &TraceInterpreter<'_>) {
        let mut sum = StateHash::default();
        let of_objects =
            interpreter.functions.by_object.iter().map(|(object, function)| ([1, u64::from(*object), 0], function));
        let of_fields = interpreter.functions.by_field.iter();
        let of_fields =
            of_fields.map(|((object, field), function)| ([2, u64::from(*object), u64::from(*field)], function));
        for (place, function) in of_objects.chain(of_fields) {
            let mut own = StateHash::all(&place);
            self.function(&mut own, function);
            sum.join(own);
            self.entries += 1;
        }
        hash.append(sum);
    }
}

fn origin(origin: Option<FieldOrigin>) -> u64 {
    let Some(origin) = origin else { return 0 };
    StateHash::all(&[u64::from(origin.object), u64::from(origin.field), u64::from(origin.depth)]).0
}

/// Adds to the constant numbers in the frames of a thread, in the order of [`BoundaryDigest::keys`].
pub(super) fn change_keys(thread: &mut TracedThread, changes: &[i32]) {
    let mut changes = changes.iter();
    let mut changed: FxHashMap<*const TracedValue, ValueRef> = FxHashMap::default();
    let mut change = |value: &mut ValueRef| {
        let key = Rc::as_ptr(value);
        let new = changed.entry(key).or_insert_with(|| match &value.key {
            Some(ContainerKey::Number(number)) => {
                let number = number.wrapping_add(changes.next().copied().unwrap_or(0));
                Rc::new(TracedValue { key: Some(ContainerKey::Number(number)), ..(**value).clone() })
            }
            _ => value.clone(),
        });
        *value = new.clone();
    };
    for frame in &mut thread.frames {
        frame.locals.iter_mut().chain(&mut frame.stack).for_each(&mut change);
        frame.stores_before_init.iter_mut().for_each(|(_, value)| change(value));
        if let Some(call) = &mut frame.call {
            call.values.iter_mut().chain(&mut call.result).for_each(&mut change);
        }
    }
}
