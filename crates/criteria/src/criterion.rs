//! Criteria by name.

use std::fmt;
use std::str::FromStr;

/// What is asked of a suite.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Criterion {
    /// Every feasible path; with a number, paths with at most so many iterations of each loop entry.
    Paths(Option<u32>),
}

/// A criterion name that doesn't exist (yet).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CriterionParseError(pub String);

impl fmt::Display for CriterionParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "criterion `{}` is not known; available: paths, paths:K (for example paths:3)", self.0)
    }
}

impl std::error::Error for CriterionParseError {}

impl FromStr for Criterion {
    type Err = CriterionParseError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == "paths" => Ok(Criterion::Paths(None)),
            Some(("paths", bound)) => {
                bound.parse().map(|k| Criterion::Paths(Some(k))).map_err(|_| CriterionParseError(text.to_string()))
            }
            _ => Err(CriterionParseError(text.to_string())),
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Paths(None) => f.write_str("paths"),
            Criterion::Paths(Some(k)) => write!(f, "paths:{k}"),
        }
    }
}
