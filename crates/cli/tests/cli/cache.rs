//! The cache: an unchanged function is not explored again, a changed one is, and a cached result equals that of a run
//! without the cache.
//!
//! `TOUCHSTONE_LONG=1` edits many more random programs, `TOUCHSTONE_SEED=N` those of one seed.

pub(crate) mod edits;
mod java;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory with sources, a cache, and what is written.
struct Project {
    folder: tempfile::TempDir,
}

/// The output of a run.
struct Ran {
    document: Value,
    told: String,
}

impl Project {
    fn new() -> Project {
        Project { folder: tempfile::tempdir().expect("a scratch directory") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a writable scratch directory");
    }

    fn start(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.args(words).args(["--format", "json"]).current_dir(self.folder.path());
        command
    }

    /// A run with the cache of the project.
    fn run(&self, words: &[&str]) -> Ran {
        Ran::of(self.start(words).args(["--cache", "cache"]).output())
    }

    /// A run without any.
    fn cold(&self, words: &[&str]) -> Ran {
        Ran::of(self.start(words).args(["--cache", "off", "-o", "cold"]).output())
    }

    /// Runs, and says what was explored, if all else is as a run without the cache says.
    fn again(&self, words: &[&str]) -> Vec<String> {
        let ran = self.run(words);
        let _ = std::fs::remove_dir_all(self.path("cold"));
        let cold = self.cold(words);
        assert_eq!(ran.lasting(), cold.lasting(), "{words:?}");
        ran.explored()
    }

    /// All files that have tests.
    fn tests(&self, out: &str) -> BTreeMap<String, String> {
        let files = std::fs::read_dir(self.path(out)).expect("a directory").map(|file| file.expect("a file").path());
        let named = files.filter(|path| path.is_file() && !path.ends_with("history.jsonl"));
        let tests = named.filter(|path| !path.ends_with("campaign.json"));
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        tests.map(|path| (name(&path), std::fs::read_to_string(&path).expect("a text"))).collect()
    }

    /// The files of the cache.
    fn entries(&self, kind: &str) -> Vec<PathBuf> {
        let files = std::fs::read_dir(self.path("cache").join(kind)).expect("a cache");
        let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
        files.sort();
        files
    }
}

impl Ran {
    fn of(output: std::io::Result<Output>) -> Ran {
        let output = output.expect("it runs");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{told}");
        Ran { document: serde_json::from_slice(&output.stdout).expect("JSON"), told }
    }

    /// The functions that were explored.
    fn explored(&self) -> Vec<String> {
        let functions = self.document["functions"].as_array().expect("functions").iter();
        let new = functions.filter(|function| function["cached"] != true);
        new.map(|function| function["name"].as_str().expect("a name").to_string()).collect()
    }

