//! Dynamic dependence analysis of a trace.
//!
//! Every update of memory is a node that depends on the nodes that were read for it and on its controlling condition.
//! Dependences pass through variables, parameters, results, conditions (also conditions under which a function, a loop
//! or a block was not left), copies of objects, and C library functions that copy memory (`library_calls.rs`). Not
//! analysed: writes by other uninstrumented functions, inline assembly, atomic operations, bit-fields in copies of
//! their struct, and `longjmp` (the frames that it skips end when the target continues).
//!
//! `call_tracking.rs`, `controlling_conditions.rs` and `library_calls.rs` implement parts of one type, the analysis,
//! and use this file.

mod activation_stack;
mod call_tracking;
mod controlling_conditions;
mod library_calls;
mod shadow_memory;
mod site_rules;

use super::event_trace::{ALLOCATION_FUNCTIONS, EventKind, EventTrace, StateEvent};
use crate::state::{Deps, Graph, NodeId, SiteKind, StateRecord, StateRules, StateSite};
use activation_stack::{Activity, ActivityKind, ActivityStack, PendingAssignment};
use shadow_memory::ShadowMemory;
use site_rules::SiteRules;
use std::collections::{BTreeMap, BTreeSet};

/// A site: the index of its unit in the upper half, and its index in the lower half.
pub(crate) type SiteRef = u64;

/// An update of state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StateUpdate {
    /// The unit, and the index of the target in it.
    pub target: (u32, u32),
    /// The object, or 0 if it is unknown.
    pub object: u32,
    /// The site of the write.
    pub site: SiteRef,
}

/// An object that can be distinguished from others.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TrackedObject {
    pub name: String,
    /// The activation that the object belongs to.
    owner: Option<u64>,
}

/// The events of one test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TestTrace {
    pub name: Option<String>,
    /// The first node of the test.
    pub start: NodeId,
    /// The node after the last of the test.
    end: NodeId,
    /// The nodes that its assertions depend on directly.
    pub roots: Vec<NodeId>,
    /// The nodes of its last updates.
    pub finals: Vec<NodeId>,
    /// The values that were observed at its end.
    pub seen: Vec<ObservedValue>,
}

/// A value that was observed at the end of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ObservedValue {
    pub site: SiteRef,
    pub bytes: Vec<u8>,
    size: u64,
    /// The numbers of the updates that it reads.
    pub updates: Vec<u32>,
}

#[derive(Clone, Debug, Default)]
struct TracedProcess {
    memory: ShadowMemory,
    /// For each number in events, the index of the unit.
    units: BTreeMap<u32, u32>,
    test: usize,
    /// For each address, the node of the last update of a container.
    containers: BTreeMap<u64, NodeId>,
}

#[derive(Clone, Debug, Default)]
struct EventStream {
    process: usize,
    stack: ActivityStack,
    /// The bytes of a test's name, so far.
    name: Vec<u8>,
}

/// The maximum number of objects of one allocation site that are distinguished in one test.
const MAX_OBJECTS_PER_ALLOCATION_SITE: u32 = 8;

/// The analysis of one trace.
pub(crate) struct DependenceAnalysis<'a> {
    records: &'a [(u64, &'a StateRecord)],
    rules: &'a StateRules,
    graph: Graph,
    pub updates: Vec<StateUpdate>,
    pub objects: Vec<TrackedObject>,
    variables: BTreeMap<SiteRef, u32>,
    allocations: BTreeMap<(usize, SiteRef, u32), u32>,
    counts: BTreeMap<(usize, SiteRef), u32>,
    processes: Vec<TracedProcess>,
    by_pid: BTreeMap<u64, usize>,
    /// The streams by number. The stream of the current event is taken out of it.
    streams: Vec<Option<Box<EventStream>>>,
    site_rules: SiteRules,
    /// The library functions, by address.
    functions: BTreeMap<u64, &'static str>,
    pub tests: Vec<TestTrace>,
    serial: u64,
    /// The number of units without a record.
    pub unexplained: u64,
}

