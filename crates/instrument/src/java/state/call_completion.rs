//! Completion of calls: applies the effect of a call to the test's dependences and pushes its result.

use super::call_effect::{CallEffect, CallResult, ContentsRead, ContentsWrite};
use super::method_facts::{CallSite, DynamicCallResult, InsnOperand, MethodFacts};
use super::method_frames::{ActiveCall, FrameWait};
use super::test_execution::{HeapUpdate, ObjectId, TracedValue, UpdatedLocation};
use super::trace_interpreter::{RunningThread, TraceInterpreter};
use crate::state::{Deps, NONE};
use std::rc::Rc;

/// The nodes that the effect of a call depends on.
struct CallDependences {
    /// Everything that the call may read.
    all: Deps,
    /// The same without the element that the call replaces.
    without_element: Deps,
}

impl TraceInterpreter<'_> {
    /// Completes the innermost call, if its frame waits for that, and runs the frame on.
    pub(super) fn complete_pending_call(&mut self, running: &mut RunningThread<'_>) {
        if running.top().wait == FrameWait::Call {
            self.complete_call(running);
            self.run(running);
        }
    }

    /// Completes the innermost call.
    pub(super) fn complete_call(&mut self, running: &mut RunningThread<'_>) {
        let frame = running.top();
        let (facts, at) = (frame.facts.clone(), frame.at);
        let (Some(call), InsnOperand::Call(site)) = (frame.call.take(), &facts.sites[at]) else { return };
        frame.wait = FrameWait::Insn;
        let objects: Vec<ObjectId> = call.values.iter().map(|value| value.object.get()).collect();
        let receiver = objects.first().copied().filter(|_| site.has_receiver).unwrap_or(0);
        let was_verified = running.execution.verified_mocks.remove(&receiver);
        let effect = CallEffect::new(site, &call, receiver, was_verified, &self.classes, self.rules);
        let mut deps = self.call_dependences(running, (&facts, site), (&call, &objects), &effect.reads);
        if effect.asserts {
            running.execution.assert(&deps.all);
        }
        // The exception object itself is asserted only where a handler reads it.
        deps.all.push(call.thrown.what);
        if effect.verifies_next {
            running.execution.verified_mocks.extend(objects.first().filter(|object| **object != 0));
        }
        write_contents(running, (&call, &objects), &effect.writes, &deps);
        push_result(running, site, call, receiver, effect.result, deps.all);
        self.advance(running, at + 1);
    }

    /// Collects the nodes that the effect of a call depends on.
    fn call_dependences(
        &mut self,
        running: &mut RunningThread<'_>,
        (facts, site): (&Rc<MethodFacts>, &CallSite),
        (call, objects): (&ActiveCall, &[ObjectId]),
        reads: &ContentsRead,
    ) -> CallDependences {
        let execution = &running.execution;
        let mut all: Deps = call.values.iter().map(|value| value.node.get()).collect();
        let mut element = Deps::new();
        for (position, object) in objects.iter().enumerate() {
            match reads {
                ContentsRead::Nothing => {}
                ContentsRead::Element(key) if position == 0 => {
                    execution.contents.collect_entry_dependences(*object, key, &mut element);
                }
                ContentsRead::Element(_) | ContentsRead::Everything => {
                    execution.contents.collect_dependences(*object, &mut all);
                }
            }
        }
        all.extend([call.given_back, call.thrown.why]);
        let without_element = all.clone();
        all.extend(element);
        if site.makes == DynamicCallResult::RecordMember {
            let fields = self.classes.fields_of(&facts.class);
            for object in objects {
                all.extend(fields.iter().filter_map(|field| running.execution.fields.get(&(*object, *field))));
            }
        }
        CallDependences { all, without_element }
    }
}

/// Updates the contents of the arrays and containers that a call modifies.
fn write_contents(
    running: &mut RunningThread<'_>,
    (call, objects): (&ActiveCall, &[ObjectId]),
    writes: &ContentsWrite,
    deps: &CallDependences,
) {
    let positions = match writes {
        ContentsWrite::Nothing => 0..0,
        ContentsWrite::ReplacesElement(_) | ContentsWrite::UpdatesElement(_) | ContentsWrite::Receiver => 0..1,
        ContentsWrite::CopyDestination => 2..3,
        ContentsWrite::EveryArgument => 0..objects.len(),
    };
    for position in positions.filter(|position| objects[*position] != 0) {
        let (object, value) = (objects[position], &call.values[position]);
        let frame = running.top();
        let changed = UpdatedLocation::Contents {
            object,
            variable: frame.variable(value),
            is_array: *writes == ContentsWrite::CopyDestination,
            is_own: value.born == frame.serial,
        };
        let update = HeapUpdate { method: frame.facts.clone(), insn: frame.at, changed };
        let update = Some(update).filter(|_| !frame.initialises);
        let mut all = match writes {
            ContentsWrite::ReplacesElement(_) => deps.without_element.clone(),
            _ => deps.all.clone(),
        };
        all.extend([frame.now(), frame.entry]);
        let execution = &mut *running.execution;
        match writes {
            ContentsWrite::ReplacesElement(key) | ContentsWrite::UpdatesElement(key) => {
                let node = execution.changed(all, update);
                execution.contents.set_entry(object, key.clone(), node, objects);
            }
            _ => {
                all.push(execution.contents.content(object));
                let node = execution.changed(all, update);
                execution.contents.set_content(object, node, objects);
            }
        }
    }
}

/// Pushes the value that a call returns, or lets the object that it constructs depend on its arguments.
fn push_result(
    running: &mut RunningThread<'_>,
    site: &CallSite,
    call: ActiveCall,
    receiver: ObjectId,
    result: CallResult,
    mut deps: Deps,
) {
    let now = running.top().now();
    let execution = &mut *running.execution;
    let value = match (result, call.result) {
        (CallResult::Nothing, _) => return,
        (CallResult::ConstructedObject, _) => {
            let node = execution.all(deps);
            if let Some(constructed) = call.values.first() {
                constructed.node.set(node);
            }
            return;
        }
        (CallResult::Returned | CallResult::ReturnedQuery, Some(returned)) => {
            let mut all = vec![returned.node.get()];
            if result == CallResult::ReturnedQuery {
                all.push(execution.contents.content(receiver));
            }
            let node = execution.all(all);
            if node == returned.node.get() { returned } else { returned.with(node) }
        }
        _ => {
            // A static method without arguments: its value depends on the conditions under which it is called.
            deps.push(if call.values.is_empty() { now } else { NONE });
            let key = match result {
                CallResult::Boxed => call.values.first().and_then(|value| value.key.clone()),
                _ => None,
            };
            TracedValue::constant(execution.all(deps), key)
        }
    };
    running.top().push(value, site.result.is_wide());
}
