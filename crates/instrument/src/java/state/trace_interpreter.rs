//! The interpreter of traces: executes the methods of every thread on dependences, driven by events.
//!
//! A method runs until an instruction that emits events. The next event of its thread belongs to that instruction,
//! unless an exception left the method.

use super::function_objects::FunctionObjects;
use super::java_trace::{JavaEvent, JavaEventKind, JavaSlot, JavaTrace};
use super::method_facts::{InsnOperand, MethodFacts, PathStep};
use super::method_frames::{ActiveCall, EntryKind, FrameWait, MethodFrame, ThrownException};
use super::test_execution::{TestExecution, TracedValue, ValueRef};
use super::thread_ownership::{TracedThread, UNATTRIBUTED, ended_helper};
use super::traced_classes::{FieldNumber, TracedClasses};
use crate::state::{ModifiedState, NONE, NodeId, StateRules};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use touchstone_front_java::classfile::Insn;
use touchstone_probes_java::InsnEvent;

/// The test that an execution belongs to.
pub(crate) enum TestOwner {
    Test(String),
    /// None: the process before its first test.
    Process,
    /// One of several concurrent tests.
    Unattributed,
}

/// The result of one test.
pub(crate) struct TestStateResult {
    pub owner: TestOwner,
    pub uses: Vec<ModifiedState>,
    pub asserts: bool,
    /// True if events were dropped.
    pub is_cut_off: bool,
    /// True if threads that belong to no known test ran concurrently.
    pub has_unattributed_threads: bool,
}

/// The interpreter of a trace.
pub(super) struct TraceInterpreter<'a> {
    pub classes: TracedClasses,
    pub rules: &'a StateRules,
    unit_of: &'a dyn Fn(u64) -> usize,
    pub executions: FxHashMap<usize, Box<TestExecution>>,
    /// The execution of the test that began last.
    pub current: usize,
    pub next_execution: usize,
    pub threads: FxHashMap<u32, Box<TracedThread>>,
    pub functions: FunctionObjects,
    serial: u64,
    judged: Vec<TestStateResult>,
    /// The numbers of the running tests.
    pub running: Vec<u32>,
    pub owners: FxHashMap<u32, usize>,
    /// True once tests have run concurrently.
    pub tests_overlap: bool,
    /// For each helper thread that ended before its test, the test.
    pub ended_helpers: FxHashMap<u32, u32>,
    /// The number of incomplete tests, up to the last mark.
    pub left_out: u64,
    /// A digest of the constant keys that selected elements of containers since it was last reset.
    pub used_keys: u64,
    /// The number of interpreted repeated events that no test counts yet.
    pub repeated_events: u64,
    /// The number of events that matched no frame.
    pub unmatched_events: u64,
}

/// The frames of a thread, and the execution that it is attributed to.
pub(super) struct RunningThread<'r> {
    pub frames: &'r mut Vec<MethodFrame>,
    pub execution: &'r mut TestExecution,
    /// The objects that its constructors allocated.
    pub new_objects: &'r mut Vec<u32>,
}

impl RunningThread<'_> {
    pub fn top(&mut self) -> &mut MethodFrame {
        self.frames.last_mut().expect("invariant: a method runs while it is traced")
    }

    /// Returns true if the innermost method allocated the object of a value. The body of a lambda expression is part of
    /// the method that contains it.
    pub fn is_own(&mut self, value: &ValueRef) -> bool {
        let allocator = match value.born {
            0 => self.execution.allocators.get(&value.object.get()).copied().unwrap_or(0),
            born => born,
        };
        let mut inner = self.frames.iter().rev().skip_while(|frame| frame.facts.is_lambda());
        let Some(top) = self.frames.last() else { return false };
        top.serial == allocator
            || (top.facts.is_lambda()
                && inner.any(|frame| frame.serial == allocator && Rc::ptr_eq(&frame.facts.class, &top.facts.class)))
    }
}

