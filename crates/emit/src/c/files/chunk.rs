//! Attribution of compiler diagnostics to the tests of a file, and removal of the rejected tests.

use std::collections::BTreeMap;
use std::ops::Range;

/// The lines of a test file, by test.
#[derive(Default)]
pub(crate) struct Chunk<'t> {
    lines: Vec<&'t str>,
    /// Each test with its lines and the comment before it, in the order of the file.
    tests: Vec<(String, Range<usize>)>,
    /// The shapes of rows, by name.
    shapes: BTreeMap<&'t str, Shape>,
}

/// The lines of a shape.
#[derive(Default)]
struct Shape {
    /// The structure and the function.
    own: Vec<Range<usize>>,
    tables: Vec<Range<usize>>,
    /// The tests that are its rows, as indices into the list of tests.
    rows: Vec<usize>,
}

/// The diagnostics of a compiler for a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Diagnostics {
    /// Maps each rejected test to its first error.
    pub(crate) tests: BTreeMap<String, String>,
    /// The first error of the file.
    pub(crate) first: String,
}

impl<'t> Chunk<'t> {
    pub(crate) fn new(text: &'t str) -> Chunk<'t> {
        let mut chunk = Chunk { lines: text.lines().collect(), ..Chunk::default() };
        let first = chunk.lines.iter().position(|line| test_name(line).is_some()).unwrap_or(chunk.lines.len());
        let mut from = chunk.lines[..first].iter().rposition(|line| includes_ours(line)).map_or(0, |at| at + 1);
        let mut at = from;
        while at < chunk.lines.len() {
            let line = chunk.lines[at];
            let end = if let Some((function, shape)) = table_of(line) {
                chunk.table(at, function, shape)
            } else if let Some(shape) = shape_of(line) {
                let function = chunk.line_after(at, |line| line.starts_with("SHAPE("));
                let end = chunk.line_after(function, |line| line == "}");
                chunk.shapes.entry(shape).or_default().own.push(at..end);
                end
            } else if let Some(name) = test_name(line) {
                let end = chunk.line_after(at, |line| line == "}");
                chunk.tests.push((name.to_string(), from..end));
                end
            } else {
                at += 1;
                continue;
            };
            (from, at) = (end, end);
        }
        chunk
    }

    /// Reads the rows of the table that begins at a line, and returns the line after the table.
    fn table(&mut self, begin: usize, function: &str, shape: &'t str) -> usize {
        let last = self.line_after(begin, |line| line == "};");
        let guarded = begin > 0 && self.lines[begin - 1].starts_with("#ifndef");
        let end = (last + 1 + usize::from(guarded)).min(self.lines.len());
        let known = self.shapes.entry(shape).or_default();
        known.tables.push(begin - usize::from(guarded)..end);
        let mut from = begin + 1;
        for at in begin + 1..last {
            if let Some(number) = row_number(self.lines[at]) {
                known.rows.push(self.tests.len());
                self.tests.push((format!("{function}_{number}"), from..at + 1));
                from = at + 1;
            }
        }
        end
    }

    /// Returns the line after the first line from `at` on that satisfies the predicate.
    fn line_after(&self, at: usize, is: impl Fn(&str) -> bool) -> usize {
        self.lines[at..].iter().position(|line| is(line)).map_or(self.lines.len(), |found| at + found + 1)
    }

    /// Returns the names of the tests.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> + '_ {
        self.tests.iter().map(|(name, _)| name.as_str())
    }

