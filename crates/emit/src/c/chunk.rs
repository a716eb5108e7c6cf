//! A test file that does not compile: which of its tests the compiler complains about, and the file without them.

use std::collections::BTreeMap;
use std::ops::Range;

/// The text of a test file, in lines that belong to its tests.
pub(crate) struct Chunk<'t> {
    lines: Vec<&'t str>,
    /// By test: its lines and what stands directly before it; in the order of the file.
    tests: Vec<(&'t str, Range<usize>)>,
}

/// What a compiler says against a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Complaints {
    /// By test, the first words against it.
    pub(crate) tests: BTreeMap<String, String>,
    /// The first words of all.
    pub(crate) first: String,
}

impl<'t> Chunk<'t> {
    pub(crate) fn new(text: &'t str) -> Chunk<'t> {
        let lines: Vec<&str> = text.lines().collect();
        let begins = |line: &str| line.starts_with("#include \"touchstone_");
        let mut from = lines.iter().rposition(|line| begins(line)).map_or(0, |at| at + 1);
        let mut tests = Vec::new();
        let mut at = from;
        while at < lines.len() {
            if let Some(name) = test_name(lines[at]) {
                let is_row = !lines[at].ends_with('{');
                let last = |line: &str| if is_row { line.ends_with("})") } else { line == "}" };
                let end = lines[at..].iter().position(|line| last(line)).map_or(lines.len(), |end| at + end + 1);
                tests.push((name, from..end));
                (from, at) = (end, end);
            } else {
                at += 1;
            }
        }
        Chunk { lines, tests }
    }

    /// The names of the tests.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'t str> + '_ {
        self.tests.iter().map(|(name, _)| *name)
    }

    /// What a compiler's words mean for the tests; `file` is how it calls the file.
    pub(crate) fn complaints(&self, stderr: &str, file: &str) -> Complaints {
        let mut found = Complaints::default();
        let mut words = String::new();
        for line in stderr.lines() {
            if let Some((_, what)) = line.split_once(" error: ") {
                words = what.trim().to_string();
                if found.first.is_empty() {
                    found.first = words.clone();
                }
            }
            // Within a macro the compiler names our header first and the test in a note.
            let place = line.split_once(file).and_then(|(_, rest)| rest.strip_prefix(':'));
            let number = place.and_then(|rest| rest.split(':').next()).and_then(|number| number.parse::<usize>().ok());
            let told =
                line.contains(" error: ") || line.contains(" note: in expansion") || line.contains(" note: expanded");
            let test = number.filter(|_| told && !words.is_empty()).and_then(|number| self.test_at(number));
            if let Some(test) = test {
                found.tests.entry(test.to_string()).or_insert_with(|| words.clone());
            }
        }
        found
    }

    /// The test in a line, from 1.
    fn test_at(&self, number: usize) -> Option<&'t str> {
        let at = number.checked_sub(1)?;
        self.tests.iter().find(|(_, lines)| lines.contains(&at)).map(|(name, _)| *name)
    }

    /// The text without some tests; all other lines keep their numbers.
    pub(crate) fn without(&self, left_out: &BTreeMap<String, String>) -> String {
        let mut lines = self.lines.clone();
        for (_, range) in self.tests.iter().filter(|(name, _)| left_out.contains_key(*name)) {
            lines[range.clone()].fill("");
        }
        lines.join("\n") + "\n"
    }
}

/// The name in a line that begins a test.
pub(crate) fn test_name(line: &str) -> Option<&str> {
    let rest = ["TEST(", "ERROR_TEST(", "ROW(", "ERROR_ROW("].iter().find_map(|start| line.strip_prefix(start))?;
    rest.split_once(',').map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#include \"../a.c\"\n#include \"touchstone_test.h\"\n\n/* Covers x */\nTEST(f_1, \"\") {\n    one();\n}\n\nextern int g;\n\
                        TEST(f_2, \"\") {\n    two();\n}\n\nROW(f_3, shape_1, \"\",\n    {1, 2})\n";

    #[test]
    fn complaints_are_told_by_test_and_lines_keep_their_numbers() {
        let chunk = Chunk::new(TEXT);
        assert_eq!(chunk.names().collect::<Vec<_>>(), ["f_1", "f_2", "f_3"]);
        let stderr = "In file included from out/test_f.c:1:\nout/test_f.c:11:5: error: unknown `two`\n\
                      touchstone_test.h:9:1: error: expected expression\nout/test_f.c:15:2: note: in expansion of macro 'ROW'\n";
        let complaints = chunk.complaints(stderr, "out/test_f.c");
        let tests = [("f_2", "unknown `two`"), ("f_3", "expected expression")];
        assert_eq!(complaints.tests, tests.map(|(test, why)| (test.to_string(), why.to_string())).into());
        let text = chunk.without(&complaints.tests);
        assert!(text.contains("one();") && !text.contains("two()") && !text.contains("ROW("), "{text}");
        assert_eq!(text.lines().position(|line| line.contains("one()")), Some(5));
        assert_eq!(chunk.complaints("x.c:1:1: error: no", "test_f.c").first, "no");
    }
}
