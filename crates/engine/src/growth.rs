//! Rounds with longer input objects.
//!
//! The length of a pointee is unknown, so the first round gives it one element. A round records the objects that were
//! too short ([`Shortage`]), and the next round lengthens them ([`Growth`]). Only objects that a path accessed out of
//! bounds grow.
//!
//! Later rounds only add tests. They assume that callers behave: objects are as long as the accesses to them, and
//! dereferenced pointers are valid. So nothing that these rounds find or exclude is a verdict.

use std::collections::BTreeMap;

/// The maximum distance in bytes outside of an object up to which an access at a constant offset is given room in the
/// next round.
pub(crate) const MAX_GROWTH_BYTES: u64 = 4096;

/// The elements around the element that an input pointer points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// The number of elements before it.
    pub before: u64,
    /// The number of elements from it on.
    pub elements: u64,
}

impl Room {
    /// The room in the first round: one element.
    pub const ONE: Room = Room { before: 0, elements: 1 };
}

/// The objects with more than one element, by the names of the pointers to them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Growth {
    objects: BTreeMap<String, Room>,
}

impl Growth {
    /// Returns the room of a pointer's pointee.
    pub fn room(&self, name: &str) -> Room {
        self.objects.get(name).copied().unwrap_or(Room::ONE)
    }

    /// Copies the rooms of `name` and of its parts to `other`.
    #[must_use]
    pub fn with_copy(mut self, name: &str, other: &str) -> Growth {
        let copied = self.objects.iter().filter_map(|(own, room)| Some((renamed(own, name, other)?, *room)));
        let copied: Vec<(String, Room)> = copied.collect();
        for (name, room) in copied {
            self.objects.entry(name).or_insert(room);
        }
        self
    }

    /// Returns the growth of the next round: a short object gets twice as many elements, at most `most`, or as many as
    /// accesses at constant offsets need. `None` if nothing can grow.
    pub fn after(&self, shortage: &Shortage, most: u64) -> Option<Growth> {
        let mut next = self.clone();
        for (name, lack) in &shortage.objects {
            let room = self.room(name);
            let elements = |bytes: u64| bytes.div_ceil(lack.element.max(1));
            // If a loop walks over the object beyond the maximum, there would be as many rounds as elements.
            let walks = lack.more && elements(lack.behind) > room.elements && room.elements >= most && most > 1;
            let limit = if walks { MAX_GROWTH_BYTES / lack.element.max(1) } else { most };
            let doubled = if lack.more { (2 * room.elements).min(limit) } else { 0 };
            let grown = Room {
                before: room.before.max(elements(lack.before)),
                elements: room.elements.max(doubled).max(elements(lack.behind)),
            };
            if grown != room {
                next.objects.insert(name.clone(), grown);
            }
        }
        (next != *self).then_some(next)
    }
}

/// Renames an input, or a part of one: `*p.next` with `p` renamed to `q` is `*q.next`.
pub(crate) fn renamed(part: &str, name: &str, other: &str) -> Option<String> {
    let plain = part.trim_start_matches('*');
    let rest = plain.strip_prefix(name)?;
    let is_part = !rest.starts_with(|char: char| char.is_alphanumeric() || char == '_');
    is_part.then(|| format!("{}{other}{rest}", &part[..part.len() - plain.len()]))
}

/// Accesses outside of objects without a given length, by the names of the pointers to them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shortage {
    objects: BTreeMap<String, Shortfall>,
}

impl Shortage {
    /// Returns the shortfall of an object, to be updated.
    pub(crate) fn of(&mut self, name: &str, element: u64) -> &mut Shortfall {
        let nothing = Shortfall { element, before: 0, behind: 0, more: false };
        let lack = self.objects.entry(name.to_string()).or_insert(nothing);
        // The object may first have been accessed as bytes: the larger element type counts.
        lack.element = lack.element.max(element);
        lack
    }

    /// Adds the accesses of another search.
    pub(crate) fn add(&mut self, other: &Shortage) {
        for (name, lack) in &other.objects {
            let own = self.of(name, lack.element);
            own.before = own.before.max(lack.before);
            own.behind = own.behind.max(lack.behind);
            own.more |= lack.more;
        }
    }

    /// Returns true if every object was long enough.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

/// The missing bytes of one object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shortfall {
    /// The size of an element in bytes.
    pub element: u64,
    /// Bytes before the pointer, at constant offsets.
    pub before: u64,
    /// Bytes from the pointer on, at constant offsets.
    pub behind: u64,
    /// True if more elements are accessed at symbolic offsets, or one after the other.
    pub more: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortage(lacks: &[(&str, Shortfall)]) -> Shortage {
        Shortage { objects: lacks.iter().map(|(name, lack)| ((*name).to_string(), *lack)).collect() }
    }

    #[test]
    fn short_objects_double_up_to_the_maximum() {
        let lacks = shortage(&[("s", Shortfall { element: 1, before: 0, behind: 2, more: true })]);
        let mut growth = Growth::default();
        let mut elements = Vec::new();
        while let Some(next) = growth.after(&lacks, 16) {
            elements.push(next.room("s").elements);
            growth = next;
        }
        assert_eq!(elements, [2, 4, 8, 16]);
        assert_eq!(growth.room("t"), Room::ONE);
    }

    #[test]
    fn objects_that_loops_walk_over_double_beyond_the_maximum() {
        let mut growth = Growth::default();
        let mut elements = Vec::new();
        while growth.room("s").elements < 100 {
            let behind = growth.room("s").elements + 1;
            let lacks = shortage(&[("s", Shortfall { element: 1, before: 0, behind, more: true })]);
            growth = growth.after(&lacks, 16).expect("it grows");
            elements.push(growth.room("s").elements);
        }
        assert_eq!(elements, [2, 4, 8, 16, 32, 64, 128]);
    }

    #[test]
    fn a_constant_offset_gets_its_room_in_one_round() {
        let lacks = shortage(&[("p", Shortfall { element: 4, before: 3, behind: 100, more: false })]);
        let growth = Growth::default().after(&lacks, 16).expect("it grows");
        assert_eq!(growth.room("p"), Room { before: 1, elements: 25 });
        assert_eq!(growth.after(&lacks, 16), None);
    }
}
