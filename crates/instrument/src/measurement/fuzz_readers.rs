//! What fuzz targets need of readers that are private otherwise: files that measured programs and builds leave.

use crate::c::state::Trace;
use crate::c::wrapper::split;
use crate::hits::HitFile;

/// The hits in a file's bytes, or what is wrong with it.
pub fn hits_reading(bytes: &[u8]) -> Result<Vec<HitFile>, &'static str> {
    HitFile::all(bytes)
}

/// How many events a trace's bytes have, if they are one.
pub fn trace_reading(bytes: &[u8]) -> Option<usize> {
    Trace::parse(bytes).ok().flatten().map(|trace| trace.events.len())
}

/// The words of a response file's text.
pub fn response_reading(text: &str) -> Vec<String> {
    split(text)
}
