//! A time budget that is spent only when both wall-clock time and CPU time exceed it, so that a busy machine does as
//! much work as an idle one.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

pub(crate) struct LoadBudget {
    begun: Instant,
    cpu_time: Duration,
    most: Duration,
}

impl LoadBudget {
    /// Creates a budget that starts now.
    pub fn of(most: Duration) -> LoadBudget {
        LoadBudget { begun: Instant::now(), cpu_time: cpu_time(), most }
    }

    pub fn is_over(&self) -> bool {
        is_spent(self.most, self.begun.elapsed(), cpu_time().saturating_sub(self.cpu_time))
    }
}

fn is_spent(most: Duration, passed: Duration, cpu_time: Duration) -> bool {
    passed >= most && cpu_time >= most
}

/// Returns the CPU time of all threads so far.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_others_had_does_not_count_and_two_threads_do_not_halve_it() {
        let [short, most, long] = [1, 2, 3].map(Duration::from_secs);
        assert!(!is_spent(most, long, short) && !is_spent(most, short, long) && is_spent(most, most, long));
        assert!(LoadBudget::of(Duration::ZERO).is_over() && !LoadBudget::of(Duration::from_secs(3600)).is_over());
    }
}
