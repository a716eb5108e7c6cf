//! A planned fixture: the plain data of `touchstone-fixture-java`, and what only its lowering needs.

use crate::classfile::Desc;
use crate::world::{ClassId, MethodRef};
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

/// The input that a symbolic heap is.
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
    /// The method that the entry function calls last; the first one of several alternatives.
    pub fn called(&self) -> MethodRef {
        self.fixture.tested.calls[0].method
    }
}
