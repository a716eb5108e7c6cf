//! Why a question has no answer.

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Why {
    /// The query or the run was out of time.
    #[error("solver timeout")]
    Timeout,
    /// The query took more conflicts than allowed.
    #[error("solver conflict limit")]
    Conflicts,
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Two parts of the solver disagree: a bug, caught before it became an answer.
    #[error("solver internal error")]
    Internal,
}
