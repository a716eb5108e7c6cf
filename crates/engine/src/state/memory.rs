//! Memory of a symbolic state: objects of byte cells, shared between states until written (copy on write).
//!
//! A cell is a constant byte, one byte of a term, one byte of a pointer, or undefined. Loads reassemble cells, so a
//! value is returned as the very term that was stored. An object that was written at a symbolic offset becomes
//! [`Contents::Delayed`]: its contents are a solver array that records the writes in order (Kosmatov's alias relations;
//! see `exec/memory/late_aliases.rs`).
//!
//! Deliberately not here: checks. The caller guarantees that the access is inside a live object.

use crate::state::value::{ObjectId, PointerBytes, Scalar, UnionId, Value};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_ir::{DataTypeId, GlobalId, Ty, mask};
use touchstone_solver::{ArrayId, TermId, Terms};

/// One byte of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cell {
    Undefined,
    /// A byte of an input that is not materialised yet, or of a type that is not modelled: a path that reads it stops.
    Unmaterialised,
    Byte(u8),
    /// Byte `index` (from the low end) of a term with a width that is a multiple of 8.
    Part {
        term: TermId,
        index: u8,
    },
    /// Byte `index` of a stored pointer.
    Pointer {
        value: PointerRef,
        index: u8,
    },
    /// Byte `index` of an input union that was not read there yet; it is materialised by the first read.
    Union {
        union: UnionId,
        index: u16,
    },
    /// A byte of a pointer that a write of an integer at a symbolic offset may have overwritten: a path that reads it
    /// stops.
    Clobbered,
}

impl Cell {
    /// Returns true if nothing is known of the byte yet.
    pub fn is_unmaterialised(self) -> bool {
        matches!(self, Cell::Unmaterialised | Cell::Union { .. })
    }

    /// Returns true if a solver array cannot hold the byte.
    pub fn is_pointer(self) -> bool {
        matches!(self, Cell::Pointer { .. } | Cell::Clobbered)
    }
}

/// A pointer value that was stored to memory, interned for the whole exploration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PointerRef(u32);

/// The pointer values that memory cells refer to.
#[derive(Default)]
pub(crate) struct Pointers {
    values: Vec<Value>,
    index: FxHashMap<Value, PointerRef>,
}

impl Pointers {
    pub fn intern(&mut self, value: &Value) -> PointerRef {
        if let Some(&found) = self.index.get(value) {
            return found;
        }
        let made = PointerRef(u32::try_from(self.values.len()).expect("invariant: fewer than 2^32 pointers"));
        self.values.push(value.clone());
        self.index.insert(value.clone(), made);
        made
    }

    pub fn get(&self, pointer: PointerRef) -> &Value {
        &self.values[pointer.0 as usize]
    }
}

/// The origin of an object; it determines permissions and lifetime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ObjectKind {
    Global,
    Constant,
    Slot,
    Heap,
    Input,
}

/// Returns the object of a global. Globals are allocated first, in order.
pub(crate) fn global_object(id: GlobalId) -> ObjectId {
    ObjectId::new(id.index())
}

/// The contents of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Contents {
    Cells(Vec<Cell>),
    /// The object was written at a symbolic offset at least once. `defined`, if present, holds 1 for every defined
    /// byte. A solver array cannot hold `pointers`: their cells, ordered by offset, shadow the array.
    Delayed {
        array: ArrayId,
        defined: Option<ArrayId>,
        pointers: Vec<(usize, Cell)>,
    },
}

impl Contents {
    /// Returns the byte ranges that pointers occupy, in order.
    pub fn pointer_runs(&self) -> Vec<Range<u64>> {
        let mut runs: Vec<Range<u64>> = Vec::new();
        let mut add = |at: usize| match runs.last_mut() {
            Some(run) if run.end == at as u64 => run.end += 1,
            _ => runs.push(at as u64..at as u64 + 1),
        };
        match self {
            Contents::Cells(cells) => {
                cells.iter().enumerate().filter(|(_, cell)| cell.is_pointer()).for_each(|(at, _)| add(at));
            }
            Contents::Delayed { pointers, .. } => pointers.iter().for_each(|(at, _)| add(*at)),
        }
        runs
    }
}

