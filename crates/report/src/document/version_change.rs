//! The change since an older version, as a part of the document.

use serde::{Deserialize, Serialize};

/// The effect of a change since an older version on the functions under test.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Change {
    /// The name of the older version.
    pub since: String,
    /// The unaffected functions.
    pub unaffected: Vec<String>,
    /// The affected functions.
    pub functions: Vec<ChangedFunction>,
}

/// An affected function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedFunction {
    /// Its name.
    pub name: String,
    /// The result of the semantic diff.
    pub behaviour: Behaviour,
    /// The proof or the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The divergence tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}

/// The result of comparing two versions of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behaviour {
    /// Both versions are equivalent on every input, within bounds.
    Equivalent,
    /// They differ on some input.
    Differs,
    /// No difference was found.
    Unknown,
}
