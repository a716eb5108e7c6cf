//! VISITED

/// A state that came to a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::exec) struct VisitedCall {
    /// How many calls were made before it.
    pub turn: usize,
    /// Which instruction of the caller it is.
    pub place: (usize, usize),
    /// Which path, and how far: a state comes to the same instruction again where an input had to be decided first.
    pub identity: (u64, u64),
}
