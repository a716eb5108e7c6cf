//! A state that reached a call of a call sequence. See `exec/instructions/deduplication.rs`.

/// A state that reached a call of a call sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::exec) struct VisitedCall {
    /// The number of calls before it.
    pub turn: usize,
    /// The block and instruction of the call in the driver.
    pub place: (usize, usize),
    /// The path and its length: a state reaches the same instruction twice if an input had to be materialised first.
    pub identity: (u64, u64),
}
