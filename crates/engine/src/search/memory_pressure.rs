//! Memory pressure: as memory fills, more states are parked, and the search that holds most gives up first.

use std::time::{Duration, Instant};
use touchstone_base::{MemoryLimit, WorkerMemory};

/// The number of turns between two memory checks.
const TURNS_PER_MEMORY_CHECK: u32 = 64;

/// The number of bytes of large objects, allocated or copied, after which memory is checked. A byte of an object takes
/// eight bytes of the host.
pub(super) const MAX_UNCHECKED_BYTES: u64 = 1 << 22;

/// The number of turns until freed memory becomes visible.
const TURNS_BETWEEN_RELIEFS: u32 = 512;

/// The maximum time that a search waits for one that holds more.
const MAX_WAIT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The memory use as one search sees it.
#[derive(Default)]
pub(super) struct MemoryPressure {
    /// The number of turns since the beginning.
    turns: u32,
    /// The turn of the last relief.
    relieved: Option<u32>,
    /// The memory held, as seen by other searches.
    held: WorkerMemory,
}

impl MemoryPressure {
    /// Returns true if a memory check is due: asking the system takes as long as many instructions.
    pub fn is_check_due(&mut self, allocated_bytes: &mut u64) -> bool {
        self.turns = self.turns.wrapping_add(1);
        let look = self.turns.is_multiple_of(TURNS_PER_MEMORY_CHECK) || *allocated_bytes > MAX_UNCHECKED_BYTES;
        if look {
            *allocated_bytes = 0;
        }
        look
    }

    /// Returns true if the search should free what it can recompute.
    pub fn is_relief_due(&mut self, limit: MemoryLimit) -> bool {
        let is_early = self.relieved.is_some_and(|turn| self.turns.wrapping_sub(turn) < TURNS_BETWEEN_RELIEFS);
        let relieves = !is_early && limit.is_near();
        if relieves {
            self.relieved = Some(self.turns);
        }
        relieves
    }

    /// Returns true if the search must end for lack of memory. One that holds less than another waits for the other's
    /// end.
    pub fn ends(&self, limit: MemoryLimit, bytes: u64, is_over: impl Fn() -> bool) -> bool {
        self.held.set(bytes);
        let since = Instant::now();
        while limit.is_met() {
            if self.held.is_largest() || is_over() || since.elapsed() > MAX_WAIT {
                return true;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_search_that_holds_less_than_another_waits() {
        let met = MemoryLimit::bytes(1);
        let (small, large) = (MemoryPressure::default(), MemoryPressure::default());
        large.held.set(u64::MAX);
        let naps = Cell::new(0);
        let third_nap = || {
            naps.set(naps.get() + 1);
            naps.get() == 3
        };
        assert!(small.ends(met, 1, third_nap));
        assert_eq!(naps.get(), 3, "it gave up although another holds more");
        assert!(large.ends(met, u64::MAX, || unreachable!("it holds most")));
        assert!(!small.ends(MemoryLimit::bytes(u64::MAX), 1, || false));
    }

    #[test]
    fn relief_is_repeated_after_a_while() {
        let met = MemoryLimit::bytes(1);
        let mut pressure = MemoryPressure::default();
        assert!(pressure.is_relief_due(met));
        assert!(!pressure.is_relief_due(met));
        for _ in 0..TURNS_BETWEEN_RELIEFS {
            pressure.is_check_due(&mut 0);
        }
        assert!(pressure.is_relief_due(met));
        assert!(!MemoryPressure::default().is_relief_due(MemoryLimit::bytes(u64::MAX)));
    }
}
