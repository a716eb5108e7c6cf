//! Entry points of fuzz targets for parsers that are otherwise private.

use crate::c::state::EventTrace;
use crate::c::wrapper::split;
use crate::hits::HitFile;

/// Parses the hits of a file, or returns its defect.
pub fn parse_hits(bytes: &[u8]) -> Result<Vec<HitFile>, &'static str> {
    HitFile::all(bytes)
}

/// Returns the number of events of a trace, or `None` if it is none.
pub fn count_trace_events(bytes: &[u8]) -> Option<usize> {
    EventTrace::parse(bytes).ok().flatten().map(|trace| trace.events().count())
}

/// Splits a response file into words.
pub fn split_response_file(text: &str) -> Vec<String> {
    split(text)
}
