//! The change since an older version, as a part of the document.

use serde::{Deserialize, Serialize};

/// What a change since an older version is to the functions under test.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Change {
    /// What the older version is called.
    pub since: String,
    /// Functions that nothing of the change touches.
    pub unaffected: Vec<String>,
    /// The others.
    pub functions: Vec<ChangedFunction>,
}

/// A function that a change touches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedFunction {
    /// Its name.
    pub name: String,
    /// Whether both versions do the same.
    pub behaviour: Behaviour,
    /// How that is known, or why it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Tests on which they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}

/// Whether two versions of a function do the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behaviour {
    /// On every input, within bounds.
    Equivalent,
    /// Not on every input.
    Differs,
    /// No difference was found.
    Unknown,
}
