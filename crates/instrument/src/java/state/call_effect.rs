//! The effect of a completed call on the dependences of its test.
//!
//! A call of a traced method has little effect of its own: its instructions were interpreted one by one. A call of a library method
//! is modelled: by the user's rules, by the tables of `library_models.rs`, and by whether a mock object was being verified.
//! All of these questions are answered here, before the interpreter changes anything.

use super::function_objects::FunctionObjects;
use super::library_models::{
    AssertionRole, ElementAccess, assertion_role, boxes, copies_receiver, element_access, is_functional, modifies,
};
use super::method_facts::{CallSite, DynamicCallResult};
use super::method_frames::ActiveCall;
use super::test_execution::{ContainerKey, ObjectId};
use super::traced_classes::TracedClasses;
use crate::state::StateRules;
use touchstone_front_java::classfile::Desc;

/// The effect of a completed call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CallEffect {
    pub reads: ContentsRead,
    /// True if the call asserts something about its receiver and arguments.
    pub asserts: bool,
    /// True if the next call on its first argument is the assertion, as after Mockito's `verify`.
    pub verifies_next: bool,
    pub writes: ContentsWrite,
    pub result: CallResult,
}

/// The contents of arrays and containers that a call may read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ContentsRead {
    Nothing,
    /// One element of the receiver, selected by a constant, and the whole contents of the arguments.
    Element(ContainerKey),
    /// The whole contents of the receiver and the arguments.
    Everything,
}

/// The contents of arrays and containers that a call modifies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ContentsWrite {
    Nothing,
    /// Overwrites or removes one element of the receiver: the new value does not depend on the old one.
    ReplacesElement(ContainerKey),
    /// Computes one element of the receiver from its old value.
    UpdatesElement(ContainerKey),
    /// The whole contents of the receiver.
    Receiver,
    /// No modification, but later reads of the receiver depend on the call: it may be a mock.
    Influence,
    /// The destination array of `System.arraycopy`.
    CopyDestination,
    /// The whole contents of every argument of a static method.
    EveryArgument,
}

/// The source of the value that a call pushes onto the operand stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CallResult {
    /// The call pushes nothing.
    Nothing,
    /// A library constructor: the object depends on the arguments.
    ConstructedObject,
    /// The value that the traced callee returned.
    Returned,
    /// The same, which also depends on the contents of the receiver.
    ReturnedQuery,
    /// A value that may depend on everything that the call reads.
    FromArguments,
    /// The same, and it is the constant that its argument is.
    Boxed,
    /// A copy of the receiver.
    Copy,
    /// A function object, which captures the arguments.
    Function,
}

impl CallEffect {
    /// Computes the effect. `receiver` is 0 for static methods; `was_verified` is true if the call is the one that a mock framework
    /// was told to expect.
    pub fn new(
        site: &CallSite,
        call: &ActiveCall,
        receiver: ObjectId,
        was_verified: bool,
        classes: &TracedClasses,
        (functions, rules): (&FunctionObjects, &StateRules),
    ) -> CallEffect {
        if matches!(site.makes, DynamicCallResult::Function(_)) {
            let (reads, writes) = (ContentsRead::Nothing, ContentsWrite::Nothing);
            return CallEffect { reads, asserts: false, verifies_next: false, writes, result: CallResult::Function };
        }
        let listed = |names: &[String]| rules.names(names, &site.member.class, &site.member.name);
        let (modifies_by_rule, queries) = (listed(&rules.modifies), listed(&rules.queries));
        let (asserts_by_rule, role) =
            (listed(&rules.assertions), assertion_role(&site.member, site.has_receiver, rules));
        let is_library = !call.entered;
        // A constant key selects one element: no other one is read.
        let element = (is_library && !modifies_by_rule && !queries && receiver != 0)
            .then(|| Some((element_access(&site.member)?, call.values.get(1)?.key.clone()?)))
            .flatten();
        let copies = is_library && copies_receiver(&site.member);
        let reads = match &element {
            None if copies => ContentsRead::Nothing,
            Some((_, key)) => ContentsRead::Element(key.clone()),
            None if is_library || modifies_by_rule || queries || asserts_by_rule || was_verified => {
                ContentsRead::Everything
            }
            None => ContentsRead::Nothing,
        };
        // The program declares the method and no code of it ran: the receiver is a mock, whose state is what it was called with.
        let is_mocked = is_library && site.has_receiver && classes.declares(&site.member);
        let returns_nothing = site.result == Desc::Void;
        let is_mutator = is_library && modifies(&site.member, returns_nothing, rules);
        let is_known_function = functions.by_object.contains_key(&receiver);
        let is_function = is_known_function || is_functional(&site.member.class) || (is_mocked && call.called_back);
        let may_be_mock = (is_mocked || returns_nothing) && !is_known_function;
        let writes_something = modifies_by_rule || is_mutator || is_mocked || is_function;
        let writes = match element {
            _ if !writes_something || role != AssertionRole::No || was_verified => ContentsWrite::Nothing,
            _ if is_function && !modifies_by_rule && site.has_receiver => match may_be_mock {
                true => ContentsWrite::Influence,
                false => ContentsWrite::Nothing,
            },
            Some((ElementAccess::Replaces, key)) => ContentsWrite::ReplacesElement(key),
            Some((ElementAccess::Asks | ElementAccess::Changes, key)) => ContentsWrite::UpdatesElement(key),
            None if site.has_receiver => ContentsWrite::Receiver,
            None if is_array_copy(site) => ContentsWrite::CopyDestination,
            None => ContentsWrite::EveryArgument,
        };
        let result = match &call.result {
            _ if is_library && &*site.member.name == "<init>" => CallResult::ConstructedObject,
            _ if returns_nothing => CallResult::Nothing,
            Some(_) if call.entered && queries => CallResult::ReturnedQuery,
            Some(_) if call.entered => CallResult::Returned,
            _ if boxes(&site.member) => CallResult::Boxed,
            _ if copies => CallResult::Copy,
            _ => CallResult::FromArguments,
        };
        CallEffect {
            reads,
            asserts: (is_library && role == AssertionRole::All) || asserts_by_rule || was_verified,
            verifies_next: is_library && role == AssertionRole::Next,
            writes,
            result,
        }
    }
}

fn is_array_copy(site: &CallSite) -> bool {
    &*site.member.class == "java/lang/System" && &*site.member.name == "arraycopy"
}
