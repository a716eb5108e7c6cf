//! Comments that exclude lines from the figures, always with a reason that reports show.
//!
//! - `/* touchstone: exclude (reason) */` or `// touchstone: exclude (reason)` excludes its line.
//! - `exclude-start (reason)` … `exclude-stop` excludes the lines from one to the other.
//! - The keywords of lcov and gcovr are recognised, too: `LCOV_EXCL_LINE`, `LCOV_EXCL_START` … `LCOV_EXCL_STOP`, the
//!   same with
//!   `BR_` for decisions only, with `GCOVR_` and `GCOV_` for `LCOV_`, and `GCOVR_EXCL_FUNCTION`. As in those tools, the line with
//!   the stop is not excluded; the reason is the keyword with the rest of the comment. Their errors are ignored: a start
//!   without a stop excludes the rest of the file.
//!
//! Only comments count, not string literals. An exclusion without a reason, a stop without a start and the like are
//! errors with a remedy: an exclusion without an effect would not be noticed.

use crate::document::{Document, Excludes, Exclusion, Objective, SourceFile};
use touchstone_base::stable_hash;
use touchstone_criteria::{CoverageKind, coverage_kind};

/// An invalid exclusion comment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadExclusion {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
    /// The problem and the remedy.
    pub message: String,
}

impl std::fmt::Display for BadExclusion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for BadExclusion {}

/// Describes a source file by its text.
pub fn source_file(path: &str, text: &str) -> Result<SourceFile, BadExclusion> {
    Ok(SourceFile {
        path: path.to_string(),
        lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
        hash: text_hash(text),
        exclusions: exclusions(path, text)?,
    })
}

/// Returns a hash by which a changed text is detected.
pub fn text_hash(text: &str) -> String {
    format!("{:016x}", stable_hash(text))
}

/// Marks the objectives on excluded lines.
pub fn exclude(document: &mut Document) {
    for objective in &mut document.objectives {
        let Some((file, line)) = objective.at.start() else { continue };
        let known = document.files.iter().find(|known| known.path == file);
        let functions = &document.functions;
        let inside = |exclusion: &&Exclusion| match exclusion.what {
            Excludes::All => (exclusion.line..=exclusion.end_line).contains(&line),
            Excludes::Branches => is_branch(objective) && (exclusion.line..=exclusion.end_line).contains(&line),
            Excludes::DefaultArm => {
                objective.text == "switch: default" && (exclusion.line..=exclusion.end_line).contains(&line)
            }
            Excludes::Function => functions.iter().any(|function| {
                (function.file.as_str(), &function.name) == (file, &objective.function)
                    && function.line == Some(exclusion.line)
            }),
        };
        let hit = known.and_then(|file| file.exclusions.iter().find(inside));
        if let Some(hit) = hit {
            objective.excluded = Some(hit.reason.clone());
        }
    }
}

/// Returns true if an objective belongs to a decision.
fn is_branch(objective: &Objective) -> bool {
    coverage_kind(&objective.criterion) == CoverageKind::Decisions
}

