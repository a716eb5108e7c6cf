//! Completion of calls: applies the effect of a call to the test's dependences and pushes its result.

use super::call_effect::{CallEffect, CallResult, ContentsRead, ContentsWrite};
use super::function_objects::FunctionObject;
use super::library_models::{calls_functions, is_container};
use super::method_facts::{CallSite, DynamicCallResult, InsnOperand, MethodFacts};
use super::method_frames::{ActiveCall, FrameWait};
use super::test_execution::{ContentsKind, HeapUpdate, ObjectId, TracedValue, UpdatedLocation, ValueRef};
use super::trace_interpreter::{RunningThread, TraceInterpreter};
use super::traced_classes::FieldNumber;
use crate::state::{Deps, NONE};
use std::rc::Rc;
use touchstone_front_java::classfile::MemberRef;

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
        let known = (&self.functions, self.rules);
        let effect = CallEffect::new(site, &call, receiver, was_verified, &self.classes, known);
        if let ContentsRead::Element(key) = &effect.reads {
            self.used_keys = key.digest(self.used_keys);
        }
        let mut deps = self.call_dependences(running, (&facts, site), (&call, &objects), &effect.reads);
        if effect.asserts {
            running.execution.assert(&deps.all);
        }
        // The exception object itself is asserted only where a handler reads it.
        deps.all.push(call.thrown.what);
        if effect.verifies_next {
            // Mockito's `verify(mock)` is static, that of `InOrder` is not.
            let mock = objects.get(usize::from(site.has_receiver));
            running.execution.verified_mocks.extend(mock.filter(|object| **object != 0));
        }
        let kind = match is_container(&site.member, self.rules) {
            _ if effect.writes == ContentsWrite::CopyDestination => ContentsKind::Array,
            true => ContentsKind::Container(site.member.class.clone()),
            false => ContentsKind::Other,
        };
        write_contents(running, (&call, &objects), (&effect.writes, kind), &deps);
        if !call.entered && effect.result != CallResult::Function {
            self.call_functions(running, site, &call, &deps);
        }
        self.push_result(running, site, call, effect.result, deps.all);
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
        let execution = &mut *running.execution;
        let mut all: Deps = call.values.iter().map(|value| execution.whole(value)).collect();
        // A function may read what it captured.
        if !call.entered && *reads != ContentsRead::Nothing {
            let functions = call.values.iter().filter_map(|value| self.functions.of(value));
            let captured = functions.flat_map(|function| function.objects());
            captured.for_each(|object| execution.contents.collect_dependences(object, &mut all));
        }
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

    /// Applies the effects of method references that a library method calls.
    fn call_functions(
        &mut self,
        running: &mut RunningThread<'_>,
        site: &CallSite,
        call: &ActiveCall,
        deps: &CallDependences,
    ) {
        if !calls_functions(&site.member) {
            return;
        }
        for value in &call.values {
            let Some((captured, class)) = self.functions.of(value).and_then(|function| function.modified()) else {
                continue;
            };
            let member = MemberRef { class: class.clone(), ..site.member.clone() };
            let kind = match is_container(&member, self.rules) {
                true => ContentsKind::Container(class.clone()),
                false => ContentsKind::Other,
            };
            let captured: ValueRef = captured.clone();
            let modified = ActiveCall { values: vec![captured.clone()], ..ActiveCall::default() };
            write_contents(running, (&modified, &[captured.object.get()]), (&ContentsWrite::Receiver, kind), deps);
        }
    }

    /// Pushes the value that a call returns, or lets the object that it constructs depend on its arguments.
    fn push_result(
        &mut self,
        running: &mut RunningThread<'_>,
        site: &CallSite,
        call: ActiveCall,
        result: CallResult,
        mut deps: Deps,
    ) {
        let now = running.top().now();
        let receiver = call.values.first().map_or(0, |value| value.object.get());
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
            (CallResult::Copy, _) => {
                let copied = execution.copy_of(receiver, self.classes.fields.len() as FieldNumber);
                let (node, born) = (execution.all(deps).into(), running.top().serial);
                Rc::new(TracedValue { node, born, copied: Some(Rc::new(copied)), ..TracedValue::default() })
            }
            (CallResult::Function, _) => {
                let function = match &site.makes {
                    DynamicCallResult::Function(of) => {
                        let identity = execution.identity.clone();
                        Some(FunctionObject::new(of, &call.values, identity, (&self.classes, self.rules)))
                    }
                    _ => None,
                };
                deps.push(now);
                let node = execution.all(deps).into();
                Rc::new(TracedValue { node, function, ..TracedValue::default() })
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
}

/// Updates the contents of the arrays and containers that a call modifies.
fn write_contents(
    running: &mut RunningThread<'_>,
    (call, objects): (&ActiveCall, &[ObjectId]),
    (writes, kind): (&ContentsWrite, ContentsKind),
    deps: &CallDependences,
) {
    let positions = match writes {
        ContentsWrite::Nothing => 0..0,
        ContentsWrite::ReplacesElement(_)
        | ContentsWrite::UpdatesElement(_)
        | ContentsWrite::Receiver
        | ContentsWrite::Influence => 0..1,
        ContentsWrite::CopyDestination => 2..3,
        ContentsWrite::EveryArgument => 0..objects.len(),
    };
    for position in positions.filter(|position| objects[*position] != 0) {
        let (object, value) = (objects[position], &call.values[position]);
        let is_own = running.is_own(value);
        let frame = running.top();
        let variable = frame.variable(value);
        let changed = UpdatedLocation::Contents { object, variable, kind: kind.clone(), is_own };
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
            ContentsWrite::Influence => execution.influenced(object, all),
            _ => {
                all.push(execution.contents.content(object));
                let node = execution.changed(all, update);
                execution.contents.set_content(object, node, objects);
            }
        }
    }
}
