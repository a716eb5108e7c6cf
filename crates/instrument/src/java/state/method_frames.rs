//! What a thread is in the middle of: methods that run, each with its locals, its stack and the conditions that it is under.

use super::method_facts::{InsnOperand, MethodFacts, PathStep};
use super::test_execution::{ObjectId, TestExecution, TracedValue, ValueRef};
use super::traced_classes::FieldNumber;
use crate::state::{NONE, NodeId};
use std::rc::Rc;

/// A condition that a method is under.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControlScope {
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
pub(super) enum FrameWait {
    /// Its next instruction.
    Insn,
    /// A block that begins.
    Block,
    /// The call of its next instruction to be over.
    Call,
}

/// How a method came to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryKind {
    /// By nobody whom we follow.
    Untraced,
    /// The call of the method below leads to it.
    Direct,
    /// What the method below called has called it.
    Callback,
}

/// An exception: what it depends on that it is thrown, and what it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ThrownException {
    pub why: NodeId,
    pub what: NodeId,
}

impl ThrownException {
    pub fn and(self, execution: &mut TestExecution, other: ThrownException) -> ThrownException {
        ThrownException { why: execution.both(self.why, other.why), what: execution.both(self.what, other.what) }
    }
}

/// A call that has begun.
#[derive(Debug, Default)]
pub(super) struct ActiveCall {
    /// The receiver, if there is one, and the arguments.
    pub values: Vec<ValueRef>,
    /// References that were told so far, as positions in that list, and those that are still to be told.
    pub told: usize,
    /// A method that is followed runs for it, or did.
    pub entered: bool,
    /// What methods gave that were called back,
    pub given_back: NodeId,
    /// and what methods threw, with why they did.
    pub thrown: ThrownException,
    /// What it gave.
    pub result: Option<ValueRef>,
}

/// A method that runs.
pub(super) struct MethodFrame {
    /// Its number.
    pub method: u32,
    pub facts: Rc<MethodFacts>,
    /// The next instruction.
    pub at: usize,
    pub wait: FrameWait,
    pub locals: Vec<ValueRef>,
    pub stack: Vec<ValueRef>,
    pub controls: Vec<ControlScope>,
    /// What its running at all depends on.
    pub entry: NodeId,
    /// Tells runs apart.
    pub serial: u64,
    pub entered: EntryKind,
    /// It runs for the initialiser of a class: what that leaves is nobody's change.
    pub initialises: bool,
    pub call: Option<ActiveCall>,
    /// The condition that decides which block comes next.
    pub chosen: NodeId,
    /// What was thrown.
    pub thrown: ThrownException,
    /// Instructions that gave its object something before it was one, with what they gave.
    pub stores_before_init: Vec<(usize, ValueRef)>,
    pub object: ObjectId,
}

impl MethodFrame {
    /// What happens in it now depends on this, besides what its running depends on.
    pub fn now(&self) -> NodeId {
        self.controls.last().map_or(NONE, |control| control.node)
    }

    pub fn is_constructor(&self) -> bool {
        &**self.facts.name() == "<init>"
    }

    /// The value on top. Where the trace has a gap, nothing is known of it.
    pub fn pop(&mut self) -> ValueRef {
        self.stack.pop().unwrap_or_default()
    }

    /// The value on top, which may take two places.
    pub fn take(&mut self, wide: bool) -> ValueRef {
        if wide {
            self.stack.pop();
        }
        self.pop()
    }

    pub fn push(&mut self, value: ValueRef, wide: bool) {
        if wide {
            self.stack.push(value.clone());
        }
        self.stack.push(value);
    }

    pub fn local(&self, local: u16) -> ValueRef {
        self.locals.get(usize::from(local)).cloned().unwrap_or_default()
    }

    pub fn set_local(&mut self, local: u16, value: ValueRef, wide: bool) {
        let last = usize::from(local) + usize::from(wide);
        if self.locals.len() <= last {
            self.locals.resize_with(last + 1, ValueRef::default);
        }
        self.locals[usize::from(local)] = value;
    }

    /// The name of a variable that holds a value.
    pub fn variable(&self, value: &ValueRef) -> Option<String> {
        let held_objects = |(_, local): &(usize, &ValueRef)| Rc::ptr_eq(local, value);
        let (local, _) = self.locals.iter().enumerate().find(held_objects)?;
        self.facts.local_name(local, self.at).map(|name| name.to_string())
    }

