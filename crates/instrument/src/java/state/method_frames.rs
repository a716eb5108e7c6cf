//! What a thread is in the middle of: methods that run, each with its locals, its stack and the conditions that it is under.

use super::method_facts::{MethodFacts, Site, Step};
use super::test_execution::{ObjectId, Val, Value, World};
use super::traced_classes::FieldId;
use crate::state::{NONE, NodeId};
use std::rc::Rc;

/// A condition that a method is under.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    /// The block that asked, or the handler that something was caught by.
    pub block: usize,
    /// From this block on it does not matter any more.
    pub until: Option<usize>,
    pub node: NodeId,
    /// So much was on the stack when it was asked.
    pub depth: usize,
}

/// What a method waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Waiting {
    /// Its next instruction.
    Insn,
    /// A block that begins.
    Block,
    /// The call of its next instruction to be over.
    Call,
}

/// How a method came to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Entered {
    /// By nobody whom we follow.
    ByOthers,
    /// The call of the method below leads to it.
    Directly,
    /// What the method below called has called it.
    Back,
}

/// An exception: what it depends on that it is thrown, and what it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Thrown {
    pub why: NodeId,
    pub what: NodeId,
}

impl Thrown {
    pub fn and(self, world: &mut World, other: Thrown) -> Thrown {
        Thrown { why: world.both(self.why, other.why), what: world.both(self.what, other.what) }
    }
}

/// A call that has begun.
#[derive(Debug, Default)]
pub(super) struct Calling {
    /// The receiver, if there is one, and the arguments.
    pub values: Vec<Val>,
    /// References that were told so far, as positions in that list, and those that are still to be told.
    pub told: usize,
    /// A method that is followed runs for it, or did.
    pub entered: bool,
    /// What methods gave that were called back,
    pub given_back: NodeId,
    /// and what methods threw, with why they did.
    pub thrown: Thrown,
    /// What it gave.
    pub result: Option<Val>,
}

/// A method that runs.
pub(super) struct Frame {
    /// Its number.
    pub method: u32,
    pub facts: Rc<MethodFacts>,
    /// The next instruction.
    pub at: usize,
    pub waiting: Waiting,
    pub locals: Vec<Val>,
    pub stack: Vec<Val>,
    pub controls: Vec<Control>,
    /// What its running at all depends on.
    pub entry: NodeId,
    /// Tells runs apart.
    pub serial: u64,
    pub entered: Entered,
    /// It runs for the initialiser of a class: what that leaves is nobody's change.
    pub initialises: bool,
    pub calling: Option<Calling>,
    /// The condition that decides which block comes next.
    pub chosen: NodeId,
    /// What was thrown.
    pub thrown: Thrown,
    /// Instructions that gave its object something before it was one, with what they gave.
    pub early: Vec<(usize, Val)>,
    pub object: ObjectId,
}

impl Frame {
    /// What happens in it now depends on this, besides what its running depends on.
    pub fn now(&self) -> NodeId {
        self.controls.last().map_or(NONE, |control| control.node)
    }

    pub fn is_constructor(&self) -> bool {
        &**self.facts.name() == "<init>"
    }

    /// The value on top. Where the trace has a gap, nothing is known of it.
    pub fn pop(&mut self) -> Val {
        self.stack.pop().unwrap_or_default()
    }

    /// The value on top, which may take two places.
    pub fn take(&mut self, wide: bool) -> Val {
        if wide {
            self.stack.pop();
        }
        self.pop()
    }

    pub fn push(&mut self, value: Val, wide: bool) {
        if wide {
            self.stack.push(value.clone());
        }
        self.stack.push(value);
    }

    pub fn local(&self, local: u16) -> Val {
        self.locals.get(usize::from(local)).cloned().unwrap_or_default()
    }

    pub fn set_local(&mut self, local: u16, value: Val, wide: bool) {
        let last = usize::from(local) + usize::from(wide);
        if self.locals.len() <= last {
            self.locals.resize_with(last + 1, Val::default);
        }
        self.locals[usize::from(local)] = value;
    }

