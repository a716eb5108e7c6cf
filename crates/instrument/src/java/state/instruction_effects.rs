//! The effects of single instructions on dependences.

use super::java_trace::{JavaEvent, JavaEventKind};
use super::method_facts::InsnOperand;
use super::method_frames::{ActiveCall, EntryKind, FrameWait, ThrownException};
use super::operand_stack::shuffle_stack;
use super::test_execution::{
    ContainerKey, ContentsKind, FieldOrigin, HeapUpdate, ObjectId, TracedValue, UpdatedLocation, ValueRef,
};
use super::trace_interpreter::{RunningThread, TraceInterpreter, bind_references};
use super::traced_classes::FieldNumber;
use crate::state::{NONE, NodeId};
use std::rc::Rc;
use touchstone_front_java::classfile::{Arith, ArrayKind, Convert, Desc, Insn, SlotKind as Held};

impl TraceInterpreter<'_> {
    /// Executes an instruction that emits no event.
    pub(super) fn execute_unrecorded(&mut self, running: &mut RunningThread<'_>) {
        let frame = running.top();
        let (facts, at, serial) = (frame.facts.clone(), frame.at, frame.serial);
        let now = frame.now();
        match &facts.followed.insns()[at].insn {
            Insn::Goto(target) => {
                let to = facts.followed.index(*target).unwrap_or(at + 1);
                self.advance(running, to);
                return;
            }
            Insn::If(..) | Insn::IfNull(..) | Insn::Switch(..) => {
                frame.chosen = frame.pop().node.get();
                frame.wait = FrameWait::Block;
                return;
            }
            Insn::IfInts(..) | Insn::IfRefs(..) => {
                let (one, other) = (frame.pop().node.get(), frame.pop().node.get());
                frame.wait = FrameWait::Block;
                let chosen = running.execution.both(one, other);
                running.top().chosen = chosen;
                return;
            }
            Insn::Throw => {
                frame.thrown = ThrownException { why: now, what: frame.pop().node.get() };
                frame.wait = FrameWait::Block;
                return;
            }
            Insn::Null | Insn::PushFloat(_) => frame.push(TracedValue::of(now), false),
            Insn::PushInt(number) => frame.push(TracedValue::constant(now, Some(ContainerKey::Number(*number))), false),
            Insn::PushLong(_) | Insn::PushDouble(_) => frame.push(TracedValue::of(now), true),
            Insn::Constant(_) => match &facts.sites[at] {
                InsnOperand::Constant(key) => frame.push(TracedValue::constant(now, Some(key.clone())), false),
                site => frame.push(TracedValue::of(now), matches!(site, InsnOperand::Wide)),
            },
            Insn::New(_) => {
                frame.push(Rc::new(TracedValue { node: now.into(), born: serial, ..TracedValue::default() }), false);
            }
            Insn::NewArray(_) | Insn::NewRefArray(_) | Insn::NewMultiArray(..) => {
                let count = match &facts.followed.insns()[at].insn {
                    Insn::NewMultiArray(_, dimensions) => usize::from(*dimensions),
                    _ => 1,
                };
                let mut deps: Vec<u32> = (0..count).map(|_| frame.pop().node.get()).collect();
                deps.push(now);
                let node = running.execution.all(deps);
                let made = TracedValue { node: node.into(), born: serial, ..TracedValue::default() };
                running.top().push(Rc::new(made), false);
            }
            Insn::Load(kind, local) => {
                let value = frame.local(*local);
                frame.push(value, kind.is_wide());
            }
            Insn::Store(kind, local) => {
                let value = frame.take(kind.is_wide());
                let stored = match now {
                    NONE => value,
                    now => value.with(running.execution.both(value.node.get(), now)),
                };
                running.top().set_local(*local, stored, kind.is_wide());
            }
            Insn::Increment(local, by) => {
                let value = frame.local(*local);
                let key = match &value.key {
                    Some(ContainerKey::Number(number)) => {
                        Some(ContainerKey::Number(number.wrapping_add(i32::from(*by))))
                    }
                    _ => None,
                };
                let stored = TracedValue::constant(running.execution.both(value.node.get(), now), key);
                running.top().set_local(*local, stored, false);
            }
            Insn::Arith(operation, kind) => {
                let shifts = matches!(operation, Arith::Shl | Arith::Shr | Arith::Ushr);
                let other = frame.take(kind.is_wide() && !shifts);
                let one = frame.take(kind.is_wide());
                let node = running.execution.both(one.node.get(), other.node.get());
                running.top().push(TracedValue::of(node), kind.is_wide());
            }
            Insn::Compare(kind, _) => {
                let (other, one) = (frame.take(kind.is_wide()), frame.take(kind.is_wide()));
                let node = running.execution.both(one.node.get(), other.node.get());
                running.top().push(TracedValue::of(node), false);
            }
            Insn::Convert(convert) => {
                let value = frame.take(convert.from().is_wide());
                let to = match convert {
                    Convert::Kinds(_, to) => *to,
                    _ => Held::Int,
                };
                let value = if value.key.is_some() { TracedValue::of(value.node.get()) } else { value };
                frame.push(value, to.is_wide());
            }
            Insn::ArrayLength | Insn::InstanceOf(_) => {
                let node = frame.pop().node.get();
                frame.push(TracedValue::of(node), false);
            }
            Insn::Neg(kind) => {
                let node = frame.take(kind.is_wide()).node.get();
                frame.push(TracedValue::of(node), kind.is_wide());
            }
            Insn::GetStatic(_) => {
                let Some(field) = self.field(&facts, at) else { return self.advance(running, at + 1) };
                let held = running.execution.statics.get(&field).copied().unwrap_or(NONE);
                let node = self.with_initial_state(running, held, 0, field);
                self.push_field(running, at, node, FieldOrigin { object: 0, field, depth: 0 });
            }
            // A constructor may write fields before it calls another constructor; the object has no identity yet.
            Insn::PutField(_) => {
                let value = frame.take(is_wide(&facts.sites[at]));
                frame.pop();
                frame.stores_before_init.push((at, value));
            }
            Insn::Pop | Insn::MonitorEnter | Insn::MonitorExit => drop(frame.pop()),
            Insn::Pop2 => drop((frame.pop(), frame.pop())),
            Insn::Dup | Insn::DupX1 | Insn::DupX2 | Insn::Dup2 | Insn::Dup2X1 | Insn::Dup2X2 | Insn::Swap => {
                shuffle_stack(&facts.followed.insns()[at].insn, &mut running.top().stack);
            }
            _ => {}
        }
        self.advance(running, at + 1);
    }

    /// Executes an instruction that emitted an event, or whose event is implied.
    pub(super) fn execute_recorded(&mut self, running: &mut RunningThread<'_>, event: &JavaEvent) {
        let frame = running.top();
        let (facts, at) = (frame.facts.clone(), frame.at);
        let now = frame.now();
        match &facts.followed.insns()[at].insn {
            Insn::GetField(_) => {
                let (receiver, object) = (frame.pop(), event.object());
                self.bind_object(running, &receiver, object);
                let Some(field) = self.field(&facts, at) else { return };
                let held = running.execution.fields.get(&(object, field)).copied().unwrap_or(NONE);
                let held = self.with_initial_state(running, held, object, field);
                let node = running.execution.both(held, receiver.node.get());
                self.push_field(running, at, node, FieldOrigin { object, field, depth: 0 });
            }
            Insn::PutField(_) => {
                let value = frame.take(is_wide(&facts.sites[at]));
                let receiver = frame.pop();
                self.bind_object(running, &receiver, event.object());
                self.put_field(running, at, event.object(), &receiver, &value);
            }
            Insn::PutStatic(_) => {
                let value = frame.take(is_wide(&facts.sites[at]));
                let (entry, initialises) = (frame.entry, frame.initialises);
                let Some(field) = self.field(&facts, at) else { return };
                let whole = running.execution.whole(&value);
                let is_state = self.classes.fields[field as usize].is_state && !initialises;
                let update = is_state.then(|| HeapUpdate {
                    method: facts.clone(),
                    insn: at,
                    changed: UpdatedLocation::Static(field),
                });
                let node = running.execution.changed(vec![whole, now, entry], update);
                running.execution.statics.insert(field, node);
                self.store_reference(running, &value, FieldOrigin { object: 0, field, depth: 0 });
            }
            Insn::ArrayLoad(array) => {
                let (index, held) = (frame.pop(), frame.pop());
                let object = event.object();
                self.bind_object(running, &held, object);
                let mut deps = running.execution.contents.element(object, event.second());
                deps.extend([index.node.get(), held.node.get()]);
                let node = running.execution.all(deps);
                let deeper = held.origin.get().map(|origin| FieldOrigin { depth: origin.depth + 1, ..origin });
                let origin = deeper.filter(|_| *array == ArrayKind::Ref);
                let value = TracedValue { node: node.into(), origin: origin.into(), ..TracedValue::default() };
                running.top().push(Rc::new(value), matches!(array, ArrayKind::Long | ArrayKind::Double));
            }
            Insn::ArrayStore(array) => {
                let value = frame.take(matches!(array, ArrayKind::Long | ArrayKind::Double));
                let (index, held) = (frame.pop(), frame.pop());
                let (entry, initialises) = (frame.entry, frame.initialises);
                let variable = frame.variable(&held);
                let object = event.object();
                self.bind_object(running, &held, object);
                let (is_own, whole) = (running.is_own(&held), running.execution.whole(&value));
                let changed = UpdatedLocation::Contents { object, variable, kind: ContentsKind::Array, is_own };
                let update = (!initialises).then(|| HeapUpdate { method: facts.clone(), insn: at, changed });
                let deps = vec![whole, index.node.get(), held.node.get(), now, entry];
                let node = running.execution.changed(deps, update);
                running.execution.contents.set_element(object, event.second(), node);
            }
            Insn::Return(kind) => return self.leave(running, *kind),
            _ => return self.call(running, event),
        }
        self.advance(running, at + 1);
    }

    /// Adds a dependence on the initial state, if the test has neither written the field nor allocated the object.
    fn with_initial_state(
        &self,
        running: &mut RunningThread<'_>,
        held: NodeId,
        object: ObjectId,
        field: FieldNumber,
    ) -> NodeId {
        let execution = &mut *running.execution;
        let known = &self.classes.fields[field as usize];
        if known.is_final
            || !known.is_state
            || execution.graph.update(held) != 0
            || execution.allocated.contains(&object)
        {
            return held;
        }
        let initial = execution.initial_state();
        execution.both(held, initial)
    }

    /// Binds a reference to an object, which the field that it was read from therefore holds.
    pub(super) fn bind_object(&mut self, running: &mut RunningThread<'_>, value: &ValueRef, object: ObjectId) {
        value.object.set(object);
        if object != 0 {
            running.execution.identify_copy(value, object);
            if let Some(function) = &value.function {
                self.functions.by_object.insert(object, function.clone());
            }
            if value.born != 0 {
                running.execution.allocators.insert(object, value.born);
            }
        }
        if let Some(origin) = value.origin.get() {
            running.execution.holders.insert(object, origin);
            if origin.depth == 0 {
                running.execution.resolve_reference((origin.object, origin.field), object);
            }
        }
    }

    /// Stores a value in a field.
    fn store_reference(&mut self, running: &mut RunningThread<'_>, value: &ValueRef, origin: FieldOrigin) {
        match &value.function {
            Some(function) => self.functions.by_field.insert((origin.object, origin.field), function.clone()),
            None => self.functions.by_field.remove(&(origin.object, origin.field)),
        };
        running.execution.held_objects.remove(&(origin.object, origin.field));
        running.execution.unresolved_conditions.remove(&(origin.object, origin.field));
        if value.object.get() != 0 {
            running.execution.holders.insert(value.object.get(), origin);
            running.execution.held_objects.insert((origin.object, origin.field), value.object.get());
        } else if value.origin.get().is_none() {
            value.origin.set(Some(origin));
        }
    }

    fn push_field(&mut self, running: &mut RunningThread<'_>, at: usize, node: u32, origin: FieldOrigin) {
        let facts = running.top().facts.clone();
        let InsnOperand::Field(site) = &facts.sites[at] else { return };
        let function = self.functions.by_field.get(&(origin.object, origin.field)).cloned();
        let origin = site.desc.is_ref().then_some(origin);
        let value = TracedValue { node: node.into(), origin: origin.into(), function, ..TracedValue::default() };
        running.top().push(Rc::new(value), site.desc.is_wide());
    }

    /// Executes the assignment of an instance field.
    pub(super) fn put_field(
        &mut self,
        running: &mut RunningThread<'_>,
        at: usize,
        object: ObjectId,
        receiver: &ValueRef,
        value: &ValueRef,
    ) {
        let frame = running.top();
        let (facts, now, entry, initialises) = (frame.facts.clone(), frame.now(), frame.entry, frame.initialises);
        let Some(field) = self.field(&facts, at) else { return };
        let whole = running.execution.whole(value);
        let changed = UpdatedLocation::Field(object, field);
        let is_state = self.classes.fields[field as usize].is_state && !initialises;
        let update = is_state.then(|| HeapUpdate { method: facts.clone(), insn: at, changed });
        let node = running.execution.changed(vec![whole, receiver.node.get(), now, entry], update);
        running.execution.fields.insert((object, field), node);
        self.store_reference(running, value, FieldOrigin { object, field, depth: 0 });
    }

    fn call(&mut self, running: &mut RunningThread<'_>, event: &JavaEvent) {
        let frame = running.top();
        let facts = frame.facts.clone();
        let InsnOperand::Call(site) = &facts.sites[frame.at] else {
            let to = frame.at + 1;
            return self.advance(running, to);
        };
        let mut values: Vec<ValueRef> = site.params.iter().rev().map(|wide| frame.take(*wide)).collect();
        values.reverse();
        frame.call = Some(ActiveCall { values, ..ActiveCall::default() });
        frame.wait = FrameWait::Call;
        match event.kind {
            JavaEventKind::On => bind_references(frame, &[event.object()]),
            JavaEventKind::Two => bind_references(frame, &[event.object(), event.second()]),
            _ => {}
        }
        self.bind_call_objects(running);
    }

    /// Binds the receiver and the arguments of the innermost call, as far as events have identified their objects.
    pub(super) fn bind_call_objects(&mut self, running: &mut RunningThread<'_>) {
        let values = running.top().call.iter().flat_map(|call| call.values.clone()).collect::<Vec<_>>();
        for value in values {
            let object = value.object.get();
            if object != 0 {
                self.bind_object(running, &value, object);
            }
        }
    }

    /// Returns from a method.
    fn leave(&mut self, running: &mut RunningThread<'_>, kind: Option<Held>) {
        let Some(mut left) = running.frames.pop() else { return };
        let result = kind.map(|kind| {
            let value = left.take(kind.is_wide());
            let node = match left.entered {
                EntryKind::Callback => running.execution.whole(&value),
                _ => value.node.get(),
            };
            let node = running.execution.both(node, left.now());
            // The caller did not allocate it.
            Rc::new(TracedValue { node: node.into(), born: 0, ..(*value).clone() })
        });
        let Some(caller) = running.frames.last_mut() else { return };
        let Some(call) = &mut caller.call else { return };
        match left.entered {
            EntryKind::Untraced => return,
            EntryKind::Callback => {
                let given = result.map_or(NONE, |value| value.node.get());
                call.given_back = running.execution.both(call.given_back, given);
                return;
            }
            EntryKind::Direct => {
                let InsnOperand::Call(site) = &caller.facts.sites[caller.at] else { return };
                let selected = call.selected_by(site);
                call.result = result.map(|value| value.with(running.execution.both(value.node.get(), selected)));
            }
        }
        self.complete_call(running);
    }
}

fn is_wide(site: &InsnOperand) -> bool {
    matches!(site, InsnOperand::Field(field) if matches!(field.desc, Desc::Long | Desc::Double))
}
