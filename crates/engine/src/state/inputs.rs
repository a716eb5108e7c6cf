//! The inputs of a path: what it was called with, and what it has asked for so far. How they are made is in `inputs/`.

use crate::state::memory::Cell;
use crate::state::value::{LazyId, ObjectId, Scalar, UnionId, Value};
use std::rc::Rc;
use touchstone_base::IndexMap;
use touchstone_ir::{DataTypeId, InputSource};
use touchstone_solver::TermId;

/// Of one object only so many bytes, or a little more, are inputs; whoever reads the rest stops.
pub(crate) const MOST_VARIABLES: usize = 1 << 16;

/// What a path has asked for so far.
#[derive(Clone, Default)]
pub(crate) struct Inputs {
    pub params: Vec<Rc<NamedInput>>,
    pub globals: Vec<Rc<NamedInput>>,
    pub objects: Vec<Rc<InputObject>>,
    /// Answers to a program's requests, in order.
    pub made: Vec<Rc<Made>>,
    pub lazies: Rc<IndexMap<LazyId, Lazy>>,
    /// Where the input pointers lead whose target is chosen: few of many, in order.
    pub decided: Vec<(LazyId, Value)>,
    pub unions: Rc<IndexMap<UnionId, Rc<Union>>>,
    /// By which members unions were looked at last, the newest at the end.
    pub looks: Vec<Looked>,
    /// Blocks of registers that the path got to, by their addresses.
    pub registers: Vec<(u64, ObjectId)>,
    /// Allocations so far.
    pub allocations: u32,
    /// Whether the next allocation fails, where that is asked before it is made.
    pub failing: Option<TermId>,
    /// Objects of the program that somebody may have an address of whom nobody defines.
    pub escaped: Vec<ObjectId>,
    /// Those of the objects whose life the program has ended: they were blocks of the heap.
    pub freed: Vec<ObjectId>,
    /// Objects made for undecided pointers.
    pub fresh: u32,
    /// Variables made so far.
    pub variables: u32,
}

/// A parameter or global with the value that it starts with.
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
    /// Elements before the place that the pointer leads to which it was made for.
    pub before: u64,
    /// Nobody said how many elements there are.
    pub default_length: bool,
    /// Cases in which it is a part of what another pointer leads to are none that are followed.
    pub alone: bool,
    /// How many elements the array at its end has, if that is not what its type says.
    pub tail: Option<TailLength>,
    pub cells: Vec<Cell>,
}

/// How many elements the array at the end of an input object has.
#[derive(Clone, Copy)]
pub(crate) enum TailLength {
    /// So many; whether a longer one would do is not known.
    Fixed(u64),
    /// As many as the object says itself.
    Counted(Scalar),
}

/// The answer to one request of a program.
pub(crate) struct Made {
    pub source: InputSource,
    pub name: String,
    pub cells: Vec<Cell>,
    /// What the cells are a value of, if that is known.
    pub data: Option<DataTypeId>,
    /// Whether it is there at all: a term of one bit.
    pub given: Option<TermId>,
    /// How many of its bytes are there, if not all: a term of 64 bits.
    pub length: Option<TermId>,
}

impl Made {
    pub fn new(source: InputSource, name: String, cells: Vec<Cell>) -> Made {
        Made { source, name, cells, data: None, given: None, length: None }
    }
}

/// An input pointer.
#[derive(Clone)]
pub(crate) struct Lazy {
    pub name: Rc<str>,
    /// `None` if only null is known: what an external function returned, or wrote. The name says what is not.
    pub pointee: Option<DataTypeId>,
    /// What the program takes it for, where that may stand for the pointee.
    pub taken_for: Option<DataTypeId>,
    /// The object that it leads to where it is declared as an array and the program uses it.
    pub array: Option<ObjectId>,
}

/// An input union.
#[derive(Clone)]
pub(crate) struct Union {
    pub name: Rc<str>,
    pub data: DataTypeId,
    /// Which member it is, where a formula must know: a term of 8 bits.
    pub selector: TermId,
    /// The members that have all that was made, a bit each.
    pub possible: u64,
    /// How it was looked at last.
    pub looked: Option<usize>,
    /// What it starts with.
    pub cells: Vec<Cell>,
}

impl Union {
    pub fn may_be(&self, member: usize) -> bool {
        self.possible.checked_shr(member as u32).is_some_and(|rest| rest & 1 == 1)
    }
}

/// The program is about to look at a member of a union of so many bytes.
#[derive(Clone)]
pub(crate) struct Looked {
    pub at: Value,
    pub size: u64,
    pub member: usize,
}

impl Inputs {
    /// The objects of arrays that nobody looked at yet.
    pub fn undecided_arrays(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let undecided = self.lazies.iter().filter(|(id, _)| self.shape(*id).is_none());
        undecided.filter_map(|(_, lazy)| lazy.array)
    }

    pub fn shape(&self, id: LazyId) -> Option<&Value> {
        let at = self.decided.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.decided[at].1)
    }

    /// Whether there is a pointer whose target is not chosen yet.
    pub fn has_undecided(&self) -> bool {
        self.decided.len() < self.lazies.len()
    }

    pub fn decide(&mut self, id: LazyId, value: Value) {
        match self.decided.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(at) => self.decided[at].1 = value,
            Err(at) => self.decided.insert(at, (id, value)),
        }
    }

    /// From now on an input pointer is taken for one to another type.
    pub fn take_for(&mut self, id: LazyId, ty: Option<DataTypeId>) {
        Rc::make_mut(&mut self.lazies)[id].taken_for = ty;
    }

    pub fn add_lazy(&mut self, lazy: Lazy) -> LazyId {
        Rc::make_mut(&mut self.lazies).push(lazy)
    }
}
