//! Sets of conditions as ranges of neighbours in a decision.
//!
//! An outcome mostly masks everything to its left. As lists, the masks of a decision would take the square of its
//! conditions; as ranges they are linear.

use std::ops::Range;
use touchstone_base::Id;
use touchstone_ir::CondId;

/// A set of conditions.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Masks {
    /// By number, in order, with something between any two.
    ranges: Vec<Range<usize>>,
}

impl Masks {
    /// These conditions, each once or more often, in any order.
    pub fn of(mut conditions: Vec<CondId>) -> Masks {
        conditions.sort_unstable();
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for condition in conditions {
            let number = condition.index();
            match ranges.last_mut() {
                Some(last) if number <= last.end => last.end = last.end.max(number + 1),
                _ => ranges.push(number..number + 1),
            }
        }
        Masks { ranges }
    }

    /// Returns true if the set contains a condition.
    pub fn contains(&self, condition: CondId) -> bool {
        let number = condition.index();
        let behind = self.ranges.partition_point(|range| range.end <= number);
        self.ranges.get(behind).is_some_and(|range| range.contains(&number))
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = CondId> + '_ {
        self.ranges.iter().cloned().flatten().map(CondId::new)
    }

    /// Their numbers, as few ranges as there can be, in order.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_it_was_made_of_and_nothing_else() {
        let lists: [&[usize]; 6] = [&[], &[0], &[3, 1, 2], &[5, 1, 5, 2, 9, 0], &[7, 8, 9, 1], &[4, 2, 0]];
        for list in lists {
            let masks = Masks::of(list.iter().copied().map(CondId::new).collect());
            for number in 0..12 {
                assert_eq!(masks.contains(CondId::new(number)), list.contains(&number), "{number} in {list:?}");
            }
            let mut sorted = list.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(masks.iter().map(Id::index).collect::<Vec<usize>>(), sorted);
        }
        assert_eq!(Masks::of([5, 1, 5, 2, 9, 0].map(CondId::new).to_vec()).ranges(), [0..3, 5..6, 9..10]);
    }
}
