//! Arrays: the contents of memory objects, and reads of them.
//!
//! A read promises to be in bounds where its value matters. The rewriting uses that promise (a read of what was just
//! written at the same offset is the value); evaluation never fails: a byte outside of the array reads as 0.

use crate::terms::facts::Facts;
use crate::terms::support::SupportId;
use crate::terms::term::{Array, ArrayId, Element, Op, Rel, Term, TermId};
use crate::terms::term_store::{ArrayNode, Terms, is_aligned};

/// Up to this many elements a write at a constant offset makes a new base instead of a chain link.
const MAX_BASE_ELEMENTS: usize = 64;

impl Terms {
    /// The initial contents of an object. The elements must be contiguous and cover `0..size`.
    pub fn base_array(&mut self, size: u64, elements: Vec<Element>) -> ArrayId {
        let mut end = 0;
        for element in &elements {
            assert_eq!(element.offset, end, "invariant: contiguous elements");
            assert_eq!(self.width(element.term), element.bytes * 8, "invariant: the element fills its bytes");
            end += u64::from(element.bytes);
        }
        assert_eq!(end, size, "invariant: the elements cover the array");
        self.intern_array(Array::Base { size, elements })
    }

    /// The contents after writing `bytes` bytes at an offset (64 bits).
    pub fn store(&mut self, array: ArrayId, offset: TermId, value: TermId, bytes: u8) -> ArrayId {
        assert_eq!(self.width(offset), 64, "invariant: an offset has 64 bits");
        assert_eq!(self.width(value), bytes * 8, "invariant: the value fills its bytes");
        match self.array(array) {
            // A second write to the same place hides the first.
            Array::Store { array: below, offset: same, bytes: size, .. } if *same == offset && *size == bytes => {
                let below = *below;
                return self.store(below, offset, value, bytes);
            }
            Array::Base { size, elements } if elements.len() <= MAX_BASE_ELEMENTS => {
                if let Some(at) = self.as_const(offset)
                    && let Ok(index) = elements.binary_search_by_key(&at, |e| e.offset)
                    && elements[index].bytes == bytes
                {
                    let (size, mut elements) = (*size, elements.clone());
                    elements[index].term = value;
                    return self.intern_array(Array::Base { size, elements });
                }
            }
            _ => {}
        }
        self.intern_array(Array::Store { array, offset, value, bytes })
    }

    fn intern_array(&mut self, array: Array) -> ArrayId {
        if let Some(&id) = self.array_ids.get(&array) {
            return id;
        }
        let (size, support, uniform) = match &array {
            Array::Base { size, elements } => {
                let supports: Vec<SupportId> = elements.iter().map(|e| self.support_id(e.term)).collect();
                let uniform = self.uniform_base(elements);
                (*size, self.supports.union_all(supports), uniform)
            }
            Array::Store { array, offset, value, bytes } => {
                let (offset_support, value_support) = (self.support_id(*offset), self.support_id(*value));
                let own = self.supports.union(offset_support, value_support);
                let below = &self.arrays[*array];
                let uniform = match &below.uniform {
                    Some((size, facts)) if size == bytes && is_aligned(self.facts(*offset), *bytes) => {
                        Some((*size, facts.join(self.facts(*value))))
                    }
                    _ => None,
                };
                let (size, support) = (below.size, below.support);
                (size, self.supports.union(support, own), uniform)
            }
        };
        let id = self.arrays.push(ArrayNode { array: array.clone(), size, support, uniform });
        self.array_ids.insert(array, id);
        id
    }

    fn uniform_base(&self, elements: &[Element]) -> Option<(u8, Facts)> {
        let bytes = elements.first()?.bytes;
        // What lies outside reads as 0.
        let mut facts = Facts::constant(bytes * 8, 0);
        for element in elements {
            if element.bytes != bytes {
                return None;
            }
            facts = facts.join(self.facts(element.term));
        }
        Some((bytes, facts))
    }

    /// `bytes` bytes at an offset (64 bits), little endian.
    pub fn read(&mut self, array: ArrayId, offset: TermId, bytes: u8) -> TermId {
        assert_eq!(self.width(offset), 64, "invariant: an offset has 64 bits");
        assert!((1..=8).contains(&bytes), "invariant: 1 to 8 bytes");
        if let Some(at) = self.as_const(offset) {
            return self.read_at(array, at, bytes);
        }
        // Only one offset is in bounds.
        if self.array_size(array) == u64::from(bytes) {
            return self.read_at(array, 0, bytes);
        }
        let mut array = array;
        loop {
            match *self.array(array) {
                Array::Store { offset: same, value, bytes: size, .. } if same == offset && size == bytes => {
                    return value;
                }
                Array::Store { array: below, offset: other, bytes: size, .. }
                    if self.are_disjoint(offset, bytes, other, size) =>
                {
                    array = below;
                }
                Array::Store { .. } => break,
                Array::Base { ref elements, .. } => {
                    if let Some(first) = elements.first()
                        && elements.iter().all(|e| e.term == first.term && e.bytes == bytes)
                        && is_aligned(self.facts(offset), bytes)
                    {
                        return first.term;
                    }
                    break;
                }
            }
        }
        self.intern(Term::Read { array, offset, bytes })
    }

