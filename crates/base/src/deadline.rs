//! Deadlines. One value is passed from the command line to every long computation.
//!
//! A computation that a deadline cuts off has an unknown result, never a negative one; its caller has to report that.

use std::time::{Duration, Instant};

/// A moment after which work stops, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// Work may take as long as it takes.
    pub const NEVER: Deadline = Deadline(None);

    /// So long from now on. What no clock counts to is never.
    pub fn after(time: Duration) -> Deadline {
        Deadline(Instant::now().checked_add(time))
    }

    /// The same where there is a limit at all.
    pub fn within(time: Option<Duration>) -> Deadline {
        time.map_or(Deadline::NEVER, Deadline::after)
    }

    /// Returns true if the deadline has passed.
    pub fn is_over(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }

    /// Whichever comes first.
    #[must_use]
    pub fn or_earlier(self, other: Deadline) -> Deadline {
        match (self.0, other.0) {
            (Some(a), Some(b)) => Deadline(Some(a.min(b))),
            (a, b) => Deadline(a.or(b)),
        }
    }

    /// Returns the remaining time; `None` if there is no deadline.
    pub fn left(self) -> Option<Duration> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()))
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
    fn what_no_clock_counts_to_is_never() {
        assert_eq!(Deadline::after(Duration::MAX), Deadline::NEVER);
    }
}