impl<'a> TraceInterpreter<'a> {
    /// Interprets a trace. Returns the results of its tests, and the number of events that matched no frame.
    pub fn follow(
        classes: TracedClasses,
        rules: &'a StateRules,
        unit_of: &'a dyn Fn(u64) -> usize,
        trace: &JavaTrace,
    ) -> (Vec<TestStateResult>, u64) {
        let mut interpreter = TraceInterpreter {
            classes,
            rules,
            unit_of,
            executions: FxHashMap::from_iter([(0, Box::default())]),
            current: 0,
            next_execution: 1,
            threads: FxHashMap::default(),
            functions: FunctionObjects::default(),
            serial: 0,
            judged: Vec::new(),
            running: Vec::new(),
            owners: FxHashMap::default(),
            tests_overlap: false,
            ended_helpers: trace.events().filter_map(ended_helper).collect(),
            left_out: 0,
            used_keys: 0,
            repeated_events: 0,
            unmatched_events: 0,
        };
        for index in 0..trace.slots() {
            match trace.slot(index) {
                JavaSlot::Event(event) => interpreter.event(&event),
                JavaSlot::Repetition { .. } => interpreter.repeat(trace, index),
                JavaSlot::Stride { .. } | JavaSlot::Unused => {}
            }
        }
        // Events that were dropped after the last mark belong to tests that were still running.
        if trace.left_out > interpreter.left_out {
            interpreter.executions.values_mut().for_each(|execution| execution.is_cut_off = true);
        }
        for mut thread in std::mem::take(&mut interpreter.threads).into_values() {
            interpreter.finish_frames(&mut thread, 0);
        }
        let mut left: Vec<usize> = interpreter.executions.keys().copied().collect();
        left.sort_unstable();
        left.into_iter().for_each(|execution| interpreter.finish(execution));
        (interpreter.judged, interpreter.unmatched_events)
    }

    pub fn finish(&mut self, number: usize) {
        let Some(execution) = self.executions.remove(&number) else { return };
        let uses = execution.uses(&self.classes, self.unit_of);
        if execution.name.is_some() || !uses.is_empty() || execution.asserts {
            let (asserts, is_cut_off) = (execution.asserts, execution.is_cut_off);
            let (owner, has_unattributed_threads) = match execution.name {
                Some(name) => (TestOwner::Test(name), execution.has_unattributed_threads),
                None if number == UNATTRIBUTED => (TestOwner::Unattributed, true),
                None => (TestOwner::Process, execution.has_unattributed_threads),
            };
            self.judged.push(TestStateResult { owner, uses, asserts, is_cut_off, has_unattributed_threads });
        }
    }

    pub fn event(&mut self, event: &JavaEvent) {
        let mut thread = self.threads.remove(&event.thread).unwrap_or_default();
        if event.kind == JavaEventKind::Mark {
            self.mark(&mut thread, event);
        } else {
            if !self.executions.contains_key(&thread.execution) || (!thread.has_own && thread.frames.is_empty()) {
                let execution = self.execution_of(&thread);
                self.join(&mut thread, execution);
            }
            if thread.execution == UNATTRIBUTED && !thread.had_own {
                for execution in self.running.iter().filter_map(|owner| self.owners.get(owner)) {
                    if let Some(execution) = self.executions.get_mut(execution) {
                        execution.has_unattributed_threads = true;
                    }
                }
            }
            let mut execution = self.executions.remove(&thread.execution).unwrap_or_default();
            self.step(
                &mut RunningThread {
                    frames: &mut thread.frames,
                    execution: &mut execution,
                    new_objects: &mut thread.new_objects,
                },
                event,
            );
            self.executions.insert(thread.execution, execution);
        }
        self.threads.insert(event.thread, thread);
    }

