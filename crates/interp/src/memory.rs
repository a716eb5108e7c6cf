//! Byte-addressed memory objects.
//!
//! Every object has its bytes, a definedness flag per byte, and the offsets at which intact pointers are stored (their
//! provenance). The bytes of a stored pointer are its address, so code that copies pointers bytewise works: a pointer
//! that is read without provenance is found by its address.
//!
//! Addresses are assigned in order of allocation, aligned to 16 and with a guard gap after every object, and are never
//! reused. So an address identifies one object for ever, and an access just past an object never hits another one. A
//! run that converts a pointer to an integer is detected, and can be repeated with other addresses ([`AddressLayout`]).
//!
//! A dead object keeps only a small record, which makes dangling pointers recognisable; therefore the number of objects
//! counts against the memory limit.

use crate::object_records::Records;
use crate::stores::{ContentStores, MAX_REUSED_CAPACITY, ObjectContents, set_all};
use crate::value::{ObjectId, Pointer, Value};
use std::borrow::Cow;
use std::cell::Cell;
use touchstone_base::{Id, WorkKind, spend};
use touchstone_ir::{CmpOp, ErrorKind, Ty};

/// Addresses below this bound count as null.
const NULL_PAGE_BYTES: u64 = 4096;
const FIRST_ADDRESS: u64 = 0x10_0000;
/// The first address in the other layout. All bytes that real addresses use differ, so a result that is equal in both
/// layouts does not depend on an address.
const FAR_ADDRESS: u64 = 0x555a_c3d2_e1f0;
const GUARD: u64 = 4096;
/// The number of bytes that the record of an object, alive or dead, counts against the memory limit.
const BYTES_PER_RECORD: u64 = 32;
/// The maximum size of the locals of all frames, in bytes, as in most compiled programs.
const MAX_STACK_BYTES: u64 = 8 << 20;
const DEAD: u32 = u32::MAX;

/// The layout of objects in memory. Programs must not depend on it, except through addresses that are converted to
/// integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AddressLayout {
    /// Compact, at multiples of 16.
    #[default]
    Compact,
    /// At other addresses, further apart, and only as aligned as an object of that size has to be.
    Spread,
}

/// The storage class of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ObjectKind {
    /// An input of a test, allocated by the user of the machine.
    Input,
    /// Allocated by `malloc` or `calloc`; may be freed.
    Heap,
    /// A memory variable of a frame.
    Slot,
    /// Allocated by `alloca`: its lifetime ends with its frame.
    Stack,
    /// A global.
    Global,
}

impl ObjectKind {
    /// Returns true if it is on the stack.
    fn is_local(self) -> bool {
        matches!(self, ObjectKind::Slot | ObjectKind::Stack)
    }
}

/// The properties of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ObjectInfo<'a> {
    /// The name; empty after the object's lifetime.
    pub name: &'a str,
    /// The storage class.
    pub kind: ObjectKind,
    /// The size in bytes.
    pub size: u64,
    /// The address of its first byte.
    pub address: u64,
    /// True during its lifetime.
    pub alive: bool,
}

#[derive(Clone, Copy)]
struct Record {
    base: u64,
    size: u64,
    store: u32,
    kind: ObjectKind,
    read_only: bool,
}

/// The initial contents of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fill {
    Undefined,
    Zero,
}

/// All objects of a machine.
#[derive(Clone)]
pub(crate) struct Memory<'m> {
    records: Records<Record>,
    stores: ContentStores<'m>,
    next_address: u64,
    live_bytes: u64,
    /// The bytes of locals among them.
    stack_bytes: u64,
    limit: u64,
    scratch: Vec<u8>,
    scratch_defined: Vec<bool>,
    layout: AddressLayout,
    /// True after a pointer was converted to an integer.
    shown: Cell<bool>,
    /// True after an integer that stems from no pointer was used as the address of an object.
    guessed: Cell<bool>,
}

impl<'m> Memory<'m> {
    pub fn new(limit: u64, layout: AddressLayout) -> Self {
        Memory {
            records: Records::default(),
            stores: ContentStores::default(),
            next_address: match layout {
                AddressLayout::Compact => FIRST_ADDRESS,
                AddressLayout::Spread => FAR_ADDRESS,
            },
            live_bytes: 0,
            stack_bytes: 0,
            limit,
            scratch: Vec::new(),
            scratch_defined: Vec::new(),
            layout,
            shown: Cell::new(false),
            guessed: Cell::new(false),
        }
    }