/// Returns the exclusions of a source text.
pub fn exclusions(path: &str, text: &str) -> Result<Vec<Exclusion>, BadExclusion> {
    let mut found = Vec::new();
    let mut open: Option<(Comment<'_>, String)> = None;
    let mut others = Others::default();
    for comment in comments(text) {
        others.comment(&comment, &mut found);
        let bad = |message: String| BadExclusion {
            file: path.to_string(),
            line: comment.line,
            column: comment.column,
            message,
        };
        let Some(order) = comment.order() else { continue };
        let (word, rest) = order.split_at(order.find(|c: char| c.is_whitespace() || c == '(').unwrap_or(order.len()));
        match word {
            "exclude" => {
                let reason = reason(word, rest).map_err(bad)?;
                found.push(Exclusion { line: comment.line, end_line: comment.line, reason, what: Excludes::All });
            }
            "exclude-start" => {
                let reason = reason(word, rest).map_err(bad)?;
                if let Some((first, _)) = &open {
                    let line = first.line;
                    return Err(bad(format!(
                        "exclude-start inside the one of line {line}; close that with exclude-stop first"
                    )));
                }
                open = Some((comment, reason));
            }
            "exclude-stop" => match open.take() {
                Some((first, reason)) => {
                    found.push(Exclusion { line: first.line, end_line: comment.line, reason, what: Excludes::All });
                }
                None => return Err(bad("exclude-stop without exclude-start (reason) before it".to_string())),
            },
            other => {
                let message = format!(
                    "unknown comment `touchstone: {other}`; write exclude (reason), exclude-start (reason) or exclude-stop"
                );
                return Err(bad(message));
            }
        }
    }
    match open {
        Some((first, _)) => Err(BadExclusion {
            file: path.to_string(),
            line: first.line,
            column: first.column,
            message: "exclude-start is never closed; write /* touchstone: exclude-stop */ after the last line"
                .to_string(),
        }),
        None => {
            others.end(u32::try_from(text.lines().count()).unwrap_or(u32::MAX), &mut found);
            let arms = default_arms(text, &found);
            found.extend(arms);
            Ok(found)
        }
    }
}

/// Returns the exclusions of default arms whose label is on an excluded line. Their objectives are located at the switch.
fn default_arms(text: &str, exclusions: &[Exclusion]) -> Vec<Exclusion> {
    let all: Vec<&Exclusion> = exclusions.iter().filter(|exclusion| exclusion.what == Excludes::All).collect();
    let mut found = Vec::new();
    if all.is_empty() {
        return found;
    }
    let code = without_comments_and_literals(text);
    let (mut line, mut at) = (1, 0);
    // The open braces: the lines from the keyword of a switch to its brace, and the number of parentheses around it.
    let mut open: Vec<(Option<(u32, u32)>, usize)> = Vec::new();
    let (mut keyword, mut parentheses) = (None, 0usize);
    while let Some(c) = code[at..].chars().next() {
        let word = code[at..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(code.len() - at);
        match (&code[at..at + word], c) {
            ("switch", _) => keyword = Some(line),
            // The default of `_Generic` is in parentheses.
            ("default", _)
                if code[at + word..].trim_start().starts_with([':', '-'])
                    && open.last().is_some_and(|(_, around)| *around == parentheses) =>
            {
                let switch = open.iter().rev().find_map(|(switch, _)| *switch);
                let hit = all.iter().find(|exclusion| (exclusion.line..=exclusion.end_line).contains(&line));
                found.extend(switch.zip(hit).map(|((first, last), hit)| Exclusion {
                    line: first,
                    end_line: last,
                    reason: hit.reason.clone(),
                    what: Excludes::DefaultArm,
                }));
            }
            (_, '\n') => line += 1,
            (_, '{') => open.push((keyword.take().map(|first| (first, line)), parentheses)),
            (_, '}') => parentheses = open.pop().map_or(0, |(_, around)| around),
            (_, '(') => parentheses += 1,
            (_, ')') => parentheses = parentheses.saturating_sub(1),
            (_, ';') => keyword = None,
            _ => {}
        }
        at += word.max(c.len_utf8());
    }
    found
}

/// Returns a text of the same lines without comments, strings and characters.
fn without_comments_and_literals(text: &str) -> String {
    let mut code = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('/', Some('/')) => {
                while chars.peek().is_some_and(|c| *c != '\n') {
                    chars.next();
                }
            }
            ('/', Some('*')) => {
                chars.next();
                let mut last = ' ';
                for c in chars.by_ref() {
                    if c == '\n' {
                        code.push('\n');
                    }
                    if (last, c) == ('*', '/') {
                        break;
                    }
                    last = c;
                }
                code.push(' ');
            }
            (quote @ ('"' | '\''), _) => {
                while let Some(c) = chars.next_if(|c| *c != quote && *c != '\n') {
                    if c == '\\' && chars.next() == Some('\n') {
                        code.push('\n');
                    }
                }
                chars.next_if(|c| *c == quote);
                code.push(' ');
            }
            _ => code.push(c),
        }
    }
    code
}

/// The regions that keywords of other tools have opened.
#[derive(Default)]
struct Others {
    all: Option<(u32, String)>,
    branches: Option<(u32, String)>,
}