    /// Ends the frames of a test from an index on. If the test must throw an exception, that is an assertion about the
    /// reasons for it.
    pub fn finish_frames(&mut self, thread: &mut TracedThread, from: usize) {
        let expects = |(position, frame): &(usize, &MethodFrame)| *position >= from && frame.facts.expects_exception();
        let Some((position, _)) = thread.frames.iter().enumerate().rfind(expects) else { return };
        let Some(mut execution) = self.executions.remove(&thread.execution) else { return };
        let mut running = RunningThread {
            frames: &mut thread.frames,
            execution: &mut execution,
            new_objects: &mut thread.new_objects,
        };
        self.unwind(&mut running, position);
        self.complete_thrown_construction(&mut running);
        if let Some(mut left) = running.frames.pop() {
            let thrown = take_exception(&mut left, running.execution);
            running.execution.assert(&[thrown.why]);
        }
        self.executions.insert(thread.execution, execution);
    }

    fn step(&mut self, running: &mut RunningThread<'_>, event: &JavaEvent) {
        match event.kind {
            JavaEventKind::Mark => {}
            JavaEventKind::Enter => self.enter(running, event),
            JavaEventKind::Init => {
                if let Some(frame) = running.frames.iter_mut().rfind(|frame| frame.method == event.method) {
                    frame.object = event.object();
                    frame.local(0).object.set(event.object());
                    if !frame.initialises {
                        running.execution.allocated.insert(event.object());
                    }
                    if running.frames.first().is_some_and(MethodFrame::is_constructor) {
                        running.new_objects.push(event.object());
                    }
                    self.stores_before_init(running);
                }
            }
            JavaEventKind::More => {
                let waits = |frame: &&mut MethodFrame| frame.method == event.method && frame.at == event.insn;
                if let Some(frame) = running.frames.last_mut().filter(waits) {
                    bind_references(frame, &[event.object(), event.second()]);
                    self.bind_call_objects(running);
                }
            }
            JavaEventKind::Block => self.block(running, event),
            JavaEventKind::At | JavaEventKind::On | JavaEventKind::In | JavaEventKind::Two => {
                if !self.unwind_to_event(running, event) {
                    self.unmatched_events += u64::from(!running.execution.is_cut_off);
                    return;
                }
                self.complete_pending_call(running);
                if running.top().at != event.insn {
                    // The trace has a gap: continue at the event's instruction.
                    self.unmatched_events += u64::from(!running.execution.is_cut_off);
                    let frame = running.top();
                    (frame.at, frame.wait) = (event.insn.min(frame.facts.sites.len() - 1), FrameWait::Insn);
                }
                self.execute_recorded(running, event);
                self.run(running);
            }
        }
    }

    /// Executes the assignments of fields from before the object had an identity.
    fn stores_before_init(&mut self, running: &mut RunningThread<'_>) {
        let (frame, stores_before_init) = {
            let frame = running.top();
            let stores_before_init = std::mem::take(&mut frame.stores_before_init);
            (frame.object, stores_before_init)
        };
        for (insn, value) in stores_before_init {
            self.put_field(running, insn, frame, &ValueRef::default(), &value);
        }
    }

    /// Unwinds the stack to the frame that an event belongs to. Returns false if there is none.
    fn unwind_to_event(&mut self, running: &mut RunningThread<'_>, event: &JavaEvent) -> bool {
        let fits = |frame: &MethodFrame| {
            frame.method == event.method && (frame.wait == FrameWait::Call || frame.at == event.insn)
        };
        let is_it = |frame: &MethodFrame| frame.method == event.method;
        let frames = &running.frames;
        let found = frames.iter().rposition(fits).or_else(|| frames.iter().rposition(is_it));
        let Some(position) = found else { return false };
        self.unwind(running, position);
        true
    }

