//! What a search does as memory fills: more of what waits is parked, and who has most gives up first.

use std::time::{Duration, Instant};
use touchstone_base::{MemoryHeld, MemoryLimit};

/// Memory is looked at once in so many turns,
const TURNS_A_LOOK: u32 = 64;

/// and as soon as so many bytes of large objects were made or copied. A byte of an object takes eight of ours.
pub(super) const HEAVY: u64 = 1 << 22;

/// What was freed shows after so many turns.
const TURNS_TO_RELIEVE: u32 = 512;

/// A search with little waits so long for one with more.
const PATIENCE: Duration = Duration::from_secs(3);
const NAP: Duration = Duration::from_millis(20);

/// Memory as one search sees it.
#[derive(Default)]
pub(super) struct Pressure {
    /// Since the beginning.
    turns: u32,
    /// The turn of the last relief.
    relieved: Option<u32>,
    /// What others see of it.
    held: MemoryHeld,
}

impl Pressure {
    /// Looks now and then: to ask the system takes as long as many instructions.
    pub fn is_time_to_look(&mut self, heavy: &mut u64) -> bool {
        self.turns = self.turns.wrapping_add(1);
        let look = self.turns.is_multiple_of(TURNS_A_LOOK) || *heavy > HEAVY;
        if look {
            *heavy = 0;
        }
        look
    }

    /// Whether the search should free what it can make again.
    pub fn is_time_to_relieve(&mut self, limit: MemoryLimit) -> bool {
        let is_early = self.relieved.is_some_and(|turn| self.turns.wrapping_sub(turn) < TURNS_TO_RELIEVE);
        let relieves = !is_early && limit.is_near();
        if relieves {
            self.relieved = Some(self.turns);
        }
        relieves
    }

    /// Whether the search has to end for want of memory. One that holds less than another waits for the other's end.
    pub fn ends(&self, limit: MemoryLimit, bytes: u64, is_over: impl Fn() -> bool) -> bool {
        self.held.set(bytes);
        let since = Instant::now();
        while limit.is_met() {
            if self.held.is_largest() || is_over() || since.elapsed() > PATIENCE {
                return true;
            }
            std::thread::sleep(NAP);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn who_holds_less_than_another_waits() {
        let met = MemoryLimit::bytes(1);
        let (small, large) = (Pressure::default(), Pressure::default());
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
    fn relief_comes_once_and_again_after_a_while() {
        let met = MemoryLimit::bytes(1);
        let mut pressure = Pressure::default();
        assert!(pressure.is_time_to_relieve(met));
        assert!(!pressure.is_time_to_relieve(met));
        for _ in 0..TURNS_TO_RELIEVE {
            pressure.is_time_to_look(&mut 0);
        }
        assert!(pressure.is_time_to_relieve(met));
        assert!(!Pressure::default().is_time_to_relieve(MemoryLimit::bytes(u64::MAX)));
    }
}
