//! The wording of comments and the uniqueness of names, as docs/glossary.md and CONTRIBUTING.md ask for.
//!
//! A doc comment is a sentence or a noun phrase, so it does not open with an interrogative. Code is described without persons,
//! and without phrases for which the glossary has a term. Code spans, quotations and code blocks are not checked. The same holds
//! for comments in our C and Java sources: models, runtimes, examples and tests.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Words with which no doc comment opens.
const OPENINGS: [&str; 11] =
    ["What", "Who", "Whom", "Whose", "Whether", "Where", "Which", "Why", "So many", "So much", "How many"];

/// Words for persons. Code, tools and programs are none.
const PERSONS: [&str; 9] =
    ["who", "whom", "whoever", "nobody", "somebody", "anybody", "everybody", "someone", "anyone"];

/// Phrases that have a term in the glossary, with the term.
const PHRASES: [(&str, &str); 9] = [
    ("leads to", "points to, calls, reaches"),
    ("lead to", "point to, call, reach"),
    ("taken for granted", "assumed"),
    ("by chance", "at random"),
    ("so many", "the maximum number of, at most"),
    ("goes nowhere", "is pruned"),
    ("gives away", "reveals"),
    ("looked at", "read, inspected"),
    ("looks at", "reads, inspects"),
];

/// Names of public types that several crates define. Either the concept is the same (a value of the interpreter and of the engine, an
/// objective and its form in a document, an option and its setting), or one of them is a command or an option of `cli`. A new name should
/// not join the list.
const SHARED_TYPES: &[&str] = &[
    "Aliases",
    "Assumption",
    "Condition",
    "Config",
    "Decision",
    "EarlierCall",
    "IncompletePaths",
    "Labels",
    "Memory",
    "ObjectKind",
    "Objective",
    "ObservedValue",
    "PairKind",
    "Pointer",
    "Replay",
    "Search",
    "Stop",
    "Summaries",
    "Value",
];

/// Names of files that several folders have, because each layer has its part of one concept. A new name should not join the list.
const SHARED_FILES: &[&str] = &[
    "arith.rs",
    "assumptions.rs",
    "builtins.rs",
    "c.rs",
    "decision.rs",
    "decision_table.rs",
    "decision_tables.rs",
    "device_registers.rs",
    "error.rs",
    "existing_suites.rs",
    "explain.rs",
    "explore.rs",
    "expr.rs",
    "float.rs",
    "floats.rs",
    "function.rs",
    "heap_snapshot.rs",
    "independence_pairs.rs",
    "instructions.rs",
    "java.rs",
    "labels.rs",
    "literal.rs",
    "mcdc.rs",
    "measure.rs",
    "memory.rs",
    "objectives.rs",
    "old_version.rs",
    "points.rs",
    "progress.rs",
    "random.rs",
    "run.rs",
    "step.rs",
    "test_coverage.rs",
    "tokens.rs",
    "transfer.rs",
    "value.rs",
    "variants.rs",
];

/// Returns every Rust file below `crates`, with its path from there.
fn sources() -> Vec<(PathBuf, String)> {
    let found = files_below(&support::root().join("crates"), &["rs"]);
    assert!(found.len() > 500, "only {} files", found.len());
    found
}

/// Returns every C and Java file of ours, with its path.
fn c_and_java_sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["crates", "examples", "tests"] {
        let files = files_below(&support::root().join(folder), &["c", "h", "cc", "java"]);
        found.extend(files.into_iter().map(|(path, text)| (Path::new(folder).join(path), text)));
    }
    assert!(found.len() > 200, "only {} files", found.len());
    found
}

/// Returns every file below a folder with one of the extensions, with its path from there. Build directories are skipped.
fn files_below(root: &Path, extensions: &[&str]) -> Vec<(PathBuf, String)> {
    let mut folders = vec![root.to_path_buf()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let is_built = ["target", "touchstone-out"].iter().any(|name| path.ends_with(name));
            if path.is_dir() && !is_built {
                folders.push(path);
            } else if extensions.iter().any(|wanted| path.extension().is_some_and(|extension| extension == *wanted)) {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                found.push((path.strip_prefix(root).expect("inside").to_path_buf(), text));
            }
        }
    }
    found.sort();
    found
}

/// The marker of a comment line, and its text; `None` if the line is not a comment of its own.
fn comment(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    ["//!", "///", "//"].into_iter().find_map(|marker| Some((marker, line.strip_prefix(marker)?)))
}

/// The comment that follows code in a line of Rust.
fn trailing_comment(line: &str) -> Option<&str> {
    comment_lines(line, Language::Rust).first().map(|comment| comment.text)
}

/// The lexical rules of a language, as far as comments are concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    /// A single quote may begin a lifetime, and a block comment is not used.
    Rust,
    /// C and Java.
    C,
}

