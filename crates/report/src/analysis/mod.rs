//! Computations on documents: figures by criterion, file and function (`figures.rs`) and their history (`history.rs`),
//! exclusions by comments (`exclusions.rs`), restriction to changed lines (`changed_lines.rs`) or to one variant
//! (`variants.rs`), executed lines (`executed_lines.rs`), and the coverage of emitted suites (`form_figures.rs`).
//!
//! There is no circle here.

pub(crate) mod changed_lines;
pub(crate) mod exclusions;
pub(crate) mod executed_lines;
pub(crate) mod figures;
pub(crate) mod form_figures;
pub(crate) mod history;
pub(crate) mod variants;
