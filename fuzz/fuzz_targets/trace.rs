//! Any bytes as a trace: events or none, never a panic, and no more events than slots.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let events = touchstone_instrument::count_trace_events(bytes);
    assert!(events.is_none_or(|events| events <= bytes.len() / 16));
});
