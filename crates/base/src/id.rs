//! Typed `u32` ids and the vectors they index.
//!
//! An id prints exactly as it does in the IR text form (`b3`, `t17`), so a log line can be pasted into a file test.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A typed index. Implement it with [`define_id!`](crate::define_id).
pub trait Id: Copy + Eq + Ord + std::hash::Hash + fmt::Display {
    /// The id with this index.
    fn new(index: usize) -> Self;
    /// The index of this id.
    fn index(self) -> usize;
}

/// Defines a `u32` newtype that implements [`Id`] and prints as `<prefix><index>`.
#[macro_export]
macro_rules! define_id {
    ($(#[$meta:meta])* $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $crate::Id for $name {
            #[inline]
            fn new(index: usize) -> Self {
                $name(u32::try_from(index).expect("invariant: fewer than 2^32 ids of a kind"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl $crate::serde::Serialize for $name {
            fn serialize<S: $crate::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_u32(self.0)
            }
        }

        impl<'de> $crate::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                <u32 as $crate::serde::Deserialize>::deserialize(from).map($name)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

/// A vector indexed by a typed id.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IndexMap<I, T> {
    items: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I: Id, T> IndexMap<I, T> {
    /// An empty map.
    pub fn new() -> Self {
        IndexMap { items: Vec::new(), id: PhantomData }
    }
    /// Appends `item` and returns its id.
    pub fn push(&mut self, item: T) -> I {
        let id = I::new(self.items.len());
        self.items.push(item);
        id
    }
    /// The id that the next `push` will return.
    pub fn next_id(&self) -> I {
        I::new(self.items.len())
    }
    /// Returns the number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }
    /// Returns true if there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
    /// The item, if the id is in range.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }
    /// All items in id order.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }
    /// All items in id order, mutable.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }
    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::new)
    }
    /// All (id, item) pairs in id order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(index, item)| (I::new(index), item))
    }
}

impl<I: Id, T> Default for IndexMap<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> FromIterator<T> for IndexMap<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        IndexMap { items: iter.into_iter().collect(), id: PhantomData }
    }
}

impl<I: Id, T> Index<I> for IndexMap<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IndexMap<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: Id, T: fmt::Debug> fmt::Debug for IndexMap<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}
