//! The source file of a test: the ends of its methods, and the names that it imports.

use super::assertion_style::SourceNames;
use super::observable_expressions::ClassNames;
use crate::state::SourceInsertion;
use std::collections::BTreeSet;

/// A source file.
pub(super) struct TestSource {
    lines: Vec<String>,
    /// The line separator.
    end: &'static str,
    package: String,
    /// The import declarations.
    imports: Vec<Import>,
    braces: Vec<Brace>,
}

struct Import {
    line: usize,
    is_static: bool,
    name: String,
}

/// A block, by the positions of its braces: line and character, counted from 0.
struct Brace {
    open: (usize, usize),
    close: (usize, usize),
    /// True if a parameter list or a `throws` clause precedes it: it is the body of a method.
    is_behind_list: bool,
}

impl TestSource {
    pub fn new(text: &str) -> TestSource {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let lines: Vec<String> = text.lines().map(str::to_string).collect();
        let tokens = tokens(text);
        let mut source =
            TestSource { lines, end, package: String::new(), imports: Vec::new(), braces: braces(&tokens) };
        for statement in tokens.split(|token| token.text == ";") {
            let words: Vec<&str> = statement.iter().map(|token| token.text.as_str()).collect();
            let line = statement.last().map_or(0, |token| token.at.0);
            match words[..] {
                [.., "package", _] | ["package", ..] => source.package = words.last().unwrap_or(&"").to_string(),
                ["import", "static", name] => source.import(line, true, name),
                ["import", name] => source.import(line, false, name),
                _ => break,
            }
        }
        source
    }

    fn import(&mut self, line: usize, is_static: bool, name: &str) {
        self.imports.push(Import { line, is_static, name: name.to_string() });
    }

    /// Returns the insertion of a last statement into the method whose closing brace is in a line.
    pub fn at_end(&self, line: u32, statement: &str) -> Option<SourceInsertion> {
        let line = (line as usize).checked_sub(1)?;
        let brace = self.braces.iter().filter(|brace| brace.close.0 == line && brace.is_behind_list);
        let brace = brace.max_by_key(|brace| brace.close.1)?;
        let text = self.lines.get(line)?;
        let before: String = text.chars().take(brace.close.1).collect();
        if !before.trim().is_empty() {
            let space = if before.ends_with(' ') { "" } else { " " };
            let column = u32::try_from(brace.close.1).ok()? + 1;
            return Some(SourceInsertion { line: line as u32 + 1, column, text: format!("{space}{statement} ") });
        }
        let body = self.lines.get(brace.open.0 + 1..line)?.iter().find(|text| !text.trim().is_empty());
        let indent = match body {
            Some(text) => text.chars().take_while(|c| c.is_whitespace()).collect(),
            None if before.contains('\t') => format!("{before}\t"),
            None => format!("{before}    "),
        };
        Some(SourceInsertion { line: line as u32 + 1, column: 1, text: format!("{indent}{statement}{}", self.end) })
    }

    /// Returns the static imports that are missing for the given methods.
    pub fn missing_imports(&self, uses: &[(&'static str, &'static str)]) -> Vec<SourceInsertion> {
        let missing: BTreeSet<&(&str, &str)> = uses
            .iter()
            .filter(|(class, method)| self.seen_as(class, method).is_none() && !self.is_taken(class, method))
            .collect();
        missing
            .into_iter()
            .map(|(class, method)| {
                // The new import follows a similar one.
                let is_like = |import: &&Import| import.is_static && import.name.starts_with(&format!("{class}."));
                let like = self.imports.iter().rev().find(is_like);
                let like = like.or_else(|| self.imports.iter().rev().find(|import| import.is_static));
                let like = like.or(self.imports.last());
                let package = || self.lines.iter().position(|line| line.trim_start().starts_with("package "));
                let line = like.map(|import| import.line + 1).or_else(|| Some(package()? + 1)).unwrap_or(0);
                let text = format!("import static {class}.{method};{}", self.end);
                SourceInsertion { line: line as u32 + 1, column: 1, text }
            })
            .collect()
    }

    /// Returns true if a static import binds the name to another class.
    fn is_taken(&self, class: &str, method: &str) -> bool {
        let other = |import: &Import| import.is_static && import.name.ends_with(&format!(".{method}"));
        self.imports.iter().any(|import| other(import) && import.name != format!("{class}.{method}"))
    }

    /// Returns the shortest way in which the source can already write a static method.
    fn seen_as(&self, class: &str, method: &str) -> Option<String> {
        let is = |import: &Import, is_static: bool, name: &str| import.is_static == is_static && import.name == name;
        let has = |is_static: bool, name: &str| self.imports.iter().any(|import| is(import, is_static, name));
        let (package, simple) = class.rsplit_once('.')?;
        if has(true, &format!("{class}.{method}")) || has(true, &format!("{class}.*")) {
            return Some(method.to_string());
        }
        let is_seen = has(false, class) || has(false, &format!("{package}.*")) || self.package == package;
        is_seen.then(|| format!("{simple}.{method}"))
    }
}