    /// Leaves the frames above an index by an exception.
    fn unwind(&mut self, running: &mut RunningThread<'_>, to: usize) {
        while running.frames.len() > to + 1 {
            self.complete_thrown_construction(running);
            let Some(mut left) = running.frames.pop() else { return };
            let thrown = take_exception(&mut left, running.execution);
            assert_skipped_failure(&left, running.execution, thrown, None);
            let below = running.frames.last_mut();
            if let Some(call) = below.and_then(|below| below.call.as_mut()) {
                call.thrown = call.thrown.and(running.execution, thrown);
            }
        }
    }

    /// Completes the construction of an exception that the innermost method then throws: no event separates the two.
    fn complete_thrown_construction(&mut self, running: &mut RunningThread<'_>) {
        let frame = running.top();
        let waits = frame.wait == FrameWait::Call && frame.call.as_ref().is_some_and(|call| !call.entered);
        let (followed, mut at) = (&frame.facts.followed, frame.at + 1);
        while followed.insns().get(at).is_some_and(|insn| insn.insn.targets().is_empty() && !insn.insn.ends())
            && !followed.records_event(at)
        {
            at += 1;
        }
        if waits && matches!(followed.insns().get(at).map(|insn| &insn.insn), Some(Insn::Throw)) {
            self.complete_pending_call(running);
        }
    }

    fn block(&mut self, running: &mut RunningThread<'_>, event: &JavaEvent) {
        let block_of = |frame: &MethodFrame| frame.facts.followed.block_of(event.insn.min(frame.facts.sites.len() - 1));
        // All frames of a method have the same code: one suffices, even in a deep recursion.
        let known = running.frames.iter().rfind(|frame| frame.method == event.method);
        let handler = known.map(block_of).filter(|block| known.is_some_and(|frame| frame.facts.is_handler(*block)));
        let catches = |block: usize| {
            move |frame: &MethodFrame| frame.method == event.method && frame.facts.catches(frame.at, block)
        };
        if let Some(block) = handler
            && let Some(position) = running.frames.iter().rposition(catches(block))
        {
            self.unwind(running, position);
            self.enter_handler(running, event);
            return;
        }
        let waits = |frame: &MethodFrame| frame.method == event.method && frame.wait != FrameWait::Insn;
        let Some(position) = running.frames.iter().rposition(waits) else {
            self.unmatched_events += u64::from(!running.execution.is_cut_off);
            return;
        };
        self.unwind(running, position);
        self.complete_pending_call(running);
        let RunningThread { frames, execution, .. } = running;
        let frame = frames.last_mut().expect("invariant: it was found");
        let block = block_of(frame);
        let asked = frame.facts.followed.block_of(frame.at);
        let condition = std::mem::take(&mut frame.chosen);
        if let Some(choice) = frame.facts.clone().branches.get(&asked)
            && frame.facts.followed.block_range(asked).1 == frame.at
        {
            if choice.asserts {
                execution.assert(&[condition]);
            }
            frame.add_condition(execution, asked, choice.until, condition);
        }
        frame.enter_block(execution, block);
        (frame.at, frame.wait) = (frame.facts.followed.block_range(block).0, FrameWait::Insn);
        self.run(running);
    }

    /// Enters an exception handler.
    fn enter_handler(&mut self, running: &mut RunningThread<'_>, event: &JavaEvent) {
        self.complete_thrown_construction(running);
        let RunningThread { frames, execution, .. } = running;
        let frame = frames.last_mut().expect("invariant: it was found");
        let thrown = take_exception(frame, execution);
        let (from, block) = (frame.facts.followed.block_of(frame.at), frame.facts.followed.block_of(event.insn));
        let until = frame.facts.common_post_dominator(from, block).filter(|joined| *joined != block);
        assert_skipped_failure(frame, execution, thrown, until);
        frame.stack.clear();
        frame.call = None;
        frame.enter_block(execution, block);
        // A number above all blocks: the condition belongs to no branch.
        frame.add_condition(execution, frame.facts.followed.blocks() + block, until, thrown.why);
        let node = execution.both(thrown.why, thrown.what);
        frame.push(TracedValue::of(node), false);
        (frame.at, frame.wait) = (frame.facts.followed.block_range(block).0, FrameWait::Insn);
        self.run(running);
    }

