//! The queue of suites to replay. The compiler reads a unit once for all suites that are replayed together, so they wait
//! until the unit's last function is explored, or until there are many.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// The number of suites of a unit that are replayed although functions of the unit are not explored yet.
const MANY_SUITES: usize = 32;

/// The waiting functions by unit; those without a unit don't wait.
pub(crate) struct ReplayQueue<T> {
    units: Mutex<BTreeMap<usize, WaitingUnit<T>>>,
}

struct WaitingUnit<T> {
    /// The number of functions that are not explored yet.
    unexplored: usize,
    waiting: Vec<T>,
}

impl<T> ReplayQueue<T> {
    /// Returns the queue of functions with these units.
    pub fn new(functions: impl Iterator<Item = Option<usize>>) -> ReplayQueue<T> {
        let mut units: BTreeMap<usize, WaitingUnit<T>> = BTreeMap::new();
        for unit in functions.flatten() {
            units.entry(unit).or_insert(WaitingUnit { unexplored: 0, waiting: Vec::new() }).unexplored += 1;
        }
        ReplayQueue { units: Mutex::new(units) }
    }

    /// Adds an explored function of a unit, unless it has nothing to replay, and returns those to replay now.
    pub fn add(&self, unit: Option<usize>, function: Option<T>) -> Vec<T> {
        let mut units = self.units.lock().expect("invariant: no worker panics with the lock");
        let Some(waiting_unit) = unit.and_then(|unit| units.get_mut(&unit)) else {
            return function.into_iter().collect();
        };
        waiting_unit.unexplored -= 1;
        waiting_unit.waiting.extend(function);
        match waiting_unit.unexplored == 0 || waiting_unit.waiting.len() >= MANY_SUITES {
            true => std::mem::take(&mut waiting_unit.waiting),
            false => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_wait_for_the_last_function_of_their_unit() {
        let queue = ReplayQueue::new([Some(1), Some(2), Some(1), Some(1), None].into_iter());
        assert_eq!(queue.add(Some(1), Some("a")), [""; 0]);
        assert_eq!(queue.add(Some(2), Some("b")), ["b"]);
        assert_eq!(queue.add(None, Some("c")), ["c"]);
        assert_eq!(queue.add(Some(1), None), [""; 0]);
        assert_eq!(queue.add(Some(1), Some("d")), ["a", "d"]);
    }
}