impl ClassNames for TestSource {
    fn written(&self, class: &str) -> String {
        let dotted = class.replace(['/', '$'], ".");
        let (package, name) = match class.rsplit_once('/') {
            Some((package, name)) => (package.replace('/', "."), name.replace('$', ".")),
            None => (String::new(), class.replace('$', ".")),
        };
        let outermost = format!("{package}.{}", name.split('.').next().unwrap_or(&name));
        let is_seen =
            |import: &Import| !import.is_static && (import.name == outermost || import.name == format!("{package}.*"));
        if package == self.package || package == "java.lang" || self.imports.iter().any(is_seen) {
            return name;
        }
        // A nested class may be imported by itself.
        match self.imports.iter().find(|import| import.name == dotted) {
            Some(_) => dotted.rsplit('.').next().unwrap_or(&dotted).to_string(),
            None => dotted,
        }
    }
}

impl SourceNames for TestSource {
    fn method(&self, class: &str, method: &str) -> String {
        match self.seen_as(class, method) {
            Some(written) => written,
            None if self.is_taken(class, method) => format!("{class}.{method}"),
            None => method.to_string(),
        }
    }
}

/// A word, a qualified name or a punctuation character.
struct Token {
    text: String,
    at: (usize, usize),
}

/// Splits a source into tokens, without strings, characters and comments.
fn tokens(text: &str) -> Vec<Token> {
    let characters: Vec<char> = text.chars().collect();
    let mut found: Vec<Token> = Vec::new();
    let (mut at, mut line, mut column) = (0, 0, 0);
    let is =
        |at: usize, what: &str| characters[at.min(characters.len())..].starts_with(&what.chars().collect::<Vec<_>>());
    while at < characters.len() {
        let start = at;
        let ends_behind = |from: usize, what: &str| {
            (from..characters.len()).find(|at| is(*at, what)).map_or(characters.len(), |at| at + what.len())
        };
        let quoted = |from: usize, quote: char| {
            let mut at = from + 1;
            while at < characters.len() && characters[at] != quote && characters[at] != '\n' {
                at += if characters[at] == '\\' { 2 } else { 1 };
            }
            (at + 1).min(characters.len())
        };
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '*');
        let mut kept = None;
        if is(at, "//") {
            at = (at..characters.len()).find(|at| characters[*at] == '\n').unwrap_or(characters.len());
        } else if is(at, "/*") {
            at = ends_behind(at + 2, "*/");
        } else if is(at, "\"\"\"") {
            let mut end = at + 3;
            while end < characters.len() && !is(end, "\"\"\"") {
                end += if characters[end] == '\\' { 2 } else { 1 };
            }
            at = (end + 3).min(characters.len());
        } else if matches!(characters[at], '"' | '\'') {
            at = quoted(at, characters[at]);
        } else if is_word(characters[at]) {
            at = (at..characters.len()).find(|at| !is_word(characters[*at])).unwrap_or(characters.len());
            kept = Some(characters[start..at].iter().collect());
        } else {
            if !characters[at].is_whitespace() {
                kept = Some(characters[at].to_string());
            }
            at += 1;
        }
        if let Some(text) = kept {
            found.push(Token { text, at: (line, column) });
        }
        for character in &characters[start..at] {
            if *character == '\n' {
                (line, column) = (line + 1, 0);
            } else {
                column += 1;
            }
        }
    }
    found
}

fn braces(tokens: &[Token]) -> Vec<Brace> {
    let mut open: Vec<(usize, (usize, usize))> = Vec::new();
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" => open.push((index, token.at)),
            "}" => {
                let Some((opening, at)) = open.pop() else { continue };
                let before = |back: usize| opening.checked_sub(back).map_or("", |index| tokens[index].text.as_str());
                let throws = (1..=opening).map(before).take_while(|word| !matches!(*word, ")" | "{" | "}" | ";"));
                let is_behind_list = before(1) == ")" || throws.into_iter().any(|word| word == "throws");
                found.push(Brace { open: at, close: token.at, is_behind_list });
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "package a.b;\n\nimport static org.junit.Assert.assertTrue;\nimport java.util.*;\n\nclass T {\n    @Test\n    \
                        public void one() throws Exception {\n        run(() -> {\n            x();\n        });\n\n    }\n    \
                        @Test void two() { if (a) { b(\"}\"); } }\n\t@Test void three()\n\t{\n\t}\n}\n";

    #[test]
    fn statements_go_before_the_brace_of_the_method() {
        let source = TestSource::new(TEXT);
        let at = |line: u32| source.at_end(line, "s();").map(|made| (made.line, made.column, made.text));
        assert_eq!(at(13), Some((13, 1, "        s();\n".to_string())));
        assert_eq!(at(14), Some((14, 43, "s(); ".to_string())));
        assert_eq!(at(17), Some((17, 1, "\t\ts();\n".to_string())));
        assert_eq!(at(18), None);
        assert_eq!(at(99), None);
    }

    #[test]
    fn names_are_written_as_imports_allow() {
        let source = TestSource::new(TEXT);
        assert_eq!(source.written("a/b/C$D"), "C.D");
        assert_eq!(source.written("java/util/Map$Entry"), "Map.Entry");
        assert_eq!(source.written("x/Y"), "x.Y");
        assert_eq!(source.method("org.junit.Assert", "assertEquals"), "assertEquals");
        let missing =
            source.missing_imports(&[("org.junit.Assert", "assertEquals"), ("org.junit.Assert", "assertTrue")]);
        let missing: Vec<(u32, String)> = missing.into_iter().map(|made| (made.line, made.text)).collect();
        assert_eq!(missing, [(4, "import static org.junit.Assert.assertEquals;\n".to_string())]);
    }
}