/// One line of a comment.
struct CommentLine<'t> {
    /// The number of the line, from 0.
    line: usize,
    /// The text after the marker.
    text: &'t str,
    /// True if a documentation comment opens there.
    opens: bool,
}

/// The lexical context of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Code,
    Quoted(char),
    LineComment(usize),
    /// A block comment, whose text in this line begins at a position.
    BlockComment(usize, bool),
}

/// Returns the lines of all comments. A string ends with its line, as in C.
fn comment_lines(text: &str, language: Language) -> Vec<CommentLine<'_>> {
    let mut found = Vec::new();
    let (mut context, mut line) = (Context::Code, 0);
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let char = rest.chars().next().expect("invariant: at a character");
        let mut length = char.len_utf8();
        context = match context {
            Context::LineComment(from) if char == '\n' => {
                found.push(CommentLine { line, text: &text[from..at], opens: false });
                Context::Code
            }
            Context::BlockComment(from, opens) if char == '\n' => {
                let words = text[from..at].trim_start().trim_start_matches('*');
                found.push(CommentLine { line, text: words, opens });
                // The first line of the text may be the second one of the comment.
                Context::BlockComment(at + 1, opens && words.trim().is_empty())
            }
            Context::BlockComment(from, opens) if rest.starts_with("*/") => {
                length = 2;
                let words = text[from..at].trim_start().trim_start_matches('*');
                found.push(CommentLine { line, text: words, opens });
                Context::Code
            }
            Context::LineComment(_) | Context::BlockComment(..) => context,
            Context::Quoted(_) if char == '\\' => {
                length += rest[length..].chars().next().filter(|next| *next != '\n').map_or(0, char::len_utf8);
                context
            }
            Context::Quoted(end) if char == end || char == '\n' => Context::Code,
            Context::Quoted(_) => context,
            Context::Code if rest.starts_with("//") => Context::LineComment(at + 2),
            Context::Code if rest.starts_with("/*") && language == Language::C => {
                length = 2;
                Context::BlockComment(at + 2, rest.starts_with("/**"))
            }
            Context::Code if char == '"' => Context::Quoted('"'),
            Context::Code if char == '\'' && (language == Language::C || is_char_literal(rest)) => {
                Context::Quoted('\'')
            }
            Context::Code => Context::Code,
        };
        line += usize::from(char == '\n');
        at += length;
    }
    if let Context::LineComment(from) = context {
        found.push(CommentLine { line, text: &text[from..], opens: false });
    }
    found
}

/// Returns true if Rust code that begins with a single quote begins with a character, not with a lifetime.
fn is_char_literal(code: &str) -> bool {
    let mut chars = code.chars().skip(1);
    chars.next() == Some('\\') || chars.next() == Some('\'')
}

/// Removes code spans and quotations.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    for char in text.chars() {
        match quote {
            Some(end) if char == end => quote = None,
            Some(_) => {}
            None if char == '`' || char == '"' => quote = Some(char),
            None => out.push(char),
        }
    }
    out
}

