//! Any text as `campaign.json`: a document that survives being written and read, or an error, never a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(document) = touchstone_report::Document::parse(text) {
        assert!(touchstone_report::Document::parse(&document.to_json()).is_ok());
    }
});
