//! Reports: versioned JSON for scripts, and text for people.
//!
//! [`json`] is a contract: its keys are those of the command-line contract, and `schema_version` grows when one changes
//! its meaning. [`text()`] is what a terminal shows; nothing may depend on its words.
//!
//! Deliberately not here: files, standard output, whether a terminal has colours.

#![warn(missing_docs)]

mod decisions;
mod extras;
mod json;
mod style;
mod summary;
mod text;
mod truth_table;
mod uncovered;
mod value;

pub use extras::Extras;
pub use json::{json, json_with, test_json};
pub use style::Style;
pub use text::{text, text_with};
