//! Copy-on-write contents of objects: bytes, definedness, and intact pointers.
//!
//! Many runs begin with the same globals. Contents that exist when a machine's memory is [shared](ContentStores::share) are
//! stored once for all of its copies; the first write copies them.

use crate::value::ObjectId;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use touchstone_base::{WorkKind, spend};

/// The maximum capacity, in bytes, of a dead object's buffers that are reused.
pub(crate) const MAX_REUSED_CAPACITY: usize = 4096;

/// The contents of one object.
#[derive(Clone, Default)]
pub(crate) struct ObjectContents<'m> {
    pub name: Cow<'m, str>,
    pub bytes: Vec<u8>,
    /// One flag per byte; empty while `all_defined`.
    pub defined: Vec<bool>,
    pub all_defined: bool,
    /// The offset of each intact stored pointer, and the object that it points to.
    pub pointers: BTreeMap<u64, ObjectId>,
}

/// The stores of a memory, by number: first the shared ones, then its own.
#[derive(Clone, Default)]
pub(crate) struct ContentStores<'m> {
    shared: Arc<Vec<ObjectContents<'m>>>,
    own: Vec<ObjectContents<'m>>,
    free: Vec<u32>,
}

impl<'m> ContentStores<'m> {
    /// From now on, copies share the existing stores.
    pub fn share(&mut self) {
        if self.shared.is_empty() && self.free.is_empty() {
            self.shared = Arc::new(std::mem::take(&mut self.own));
        }
    }

    #[inline]
    pub fn get(&self, number: u32) -> Option<&ObjectContents<'m>> {
        let number = number as usize;
        match number.checked_sub(self.shared.len()) {
            Some(own) => self.own.get(own),
            None => self.shared.get(number),
        }
    }

    /// Returns a store that is not shared.
    #[inline]
    pub fn get_own(&mut self, number: u32) -> Option<&mut ObjectContents<'m>> {
        self.own.get_mut((number as usize).checked_sub(self.shared.len())?)
    }

    /// Returns a store.
    #[inline]
    pub fn at(&self, number: u32) -> &ObjectContents<'m> {
        let number = number as usize;
        match number.checked_sub(self.shared.len()) {
            Some(own) => &self.own[own],
            None => &self.shared[number],
        }
    }

    /// Returns a store that is not shared.
    #[inline]
    pub fn at_mut(&mut self, number: u32) -> &mut ObjectContents<'m> {
        &mut self.own[number as usize - self.shared.len()]
    }

    /// Returns the number of a store after making it writable.
    #[inline]
    pub fn owned(&mut self, number: u32) -> u32 {
        match (number as usize) < self.shared.len() {
            true => {
                let copy = self.shared[number as usize].clone();
                spend(WorkKind::Kibibyte, copy.bytes.len() as u64 >> 10);
                self.push(copy)
            }
            false => number,
        }
    }

    /// Returns a store for a new object; the caller initialises its contents.
    pub fn fresh(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.push(ObjectContents::default()))
    }

    /// Adds a store, without reusing a free one.
    pub fn push(&mut self, store: ObjectContents<'m>) -> u32 {
        self.own.push(store);
        (self.shared.len() + self.own.len() - 1) as u32
    }

    /// Frees a store.
    pub fn release(&mut self, number: u32) {
        if (number as usize) < self.shared.len() {
            return;
        }
        let store = self.at_mut(number);
        if store.bytes.capacity() > MAX_REUSED_CAPACITY {
            *store = ObjectContents::default();
        } else {
            store.name = Cow::Borrowed("");
            store.bytes.clear();
            store.defined.clear();
            store.pointers.clear();
        }
        self.free.push(number);
    }
}

/// Returns true if all flags are set; common lengths are one comparison.
#[inline]
fn all_set(flags: &[bool]) -> bool {
    match *flags {
        [flag] => flag,
        [a, b] => a && b,
        [a, b, c, d] => [a, b, c, d] == [true; 4],
        [a, b, c, d, e, f, g, h] => [a, b, c, d, e, f, g, h] == [true; 8],
        _ => flags.iter().all(|&flag| flag),
    }
}

/// Sets all flags; common lengths need no loop.
#[inline]
pub(crate) fn set_all(flags: &mut [bool]) {
    match flags.len() {
        1 => flags[0] = true,
        2 => flags.copy_from_slice(&[true; 2]),
        4 => flags.copy_from_slice(&[true; 4]),
        8 => flags.copy_from_slice(&[true; 8]),
        _ => flags.fill(true),
    }
}

impl ObjectContents<'_> {
    #[inline]
    pub fn is_defined(&self, start: usize, length: usize) -> bool {
        self.all_defined || all_set(&self.defined[start..start + length])
    }

    /// Records that a range was overwritten with defined bytes that are not a pointer. Returns true if a part of a
    /// pointer remains beside it, which is then an integer.
    #[inline]
    #[must_use]
    pub fn written(&mut self, start: usize, length: usize) -> bool {
        if !self.all_defined {
            set_all(&mut self.defined[start..start + length]);
        }
        !self.pointers.is_empty() && length > 0 && self.forget_pointers(start, length)
    }

    /// Returns true if a range overlaps an intact pointer.
    pub fn holds_pointer(&self, start: usize, length: usize) -> bool {
        self.pointers_at(start, length).next().is_some()
    }

    /// Returns the intact pointers that a range overlaps.
    pub fn pointers_at(&self, start: usize, length: usize) -> impl Iterator<Item = u64> + '_ {
        let end = if length == 0 { 0 } else { (start + length) as u64 };
        self.pointers.range((start as u64).saturating_sub(7).min(end)..end).map(|(&at, _)| at)
    }

    /// Invalidates the pointers that a range overlaps. Returns true if it overlaps one only partially.
    fn forget_pointers(&mut self, start: usize, length: usize) -> bool {
        let (first, end) = ((start as u64).saturating_sub(7), (start + length) as u64);
        let mut cut = false;
        while let Some((&at, _)) = self.pointers.range(first..end).next() {
            self.pointers.remove(&at);
            cut |= at < start as u64 || at + 8 > end;
        }
        cut
    }

    /// Switches to one flag per byte.
    pub fn track(&mut self) {
        if self.all_defined {
            self.all_defined = false;
            self.defined.clear();
            self.defined.resize(self.bytes.len(), true);
        }
    }
}
