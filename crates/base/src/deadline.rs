//! Deadlines. One value is passed from the command line to every long computation.
//!
//! A computation that a deadline cuts off has an unknown result, never a negative one; its caller has to report that.

use crate::work_time::{WorkKind, spend, work_time};
use std::time::{Duration, Instant};

/// The end of a computation: a work time of the thread that runs it, a moment, whichever comes first, or neither.
///
/// Only moments depend on the speed and the load of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Deadline {
    work: Option<Duration>,
    moment: Option<Instant>,
}

impl Deadline {
    /// Work may take as long as it takes.
    pub const NEVER: Deadline = Deadline { work: None, moment: None };

    /// Returns the deadline that allows this work time from now on, on this thread.
    pub fn after(work: Duration) -> Deadline {
        // The clock counts nanoseconds in 64 bits.
        let end = work_time().checked_add(work).filter(|end| u64::try_from(end.as_nanos()).is_ok());
        Deadline { work: end, moment: None }
    }

    /// Returns the deadline that allows this work time, if there is a limit at all.
    pub fn within(work: Option<Duration>) -> Deadline {
        work.map_or(Deadline::NEVER, Deadline::after)
    }

    /// Returns the deadline after this wall-clock time, if there is a limit at all.
    pub fn wall_clock(time: Option<Duration>) -> Deadline {
        Deadline { work: None, moment: time.and_then(|time| Instant::now().checked_add(time)) }
    }

    /// Returns true if the deadline has passed.
    pub fn is_over(self) -> bool {
        spend(WorkKind::Check, 1);
        self.work.is_some_and(|end| work_time() >= end) || self.is_over_by_wall_clock()
    }

    /// Returns true if the moment has passed, whatever work was done.
    pub fn is_over_by_wall_clock(self) -> bool {
        self.moment.is_some_and(|end| Instant::now() >= end)
    }

    /// Returns the deadline that passes when one of two passes.
    #[must_use]
    pub fn or_earlier(self, other: Deadline) -> Deadline {
        fn earlier<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            }
        }
        Deadline { work: earlier(self.work, other.work), moment: earlier(self.moment, other.moment) }
    }

    /// Returns the remaining work time or, if that has no limit, the remaining wall-clock time; `None` without a deadline.
    pub fn left(self) -> Option<Duration> {
        let moment = || self.moment.map(|end| end.saturating_duration_since(Instant::now()));
        self.work.map(|end| end.saturating_sub(work_time())).or_else(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_of_two_counts_and_never_is_later_than_any() {
        let (soon, late) = (Deadline::after(Duration::ZERO), Deadline::after(Duration::from_secs(1000)));
        assert!(soon.is_over() && !late.is_over() && !Deadline::NEVER.is_over());
        assert_eq!(soon.or_earlier(late), soon);
        assert_eq!(late.or_earlier(soon), soon);
        assert_eq!(Deadline::NEVER.or_earlier(late), late);
        assert_eq!(Deadline::within(None).left(), None);
        assert_eq!(soon.left(), Some(Duration::ZERO));
    }

    #[test]
    fn a_limit_beyond_all_clocks_is_none() {
        assert_eq!(Deadline::after(Duration::MAX), Deadline::NEVER);
        assert_eq!(Deadline::wall_clock(Some(Duration::MAX)), Deadline::NEVER);
    }

    #[test]
    fn work_passes_a_deadline_and_the_clock_another() {
        let by_work = Deadline::after(Duration::from_micros(100));
        let both = by_work.or_earlier(Deadline::wall_clock(Some(Duration::from_secs(1000))));
        assert!(!both.is_over());
        spend(WorkKind::Step, 1_000_000);
        assert!(both.is_over() && !both.is_over_by_wall_clock());
        let by_clock = Deadline::wall_clock(Some(Duration::ZERO));
        assert!(by_clock.is_over() && by_clock.is_over_by_wall_clock());
    }

    #[test]
    fn every_loop_that_looks_at_a_deadline_ends() {
        let deadline = Deadline::after(Duration::from_millis(1));
        while !deadline.is_over() {}
    }
}
