//! The documentation is checked: every block after `<!-- output: COMMAND -->` must be what the command prints, times
//! aside. `TOUCHSTONE_BLESS=1` writes what it prints into the block.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

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
