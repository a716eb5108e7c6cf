//! Entry functions: the functions that tests of a method call, and their plans.
//!
//! An entry function is the method itself, or a function that constructs a fixture and then calls the method.

use crate::classes::{ClassId, MethodRef};
use crate::classfile::{Desc, MethodDesc, access};
use crate::lower::context::Lowering;
use std::sync::Arc;
use touchstone_fixture_java::Fixture;
use touchstone_ir::DataTypeId;

/// The result of an entry function that makes one of several calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Results {
    /// All calls have one result type: the entry function returns the result of the call.
    OfOneType,
    /// The result types differ: the entry function returns nothing.
    Dropped,
}

/// The input of a symbolic heap.
#[derive(Clone, Debug)]
pub(crate) struct HeapInput {
    /// The class of the object, or a superclass of it.
    pub class: ClassId,
    /// The data type of the parameter.
    pub data: DataTypeId,
    /// The classes of all objects that are reachable from it.
    pub classes: Vec<ClassId>,
}

/// A fixture with the front end's own view of it.
#[derive(Clone, Debug)]
pub(crate) struct PlannedFixture {
    pub fixture: Arc<Fixture>,
    pub results: Results,
    /// Objects that the tested call may change, by number, with their classes.
    pub changing: Vec<(usize, ClassId)>,
    /// The class of the result, if tests can observe it.
    pub result_class: Option<ClassId>,
    /// The types of the parameters of the entry function.
    pub param_types: Vec<Desc>,
    /// The number of objects.
    pub objects: usize,
    /// The inputs of `Fixture::heaps`, in the same order.
    pub heaps: Vec<HeapInput>,
}

impl PlannedFixture {
    /// Returns the method that the entry function calls last; the first one of several alternatives.
    pub fn called(&self) -> MethodRef {
        self.fixture.tested.calls[0].method
    }
}

/// The plan of a method's tests.
#[derive(Clone, Debug)]
pub(crate) enum TestPlan {
    /// Tests call the method itself.
    Direct,
    /// Tests call a function that constructs a fixture.
    Fixture(Arc<PlannedFixture>),
    /// Tests can't construct the arguments, for this reason.
    Impossible(String),
}

impl Lowering {
    pub fn planned_fixture(&self, method: MethodRef) -> Option<Arc<PlannedFixture>> {
        match self.plans.get(&method) {
            Some(TestPlan::Fixture(planned)) => Some(planned.clone()),
            _ => None,
        }
    }

    /// Returns the method that the entry function of a method calls last.
    pub fn entry_callee(&self, method: MethodRef) -> MethodRef {
        self.planned_fixture(method).map_or(method, |planned| planned.called())
    }

    /// Returns true if the entry function of a method returns nothing because its alternatives have different results.
    pub fn drops_results(&self, method: MethodRef) -> bool {
        self.planned_fixture(method).is_some_and(|planned| planned.results == Results::Dropped)
    }

    /// Returns the parameter types of a method's entry function.
    pub fn entry_params(&self, method: MethodRef) -> Vec<Desc> {
        match self.planned_fixture(method) {
            Some(planned) => planned.param_types.clone(),
            None => MethodDesc::parse(&self.classes.method(method).desc).map_or(Vec::new(), |desc| desc.params),
        }
    }

    /// Returns the name of a method's entry function.
    pub fn entry_name(&self, method: MethodRef) -> String {
        let name = self.source_name(method);
        if self.planned_fixture(method).is_none() && self.classes.method(method).is(access::STATIC) {
            return name;
        }
        let class = self.classes.get(method.class).title().replace('$', ".");
        match name.strip_prefix(&class).and_then(|rest| rest.strip_prefix('.')) {
            Some(rest) => format!("{class}#{rest}"),
            None => name,
        }
    }
}