impl Others {
    /// Collects the exclusions of a comment with keywords of other tools.
    fn comment(&mut self, comment: &Comment<'_>, found: &mut Vec<Exclusion>) {
        for (number, text) in comment.text.lines().enumerate() {
            let line = comment.line + u32::try_from(number).unwrap_or(0);
            let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            for word in words {
                let rest = ["LCOV_EXCL_", "GCOVR_EXCL_", "GCOV_EXCL_"].iter().find_map(|tool| word.strip_prefix(tool));
                let Some(rest) = rest else { continue };
                let reason = why(word, text);
                let (what, rest) = match rest.strip_prefix("BR_") {
                    Some(rest) => (Excludes::Branches, rest),
                    None => (Excludes::All, rest),
                };
                let open = if what == Excludes::All { &mut self.all } else { &mut self.branches };
                match rest {
                    "LINE" => found.push(Exclusion { line, end_line: line, reason, what }),
                    "FUNCTION" => found.push(Exclusion { line, end_line: line, reason, what: Excludes::Function }),
                    "START" => {
                        open.get_or_insert((line, reason));
                    }
                    "STOP" => found.extend(open.take().map(|(first, reason)| Exclusion {
                        line: first,
                        end_line: line.saturating_sub(1).max(first),
                        reason,
                        what,
                    })),
                    _ => {}
                }
            }
        }
    }

    /// Closes open regions at the end of the file.
    fn end(self, last: u32, found: &mut Vec<Exclusion>) {
        for (open, what) in [(self.all, Excludes::All), (self.branches, Excludes::Branches)] {
            found.extend(open.map(|(line, reason)| Exclusion { line, end_line: last.max(line), reason, what }));
        }
    }
}

/// Returns the keyword and the text after it.
fn why(word: &str, text: &str) -> String {
    let behind = text.split_once(word).map_or("", |(_, behind)| behind);
    let behind = behind.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '-' | '*' | '(' | ')'));
    if behind.is_empty() { word.to_string() } else { format!("{word}: {behind}") }
}

/// Returns the reason in parentheses.
fn reason(word: &str, rest: &str) -> Result<String, String> {
    let inner = rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).map(str::trim);
    match inner {
        Some(reason) if !reason.is_empty() => Ok(reason.split_whitespace().collect::<Vec<_>>().join(" ")),
        _ => Err(format!(
            "an exclusion needs a reason, which reports show: write /* touchstone: {word} (why no test covers this) */"
        )),
    }
}

#[derive(Clone, Copy)]
struct Comment<'t> {
    line: u32,
    column: u32,
    text: &'t str,
}

impl<'t> Comment<'t> {
    /// Returns the text after `touchstone:`.
    fn order(&self) -> Option<&'t str> {
        Some(self.text.trim().trim_start_matches('*').trim().strip_prefix("touchstone:")?.trim())
    }
}

/// Returns the comments of a C text with their positions.
fn comments(text: &str) -> Vec<Comment<'_>> {
    let bytes = text.as_bytes();
    let (mut at, mut line, mut start) = (0, 1, 0);
    let mut found = Vec::new();
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'\n', _) => {
                line += 1;
                start = at + 1;
                at += 1;
            }
            (b'/', Some(b'/')) => {
                let end = text[at..].find('\n').map_or(bytes.len(), |length| at + length);
                found.push(Comment { line, column: column(at, start), text: text[at + 2..end].trim_end_matches('\r') });
                at = end;
            }
            (b'/', Some(b'*')) => {
                let end = text[at + 2..].find("*/").map_or(bytes.len(), |length| at + 2 + length);
                found.push(Comment { line, column: column(at, start), text: &text[at + 2..end] });
                let inside = &text[at..end];
                line += u32::try_from(inside.matches('\n').count()).unwrap_or(0);
                start = inside.rfind('\n').map_or(start, |newline| at + newline + 1);
                at = (end + 2).min(bytes.len());
            }
            (quote @ (b'"' | b'\''), _) => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
                    // A line continuation keeps the literal open.
                    if bytes[at] == b'\\' {
                        if bytes.get(at + 1) == Some(&b'\n') {
                            line += 1;
                            start = at + 2;
                        }
                        at += 1;
                    }
                    at += 1;
                }
                if bytes.get(at) == Some(&quote) {
                    at += 1;
                }
            }
            _ => at += 1,
        }
    }
    found
}

