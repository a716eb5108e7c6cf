//! Reports: one serialisable document, and all renderings of it.
//!
//! A campaign is converted to a [`Document`] ([`document()`]), which is also the versioned JSON form, a contract: its
//! keys are those of the command-line contract, and `schema_version` grows when one changes its meaning. From a
//! document alone come the text reports of a run ([`text()`]) and of a stored document ([`overview()`]), the HTML site
//! ([`html::site`]) and the formats of other tools ([`export`]); a stored document can be rendered again without the
//! program. Nothing may depend on the wording of text reports.
//!
//! Folders, each of which uses only those before it:
//!
//! - `document/`: the data;
//! - `analysis/`: figures, exclusions, restriction to changed lines;
//! - `conversion/`: from a campaign to its document;
//! - `export/`: formats of other tools;
//! - `terminal/`: text reports;
//! - `html/`: the HTML site.
//!
//! Deliberately not here: files, standard output, git, the detection of a terminal's colours.

#![warn(missing_docs)]

mod analysis;
mod conversion;
pub mod document;
pub mod export;
pub mod html;
mod terminal;

pub use analysis::changed_lines::{ChangedLines, restrict};
pub use analysis::exclusions::{BadExclusion, exclude, exclusions, source_file, text_hash};
pub use analysis::figures::{Figures, Tallies, Tally, Threshold, ThresholdResult, merged};
pub use analysis::form_figures::count_forms;
pub use analysis::history::{HistoryEntry, HistoryFigure, read_history};
pub use analysis::variants::{keep_variant, variants_of};
pub use conversion::campaign_document::{document, json, json_with, reported_range, test_inputs, test_json};
pub use conversion::decision_table::decision;
pub use conversion::supplements::Supplements;
pub use document::existing_suites::{
    FailedExpectation, ReportedSuite, ReportedTest, ReportedVerdict, failed_expectations,
};
pub use document::form_suites::{FormSuites, SkippedTest, join_forms};
pub use document::name::Name;
pub use document::suggestions::{MissingAssertion, NoAssertion, Suggestions, TextInsertion};
pub use document::{Document, NoDocument};
pub use export::patch;
pub use terminal::run_text::{Detail, text};
pub use terminal::style::{Style, fit};
pub use terminal::suite_overview::overview;
