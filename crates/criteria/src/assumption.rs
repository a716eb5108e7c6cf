//! Effects of a real program on a function that no generated test has. A verdict never rests on their absence, unless
//! the user assumes it (`--assume`); then the verdict names the assumption.

use std::fmt;

/// Something that is not modelled in tests, but may be in a real program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Caveat {
    /// A variable that no test sets holds what earlier calls left there; how people know it, the program's own in backquotes.
    EarlierCalls(String),
    /// A variable holds what another file gave it; how people know it.
    OtherFiles(String),
    /// An allocation fails.
    Allocation,
    /// An input pointer points into a part of another object, or overlaps it.
    Overlap,
    /// The pointee of an input pointer is a heap block, which may be freed.
    Heap,
    /// An external function changes memory.
    External(String),
    /// The program does not determine a value completely.
    Unspecified(Unspecified),
    /// Inputs for which something has no defined result.
    Undefined,
}

/// A property that the program does not determine.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Unspecified {
    /// Uninitialised memory may hold any value.
    Unwritten,
    /// Output may fail.
    Output,
    /// A property that a front end or a library model names.
    Said(String),
}

impl Unspecified {
    /// Returns the property with a name of the module.
    pub fn named(name: String) -> Unspecified {
        let known = [Unspecified::Unwritten, Unspecified::Output].into_iter().find(|known| known.as_str() == name);
        known.unwrap_or(Unspecified::Said(name))
    }

    fn as_str(&self) -> &str {
        match self {
            Unspecified::Unwritten => "memory that was never written may hold anything",
            Unspecified::Output => "output may fail",
            Unspecified::Said(what) => what,
        }
    }
}

/// In the order of their sentences: so they are listed.
impl Ord for Unspecified {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for Unspecified {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Unspecified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An assumption that a user can make.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AssumeOption {
    /// Every call is the first: variables that no test sets hold their initial values.
    InitialState,
    /// No allocation fails.
    Allocation,
    /// Input pointers point to whole objects that do not overlap.
    SeparateObjects,
    /// External functions have no side effects.
    PureExternals,
}

impl AssumeOption {
    /// All of them.
    pub const ALL: [AssumeOption; 4] = [
        AssumeOption::InitialState,
        AssumeOption::Allocation,
        AssumeOption::SeparateObjects,
        AssumeOption::PureExternals,
    ];

    /// Returns its name as a value of `--assume`.
    pub fn word(self) -> &'static str {
        match self {
            AssumeOption::InitialState => "initial-state",
            AssumeOption::Allocation => "allocation",
            AssumeOption::SeparateObjects => "separate-objects",
            AssumeOption::PureExternals => "pure-externals",
        }
    }
}

impl fmt::Display for AssumeOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AssumeOption::InitialState => "variables that no test sets hold their initial values",
            AssumeOption::Allocation => "no allocation fails",
            AssumeOption::SeparateObjects => "input pointers point to whole objects that do not overlap",
            AssumeOption::PureExternals => "undefined functions change no memory",
        })
    }
}

impl Caveat {
    /// The words of all of them.
    pub const WORDS: &'static [&'static str] = &[
        "earlier_calls",
        "other_files",
        "allocation_may_fail",
        "overlap",
        "heap",
        "external_writes",
        "unwritten_memory",
        "output_may_fail",
        "unsettled",
        "undefined_result",
    ];

    /// The word by which programs know it.
    pub fn word(&self) -> &'static str {
        match self {
            Caveat::EarlierCalls(_) => "earlier_calls",
            Caveat::OtherFiles(_) => "other_files",
            Caveat::Allocation => "allocation_may_fail",
            Caveat::Overlap => "overlap",
            Caveat::Heap => "heap",
            Caveat::External(_) => "external_writes",
            Caveat::Unspecified(Unspecified::Unwritten) => "unwritten_memory",
            Caveat::Unspecified(Unspecified::Output) => "output_may_fail",
            Caveat::Unspecified(Unspecified::Said(_)) => "unsettled",
            Caveat::Undefined => "undefined_result",
        }
    }

    /// Returns the option that rules it out.
    pub fn ruled_out_by(&self) -> Option<AssumeOption> {
        match self {
            Caveat::EarlierCalls(_) | Caveat::OtherFiles(_) => Some(AssumeOption::InitialState),
            Caveat::Allocation => Some(AssumeOption::Allocation),
            Caveat::Overlap => Some(AssumeOption::SeparateObjects),
            Caveat::External(_) => Some(AssumeOption::PureExternals),
            Caveat::Heap | Caveat::Unspecified(_) | Caveat::Undefined => None,
        }
    }

    /// The doubt alone, without what rules it out.
    pub fn text(&self) -> String {
        match self {
            Caveat::EarlierCalls(name) => format!("earlier calls may have changed {name}"),
            Caveat::OtherFiles(name) => format!("another file may change {name}"),
            Caveat::Allocation => "an allocation may fail".to_string(),
            Caveat::Heap => "an input may be a block of the heap".to_string(),
            Caveat::Overlap => "an input pointer may point into a part of another object".to_string(),
            Caveat::External(name) => format!("{name}, which is not defined, may change memory"),
            Caveat::Unspecified(what) => what.to_string(),
            Caveat::Undefined => "inputs without a defined result (the least number divided by -1, a float that its \
                                 integer can't hold)"
                .to_string(),
        }
    }
}

impl fmt::Display for Caveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())?;
        let longer = if matches!(self, Caveat::EarlierCalls(_)) { "--calls for longer sequences; " } else { "" };
        match self.ruled_out_by() {
            Some(assume) => write!(f, " ({longer}--assume {} rules it out)", assume.word()),
            None => Ok(()),
        }
    }
}

/// An assumption that a verdict or a set of paths rests on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Assumption {
    /// The assumption, for people.
    pub text: String,
    /// The origin of the assumption.
    pub by: Authority,
}

impl Authority {
    /// Returns true if verdicts rest on it, and not only the paths of tests.
    pub fn binds_verdicts(&self) -> bool {
        matches!(self, Authority::Option(_) | Authority::Compiler)
    }
}

/// The origin of an assumption.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Authority {
    /// The user, by this option.
    Option(String),
    /// The compiler that translates the program, where the language leaves something to it.
    Compiler,
    /// The program's own text: holds for the paths that were explored, and for no infeasible verdict.
    Declaration,
    /// The construction of tests: it holds for explored paths, and for no infeasible verdict.
    Tests,
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Authority::Option(option) => f.write_str(option),
            Authority::Compiler => f.write_str("compiler"),
            Authority::Declaration => f.write_str("declaration"),
            Authority::Tests => f.write_str("tests"),
        }
    }
}
