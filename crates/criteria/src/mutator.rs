//! Mutation operators by name, as users switch them.

use std::fmt;
use std::str::FromStr;

/// A mutation operator of `wm`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mutator {
    /// Absolute value.
    Abs,
    /// Arithmetic operator replacement.
    Aor,
    /// Relational operator replacement.
    Ror,
    /// Conditional operator replacement, also called LCR.
    Cor,
    /// Unary operator insertion, also called AOIU.
    Uoi,
    /// Constant replacement.
    Crp,
    /// Variable replacement.
    Vrp,
}

impl Mutator {
    /// All of them.
    pub const ALL: [Mutator; 7] =
        [Mutator::Abs, Mutator::Aor, Mutator::Ror, Mutator::Cor, Mutator::Uoi, Mutator::Crp, Mutator::Vrp];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mutator::Abs => "ABS",
            Mutator::Aor => "AOR",
            Mutator::Ror => "ROR",
            Mutator::Cor => "COR",
            Mutator::Uoi => "UOI",
            Mutator::Crp => "CRP",
            Mutator::Vrp => "VRP",
        }
    }

    /// Other names that the literature has for it.
    fn aliases(self) -> &'static [&'static str] {
        match self {
            Mutator::Cor => &["LCR"],
            Mutator::Uoi => &["AOIU"],
            _ => &[],
        }
    }
}

impl fmt::Display for Mutator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A mutation operator that doesn't exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MutatorParseError(pub String);

impl fmt::Display for MutatorParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Mutator::ALL.into_iter().map(Mutator::name).collect();
        write!(f, "unknown mutation operator `{}`; available: {}", self.0, names.join(", "))
    }
}

impl std::error::Error for MutatorParseError {}

impl FromStr for Mutator {
    type Err = MutatorParseError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = |name: &&str| name.eq_ignore_ascii_case(text);
        let found =
            Mutator::ALL.into_iter().find(|mutator| named(&mutator.name()) || mutator.aliases().iter().any(&named));
        found.ok_or_else(|| MutatorParseError(text.to_string()))
    }
}