    /// From now on, copies share the contents of objects until one of them writes.
    pub fn share(&mut self) {
        self.records.share();
        self.stores.share();
    }

    /// Sets the limit. Returns true if the current size respects it.
    pub fn limit_to(&mut self, limit: u64) -> bool {
        self.limit = limit;
        self.live_bytes.saturating_add(self.records.len() as u64 * BYTES_PER_RECORD) <= limit
    }

    /// Allocates an object, or returns `None` if the limit does not admit it.
    pub fn alloc(&mut self, size: u64, name: Cow<'m, str>, kind: ObjectKind, fill: Fill) -> Option<ObjectId> {
        let records = (self.records.len() as u64 + 1) * BYTES_PER_RECORD;
        let total = self.live_bytes.checked_add(size)?.checked_add(records)?;
        let length = usize::try_from(size).ok()?;
        let local = if kind.is_local() { size } else { 0 };
        if self.stack_bytes + local > MAX_STACK_BYTES {
            return None;
        }
        if total > self.limit || self.records.len() as u64 >= u64::from(DEAD) {
            return None;
        }
        let index = self.stores.fresh();
        let store = self.stores.at_mut(index);
        store.name = name;
        store.all_defined = fill == Fill::Zero;
        if length > MAX_REUSED_CAPACITY {
            spend(WorkKind::Kibibyte, size >> 10);
            // The system provides zeroed pages lazily.
            store.bytes = vec![0; length];
            store.defined = vec![false; if store.all_defined { 0 } else { length }];
        } else {
            store.bytes.resize(length, 0);
            store.defined.resize(if store.all_defined { 0 } else { length }, false);
        }
        self.live_bytes += size;
        self.stack_bytes += local;
        let base = match self.layout {
            AddressLayout::Compact => self.next_address,
            AddressLayout::Spread => {
                let align = match kind {
                    ObjectKind::Heap => 16,
                    _ => 1 << size.trailing_zeros().min(4),
                };
                self.next_address.next_multiple_of(2 * align) + align
            }
        };
        self.next_address = (base + size + GUARD).next_multiple_of(16);
        Some(self.records.push(Record { base, size, store: index, kind, read_only: false }))
    }

    /// Allocates an empty object in place of one that exceeds the limit.
    pub fn alloc_beyond_limit(&mut self, kind: ObjectKind) -> ObjectId {
        let base = self.next_address;
        self.next_address += GUARD;
        let store = self.stores.push(ObjectContents::default());
        self.records.push(Record { base, size: 0, store, kind, read_only: false })
    }

    /// Ends the lifetime of an object.
    pub fn kill(&mut self, object: ObjectId) {
        let record = &mut self.records[object];
        if record.store == DEAD {
            return;
        }
        self.stores.release(record.store);
        self.live_bytes -= record.size;
        if record.kind.is_local() {
            self.stack_bytes -= record.size;
        }
        record.store = DEAD;
    }

    /// Makes an object read-only.
    pub fn set_read_only(&mut self, object: ObjectId) {
        self.records[object].read_only = true;
    }

    /// Makes an object writable. Returns true if it was read-only.
    pub fn unlock(&mut self, object: ObjectId) -> bool {
        std::mem::take(&mut self.records[object].read_only)
    }

    /// Makes all bytes undefined.
    pub fn make_undefined(&mut self, object: ObjectId) {
        if self.records[object].store != DEAD {
            let store = self.own_store(object);
            let store = self.stores.at_mut(store);
            store.all_defined = false;
            store.defined.clear();
            store.defined.resize(store.bytes.len(), false);
            store.pointers.clear();
        }
    }

