//! Rounds with longer objects.
//!
//! Nobody says how much an input pointer leads to, so a first round gives it one element. Where a path needs more, the round
//! keeps that ([`Shortage`]), and the next gives that object more ([`Growth`]). Objects grow, not every pointer: what nobody
//! union_accesses beyond stays as it is.
//!
//! Later rounds only add tests. They take for granted what callers do: objects are as long as what is read of them, and
//! pointers that are followed lead somewhere. So nothing that they meet or leave out is a verdict.

use std::collections::BTreeMap;

/// An access at a fixed place this far outside of an object is given its room at once; one further out is not.
pub(crate) const MAX_GROWTH_BYTES: u64 = 4096;

/// How much there is around the place that an input pointer leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Elements before it.
    pub before: u64,
    /// Elements from it on.
    pub elements: u64,
}

impl Room {
    /// What the first round gives.
    pub const ONE: Room = Room { before: 0, elements: 1 };
}

/// Objects that have more than one element, by the names of the pointers that they are behind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Growth {
    objects: BTreeMap<String, Room>,
}

impl Growth {
    /// What is behind a pointer.
    pub fn room(&self, name: &str) -> Room {
        self.objects.get(name).copied().unwrap_or(Room::ONE)
    }

    /// The same with what is behind `name`, and behind what is there, also behind `other`.
    #[must_use]
    pub fn with_copy(mut self, name: &str, other: &str) -> Growth {
        let copied = self.objects.iter().filter_map(|(own, room)| Some((renamed(own, name, other)?, *room)));
        let copied: Vec<(String, Room)> = copied.collect();
        for (name, room) in copied {
            self.objects.entry(name).or_insert(room);
        }
        self
    }

    /// The next round: what was too short has twice as many elements, at most `most`, or as many as a fixed place asks for.
    /// `None` if nothing can grow.
    pub fn after(&self, shortage: &Shortage, most: u64) -> Option<Growth> {
        let mut next = self.clone();
        for (name, lack) in &shortage.objects {
            let room = self.room(name);
            let elements = |bytes: u64| bytes.div_ceil(lack.element.max(1));
            // Where one place after the other is asked for, beyond the most as well, rounds would be as many as places.
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

/// The name of an input, or of a part of it, if it had another one: `*p.next` for `p` and `q` is `*q.next`.
pub(crate) fn renamed(part: &str, name: &str, other: &str) -> Option<String> {
    let plain = part.trim_start_matches('*');
    let rest = plain.strip_prefix(name)?;
    let is_part = !rest.starts_with(|char: char| char.is_alphanumeric() || char == '_');
    is_part.then(|| format!("{}{other}{rest}", &part[..part.len() - plain.len()]))
}

/// What was looked for outside of objects whose length nobody gave, by the names of the pointers that they are behind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shortage {
    objects: BTreeMap<String, Shortfall>,
}

impl Shortage {
    /// What an object lacks so far.
    pub(crate) fn of(&mut self, name: &str, element: u64) -> &mut Shortfall {
        let nothing = Shortfall { element, before: 0, behind: 0, more: false };
        let lack = self.objects.entry(name.to_string()).or_insert(nothing);
        // What was taken for bytes first has as many of what it is taken for as that takes.
        lack.element = lack.element.max(element);
        lack
    }

    /// Whether every object was long enough.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

/// What one object does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shortfall {
    /// Bytes of an element.
    pub element: u64,
    /// Bytes before the pointer, at fixed places.
    pub before: u64,
    /// Bytes from the pointer on, at fixed places.
    pub behind: u64,
    /// At places that depend on inputs, or one after the other.
    pub more: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortage(lacks: &[(&str, Shortfall)]) -> Shortage {
        Shortage { objects: lacks.iter().map(|(name, lack)| ((*name).to_string(), *lack)).collect() }
    }

    #[test]
    fn what_was_too_short_doubles_up_to_the_most() {
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
    fn what_is_walked_over_beyond_the_most_doubles_too() {
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
    fn a_fixed_place_gets_its_room_at_once() {
        let lacks = shortage(&[("p", Shortfall { element: 4, before: 3, behind: 100, more: false })]);
        let growth = Growth::default().after(&lacks, 16).expect("it grows");
        assert_eq!(growth.room("p"), Room { before: 1, elements: 25 });
        assert_eq!(growth.after(&lacks, 16), None);
    }
}
