//! The frames of a thread's methods, with their locals, operand stacks and control dependences.

use super::method_facts::{CallSite, InsnOperand, MethodFacts, PathStep};
use super::test_execution::{ObjectId, TestExecution, TracedValue, ValueRef};
use super::traced_classes::FieldNumber;
use crate::state::{NONE, NodeId};
use std::rc::Rc;

/// A control dependence of the current instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControlScope {
    /// The block of the branch, or a number above all blocks for an exception handler.
    pub block: usize,
    /// The block at which the dependence ends.
    pub until: Option<usize>,
    pub node: NodeId,
    /// The depth of the operand stack at the branch.
    pub depth: usize,
}

/// The event that a frame waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FrameWait {
    /// None: the next instruction can be executed.
    Insn,
    /// The entry of a block.
    Block,
    /// The completion of the call at the current instruction.
    Call,
}

/// The relation of a method to its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryKind {
    /// Its caller is not traced.
    Untraced,
    /// The frame below called it.
    Direct,
    /// A library method that the frame below called has called it.
    Callback,
}

/// An exception: `why` are the reasons for which it is thrown, `what` is the exception object.
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
    /// The number of references among `values` whose objects are known from events.
    pub told: usize,
    /// True if a traced method was entered for it.
    pub entered: bool,
    /// True if a library method that was called has called a traced method.
    pub called_back: bool,
    /// The results of callbacks.
    pub given_back: NodeId,
    /// The exceptions that called methods threw.
    pub thrown: ThrownException,
    /// The value that it returned.
    pub result: Option<ValueRef>,
}

impl ActiveCall {
    /// Returns the node of the receiver, if its class selects the method.
    pub fn selected_by(&self, site: &CallSite) -> NodeId {
        self.values.first().filter(|_| site.dispatches).map_or(NONE, |receiver| receiver.node.get())
    }
}

/// The frame of a method.
pub(super) struct MethodFrame {
    /// The number of the method.
    pub method: u32,
    pub facts: Rc<MethodFacts>,
    /// The current instruction.
    pub at: usize,
    pub wait: FrameWait,
    pub locals: Vec<ValueRef>,
    pub stack: Vec<ValueRef>,
    pub controls: Vec<ControlScope>,
    /// The reasons for which the method is executed.
    pub entry: NodeId,
    /// A number that identifies the activation.
    pub serial: u64,
    pub entered: EntryKind,
    /// True if it is executed by a class initialiser, whose modifications are attributed to no test.
    pub initialises: bool,
    pub call: Option<ActiveCall>,
    /// The condition that selects the next block.
    pub chosen: NodeId,
    /// The exception that was thrown.
    pub thrown: ThrownException,
    /// The assignments of fields before the object has an identity: instruction and value.
    pub stores_before_init: Vec<(usize, ValueRef)>,
    pub object: ObjectId,
}

impl MethodFrame {
    /// Returns the condition that the current instruction is control dependent on, apart from those of the method's
    /// entry.
    pub fn now(&self) -> NodeId {
        self.controls.last().map_or(NONE, |control| control.node)
    }

    pub fn is_constructor(&self) -> bool {
        &**self.facts.name() == "<init>"
    }

    /// Pops a value. It is unknown if the trace has a gap.
    pub fn pop(&mut self) -> ValueRef {
        self.stack.pop().unwrap_or_default()
    }

    /// Pops a value that may occupy two slots.
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

    /// Returns the name of the local variable that holds a value.
    pub fn variable(&self, value: &ValueRef) -> Option<String> {
        let held_objects = |(_, local): &(usize, &ValueRef)| Rc::ptr_eq(local, value);
        let (local, _) = self.locals.iter().enumerate().find(held_objects)?;
        self.facts.local_name(local, self.at).map(|name| name.to_string())
    }

    /// Removes all dependences.
    pub fn forget(&mut self) {
        let forgotten = |value: &mut ValueRef| {
            *value = Rc::new(TracedValue { node: NONE.into(), copied: None, ..(**value).clone() })
        };
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

    /// Adds a control dependence.
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

    /// Enters a block, and ends the control dependences that it post-dominates. Locations that dependent blocks may
    /// write become dependent on the condition, even if they were not written.
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

    /// Evaluates an access path.
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

/// The object that contains a field.
enum FieldOwner {
    /// None: the field is static.
    Static,
    Object(ObjectId),
    /// The object that this field holds, which no event has identified yet.
    HeldBy((ObjectId, FieldNumber)),
    Unknown,
}

/// Returns the number of the field that an instruction accesses, if it has been assigned.
fn number(facts: &MethodFacts, insn: usize) -> Option<FieldNumber> {
    match &facts.sites[insn] {
        InsnOperand::Field(site) => site.number.get().copied(),
        _ => None,
    }
}