    pub fn info(&self, object: ObjectId) -> ObjectInfo<'_> {
        let record = self.records[object];
        let name = match self.stores.get(record.store) {
            Some(store) => store.name.as_ref(),
            None => "",
        };
        let alive = record.store != DEAD;
        ObjectInfo { name, kind: record.kind, size: record.size, address: record.base, alive }
    }

    /// Returns true if this is a pointer to an object after its lifetime.
    pub fn is_gone(&self, value: Value) -> bool {
        matches!(value, Value::Ptr(pointer) if self.records[pointer.object].store == DEAD)
    }

    /// Returns the number of the store of a live object that is about to be written.
    #[inline]
    fn own_store(&mut self, object: ObjectId) -> u32 {
        let record = &mut self.records[object];
        record.store = self.stores.owned(record.store);
        record.store
    }

    /// Returns all live objects.
    pub fn live(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.records.iter().filter(|(_, record)| record.store != DEAD).map(|(id, _)| id)
    }

    /// Returns the offsets of intact pointers in an object.
    pub fn pointer_places(&self, object: ObjectId) -> Vec<u64> {
        let store = self.stores.get(self.records[object].store);
        store.map_or(Vec::new(), |store| store.pointers.keys().copied().collect())
    }

    // Addresses.

    /// Returns the address of a pointer.
    #[inline]
    pub fn address(&self, pointer: Pointer) -> u64 {
        self.records[pointer.object].base.wrapping_add(pointer.offset as u64)
    }

    /// Returns the pointer for an address: to the object that contains it or ends there, otherwise a bare address.
    pub fn pointer_at(&self, address: u64) -> Value {
        // Records are sorted by address.
        let (mut low, mut high) = (0, self.records.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.records[ObjectId::new(middle)].base <= address { low = middle + 1 } else { high = middle }
        }
        let Some(index) = low.checked_sub(1) else { return Value::Int(address) };
        let record = self.records[ObjectId::new(index)];
        let offset = address - record.base;
        if offset > record.size { Value::Int(address) } else { Value::ptr(ObjectId::new(index), offset as i64) }
    }

    /// Converts a value to an integer; a pointer is converted to its address.
    #[inline]
    pub fn as_int(&self, value: Value) -> Result<u64, ErrorKind> {
        match value {
            Value::Int(value) => Ok(value),
            Value::Ptr(pointer) => {
                self.shown.set(true);
                Ok(self.address(pointer))
            }
            Value::Undefined => Err(ErrorKind::Uninitialised),
        }
    }

    /// Returns true if a pointer was converted to an integer.
    pub fn shows_addresses(&self) -> bool {
        self.shown.get()
    }

    /// Returns the pointer that `value` denotes as an address.
    #[inline]
    pub fn resolve(&self, value: Value) -> Result<Pointer, ErrorKind> {
        match value {
            Value::Ptr(pointer) => Ok(pointer),
            Value::Int(address) if address < NULL_PAGE_BYTES => Err(ErrorKind::NullPointer),
            Value::Int(address) => match self.pointer_at(address) {
                Value::Ptr(pointer) => {
                    self.guessed.set(self.guessed.get() || !self.shown.get());
                    Ok(pointer)
                }
                _ => Err(ErrorKind::InvalidPointer),
            },
            Value::Undefined => Err(ErrorKind::Uninitialised),
        }
    }

    /// Converts an integer in memory to a pointer.
    fn read_as_pointer(&self, bits: u64) -> Value {
        let value = self.pointer_at(bits);
        let by_chance = matches!(value, Value::Ptr(_)) && !self.shown.get();
        self.guessed.set(self.guessed.get() || by_chance);
        value
    }

    /// Returns true if an integer was used as the address of an object although no address was ever converted to an
    /// integer.
    pub fn guesses_addresses(&self) -> bool {
        self.guessed.get()
    }

    /// Returns true if `a op b` holds for pointers: distinct objects are never equal and are ordered by address.
    pub fn compare(&self, op: CmpOp, a: Value, b: Value) -> Result<bool, ErrorKind> {
        match (a, b) {
            (Value::Ptr(left), Value::Ptr(right)) if left.object == right.object => {
                return Ok(crate::arith::cmp(op, self.address(left), self.address(right), 64));
            }
            (Value::Ptr(_), Value::Ptr(_)) if matches!(op, CmpOp::Eq | CmpOp::Ne) => return Ok(op == CmpOp::Ne),
            // No object is at null, in any layout.
            (Value::Ptr(pointer), Value::Int(0)) => return Ok(crate::arith::cmp(op, self.address(pointer), 0, 64)),
            (Value::Int(0), Value::Ptr(pointer)) => return Ok(crate::arith::cmp(op, 0, self.address(pointer), 64)),
            _ => {}
        }
        Ok(crate::arith::cmp(op, self.as_int(a)?, self.as_int(b)?, 64))
    }

    // Checked access.

    /// Returns the store and the offset in it, if `length` bytes at the place may be accessed.
    #[inline]
    fn locate(&self, place: Pointer, length: u64) -> Result<(u32, usize), ErrorKind> {
        let record = &self.records[place.object];
        if record.store == DEAD {
            return Err(ErrorKind::Dangling);
        }
        // A negative offset is a huge unsigned one.
        let offset = place.offset as u64;
        if offset > record.size || length > record.size - offset {
            return Err(ErrorKind::OutOfBounds);
        }
        Ok((record.store, offset as usize))
    }

    #[inline]
    fn locate_for_write(&mut self, place: Pointer, length: u64) -> Result<(u32, usize), ErrorKind> {
        self.check_write(place, length)?;
        Ok((self.own_store(place.object), place.offset as usize))
    }

    /// Checks that a range may be read.
    pub fn check_read(&self, place: Pointer, length: u64) -> Result<(), ErrorKind> {
        self.locate(place, length).map(|_| ())
    }

    /// Checks that a range may be written.
    #[inline]
    pub fn check_write(&self, place: Pointer, length: u64) -> Result<(), ErrorKind> {
        self.locate(place, length)?;
        if self.records[place.object].read_only { Err(ErrorKind::ReadOnly) } else { Ok(()) }
    }

    /// Reads a value; undefined bytes are an error.
    pub fn load(&self, place: Pointer, ty: Ty) -> Result<Value, ErrorKind> {
        let length = usize::from(ty.bytes());
        let (store, start) = self.locate(place, length as u64)?;
        let store = self.stores.at(store);
        if !store.is_defined(start, length) {
            return Err(ErrorKind::Uninitialised);
        }
        let bits = read_word(&store.bytes[start..start + length]);
        match ty {
            Ty::Int(width) => {
                if !store.pointers.is_empty() && store.holds_pointer(start, length) {
                    self.shown.set(true);
                }
                Ok(Value::Int(touchstone_ir::mask(bits, width)))
            }
            Ty::Ptr => Ok(match store.pointers.get(&(start as u64)) {
                Some(&object) => Value::ptr(object, bits.wrapping_sub(self.records[object].base) as i64),
                None if bits < NULL_PAGE_BYTES => Value::Int(bits),
                None => self.read_as_pointer(bits),
            }),
        }
    }

    /// Reads an integer of `N` bytes if the object is alive and holds no pointer, and these bytes are defined.
    /// Otherwise [`Memory::load`] decides.
    #[inline(always)]
    pub fn load_plain<const N: usize>(&self, place: Pointer) -> Option<u64> {
        // A dead object has no store, and a negative offset is beyond every object.
        let store = self.stores.get(self.records[place.object].store)?;
        let start = place.offset as usize;
        let bytes = store.bytes.get(start..)?.first_chunk::<N>()?;
        let is_plain = store.pointers.is_empty() && store.is_defined(start, N);
        let mut word = [0; 8];
        word[..N].copy_from_slice(bytes);
        is_plain.then(|| u64::from_le_bytes(word))
    }

    /// Writes the low `N` bytes of an integer if the object is alive, writable and not shared, and holds no pointer.
    /// Returns false if [`Memory::store`] must decide.
    #[inline(always)]
    pub fn store_plain<const N: usize>(&mut self, place: Pointer, word: u64) -> bool {
        let record = &self.records[place.object];
        if record.read_only {
            return false;
        }
        let Some(store) = self.stores.get_own(record.store) else { return false };
        let start = place.offset as usize;
        let Some(bytes) = store.bytes.get_mut(start..).and_then(|bytes| bytes.first_chunk_mut::<N>()) else {
            return false;
        };
        if !store.pointers.is_empty() {
            return false;
        }
        bytes.copy_from_slice(&word.to_le_bytes()[..N]);
        if !store.all_defined {
            set_all(&mut store.defined[start..start + N]);
        }
        true
    }

    /// Writes a value; an undefined value is an error.
    pub fn store(&mut self, place: Pointer, ty: Ty, value: Value) -> Result<(), ErrorKind> {
        let length = usize::from(ty.bytes());
        let (store, start) = self.locate_for_write(place, length as u64)?;
        let word = match value {
            Value::Ptr(pointer) => self.address(pointer),
            other => self.as_int(other)?,
        };
        if matches!((value, ty), (Value::Ptr(_), Ty::Int(_))) {
            self.shown.set(true);
        }
        let store = self.stores.at_mut(store);
        write_word(&mut store.bytes[start..start + length], word);
        let cut = store.written(start, length);
        self.shown.set(self.shown.get() || cut);
        if let (Value::Ptr(pointer), Ty::Ptr) = (value, ty) {
            store.pointers.insert(start as u64, pointer.object);
        }
        Ok(())
    }

    /// Returns the bytes of a range, `None` for undefined ones.
    pub fn peek(&self, place: Pointer, length: u64) -> Result<Vec<Option<u8>>, ErrorKind> {
        let (store, start) = self.locate(place, length)?;
        let store = self.stores.at(store);
        let range = start..start + length as usize;
        Ok(range.map(|index| store.is_defined(index, 1).then(|| store.bytes[index])).collect())
    }

    /// Writes bytes; pointers that they overlap are no longer intact.
    pub fn write_bytes(&mut self, place: Pointer, bytes: &[u8]) -> Result<(), ErrorKind> {
        let (store, start) = self.locate_for_write(place, bytes.len() as u64)?;
        let store = self.stores.at_mut(store);
        store.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        let cut = store.written(start, bytes.len());
        self.shown.set(self.shown.get() || cut);
        Ok(())
    }

    /// Sets the undefined bytes of a range to zero.
    pub fn define_with_zeros(&mut self, place: Pointer, length: u64) -> Result<(), ErrorKind> {
        let (store, start) = self.locate_for_write(place, length)?;
        let store = self.stores.at_mut(store);
        if !store.all_defined {
            for index in start..start + length as usize {
                if !store.defined[index] {
                    store.bytes[index] = 0;
                    store.defined[index] = true;
                }
            }
        }
        Ok(())
    }

    /// Sets a range to one byte.
    pub fn fill(&mut self, place: Pointer, byte: u8, length: u64) -> Result<(), ErrorKind> {
        let (store, start) = self.locate_for_write(place, length)?;
        let store = self.stores.at_mut(store);
        store.bytes[start..start + length as usize].fill(byte);
        let cut = store.written(start, length as usize);
        self.shown.set(self.shown.get() || cut);
        Ok(())
    }

    /// Copies a range with its undefined bytes and pointers; the ranges may overlap. The source is checked first.
    pub fn copy(&mut self, to: Pointer, from: Pointer, length: u64) -> Result<(), ErrorKind> {
        self.locate(from, length)?;
        let (target, target_start) = self.locate_for_write(to, length)?;
        let (source, source_start) = self.locate(from, length)?;
        let length = length as usize;
        let store = self.stores.at(source);
        let range = source_start..source_start + length;
        self.scratch.clear();
        self.scratch.extend_from_slice(&store.bytes[range.clone()]);
        self.scratch_defined.clear();
        if !store.all_defined {
            self.scratch_defined.extend_from_slice(&store.defined[range.clone()]);
        }
        let last = (range.end as u64).saturating_sub(7);
        let pointers: Vec<(u64, ObjectId)> = match (range.start as u64) < last {
            true => store.pointers.range(range.start as u64..last).map(|(&at, &object)| (at, object)).collect(),
            false => Vec::new(),
        };
        let split = !store.pointers.is_empty() && store.pointers_at(range.start, length).count() > pointers.len();
        let all_defined = store.all_defined || self.scratch_defined.iter().all(|&defined| defined);

        let store = self.stores.at_mut(target);
        let range = target_start..target_start + length;
        store.bytes[range.clone()].copy_from_slice(&self.scratch);
        let cut = store.written(target_start, length) || split;
        self.shown.set(self.shown.get() || cut);
        if !all_defined {
            store.track();
            store.defined[range].copy_from_slice(&self.scratch_defined);
        }
        for (at, object) in pointers {
            store.pointers.insert(at - source_start as u64 + target_start as u64, object);
        }
        Ok(())
    }

    /// Returns the bytes from a place up to a NUL, but at most `limit` of them.
    pub fn text(&self, place: Pointer, limit: u64) -> Result<Vec<u8>, ErrorKind> {
        let mut text = Vec::new();
        let mut at = place;
        while (text.len() as u64) < limit {
            match self.load(at, Ty::I8)? {
                Value::Int(0) => break,
                Value::Int(byte) => text.push(byte as u8),
                Value::Ptr(_) | Value::Undefined => return Err(ErrorKind::Uninitialised),
            }
            at.offset += 1;
        }
        Ok(text)
    }
}