    fn enter(&mut self, running: &mut RunningThread<'_>, event: &JavaEvent) {
        let Some(facts) = self.classes.method(event.method, self.rules) else { return };
        if !facts.is_numbered.replace(true) {
            for (way, insn) in facts.branches.values().flat_map(|choice| &choice.fields) {
                self.field(&facts, *insn);
                for step in way {
                    if let PathStep::Field(insn) = step {
                        self.field(&facts, *insn);
                    }
                }
            }
        }
        self.serial += 1;
        if running.frames.is_empty() && &**facts.name() != "<init>" {
            running.new_objects.clear();
        }
        // Frames that an exception left inside of library code stay on the stack until their caller calls again.
        let (mut values, mut entry, mut entered) = (Vec::new(), NONE, EntryKind::Untraced);
        let initialises =
            &**facts.name() == "<clinit>" || running.frames.last().is_some_and(|caller| caller.initialises);
        if &**facts.name() != "<clinit>"
            && let Some(caller) = running.frames.last_mut()
            && caller.call.is_some()
        {
            entry = running.execution.both(caller.entry, caller.now());
            let selected;
            (values, entered, selected) = self.arguments_for(running, &facts);
            entry = running.execution.both(entry, selected);
        }
        let frame = running.frames.last_mut();
        if let Some(call) = frame.and_then(|frame| frame.call.as_mut()) {
            call.entered |= entered == EntryKind::Direct;
            call.called_back |= entered == EntryKind::Callback;
        }
        let mut frame = MethodFrame {
            method: event.method,
            at: 0,
            wait: FrameWait::Insn,
            locals: Vec::new(),
            stack: Vec::new(),
            controls: Vec::new(),
            entry,
            serial: self.serial,
            entered,
            initialises,
            call: None,
            chosen: NONE,
            thrown: ThrownException::default(),
            stores_before_init: Vec::new(),
            object: event.object(),
            facts: facts.clone(),
        };
        let mut local = 0;
        values.resize_with(facts.params.len(), ValueRef::default);
        for (value, wide) in values.into_iter().zip(&facts.params) {
            frame.set_local(local, value, *wide);
            local += if *wide { 2 } else { 1 };
        }
        if event.object() != 0 {
            frame.local(0).object.set(event.object());
        }
        running.frames.push(frame);
        self.run(running);
    }

    /// Returns the arguments for a method from the active call of its caller, its relation to the caller, and the node
    /// of what selected the method.
    fn arguments_for(
        &mut self,
        running: &mut RunningThread<'_>,
        facts: &Rc<MethodFacts>,
    ) -> (Vec<ValueRef>, EntryKind, NodeId) {
        let RunningThread { frames, execution, .. } = running;
        let caller = frames.last_mut().expect("invariant: there is a caller");
        let Some(call) = &caller.call else { return (Vec::new(), EntryKind::Untraced, NONE) };
        if let InsnOperand::Call(site) = &caller.facts.sites[caller.at]
            && site.member.name == *facts.name()
            && site.member.desc == *facts.desc()
            && (&**facts.name() != "<init>" || site.member.class == facts.class.class.name)
        {
            return (call.values.clone(), EntryKind::Direct, call.selected_by(site));
        }
        // A callback may receive anything that the library method received.
        let mut all: Vec<NodeId> = call.values.iter().map(|value| value.node.get()).collect();
        call.values.iter().for_each(|value| execution.contents.collect_dependences(value.object.get(), &mut all));
        let all = execution.all(all);
        let mut values: Vec<ValueRef> = facts.params.iter().map(|_| TracedValue::of(all)).collect();
        let functions = call.values.iter().filter_map(|value| self.functions.of(value));
        let captured = functions.filter_map(|function| function.captured_by(facts, &execution.identity, all)).next();
        values.iter_mut().zip(captured.unwrap_or_default()).for_each(|(value, known)| *value = known);
        (values, EntryKind::Callback, all)
    }

