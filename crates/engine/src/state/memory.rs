//! Memory of a symbolic state: objects made of byte cells, shared between states until written.
//!
//! A cell is a constant byte, one byte of a term, one byte of a pointer, or undefined. Loads put cells together again,
//! so a value comes back as the very term that was stored. An object that was written at a symbolic offset becomes
//! [`Contents::Delayed`]: its contents are a solver array that remembers the writes in order (Kosmatov's alias relations;
//! see `aliases.rs`).
//!
//! Deliberately not here: checks. Whoever calls has made sure that the access is inside a live object.

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
    /// Part of an input of a type that can't be made (yet): whoever reads it stops.
    Unmade,
    Byte(u8),
    /// Byte `index` (from the low end) of a term whose width is a multiple of 8.
    Part {
        term: TermId,
        index: u8,
    },
    /// Byte `index` of a stored pointer.
    Pointer {
        value: PointerRef,
        index: u8,
    },
    /// Byte `index` of an input union that nobody has looked at there: it is made when somebody does.
    Shared {
        union: UnionId,
        index: u16,
    },
    /// Was a pointer's until an integer was written to a place that may have been here: whoever reads it stops.
    Lost,
}

impl Cell {
    /// Nothing is known of it (yet).
    pub fn is_unmade(self) -> bool {
        matches!(self, Cell::Unmade | Cell::Shared { .. })
    }

    /// An array can't hold it.
    pub fn is_pointer(self) -> bool {
        matches!(self, Cell::Pointer { .. } | Cell::Lost)
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

/// Where an object comes from; decides how it may be used and when it dies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ObjectKind {
    Global,
    Constant,
    Slot,
    Heap,
    Input,
}

/// The object of a global: they are allocated first, in order.
pub(crate) fn global_object(id: GlobalId) -> ObjectId {
    ObjectId::new(id.index())
}

/// What an object holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Contents {
    Cells(Vec<Cell>),
    /// Written at a symbolic offset at least once. `defined`, if there is one, holds 1 for every defined byte. An array
    /// can't hold `pointers`: their cells, in order, hide what it has at their places.
    Delayed {
        array: ArrayId,
        defined: Option<ArrayId>,
        pointers: Vec<(usize, Cell)>,
    },
}

impl Contents {
    /// The places of pointers, in order.
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

/// What inputs decide about an object that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Open {
    /// Nothing: it has as many bytes as cells.
    Settled,
    /// Its size in bytes (64 bits), at most as many as it has cells: accesses are checked against it.
    Size(TermId),
    /// Which variant of its type it is: its tag. Cells of fields that nobody has looked at are unmade, unless all variants have them.
    Variant { data: DataTypeId, tag: TermId, size: Scalar },
}

impl Open {
    /// The size in bytes, where inputs decide it.
    pub fn size(self) -> Option<TermId> {
        match self {
            Open::Settled | Open::Variant { size: Scalar::Const(_), .. } => None,
            Open::Size(size) | Open::Variant { size: Scalar::Term(size), .. } => Some(size),
        }
    }
}

/// A memory object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Object {
    /// In bytes; where inputs decide it, the most that it can be.
    pub size: u64,
    pub open: Open,
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
            open: Open::Settled,
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
    /// In chunks: who writes one object of thousands copies its chunk, and the list of chunks.
    chunks: Rc<Vec<Chunk>>,
    length: usize,
    /// Bytes of large objects that were made or copied since somebody asked.
    made: u64,
}

type Chunk = Rc<Vec<Rc<Object>>>;

/// Objects of a chunk.
const CHUNK: usize = 32;

/// An object from this size on counts: smaller ones are seen soon enough by looking now and then.
const LARGE: u64 = 4096;

impl Memory {
    pub fn alloc(&mut self, object: Object) -> ObjectId {
        if object.size >= LARGE {
            self.made += object.size;
        }
        let chunks = Rc::make_mut(&mut self.chunks);
        match chunks.last_mut() {
            Some(last) if !self.length.is_multiple_of(CHUNK) => Rc::make_mut(last).push(Rc::new(object)),
            _ => chunks.push(Rc::new(vec![Rc::new(object)])),
        }
        self.length += 1;
        ObjectId::new(self.length - 1)
    }

