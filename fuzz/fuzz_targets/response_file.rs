//! Any text as a response file: words, never a panic, and nothing that the text does not have.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let words = touchstone_instrument::split_response_file(text);
    assert!(words.iter().map(String::len).sum::<usize>() <= text.len());
});
