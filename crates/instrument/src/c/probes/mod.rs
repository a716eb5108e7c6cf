//! Probes.

mod decision_probes;
mod error_probes;
mod function_probes;
mod probe_sharing;
mod result_probes;
mod runtime_source;
mod switch_probes;
mod test_detection;
mod unit_probes;

pub use probe_sharing::InstructionOrder;
pub use runtime_source::fallback_hit_directory;
pub(crate) use runtime_source::{
    EventRecording, RuntimeForm, as_declaration, assemble_cxx_unit, source, source_behind_unit,
};
pub(crate) use test_detection::googletest_listener;
pub use unit_probes::{InstrumentationRequest, InstrumentedUnit, instrument};
