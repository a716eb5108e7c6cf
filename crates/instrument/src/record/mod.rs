//! Records of units.

mod line_directives;
mod probe_obstacle;
mod row_numbering;
mod unit_record;

pub use line_directives::LineDirective;
pub(crate) use probe_obstacle::system;
pub use probe_obstacle::{EVENTS, Unprobed};
pub(crate) use row_numbering::{MOST_ROWS, Numbered, Scheme, number};
pub(crate) use unit_record::text_now;
pub use unit_record::{Keeps, ProbedDecision, ProbedObjective, ProbedRow, RECORD_VERSION, SourceRange, UnitRecord};
