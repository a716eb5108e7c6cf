//! Reports: one serialisable document, and everything that is rendered from it.
//!
//! A campaign becomes a [`Document`] ([`document()`]), which is also the versioned JSON form, a contract: its keys are those
//! of the command-line contract, and `schema_version` grows when one changes its meaning. From a document alone come what a
//! terminal shows of a campaign ([`text()`]) and of a stored document ([`overview()`]), the HTML site ([`html::site`]) and the
//! formats of other tools ([`export`]); a stored document can be rendered again without the program. Nothing may depend on
//! the words of the terminal.
//!
//! Deliberately not here: files, standard output, git, whether a terminal has colours.

#![warn(missing_docs)]

mod brief;
mod change;
mod decisions;
pub mod document;
mod exclusions;
pub mod export;
mod extras;
mod figures;
mod forms;
mod history;
pub mod html;
mod json;
mod kept;
mod name;
mod overview;
mod ran;
mod since;
mod stored;
mod style;
mod suggestions;
mod summary;
mod text;
mod truth_table;
mod uncovered;
mod value;
mod variants;

pub use decisions::decision;
pub use document::{Document, NoDocument};
pub use exclusions::{BadExclusion, exclude, exclusions, source_file, text_hash};
pub use extras::Extras;
pub use figures::{Figures, Judged, Tallies, Tally, Threshold, merged};
pub use forms::{FormSuites, SkippedTest, count_forms, join_forms};
pub use history::{Past, PastFigure, read_history};
pub use json::{document, json, json_with, stretch, test_inputs, test_json};
pub use kept::{Change, KeptSuite, KeptTest, KeptVerdict, changes};
pub use name::Name;
pub use overview::overview;
pub use since::{ChangedLines, restrict};
pub use style::{Style, fit};
pub use suggestions::{MissingAssertion, NoAssertion, Suggestions, TextInsertion, patch};
pub use text::{Detail, text};
pub use variants::{keep_variant, variants_of};
