//! The reasons for which a query has no answer.
//!
//! Deliberately not here: messages for users. The caller knows the purpose of the query.

/// The reason for which there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// The query or the run was out of time.
    Timeout,
    /// The query took more conflicts than allowed.
    Conflicts,
    /// The run was interrupted.
    Interrupted,
    /// Two parts of the solver disagree: a bug, caught before it became an answer.
    Internal,
}