/// The part of an object's shape that depends on inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ObjectShape {
    /// Nothing: the object has as many bytes as cells.
    Concrete,
    /// The size in bytes (a 64-bit term), at most the number of cells. Accesses are checked against it.
    Size(TermId),
    /// The variant of its type, given by its tag. Cells of fields that were not accessed are unmaterialised unless all
    /// variants share them.
    Variant { data: DataTypeId, tag: TermId, size: Scalar },
}

impl ObjectShape {
    /// Returns the size in bytes if it depends on inputs.
    pub fn size(self) -> Option<TermId> {
        match self {
            ObjectShape::Concrete | ObjectShape::Variant { size: Scalar::Const(_), .. } => None,
            ObjectShape::Size(size) | ObjectShape::Variant { size: Scalar::Term(size), .. } => Some(size),
        }
    }
}

/// A memory object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Object {
    /// The size in bytes; the maximum size if it depends on inputs.
    pub size: u64,
    pub shape: ObjectShape,
    pub kind: ObjectKind,
    pub live: bool,
    pub data: Option<DataTypeId>,
    pub contents: Contents,
}

impl Object {
    pub fn undefined(size: u64, kind: ObjectKind, data: Option<DataTypeId>) -> Object {
        Object::with_cells(vec![Cell::Undefined; size as usize], kind, data)
    }

    pub fn with_cells(cells: Vec<Cell>, kind: ObjectKind, data: Option<DataTypeId>) -> Object {
        Object {
            size: cells.len() as u64,
            shape: ObjectShape::Concrete,
            kind,
            live: true,
            data,
            contents: Contents::Cells(cells),
        }
    }
}

/// All objects of a state.
#[derive(Clone, Default)]
pub(crate) struct Memory {
    /// Chunks of objects: a write to one of thousands of objects copies its chunk and the list of chunks.
    chunks: Rc<Vec<Chunk>>,
    length: usize,
    /// Bytes of large objects that were allocated or copied since they were last reported.
    new_large_bytes: u64,
}

type Chunk = Rc<Vec<Rc<Object>>>;

/// The number of objects in a chunk.
const OBJECTS_PER_CHUNK: usize = 32;

/// The size in bytes from which an object is counted; periodic memory checks notice smaller ones early enough.
const MIN_TRACKED_BYTES: u64 = 4096;

impl Memory {
    pub fn alloc(&mut self, object: Object) -> ObjectId {
        if object.size >= MIN_TRACKED_BYTES {
            self.new_large_bytes += object.size;
        }
        let chunks = Rc::make_mut(&mut self.chunks);
        match chunks.last_mut() {
            Some(last) if !self.length.is_multiple_of(OBJECTS_PER_CHUNK) => Rc::make_mut(last).push(Rc::new(object)),
            _ => chunks.push(Rc::new(vec![Rc::new(object)])),
        }
        self.length += 1;
        ObjectId::new(self.length - 1)
    }

    pub fn get(&self, id: ObjectId) -> &Object {
        self.shared(id)
    }

    pub fn get_mut(&mut self, id: ObjectId) -> &mut Object {
        let chunk = &mut Rc::make_mut(&mut self.chunks)[id.index() / OBJECTS_PER_CHUNK];
        let object = &mut Rc::make_mut(chunk)[id.index() % OBJECTS_PER_CHUNK];
        if object.size >= MIN_TRACKED_BYTES && Rc::strong_count(object) > 1 {
            self.new_large_bytes += object.size;
        }
        Rc::make_mut(object)
    }