    /// Returns every test with its body: its own lines, or those of its shape.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = (&str, Vec<&'t str>)> + '_ {
        self.tests.iter().enumerate().map(|(index, (name, lines))| {
            let shape = self.shapes.values().find(|shape| shape.rows.binary_search(&index).is_ok());
            let own = std::slice::from_ref(lines);
            let ranges = shape.map_or(own, |shape| &shape.own);
            (name.as_str(), ranges.iter().flat_map(|range| self.lines[range.clone()].iter().copied()).collect())
        })
    }

    /// Attributes the messages of a compiler to tests; `file` is the compiler's name of the file.
    pub(crate) fn diagnostics(&self, stderr: &str, file: &str) -> Diagnostics {
        let mut found = Diagnostics::default();
        let mut words = String::new();
        for line in stderr.lines() {
            if let Some((_, what)) = line.split_once(" error: ") {
                words = what.trim().to_string();
                if found.first.is_empty() {
                    found.first = words.clone();
                }
            }
            // For an error inside of a macro, the compiler names the header first and the test in a note.
            let place = line.split_once(file).and_then(|(_, rest)| rest.strip_prefix(':'));
            let number = place.and_then(|rest| rest.split(':').next()).and_then(|number| number.parse::<usize>().ok());
            let told =
                line.contains(" error: ") || line.contains(" note: in expansion") || line.contains(" note: expanded");
            for test in
                number.filter(|_| told && !words.is_empty()).map(|number| self.tests_at(number)).unwrap_or_default()
            {
                found.tests.entry(test.to_string()).or_insert_with(|| words.clone());
            }
        }
        found
    }

    /// Returns the test at a line, counted from 1, or all tests with a shape at this line.
    fn tests_at(&self, number: usize) -> Vec<&str> {
        let Some(at) = number.checked_sub(1) else { return Vec::new() };
        if let Some((name, _)) = self.tests.iter().find(|(_, lines)| lines.contains(&at)) {
            return vec![name];
        }
        let shape =
            self.shapes.values().find(|shape| shape.own.iter().chain(&shape.tables).any(|lines| lines.contains(&at)));
        shape.into_iter().flat_map(|shape| shape.rows.iter().map(|row| self.tests[*row].0.as_str())).collect()
    }

    /// Returns the text without some tests; all other lines keep their numbers.
    pub(crate) fn without(&self, left_out: &BTreeMap<String, String>) -> String {
        let mut lines = self.lines.clone();
        for (_, range) in self.tests.iter().filter(|(name, _)| left_out.contains_key(name)) {
            // Later tests may need the header as well.
            lines[range.clone()].iter_mut().filter(|line| !includes_ours(line)).for_each(|line| *line = "");
        }
        // A shape without rows is removed together with its tables.
        let unused = |shape: &&Shape| shape.rows.iter().all(|row| left_out.contains_key(&self.tests[*row].0));
        for range in self.shapes.values().filter(unused).flat_map(|shape| shape.own.iter().chain(&shape.tables)) {
            lines[range.clone()].fill("");
        }
        lines.join("\n") + "\n"
    }
}

/// A test file in two parts: the declarations that its tests share, and the tests.
pub(crate) struct SplitChunk<'t> {
    /// The includes, stubs and declarations, without the comment at the top.
    pub(crate) prologue: &'t str,
    pub(crate) body: &'t str,
    /// The names of the tests.
    pub(crate) tests: Vec<String>,
}

impl<'t> SplitChunk<'t> {
    pub(crate) fn new(text: &'t str) -> SplitChunk<'t> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let trimmed = |at: usize| lines[at].trim_end_matches('\n');
        let is_test = |line: &str| test_name(line).or(shape_of(line)).is_some() || table_of(line).is_some();
        let mut first = (0..lines.len()).find(|at| is_test(trimmed(*at))).unwrap_or(lines.len());
        while first > 0 && trimmed(first - 1).starts_with("#ifndef") {
            first -= 1;
        }
        // The comment before the first test belongs to it.
        if first > 0 && trimmed(first - 1).ends_with("*/") {
            first = (0..first).rfind(|at| lines[*at].starts_with("/*")).unwrap_or(first);
        }
        let top = match lines.first() {
            Some(line) if line.starts_with("/*") => {
                lines.iter().position(|line| line.contains("*/")).map_or(0, |at| at + 1)
            }
            _ => 0,
        };
        let bytes = |count: usize| lines[..count].iter().map(|line| line.len()).sum::<usize>();
        let (top, first) = (bytes(top.min(first)), bytes(first));
        let tests = Chunk::new(text).names().map(str::to_string).collect();
        SplitChunk { prologue: &text[top..first], body: &text[first..], tests }
    }
}

/// Returns true if the line includes a header of the runtime.
fn includes_ours(line: &str) -> bool {
    line.starts_with("#include \"touchstone_")
}

/// Returns the name of a test from its first line.
fn test_name(line: &str) -> Option<&str> {
    let rest = ["TEST(", "ERROR_TEST("].iter().find_map(|start| line.strip_prefix(start))?;
    rest.split_once(',').map(|(name, _)| name)
}

