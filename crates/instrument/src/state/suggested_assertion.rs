//! The assertion that is missing: what would check a piece of state that a test changes and does not look at.

use super::test_states::StateLocation;

/// Text that is to be put into a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SourceInsertion {
    /// Before this line,
    pub line: u32,
    /// and this column of it, in characters: 1 is its beginning.
    pub column: u32,
    /// The text.
    pub text: String,
}

/// An assertion for a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuggestedAssertion {
    /// The file of the test.
    pub file: String,
    /// The line that the test ends in.
    pub line: u32,
    /// The assertion, as it is to be written.
    pub statement: String,
    /// What it takes to write it there: the assertion is the last one.
    pub insertions: Vec<SourceInsertion>,
    /// The state that it depends on.
    pub checks: Vec<StateLocation>,
}

/// Why there is no assertion to suggest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, thiserror::Error)]
pub enum NoSuggestion {
    /// The test did not come to its end, or nobody saw it.
    #[error("the test does not end where it could be looked at")]
    NoEnd,
    /// Not all that the test did is known.
    #[error("the test did more than a trace holds")]
    CutOff,
    /// It is not known who else changed what it looks at.
    #[error("threads worked beside the test of which nobody knows for which test they did")]
    Beside,
    /// It depends on what was before the test.
    #[error("its value depends on what was there before the test")]
    Inherited,
    /// No expression leads there.
    #[error("no variable of the test leads to it by fields or methods that it can see")]
    NotReachable,
    /// Values are not the same each time, or nobody can write them down.
    #[error("its value is not the same each time the test runs, or can't be written down")]
    Differs,
    /// It is not known how the test asserts.
    #[error("it is not known how this test asserts")]
    NoStyle,
    /// The source of the test is not there.
    #[error("the source of the test is not there")]
    NoSource,
    /// The end of the test is not found in its source.
    #[error("the end of the test is not found in its source")]
    NoPlace,
}

/// What is suggested for an objective that a test leaves open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SuggestionOutcome {
    /// The test.
    pub test: String,
    /// The unit that changed the state, as a position among the measured units.
    pub unit: usize,
    /// The objective.
    pub id: String,
    /// The assertion.
    pub made: Result<SuggestedAssertion, NoSuggestion>,
}
