//! Hits.

mod hit_file;
mod hit_log;
mod measured_unit;

pub use hit_file::{HitError, HitFile};
pub(crate) use hit_log::unattributed_test_name;
pub use measured_unit::MeasuredUnit;