    /// Returns true if two accesses cannot overlap.
    fn are_disjoint(&self, a: TermId, a_bytes: u8, b: TermId, b_bytes: u8) -> bool {
        let (p, q) = (self.facts(a), self.facts(b));
        let after = |low: &Facts, size: u8, high: &Facts| {
            low.unsigned.1.checked_add(u64::from(size)).is_some_and(|end| end <= high.unsigned.0)
        };
        if after(p, a_bytes, q) || after(q, b_bytes, p) {
            return true;
        }
        if a_bytes == b_bytes && is_aligned(p, a_bytes) && is_aligned(q, b_bytes) {
            let mask = !(u64::from(a_bytes) - 1);
            if (p.ones & q.zeros | p.zeros & q.ones) & mask != 0 {
                return true;
            }
        }
        let split = |id: TermId| match *self.get(id) {
            Term::Bin(Op::Add, x, c) => match self.as_const(c) {
                Some(c) => (x, c),
                None => (id, 0),
            },
            _ => (id, 0),
        };
        let ((x, c), (y, d)) = (split(a), split(b));
        let distance = c.wrapping_sub(d);
        x == y && distance >= u64::from(b_bytes) && distance.wrapping_neg() >= u64::from(a_bytes)
    }

    /// A read at a constant offset: down the chain as far as the offsets are certain.
    fn read_at(&mut self, array: ArrayId, at: u64, bytes: u8) -> TermId {
        let mut array = array;
        let constant = self.constant(64, at);
        loop {
            match *self.array(array) {
                Array::Base { .. } => return self.read_base(array, at, bytes),
                Array::Store { array: below, offset, bytes: size, .. }
                    if self.are_disjoint(constant, bytes, offset, size) =>
                {
                    array = below;
                }
                Array::Store { offset, value, bytes: size, .. } => {
                    let Some(start) = self.as_const(offset) else {
                        return self.intern(Term::Read { array, offset: constant, bytes });
                    };
                    if start <= at && at - start + u64::from(bytes) <= u64::from(size) {
                        return self.extract(value, ((at - start) * 8) as u8, bytes * 8);
                    }
                    return self.by_bytes(bytes, |terms, k| match at.checked_add(u64::from(k)) {
                        Some(at) => terms.read_at(array, at, 1),
                        None => terms.constant(8, 0),
                    });
                }
            }
        }
    }

    /// Joins single bytes, lowest first.
    fn by_bytes(&mut self, bytes: u8, mut byte: impl FnMut(&mut Terms, u8) -> TermId) -> TermId {
        let mut joined = byte(self, 0);
        for k in 1..bytes {
            let next = byte(self, k);
            joined = self.concat(next, joined);
        }
        joined
    }

    /// A read of the initial contents at a constant offset; bytes outside are 0.
    fn read_base(&mut self, array: ArrayId, at: u64, bytes: u8) -> TermId {
        let end = at.saturating_add(u64::from(bytes));
        let mut position = at;
        let mut joined: Option<TermId> = None;
        while position < end {
            let Some(element) = self.element_at(array, position) else { break };
            let inside = position - element.offset;
            let take = (u64::from(element.bytes) - inside).min(end - position);
            let piece = self.extract(element.term, (inside * 8) as u8, (take * 8) as u8);
            joined = Some(match joined {
                None => piece,
                Some(lower) => self.concat(piece, lower),
            });
            position += take;
        }
        match joined {
            Some(term) => self.zext(term, bytes * 8),
            None => self.constant(bytes * 8, 0),
        }
    }

    /// The element of a base array that holds a byte.
    pub(crate) fn element_at(&self, array: ArrayId, position: u64) -> Option<Element> {
        match self.array(array) {
            Array::Base { size, elements } if position < *size => {
                let after = elements.partition_point(|e| e.offset <= position);
                after.checked_sub(1).map(|index| elements[index])
            }
            _ => None,
        }
    }

