//! Probes.

mod error_probes;
mod probe_sharing;
mod runtime_source;
mod test_detection;
mod unit_probes;

pub use probe_sharing::Order;
pub use runtime_source::elsewhere;
pub(crate) use runtime_source::{Events, Shared, around_cxx, as_declaration, source, source_behind_unit};
pub(crate) use test_detection::listener;
pub use unit_probes::{Probed, Request, instrument};
