//! The ASTs of a source file and of its preprocessed text, from one run of clang.
//!
//! For a small file, starting clang takes most of the time. The caller ensures that the flags of one text are valid for
//! the other.

use crate::clang::ast_reader::IndentStripper;
use crate::clang::clang_server;
use crate::clang::compact;
use crate::clang::dump::AstDump;
use crate::clang::flags::{flags_for, predefined_macros};
use crate::clang::options::Options;
use crate::clang::process::{self, Clang, ClangInput};
use crate::error::FrontError;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// The action of clang's front end.
pub(super) const ACTION: &str = "-ast-dump=json";

/// A source file and its preprocessed text, which has an absolute path.
#[derive(Clone, Copy, Debug)]
pub struct SourcePair<'a> {
    /// The source file.
    pub written: &'a Path,
    /// The preprocessed text.
    pub preprocessed: &'a Path,
}

/// Dumps both ASTs with the flags of the source file; `None` if clang rejects one of the texts.
pub fn dump_pair(texts: SourcePair<'_>, options: &Options) -> Result<Option<(AstDump, AstDump)>, FrontError> {
    let clang = process::find(options)?;
    let mut flags = flags_for(texts.written, options)?;
    flags.extend(predefined_macros(options));
    // An additional input of the compiler behind clang's driver; its AST comes first.
    flags.extend(["-Xclang".to_string(), texts.preprocessed.to_string_lossy().into_owned()]);
    // About the size of most ASTs; growing the buffer step by step would copy it many times.
    let expected = 16 * std::fs::metadata(texts.preprocessed).map_or(0, |meta| meta.len() as usize);
    let mut said = Vec::with_capacity(expected);
    if !read_output(&clang, &flags, ClangInput::File(texts.written), &mut said)? {
        return Ok(None);
    }
    if compact::is_compact(&said) {
        let Some([second, first]) = compact::documents(&said).and_then(|all| <[_; 2]>::try_from(all).ok()) else {
            return Ok(None);
        };
        let all = Arc::new(said);
        return Ok(Some((AstDump { all: all.clone(), part: second }, AstDump { all, part: first })));
    }
    // Inside a unit, a comma or a line break follows a closing brace at the start of a line.
    let mut ends = memchr::memmem::find_iter(&said, b"\n}{").map(|at| at + 2);
    let (Some(end), None) = (ends.next(), ends.next()) else { return Ok(None) };
    let (whole, all) = (said.len(), Arc::new(said));
    Ok(Some((AstDump { all: all.clone(), part: end..whole }, AstDump { all, part: 0..end })))
}

/// Returns the AST of a file from the resident clang; `None` if none is running, if it rejects the file, or if the AST
/// is too large to be held in memory. The caller then runs a clang of its own, which also reports errors.
pub(crate) fn dump_from_server(clang: &Clang, flags: &[String], input: ClangInput<'_>) -> Option<AstDump> {
    const MAX_REPLY_BYTES: u64 = 256 << 20;
    if matches!(input, ClangInput::Text(_)) {
        return None;
    }
    let mut asked = clang_server::send_request(&clang.program, &process::words(ACTION, flags, input))?;
    let mut said = Vec::new();
    read_reply((&mut asked).take(MAX_REPLY_BYTES), &mut said).ok()?;
    let part = 0..said.len();
    (asked.status() == Some(0)).then(|| AstDump { all: Arc::new(said), part })
}

/// Reads a whole reply, without indentation.
pub(super) fn read_reply(mut asked: impl Read, said: &mut Vec<u8>) -> std::io::Result<()> {
    let mut first = [0];
    let begun = asked.read(&mut first)?;
    let begin = &first[..begun];
    if compact::is_compact(begin) {
        said.extend_from_slice(begin);
        asked.read_to_end(said)?;
    } else {
        IndentStripper::new(begin.chain(asked)).read_to_end(said)?;
    }
    Ok(())
}

/// Reads clang's output, from the resident clang if one is running; returns true if clang accepts the texts.
fn read_output(clang: &Clang, flags: &[String], input: ClangInput<'_>, said: &mut Vec<u8>) -> Result<bool, FrontError> {
    if let Some(mut asked) = clang_server::send_request(&clang.program, &process::words(ACTION, flags, input))
        && read_reply(&mut asked, said).is_ok()
        && let Some(status) = asked.status()
    {
        return Ok(status == 0);
    }
    said.clear();
    let mut run = process::start(clang, ACTION, flags, input)?;
    let read = run.output().map_or(Ok(0), |output| IndentStripper::new(output).read_to_end(said));
    // The caller repeats a failed request for each text, which reports the error.
    Ok(run.finish()?.is_ok() && read.is_ok())
}
