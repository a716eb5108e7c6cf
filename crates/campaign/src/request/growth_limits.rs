//! How far input objects grow in the rounds after the first one.

use std::time::Duration;
use touchstone_base::Deadline;

/// How far objects grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Growing {
    /// Elements, at most.
    pub most: u64,
    /// Elements, at most, as long as rounds are quick: a number that overflows has twenty digits.
    pub while_quick: u64,
    /// How many objects a path may have.
    pub objects: Objects,
}

/// How many objects a path may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Objects {
    /// As many as the user says.
    Said,
    /// More in each round.
    Grow,
}

impl Growing {
    /// Nothing grows.
    pub const NOT: Growing = Growing { most: 1, while_quick: 1, objects: Objects::Said };

    /// When a first round stops, if it may take so long in all.
    pub fn first_round(time: Option<Duration>) -> Deadline {
        Deadline::within(time.map(|limit| limit / 2))
    }
}
