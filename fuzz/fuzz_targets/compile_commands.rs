//! Any text as `compile_commands.json`: flags or an error, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = touchstone_front_c::compile_commands_reading(text);
});
