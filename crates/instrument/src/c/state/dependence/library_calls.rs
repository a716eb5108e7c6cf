//! Calls of uninstrumented functions: those of the C library that modify memory have known effects. The result of
//! others depends on all of their arguments.

use super::activation_stack::PendingCall;
use super::{DependenceAnalysis, EventStream, MAX_OBJECTS_PER_ALLOCATION_SITE, StateUpdate, TrackedObject};
use crate::c::state::library_effects::{MemoryEffect, memory_effect};
use crate::state::{Deps, NodeId, SiteArgument, SiteKind};

/// Smaller addresses are no pointers.
const MIN_POINTER_ADDRESS: u64 = 4096;

impl DependenceAnalysis<'_> {
    fn described(&self, calling: &PendingCall) -> &[SiteArgument] {
        match self.site(calling.site).map(|(_, site)| &site.kind) {
            Some(SiteKind::Call { arguments, .. }) => arguments,
            _ => &[],
        }
    }

    fn number(&self, calling: &PendingCall, index: usize) -> Option<u64> {
        let constant = self.described(calling).get(index).and_then(|argument| argument.constant);
        calling.value(index).map(|(value, _)| value).or(constant)
    }

    /// Returns the nodes of the pointees of a call.
    pub(super) fn pointees(&self, process: usize, calling: &PendingCall) -> Deps {
        let mut found = Deps::new();
        for (index, argument) in self.described(calling).iter().enumerate() {
            if let Some((at, size)) =
                calling.value(index).filter(|(at, _)| argument.pointer && *at >= MIN_POINTER_ADDRESS)
            {
                let size = self.extent(process, at, size);
                self.processes[process].memory.read(at, size, &mut |_, _, node| found.push(node));
            }
        }
        found
    }

    /// Returns the size of a pointee: that of its type, or else of the neighbouring bytes that the same updates wrote.
    fn extent(&self, process: usize, at: u64, size: u64) -> u64 {
        if size > 0 {
            return size;
        }
        let key = |node: NodeId| self.update(node).map(|update| (update.target, update.object));
        self.processes[process].memory.run(at, &|a, b| key(a) == key(b))
    }

    /// Applies the effect of a function, and returns the dependences of its result.
    pub(super) fn library(&mut self, stream: &mut EventStream, name: &str, calling: &PendingCall, value: u64) -> Deps {
        let process = stream.process;
        let mut deps: Deps = calling.arguments.iter().flatten().copied().collect();
        match memory_effect(name) {
            MemoryEffect::Nothing => {}
            MemoryEffect::Copies => self.copies(stream, calling),
            MemoryEffect::Writes { to, size } => {
                let size = size.and_then(|index| self.number(calling, index)).unwrap_or(0);
                self.writes(stream, calling, to, size);
            }
            MemoryEffect::WritesAll { from } => {
                for index in from..self.described(calling).len() {
                    self.writes(stream, calling, index, 0);
                }
            }
            MemoryEffect::Allocates { size } => {
                let size =
                    size.iter().map(|index| self.number(calling, *index).unwrap_or(1)).fold(1, u64::saturating_mul);
                self.retire(process, value, size);
                self.allocate(stream, calling, value, size);
                return deps;
            }
            MemoryEffect::Reallocates => {
                let (old, size) = (self.number(calling, 0).unwrap_or(0), self.number(calling, 1).unwrap_or(1));
                self.reallocate(stream, calling, old, value, size);
                return deps;
            }
            MemoryEffect::Duplicates => {
                deps.extend(self.pointees(process, calling));
                let size = calling.value(0).map_or(1, |(at, size)| self.extent(process, at, size)).max(1);
                self.retire(process, value, size);
                self.allocate(stream, calling, value, size);
                let node = self.node(deps.clone(), calling.control, None);
                self.processes[process].memory.set(value, size, node);
                return deps;
            }
            MemoryEffect::Frees => {
                let at = self.number(calling, 0).unwrap_or(0);
                if let Some((start, end, _)) =
                    self.processes[process].memory.object(at).filter(|(start, _, _)| *start == at)
                {
                    self.retire(process, start, end - start);
                    self.processes[process].memory.remove(start, end - start);
                }
                return Deps::new();
            }
        }
        deps.extend(self.pointees(process, calling));
        deps
    }

    /// Returns the update of a write through an argument, if it modifies state.
    fn changed(
        &mut self,
        stream: &mut EventStream,
        calling: &PendingCall,
        index: usize,
        at: u64,
    ) -> Option<StateUpdate> {
        let target = self.described(calling).get(index)?.target?;
        self.change_of(stream, calling.site, target, at)
    }

    fn copies(&mut self, stream: &mut EventStream, calling: &PendingCall) {
        let (Some(to), Some(size)) = (self.number(calling, 0), self.number(calling, 2)) else { return };
        // A source without variables has no dependences.
        let from = self.number(calling, 1).unwrap_or(0);
        if to < MIN_POINTER_ADDRESS || size == 0 {
            return;
        }
        let update = self.changed(stream, calling, 0, to);
        let deps: Deps = calling.arguments.iter().flatten().copied().collect();
        self.copy(stream, (to, from, size), &deps, calling.control, update);
    }

    fn writes(&mut self, stream: &mut EventStream, calling: &PendingCall, index: usize, size: u64) {
        let Some((at, own)) = calling.value(index).filter(|(at, _)| *at >= MIN_POINTER_ADDRESS) else { return };
        let update = self.changed(stream, calling, index, at);
        let object = self.processes[stream.process].memory.object(at);
        let size = match (size, own, object) {
            (0, 0, Some((_, end, _))) => end - at,
            (0, 0, None) => 1,
            (0, own, _) => own,
            (size, 0, _) => size,
            (size, own, _) => size.min(own),
        };
        let mut deps: Deps = calling.arguments.iter().flatten().copied().collect();
        deps.extend(self.pointees(stream.process, calling));
        let node = self.node(deps, calling.control, update);
        self.store(stream, at, size, node);
    }

    fn allocate(&mut self, stream: &mut EventStream, calling: &PendingCall, at: u64, size: u64) {
        if at < MIN_POINTER_ADDRESS {
            return;
        }
        let test = self.processes[stream.process].test;
        let count = self.counts.entry((test, calling.site)).or_default();
        *count = (*count + 1).min(MAX_OBJECTS_PER_ALLOCATION_SITE);
        let count = *count;
        let object = match self.allocations.get(&(test, calling.site, count)) {
            Some(known) => *known,
            None => {
                let place = self.site(calling.site).map(|(record, site)| {
                    let file = record.files.get(site.file as usize).map_or("", String::as_str);
                    format!("{}:{}", file.rsplit('/').next().unwrap_or_default(), site.line)
                });
                let more = if count == MAX_OBJECTS_PER_ALLOCATION_SITE { " and later" } else { "" };
                let name = format!("object {count}{more} from {}", place.unwrap_or_default());
                self.objects.push(TrackedObject { name, owner: None });
                self.objects.len() as u32 - 1
            }
        };
        self.allocations.insert((test, calling.site, count), object);
        self.processes[stream.process].memory.place(at, size, object);
    }

    fn reallocate(&mut self, stream: &mut EventStream, calling: &PendingCall, old: u64, new: u64, size: u64) {
        let process = stream.process;
        let known = self.processes[process].memory.object(old).filter(|(start, _, _)| *start == old);
        let Some((start, end, object)) = known else {
            self.retire(process, new, size);
            self.allocate(stream, calling, new, size);
            return;
        };
        if new < MIN_POINTER_ADDRESS {
            return;
        }
        let mut held: Vec<(u64, u64, NodeId)> = Vec::new();
        let memory = &mut self.processes[process].memory;
        memory.read(start, (end - start).min(size), &mut |from, to, node| held.push((from, to, node)));
        memory.clear(start, end - start, &mut |_| {});
        memory.remove(start, end - start);
        self.retire(process, new, size);
        let memory = &mut self.processes[process].memory;
        memory.place(new, size, object);
        for (from, to, node) in held {
            memory.set(new.wrapping_add(from - start), to - from, node);
        }
    }
}
