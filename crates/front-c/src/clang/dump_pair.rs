//! What clang says of two texts in one run: a source as it is written, and the same preprocessed.
//!
//! Of a small file, starting clang is most of the time. Only whoever knows that the flags of one do no harm to the other
//! may ask for both at once.

use crate::clang::ast_reader::Dense;
use crate::clang::clang_server;
use crate::clang::compact;
use crate::clang::dump::Dump;
use crate::clang::flags::{flags_for, own_macros};
use crate::clang::options::Options;
use crate::clang::process::{self, Clang, Input};
use crate::error::FrontError;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// What clang is asked for.
pub(super) const ACTION: &str = "-ast-dump=json";

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
    let clang = process::find(options)?;
    let mut flags = flags_for(texts.written, options)?;
    flags.extend(own_macros(options));
    // A second input of the compiler behind clang's driver: it comes first.
    flags.extend(["-Xclang".to_string(), texts.preprocessed.to_string_lossy().into_owned()]);
    // About what it says of most texts; growing step by step copies and clears all of it again and again.
    let expected = 16 * std::fs::metadata(texts.preprocessed).map_or(0, |meta| meta.len() as usize);
    let mut said = Vec::with_capacity(expected);
    if !listen(&clang, &flags, Input::File(texts.written), &mut said)? {
        return Ok(None);
    }
    if compact::is_compact(&said) {
        let Some([second, first]) = compact::documents(&said).and_then(|all| <[_; 2]>::try_from(all).ok()) else {
            return Ok(None);
        };
        let all = Arc::new(said);
        return Ok(Some((Dump { all: all.clone(), part: second }, Dump { all, part: first })));
    }
    // Inside of a unit, a comma or a break follows a closing brace at the start of a line.
    let mut ends = memchr::memmem::find_iter(&said, b"\n}{").map(|at| at + 2);
    let (Some(end), None) = (ends.next(), ends.next()) else { return Ok(None) };
    let (whole, all) = (said.len(), Arc::new(said));
    Ok(Some((Dump { all: all.clone(), part: end..whole }, Dump { all, part: 0..end })))
}

/// What the clang that stays says of one file; `None` if there is none, if it does not understand the file, or if there is more
/// to say than should be in memory at once: then a clang of its own says it, or why not.
pub(crate) fn heard(clang: &Clang, flags: &[String], input: Input<'_>) -> Option<Dump> {
    const MOST: u64 = 256 << 20;
    if matches!(input, Input::Text(_)) {
        return None;
    }
    let mut asked = clang_server::ask(&clang.program, &process::words(ACTION, flags, input))?;
    let mut said = Vec::new();
    hear((&mut asked).take(MOST), &mut said).ok()?;
    let part = 0..said.len();
    (asked.status() == Some(0)).then(|| Dump { all: Arc::new(said), part })
}

/// All that it says, without blanks.
pub(super) fn hear(mut asked: impl Read, said: &mut Vec<u8>) -> std::io::Result<()> {
    let mut first = [0];
    let begun = asked.read(&mut first)?;
    let begin = &first[..begun];
    if compact::is_compact(begin) {
        said.extend_from_slice(begin);
        asked.read_to_end(said)?;
    } else {
        Dense::new(begin.chain(asked)).read_to_end(said)?;
    }
    Ok(())
}

/// Hears what clang says, from the one that stays if there is one; whether it understands the texts.
fn listen(clang: &Clang, flags: &[String], input: Input<'_>, said: &mut Vec<u8>) -> Result<bool, FrontError> {
    if let Some(mut asked) = clang_server::ask(&clang.program, &process::words(ACTION, flags, input))
        && hear(&mut asked, said).is_ok()
        && let Some(status) = asked.status()
    {
        return Ok(status == 0);
    }
    said.clear();
    let mut run = process::start(clang, ACTION, flags, input)?;
    let read = run.output().map_or(Ok(0), |output| Dense::new(output).read_to_end(said));
    // One at a time says why not.
    Ok(run.finish()?.is_ok() && read.is_ok())
}