    /// Returns the part of the document that does not depend on the cache.
    fn lasting(&self) -> Value {
        let mut document = self.document.clone();
        forget(&mut document, &["cached", "seconds", "replay_seconds", "solver", "path"]);
        document
    }
}

fn forget(value: &mut Value, keys: &[&str]) {
    match value {
        Value::Object(fields) => {
            keys.iter().for_each(|key| drop(fields.remove(*key)));
            fields.values_mut().for_each(|value| forget(value, keys));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| forget(value, keys)),
        _ => {}
    }
}

/// Calls, a macro, a structure, a table, what calls leave, a text, an error, a cast, a call through a pointer.
const PROGRAM: &str = r#"#define LIMIT 10
struct pair { int first, second; };
static const int table[3] = { 1, 20, 300 };
static int scale = 2;
static int leaf(int x) {
    return x > 5 ? x + 1 : x;
}
int middle(int x) { if (leaf(x) > LIMIT) return 1; return 0; }
int top(int a, int b) { if (middle(a) && b > 3) return 2; return 3; }
int lookup(unsigned i) {
    if (i < 3 && table[i] > 30) return table[i];
    return 0;
}
int swapped(struct pair *p) { if (p->first > p->second) return 1; return 0; }
int counted(int x) { static int calls; calls++; if (calls > 2 && x == 7) return scale; return 0; }
const char *word(int x) { if (x == 42) return "answer"; return "none"; }
int divided(int a, int b) { if (b > 100) return a; return a / b; }
int hidden(void *p) { struct pair *q = p; if (q && q->second == 9) return 1; return 0; }
static long twice(long x) { return 2 * x; }
static long (*const hook)(long) = twice;
int hooked(long x) { if (hook(x) > 40) return 1; return 0; }
"#;

const ALL: [&str; 11] =
    ["leaf", "middle", "top", "lookup", "swapped", "counted", "word", "divided", "hidden", "twice", "hooked"];

const GENERATE: [&str; 4] = ["generate", "p.c", "-c", "mcdc,branch"];
const PROVE: [&str; 4] = ["prove", "p.c", "-c", "mcdc"];

/// The program, with some text replaced.
fn edited(from: &str, to: &str) -> String {
    assert!(PROGRAM.contains(from), "{from}");
    PROGRAM.replacen(from, to, 1)
}

fn explored_once(criteria: &[String]) -> Vec<String> {
    let mut names: Vec<String> = criteria.to_vec();
    names.dedup();
    names
}

#[test]
fn the_second_run_is_the_first_byte_for_byte_and_explores_nothing() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    let first = project.run(&GENERATE);
    assert_eq!(explored_once(&first.explored()), ALL);
    let tests = project.tests("touchstone-out");
    assert!(tests.len() >= ALL.len(), "{:?}", tests.keys());
    let second = project.run(&GENERATE);
    assert_eq!(second.explored(), Vec::<String>::new());
    assert_eq!(project.tests("touchstone-out"), tests);
    let (mut one, mut other) = (first.document.clone(), second.document.clone());
    [&mut one, &mut other].into_iter().for_each(|document| forget(document, &["cached"]));
    assert_eq!(one, other, "also what it took is what it took then");
    // Also where nothing is there yet.
    let elsewhere = project.run(&[&GENERATE[..], &["-o", "elsewhere"]].concat());
    assert_eq!(elsewhere.explored(), Vec::<String>::new());
    assert_eq!(elsewhere.lasting(), second.lasting());
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    let shown = command.args(GENERATE).args(["--cache", "cache"]).current_dir(project.folder.path()).output();
    let shown = shown.expect("it runs");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.ends_with("11 of 11 functions from the cache\n"), "{shown}");
}

#[test]
fn paths_and_whole_programs_are_kept_as_well() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    project.write(
        "m.c",
        "#include <stdio.h>\nstatic int small(int c) { return c < 'c'; }\nint main(void) { int c = getchar(); \
         if (c == 'a' && small(getchar())) return 1; return 0; }\n",
    );
    for words in [
        &["generate", "p.c", "-c", "paths", "--no-replay", "-o", "paths"][..],
        &["generate", "m.c", "--stdin", "2", "-o", "program"],
        &["generate", "p.c", "-c", "mcdc", "--emit", "c,json,unity", "--no-replay", "-o", "forms"],
    ] {
        let first = project.run(words);
        assert!(!first.explored().is_empty());
        let out = words[words.len() - 1];
        let tests = project.tests(out);
        let second = project.run(words);
        assert_eq!(second.explored(), Vec::<String>::new(), "{words:?}");
        assert_eq!(second.lasting(), first.lasting());
        assert_eq!(project.tests(out), tests);
    }
}

#[test]
fn after_an_edit_of_a_leaf_it_and_its_callers_are_explored_again() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    project.run(&PROVE);
    project.write("p.c", &edited("x + 1 : x", "x + 2 : x"));
    assert_eq!(project.again(&PROVE), ["leaf", "middle", "top"]);
    assert_eq!(project.again(&PROVE), Vec::<String>::new());
    project.write("p.c", PROGRAM);
    assert_eq!(project.again(&PROVE), Vec::<String>::new(), "what was there before the edit is known, too");
}

