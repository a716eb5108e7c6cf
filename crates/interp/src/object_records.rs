//! Copy-on-write records of objects: their addresses and lifetimes.
//!
//! Thousands of runs begin with the same globals, of which a program may have tens of thousands, and change a few of
//! them. Records that exist when they are [shared](Records::share) are stored once for all copies; the first write to
//! one of them copies its group.

use crate::value::ObjectId;
use std::ops::{Index, IndexMut};
use std::sync::Arc;
use touchstone_base::Id;

/// The binary logarithm of the number of records in a group.
const LOG2_RECORDS_PER_GROUP: usize = 6;
/// Marks a group that was not copied.
const SHARED: u32 = u32::MAX;

/// One record for every object.
#[derive(Clone)]
pub(crate) struct Records<T> {
    shared: Arc<Vec<T>>,
    /// For each group of shared records, its index among the copied groups.
    groups: Vec<u32>,
    changed: Vec<Vec<T>>,
    /// The records of objects that were allocated after sharing.
    own: Vec<T>,
}

impl<T> Default for Records<T> {
    fn default() -> Records<T> {
        Records { shared: Arc::default(), groups: Vec::new(), changed: Vec::new(), own: Vec::new() }
    }
}

impl<T: Clone> Records<T> {
    /// From now on, copies share the existing records.
    pub fn share(&mut self) {
        if self.shared.is_empty() {
            self.shared = Arc::new(std::mem::take(&mut self.own));
            self.groups = vec![SHARED; self.shared.len().div_ceil(1 << LOG2_RECORDS_PER_GROUP)];
        }
    }

    pub fn len(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    pub fn push(&mut self, record: T) -> ObjectId {
        self.own.push(record);
        ObjectId::new(self.len() - 1)
    }

    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, &T)> + '_ {
        (0..self.len()).map(ObjectId::new).map(|object| (object, &self[object]))
    }
}

impl<T> Index<ObjectId> for Records<T> {
    type Output = T;

    #[inline]
    fn index(&self, object: ObjectId) -> &T {
        let number = object.index();
        match number.checked_sub(self.shared.len()) {
            Some(own) => &self.own[own],
            None => match self.groups[number >> LOG2_RECORDS_PER_GROUP] {
                SHARED => &self.shared[number],
                changed => &self.changed[changed as usize][number & ((1 << LOG2_RECORDS_PER_GROUP) - 1)],
            },
        }
    }
}

impl<T: Clone> IndexMut<ObjectId> for Records<T> {
    #[inline]
    fn index_mut(&mut self, object: ObjectId) -> &mut T {
        let number = object.index();
        match number.checked_sub(self.shared.len()) {
            Some(own) => &mut self.own[own],
            None => {
                let place = &mut self.groups[number >> LOG2_RECORDS_PER_GROUP];
                if *place == SHARED {
                    let first = number >> LOG2_RECORDS_PER_GROUP << LOG2_RECORDS_PER_GROUP;
                    let end = (first + (1 << LOG2_RECORDS_PER_GROUP)).min(self.shared.len());
                    *place = self.changed.len() as u32;
                    self.changed.push(self.shared[first..end].to_vec());
                }
                &mut self.changed[*place as usize][number & ((1 << LOG2_RECORDS_PER_GROUP) - 1)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_change_and_add_records_of_their_own() {
        let mut base: Records<u32> = Records::default();
        for number in 0..150 {
            assert_eq!(base.push(number), ObjectId::new(number as usize));
        }
        base.share();
        let mut copy = base.clone();
        for number in [0, 63, 64, 149] {
            copy[ObjectId::new(number)] = 1000 + number as u32;
        }
        assert_eq!(copy.push(7), ObjectId::new(150));
        assert_eq!((base.len(), copy.len()), (150, 151));
        assert!(base.iter().all(|(object, record)| *record == object.index() as u32));
        let changed: Vec<(usize, u32)> = copy
            .iter()
            .map(|(object, record)| (object.index(), *record))
            .filter(|(number, record)| *record != *number as u32)
            .collect();
        assert_eq!(changed, [(0, 1000), (63, 1063), (64, 1064), (149, 1149), (150, 7)]);
    }
}
