//! The record of a unit for state coverage: maps the sites in trace events to source constructs.

use serde::{Deserialize, Serialize};
use touchstone_base::stable_hash;

/// The meaning of the events of one compiled unit.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StateRecord {
    /// The files that contain sites, as absolute paths.
    pub files: Vec<String>,
    /// The names of the functions.
    pub functions: Vec<String>,
    /// The sites, by number.
    pub sites: Vec<StateSite>,
    /// The state that functions write and that outlives their calls.
    pub targets: Vec<StateTarget>,
    /// Constructs that are not instrumented: function, line, construct.
    pub lost: Vec<(String, u32, String)>,
    /// The ends of functions at which expressions are observed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<StateEnd>,
}

/// The end of a function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StateEnd {
    /// The function, as an index into [`StateRecord::functions`].
    pub function: u32,
    /// The first line of the body.
    pub begin: u32,
    /// Its file, as an index into [`StateRecord::files`].
    pub file: u32,
    /// The line before which a last statement can be inserted.
    pub line: u32,
}

/// A piece of state as one function writes it: the objective of state coverage.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StateTarget {
    /// The id of the objective.
    pub id: String,
    /// The name of the function.
    pub function: String,
    /// The written lvalue, for example `q->count`.
    pub name: String,
}

impl StateTarget {
    /// Creates the target at an index among those of its function.
    pub fn new(function: &str, position: usize, name: &str) -> StateTarget {
        let hash = stable_hash(name) & 0xffff_ffff;
        let id = format!("{function}.state.{}.{hash:08x}", position + 1);
        StateTarget { id, function: function.to_string(), name: name.to_string() }
    }

    /// Creates a target that is identified by its name only.
    pub fn named(function: &str, name: &str) -> StateTarget {
        let hash = stable_hash(name) & 0xffff_ffff;
        let id = format!("{function}.state.{hash:08x}");
        StateTarget { id, function: function.to_string(), name: name.to_string() }
    }
}

/// A program location that emits events.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StateSite {
    /// Its function, as an index into [`StateRecord::functions`].
    pub function: u32,
    /// Its file, as an index into [`StateRecord::files`].
    pub file: u32,
    /// Its line.
    pub line: u32,
    /// Its column, or 0 if it is unknown.
    pub column: u32,
    /// The macro that expanded to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_macro: Option<String>,
    /// The construct at the site.
    pub kind: SiteKind,
}

/// The construct at a site.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SiteKind {
    /// The function itself.
    Function,
    /// An assignment.
    Write {
        /// The written state as an index into [`StateRecord::targets`], or `None` if it is no state.
        target: Option<u32>,
        /// True if the new value depends on the old one.
        updates: bool,
        /// True if a whole object is copied.
        copies: bool,
        /// True if the value of the assignment expression is used.
        used: bool,
        /// True if earlier operands of the expression decide whether it is executed.
        guarded: bool,
    },
    /// A variable of a function or of the translation unit.
    Variable {
        /// Its name.
        name: String,
        /// True if its initialiser copies a whole object.
        copies: bool,
    },
    /// A call.
    Call {
        /// The called function, or `None` for a call through a pointer.
        callee: Option<String>,
        /// True if its value is used.
        used: bool,
        /// True if earlier operands of the expression decide whether it is executed.
        guarded: bool,
        /// Its arguments.
        arguments: Vec<SiteArgument>,
    },
    /// A condition that controls a statement.
    Branch {
        /// The nesting depth of the controlled statement, counted from 1.
        depth: u32,
        /// The smallest depth that jumps inside of the statement leave; 0 is the function.
        escape: Option<u32>,
        /// The functions whose calls depend on this condition only.
        guards: Vec<String>,
    },
    /// An expression that is observed at the end of its function.
    Seen {
        /// The source text of the expression.
        text: String,
        /// The type of its value.
        form: touchstone_front_c::ValueForm,
    },
    /// A condition inside of an expression.
    Choice {
        /// The functions whose calls depend on this condition only.
        guards: Vec<String>,
    },
}

/// An argument of a call.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteArgument {
    /// True if it is a pointer.
    pub pointer: bool,
    /// The state that it points to, as an index into [`StateRecord::targets`].
    pub target: Option<u32>,
    /// Its value, if it is a constant.
    pub constant: Option<u64>,
}
