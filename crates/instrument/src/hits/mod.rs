//! Hit files and the hits of a unit.
//!
//! `hit_file.rs` and `hit_log.rs` use each other: a hit file may have the format of a log, and both formats share a
//! header.

mod hit_file;
mod hit_log;
mod measured_unit;

pub use hit_file::{HitError, HitFile};
pub(crate) use hit_log::unattributed_test_name;
pub use measured_unit::MeasuredUnit;
