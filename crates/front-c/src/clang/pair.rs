//! What clang says of two texts in one run: a source as it is written, and the same preprocessed.
//!
//! Of a small file, starting clang is most of the time. Only whoever knows that the flags of one do no harm to the other
//! may ask for both at once.

use crate::clang::dump::Dump;
use crate::clang::flags::{flags_for, own_macros};
use crate::clang::options::Options;
use crate::clang::read::Dense;
use crate::clang::run::{self, Input};
use crate::error::FrontError;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A source and its preprocessed text, which has an absolute name.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// As it is written.
    pub written: &'a Path,
    /// As the preprocessor leaves it.
    pub preprocessed: &'a Path,
}

/// Asks clang for both with the flags of the first; `None` if it does not understand one of them.
pub fn dump_both(texts: Texts<'_>, options: &Options) -> Result<Option<(Dump, Dump)>, FrontError> {
    let clang = run::find(options)?;
    let mut flags = flags_for(texts.written, options)?;
    flags.extend(own_macros(options));
    // A second input of the compiler behind clang's driver: it comes first.
    flags.extend(["-Xclang".to_string(), texts.preprocessed.to_string_lossy().into_owned()]);
    let mut run = run::start(&clang, "-ast-dump=json", &flags, Input::File(texts.written))?;
    let mut said = Vec::new();
    let read = run.output().map_or(Ok(0), |output| Dense::new(output).read_to_end(&mut said));
    // One at a time says why not.
    if run.finish()?.is_err() || read.is_err() {
        return Ok(None);
    }
    // Inside of a unit, a comma or a break follows a closing brace at the start of a line.
    let mut ends = memchr::memmem::find_iter(&said, b"\n}{").map(|at| at + 2);
    let (Some(end), None) = (ends.next(), ends.next()) else { return Ok(None) };
    let (whole, all) = (said.len(), Arc::new(said));
    Ok(Some((Dump { all: all.clone(), part: end..whole }, Dump { all, part: 0..end })))
}
