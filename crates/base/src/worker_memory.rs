//! Finds the worker of the process that holds the most memory.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The approximate memory of a worker. When memory runs out, the largest worker gives up.
#[derive(Debug)]
pub struct WorkerMemory(Arc<AtomicU64>);

/// All that live.
static HELD: Mutex<Vec<Weak<AtomicU64>>> = Mutex::new(Vec::new());

fn all_held() -> MutexGuard<'static, Vec<Weak<AtomicU64>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for WorkerMemory {
    /// Nothing yet.
    fn default() -> WorkerMemory {
        let held = Arc::new(AtomicU64::new(0));
        let mut all = all_held();
        all.retain(|other| other.strong_count() > 0);
        all.push(Arc::downgrade(&held));
        WorkerMemory(held)
    }
}

impl WorkerMemory {
    /// Sets the number of bytes that the worker holds.
    pub fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// Returns true if no other worker holds more.
    pub fn is_largest(&self) -> bool {
        let own = self.0.load(Ordering::Relaxed);
        all_held().iter().filter_map(Weak::upgrade).all(|other| other.load(Ordering::Relaxed) <= own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_most_is_known_while_it_lives() {
        let (small, large) = (WorkerMemory::default(), WorkerMemory::default());
        small.set(u64::MAX - 1);
        large.set(u64::MAX);
        assert!(large.is_largest() && !small.is_largest());
        drop(large);
        assert!(small.is_largest());
    }
}
