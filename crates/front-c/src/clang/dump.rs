//! What clang said of a file, kept for whoever reads it.

use std::ops::Range;
use std::sync::Arc;

/// What clang says of a file.
#[derive(Clone, PartialEq, Eq)]
pub struct Dump {
    pub(super) all: Arc<Vec<u8>>,
    pub(super) part: Range<usize>,
}

impl std::fmt::Debug for Dump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dump({} bytes)", self.part.len())
    }
}

impl Dump {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.all[self.part.clone()]
    }
}