    /// Replaces an object by one that is shared with other states until it is written.
    pub fn share(&mut self, id: ObjectId, object: Rc<Object>) {
        let chunk = &mut Rc::make_mut(&mut self.chunks)[id.index() / OBJECTS_PER_CHUNK];
        Rc::make_mut(chunk)[id.index() % OBJECTS_PER_CHUNK] = object;
    }

    /// Returns true if large objects were allocated or copied since the last report.
    pub fn has_new_large_objects(&self) -> bool {
        self.new_large_bytes > 0
    }

    /// Returns the bytes of large objects that were allocated or copied since the last report.
    pub fn take_new_large_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.new_large_bytes)
    }

    pub fn shared(&self, id: ObjectId) -> &Rc<Object> {
        &self.chunks[id.index() / OBJECTS_PER_CHUNK][id.index() % OBJECTS_PER_CHUNK]
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn ids(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..self.length).map(ObjectId::new)
    }

    /// Returns the integer address of an object's first byte. Addresses are never null, unique and far apart.
    pub fn address(id: ObjectId) -> u64 {
        (id.index() as u64 + 1) << 32
    }

    /// Returns the object with an address range that contains an address.
    pub fn object_at(&self, address: u64) -> Option<ObjectId> {
        let index = (address >> 32).checked_sub(1)?;
        ((index as usize) < self.length).then(|| ObjectId::new(index as usize))
    }
}

/// Returns the cells of a stored value of `width` bytes.
pub(crate) fn disassemble(value: &Value, width: u8, pointers: &mut Pointers) -> impl Iterator<Item = Cell> + use<> {
    let make: Box<dyn Fn(u8) -> Cell> = match value {
        Value::Int(Scalar::Const(bits)) => {
            let bytes = bits.to_le_bytes();
            Box::new(move |index| Cell::Byte(bytes[usize::from(index)]))
        }
        Value::Int(Scalar::Term(term)) => {
            let term = *term;
            Box::new(move |index| Cell::Part { term, index })
        }
        Value::Undefined => Box::new(|_| Cell::Undefined),
        Value::Bytes(part) => {
            let PointerBytes { pointer: value, first, bytes, .. } = *part;
            Box::new(move |index| match index < bytes {
                true => Cell::Pointer { value, index: first + index },
                false => Cell::Byte(0),
            })
        }
        pointer => {
            let value = pointers.intern(pointer);
            Box::new(move |index| Cell::Pointer { value, index })
        }
    };
    (0..width).map(make)
}

/// The result of reassembling cells.
pub(crate) enum Assembled {
    Value(Value),
    /// A byte is undefined or not materialised.
    Undefined,
    /// Bytes of a pointer are mixed with others: only the integer that they represent is a value.
    Mixed,
    /// A byte may have been overwritten by an integer.
    Clobbered,
}

/// Reassembles cells that are read as `ty`. The bytes of a pointer are not converted: they stay the pointer, or a part
/// of it, in whatever register they are loaded into.
pub(crate) fn assemble(cells: &[Cell], ty: Ty, terms: &mut Terms, pointers: &Pointers) -> Assembled {
    match cells[0] {
        Cell::Byte(_) => {
            let mut bits = 0u64;
            for (index, cell) in cells.iter().enumerate() {
                match cell {
                    Cell::Byte(byte) => bits |= u64::from(*byte) << (8 * index),
                    _ => return assemble_mixed(cells, terms),
                }
            }
            Assembled::Value(Value::constant(mask(bits, ty.bits())))
        }
        Cell::Part { term, index: 0 } if usize::from(terms.width(term)) == 8 * cells.len() => {
            let whole = |(at, cell): (usize, &Cell)| *cell == Cell::Part { term, index: at as u8 };
            if cells.iter().enumerate().all(whole) {
                Assembled::Value(Value::term(terms, term))
            } else {
                assemble_mixed(cells, terms)
            }
        }
        Cell::Pointer { value, index: first } => {
            let follows = |(at, cell): (usize, &Cell)| *cell == Cell::Pointer { value, index: first + at as u8 };
            let bytes = cells.iter().enumerate().take_while(|&cell| follows(cell)).count();
            if !cells[bytes..].iter().all(|cell| *cell == Cell::Byte(0)) {
                return assemble_mixed(cells, terms);
            }
            let stored = pointers.get(value);
            let (bytes, width) = (bytes as u8, cells.len() as u8);
            Assembled::Value(match first {
                0 if bytes == width && 8 * width == address_width(stored) => stored.clone(),
                _ => Value::Bytes(PointerBytes { pointer: value, first, bytes, width }),
            })
        }
        _ => assemble_mixed(cells, terms),
    }
}