fn column(at: usize, start: usize) -> u32 {
    u32::try_from(at - start + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(u32, u32, &str)]) {
        let found = exclusions("a.c", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let found: Vec<_> = found.iter().map(|e| (e.line, e.end_line, e.reason.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_default_label_on_an_excluded_line_excludes_the_arm_of_its_switch() {
        let excluded = |text: &str| -> Vec<(u32, u32)> {
            let found = exclusions("a.c", text).unwrap_or_else(|error| panic!("{error}"));
            let arms = found.iter().filter(|exclusion| exclusion.what == Excludes::DefaultArm);
            arms.map(|exclusion| (exclusion.line, exclusion.end_line)).collect()
        };
        let marked = "default: abort(); /* touchstone: exclude (never) */\n";
        assert_eq!(excluded(&format!("switch (a)\n{{\ncase 1: {{ f('}}'); }}\n{marked}}}")), [(1, 2)]);
        let nested = format!("switch (a) {{\ncase 1:\n switch (b) {{\n {marked} }}\ndefault: g(\"{{\");\n}}");
        assert_eq!(excluded(&nested), [(3, 3)]);
        let outer = format!("switch (a) {{\ncase 1:\n switch (b) {{\n default: ; }}\n{marked}}}");
        assert_eq!(excluded(&outer), [(1, 1)]);
        assert_eq!(excluded("switch (a) { default: b(); }\nc(); // touchstone: exclude (never)\n"), []);
    }

    fn fails(text: &str, expected: &str) {
        let error = exclusions("a.c", text).expect_err(text).to_string();
        assert!(error.starts_with(expected), "{error}\n{text}");
    }

    #[test]
    fn comments_exclude_their_line_or_a_stretch() {
        check("int a;\n", &[]);
        check("a; /* touchstone: exclude (never on this board) */\n", &[(1, 1, "never on this board")]);
        check("\n  a; // touchstone: exclude(dead (really))\r\nb;", &[(2, 2, "dead (really)")]);
        check("/* touchstone: exclude-start (debug) */\na;\n\n// touchstone: exclude-stop\n", &[(1, 4, "debug")]);
        check("/* one\n * two */ a; /* touchstone:exclude (x\n  y) */", &[(2, 2, "x y")]);
    }

    #[test]
    fn the_words_of_other_tools_are_respected() {
        check("a; // LCOV_EXCL_LINE\n", &[(1, 1, "LCOV_EXCL_LINE")]);
        check("a; /* GCOVR_EXCL_LINE: no memory */\n", &[(1, 1, "GCOVR_EXCL_LINE: no memory")]);
        check("/* LCOV_EXCL_START */\na;\nb; // LCOV_EXCL_STOP\n", &[(1, 2, "LCOV_EXCL_START")]);
        check("/* LCOV_EXCL_STOP */\n// GCOVR_EXCL_START\na;\nb;\n", &[(2, 4, "GCOVR_EXCL_START")]);
        check("s = \"LCOV_EXCL_LINE\"; /* LCOV_EXCL_LINES */", &[]);
        let found =
            exclusions("a.c", "a; // LCOV_EXCL_BR_LINE\nint f(void) // GCOVR_EXCL_FUNCTION\n").expect("no error");
        let what: Vec<Excludes> = found.iter().map(|exclusion| exclusion.what).collect();
        assert_eq!(what, [Excludes::Branches, Excludes::Function]);
    }

    #[test]
    fn text_in_literals_is_no_comment() {
        check(r#"s = "/* touchstone: exclude */"; c = '"'; t = "\" // touchstone: exclude";"#, &[]);
        check("s = \"a\\\n// touchstone: exclude\"; // touchstone: exclude (b)", &[(2, 2, "b")]);
        check("/* about touchstone: exclude and so on */", &[]);
    }

    #[test]
    fn an_exclusion_that_does_nothing_is_an_error_with_its_place() {
        fails("a;\n  // touchstone: exclude\n", "a.c:2:3: an exclusion needs a reason");
        fails("/* touchstone: exclude () */", "a.c:1:1: an exclusion needs a reason");
        fails("/* touchstone: exclude-start */", "a.c:1:1: an exclusion needs a reason");
        fails("/* touchstone: exclude-stop */", "a.c:1:1: exclude-stop without exclude-start");
        fails("/* touchstone: exclude-start (a) */\n", "a.c:1:1: exclude-start is never closed");
        fails(
            "/* touchstone: exclude-start (a) */\n/* touchstone: exclude-start (b) */",
            "a.c:2:1: exclude-start inside the one of line 1",
        );
        fails("/* touchstone: ignore */", "a.c:1:1: unknown comment `touchstone: ignore`");
    }
}