fn has_phrase(prose: &str, phrase: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    prose.match_indices(phrase).any(|(at, found)| {
        let before = prose[..at].chars().next_back();
        let after = prose[at + found.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// Returns the reason why the words of a comment are rejected.
fn rejection(words: &str, opens: bool) -> Option<String> {
    let words = words.trim_start();
    if let Some(opening) =
        OPENINGS.iter().find(|opening| opens && has_phrase(words, opening) && words.starts_with(**opening))
    {
        return Some(format!("opens with `{opening}`"));
    }
    let prose = prose(words).to_lowercase();
    if let Some(person) = PERSONS.iter().find(|person| has_phrase(&prose, person)) {
        return Some(format!("has the person `{person}`"));
    }
    let (phrase, term) = PHRASES.iter().find(|(phrase, _)| has_phrase(&prose, phrase))?;
    Some(format!("has `{phrase}`, instead of: {term}"))
}

/// Returns the violations in a file of C or Java as lines of a message.
fn violations_in_c(path: &Path, text: &str) -> Vec<String> {
    let report = |comment: CommentLine<'_>| {
        let why = rejection(comment.text, comment.opens)?;
        Some(format!("{}:{}: {why}: {}", path.display(), comment.line + 1, comment.text.trim()))
    };
    comment_lines(text, Language::C).into_iter().filter_map(report).collect()
}

/// Returns the violations in a file of Rust as lines of a message.
fn violations(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut previous, mut in_code_block) = (None, false);
    for (index, line) in text.lines().enumerate() {
        let mut check = |words: &str, opens: bool| {
            let message = |why| format!("{}:{}: {why}: {}", path.display(), index + 1, words.trim());
            found.extend(rejection(words, opens).map(message));
        };
        let Some((marker, words)) = comment(line) else {
            (previous, in_code_block) = (None, false);
            trailing_comment(line).into_iter().for_each(|words| check(words, false));
            continue;
        };
        let opens = previous != Some(marker) && marker != "//";
        previous = Some(marker);
        if words.trim_start().starts_with("```") {
            in_code_block = !in_code_block;
            continue;
        }
        if !in_code_block {
            check(words, opens);
        }
    }
    found
}

#[test]
fn comments_are_sentences_in_the_glossary_s_terms() {
    let mut found: Vec<String> = sources().iter().flat_map(|(path, text)| violations(path, text)).collect();
    found.extend(c_and_java_sources().iter().flat_map(|(path, text)| violations_in_c(path, text)));
    assert!(found.is_empty(), "{} comments (see CONTRIBUTING.md, Style):\n{}", found.len(), found.join("\n"));
}

#[test]
fn violations_are_found_and_quotations_are_not() {
    let text = "//! What a file is.\n/// Returns what it has; nobody calls it.\n/// `nobody` and \"so many\" are quoted.\n// It leads to b.\nlet a = '\"'; // whoever\nlet b = \"// nobody\";\n";
    let found = violations(Path::new("a.rs"), text);
    let wanted = [(1, "What"), (2, "nobody"), (4, "leads to"), (5, "whoever")];
    check_found(&found, &wanted);
}

#[test]
fn violations_are_found_in_comments_of_c_and_java() {
    let text = "/* It is looked at\n   by somebody. */\nchar *s = \"/* nobody */\", c = '\"'; // so many\n/**\n * Whether it is.\n * Whether not.\n */\nint b; /** What b is. */ // `nobody`\n";
    let found = violations_in_c(Path::new("A.java"), text);
    check_found(&found, &[(1, "looked at"), (2, "somebody"), (3, "so many"), (5, "Whether"), (8, "What")]);
}

/// Checks the lines of violations and the rejected words.
#[track_caller]
fn check_found(found: &[String], wanted: &[(usize, &str)]) {
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for (found, (line, word)) in found.iter().zip(wanted) {
        let mut parts = found.splitn(3, ':');
        assert_eq!(parts.nth(1), Some(line.to_string().as_str()), "{found}");
        assert!(parts.next().is_some_and(|reason| reason.contains(word)), "{found}");
    }
}

/// The type that a line defines for other modules.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(") ")?.1,
        None => rest.strip_prefix(' ')?,
    };
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|keyword| rest.strip_prefix(keyword))?;
    let end = rest.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(rest.len());
    // A macro's type has no name here.
    (end > 0).then(|| &rest[..end])
}

/// Checks that a name has one place, unless it is listed, and that every listed name has several.
fn check_unique(kind: &str, places: &BTreeMap<String, BTreeSet<String>>, shared: &[&str]) {
    let mut wrong = Vec::new();
    for (name, places) in places.iter().filter(|(_, places)| places.len() > 1) {
        if !shared.contains(&name.as_str()) {
            wrong.push(format!("{name}: {}", places.iter().cloned().collect::<Vec<_>>().join(", ")));
        }
    }
    assert!(wrong.is_empty(), "{} {kind} with one name:\n{}", wrong.len(), wrong.join("\n"));
    let unneeded: Vec<&&str> =
        shared.iter().filter(|name| places.get(**name).is_none_or(|places| places.len() < 2)).collect();
    assert!(unneeded.is_empty(), "{kind} that are listed and have one definition: {unneeded:?}");
}

#[test]
fn public_types_have_different_names() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, text) in
        sources().into_iter().filter(|(path, _)| path.components().nth(1).is_some_and(|part| part.as_os_str() == "src"))
    {
        // A type that is visible only to its parent module is private to its concept.
        for name in text.lines().filter(|line| !line.contains("pub(super)")).filter_map(public_type) {
            places.entry(name.to_string()).or_default().insert(path.display().to_string());
        }
    }
    check_unique("types", &places, SHARED_TYPES);
}

#[test]
fn files_have_different_names() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (path, _) in
        sources().into_iter().filter(|(path, _)| path.components().nth(1).is_some_and(|part| part.as_os_str() == "src"))
    {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        if !["mod.rs", "lib.rs", "main.rs", "tests.rs"].contains(&name.as_str()) {
            places.entry(name).or_default().insert(path.display().to_string());
        }
    }
    check_unique("files", &places, SHARED_FILES);
}

#[test]
fn folders_have_at_most_twenty_files() {
    let mut sizes: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (path, _) in
        sources().into_iter().filter(|(path, _)| path.components().nth(1).is_some_and(|part| part.as_os_str() == "src"))
    {
        *sizes.entry(path.parent().expect("a folder").to_path_buf()).or_default() += 1;
    }
    let large: Vec<_> = sizes.into_iter().filter(|(_, size)| *size > 20).collect();
    assert!(large.is_empty(), "{large:#?}");
}
