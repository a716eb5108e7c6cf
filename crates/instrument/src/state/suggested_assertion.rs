//! Suggested assertions: statements that would check state that a test modifies and leaves unchecked.

use super::test_states::StateLocation;

/// Text to insert into a source file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SourceInsertion {
    /// The line to insert before.
    pub line: u32,
    /// The column in this line to insert before, in characters; 1 is the beginning.
    pub column: u32,
    /// The inserted text.
    pub text: String,
}

/// An assertion that can be added to a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuggestedAssertion {
    /// The source file of the test.
    pub file: String,
    /// The line in which the test ends.
    pub line: u32,
    /// The assertion as a statement.
    pub statement: String,
    /// The insertions that add it: imports or includes first, the assertion last.
    pub insertions: Vec<SourceInsertion>,
    /// The state that it depends on.
    pub checks: Vec<StateLocation>,
}

/// The reason why no assertion is suggested.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, thiserror::Error)]
pub enum NoSuggestion {
    /// The test did not return normally, or its end was not recorded.
    #[error("the test did not return normally, or its end was not recorded")]
    NoEnd,
    /// The trace of the test is incomplete.
    #[error("the trace of the test reached its limit")]
    CutOff,
    /// Threads that belong to no known test may have modified the state.
    #[error("other threads that cannot be attributed to a test ran concurrently with the test")]
    Beside,
    /// The value depends on state from before the test.
    #[error("its value depends on the state before the test")]
    Inherited,
    /// No expression that is visible in the test reads it.
    #[error("no variable of the test reaches it by accessible fields or methods")]
    NotReachable,
    /// The value differs between runs, or has no literal.
    #[error("its value is not the same each time the test runs, or can't be written down")]
    Differs,
    /// The assertion framework of the test is unknown.
    #[error("the assertions of this test were not recognised")]
    NoStyle,
    /// The source of the test was not found.
    #[error("the source of the test was not found")]
    NoSource,
    /// The end of the test was not found in its source.
    #[error("the end of the test is not found in its source")]
    NoPlace,
}

/// The result of the search for an assertion, for one objective that a test leaves unchecked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuggestionOutcome {
    /// The name of the test.
    pub test: String,
    /// The unit that modified the state, as an index into the measured units.
    pub unit: usize,
    /// The id of the objective.
    pub id: String,
    /// The assertion, or the reason why there is none.
    pub made: Result<SuggestedAssertion, NoSuggestion>,
}
