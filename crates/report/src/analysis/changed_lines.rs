//! Restriction of a document to changed lines.
//!
//! The input is the output of `git diff -U0 --no-prefix REV`; the caller runs git.

use crate::document::{Counts, Document, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::{CoverageKind, coverage_kind};

/// Added and changed lines of the new version, by path: ranges with both ends included.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChangedLines {
    files: BTreeMap<String, Vec<(u32, u32)>>,
}

impl ChangedLines {
    /// Parses the output of `git diff -U0 --no-prefix`. Paths are relative to the root of the repository.
    pub fn parse(diff: &str) -> ChangedLines {
        let mut lines = Lines::default();
        let mut path: Option<String> = None;
        // Bodies of hunks are counted, since their lines may look like headers.
        let (mut old_left, mut new_left, mut next) = (0u32, 0u32, 0u32);
        for line in diff.lines() {
            match line.as_bytes().first() {
                Some(b'-') if old_left > 0 => {
                    old_left -= 1;
                    lines.removed.push(line[1..].trim());
                }
                Some(b'+') if new_left > 0 => {
                    new_left -= 1;
                    if let Some(path) = &path {
                        lines.added.push((path.clone(), next, line[1..].trim()));
                    }
                    next = next.saturating_add(1);
                }
                _ => {
                    if let Some(name) = line.strip_prefix("+++ ") {
                        path = (name != "/dev/null").then(|| unquote(name));
                    } else if let Some(hunk) = line.strip_prefix("@@ ") {
                        let Some([(_, old), (first, new)]) = hunk_ranges(hunk) else { continue };
                        (old_left, new_left, next) = (old, new, first);
                        // A separator: a block of moved lines does not extend over several hunks.
                        lines.removed.push(SEPARATOR);
                        lines.added.push((String::new(), 0, SEPARATOR));
                    }
                }
            }
        }
        lines.changed()
    }

    /// Adds all lines of a file, for one that git does not track.
    pub fn add_whole(&mut self, path: &str) {
        self.files.entry(path.to_string()).or_default().push((1, u32::MAX));
    }

    /// Returns true if any of these lines is changed.
    pub fn touches(&self, path: &str, first: u32, last: u32) -> bool {
        let ranges = self.files.get(path).map_or(&[][..], Vec::as_slice);
        ranges.iter().any(|(from, to)| *from <= last && first <= *to)
    }
}

/// The separator of hunks, which no line equals.
const SEPARATOR: &str = "\n";
/// The minimum number of letters and digits in a block of moved lines; shorter blocks coincide at random.
const MIN_MOVED_CHARS: usize = 20;

/// The lines of a diff, without surrounding white space.
#[derive(Default)]
struct Lines<'d> {
    removed: Vec<&'d str>,
    /// The path, number and text of each added line.
    added: Vec<(String, u32, &'d str)>,
}

impl Lines<'_> {
    /// Returns the changed lines, without those that were only moved.
    fn changed(&self) -> ChangedLines {
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, line) in self.removed.iter().enumerate().filter(|(_, line)| **line != SEPARATOR) {
            places.entry(line).or_default().push(index);
        }
        let mut changed = ChangedLines::default();
        let mut at = 0;
        while at < self.added.len() {
            let (path, number, text) = &self.added[at];
            let starts = places.get(text).map_or(&[][..], Vec::as_slice);
            let longest = starts.iter().map(|start| self.run(*start, at)).max().unwrap_or(0);
            let letters =
                |(_, _, text): &(String, u32, &str)| text.chars().filter(|char| char.is_alphanumeric()).count();
            if longest > 0 && self.added[at..at + longest].iter().map(letters).sum::<usize>() >= MIN_MOVED_CHARS {
                at += longest;
                continue;
            }
            if *text != SEPARATOR {
                changed.files.entry(path.clone()).or_default().push((*number, *number));
            }
            at += 1;
        }
        changed
    }

    /// Returns the number of equal consecutive lines, from a removed and an added line on.
    fn run(&self, removed: usize, added: usize) -> usize {
        let pairs = self.removed[removed..].iter().zip(&self.added[added..]);
        pairs.take_while(|(old, (_, _, new))| *old == new && **old != SEPARATOR).count()
    }
}

