//! Measurements.

mod fuzz_readers;
mod measured;
mod state_measurement;

pub use fuzz_readers::{hits_reading, response_reading, trace_reading};
pub use measured::{MeasureError, Measured, read};
pub use state_measurement::{States, states, suggestions, trim_traces};