#[test]
fn comments_other_lines_and_moved_functions_change_nothing_but_places() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    project.run(&GENERATE);
    let leaf = "static int leaf(int x) {\n    return x > 5 ? x + 1 : x;\n}\n";
    let moved = edited(leaf, "static int leaf(int x);\n") + leaf;
    for text in [
        format!("/* what it is\n   for */\n\n{PROGRAM}"),
        edited(
            "{ if (leaf(x) > LIMIT) return 1; return 0; }",
            "{\n\n  if (leaf(x)\n > LIMIT)\n   return 1; return 0;\n}\n",
        ),
        edited("int top(", "int new_one(char c) { if (c == 'x' || \"abc\"[1] == c) return 1; return 0; }\nint top("),
        moved,
    ] {
        project.write("p.c", &text);
        let new = explored_once(&project.again(&GENERATE));
        assert!(new.is_empty() || new == ["new_one"], "{new:?} after\n{text}");
    }
}

#[test]
fn whatever_a_function_depends_on_is_a_change_of_it() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    project.run(&PROVE);
    for (from, to, again) in [
        ("LIMIT 10", "LIMIT 11", &["middle", "top"][..]),
        ("int first, second;", "int first, between, second;", &["hidden", "swapped"]),
        ("2 * x", "3 * x", &["hooked", "twice"]),
        ("1, 20, 300", "1, 20, 30", &["lookup"]),
        ("scale = 2", "scale = 3", &["counted"]),
        ("\"answer\"", "\"Answer\"", &["word"]),
        ("int b) { if (b > 100)", "short b) { if (b > 100)", &["divided"]),
        // It was never written before; now it may hold any value.
        ("int divided(", "void set(int x) { scale = x; }\nint divided(", &["counted", "set"]),
    ] {
        project.write("p.c", &edited(from, to));
        let mut new = project.again(&PROVE);
        new.sort();
        assert_eq!(new, again, "{from} became {to}");
    }
}

#[test]
fn options_and_bounds_are_part_of_what_was_asked() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    project.run(&PROVE);
    let more = |words: &[&str]| project.again(&[&PROVE[..], words].concat()).len();
    let all = ALL.len();
    for words in [
        &["--loop-bound", "3"][..],
        &["--range", "x=0..9"],
        &["--assume", "initial-state"],
        &["--seed", "7"],
        &["--max-paths", "1000"],
        &["--len", "p=2"],
    ] {
        assert_eq!(more(words), all, "{words:?}");
        assert_eq!(more(words), 0, "{words:?}");
    }
    // These change nothing that a function is.
    assert_eq!(more(&["--jobs", "1"]), 0);
    assert_eq!(more(&["-f", "top"]), 0);
    let criteria = project.again(&["prove", "p.c", "-c", "branch"]);
    assert_eq!(criteria.len(), all);
}

#[test]
fn what_time_left_open_is_asked_again_by_who_has_more() {
    let project = Project::new();
    // The solver cannot invert this quickly.
    let hard = "unsigned hash(unsigned a, unsigned b) {\n  unsigned h = a;\n  for (int i = 0; i < 40; i++) h = (h ^ b) * 2654435761u + \
                (h >> 13) * (b | 1) + (h << 7) % 1000003;\n  if (h == 123456789u && b == h * 77u) return 1;\n  return 0;\n}\n";
    project.write("p.c", &format!("{hard}int easy(int x) {{ if (x > 3) return 1; return 0; }}\n"));
    let explored = |seconds: &str| project.run(&[&PROVE[..], &["--timeout", seconds]].concat()).explored();
    let first = project.run(&[&PROVE[..], &["--timeout", "0.6"]].concat());
    let unknown = first.document["objectives"].as_array().expect("objectives").iter();
    assert!(
        unknown.filter(|objective| objective["status"] == "unknown").count() > 0,
        "{:#}",
        first.document["objectives"]
    );
    assert_eq!(explored("0.6"), Vec::<String>::new());
    assert_eq!(explored("0.5"), Vec::<String>::new());
    assert_eq!(explored("0.9"), ["hash"], "what is easy needs no more time");
    assert_eq!(explored("0.6"), Vec::<String>::new());
}

