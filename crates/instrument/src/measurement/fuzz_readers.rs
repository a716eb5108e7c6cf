//! What fuzz targets need of readers that are private otherwise: files that measured programs and builds leave.

use crate::c::state::EventTrace;
use crate::c::wrapper::split;
use crate::hits::HitFile;

/// The hits in a file's bytes, or what is wrong with it.
pub fn parse_hits(bytes: &[u8]) -> Result<Vec<HitFile>, &'static str> {
    HitFile::all(bytes)
}

/// How many events a trace's bytes have, if they are one.
pub fn count_trace_events(bytes: &[u8]) -> Option<usize> {
    EventTrace::parse(bytes).ok().flatten().map(|trace| trace.events.len())
}

/// The words of a response file's text.
pub fn split_response_file(text: &str) -> Vec<String> {
    split(text)
}