/// Returns the function and the shape of a table from its first line.
fn table_of(line: &str) -> Option<(&str, &str)> {
    let (function, rest) = line.strip_prefix("ROWS(")?.split_once(", ")?;
    rest.split_once(',').map(|(shape, _)| (function, shape))
}

/// Returns the name of a shape from its first line.
fn shape_of(line: &str) -> Option<&str> {
    line.strip_prefix("struct ")?.strip_suffix(" {").filter(|name| name.starts_with("shape_"))
}

/// Returns the number of a row.
fn row_number(line: &str) -> Option<&str> {
    let number = line.strip_prefix("    {")?.split_once(',')?.0;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#include \"../a.c\"\n#include \"touchstone_test.h\"\n\n/* Covers x */\nTEST(f_1, \"\") {\n    one();\n}\n\nextern int g;\n\
                        TEST(f_2, \"\") {\n    two();\n}\n\nstruct shape_1 {\n    int a;\n};\nSHAPE(shape_1) {\n    three();\n}\n\n\
                        #ifndef TOUCHSTONE_ERRORS_ONLY\nROWS(f, shape_1, 1) = {\n    /* a < b */\n    {3, {1}},\n    {4, {x}},\n};\n\
                        TABLE(f, shape_1, 1)\n#endif\n\nTEST(f_5, \"\") {\n    five();\n}\n";

    #[test]
    fn complaints_are_told_by_test_and_lines_keep_their_numbers() {
        let chunk = Chunk::new(TEXT);
        assert_eq!(chunk.names().collect::<Vec<_>>(), ["f_1", "f_2", "f_3", "f_4", "f_5"]);
        let line = |text: &str| TEXT.lines().position(|line| line.contains(text)).map_or(0, |at| at + 1);
        let stderr = format!(
            "In file included from out/test_f.c:1:\nout/test_f.c:{}:5: error: unknown `two`\n\
             touchstone_test.h:9:1: error: expected expression\nout/test_f.c:{}:2: note: in expansion of macro 'CHECK'\n",
            line("two()"),
            line("{4, {x}}")
        );
        let diagnostics = chunk.diagnostics(&stderr, "out/test_f.c");
        let tests = [("f_2", "unknown `two`"), ("f_4", "expected expression")];
        assert_eq!(diagnostics.tests, tests.map(|(test, why)| (test.to_string(), why.to_string())).into());
        let text = chunk.without(&diagnostics.tests);
        assert!(text.contains("one();") && !text.contains("two()"), "{text}");
        assert!(text.contains("{3, {1}}") && !text.contains("{4,") && text.contains("TABLE("), "{text}");
        assert_eq!(text.lines().position(|line| line.contains("one()")), Some(5));
        assert_eq!(chunk.diagnostics("x.c:1:1: error: no", "test_f.c").first, "no");
    }

    #[test]
    fn a_header_that_only_later_tests_need_ends_nothing_and_stays() {
        let text = "#include \"touchstone_test.h\"\nTEST(f_1, \"\") {\n    one();\n}\n\n#include \"touchstone_registers.h\"\n\n\
                    TEST(f_2, \"\") {\n    two();\n}\n";
        let chunk = Chunk::new(text);
        assert_eq!(chunk.names().collect::<Vec<_>>(), ["f_1", "f_2"]);
        let left = chunk.without(&BTreeMap::from([("f_2".to_string(), String::new())]));
        assert!(
            left.contains("one();") && left.contains("touchstone_registers.h") && !left.contains("two();"),
            "{left}"
        );
    }

    #[test]
    fn a_shape_that_does_not_compile_takes_its_rows_with_it_and_nothing_else() {
        let chunk = Chunk::new(TEXT);
        let at = TEXT.lines().position(|line| line.contains("three()")).map_or(0, |at| at + 1);
        let diagnostics = chunk.diagnostics(&format!("test_f.c:{at}:5: error: unknown `three`\n"), "test_f.c");
        assert_eq!(diagnostics.tests.keys().collect::<Vec<_>>(), ["f_3", "f_4"]);
        let text = chunk.without(&diagnostics.tests);
        for gone in ["three()", "ROWS(", "TABLE(", "#ifndef", "#endif", "struct shape_1"] {
            assert!(!text.contains(gone), "{text}");
        }
        assert!(text.contains("five();") && text.contains("two();"), "{text}");
    }
}
