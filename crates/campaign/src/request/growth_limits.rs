//! Limits for the growth of input objects in the rounds after the first one.

use std::time::Duration;
use touchstone_base::Deadline;

/// Limits for the growth of input objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct GrowthLimits {
    /// The maximum number of elements.
    pub max_elements: u64,
    /// The maximum number of elements while rounds are quick: a number that overflows has twenty digits.
    pub max_while_quick: u64,
    /// The limit on objects per path.
    pub objects: ObjectLimit,
}

/// The limit on objects per path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ObjectLimit {
    /// The number that the user specified.
    Fixed,
    /// A number that grows in each round.
    Grow,
}

impl GrowthLimits {
    /// No growth.
    pub const NONE: GrowthLimits = GrowthLimits { max_elements: 1, max_while_quick: 1, objects: ObjectLimit::Fixed };

    /// Returns the deadline of a first round, given the work time for all rounds.
    pub fn first_round(budget: Option<Duration>) -> Deadline {
        Deadline::within(budget.map(|limit| limit / 2))
    }
}