    /// The name of a variable that holds a value.
    pub fn variable(&self, value: &Val) -> Option<String> {
        let holds = |(_, local): &(usize, &Val)| Rc::ptr_eq(local, value);
        let (local, _) = self.locals.iter().enumerate().find(holds)?;
        self.facts.local_name(local, self.at).map(|name| name.to_string())
    }

    /// Nothing is known any more of what its values depend on.
    pub fn forget(&mut self) {
        let forgotten = |value: &mut Val| *value = Rc::new(Value { node: NONE.into(), ..(**value).clone() });
        self.locals.iter_mut().chain(&mut self.stack).for_each(forgotten);
        let calling = self.calling.iter_mut();
        calling.for_each(|calling| {
            calling.values.iter_mut().chain(&mut calling.result).for_each(forgotten);
            (calling.given_back, calling.thrown) = (NONE, Thrown::default());
        });
        self.early.iter_mut().for_each(|(_, value)| forgotten(value));
        (self.entry, self.chosen, self.thrown) = (NONE, NONE, Thrown::default());
        self.controls.clear();
    }

    /// A condition was asked: what comes now depends on it.
    pub fn under(&mut self, world: &mut World, block: usize, until: Option<usize>, condition: NodeId) {
        let node = world.both(condition, self.now());
        self.controls.retain(|control| control.block != block);
        self.controls.push(Control { block, until, node, depth: self.stack.len() });
    }

    /// A block begins: conditions that lead here either way are over. What they could have changed depends on them.
    pub fn arrive(&mut self, world: &mut World, block: usize) {
        while let Some(position) = self.controls.iter().rposition(|control| control.until == Some(block)) {
            let Control { block: asked, node, depth, .. } = self.controls.remove(position);
            for value in self.stack.iter_mut().skip(depth) {
                *value = value.with(world.both(value.node.get(), node));
            }
            let facts = self.facts.clone();
            let Some(choice) = facts.choices.get(&asked) else { continue };
            for local in &choice.locals {
                if let Some(value) = self.locals.get_mut(usize::from(*local)) {
                    *value = value.with(world.both(value.node.get(), node));
                }
            }
            for (way, insn) in &choice.fields {
                let Some(field) = number(&facts, *insn) else { continue };
                match self.object_at(world, way) {
                    Place::Static => {
                        let old = world.statics.get(&field).copied().unwrap_or(NONE);
                        let seen = world.seen_behind(old, node);
                        world.statics.insert(field, seen);
                    }
                    Place::Object(object) => {
                        let old = world.fields.get(&(object, field)).copied().unwrap_or(NONE);
                        let seen = world.seen_behind(old, node);
                        world.fields.insert((object, field), seen);
                    }
                    Place::HeldBy(held) => world.untold.entry(held).or_default().push((field, node)),
                    Place::Unknown => {}
                }
            }
        }
    }

    /// Where a way leads to now.
    fn object_at(&self, world: &World, way: &[Step]) -> Place {
        let mut place = Place::Static;
        for step in way {
            let object = match place {
                Place::Static => 0,
                Place::Object(object) => object,
                Place::HeldBy(_) | Place::Unknown => return Place::Unknown,
            };
            let (found, held) = match step {
                Step::Local(local) => (Some(self.local(*local).object.get()), None),
                Step::Field(insn) => {
                    let held = number(&self.facts, *insn).map(|field| (object, field));
                    (held.and_then(|held| world.holds.get(&held)).copied(), held)
                }
            };
            place = match (found.filter(|object| *object != 0), held) {
                (Some(object), _) => Place::Object(object),
                (None, Some(held)) => Place::HeldBy(held),
                (None, None) => Place::Unknown,
            };
        }
        place
    }
}

/// Where the object of a field is.
enum Place {
    /// The field has none.
    Static,
    Object(ObjectId),
    /// Nobody told yet which object this field holds.
    HeldBy((ObjectId, FieldId)),
    Unknown,
}

/// The number of the field that an instruction names, if it has one already.
fn number(facts: &MethodFacts, insn: usize) -> Option<FieldId> {
    match &facts.sites[insn] {
        Site::Field(site) => site.number.get().copied(),
        _ => None,
    }
}
