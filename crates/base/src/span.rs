//! Source files and positions.
//!
//! A span keeps where the user *sees* the code (the expansion position) and, when a macro is involved, where it is
//! written (the spelling). Columns count bytes from 1, as compilers do.

use crate::IndexMap;

crate::define_id! {
    /// A source file of a module.
    FileId, "f"
}

/// The source files of a module: their paths as the user gave them.
pub type Files = IndexMap<FileId, String>;

/// A position in a source file. `line == 0` means "no position" (synthesised code).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First line, from 1; 0 if unknown.
    pub line: u32,
    /// First column, from 1.
    pub column: u32,
    /// Line of the end (exclusive column).
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
}

impl Span {
    /// A span of no text at a position.
    pub fn at(file: FileId, line: u32, column: u32) -> Span {
        Span { file, line, column, end_line: line, end_column: column }
    }
    /// The span of synthesised code.
    pub fn none() -> Span {
        Span::at(<FileId as crate::Id>::new(0), 0, 0)
    }
    /// Returns true if this is a real position.
    pub fn is_some(&self) -> bool {
        self.line != 0
    }
    /// `file.c:12:7`, as compilers print it.
    pub fn display(&self, files: &Files) -> String {
        match files.get(self.file) {
            Some(path) if self.is_some() => format!("{path}:{}:{}", self.line, self.column),
            _ => "<no position>".to_string(),
        }
    }
}