/// Reads up to 8 bytes as an integer; common lengths need no loop.
#[inline]
fn read_word(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// Writes the low bytes of an integer.
#[inline]
fn write_word(bytes: &mut [u8], word: u64) {
    match bytes.len() {
        1 => bytes[0] = word as u8,
        2 => bytes.copy_from_slice(&(word as u16).to_le_bytes()),
        4 => bytes.copy_from_slice(&(word as u32).to_le_bytes()),
        8 => bytes.copy_from_slice(&word.to_le_bytes()),
        length => bytes.copy_from_slice(&word.to_le_bytes()[..length]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory<'static> {
        Memory::new(1 << 20, AddressLayout::Compact)
    }

    fn object(memory: &mut Memory, size: u64, fill: Fill) -> ObjectId {
        memory.alloc(size, Cow::Borrowed("x"), ObjectKind::Input, fill).expect("within the limit")
    }

    fn at(object: ObjectId, offset: i64) -> Pointer {
        Pointer { object, offset }
    }

    #[test]
    fn undefined_bytes_travel_with_a_copy_and_cannot_be_read() {
        let mut memory = memory();
        let a = object(&mut memory, 8, Fill::Undefined);
        let b = object(&mut memory, 8, Fill::Zero);
        memory.store(at(a, 0), Ty::I16, Value::Int(0x1234)).expect("in bounds");
        assert_eq!(memory.load(at(a, 0), Ty::I32), Err(ErrorKind::Uninitialised));
        memory.copy(at(b, 2), at(a, 0), 4).expect("in bounds");
        assert_eq!(memory.load(at(b, 2), Ty::I16), Ok(Value::Int(0x1234)));
        assert_eq!(memory.load(at(b, 4), Ty::I8), Err(ErrorKind::Uninitialised));
        assert_eq!(memory.load(at(b, 6), Ty::I16), Ok(Value::Int(0)));
    }

    #[test]
    fn a_copied_pointer_stays_a_pointer_and_a_damaged_one_does_not() {
        let mut memory = memory();
        let (a, b) = (object(&mut memory, 24, Fill::Zero), object(&mut memory, 4, Fill::Zero));
        let outside = Value::ptr(b, 1000);
        memory.store(at(a, 0), Ty::Ptr, outside).expect("in bounds");
        memory.copy(at(a, 5), at(a, 0), 12).expect("in bounds");
        assert_eq!(memory.load(at(a, 5), Ty::Ptr), Ok(outside));
        // The overlapping copy destroyed the original.
        assert_ne!(memory.load(at(a, 0), Ty::Ptr), Ok(outside));
        memory.store(at(a, 12), Ty::I8, Value::Int(0xff)).expect("in bounds");
        assert!(matches!(memory.load(at(a, 5), Ty::Ptr), Ok(Value::Int(_))));
    }

    #[test]
    fn a_pointer_that_is_copied_byte_by_byte_is_found_by_its_address() {
        let mut memory = memory();
        let (a, b) = (object(&mut memory, 16, Fill::Zero), object(&mut memory, 4, Fill::Zero));
        memory.store(at(a, 0), Ty::Ptr, Value::ptr(b, 4)).expect("in bounds");
        for offset in 0..8 {
            let byte = memory.load(at(a, offset), Ty::I8).expect("in bounds");
            memory.store(at(a, offset + 8), Ty::I8, byte).expect("in bounds");
        }
        assert_eq!(memory.load(at(a, 8), Ty::Ptr), Ok(Value::ptr(b, 4)));
    }

    #[test]
    fn every_wrong_access_has_its_kind() {
        let mut memory = memory();
        let (a, dead, constant) = (
            object(&mut memory, 4, Fill::Zero),
            object(&mut memory, 4, Fill::Zero),
            object(&mut memory, 4, Fill::Zero),
        );
        memory.kill(dead);
        memory.set_read_only(constant);
        let check = |value, expected| {
            let got = memory.resolve(value).and_then(|place| memory.load(place, Ty::I32)).map(|_| ());
            assert_eq!(got, expected, "{value:?}");
        };
        check(Value::ptr(a, 0), Ok(()));
        check(Value::ptr(a, 1), Err(ErrorKind::OutOfBounds));
        check(Value::ptr(a, -1), Err(ErrorKind::OutOfBounds));
        check(Value::ptr(a, i64::MIN), Err(ErrorKind::OutOfBounds));
        check(Value::ptr(dead, 0), Err(ErrorKind::Dangling));
        check(Value::ptr(constant, 0), Ok(()));
        check(Value::Int(0), Err(ErrorKind::NullPointer));
        check(Value::Int(4095), Err(ErrorKind::NullPointer));
        check(Value::Int(4096), Err(ErrorKind::InvalidPointer));
        check(Value::Int(u64::MAX), Err(ErrorKind::InvalidPointer));
        check(Value::Int(memory.address(at(a, 0))), Ok(()));
        check(Value::Undefined, Err(ErrorKind::Uninitialised));
        assert_eq!(memory.store(at(constant, 0), Ty::I8, Value::Int(1)), Err(ErrorKind::ReadOnly));
    }

    #[test]
    fn pointers_into_different_objects_are_never_equal_and_ordered_by_address() {
        let mut memory = memory();
        let (a, b) = (object(&mut memory, 4, Fill::Zero), object(&mut memory, 4, Fill::Zero));
        let meets = (memory.address(at(b, 0)) - memory.address(at(a, 0))) as i64;
        let check = |op, x, y, expected| assert_eq!(memory.compare(op, x, y), Ok(expected), "{op:?} {x:?} {y:?}");
        check(CmpOp::Eq, Value::ptr(a, meets), Value::ptr(b, 0), false);
        check(CmpOp::Ne, Value::ptr(a, meets), Value::ptr(b, 0), true);
        check(CmpOp::Ult, Value::ptr(a, 0), Value::ptr(b, 0), true);
        check(CmpOp::Ult, Value::ptr(a, -1), Value::ptr(a, 0), true);
        check(CmpOp::Eq, Value::NULL, Value::ptr(a, 0), false);
        check(CmpOp::Eq, Value::NULL, Value::NULL, true);
    }

    #[test]
    fn copies_share_what_they_begin_with_and_nothing_that_they_write() {
        let mut memory = memory();
        let (a, b) = (object(&mut memory, 16, Fill::Zero), object(&mut memory, 8, Fill::Zero));
        memory.store(at(a, 0), Ty::Ptr, Value::ptr(b, 4)).expect("in bounds");
        memory.share();
        let (mut one, mut other) = (memory.clone(), memory.clone());
        one.store(at(a, 8), Ty::I32, Value::Int(7)).expect("in bounds");
        one.copy(at(b, 0), at(a, 8), 4).expect("in bounds");
        assert_eq!(one.load(at(a, 0), Ty::Ptr), Ok(Value::ptr(b, 4)));
        assert_eq!(one.load(at(b, 0), Ty::I32), Ok(Value::Int(7)));
        other.kill(b);
        let fresh = object(&mut other, 8, Fill::Zero);
        assert_eq!(other.load(at(fresh, 0), Ty::I64), Ok(Value::Int(0)));
        assert_eq!(other.load(at(b, 0), Ty::I32), Err(ErrorKind::Dangling));
        assert_eq!(memory.load(at(a, 8), Ty::I32), Ok(Value::Int(0)));
        assert_eq!(memory.load(at(b, 0), Ty::I32), Ok(Value::Int(0)));
    }

    #[test]
    fn the_limit_counts_live_bytes_and_dead_records() {
        let mut memory = Memory::new(1000, AddressLayout::Compact);
        let a = object(&mut memory, 900, Fill::Zero);
        let more = |memory: &mut Memory| memory.alloc(500, Cow::Borrowed(""), ObjectKind::Heap, Fill::Zero);
        assert_eq!(more(&mut memory), None);
        memory.kill(a);
        assert!(more(&mut memory).is_some());
        assert_eq!(memory.alloc(u64::MAX, Cow::Borrowed(""), ObjectKind::Heap, Fill::Zero), None);
        let mut count = 0;
        while let Some(object) = memory.alloc(0, Cow::Borrowed(""), ObjectKind::Heap, Fill::Zero) {
            memory.kill(object);
            count += 1;
        }
        assert!(count < 20);
    }

    #[test]
    fn no_byte_of_an_address_is_the_same_in_both_layouts() {
        let (close, apart) = (FIRST_ADDRESS.to_le_bytes(), FAR_ADDRESS.to_le_bytes());
        // Processes have addresses of 48 bits.
        assert!((0..6).all(|at| close[at] != apart[at]), "{close:x?} {apart:x?}");
    }
}
