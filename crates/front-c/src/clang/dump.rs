//! An AST in the serialised form of clang's output.

use std::ops::Range;
use std::sync::Arc;

/// The serialised AST of a file: a part of a shared buffer.
#[derive(Clone, PartialEq, Eq)]
pub struct AstDump {
    pub(super) all: Arc<Vec<u8>>,
    pub(super) part: Range<usize>,
}

impl std::fmt::Debug for AstDump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dump({} bytes)", self.part.len())
    }
}

impl AstDump {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.all[self.part.clone()]
    }
}
