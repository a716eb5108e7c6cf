//! The wording of comments and the uniqueness of names, as docs/glossary.md and CONTRIBUTING.md ask for.
//!
//! A doc comment is a sentence or a noun phrase, so it does not open with an interrogative. Code is described without persons,
//! and without phrases for which the glossary has a term. Code spans, quotations and code blocks are not checked.

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
    "Cache",
    "Condition",
    "Config",
    "Decision",
    "EarlierCall",
    "Format",
    "Function",
    "IncompletePaths",
    "Init",
    "Labels",
    "Memory",
    "ObjectKind",
    "Objective",
    "ObservedValue",
    "Op",
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
    let root = support::root().join("crates");
    let mut folders = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("UTF-8");
                found.push((path.strip_prefix(&root).expect("inside").to_path_buf(), text));
            }
        }
    }
    found.sort();
    assert!(found.len() > 500, "only {} files", found.len());
    found
}

/// The marker of a comment line, and its text; `None` if the line is not a comment of its own.
fn comment(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    ["//!", "///", "//"].into_iter().find_map(|marker| Some((marker, line.strip_prefix(marker)?)))
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

/// Returns the violations in a file as lines of a message.
fn violations(path: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut previous, mut in_code_block) = (None, false);
    for (index, line) in text.lines().enumerate() {
        let Some((marker, words)) = comment(line) else {
            (previous, in_code_block) = (None, false);
            continue;
        };
        let opens = previous != Some(marker) && marker != "//";
        previous = Some(marker);
        if words.trim_start().starts_with("```") {
            in_code_block = !in_code_block;
            continue;
        }
        if in_code_block {
            continue;
        }
        let mut report = |why: String| found.push(format!("{}:{}: {why}: {}", path.display(), index + 1, words.trim()));
        if let Some(opening) = OPENINGS.iter().find(|opening| {
            opens && has_phrase(words.trim_start(), opening) && words.trim_start().starts_with(**opening)
        }) {
            report(format!("opens with `{opening}`"));
        }
        let prose = prose(words).to_lowercase();
        if let Some(person) = PERSONS.iter().find(|person| has_phrase(&prose, person)) {
            report(format!("has the person `{person}`"));
        }
        if let Some((phrase, term)) = PHRASES.iter().find(|(phrase, _)| has_phrase(&prose, phrase)) {
            report(format!("has `{phrase}`, instead of: {term}"));
        }
    }
    found
}

#[test]
fn comments_are_sentences_in_the_glossary_s_terms() {
    let found: Vec<String> = sources().iter().flat_map(|(path, text)| violations(path, text)).collect();
    assert!(found.is_empty(), "{} comments (see CONTRIBUTING.md, Style):\n{}", found.len(), found.join("\n"));
}

#[test]
fn violations_are_found_and_quotations_are_not() {
    let text = "//! What a file is.\n/// Returns what it has; nobody calls it.\n/// `nobody` and \"so many\" are quoted.\n// It leads to b.\nlet a = 1; // whoever\n";
    let found = violations(Path::new("a.rs"), text);
    let lines: Vec<&str> = found.iter().map(|line| line.split(": ").nth(1).expect("a reason")).collect();
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(lines[0].contains("What") && lines[1].contains("nobody") && lines[2].contains("leads to"), "{found:#?}");
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
