//! Text reports for a terminal.
//!
//! `run_text.rs` renders the report of a run from its sections: `summary_tables.rs`, `uncovered.rs`, `truth_table.rs`, `change.rs`,
//! `forms_section.rs` and `existing_suites_section.rs`. `suite_overview.rs` renders a measured suite. `style.rs` has colours,
//! widths and tables.
//!
//! `run_text.rs` and its sections use each other: it calls them, and they take its level of detail.

mod change;
mod existing_suites_section;
mod forms_section;
pub(crate) mod run_text;
pub(crate) mod style;
pub(crate) mod suite_overview;
mod summary_tables;
mod truth_table;
mod uncovered;
