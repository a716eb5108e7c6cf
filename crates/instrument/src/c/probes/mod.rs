//! Probes in the preprocessed text of a C unit, and the runtime that goes with them.
//!
//! `unit_probes.rs` instruments a unit, `function_probes.rs` a function; `decision_probes.rs` and `switch_probes.rs`
//! implement parts of the latter. These four use each other: the probes of a function borrow those of its unit, and
//! each part extends one type.

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
