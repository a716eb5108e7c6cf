//! The inputs of a path: what it was called with, and what it has requested so far. `inputs/` creates them.

use crate::state::memory::Cell;
use crate::state::value::{LazyPointerId, ObjectId, Scalar, UnionId, Value};
use std::rc::Rc;
use touchstone_base::IndexMap;
use touchstone_ir::{DataTypeId, InputSource};
use touchstone_solver::TermId;

/// The maximum number of bytes of one object that are inputs, up to a small excess; a path that reads the rest stops.
pub(crate) const MAX_INPUT_BYTES: usize = 1 << 16;

/// The inputs that a path has read or requested so far.
#[derive(Clone, Default)]
pub(crate) struct Inputs {
    pub params: Vec<Rc<NamedInput>>,
    pub globals: Vec<Rc<NamedInput>>,
    pub objects: Vec<Rc<InputObject>>,
    /// Answers to the program's requests, in order.
    pub requested: Vec<Rc<RequestedInput>>,
    pub lazy_pointers: Rc<IndexMap<LazyPointerId, LazyPointer>>,
    /// The objects of parameters that are declared as arrays, each with another object that the parameter points to in
    /// another state.
    pub distinct_arrays: Vec<(ObjectId, ObjectId)>,
    /// The targets of the symbolic pointers that have been materialised, ordered by id.
    pub materialised: Vec<(LazyPointerId, Value)>,
    pub unions: Rc<IndexMap<UnionId, Rc<Union>>>,
    /// The members by which unions were accessed, the newest last.
    pub union_accesses: Vec<UnionAccess>,
    /// Blocks of device registers that the path accessed, by address.
    pub registers: Vec<(u64, ObjectId)>,
    /// The number of allocations so far.
    pub allocations: u32,
    /// The term that is 1 if the next allocation fails, if it was created before the allocation itself.
    pub failing: Option<TermId>,
    /// Objects of the program that an external function may hold the address of.
    pub escaped: Vec<ObjectId>,
    /// Input objects that the program has freed: they were allocated on the heap.
    pub freed: Vec<ObjectId>,
    /// The number of objects created for symbolic pointers.
    pub fresh: u32,
    /// The number of input variables created so far.
    pub variables: u32,
}

/// A parameter or global with its initial value.
pub(crate) struct NamedInput {
    pub name: String,
    pub data: DataTypeId,
    pub cells: Vec<Cell>,
}

/// An object that exists before the call.
pub(crate) struct InputObject {
    pub object: ObjectId,
    pub name: String,
    pub element: DataTypeId,
    pub count: u64,
    pub is_array: bool,
    /// The number of elements before the one that the pointer points to for which the object was created.
    pub before: u64,
    /// True if neither the user nor a declaration gives the number of elements.
    pub default_length: bool,
    /// True if the case that the object is a part of another pointer's pointee is not explored.
    pub unaliased: bool,
    /// The number of elements of the array at the object's end, if it differs from the one in its type.
    pub tail: Option<TailLength>,
    pub cells: Vec<Cell>,
}

/// The number of elements of the array at the end of an input object.
#[derive(Clone, Copy)]
pub(crate) enum TailLength {
    /// A fixed number; a longer array may be needed.
    Fixed(u64),
    /// The value of a field of the object.
    Counted(Scalar),
}

/// The answer to one request of a program.
pub(crate) struct RequestedInput {
    pub source: InputSource,
    pub name: String,
    pub cells: Vec<Cell>,
    /// The type of the value that the cells represent, if it is known.
    pub data: Option<DataTypeId>,
    /// A one-bit term that is 1 if the answer exists at all; `None` if it always does.
    pub given: Option<TermId>,
    /// A 64-bit term: the number of bytes that exist; `None` if all of them do.
    pub length: Option<TermId>,
}

impl RequestedInput {
    pub fn new(source: InputSource, name: String, cells: Vec<Cell>) -> RequestedInput {
        RequestedInput { source, name, cells, data: None, given: None, length: None }
    }
}

/// A symbolic pointer: an input pointer that is lazily initialised.
#[derive(Clone)]
pub(crate) struct LazyPointer {
    pub name: Rc<str>,
    /// The declared pointee; `None` if only the case null is modelled (a result or a write of an external function).
    /// The name then says what is not.
    pub pointee: Option<DataTypeId>,
    /// The type that the program casts the pointer to, if it may replace the declared pointee.
    pub cast_to: Option<DataTypeId>,
    /// The pointer's own object, if it is declared as an array and the program uses it.
    pub array: Option<ObjectId>,
}

/// An input union.
#[derive(Clone)]
pub(crate) struct Union {
    pub name: Rc<str>,
    pub data: DataTypeId,
    /// An 8-bit term: the number of the active member, for formulas that depend on it.
    pub selector: TermId,
    /// A bit mask of the members that agree with everything materialised so far.
    pub possible: u64,
    /// The member by which the union was last accessed.
    pub last_member: Option<usize>,
    /// The initial contents.
    pub cells: Vec<Cell>,
}

impl Union {
    pub fn may_be(&self, member: usize) -> bool {
        self.possible.checked_shr(member as u32).is_some_and(|rest| rest & 1 == 1)
    }
}

/// An announced access to a member of a union of `size` bytes.
#[derive(Clone)]
pub(crate) struct UnionAccess {
    pub at: Value,
    pub size: u64,
    pub member: usize,
}

impl Inputs {
    /// Returns the objects of declared arrays that have not been materialised yet.
    pub fn unmaterialised_arrays(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let undecided = self.lazy_pointers.iter().filter(|(id, _)| self.target_of(*id).is_none());
        undecided.filter_map(|(_, lazy)| lazy.array)
    }

    pub fn target_of(&self, id: LazyPointerId) -> Option<&Value> {
        let at = self.materialised.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.materialised[at].1)
    }

    /// Returns true if a symbolic pointer has not been materialised yet.
    pub fn has_lazy_pointers(&self) -> bool {
        self.materialised.len() < self.lazy_pointers.len()
    }

    pub fn set_target(&mut self, id: LazyPointerId, value: Value) {
        match self.materialised.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(at) => self.materialised[at].1 = value,
            Err(at) => self.materialised.insert(at, (id, value)),
        }
    }

    /// Records that the program casts a symbolic pointer to another type.
    pub fn set_cast(&mut self, id: LazyPointerId, ty: Option<DataTypeId>) {
        Rc::make_mut(&mut self.lazy_pointers)[id].cast_to = ty;
    }

    pub fn add_lazy_pointer(&mut self, lazy: LazyPointer) -> LazyPointerId {
        Rc::make_mut(&mut self.lazy_pointers).push(lazy)
    }
}
