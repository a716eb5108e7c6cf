//! The queue of suites to replay. The compiler reads a unit once for all suites that are replayed together, so suites wait for
//! others of their unit: the first not at all, so that results are early and an interruption loses little; then four times as
//! many as the time before. Nothing waits for a worker when there are no functions left to explore.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// The maximum number of suites that wait.
const MAX_WAITING: usize = 128;

/// The factor by which the number of waiting suites grows.
const GROWTH: usize = 4;

/// The waiting functions by unit; those without a unit don't wait.
pub(crate) struct ReplayQueue<T> {
    units: Mutex<BTreeMap<usize, WaitingUnit<T>>>,
}

struct WaitingUnit<T> {
    /// The number of functions that are not explored yet.
    unexplored: usize,
    /// The number of suites that are replayed together next.
    enough: usize,
    waiting: Vec<T>,
}

impl<T> ReplayQueue<T> {
    /// Returns the queue of functions with these units.
    pub fn new(functions: impl Iterator<Item = Option<usize>>) -> ReplayQueue<T> {
        let mut units: BTreeMap<usize, WaitingUnit<T>> = BTreeMap::new();
        for unit in functions.flatten() {
            let first = WaitingUnit { unexplored: 0, enough: 1, waiting: Vec::new() };
            units.entry(unit).or_insert(first).unexplored += 1;
        }
        ReplayQueue { units: Mutex::new(units) }
    }

    /// Adds an explored function of a unit, unless it has nothing to replay, and returns those to replay now.
    pub fn add(&self, unit: Option<usize>, function: Option<T>) -> Vec<T> {
        let mut units = self.units();
        let Some(waiting_unit) = unit.and_then(|unit| units.get_mut(&unit)) else {
            return function.into_iter().collect();
        };
        waiting_unit.unexplored -= 1;
        waiting_unit.waiting.extend(function);
        if waiting_unit.unexplored > 0 && waiting_unit.waiting.len() < waiting_unit.enough {
            return Vec::new();
        }
        waiting_unit.enough = (waiting_unit.enough * GROWTH).min(MAX_WAITING);
        std::mem::take(&mut waiting_unit.waiting)
    }

    /// Returns waiting functions of one unit, for a worker that has nothing else to do.
    pub fn take_waiting(&self) -> Vec<T> {
        let mut units = self.units();
        let waiting = units.values_mut().find(|unit| !unit.waiting.is_empty());
        waiting.map(|unit| std::mem::take(&mut unit.waiting)).unwrap_or_default()
    }

    fn units(&self) -> MutexGuard<'_, BTreeMap<usize, WaitingUnit<T>>> {
        self.units.lock().expect("invariant: no worker panics with the lock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_and_more_suites_wait_but_none_after_the_last_function() {
        let units = [Some(1), Some(2), Some(1), Some(1), Some(1), None, Some(1), Some(1), Some(1)];
        let queue = ReplayQueue::new(units.into_iter());
        assert_eq!(queue.add(Some(1), Some("first")), ["first"]);
        assert_eq!(queue.add(Some(1), Some("a")), [""; 0]);
        assert_eq!(queue.add(Some(2), Some("b")), ["b"]);
        assert_eq!(queue.add(None, Some("c")), ["c"]);
        assert_eq!(queue.add(Some(1), None), [""; 0]);
        assert_eq!(queue.add(Some(1), Some("d")), [""; 0]);
        assert_eq!(queue.take_waiting(), ["a", "d"]);
        assert_eq!(queue.take_waiting(), [""; 0]);
        assert_eq!(queue.add(Some(1), Some("e")), [""; 0]);
        assert_eq!(queue.add(Some(1), Some("f")), [""; 0]);
        assert_eq!(queue.add(Some(1), Some("g")), ["e", "f", "g"]);
    }
}