#[test]
fn truncated_and_foreign_files_are_told_and_ignored() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    project.run(&GENERATE);
    let entries = project.entries("verdicts");
    assert_eq!(entries.len(), ALL.len());
    let text = std::fs::read(&entries[0]).expect("readable");
    std::fs::write(&entries[0], &text[..text.len() / 2]).expect("writable");
    std::fs::write(&entries[1], "somebody else's").expect("writable");
    std::fs::write(&entries[2], "").expect("writable");
    // One in the place of another.
    std::fs::copy(&entries[4], &entries[3]).expect("writable");
    let replay = &project.entries("replays")[0];
    std::fs::write(replay, [0xff; 100]).expect("writable");
    let ran = project.run(&GENERATE);
    assert_eq!(explored_once(&ran.explored()).len(), 4, "{}", ran.told);
    let warnings = ran.told.lines().filter(|line| line.contains("ignored as an entry of the cache"));
    assert_eq!(warnings.count(), 5, "{}", ran.told);
    let next = project.run(&GENERATE);
    assert_eq!((next.explored(), next.told.as_str()), (Vec::new(), ""), "they were written anew");
}

#[test]
fn runs_at_the_same_time_share_it() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    let start = |out: &str| {
        project.start(&PROVE).args(["--cache", "cache", "-o", out]).stdout(std::process::Stdio::piped()).spawn()
    };
    let running: Vec<_> = ["a", "b", "c"].map(|out| start(out).expect("it runs")).into_iter().collect();
    let said: Vec<Value> = running.into_iter().map(|run| Ran::of(run.wait_with_output()).lasting()).collect();
    assert!(said.iter().all(|other| *other == said[0]));
    assert_eq!(project.again(&PROVE), Vec::<String>::new());
    let parts = project.entries("verdicts");
    assert_eq!(parts.len(), ALL.len(), "nothing half-written stays: {parts:?}");
}

#[test]
fn a_cache_that_can_not_be_written_is_reported_and_stops_no_run() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    project.write("cache", "a file");
    let ran = project.run(&PROVE);
    assert_eq!(ran.explored(), ALL);
    assert_eq!(
        ran.told.lines().filter(|line| line.contains("nothing is kept for later runs")).count(),
        1,
        "{}",
        ran.told
    );
}

#[test]
fn the_cache_is_shown_and_cleared() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    project.run(&PROVE);
    let cache = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        let output =
            command.arg("cache").args(words).args(["--cache", "cache"]).current_dir(project.folder.path()).output();
        let output = output.expect("it runs");
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).expect("text")
    };
    let shown = cache(&[]);
    assert!(shown.contains("11 results of 11 functions, 0 replays"), "{shown}");
    assert!(shown.contains("1  swapped"), "{shown}");
    assert_eq!(cache(&["clear"]), "cache: 11 entries removed\n");
    assert!(cache(&["show"]).contains("0 results of 0 functions"));
    assert_eq!(project.run(&PROVE).explored(), ALL);
}

#[test]
fn the_environment_and_the_projects_file_say_where_it_is() {
    let project = Project::new();
    project.write("p.c", PROGRAM);
    let run = |variable: &str, value: &str| {
        let mut command = project.start(&PROVE);
        command.env_remove("TOUCHSTONE_CACHE").env_remove("XDG_CACHE_HOME").env(variable, value);
        Ran::of(command.output()).explored().len()
    };
    let home = project.path("home");
    let home = home.to_str().expect("a name");
    assert_eq!((run("XDG_CACHE_HOME", home), run("XDG_CACHE_HOME", home)), (ALL.len(), 0));
    assert!(project.path("home/touchstone/verdicts").is_dir());
    assert_eq!((run("TOUCHSTONE_CACHE", "mine"), run("TOUCHSTONE_CACHE", "mine")), (ALL.len(), 0));
    project.write("touchstone.toml", "cache = \"off\"\n");
    assert_eq!(run("TOUCHSTONE_CACHE", "mine"), ALL.len());
    assert!(!project.path("off").exists());
}
