//! Measurements of a whole test suite, from the files that instrumented programs leave.

mod fuzz_readers;
mod measured;
mod state_measurement;

pub use fuzz_readers::{count_trace_events, parse_hits, split_response_file};
pub use measured::{MeasuredSuite, MeasurementError, read_measurements};
pub use state_measurement::{StateMeasurement, measure_states, suggest_assertions, trim_traces};
