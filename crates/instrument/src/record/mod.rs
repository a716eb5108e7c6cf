//! The record of an instrumented unit, and the obstacles to probes.
//!
//! `unit_record.rs` and `line_directives.rs` use each other: a record contains directives, and these map its source
//! ranges.

mod line_directives;
mod probe_obstacle;
mod row_numbering;
mod unit_record;

pub use line_directives::LineDirective;
pub(crate) use probe_obstacle::system;
pub use probe_obstacle::{EVENT_LIMIT_VARIABLE, ProbeObstacle};
pub(crate) use row_numbering::{MAX_ROWS, NumberedRows, NumberingScheme, number_rows};
pub(crate) use unit_record::text_now;
pub use unit_record::{
    ProbeStorage, ProbedDecision, ProbedObjective, ProbedRow, RECORD_VERSION, SourceRange, UnitRecord,
};
