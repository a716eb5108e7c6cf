//! Instructions, without values: what depends on what behind them.

use super::java_trace::{Event, Kind};
use super::method_facts::Site;
use super::method_frames::{Calling, Entered, Thrown, Waiting};
use super::operand_stack::moved;
use super::test_execution::{Changed, Key, ObjectId, Origin, Update, Val, Value};
use super::trace_interpreter::{Machine, Running, told};
use super::traced_classes::FieldId;
use crate::state::{NONE, NodeId};
use std::rc::Rc;
use touchstone_front_java::classfile::{Arith, ArrayKind, Convert, Desc, Insn, SlotKind as Held};

impl Machine<'_> {
    /// An instruction that tells nothing.
    pub(super) fn silent(&mut self, running: &mut Running<'_>) {
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
                frame.waiting = Waiting::Block;
                return;
            }
            Insn::IfInts(..) | Insn::IfRefs(..) => {
                let (one, other) = (frame.pop().node.get(), frame.pop().node.get());
                frame.waiting = Waiting::Block;
                let chosen = running.world.both(one, other);
                running.top().chosen = chosen;
                return;
            }
            Insn::Throw => {
                frame.thrown = Thrown { why: now, what: frame.pop().node.get() };
                frame.waiting = Waiting::Block;
                return;
            }
            Insn::Null | Insn::PushFloat(_) => frame.push(Value::of(now), false),
            Insn::PushInt(number) => frame.push(Value::constant(now, Some(Key::Number(*number))), false),
            Insn::PushLong(_) | Insn::PushDouble(_) => frame.push(Value::of(now), true),
            Insn::Constant(_) => match &facts.sites[at] {
                Site::Constant(key) => frame.push(Value::constant(now, Some(key.clone())), false),
                site => frame.push(Value::of(now), matches!(site, Site::Wide)),
            },
            Insn::New(_) => {
                frame.push(Rc::new(Value { node: now.into(), born: serial, ..Value::default() }), false);
            }
            Insn::NewArray(_) | Insn::NewRefArray(_) | Insn::NewMultiArray(..) => {
                let count = match &facts.followed.insns()[at].insn {
                    Insn::NewMultiArray(_, dimensions) => usize::from(*dimensions),
                    _ => 1,
                };
                let mut deps: Vec<u32> = (0..count).map(|_| frame.pop().node.get()).collect();
                deps.push(now);
                let node = running.world.all(deps);
                let made = Value { node: node.into(), born: serial, ..Value::default() };
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
                    now => value.with(running.world.both(value.node.get(), now)),
                };
                running.top().set_local(*local, stored, kind.is_wide());
            }
            Insn::Increment(local, by) => {
                let value = frame.local(*local);
                let key = match &value.key {
                    Some(Key::Number(number)) => Some(Key::Number(number.wrapping_add(i32::from(*by)))),
                    _ => None,
                };
                let stored = Value::constant(running.world.both(value.node.get(), now), key);
                running.top().set_local(*local, stored, false);
            }
            Insn::Arith(operation, kind) => {
                let shifts = matches!(operation, Arith::Shl | Arith::Shr | Arith::Ushr);
                let other = frame.take(kind.is_wide() && !shifts);
                let one = frame.take(kind.is_wide());
                let node = running.world.both(one.node.get(), other.node.get());
                running.top().push(Value::of(node), kind.is_wide());
            }
            Insn::Compare(kind, _) => {
                let (other, one) = (frame.take(kind.is_wide()), frame.take(kind.is_wide()));
                let node = running.world.both(one.node.get(), other.node.get());
                running.top().push(Value::of(node), false);
            }
            Insn::Convert(convert) => {
                let value = frame.take(convert.from().is_wide());
                let to = match convert {
                    Convert::Kinds(_, to) => *to,
                    _ => Held::Int,
                };
                let value = if value.key.is_some() { Value::of(value.node.get()) } else { value };
                frame.push(value, to.is_wide());
            }
            Insn::ArrayLength | Insn::InstanceOf(_) => {
                let node = frame.pop().node.get();
                frame.push(Value::of(node), false);
            }
            Insn::Neg(kind) => {
                let node = frame.take(kind.is_wide()).node.get();
                frame.push(Value::of(node), kind.is_wide());
            }
            Insn::GetStatic(_) => {
                let Some(field) = self.field(&facts, at) else { return self.advance(running, at + 1) };
                let held = running.world.statics.get(&field).copied().unwrap_or(NONE);
                let node = self.also_from_before(running, held, 0, field);
                self.push_field(running, at, node, Origin { object: 0, field, depth: 0 });
            }
            // What the object of a constructor gets before it is one.
            Insn::PutField(_) => {
                let value = frame.take(is_wide(&facts.sites[at]));
                frame.pop();
                frame.early.push((at, value));
            }
            Insn::Pop | Insn::MonitorEnter | Insn::MonitorExit => drop(frame.pop()),
            Insn::Pop2 => drop((frame.pop(), frame.pop())),
            Insn::Dup | Insn::DupX1 | Insn::DupX2 | Insn::Dup2 | Insn::Dup2X1 | Insn::Dup2X2 | Insn::Swap => {
                moved(&facts.followed.insns()[at].insn, &mut running.top().stack);
            }
            _ => {}
        }
        self.advance(running, at + 1);
    }

    /// An instruction that was told.
    pub(super) fn tell(&mut self, running: &mut Running<'_>, event: &Event) {
        let frame = running.top();
        let (facts, at) = (frame.facts.clone(), frame.at);
        let now = frame.now();
        match &facts.followed.insns()[at].insn {
            Insn::GetField(_) => {
                let (receiver, object) = (frame.pop(), event.object());
                self.is(running, &receiver, object);
                let Some(field) = self.field(&facts, at) else { return };
                let held = running.world.fields.get(&(object, field)).copied().unwrap_or(NONE);
                let held = self.also_from_before(running, held, object, field);
                let node = running.world.both(held, receiver.node.get());
                self.push_field(running, at, node, Origin { object, field, depth: 0 });
            }
            Insn::PutField(_) => {
                let value = frame.take(is_wide(&facts.sites[at]));
                let receiver = frame.pop();
                self.is(running, &receiver, event.object());
                self.put_field(running, at, event.object(), &receiver, &value);
            }
            Insn::PutStatic(_) => {
                let value = frame.take(is_wide(&facts.sites[at]));
                let (entry, initialises) = (frame.entry, frame.initialises);
                let Some(field) = self.field(&facts, at) else { return };
                let is_state = self.classes.fields[field as usize].is_state && !initialises;
                let update =
                    is_state.then(|| Update { method: facts.clone(), insn: at, changed: Changed::Static(field) });
                let node = running.world.changed(vec![value.node.get(), now, entry], update);
                running.world.statics.insert(field, node);
                self.at_home(running, &value, Origin { object: 0, field, depth: 0 });
            }
            Insn::ArrayLoad(array) => {
                let (index, held) = (frame.pop(), frame.pop());
                let object = event.object();
                self.is(running, &held, object);
                let mut deps = running.world.insides.element(object, event.second());
                deps.extend([index.node.get(), held.node.get()]);
                let node = running.world.all(deps);
                let deeper = held.origin.get().map(|origin| Origin { depth: origin.depth + 1, ..origin });
                let origin = deeper.filter(|_| *array == ArrayKind::Ref);
                let value = Value { node: node.into(), origin: origin.into(), ..Value::default() };
                running.top().push(Rc::new(value), matches!(array, ArrayKind::Long | ArrayKind::Double));
            }
            Insn::ArrayStore(array) => {
                let value = frame.take(matches!(array, ArrayKind::Long | ArrayKind::Double));
                let (index, held) = (frame.pop(), frame.pop());
                let (entry, is_own, initialises) = (frame.entry, held.born == frame.serial, frame.initialises);
                let variable = frame.variable(&held);
                let object = event.object();
                self.is(running, &held, object);
                let changed = Changed::Inside { object, variable, is_array: true, is_own };
                let update = (!initialises).then(|| Update { method: facts.clone(), insn: at, changed });
                let deps = vec![value.node.get(), index.node.get(), held.node.get(), now, entry];
                let node = running.world.changed(deps, update);
                running.world.insides.set_element(object, event.second(), node);
            }
            Insn::Return(kind) => return self.leave(running, *kind),
            _ => return self.call(running, event),
        }
        self.advance(running, at + 1);
    }

    /// What a field holds that the test did not write, and that is not of an object that it made, comes from before.
    fn also_from_before(&self, running: &mut Running<'_>, held: NodeId, object: ObjectId, field: FieldId) -> NodeId {
        let world = &mut *running.world;
        let known = &self.classes.fields[field as usize];
        if known.is_final || !known.is_state || world.graph.update(held) != 0 || world.made.contains(&object) {
            return held;
        }
        let before = world.before();
        world.both(held, before)
    }

    /// A reference is an object: the field that it was read from holds it.
    pub(super) fn is(&mut self, running: &mut Running<'_>, value: &Val, object: ObjectId) {
        value.object.set(object);
        if let Some(origin) = value.origin.get() {
            running.world.homes.insert(object, origin);
            if origin.depth == 0 {
                running.world.turned_out((origin.object, origin.field), object);
            }
        }
    }

    /// A field holds a value now.
    fn at_home(&mut self, running: &mut Running<'_>, value: &Val, origin: Origin) {
        running.world.holds.remove(&(origin.object, origin.field));
        running.world.untold.remove(&(origin.object, origin.field));
        if value.object.get() != 0 {
            running.world.homes.insert(value.object.get(), origin);
            running.world.holds.insert((origin.object, origin.field), value.object.get());
        } else if value.origin.get().is_none() {
            value.origin.set(Some(origin));
        }
    }

    fn push_field(&mut self, running: &mut Running<'_>, at: usize, node: u32, origin: Origin) {
        let facts = running.top().facts.clone();
        let Site::Field(site) = &facts.sites[at] else { return };
        let origin = site.desc.is_ref().then_some(origin);
        let value = Value { node: node.into(), origin: origin.into(), ..Value::default() };
        running.top().push(Rc::new(value), site.desc.is_wide());
    }

    /// A field of an object gets a value.
    pub(super) fn put_field(
        &mut self,
        running: &mut Running<'_>,
        at: usize,
        object: ObjectId,
        receiver: &Val,
        value: &Val,
    ) {
        let frame = running.top();
        let (facts, now, entry, initialises) = (frame.facts.clone(), frame.now(), frame.entry, frame.initialises);
        let Some(field) = self.field(&facts, at) else { return };
        let changed = Changed::Field(object, field);
        let is_state = self.classes.fields[field as usize].is_state && !initialises;
        let update = is_state.then(|| Update { method: facts.clone(), insn: at, changed });
        let node = running.world.changed(vec![value.node.get(), receiver.node.get(), now, entry], update);
        running.world.fields.insert((object, field), node);
        self.at_home(running, value, Origin { object, field, depth: 0 });
    }

    fn call(&mut self, running: &mut Running<'_>, event: &Event) {
        let frame = running.top();
        let facts = frame.facts.clone();
        let Site::Call(site) = &facts.sites[frame.at] else {
            let to = frame.at + 1;
            return self.advance(running, to);
        };
        let mut values: Vec<Val> = site.params.iter().rev().map(|wide| frame.take(*wide)).collect();
        values.reverse();
        frame.calling = Some(Calling { values, ..Calling::default() });
        frame.waiting = Waiting::Call;
        match event.kind {
            Kind::On => told(frame, &[event.object()]),
            Kind::Two => told(frame, &[event.object(), event.second()]),
            _ => {}
        }
        let values = frame.calling.iter().flat_map(|calling| calling.values.clone()).collect::<Vec<_>>();
        for value in values {
            let object = value.object.get();
            if object != 0 {
                self.is(running, &value, object);
            }
        }
    }

    /// A method returns.
    fn leave(&mut self, running: &mut Running<'_>, kind: Option<Held>) {
        let Some(mut left) = running.frames.pop() else { return };
        let result = kind.map(|kind| {
            let value = left.take(kind.is_wide());
            let node = running.world.both(value.node.get(), left.now());
            // Whoever gets it did not make it.
            Rc::new(Value { node: node.into(), born: 0, ..(*value).clone() })
        });
        let Some(caller) = running.frames.last_mut() else { return };
        let Some(calling) = &mut caller.calling else { return };
        match left.entered {
            Entered::ByOthers => return,
            Entered::Back => {
                let given = result.map_or(NONE, |value| value.node.get());
                calling.given_back = running.world.both(calling.given_back, given);
                return;
            }
            Entered::Directly => calling.result = result,
        }
        self.over(running);
        self.run(running);
    }
}

fn is_wide(site: &Site) -> bool {
    matches!(site, Site::Field(field) if matches!(field.desc, Desc::Long | Desc::Double))
}