    /// Nothing is known any more of what its values depend on.
    pub fn forget(&mut self) {
        let forgotten = |value: &mut ValueRef| *value = Rc::new(TracedValue { node: NONE.into(), ..(**value).clone() });
        self.locals.iter_mut().chain(&mut self.stack).for_each(forgotten);
        let call = self.call.iter_mut();
        call.for_each(|call| {
            call.values.iter_mut().chain(&mut call.result).for_each(forgotten);
            (call.given_back, call.thrown) = (NONE, ThrownException::default());
        });
        self.stores_before_init.iter_mut().for_each(|(_, value)| forgotten(value));
        (self.entry, self.chosen, self.thrown) = (NONE, NONE, ThrownException::default());
        self.controls.clear();
    }

    /// A condition was asked: what comes now depends on it.
    pub fn add_condition(
        &mut self,
        execution: &mut TestExecution,
        block: usize,
        until: Option<usize>,
        condition: NodeId,
    ) {
        let node = execution.both(condition, self.now());
        self.controls.retain(|control| control.block != block);
        self.controls.push(ControlScope { block, until, node, depth: self.stack.len() });
    }

    /// A block begins: conditions that lead here either way are over. What they could have changed depends on them.
    pub fn enter_block(&mut self, execution: &mut TestExecution, block: usize) {
        while let Some(position) = self.controls.iter().rposition(|control| control.until == Some(block)) {
            let ControlScope { block: asked, node, depth, .. } = self.controls.remove(position);
            for value in self.stack.iter_mut().skip(depth) {
                *value = value.with(execution.both(value.node.get(), node));
            }
            let facts = self.facts.clone();
            let Some(choice) = facts.branches.get(&asked) else { continue };
            for local in &choice.locals {
                if let Some(value) = self.locals.get_mut(usize::from(*local)) {
                    *value = value.with(execution.both(value.node.get(), node));
                }
            }
            for (way, insn) in &choice.fields {
                let Some(field) = number(&facts, *insn) else { continue };
                match self.object_at(execution, way) {
                    FieldOwner::Static => {
                        let old = execution.statics.get(&field).copied().unwrap_or(NONE);
                        let seen = execution.under_condition(old, node);
                        execution.statics.insert(field, seen);
                    }
                    FieldOwner::Object(object) => {
                        let old = execution.fields.get(&(object, field)).copied().unwrap_or(NONE);
                        let seen = execution.under_condition(old, node);
                        execution.fields.insert((object, field), seen);
                    }
                    FieldOwner::HeldBy(held) => {
                        execution.unresolved_conditions.entry(held).or_default().push((field, node))
                    }
                    FieldOwner::Unknown => {}
                }
            }
        }
    }

    /// Where a way leads to now.
    fn object_at(&self, execution: &TestExecution, way: &[PathStep]) -> FieldOwner {
        let mut place = FieldOwner::Static;
        for step in way {
            let object = match place {
                FieldOwner::Static => 0,
                FieldOwner::Object(object) => object,
                FieldOwner::HeldBy(_) | FieldOwner::Unknown => return FieldOwner::Unknown,
            };
            let (found, held) = match step {
                PathStep::Local(local) => (Some(self.local(*local).object.get()), None),
                PathStep::Field(insn) => {
                    let held = number(&self.facts, *insn).map(|field| (object, field));
                    (held.and_then(|held| execution.held_objects.get(&held)).copied(), held)
                }
            };
            place = match (found.filter(|object| *object != 0), held) {
                (Some(object), _) => FieldOwner::Object(object),
                (None, Some(held)) => FieldOwner::HeldBy(held),
                (None, None) => FieldOwner::Unknown,
            };
        }
        place
    }
}

/// Where the object of a field is.
enum FieldOwner {
    /// The field has none.
    Static,
    Object(ObjectId),
    /// Nobody told yet which object this field holds.
    HeldBy((ObjectId, FieldNumber)),
    Unknown,
}

/// The number of the field that an instruction names, if it has one already.
fn number(facts: &MethodFacts, insn: usize) -> Option<FieldNumber> {
    match &facts.sites[insn] {
        InsnOperand::Field(site) => site.number.get().copied(),
        _ => None,
    }
}
