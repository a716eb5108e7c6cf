//! Reports: versioned JSON for scripts, and text for people.
//!
//! [`json`] is a contract: its keys are those of the command-line contract, and `schema_version` grows when one changes
//! its meaning. [`text()`] is what a terminal shows; nothing may depend on its words.
//!
//! Deliberately not here: files, standard output, whether a terminal has colours.

#![warn(missing_docs)]

mod json;
mod text;
mod value;

pub use json::{json, test_json};
pub use text::{Style, text};
