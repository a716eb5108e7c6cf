//! What the events of a unit mean.

use serde::{Deserialize, Serialize};
use touchstone_base::stable_hash;

/// What the events of one compiled unit mean.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StateRecord {
    /// The files that sites stand in, absolute.
    pub files: Vec<String>,
    /// The functions.
    pub functions: Vec<String>,
    /// The sites, by number.
    pub sites: Vec<StateSite>,
    /// What the functions write that outlives them.
    pub targets: Vec<StateTarget>,
    /// What could not be followed: function, line, what.
    pub lost: Vec<(String, u32, String)>,
    /// Where functions end that say what can be looked at there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<StateEnd>,
}

/// Where a function ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StateEnd {
    /// The function, as a position in [`StateRecord::functions`].
    pub function: u32,
    /// The line that its body begins in.
    pub begin: u32,
    /// Its file, as a position in [`StateRecord::files`].
    pub file: u32,
    /// The line that a last statement stands before.
    pub line: u32,
}

/// A piece of state as one function writes it: what state coverage counts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StateTarget {
    /// Its id, like that of every objective.
    pub id: String,
    /// The function.
    pub function: String,
    /// What is written.
    pub name: String,
}

impl StateTarget {
    /// The target at a position among those of its function.
    pub fn new(function: &str, position: usize, name: &str) -> StateTarget {
        let hash = stable_hash(name) & 0xffff_ffff;
        let id = format!("{function}.state.{}.{hash:08x}", position + 1);
        StateTarget { id, function: function.to_string(), name: name.to_string() }
    }

    /// One of which only the name is known.
    pub fn named(function: &str, name: &str) -> StateTarget {
        let hash = stable_hash(name) & 0xffff_ffff;
        let id = format!("{function}.state.{hash:08x}");
        StateTarget { id, function: function.to_string(), name: name.to_string() }
    }
}

/// A place in the source that events come from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StateSite {
    /// Its function, as a position in [`StateRecord::functions`].
    pub function: u32,
    /// Its file, as a position in [`StateRecord::files`].
    pub file: u32,
    /// Its line.
    pub line: u32,
    /// Its column; 0 if it is not known.
    pub column: u32,
    /// The macro whose body wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_macro: Option<String>,
    /// What happens there.
    pub kind: SiteKind,
}

/// What happens at a site.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SiteKind {
    /// The function itself.
    Function,
    /// An assignment; a target as a position in [`StateRecord::targets`].
    Write {
        /// What is written, if it is state.
        target: Option<u32>,
        /// The old value counts, too.
        updates: bool,
        /// An object is copied.
        copies: bool,
        /// Its value is used.
        used: bool,
        /// It depends on what its expression read before.
        guarded: bool,
    },
    /// A variable of a function, or of the unit.
    Variable {
        /// Its name.
        name: String,
        /// Its initialiser is an object that is copied.
        copies: bool,
    },
    /// A call.
    Call {
        /// Whom.
        callee: Option<String>,
        /// Its value is used.
        used: bool,
        /// As for writes.
        guarded: bool,
        /// Its arguments.
        arguments: Vec<SiteArgument>,
    },
    /// A condition that controls a statement.
    Branch {
        /// How many such statements it stands in, itself included.
        depth: u32,
        /// The depth of what jumps in it leave: 0 is the function.
        escape: Option<u32>,
        /// Calls that depend on it only.
        guards: Vec<String>,
    },
    /// An expression that is looked at where its function ends.
    Seen {
        /// It.
        text: String,
        /// What it stands for.
        form: touchstone_front_c::ValueForm,
    },
    /// A condition inside of an expression.
    Choice {
        /// Calls that depend on it only.
        guards: Vec<String>,
    },
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteArgument {
    /// It is a pointer.
    pub pointer: bool,
    /// What it points to, if that is state.
    pub target: Option<u32>,
    /// Its value, if it is a constant.
    pub constant: Option<u64>,
}