/// Parses `-a,b +c,d @@` to pairs of first line and count.
fn hunk_ranges(hunk: &str) -> Option<[(u32, u32); 2]> {
    let mut words = hunk.split(' ');
    let mut range = |sign: char| {
        let text = words.next()?.strip_prefix(sign)?;
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    Some([range('-')?, range('+')?])
}

/// Decodes a quoted path with C escapes; git quotes unusual characters.
fn unquote(name: &str) -> String {
    let name = name.trim_end_matches('\t');
    let Some(inner) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return name.to_string() };
    let (mut bytes, mut rest) = (Vec::new(), inner.bytes());
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let more = [rest.next(), rest.next()];
                let digits = [Some(digit), more[0], more[1]].into_iter().flatten();
                let code = digits.fold(0u32, |code, digit| code * 8 + u32::from(digit.wrapping_sub(b'0') & 7));
                bytes.push((code & 0xff) as u8);
            }
            Some(b't') => bytes.push(b'\t'),
            Some(b'n') => bytes.push(b'\n'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Keeps the objectives and decisions that begin or end on a changed line, and what belongs to them. `name` says under which
/// path the difference knows a file of the document. Paths through a function have no lines, so criteria that count them are left out.
pub fn restrict(document: &mut Document, changed: &ChangedLines, name: impl Fn(&str) -> String) {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut touches = |file: &Option<String>, line: Option<u32>, end: Option<u32>| {
        let (Some(file), Some(line)) = (file, line) else { return false };
        let path = names.entry(file.clone()).or_insert_with(|| name(file));
        changed.touches(path, line, end.unwrap_or(line).max(line))
    };
    document.objectives.retain(|objective| {
        let at = &objective.at;
        // A statement may span pages; it counts as changed if its first line is.
        let is_statement = coverage_kind(&objective.criterion) == CoverageKind::Statements;
        let end = if is_statement { at.line } else { at.end_line };
        touches(&at.file, at.line, end)
    });
    document.decisions.retain(|decision| touches(&decision.at.file, decision.at.line, decision.at.end_line));
    let mut counts: BTreeMap<(&str, &str), Counts> = BTreeMap::new();
    for objective in &document.objectives {
        let entry = counts.entry((&objective.function, &objective.criterion)).or_default();
        if objective.status == Verdict::Unaffected {
            entry.unaffected += 1;
            continue;
        }
        entry.total += 1;
        match objective.status {
            Verdict::Covered => entry.covered += 1,
            Verdict::Infeasible => entry.infeasible += 1,
            Verdict::Unknown => entry.unknown += 1,
            Verdict::Uncovered => entry.uncovered += 1,
            Verdict::Unaffected => {}
        }
    }
    document.functions.retain_mut(|function| {
        let found = counts.get(&(function.name.as_str(), function.criterion.as_str()));
        function.objectives = found.copied().unwrap_or_default();
        found.is_some()
    });
    let kept: BTreeSet<&str> =
        document.objectives.iter().filter_map(|objective| objective.at.file.as_deref()).collect();
    document.files.retain(|file| kept.contains(file.path.as_str()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_give_the_lines_of_the_new_version() {
        let diff = "diff --git a.c a.c\n--- a.c\n+++ a.c\n@@ -3 +3,2 @@ int f(\n-old\n+++ new\n+two\n@@ -9,2 +10,0 @@\n-x\n--- y\n\
            diff --git b.c b.c\n--- /dev/null\n+++ \"b\\303\\244.c\"\n@@ -0,0 +1,3 @@\n+1\n+2\n+3\n--- c.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let changed = ChangedLines::parse(diff);
        let hit = |path: &str, line| changed.touches(path, line, line);
        assert_eq!([2, 3, 4, 5, 10].map(|line| hit("a.c", line)), [false, true, true, false, false]);
        assert_eq!([1, 3, 4].map(|line| hit("bä.c", line)), [true, true, false]);
        assert!(!hit("c.c", 1) && !hit("/dev/null", 0));
        assert!(changed.touches("a.c", 1, 3) && !changed.touches("a.c", 1, 2));
    }

    #[test]
    fn lines_that_only_moved_are_not_changed() {
        let diff = "--- a.c\n+++ a.c\n@@ -3,4 +2,0 @@\n-int limit(int value) {\n-    if (value > 10) return 10;\n-    return value;\n-}\n\
                    @@ -20,0 +18,5 @@\n+int limit(int value) {\n+        if (value > 10) return 10;\n+    return value;\n+}\n+int other;\n\
                    @@ -40 +42 @@\n-}\n+return 1;\n--- b.c\n+++ b.c\n@@ -1,0 +2 @@\n+}\n";
        let changed = ChangedLines::parse(diff);
        let hit = |path: &str, line| changed.touches(path, line, line);
        assert_eq!(
            [17, 18, 19, 20, 21, 22, 42].map(|line| hit("a.c", line)),
            [false, false, false, false, false, true, true]
        );
        assert!(hit("b.c", 2), "a brace alone is the same by chance");
    }
}
