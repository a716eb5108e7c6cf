//! Function objects that lambda expressions and method references create.
//!
//! The body of a lambda expression is traced. A method reference may name a library method, of which no event tells: the call that
//! receives the function object is modelled to call that method on the object that the reference captured.

use super::library_models::modifies;
use super::method_facts::{FunctionSite, MethodFacts};
use super::test_execution::{GraphIdentity, ObjectId, ValueRef};
use super::traced_classes::{FieldNumber, TracedClasses};
use crate::state::{NodeId, StateRules};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;
use touchstone_front_java::classfile::MemberRef;

/// A function object.
#[derive(Debug)]
pub(super) struct FunctionObject {
    /// The method that it calls.
    pub called: MemberRef,
    /// The captured values.
    pub captured: Vec<ValueRef>,
    /// The graph that has the nodes of the captured values. In other tests, only their objects are known.
    pub graph: GraphIdentity,
    /// The class of the library method that modifies the first captured object when the function is called.
    modifies: Option<Arc<str>>,
}

impl FunctionObject {
    /// Describes the object that a dynamic call site creates.
    pub fn new(
        site: &FunctionSite,
        captured: &[ValueRef],
        graph: GraphIdentity,
        (classes, rules): (&TracedClasses, &StateRules),
    ) -> Rc<FunctionObject> {
        let is_library = !captured.is_empty() && site.has_receiver && !classes.declares(&site.member);
        let modifies =
            (is_library && modifies(&site.member, site.returns_nothing, rules)).then(|| site.member.class.clone());
        Rc::new(FunctionObject { called: site.member.clone(), captured: captured.to_vec(), graph, modifies })
    }

    /// Returns the object that a call of the function modifies, and the class of the library method that does.
    pub fn modified(&self) -> Option<(&ValueRef, &Arc<str>)> {
        self.captured.first().zip(self.modifies.as_ref())
    }

    /// Returns the captured values, which are the first parameters of the method that the function calls, or `None` if it
    /// calls another one.
    pub fn captured_by(&self, method: &MethodFacts, graph: &GraphIdentity, unknown: NodeId) -> Option<Vec<ValueRef>> {
        let is_called = self.called.name == *method.name() && self.called.desc == *method.desc();
        let is_same_class = !method.is_lambda() || self.called.class == method.class.class.name;
        let is_own = Rc::ptr_eq(&self.graph, graph);
        (is_called && is_same_class).then(|| {
            let known = self.captured.iter();
            known.map(|value| if is_own { value.clone() } else { value.with(unknown) }).collect()
        })
    }

    /// Returns the captured objects that are known.
    pub fn objects(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.captured.iter().map(|value| value.object.get()).filter(|object| *object != 0)
    }
}

/// All function objects that are known.
#[derive(Default)]
pub(super) struct FunctionObjects {
    pub by_object: FxHashMap<ObjectId, Rc<FunctionObject>>,
    /// Those that a field holds and that no event has identified yet.
    pub by_field: FxHashMap<(ObjectId, FieldNumber), Rc<FunctionObject>>,
}

impl FunctionObjects {
    /// Returns the function object that a value refers to.
    pub fn of<'a>(&'a self, value: &'a ValueRef) -> Option<&'a Rc<FunctionObject>> {
        value.function.as_ref().or_else(|| self.by_object.get(&value.object.get()))
    }
}
