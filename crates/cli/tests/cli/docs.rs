//! The documentation is checked: every block after `<!-- output: COMMAND -->` must be what the command prints, times
//! aside. `TOUCHSTONE_BLESS=1` writes what it prints into the block. The page of reasons has the words that the tool has.

use crate::support;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_criteria::{
    Bound, Caveat, Disagreement, NotCheckable, PairsStopped, Unanswered, Unsupported, WhyInfeasible, WhyUnknown,
};
use touchstone_instrument::ProbeObstacle;

#[test]
fn every_output_in_the_documentation_is_what_the_command_prints() {
    let root = support::root();
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root.join("docs"))
        .expect("docs")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.push(root.join("README.md"));
    pages.sort();
    let bless = std::env::var_os("TOUCHSTONE_BLESS").is_some();
    let (mut checked, mut failures) = (0, String::new());
    for page in pages {
        let text = std::fs::read_to_string(&page).expect("readable");
        let (new, found) = refresh(&text, &root, &mut failures, &page);
        checked += found;
        if bless {
            std::fs::write(&page, new).expect("writable");
        }
    }
    assert!(checked >= 5, "only {checked} outputs found");
    assert!(bless || failures.is_empty(), "{failures}\nTOUCHSTONE_BLESS=1 rewrites the blocks");
}

/// The words of `docs/reasons.md`, by section.
fn words() -> BTreeMap<String, Vec<String>> {
    let page = std::fs::read_to_string(support::root().join("docs/reasons.md")).expect("the page");
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut section = String::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.to_string();
        } else if let Some(word) = line.strip_prefix("| `").and_then(|row| row.split_once("` | ")).map(|(word, _)| word)
            && !section.is_empty()
        {
            found.entry(section.clone()).or_default().push(word.to_string());
        }
    }
    found
}

#[test]
fn the_page_of_reasons_has_all_words_and_no_others() {
    let ours = [
        ("Bounds", Bound::WORDS),
        ("Environment", Caveat::WORDS),
        ("Unsupported", Unsupported::WORDS),
        ("The solver", Unanswered::WORDS),
        ("Infeasible", WhyInfeasible::WORDS),
        ("Unknown", WhyUnknown::WORDS),
        ("Pairs", PairsStopped::WORDS),
        ("Disagreed", Disagreement::WORDS),
        ("Not checkable", NotCheckable::WORDS),
        ("Not measured", ProbeObstacle::WORDS),
    ];
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    for (section, words) in ours {
        let distinct: BTreeSet<&&str> = words.iter().collect();
        assert_eq!(distinct.len(), words.len(), "{section}: a word stands for two");
        assert!(words.iter().all(|word| is_word(word)), "{section}: {words:?}");
    }
    let ours = ours.map(|(section, words)| (section.to_string(), words.iter().map(|word| word.to_string()).collect()));
    assert_eq!(words(), BTreeMap::from(ours));
}

#[test]
fn every_sentence_that_says_why_has_its_word_beside_it() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let text = "\
int fixed(int n) { if (n > 3 || 1) return 1; return 0; }
int loops(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; if (s == 10) return 1; return 0; }
int device(int n) { if (n && *(volatile int *)0x4000 > 2) return 1; return 0; }
int unread(int n) { int x; if (n) x = 1; return x; }
";
    std::fs::write(scratch.path().join("f.c"), text).expect("a file");
    let options = "--loop-bound 2 -c decision,mcdc --format json -q";
    let output = run(&format!("touchstone generate f.c {options} -o out 2>/dev/null"), scratch.path());
    let report: Value = serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}"));
    let known: BTreeSet<String> = words().into_values().flatten().collect();
    let mut seen = BTreeSet::new();
    let mut open = vec![&report];
    while let Some(value) = open.pop() {
        if let Value::Object(members) = value {
            let why = members.get("why").or(members.get("replay_why")).and_then(Value::as_str);
            let reason = members.get("reason").and_then(Value::as_str);
            assert_eq!(why.is_some(), reason.is_some(), "{value}");
            seen.extend(reason.map(str::to_string));
            open.extend(members.values());
        }
        open.extend(value.as_array().into_iter().flatten());
    }
    assert!(seen.is_subset(&known), "{seen:?}");
    for word in ["constant", "loop_bound", "fixed_address", "uninitialised"] {
        assert!(seen.contains(word), "{word} is not in {seen:?}");
    }
}

/// The page with every block run again, and how many there are.
fn refresh(text: &str, root: &Path, failures: &mut String, page: &Path) -> (String, usize) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    for folder in ["examples", "bench", "docs"] {
        std::os::unix::fs::symlink(root.join(folder), scratch.path().join(folder)).expect("a link");
    }
    let (mut new, mut found) = (String::new(), 0);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        new += line;
        new.push('\n');
        let command = line.strip_prefix("<!-- output: ").and_then(|rest| rest.strip_suffix(" -->"));
        let Some(command) = command else { continue };
        assert!(lines.next().is_some_and(|fence| fence.starts_with("```")), "{command}: no block follows");
        let old: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let output = run(command, scratch.path());
        let old = old.join("\n");
        if without_times(&old) != without_times(output.trim_end()) {
            *failures += &format!("{}: {command}\n--- page\n{old}\n--- now\n{output}\n", page.display());
        }
        new += &format!("```text\n{}\n```\n", output.trim_end());
        found += 1;
    }
    (new, found)
}

fn run(command: &str, folder: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_touchstone")).parent().expect("a folder");
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", &format!("{command} 2>&1")])
        .current_dir(folder)
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .output()
        .expect("sh runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Numbers with a decimal point are times.
fn without_times(text: &str) -> String {
    let is_time = |word: &str| {
        let word = word.trim_end_matches(',');
        word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let words = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().map(|word| if is_time(word) { "TIME" } else { word }).collect();
        words.join(" ")
    };
    text.lines().map(words).collect::<Vec<_>>().join("\n")
}