impl<'a> DependenceAnalysis<'a> {
    /// Analyses a trace.
    pub fn new(
        records: &'a [(u64, &'a StateRecord)],
        rules: &'a StateRules,
        trace: &EventTrace,
    ) -> DependenceAnalysis<'a> {
        let mut flow = DependenceAnalysis {
            records,
            rules,
            graph: Graph::default(),
            updates: Vec::new(),
            objects: vec![TrackedObject::default()],
            variables: BTreeMap::new(),
            allocations: BTreeMap::new(),
            counts: BTreeMap::new(),
            processes: Vec::new(),
            by_pid: BTreeMap::new(),
            streams: Vec::new(),
            site_rules: SiteRules::default(),
            functions: BTreeMap::new(),
            tests: vec![TestTrace { name: trace.test.clone(), start: 1, ..TestTrace::default() }],
            serial: 0,
            unexplained: 0,
        };
        for event in trace.events() {
            flow.event(&event);
        }
        for process in 0..flow.processes.len() {
            flow.finish_test(process);
        }
        flow
    }

    /// Returns the site of a reference.
    pub fn site(&self, site: SiteRef) -> Option<(&'a StateRecord, &'a StateSite)> {
        let record = self.records.get((site >> 32) as usize)?.1;
        Some((record, record.sites.get((site & 0xffff_ffff) as usize)?))
    }

    /// Returns the update that a node represents.
    pub fn update(&self, node: NodeId) -> Option<&StateUpdate> {
        self.updates.get((self.graph.update(node) as usize).checked_sub(1)?)
    }

    /// Returns the number of the update that a node represents.
    pub fn update_number(&self, node: NodeId) -> u32 {
        self.graph.update(node)
    }

    /// Returns the numbers of the updates that a test's assertions depend on, back to the beginning of the test.
    pub fn checked(&self, run: &TestTrace) -> BTreeSet<u32> {
        self.graph.updates_behind(&run.roots, run.start..run.end)
    }

    /// Returns the numbers of the updates that depend on state from before the test.
    pub fn inherited(&self, run: &TestTrace) -> BTreeSet<u32> {
        let before = |node: NodeId| node < run.start && self.graph.update(node) != 0;
        let mut found: BTreeSet<NodeId> = BTreeSet::new();
        for node in run.start..run.end {
            if self.graph.deps(node).iter().any(|dep| before(*dep) || found.contains(dep)) {
                found.insert(node);
            }
        }
        found.into_iter().map(|node| self.graph.update(node)).filter(|update| *update != 0).collect()
    }

    /// Returns true if an update depends on the old value and other tests update the same state.
    pub fn adds_up(&self, number: u32, run: &TestTrace) -> bool {
        let Some(update) = self.updates.get((number as usize).wrapping_sub(1)) else { return false };
        let is_sum =
            matches!(self.site(update.site), Some((_, StateSite { kind: SiteKind::Write { updates: true, .. }, .. })));
        let same = |other: &StateUpdate| other.target == update.target && other.object == update.object;
        let others = self.tests.iter().filter(|other| other.start != run.start);
        let mut others = others.flat_map(|other| &other.finals).filter_map(|node| self.update(*node));
        is_sum && others.any(same)
    }

    fn event(&mut self, event: &StateEvent) {
        if event.kind == EventKind::Stream {
            self.begin_stream(event);
            return;
        }
        let number = usize::from(event.stream);
        let Some(mut stream) = self.streams.get_mut(number).and_then(Option::take) else { return };
        self.step(&mut stream, event);
        self.streams[number] = Some(stream);
    }

    fn begin_stream(&mut self, event: &StateEvent) {
        let known = self.by_pid.get(&event.a).copied();
        let process = known.unwrap_or_else(|| {
            let parent = self.stream(event.b).map(|stream| stream.process);
            let made = parent.map(|parent| self.processes[parent].clone()).unwrap_or_default();
            self.processes.push(made);
            self.processes.len() - 1
        });
        self.by_pid.insert(event.a, process);
        // A forked process continues with the activities of its parent.
        let parent = self.stream(event.b).filter(|_| known.is_none() && event.b != 0);
        let stack = parent.map(|stream| stream.stack.clone()).unwrap_or_default();
        let number = usize::from(event.stream);
        if self.streams.len() <= number {
            self.streams.resize_with(number + 1, || None);
        }
        self.streams[number] = Some(Box::new(EventStream { process, stack, name: Vec::new() }));
    }

    fn stream(&self, number: u64) -> Option<&EventStream> {
        self.streams.get(usize::from(number as u16))?.as_deref()
    }

    fn finish_test(&mut self, process: usize) {
        let TracedProcess { memory, test, containers, .. } = &self.processes[process];
        let start = self.tests[*test].start;
        let held: Vec<NodeId> =
            memory.all().chain(containers.values().copied()).filter(|node| *node >= start).collect();
        let test = *test;
        self.tests[test].end = self.graph.next();
        self.tests[test].finals.extend(held);
        if self.tests[test].finals.len() > 1 << 16 {
            self.tests[test].finals.sort_unstable();
            self.tests[test].finals.dedup();
        }
    }

    fn test(&mut self, stream: &mut EventStream, event: &StateEvent) {
        for word in [event.a, event.b] {
            stream.name.extend(word.to_le_bytes().iter().filter(|byte| **byte != 0));
        }
        if event.site == 0 {
            return;
        }
        let name = String::from_utf8_lossy(&std::mem::take(&mut stream.name)).into_owned();
        let current = self.processes[stream.process].test;
        if self.tests[current].name.as_deref() == Some(&name) {
            return;
        }
        self.finish_test(stream.process);
        let start = self.graph.next();
        self.tests.push(TestTrace { name: Some(name), start, ..TestTrace::default() });
        self.processes[stream.process].test = self.tests.len() - 1;
    }

    /// Returns the reference of an event's site, if its unit is known.
    fn reference(&self, stream: &EventStream, site: u32) -> Option<SiteRef> {
        let unit = self.processes[stream.process].units.get(&(site >> 20))?;
        Some(u64::from(*unit) << 32 | u64::from(site & 0xfffff))
    }

    fn node(&mut self, mut deps: Deps, control: NodeId, update: Option<StateUpdate>) -> NodeId {
        deps.push(control);
        let update = update.map_or(0, |update| {
            self.updates.push(update);
            self.updates.len() as u32
        });
        self.graph.node(deps, update)
    }

    fn step(&mut self, stream: &mut EventStream, event: &StateEvent) {
        let site = self.reference(stream, event.site);
        match (event.kind, site) {
            (EventKind::Read, _) => self.read(stream, event.a, event.b),
            (EventKind::Write, Some(site)) => self.begin_assignment(stream, site, event.a, event.b, false),
            (EventKind::Head, Some(site)) => {
                close_all(self, stream);
                self.begin_assignment(stream, site, event.a, event.b, true);
            }
            (EventKind::Push, Some(site)) => self.begin_assignment(stream, site, 0, 0, false),
            (EventKind::Place, Some(site)) => self.locate_assignment(stream, site, event),
            (EventKind::Store, Some(site)) => self.end_assignment(stream, site),
            (EventKind::Step, Some(site)) => {
                self.begin_assignment(stream, site, event.a, event.b, false);
                self.close(stream);
            }
            (EventKind::Declare, Some(site)) => self.declare(stream, site, event),
            (EventKind::Init, Some(site)) => self.initialise(stream, site, event),
            (EventKind::Statement, _) => begin_statement(self, stream),
            (EventKind::Call, Some(site)) => self.begin_call(stream, site),
            (EventKind::BeginArgument | EventKind::Argument, _) => self.argument(stream, event),
            (EventKind::Returned, Some(site)) => self.return_from(stream, site, event.a),
            (EventKind::Enter, Some(site)) => self.enter(stream, site, event.a),
            (EventKind::Parameter, _) => self.parameter(stream, event),
            (EventKind::Leave, Some(site)) => self.leave(stream, site),
            (EventKind::Return, _) => {
                begin_statement(self, stream);
                stream.stack.running().returning = true;
            }
            (EventKind::Condition, Some(site)) => self.condition(stream, site),
            (EventKind::End, Some(site)) => self.end(stream, site),
            (EventKind::Label, _) => self.label(stream, event.b as u32),
            (EventKind::Callee, Some(site)) => self.resolve_callee(stream, site, event.a),
            (EventKind::Function, _) => {
                if let Some(name) = ALLOCATION_FUNCTIONS.get(event.site as usize) {
                    self.functions.insert(event.a, name);
                }
            }
            (EventKind::Touch, Some(site)) => self.touch(stream, site, event.a, event.b),
            (EventKind::Choice, Some(site)) => {
                stream.stack.frames.push(Activity { what: ActivityKind::Choice(site), deps: Deps::new() });
            }
            (EventKind::Chosen, Some(site)) => self.end_choice(stream, site),
            (EventKind::Seen, Some(site)) => self.observe(stream, site, event),
            (EventKind::Bytes, _) => self.observed_bytes(stream, event.a),
            (EventKind::Unit, _) => self.unit(stream, event),
            (EventKind::Test, _) => self.test(stream, event),
            (EventKind::Variadic, _) => {
                let taken: Deps = stream.stack.running().parameters.iter().flatten().copied().collect();
                stream.stack.top().deps.extend(taken);
            }
            (EventKind::Global, Some(site)) => {
                let object = self.variable(site, None);
                self.processes[stream.process].memory.place(event.a, event.b, object);
            }
            _ => {}
        }
    }

    fn locate_assignment(&mut self, stream: &mut EventStream, site: SiteRef, event: &StateEvent) {
        close_until(self, stream, |what| matches!(what, ActivityKind::Assignment(other) if other.site == site));
        if let ActivityKind::Assignment(assignment) = &mut stream.stack.top().what {
            (assignment.at, assignment.size) = (event.a, event.b);
        }
    }

    fn end_assignment(&mut self, stream: &mut EventStream, site: SiteRef) {
        let ours = |what: &ActivityKind| matches!(what, ActivityKind::Assignment(other) if other.site == site);
        if close_until(self, stream, ours) {
            self.close(stream);
        }
    }

    fn end_choice(&mut self, stream: &mut EventStream, site: SiteRef) {
        if close_until(self, stream, |what| matches!(what, ActivityKind::Choice(other) if *other == site)) {
            self.close(stream);
        }
    }

    /// Observes an expression at the end of a test function.
    fn observe(&mut self, stream: &mut EventStream, site: SiteRef, event: &StateEvent) {
        let TracedProcess { memory, test, .. } = &self.processes[stream.process];
        let mut updates = Vec::new();
        memory.read(event.a, event.b, &mut |_, _, node| updates.push(self.graph.update(node)));
        let seen = &mut self.tests[*test].seen;
        // If a test function runs repeatedly, the last run counts.
        seen.retain(|seen| seen.site != site);
        seen.push(ObservedValue { site, bytes: Vec::new(), size: event.b, updates });
    }

    fn observed_bytes(&mut self, stream: &EventStream, bytes: u64) {
        if let Some(last) = self.tests[self.processes[stream.process].test].seen.last_mut() {
            let left = (last.size as usize).saturating_sub(last.bytes.len());
            last.bytes.extend(bytes.to_le_bytes().iter().take(left));
        }
    }

    fn unit(&mut self, stream: &mut EventStream, event: &StateEvent) {
        match self.records.iter().position(|(unit, _)| *unit == event.a) {
            Some(position) => {
                self.processes[stream.process].units.insert(event.site >> 20, position as u32);
            }
            None => self.unexplained += 1,
        }
    }

    fn read(&mut self, stream: &mut EventStream, at: u64, size: u64) {
        let mut found = Deps::new();
        let TracedProcess { memory, test, .. } = &self.processes[stream.process];
        memory.read(at, size, &mut |_, _, node| found.push(node));
        if stream.stack.running().asserting {
            self.tests[*test].roots.extend(&found);
        }
        for node in found {
            stream.stack.depend(node);
        }
        match &mut stream.stack.top().what {
            ActivityKind::Assignment(assignment) => assignment.read = (at, size),
            ActivityKind::Function(running) => running.read = (at, size),
            ActivityKind::Call(_) | ActivityKind::Choice(_) => {}
        }
    }

    fn begin_assignment(&mut self, stream: &mut EventStream, site: SiteRef, at: u64, size: u64, first: bool) {
        let guarded =
            matches!(self.site(site), Some((_, StateSite { kind: SiteKind::Write { guarded: true, .. }, .. })));
        let control = self.control(stream, guarded);
        let assignment = PendingAssignment { site, at, size, control, read: (0, 0), first };
        stream.stack.frames.push(Activity { what: ActivityKind::Assignment(assignment), deps: Deps::new() });
    }

    /// Ends the innermost activity.
    fn close(&mut self, stream: &mut EventStream) {
        if stream.stack.frames.len() <= 1 {
            return;
        }
        let Some(Activity { what, deps }) = stream.stack.frames.pop() else { return };
        match what {
            ActivityKind::Assignment(assignment) => self.assign(stream, &assignment, deps),
            ActivityKind::Choice(site) => {
                self.ask(stream, site, &deps);
                stream.stack.top().deps.extend(deps);
            }
            ActivityKind::Call(calling) => {
                stream.stack.frames.push(Activity { what: ActivityKind::Call(calling), deps });
                self.end_call(stream, 0);
            }
            ActivityKind::Function(running) => self.left(stream, *running, deps),
        }
    }

    fn assign(&mut self, stream: &mut EventStream, assignment: &PendingAssignment, mut deps: Deps) {
        let PendingAssignment { site, at, size, control, read, first } = *assignment;
        if size == 0 {
            return;
        }
        if first {
            let object = self.variable(site, Some(stream.stack.running().serial));
            self.processes[stream.process].memory.place(at, size, object);
        }
        let (mut copies, mut used) = (false, false);
        match self.site(site).map(|(_, site)| &site.kind) {
            Some(SiteKind::Write { updates, copies: copy, used: is_used, .. }) => {
                (copies, used) = (*copy, *is_used);
                if *updates {
                    self.processes[stream.process].memory.read(at, size, &mut |_, _, node| deps.push(node));
                }
            }
            Some(SiteKind::Variable { copies: copy, .. }) => copies = *copy,
            _ => {}
        }
        let update = self.change(stream, site, at);
        if copies && read.1 == size {
            self.copy(stream, (at, read.0, size), &deps, control, update);
        } else {
            let node = self.node(deps, control, update);
            self.store(stream, at, size, node);
        }
        if used {
            let mut held = Deps::new();
            self.processes[stream.process].memory.read(at, size, &mut |_, _, node| held.push(node));
            held.into_iter().for_each(|node| stream.stack.depend(node));
        }
    }

    /// Copies bytes: (to, from, size). Each part keeps its own dependences.
    fn copy(
        &mut self,
        stream: &mut EventStream,
        (to, from, size): (u64, u64, u64),
        deps: &Deps,
        control: NodeId,
        update: Option<StateUpdate>,
    ) {
        let mut pieces: Vec<(u64, u64, NodeId)> = Vec::new();
        let memory = &self.processes[stream.process].memory;
        memory.read(from, size, &mut |start, end, node| pieces.push((start, end, node)));
        let held: Vec<NodeId> = pieces.iter().map(|(_, _, node)| *node).collect();
        // The reads for the address, without the copied contents.
        let others: Deps = deps.iter().copied().filter(|node| !held.contains(node)).collect();
        let rest = self.node(others.clone(), control, update);
        self.store(stream, to, size, rest);
        for (start, end, node) in pieces {
            let mut deps = others.clone();
            deps.push(node);
            let made = self.node(deps, control, update);
            self.store(stream, to.wrapping_add(start - from), end - start, made);
        }
    }

    /// Returns the update of a write, if it modifies state.
    fn change(&mut self, stream: &mut EventStream, site: SiteRef, at: u64) -> Option<StateUpdate> {
        let (_, StateSite { kind: SiteKind::Write { target, .. }, .. }) = self.site(site)? else { return None };
        self.change_of(stream, site, (*target)?, at)
    }

    fn change_of(&mut self, stream: &mut EventStream, site: SiteRef, target: u32, at: u64) -> Option<StateUpdate> {
        let (record, described) = self.site(site)?;
        let running = stream.stack.running();
        let serial = running.serial;
        if running.asserting || running.opaque || self.site_rules.of(site, record, described, self.rules).excluded {
            return None;
        }
        let object = self.processes[stream.process].memory.object(at).map_or(0, |(_, _, object)| object);
        // The variables of a function are not its state, however it accesses them.
        if self.objects[object as usize].owner == Some(serial) {
            return None;
        }
        Some(StateUpdate { target: ((site >> 32) as u32, target), object, site })
    }

    /// Assigns bytes. The last updates of other objects at the same address are final.
    fn store(&mut self, stream: &mut EventStream, at: u64, size: u64, node: NodeId) {
        let process = &mut self.processes[stream.process];
        let object = process.memory.object(at).map_or(0, |(_, _, object)| object);
        let (graph, updates, run) = (&self.graph, &self.updates, &mut self.tests[process.test]);
        process.memory.replace(at, size, node, &mut |old| {
            let update = (graph.update(old) as usize).checked_sub(1).map(|number| updates[number]);
            if update.is_some_and(|update| update.object != object) && old >= run.start {
                run.finals.push(old);
            }
        });
    }

    /// Ends the life of the objects in a range; their last updates are final.
    fn retire(&mut self, process: usize, at: u64, size: u64) {
        let process = &mut self.processes[process];
        let (graph, run) = (&self.graph, &mut self.tests[process.test]);
        process.memory.clear(at, size, &mut |old| {
            if graph.update(old) != 0 && old >= run.start {
                run.finals.push(old);
            }
        });
    }

    fn variable(&mut self, site: SiteRef, owner: Option<u64>) -> u32 {
        let object = match self.variables.get(&site) {
            Some(known) => *known,
            None => {
                let name = match self.site(site) {
                    Some((record, StateSite { kind: SiteKind::Variable { name, .. }, function, .. })) => {
                        let function = record.functions.get(*function as usize).map_or("", String::as_str);
                        if function.is_empty() { name.clone() } else { format!("{name} of {function}") }
                    }
                    _ => String::new(),
                };
                self.objects.push(TrackedObject { name, owner: None });
                self.variables.insert(site, self.objects.len() as u32 - 1);
                self.objects.len() as u32 - 1
            }
        };
        self.objects[object as usize].owner = owner;
        object
    }

    fn declare(&mut self, stream: &mut EventStream, site: SiteRef, event: &StateEvent) {
        self.retire(stream.process, event.a, event.b);
        let object = self.variable(site, Some(stream.stack.running().serial));
        self.processes[stream.process].memory.place(event.a, event.b, object);
    }

    fn initialise(&mut self, stream: &mut EventStream, site: SiteRef, event: &StateEvent) {
        close_all(self, stream);
        self.declare(stream, site, event);
        let deps = stream.stack.top().deps.clone();
        let control = stream.stack.running().now();
        let copies =
            matches!(self.site(site), Some((_, StateSite { kind: SiteKind::Variable { copies: true, .. }, .. })));
        let read = stream.stack.running().read;
        if copies && read.1 == event.b {
            self.copy(stream, (event.a, read.0, event.b), &deps, control, None);
        } else {
            let node = self.node(deps, control, None);
            self.processes[stream.process].memory.set(event.a, event.b, node);
        }
    }

    /// Ends activities until the function of a site is the innermost one. Returns false if there is no such function.
    fn align(&mut self, stream: &mut EventStream, site: SiteRef) -> bool {
        let Some((_, described)) = self.site(site) else { return false };
        let function = Some(site >> 32 << 32 | u64::from(described.function));
        let ours =
            |what: &ActivityKind| matches!(what, ActivityKind::Function(running) if running.function == function);
        close_until(self, stream, ours)
    }
}

/// Ends activities until one that matches is the innermost. Returns false, and ends nothing, if there is none in this
/// function or, for functions, anywhere.
fn close_until(
    flow: &mut DependenceAnalysis<'_>,
    stream: &mut EventStream,
    fits: impl Fn(&ActivityKind) -> bool,
) -> bool {
    let Some(at) = stream.stack.frames.iter().rposition(|frame| fits(&frame.what)) else { return false };
    if at < stream.stack.function_at() && !matches!(stream.stack.frames[at].what, ActivityKind::Function(_)) {
        return false;
    }
    while stream.stack.frames.len() > at + 1 {
        flow.close(stream);
    }
    true
}

/// Ends the activities of the last statement.
fn begin_statement(flow: &mut DependenceAnalysis<'_>, stream: &mut EventStream) {
    close_all(flow, stream);
    stream.stack.top().deps.clear();
}

/// Ends all activities of the innermost function.
fn close_all(flow: &mut DependenceAnalysis<'_>, stream: &mut EventStream) {
    let at = stream.stack.function_at();
    while stream.stack.frames.len() > at + 1 {
        flow.close(stream);
    }
}
