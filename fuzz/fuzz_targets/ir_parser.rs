//! Any text: the parser gives a module or an error, never a panic; a module survives printing, verifying and parsing.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(module) = touchstone_ir::parse(text) {
        touchstone_ir::verify(&module);
        assert_eq!(touchstone_ir::parse(&touchstone_ir::print(&module)).as_ref(), Ok(&module));
    }
});
