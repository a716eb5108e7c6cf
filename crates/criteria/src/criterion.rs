//! Criteria by name, as users write them.

use crate::registry::{GoalCriterion, REGISTRY, criterion_named};
use std::fmt;
use std::str::FromStr;

/// The name of state coverage, which is measured only and not in the registry.
pub const STATE: &str = "state";

/// The paths of a path criterion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PathsOf {
    /// All.
    #[default]
    Any,
    /// Paths with at most this number of iterations each time a loop is entered.
    Iterations(u32),
    /// Paths on which no call executes one of its basic blocks more often than this.
    Visits(u32),
}

/// A criterion, as users select it.
#[derive(Clone, Copy)]
pub enum Criterion {
    /// Every feasible path of these.
    Paths(PathsOf),
    /// Every objective of a criterion of the registry.
    Goals(&'static dyn GoalCriterion),
    /// State coverage: what tests change against what they check. It is measured; no test is searched for it.
    State,
}

/// A criterion name that doesn't exist (yet).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CriterionParseError(pub String);

impl fmt::Display for CriterionParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = REGISTRY.iter().map(|criterion| criterion.name()).collect();
        write!(f, "unknown criterion `{}`; available: {}, paths, paths:K, block:K, {STATE}", self.0, names.join(", "))
    }
}

impl std::error::Error for CriterionParseError {}

impl FromStr for Criterion {
    type Err = CriterionParseError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || CriterionParseError(text.to_string());
        match text.split_once(':') {
            None if text == "paths" => Ok(Criterion::Paths(PathsOf::Any)),
            None if text == STATE => Ok(Criterion::State),
            None => criterion_named(text).map(Criterion::Goals).ok_or_else(unknown),
            Some((of, bound)) => {
                let bound = bound.parse().map_err(|_| unknown())?;
                match of {
                    "paths" => Ok(Criterion::Paths(PathsOf::Iterations(bound))),
                    // Without a visit there is no path.
                    "block" if bound > 0 => Ok(Criterion::Paths(PathsOf::Visits(bound))),
                    _ => Err(unknown()),
                }
            }
        }
    }
}

impl Criterion {
    /// The criterion that is used if none is given.
    pub fn standard() -> Criterion {
        Criterion::Goals(&crate::criteria::mcdc::Mcdc)
    }

    /// Returns true if objectives of the criterion with this name are paths.
    pub fn counts_paths(name: &str) -> bool {
        matches!(name.parse(), Ok(Criterion::Paths(_)))
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::Paths(PathsOf::Any) => f.write_str("paths"),
            Criterion::Paths(PathsOf::Iterations(k)) => write!(f, "paths:{k}"),
            Criterion::Paths(PathsOf::Visits(k)) => write!(f, "block:{k}"),
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
