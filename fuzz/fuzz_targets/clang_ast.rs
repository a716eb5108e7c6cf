//! Any bytes as clang's JSON: the reader gives nodes or an error, never a panic; a stream gives what memory gives.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &[u8]| {
    let [whole, stream] = touchstone_front_c::ast_readings(json);
    if whole.is_ok() {
        assert_eq!(whole, stream);
    }
});
