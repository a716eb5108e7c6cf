//! The ASTs of a source file and of its preprocessed text, from one run of clang.
//!
//! For a small file, starting clang takes most of the time. The caller ensures that the flags of one text are valid for
//! the other.

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

/// The action of clang's front end.
pub(super) const ACTION: &str = "-ast-dump=json";

/// A source file and its preprocessed text, which has an absolute path.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// The source file.
    pub written: &'a Path,
    /// The preprocessed text.
    pub preprocessed: &'a Path,
}

/// Dumps both ASTs with the flags of the source file; `None` if clang rejects one of the texts.
pub fn dump_both(texts: Texts<'_>, options: &Options) -> Result<Option<(Dump, Dump)>, FrontError> {
    let clang = process::find(options)?;
    let mut flags = flags_for(texts.written, options)?;
    flags.extend(own_macros(options));
    // An additional input of the compiler behind clang's driver; its AST comes first.
    flags.extend(["-Xclang".to_string(), texts.preprocessed.to_string_lossy().into_owned()]);
    // About the size of most ASTs; growing the buffer step by step would copy it many times.
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
    // Inside a unit, a comma or a line break follows a closing brace at the start of a line.
    let mut ends = memchr::memmem::find_iter(&said, b"\n}{").map(|at| at + 2);
    let (Some(end), None) = (ends.next(), ends.next()) else { return Ok(None) };
    let (whole, all) = (said.len(), Arc::new(said));
    Ok(Some((Dump { all: all.clone(), part: end..whole }, Dump { all, part: 0..end })))
}

/// Returns the AST of a file from the resident clang; `None` if none is running, if it rejects the file, or if the AST
/// is too large to be held in memory. The caller then runs a clang of its own, which also reports errors.
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

/// Reads a whole reply, without indentation.
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

/// Reads clang's output, from the resident clang if one is running; returns true if clang accepts the texts.
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
    // The caller repeats a failed request for each text, which reports the error.
    Ok(run.finish()?.is_ok() && read.is_ok())
}
