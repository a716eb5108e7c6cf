//! Why a question has no answer.
//!
//! Deliberately not here: sentences for people. Who asks knows what for, and says what it means.

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// The query or the run was out of time.
    Timeout,
    /// The query took more conflicts than allowed.
    Conflicts,
    /// Somebody asked to stop.
    Interrupted,
    /// Two parts of the solver disagree: a bug, caught before it became an answer.
    Internal,
}
