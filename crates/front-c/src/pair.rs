//! What clang says of two texts in one run: a source as it is written, and the same preprocessed.
//!
//! Of a small file, starting clang is most of the time. Only whoever knows that the flags of one do no harm to the other
//! may ask for both at once.

use crate::clang::{self, Input};
use crate::error::FrontError;
use crate::flags::flags_for;
use crate::{Offsets, Options, offsetof};
use std::path::Path;
use std::sync::Arc;

/// What clang says of a file.
#[derive(Clone, PartialEq, Eq)]
pub struct Dump(Arc<[u8]>);

impl std::fmt::Debug for Dump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dump({} bytes)", self.0.len())
    }
}

impl Dump {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

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
    let clang = clang::find(options.clang.as_deref())?;
    let mut flags = flags_for(texts.written, options)?;
    if options.offsets == Offsets::Spelled {
        flags.push(offsetof::SPELLED.to_string());
    }
    // A second input of the compiler behind clang's driver: it comes first.
    flags.extend(["-Xclang".to_string(), texts.preprocessed.to_string_lossy().into_owned()]);
    let Ok(text) = clang::capture(&clang, "-ast-dump=json", &flags, Input::File(texts.written))? else {
        return Ok(None);
    };
    // Whatever is inside of a unit is indented.
    let Some(end) = text.find("\n}{").map(|at| at + "\n}".len()) else { return Ok(None) };
    let (preprocessed, written) = text.split_at(end);
    if written.contains("\n}{") {
        return Ok(None);
    }
    Ok(Some((Dump(written.as_bytes().into()), Dump(preprocessed.as_bytes().into()))))
}