fn assemble_mixed(cells: &[Cell], terms: &mut Terms) -> Assembled {
    if cells.contains(&Cell::Clobbered) {
        return Assembled::Clobbered;
    }
    if cells.iter().any(|cell| matches!(cell, Cell::Undefined | Cell::Unmaterialised | Cell::Union { .. })) {
        return Assembled::Undefined;
    }
    let bytes: Option<Vec<TermId>> = cells.iter().map(|cell| cell_term(*cell, terms)).collect();
    match bytes {
        Some(bytes) => {
            let whole = concat_bytes(&bytes, terms);
            Assembled::Value(Value::term(terms, whole))
        }
        None => Assembled::Mixed,
    }
}

/// Concatenates bytes into one term, the lowest first.
pub(crate) fn concat_bytes(bytes: &[TermId], terms: &mut Terms) -> TermId {
    let (first, others) = bytes.split_first().expect("invariant: a value has at least one byte");
    others.iter().fold(*first, |low, byte| terms.concat(*byte, low))
}

/// Returns a cell as an 8-bit term, or `None` if it is undefined or belongs to a pointer.
pub(crate) fn cell_term(cell: Cell, terms: &mut Terms) -> Option<TermId> {
    match cell {
        Cell::Undefined | Cell::Unmaterialised | Cell::Union { .. } | Cell::Clobbered | Cell::Pointer { .. } => None,
        Cell::Byte(byte) => Some(terms.constant(8, u64::from(byte))),
        Cell::Part { term, index } => Some(terms.extract(term, 8 * index, 8)),
    }
}

/// Returns the width of a pointer's address, or of the part of an address that the value is.
fn address_width(value: &Value) -> u8 {
    match value {
        Value::Bytes(part) => 8 * part.width,
        Value::Choice(options) => {
            let part = |(_, option): &(TermId, Value)| matches!(option, Value::Bytes(_)).then(|| address_width(option));
            options.iter().find_map(part).unwrap_or(64)
        }
        _ => 64,
    }
}

/// Returns a pointer as a 64-bit address, or a part of one as a term of its width; `None` for a symbolic pointer.
pub(crate) fn address_term(value: &Value, terms: &mut Terms, pointers: &Pointers) -> Option<TermId> {
    match value {
        Value::Int(scalar) => Some(scalar.term(terms, 64)),
        Value::Ptr(pointer) => {
            let base = terms.constant(64, Memory::address(pointer.object));
            let offset = pointer.offset.term(terms, 64);
            Some(terms.bin(touchstone_solver::Op::Add, base, offset))
        }
        Value::Choice(options) => {
            let width = address_width(value);
            let mut result: Option<TermId> = None;
            for (guard, option) in options.iter().rev() {
                let address = match option {
                    Value::Int(scalar) => scalar.term(terms, width),
                    option => address_term(option, terms, pointers)?,
                };
                result = Some(match result {
                    None => address,
                    Some(other) => terms.ite(*guard, address, other),
                });
            }
            result
        }
        Value::Bytes(part) => {
            let address = address_term(pointers.get(part.pointer), terms, pointers)?;
            let bytes = terms.extract(address, 8 * part.first, 8 * part.bytes);
            Some(if part.width > part.bytes { terms.zext(bytes, 8 * part.width) } else { bytes })
        }
        Value::LazyPointer(_) | Value::Undefined => None,
    }
}
