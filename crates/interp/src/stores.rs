//! What objects hold: their bytes, which of them are defined, and where intact pointers are stored.
//!
//! Many runs begin with the same globals. What was there when a machine's memory was [shared](Stores::share) is there once for all its
//! copies; whoever writes to it first gets a store of its own.

use crate::value::ObjectId;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A dead object's buffers are kept for the next one up to this size.
pub(crate) const KEEP_CAPACITY: usize = 4096;

/// What one object holds.
#[derive(Clone, Default)]
pub(crate) struct Store<'m> {
    pub name: Cow<'m, str>,
    pub bytes: Vec<u8>,
    /// One flag a byte; empty while `all_defined`.
    pub defined: Vec<bool>,
    pub all_defined: bool,
    /// Offset of each intact stored pointer, and the object it points into.
    pub pointers: BTreeMap<u64, ObjectId>,
}

/// The stores of a memory, by number: first those that are shared, then its own.
#[derive(Clone, Default)]
pub(crate) struct Stores<'m> {
    shared: Arc<Vec<Store<'m>>>,
    own: Vec<Store<'m>>,
    free: Vec<u32>,
}

impl<'m> Stores<'m> {
    /// From now on, copies share what is there.
    pub fn share(&mut self) {
        if self.shared.is_empty() && self.free.is_empty() {
            self.shared = Arc::new(std::mem::take(&mut self.own));
        }
    }

    #[inline]
    pub fn get(&self, number: u32) -> Option<&Store<'m>> {
        let number = number as usize;
        match number.checked_sub(self.shared.len()) {
            Some(own) => self.own.get(own),
            None => self.shared.get(number),
        }
    }

    /// One that is there.
    #[inline]
    pub fn at(&self, number: u32) -> &Store<'m> {
        let number = number as usize;
        match number.checked_sub(self.shared.len()) {
            Some(own) => &self.own[own],
            None => &self.shared[number],
        }
    }

    /// One that is the memory's own.
    #[inline]
    pub fn at_mut(&mut self, number: u32) -> &mut Store<'m> {
        &mut self.own[number as usize - self.shared.len()]
    }

    /// The number that a store has once it may be written to.
    #[inline]
    pub fn owned(&mut self, number: u32) -> u32 {
        match (number as usize) < self.shared.len() {
            true => {
                let copy = self.shared[number as usize].clone();
                self.push(copy)
            }
            false => number,
        }
    }

    /// A store for a new object; what it holds is up to the caller.
    pub fn fresh(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.push(Store::default()))
    }

    /// One that no free one takes the place of.
    pub fn push(&mut self, store: Store<'m>) -> u32 {
        self.own.push(store);
        (self.shared.len() + self.own.len() - 1) as u32
    }

    /// Nobody needs a store any more.
    pub fn release(&mut self, number: u32) {
        if (number as usize) < self.shared.len() {
            return;
        }
        let store = self.at_mut(number);
        if store.bytes.capacity() > KEEP_CAPACITY {
            *store = Store::default();
        } else {
            store.name = Cow::Borrowed("");
            store.bytes.clear();
            store.defined.clear();
            store.pointers.clear();
        }
        self.free.push(number);
    }
}

/// Whether all flags are set; the usual lengths as one comparison.
#[inline]
fn all_set(flags: &[bool]) -> bool {
    match *flags {
        [flag] => flag,
        [a, b, c, d] => [a, b, c, d] == [true; 4],
        [a, b, c, d, e, f, g, h] => [a, b, c, d, e, f, g, h] == [true; 8],
        _ => flags.iter().all(|&flag| flag),
    }
}

/// Sets all flags; the usual lengths without a loop.
#[inline]
fn set_all(flags: &mut [bool]) {
    match flags.len() {
        1 => flags[0] = true,
        4 => flags.copy_from_slice(&[true; 4]),
        8 => flags.copy_from_slice(&[true; 8]),
        _ => flags.fill(true),
    }
}

impl Store<'_> {
    #[inline]
    pub fn is_defined(&self, start: usize, length: usize) -> bool {
        self.all_defined || all_set(&self.defined[start..start + length])
    }

    /// Notes that a range was written with defined bytes that are no pointer; whether a part of one is left beside them, which is a number.
    #[inline]
    #[must_use]
    pub fn written(&mut self, start: usize, length: usize) -> bool {
        if !self.all_defined {
            set_all(&mut self.defined[start..start + length]);
        }
        !self.pointers.is_empty() && length > 0 && self.forget_pointers(start, length)
    }

    /// Whether a range has a part of an intact pointer.
    pub fn holds_pointer(&self, start: usize, length: usize) -> bool {
        self.pointers_at(start, length).next().is_some()
    }

    /// The intact pointers of which a range has a part.
    pub fn pointers_at(&self, start: usize, length: usize) -> impl Iterator<Item = u64> + '_ {
        let end = if length == 0 { 0 } else { (start + length) as u64 };
        self.pointers.range((start as u64).saturating_sub(7).min(end)..end).map(|(&at, _)| at)
    }

    /// Pointers that a range touches are no longer intact; whether it has not all of one.
    fn forget_pointers(&mut self, start: usize, length: usize) -> bool {
        let (first, end) = ((start as u64).saturating_sub(7), (start + length) as u64);
        let mut cut = false;
        while let Some((&at, _)) = self.pointers.range(first..end).next() {
            self.pointers.remove(&at);
            cut |= at < start as u64 || at + 8 > end;
        }
        cut
    }

    /// Goes over to one flag a byte.
    pub fn track(&mut self) {
        if self.all_defined {
            self.all_defined = false;
            self.defined.clear();
            self.defined.resize(self.bytes.len(), true);
        }
    }
}
