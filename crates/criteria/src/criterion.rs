//! Criteria by name, as users write them.

use crate::registry::{Labelling, REGISTRY, criterion_named};
use std::fmt;
use std::str::FromStr;

/// The name of state coverage, which is measured and stands in no registry.
pub const STATE: &str = "state";

/// What is asked of a suite.
#[derive(Clone, Copy)]
pub enum Criterion {
    /// Every feasible path; with a number, paths with at most so many iterations of each loop entry.
    Paths(Option<u32>),
    /// Every objective of a criterion of the registry.
    Goals(&'static dyn Labelling),
    /// State coverage: what tests change against what they check. It is measured; no test is searched for it.
    State,
}

/// A criterion name that doesn't exist (yet).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CriterionParseError(pub String);

impl fmt::Display for CriterionParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = REGISTRY.iter().map(|criterion| criterion.name()).collect();
        write!(f, "criterion `{}` is not known; available: {}, paths, paths:K, {STATE}", self.0, names.join(", "))
    }
}

impl std::error::Error for CriterionParseError {}

impl FromStr for Criterion {
    type Err = CriterionParseError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || CriterionParseError(text.to_string());
        match text.split_once(':') {
            None if text == "paths" => Ok(Criterion::Paths(None)),
            None if text == STATE => Ok(Criterion::State),
            None => criterion_named(text).map(Criterion::Goals).ok_or_else(unknown),
            Some(("paths", bound)) => bound.parse().map(|k| Criterion::Paths(Some(k))).map_err(|_| unknown()),
            Some(_) => Err(unknown()),
        }
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Paths(None) => f.write_str("paths"),
            Criterion::Paths(Some(k)) => write!(f, "paths:{k}"),
            Criterion::Goals(criterion) => f.write_str(criterion.name()),
            Criterion::State => f.write_str(STATE),
        }
    }
}

impl fmt::Debug for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PartialEq for Criterion {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Criterion {}
