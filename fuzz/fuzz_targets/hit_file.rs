//! Any bytes as a hit file: hits or an error, never a panic, and no more hits than bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(files) = touchstone_instrument::parse_hits(bytes) {
        assert!(files.iter().flat_map(|file| &file.units).map(|(_, hit)| hit.len()).sum::<usize>() <= bytes.len());
    }
});
