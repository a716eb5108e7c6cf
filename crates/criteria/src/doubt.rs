//! What a real program can do to a function and no test of ours does. A verdict never rests on its absence,
//! unless the user says so (`--assume`); then the verdict names it.

use std::fmt;

/// Something that is not modelled in tests, but may be in a real program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Doubt {
    /// A variable that no test sets holds what earlier calls left there.
    EarlierCalls(String),
    /// A variable holds what another file gave it.
    OtherFiles(String),
    /// An allocation fails.
    Allocation,
    /// An input pointer leads into a part of another object, or overlaps it.
    Overlap,
    /// What an input pointer leads to is a block of the heap, which may be freed.
    Heap,
    /// A function that nobody defines changes memory.
    External(String),
    /// What the program says of something is not all that it can be; says what.
    Unsettled(String),
    /// Inputs for which something has no defined result.
    Undefined,
}

/// What a user can rule out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Assume {
    /// Every call is the first: variables that no test sets hold their initial values.
    InitialState,
    /// No allocation fails.
    Allocation,
    /// Input pointers lead to whole objects that do not overlap.
    SeparateObjects,
    /// Functions that nobody defines change nothing.
    PureExternals,
}

impl Assume {
    /// All of them.
    pub const ALL: [Assume; 4] =
        [Assume::InitialState, Assume::Allocation, Assume::SeparateObjects, Assume::PureExternals];

    /// How `--assume` calls it.
    pub fn word(self) -> &'static str {
        match self {
            Assume::InitialState => "initial-state",
            Assume::Allocation => "allocation",
            Assume::SeparateObjects => "separate-objects",
            Assume::PureExternals => "pure-externals",
        }
    }
}

impl fmt::Display for Assume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Assume::InitialState => "variables that no test sets hold their initial values",
            Assume::Allocation => "no allocation fails",
            Assume::SeparateObjects => "input pointers lead to whole objects that do not overlap",
            Assume::PureExternals => "functions that nobody defines change no memory",
        })
    }
}

impl Doubt {
    /// What rules it out.
    pub fn ruled_out_by(&self) -> Option<Assume> {
        match self {
            Doubt::EarlierCalls(_) | Doubt::OtherFiles(_) => Some(Assume::InitialState),
            Doubt::Allocation => Some(Assume::Allocation),
            Doubt::Overlap => Some(Assume::SeparateObjects),
            Doubt::External(_) => Some(Assume::PureExternals),
            Doubt::Heap | Doubt::Unsettled(_) | Doubt::Undefined => None,
        }
    }

    /// The doubt alone, without what rules it out.
    pub fn text(&self) -> String {
        match self {
            Doubt::EarlierCalls(name) => format!("earlier calls may have changed `{name}`"),
            Doubt::OtherFiles(name) => format!("another file may change `{name}`"),
            Doubt::Allocation => "an allocation may fail".to_string(),
            Doubt::Heap => "an input may be a block of the heap".to_string(),
            Doubt::Overlap => "an input pointer may lead into a part of another object".to_string(),
            Doubt::External(name) => format!("{name}, which nobody defines, may change memory"),
            Doubt::Unsettled(what) => what.clone(),
            Doubt::Undefined => "inputs without a defined result (the least number divided by -1, a float that its \
                                 integer can't hold)"
                .to_string(),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())?;
        match self.ruled_out_by() {
            Some(assume) => write!(f, " (--assume {} rules it out)", assume.word()),
            None => Ok(()),
        }
    }
}

/// What a verdict or a set of paths rests on beside the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Assumption {
    /// What is assumed, for people.
    pub text: String,
    /// Who says so.
    pub by: Authority,
}

impl Authority {
    /// Whether verdicts rest on it, too, and not only the paths of tests.
    pub fn binds_verdicts(&self) -> bool {
        matches!(self, Authority::Option(_))
    }
}

/// Who made an assumption.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Authority {
    /// The user, by this option.
    Option(String),
    /// The program's own text: holds for the paths that were explored, and for no infeasible verdict.
    Declaration,
    /// How tests are made: holds for the paths that were explored, and for no infeasible verdict.
    Tests,
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Authority::Option(option) => f.write_str(option),
            Authority::Declaration => f.write_str("declaration"),
            Authority::Tests => f.write_str("tests"),
        }
    }
}