    /// Executes instructions until one emits events.
    pub fn run(&mut self, running: &mut RunningThread<'_>) {
        loop {
            let Some(frame) = running.frames.last_mut() else { return };
            if frame.wait != FrameWait::Insn || frame.facts.sites.get(frame.at).is_none() {
                return;
            }
            match frame.facts.followed.event(frame.at) {
                InsnEvent::None => self.execute_unrecorded(running),
                InsnEvent::Implied => {
                    let (method, insn) = (frame.method, frame.at);
                    let what = u64::from(frame.local(0).object.get());
                    self.execute_recorded(
                        running,
                        &JavaEvent { kind: JavaEventKind::On, thread: 0, method, insn, what },
                    );
                }
                _ => return,
            }
        }
    }

    /// Continues at an instruction.
    pub fn advance(&mut self, running: &mut RunningThread<'_>, to: usize) {
        let RunningThread { frames, execution, .. } = running;
        let frame = frames.last_mut().expect("invariant: a method runs");
        let facts = frame.facts.clone();
        if to >= facts.sites.len() {
            frame.wait = FrameWait::Block;
            return;
        }
        let block = facts.followed.block_of(to);
        if facts.followed.block_range(block).0 != to {
            frame.at = to;
        } else if facts.followed.records_block(block) {
            frame.wait = FrameWait::Block;
        } else {
            frame.enter_block(execution, block);
            frame.at = to;
        }
    }

    /// Returns the number of the field that an instruction accesses.
    pub fn field(&mut self, facts: &MethodFacts, insn: usize) -> Option<FieldNumber> {
        let InsnOperand::Field(site) = &facts.sites[insn] else { return None };
        Some(*site.number.get_or_init(|| self.classes.field(&site.member.class, &site.member.name)))
    }
}

/// Takes the exception from a frame that it leaves or that catches it.
fn take_exception(frame: &mut MethodFrame, execution: &mut TestExecution) -> ThrownException {
    let now = frame.now();
    let thrown = std::mem::take(&mut frame.thrown);
    let mut why = vec![thrown.why, now];
    match &frame.call {
        Some(call) => {
            // A library method may throw because of any of its arguments.
            if !call.entered {
                why.extend(call.values.iter().map(|value| value.node.get()));
                why.push(call.given_back);
            } else if let InsnOperand::Call(site) = &frame.facts.sites[frame.at] {
                why.push(call.selected_by(site));
            }
            why.push(call.thrown.why);
            ThrownException { why: execution.all(why), what: execution.both(thrown.what, call.thrown.what) }
        }
        None => {
            // The operands of an instruction decide whether it throws, except for `athrow`.
            let is_throw = matches!(frame.facts.followed.insns()[frame.at].insn, Insn::Throw);
            if !is_throw {
                why.extend(frame.stack.iter().map(|value| value.node.get()));
            }
            ThrownException { why: execution.all(why), what: thrown.what }
        }
    }
}

/// If an exception skips the report of a failure, the reasons for which it is thrown are asserted.
fn assert_skipped_failure(
    frame: &MethodFrame,
    execution: &mut TestExecution,
    thrown: ThrownException,
    until: Option<usize>,
) {
    if frame.facts.fails_after(frame.at, until) {
        execution.assert(&[thrown.why]);
    }
}

/// Binds the references of a call to the objects of an event.
pub(super) fn bind_references(frame: &mut MethodFrame, objects: &[u32]) {
    let InsnEvent::Call(positions) = frame.facts.followed.event(frame.at) else { return };
    let Some(ActiveCall { values, told, .. }) = &mut frame.call else { return };
    for (position, object) in positions.iter().skip(*told).zip(objects) {
        if let Some(value) = values.get(*position) {
            value.object.set(*object);
        }
        *told += 1;
    }
}
