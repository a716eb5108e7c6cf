//! Test files of one unit that begin alike, as one file: the compiler reads the unit once for all of them.
//!
//! Names that every file may define for itself, those of shapes and callbacks, get the number of their part. Anything
//! else that two files define is an error of the compiler; the merged file is then split.

use crate::EmitError;
use crate::c::files::chunk::SplitChunk;
use crate::c::files::suite_file::chunk_paths;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The size of a merged file in bytes up to which files are added. Larger files would keep other processors waiting.
const MERGED_BYTES: usize = 200_000;

/// Selected tests of one file.
#[derive(Clone, Debug)]
pub(crate) struct TestFile {
    /// The number of its suite in the list that was given.
    pub suite: usize,
    pub path: PathBuf,
    pub tests: Vec<String>,
    body: String,
}

impl TestFile {
    /// Returns the folder to which quoted includes are relative.
    pub fn folder(&self) -> PathBuf {
        self.path.parent().unwrap_or(Path::new(".")).to_path_buf()
    }
}

/// Files that begin alike.
#[derive(Clone, Debug)]
pub(crate) struct MergedFile {
    /// The common beginning: includes, stubs and declarations.
    prologue: String,
    pub parts: Vec<TestFile>,
}

/// Reads the files of suites, each given by its first file, and merges those that begin alike after `adapt`. Tests for
/// which `select` returns false are not run; files without selected tests are left out.
pub(crate) fn merge(
    suites: &[&Path],
    select: &dyn Fn(usize, &str) -> bool,
    adapt: &dyn Fn(&str, &Path) -> String,
) -> Result<Vec<MergedFile>, EmitError> {
    let mut merged: BTreeMap<String, Vec<TestFile>> = BTreeMap::new();
    for (suite, first) in suites.iter().enumerate() {
        for path in chunk_paths(first).take_while(|path| path.exists()) {
            let text = std::fs::read_to_string(&path).map_err(EmitError::io(&path))?;
            let SplitChunk { prologue, body, tests } = SplitChunk::new(&text);
            let tests: Vec<String> = tests.into_iter().filter(|name| select(suite, name)).collect();
            if tests.is_empty() {
                continue;
            }
            let file = TestFile { suite, path, tests, body: body.to_string() };
            merged.entry(adapt(prologue, &file.folder())).or_default().push(file);
        }
    }
    Ok(merged.into_iter().flat_map(|(prologue, parts)| limited(&prologue, parts)).collect())
}

/// Distributes files over merged files of limited size.
fn limited(prologue: &str, files: Vec<TestFile>) -> Vec<MergedFile> {
    let mut merged: Vec<MergedFile> = Vec::new();
    let mut bytes = 0;
    for file in files {
        bytes += file.body.len();
        match merged.last_mut().filter(|_| bytes <= MERGED_BYTES) {
            Some(last) => last.parts.push(file),
            None => {
                bytes = file.body.len();
                merged.push(MergedFile { prologue: prologue.to_string(), parts: vec![file] });
            }
        }
    }
    merged
}

impl MergedFile {
    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let mut text = self.prologue.clone();
        for (number, part) in self.parts.iter().enumerate() {
            match self.parts.len() {
                1 => text.push_str(&part.body),
                _ => push_with_own_names(&mut text, &part.body, number),
            }
        }
        text
    }

    /// Returns the flags by which quoted includes are found relative to the original files.
    pub fn include_flags(&self) -> Vec<String> {
        let folders: BTreeSet<PathBuf> = self.parts.iter().map(TestFile::folder).collect();
        folders.into_iter().flat_map(|folder| ["-iquote".to_string(), folder.display().to_string()]).collect()
    }

    /// Returns the names of all tests.
    pub fn tests(&self) -> Vec<String> {
        self.parts.iter().flat_map(|part| part.tests.iter().cloned()).collect()
    }

    /// Returns the two halves of the file, or `None` if it has a single part.
    pub fn halves(&self) -> Option<[MergedFile; 2]> {
        let (left, right) = self.parts.split_at(self.parts.len() / 2);
        let half = |parts: &[TestFile]| MergedFile { prologue: self.prologue.clone(), parts: parts.to_vec() };
        (!left.is_empty()).then(|| [half(left), half(right)])
    }
}

/// Appends the text of a part, in which its shapes and callbacks have names of their own.
fn push_with_own_names(text: &mut String, body: &str, part: usize) {
    let mut rest = body;
    let mut quote = None;
    while let Some(first) = rest.chars().next() {
        let length = match quote {
            Some(_) if first == '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            Some(end) => {
                quote = quote.filter(|_| first != end && first != '\n');
                first.len_utf8()
            }
            None if first.is_ascii_alphanumeric() || first == '_' => {
                rest.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(rest.len())
            }
            // An apostrophe may also stand in a comment.
            None if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            None => {
                quote = Some(first).filter(|char| matches!(char, '"' | '\''));
                first.len_utf8()
            }
        };
        let (word, after) = rest.split_at(length);
        text.push_str(word);
        if quote.is_none() && is_own_name(word) {
            text.push_str(&format!("_in_{part}"));
        }
        rest = after;
    }
}

/// Returns true for names that every file may define for itself.
fn is_own_name(word: &str) -> bool {
    let number = ["shape_", "touchstone_callback_"].iter().find_map(|start| word.strip_prefix(start));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_callbacks_have_names_of_their_own() {
        let body = "/* shape_1's */ struct shape_1 { char *s; };\nSHAPE(shape_1) { f(touchstone_callback_2, \"shape_1 \\\" shape_1\", '\"', shape_1x); }\n";
        let mut text = String::new();
        push_with_own_names(&mut text, body, 3);
        let expected = "/* shape_1's */ struct shape_1_in_3 { char *s; };\n\
            SHAPE(shape_1_in_3) { f(touchstone_callback_2_in_3, \"shape_1 \\\" shape_1\", '\"', shape_1x); }\n";
        assert_eq!(text, expected);
    }
}
