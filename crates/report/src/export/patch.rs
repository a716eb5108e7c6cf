//! The patch that adds suggested assertions to test files.

use crate::document::Document;
use crate::document::suggestions::TextInsertion;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The number of context lines around a change.
const CONTEXT_LINES: usize = 3;

/// Returns the patch that adds all assertions, in the format of `git apply` and `patch -p1`; `read` returns the text of
/// a file. Missing files are skipped.
pub fn patch(document: &Document, read: &dyn Fn(&str) -> Option<String>) -> String {
    let mut by_file: BTreeMap<&str, Vec<&TextInsertion>> = BTreeMap::new();
    for assertion in &document.suggestions.assertions {
        by_file.entry(&assertion.file).or_default().extend(&assertion.insertions);
    }
    let mut out = String::new();
    for (file, insertions) in by_file {
        if let Some(text) = read(file).filter(|_| !file.starts_with('/')) {
            let _ = write!(out, "--- a/{file}\n+++ b/{file}\n{}", hunks(&text, &insertions));
        }
    }
    out
}

/// The changes at one line.
struct Changed {
    line: usize,
    /// Lines that are inserted before it.
    before: Vec<String>,
    /// The changed line, if it changes.
    now: Option<String>,
}

fn changes(lines: &[&str], insertions: &[&TextInsertion]) -> Vec<Changed> {
    let mut at: BTreeMap<usize, Vec<&TextInsertion>> = BTreeMap::new();
    for insertion in insertions {
        let list = at.entry((insertion.line as usize).saturating_sub(1)).or_default();
        // Several assertions may need the same import.
        let is_import = insertion.text.starts_with("import ") || insertion.text.starts_with("#include ");
        if !(is_import && list.iter().any(|known| known.text == insertion.text)) {
            list.push(insertion);
        }
    }
    let make = |(line, list): (usize, Vec<&TextInsertion>)| {
        let (whole, inside): (Vec<_>, Vec<_>) = list.into_iter().partition(|insertion| insertion.column <= 1);
        let now = lines.get(line).filter(|_| !inside.is_empty()).map(|text| {
            let mut characters: Vec<char> = text.chars().collect();
            // Insertions at one position keep their order.
            let mut inside = inside;
            inside.sort_by_key(|insertion| insertion.column);
            for insertion in inside.into_iter().rev() {
                let column = (insertion.column as usize - 1).min(characters.len());
                characters.splice(column..column, insertion.text.chars());
            }
            characters.into_iter().collect()
        });
        Changed { line, before: whole.into_iter().map(|insertion| insertion.text.clone()).collect(), now }
    };
    at.into_iter().map(make).collect()
}

fn hunks(text: &str, insertions: &[&TextInsertion]) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let changes = changes(&lines, insertions);
    let mut out = String::new();
    let (mut added_before, mut index) = (0, 0);
    while index < changes.len() {
        // Changes with overlapping context form one hunk.
        let mut last = index;
        while last + 1 < changes.len() && changes[last + 1].line <= changes[last].line + 2 * CONTEXT_LINES + 1 {
            last += 1;
        }
        let from = changes[index].line.saturating_sub(CONTEXT_LINES);
        let to = (changes[last].line + usize::from(changes[last].now.is_some()) + CONTEXT_LINES).min(lines.len());
        let mut body = String::new();
        let mut added = 0;
        for line in from..to.max(changes[last].line) {
            let change = changes[index..=last].iter().find(|change| change.line == line);
            if let Some(change) = change {
                change.before.iter().for_each(|text| push(&mut body, '+', text));
                added += change.before.len();
            }
            let Some(text) = lines.get(line) else { continue };
            match change.and_then(|change| change.now.as_ref()) {
                Some(now) => {
                    push(&mut body, '-', text);
                    push(&mut body, '+', now);
                }
                None => push(&mut body, ' ', text),
            }
        }
        let old = to - from;
        // An empty range refers to the line before it.
        let start = |at: usize, count: usize| if count == 0 { at } else { at + 1 };
        let new = old + added;
        let _ = writeln!(out, "@@ -{},{old} +{},{new} @@", start(from, old), start(from + added_before, new));
        out.push_str(&body);
        (added_before, index) = (added_before + added, last + 1);
    }
    out
}

fn push(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::suggestions::{MissingAssertion, Suggestions};

    fn document(insertions: Vec<TextInsertion>) -> Document {
        let assertion = MissingAssertion {
            test: "t".to_string(),
            file: "a.txt".to_string(),
            line: 1,
            statement: String::new(),
            checks: Vec::new(),
            objectives: Vec::new(),
            objective_files: Vec::new(),
            insertions,
        };
        let suggestions = Suggestions { assertions: vec![assertion], none: Vec::new() };
        Document { suggestions, ..Document::default() }
    }

    fn insertion(line: u32, column: u32, text: &str) -> TextInsertion {
        TextInsertion { line, column, text: text.to_string() }
    }

    #[test]
    fn a_patch_says_what_is_added_and_where() {
        let text: String = (1..=20).map(|line| format!("line {line}\n")).collect();
        let insertions = vec![
            insertion(2, 1, "import a;\n"),
            insertion(2, 1, "import a;\n"),
            insertion(15, 6, "x"),
            insertion(16, 1, "y\n"),
        ];
        let made = patch(&document(insertions), &|_| Some(text.clone()));
        assert_eq!(
            made,
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,4 +1,5 @@\n line 1\n+import a;\n line 2\n line 3\n line 4\n\
             @@ -12,7 +13,8 @@\n line 12\n line 13\n line 14\n-line 15\n+line x15\n+y\n line 16\n line 17\n line 18\n"
        );
    }
}