    pub fn get(&self, id: ObjectId) -> &Object {
        self.shared(id)
    }

    pub fn get_mut(&mut self, id: ObjectId) -> &mut Object {
        let chunk = &mut Rc::make_mut(&mut self.chunks)[id.index() / CHUNK];
        let object = &mut Rc::make_mut(chunk)[id.index() % CHUNK];
        if object.size >= LARGE && Rc::strong_count(object) > 1 {
            self.made += object.size;
        }
        Rc::make_mut(object)
    }

    /// Puts an object in the place of one, shared with other states until somebody writes it.
    pub fn share(&mut self, id: ObjectId, object: Rc<Object>) {
        let chunk = &mut Rc::make_mut(&mut self.chunks)[id.index() / CHUNK];
        Rc::make_mut(chunk)[id.index() % CHUNK] = object;
    }

    /// Whether large objects were made or copied since that was asked last.
    pub fn has_made(&self) -> bool {
        self.made > 0
    }

    /// Bytes of large objects that were made or copied since this was asked last.
    pub fn take_made(&mut self) -> u64 {
        std::mem::take(&mut self.made)
    }

    pub fn shared(&self, id: ObjectId) -> &Rc<Object> {
        &self.chunks[id.index() / CHUNK][id.index() % CHUNK]
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn ids(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..self.length).map(ObjectId::new)
    }

    /// The address that a pointer to the object's start has as an integer: never null, never shared, far apart.
    pub fn address(id: ObjectId) -> u64 {
        (id.index() as u64 + 1) << 32
    }

    /// The object whose address range holds this address.
    pub fn object_at(&self, address: u64) -> Option<ObjectId> {
        let index = (address >> 32).checked_sub(1)?;
        ((index as usize) < self.length).then(|| ObjectId::new(index as usize))
    }
}

/// The cells of a stored value. `width` is in bytes.
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

/// What cells make together.
pub(crate) enum Assembled {
    Value(Value),
    /// A byte is undefined, or of a type that can't be made.
    Undefined,
    /// Bytes of a pointer beside others: only the number that they make together is a value.
    Mixed,
    /// Something that an integer may be written over.
    Lost,
}

/// The value that cells make together when they are read as `ty`. A pointer's bytes are not looked at: they stay the
/// pointer, or a part of it, in whatever register they are.
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
    if cells.contains(&Cell::Lost) {
        return Assembled::Lost;
    }
    if cells.iter().any(|cell| matches!(cell, Cell::Undefined | Cell::Unmade | Cell::Shared { .. })) {
        return Assembled::Undefined;
    }
    let bytes: Option<Vec<TermId>> = cells.iter().map(|cell| cell_term(*cell, terms)).collect();
    match bytes {
        Some(bytes) => {
            let whole = in_order(&bytes, terms);
            Assembled::Value(Value::term(terms, whole))
        }
        None => Assembled::Mixed,
    }
}

/// Bytes as one number, the lowest first.
pub(crate) fn in_order(bytes: &[TermId], terms: &mut Terms) -> TermId {
    let (first, others) = bytes.split_first().expect("invariant: a value has at least one byte");
    others.iter().fold(*first, |low, byte| terms.concat(*byte, low))
}

/// One cell as an 8-bit term; `None` if it is undefined, or a pointer's.
pub(crate) fn cell_term(cell: Cell, terms: &mut Terms) -> Option<TermId> {
    match cell {
        Cell::Undefined | Cell::Unmade | Cell::Shared { .. } | Cell::Lost | Cell::Pointer { .. } => None,
        Cell::Byte(byte) => Some(terms.constant(8, u64::from(byte))),
        Cell::Part { term, index } => Some(terms.extract(term, 8 * index, 8)),
    }
}

/// The width of a pointer's address, or of the part of one that this is.
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

/// A pointer as a 64-bit address, a part of one as a number of its width; `None` for one that is undecided.
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
        Value::Lazy(_) | Value::Undefined => None,
    }
}
