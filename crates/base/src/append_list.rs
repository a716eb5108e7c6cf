//! A list that grows while its items are borrowed: items never move, since full chunks stay where they are.

use std::cell::{Cell, OnceCell};

/// Chunk *n* has room for 2^*n* times this many items.
const FIRST: usize = 64;
const CHUNKS: usize = 26;

/// An append-only list whose items can be borrowed for as long as the list.
pub struct AppendList<T> {
    chunks: [OnceCell<Box<[OnceCell<T>]>>; CHUNKS],
    length: Cell<usize>,
}

impl<T> Default for AppendList<T> {
    fn default() -> Self {
        AppendList { chunks: std::array::from_fn(|_| OnceCell::new()), length: Cell::new(0) }
    }
}

/// The chunk of an index, and the place in it.
fn place(index: usize) -> (usize, usize) {
    let chunk = (index / FIRST + 1).ilog2() as usize;
    (chunk, index - FIRST * ((1 << chunk) - 1))
}

impl<T> AppendList<T> {
    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.length.get()
    }

    /// Returns true if there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends an item and gives its index.
    pub fn push(&self, item: T) -> usize {
        let index = self.length.get();
        let (chunk, at) = place(index);
        let room = || (0..FIRST << chunk).map(|_| OnceCell::new()).collect();
        let set = self.chunks[chunk].get_or_init(room)[at].set(item);
        debug_assert!(set.is_ok(), "every place is filled once");
        self.length.set(index + 1);
        index
    }

    /// An item.
    pub fn get(&self, index: usize) -> Option<&T> {
        let (chunk, at) = place(index);
        self.chunks.get(chunk)?.get()?.get(at)?.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_stay_where_they_are_while_the_list_grows() {
        let list = AppendList::default();
        list.push(0);
        let first = list.get(0);
        for item in 1..1000 {
            assert_eq!(list.push(item), item);
        }
        assert_eq!(first, Some(&0));
        assert!((0..1000).all(|index| list.get(index) == Some(&index)));
        assert_eq!((list.len(), list.get(1000)), (1000, None));
    }
}
