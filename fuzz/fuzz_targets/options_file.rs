//! Any text as `touchstone.toml`: options or an error, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = touchstone_campaign::options_file_reading(text);
});
