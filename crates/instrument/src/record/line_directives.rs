//! `#line` directives: the source locations that a generated file declares for its own lines. Probes refer to the
//! compiled text; reports show the declared locations, as compilers and gcov do.

use super::unit_record::{SourceRange, UnitRecord};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A `#line` directive, which governs the lines after it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LineDirective {
    /// The file that contains it, as an index into [`UnitRecord::files`].
    pub file: u32,
    /// The line of the directive.
    pub at: u32,
    /// The file that it names, as an index into [`UnitRecord::files`].
    pub to: u32,
    /// The declared number of the next line.
    pub line: u32,
}

impl UnitRecord {
    /// Maps a range of the compiled text to the range that is reported for it.
    pub fn shown(&self, place: SourceRange) -> SourceRange {
        let governing = |line: u32| {
            let before = self.lines.iter().filter(|known| known.file == place.file && known.at < line);
            before.max_by_key(|known| known.at)
        };
        let Some(here) = governing(place.line) else { return place };
        let there = |line: u32| (here.line + line).saturating_sub(here.at + 1);
        let line = there(place.line);
        let (end_line, end_column) = match governing(place.end_line) == Some(here) {
            true => (there(place.end_line), place.end_column),
            // The range ends in another file: only its beginning is reported.
            false => (line, place.column),
        };
        SourceRange { file: here.to, line, column: place.column, end_line, end_column }
    }

    /// Records the directives of the files that contain functions, as far as the preprocessor's line markers contain
    /// them.
    pub(crate) fn keep_lines(&mut self, preprocessed: &str) {
        let used: BTreeSet<u32> = self.functions.iter().map(|(_, place)| place.file).collect();
        let markers: BTreeSet<&str> = preprocessed.lines().filter(|line| line.starts_with("# ")).collect();
        for file in used {
            let Some(own) = self.files.get(file as usize).cloned() else { continue };
            let text = std::fs::read(&own).unwrap_or_default();
            for (at, line, name) in directives(&String::from_utf8_lossy(&text)) {
                let name = name.unwrap_or(&own);
                let spelled = name.rsplit('/').next().unwrap_or(name);
                let counted = markers.iter().any(|marker| {
                    let rest = marker[2..].strip_prefix(&line.to_string()).and_then(|rest| rest.strip_prefix(" \""));
                    rest.is_some_and(|rest| rest.split('"').next().is_some_and(|path| path.ends_with(spelled)))
                });
                if let Some(to) = found(name, &own).filter(|_| counted) {
                    let to = self.file(&to);
                    self.lines.push(LineDirective { file, at, to, line });
                }
            }
        }
    }

    fn file(&mut self, path: &Path) -> u32 {
        let path = path.to_string_lossy().into_owned();
        let known = self.files.iter().position(|file| *file == path);
        let at = known.unwrap_or_else(|| {
            self.files.push(path);
            self.files.len() - 1
        });
        at as u32
    }
}

/// Finds the file that a directive names, relative to the current directory or to the file that contains it.
fn found(name: &str, own: &str) -> Option<PathBuf> {
    let here = std::path::absolute(name).ok()?;
    let beside = Path::new(own).parent()?.join(name);
    [here, beside].into_iter().find(|path| path.is_file())
}

/// Parses the directives of a text: their line, the declared next line and file.
fn directives(text: &str) -> Vec<(u32, u32, Option<&str>)> {
    text.lines().enumerate().filter_map(directive).collect()
}

fn directive((index, text): (usize, &str)) -> Option<(u32, u32, Option<&str>)> {
    let rest = text.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let line = rest[..digits].parse().ok()?;
    Some((index as u32 + 1, line, rest[digits..].split('"').nth(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_in_all_forms() {
        let text = "int a;\n#line 7 \"g.y\"\n  # line 9\n# 3 \"h.c\" 2\n#define line 4\n#if 1\n";
        assert_eq!(directives(text), [(2, 7, Some("g.y")), (3, 9, None), (4, 3, Some("h.c"))]);
    }
}
