//! The cores that the threads of a run share.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of cores that no thread of a run uses.
#[derive(Debug)]
pub struct Cores {
    free: AtomicUsize,
}

/// Cores that are in use until they are dropped.
#[derive(Debug)]
pub struct TakenCores<'c> {
    cores: &'c Cores,
    count: usize,
}

impl Cores {
    /// Creates this number of free cores.
    pub fn new(count: usize) -> Cores {
        Cores { free: AtomicUsize::new(count) }
    }

    /// Takes up to `most` cores, as many as are free. It never waits.
    pub fn take(&self, most: usize) -> TakenCores<'_> {
        let rest = |free: usize| Some(free.saturating_sub(most));
        let before = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).unwrap_or_default();
        TakenCores { cores: self, count: before.min(most) }
    }
}

impl TakenCores<'_> {
    /// Returns the number of cores.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Drop for TakenCores<'_> {
    fn drop(&mut self) {
        self.cores.free.fetch_add(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_free_again_when_they_are_dropped() {
        let cores = Cores::new(3);
        let first = cores.take(2);
        let second = cores.take(2);
        assert_eq!((first.count(), second.count(), cores.take(1).count()), (2, 1, 0));
        drop(first);
        assert_eq!(cores.take(9).count(), 2);
    }
}
