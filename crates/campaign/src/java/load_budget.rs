//! How much work may be done: so long by the clock, and at least so long on a processor, so that a busy machine does as much of it
//! as a quiet one.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

pub(crate) struct Effort {
    begun: Instant,
    worked: Duration,
    most: Duration,
}

impl Effort {
    /// So much from now on.
    pub fn of(most: Duration) -> Effort {
        Effort { begun: Instant::now(), worked: worked(), most }
    }

    pub fn is_over(&self) -> bool {
        is_spent(self.most, self.begun.elapsed(), worked().saturating_sub(self.worked))
    }
}

fn is_spent(most: Duration, passed: Duration, worked: Duration) -> bool {
    passed >= most && worked >= most
}

/// What all threads have worked so far.
fn worked() -> Duration {
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
        assert!(Effort::of(Duration::ZERO).is_over() && !Effort::of(Duration::from_secs(3600)).is_over());
    }
}