    /// Returns the result of a read at the constant offset `at`, as a term over the elements and the written values:
    /// one `ite` for each write that may alias. This is the right side of the lemma of a late alias.
    pub(crate) fn expand(&mut self, array: ArrayId, at: u64, bytes: u8) -> TermId {
        let size = self.array_size(array);
        if at >= size {
            return self.constant(bytes * 8, 0);
        }
        if size - at < u64::from(bytes) {
            let inside = self.expand(array, at, (size - at) as u8);
            return self.zext(inside, bytes * 8);
        }
        let constant = self.constant(64, at);
        let mut writes = Vec::new();
        let mut below = array;
        while let Array::Store { array: next, offset, value, bytes: size } = *self.array(below) {
            if !self.are_disjoint(constant, bytes, offset, size) {
                writes.push((offset, value, size));
            }
            below = next;
        }
        let mut current = self.read_base(below, at, bytes);
        for (offset, value, size) in writes.into_iter().rev() {
            current = self.overlay(current, at, bytes, offset, value, size);
        }
        current
    }

    /// `current` (the `bytes` bytes at `at`) after a write of `size` bytes at `offset`.
    fn overlay(&mut self, current: TermId, at: u64, bytes: u8, offset: TermId, value: TermId, size: u8) -> TermId {
        let aligned = size == bytes && at.is_multiple_of(u64::from(bytes)) && is_aligned(self.facts(offset), bytes);
        if aligned || (size == 1 && bytes == 1) {
            let here = self.offset_is(offset, at);
            return self.ite(here, value, current);
        }
        self.by_bytes(bytes, |terms, k| {
            let mut byte = terms.extract(current, k * 8, 8);
            for j in 0..size {
                let Some(start) = (at + u64::from(k)).checked_sub(u64::from(j)) else { continue };
                let here = terms.offset_is(offset, start);
                let written = terms.extract(value, j * 8, 8);
                byte = terms.ite(here, written, byte);
            }
            byte
        })
    }

    fn offset_is(&mut self, offset: TermId, at: u64) -> TermId {
        let at = self.constant(64, at);
        self.cmp(Rel::Eq, offset, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four 16-bit variables as an array of 8 bytes.
    fn words(terms: &mut Terms) -> (ArrayId, [TermId; 4]) {
        let words = ["a", "b", "c", "d"].map(|n| terms.var(16, n));
        let elements = words.iter().enumerate().map(|(i, &term)| Element { offset: 2 * i as u64, bytes: 2, term });
        (terms.base_array(8, elements.collect()), words)
    }

    #[test]
    fn reads_at_constant_offsets_are_pieces_of_elements() {
        let mut terms = Terms::new();
        let (array, [a, b, ..]) = words(&mut terms);
        let mut check = |at: u64, bytes: u8, expected: &mut dyn FnMut(&mut Terms) -> TermId| {
            let offset = terms.constant(64, at);
            let (read, expected) = (terms.read(array, offset, bytes), expected(&mut terms));
            assert_eq!(read, expected, "{bytes} at {at}: {}", terms.display(read));
        };
        check(0, 2, &mut |_| a);
        check(0, 4, &mut |terms| terms.concat(b, a));
        check(1, 1, &mut |terms| terms.extract(a, 8, 8));
        check(1, 2, &mut |terms| {
            let (low, high) = (terms.extract(a, 8, 8), terms.extract(b, 0, 8));
            terms.concat(high, low)
        });
        check(8, 2, &mut |terms| terms.constant(16, 0));
        check(u64::MAX, 2, &mut |terms| terms.constant(16, 0));
    }

    #[test]
    fn a_read_sees_through_writes_that_can_not_have_hit_it() {
        let mut terms = Terms::new();
        let (array, [a, b, ..]) = words(&mut terms);
        let (i, value) = (terms.var(64, "i"), terms.var(16, "value"));
        let two = terms.constant(64, 2);
        let next = terms.add(i, two);
        let written = terms.store(array, i, value, 2);
        assert_eq!(terms.read(written, i, 2), value);
        let (beside, plain) = (terms.read(written, next, 2), terms.read(array, next, 2));
        assert_eq!(beside, plain);
        let again = terms.store(written, i, a, 2);
        let once = terms.store(array, i, a, 2);
        assert_eq!(again, once);
        let zero = terms.constant(64, 0);
        let fixed = terms.store(array, zero, b, 2);
        assert_eq!(terms.read(fixed, zero, 2), b);
        let far = terms.read(fixed, two, 2);
        assert_eq!(far, b);
    }

    #[test]
    fn bytes_of_one_term_join_to_the_term() {
        let mut terms = Terms::new();
        let x = terms.var(32, "x");
        let bytes: Vec<Element> =
            (0..4).map(|i| Element { offset: i, bytes: 1, term: terms.extract(x, 8 * i as u8, 8) }).collect();
        let array = terms.base_array(4, bytes);
        let zero = terms.constant(64, 0);
        assert_eq!(terms.read(array, zero, 4), x);
    }
}
