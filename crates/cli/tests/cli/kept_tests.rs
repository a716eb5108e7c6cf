//! Nothing of the user's is lost: passing tests stay until `--prune`, an interrupted run leaves suites as they were, and
//! a run that finds nothing new changes no file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// A directory with sources, in which commands run.
struct Project(tempfile::TempDir);

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        let project = Project(tempfile::tempdir().expect("a scratch directory"));
        files.iter().for_each(|(name, text)| project.write(name, text));
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Changes a source; the older version goes to the directory `v1`.
    fn change(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{text}");
        self.write(&format!("v1/{name}"), &text);
        self.write(name, &text.replacen(from, to, 1));
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.args(words).current_dir(self.0.path());
        command
    }

    #[track_caller]
    fn says(&self, words: &[&str], code: i32) -> String {
        let run = self.command(words).output().expect("touchstone runs");
        let said = said(&run);
        assert_eq!(run.status.code(), Some(code), "{words:?}: {said}");
        said
    }

    /// The texts and times of all files of a directory, without documents.
    fn files(&self, directory: &str) -> BTreeMap<PathBuf, (String, SystemTime)> {
        let mut found = BTreeMap::new();
        collect(&self.path(directory), &mut found);
        found.retain(|path, _| {
            !path.ends_with(".lock") && !path.extension().is_some_and(|end| end == "json" || end == "jsonl")
        });
        found
    }
}

fn collect(directory: &Path, found: &mut BTreeMap<PathBuf, (String, SystemTime)>) {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => collect(&path, found),
            false => {
                let time = entry.metadata().and_then(|meta| meta.modified()).expect("a time");
                let text = std::fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
                found.insert(path, (text.expect("readable"), time));
            }
        }
    }
}

/// Checks that no file was written or removed.
#[track_caller]
fn check_untouched(before: &BTreeMap<PathBuf, (String, SystemTime)>, after: &BTreeMap<PathBuf, (String, SystemTime)>) {
    let names = |files: &BTreeMap<PathBuf, (String, SystemTime)>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(before), names(after));
    for (path, (text, time)) in before {
        assert_eq!(*text, after[path].0, "{}", path.display());
        assert_eq!(*time, after[path].1, "{}", path.display());
    }
}

fn said(run: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr))
}

/// The names of the tests in a C suite or a JUnit class.
fn names(text: &str) -> Vec<String> {
    let c = |line: &str| Some(line.strip_prefix("TEST(")?.split_once(',')?.0.to_string());
    let java = |line: &str| Some(line.trim().strip_prefix("void ")?.split_once('(')?.0.to_string());
    text.lines().filter_map(|line| c(line).or_else(|| java(line))).collect()
}

const CLAMP: &str = "int clamp(int x, int lo, int hi) {
    if (x < lo) return lo;
    if (x > hi) return hi;
    if (x == 42) return -1;
    return x;
}
";

#[test]
fn passing_tests_stay_when_a_change_is_tested_and_prune_lists_those_that_go() {
    let project = Project::new(&[("a.c", CLAMP)]);
    project.says(&["generate", "a.c", "-q"], 0);
    let before = project.read("touchstone-out/test_clamp.c");
    project.change("a.c", "return -1;", "return -2;");
    project.says(&["generate", "a.c", "--old", "v1"], 0);
    let after = project.read("touchstone-out/test_clamp.c");
    assert_eq!(names(&after), names(&before), "{after}");
    assert!(after.contains("CHECK_INT(-2, result);") && !after.contains("CHECK_INT(-1, result);"), "{after}");
    // The same holds without an older version, and nothing is written again.
    project.says(&["generate", "a.c", "--update"], 0);
    let update = project.read("touchstone-out/test_clamp.c");
    assert_eq!(names(&update), names(&before), "{update}");
    // Only with `--prune`, tests go.
    project.says(&["generate", "a.c", "--prune"], 1);
    let said = project.says(&["generate", "a.c", "--old", "v1", "--prune"], 0);
    let pruned = names(&project.read("touchstone-out/test_clamp.c"));
    assert!(pruned.len() < names(&before).len(), "{pruned:?}");
    for name in names(&before).iter().filter(|name| !pruned.contains(name)) {
        assert!(said.lines().any(|line| line.contains("removed by --prune: ") && line.contains(name)), "{said}");
    }
}

#[test]
fn passing_tests_with_stubs_stay_in_their_file_and_new_ones_go_beside_it() {
    let text = "int sensor(int);\nint read_it(int x) {\n    if (x < 0) return -1;\n    if (sensor(x) > 5) return 1;\n    return 0;\n}\n";
    let project = Project::new(&[("a.c", text)]);
    project.says(&["generate", "a.c", "-q"], 0);
    let before = project.read("touchstone-out/test_read_it.c");
    project.change("a.c", "    if (x < 0)", "    if (x == -77) return 9;\n    if (x < 0)");
    project.says(&["generate", "a.c", "--old", "v1"], 0);
    assert_eq!(project.read("touchstone-out/test_read_it.c"), before);
    let more = project.read("touchstone-out/test_read_it.more.c");
    assert!(more.contains("int x = -77;"), "{more}");
    // The next run says nothing about the older version any more.
    project.says(&["generate", "a.c", "--update", "-q"], 0);
    let files = project.files("touchstone-out");
    project.says(&["generate", "a.c", "--update", "-q"], 0);
    check_untouched(&files, &project.files("touchstone-out"));
}

const SHOP: &str = "package shop;
public class Shop {
    public static int price(int count, boolean member) {
        if (count < 0) throw new IllegalArgumentException(\"count\");
        if (count > 100) return 7;
        if (member && count > 10) return 8;
        return 10;
    }
    public static int other(int x) { return x > 3 ? 1 : 2; }
}
";

#[test]
fn passing_junit_tests_stay_when_a_change_is_tested() {
    let project = Project::new(&[("src/shop/Shop.java", SHOP)]);
    let file = "touchstone-out/shop/ShopTouchstoneTest.java";
    project.says(&["generate", "src/shop/Shop.java", "-q"], 0);
    let before = project.read(file);
    project.change("src/shop/Shop.java", "return 8;", "return 9;");
    project.says(&["generate", "src/shop/Shop.java", "-q", "--old", "v1"], 0);
    let after = project.read(file);
    let missing: Vec<String> = names(&before).into_iter().filter(|name| !names(&after).contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}\n{after}");
    assert!(after.contains("assertEquals(9,") && !after.contains("assertEquals(8,"), "{after}");
    // A test that covers unaffected code keeps its text.
    let thrown = after.split("@Test").find(|test| test.contains("assertThrows")).expect("a test").to_string();
    assert!(before.contains(thrown.split("    }\n").next().expect("a body")), "{thrown}");
    project.says(&["generate", "src/shop/Shop.java", "-q", "--update"], 0);
    project.says(&["generate", "src/shop/Shop.java", "-q", "--update"], 0);
    assert_eq!(names(&project.read(file)).len(), names(&after).len());
    let said = project.says(&["generate", "src/shop/Shop.java", "--old", "v1", "--prune"], 0);
    assert!(said.contains("removed by --prune: "), "{said}");
    assert!(names(&project.read(file)).len() < names(&after).len());
}

/// Returns true for a suite that was staged after a time.
fn is_staged(entry: &std::fs::DirEntry, since: SystemTime) -> bool {
    let is_new = entry.metadata().and_then(|meta| meta.modified()).is_ok_and(|time| time >= since);
    is_new && entry.file_name().to_string_lossy().contains("staged-test_slow")
}

/// Starts a run, and ends it by a signal after the first line of progress of the search.
fn ended_by(project: &Project, words: &[&str], signal: &str) -> Output {
    let mut command = project.command(words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("touchstone runs");
    let (begun, started) = (Instant::now(), SystemTime::now());
    let staged = || {
        std::fs::read_dir(project.path("touchstone-out"))
            .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|entry| is_staged(&entry, started))))
    };
    while !staged() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = |signal: &str| Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    assert!(kill(signal).success());
    if signal == "-INT" {
        // `timeout` sends its signal twice: to the process and to its group.
        std::thread::sleep(Duration::from_millis(50));
        kill(signal);
    }
    child.wait_with_output().expect("it ends")
}

const SLOW: &str = "int quick(int a, int b) { if (a > 3 && b < 3) return a; return b == 7; }
unsigned slow(unsigned x, unsigned y) {
    unsigned h = x;
    for (int i = 0; i < 400; i++) {
        h = h * 2654435761u ^ (h >> 13) ^ y * h;
        if (h * y == 12345u + i && h * h % 77777u == y % 9973u)
            return i;
    }
    return h % 7 == 3;
}
";

#[test]
fn an_interrupted_run_leaves_suites_as_they_were_and_a_report() {
    let project = Project::new(&[("a.c", SLOW)]);
    project.says(&["generate", "a.c", "-q", "--timeout", "1"], 0);
    let file = "touchstone-out/test_slow.c";
    let before = project.read(file);
    for signal in ["-KILL", "-INT"] {
        let run = ended_by(
            &project,
            &["generate", "a.c", "--update", "-j", "1", "--timeout", "60", "--budget", "60"],
            signal,
        );
        assert_eq!(project.read(file), before, "{signal}");
        if signal == "-INT" {
            assert_eq!(run.status.code(), Some(130), "{}", said(&run));
            assert!(said(&run).contains("interrupted: the report has the results so far"), "{}", said(&run));
        }
    }
    let left = std::fs::read_dir(project.path("touchstone-out")).expect("a directory").flatten();
    let staged: Vec<_> =
        left.map(|entry| entry.file_name()).filter(|name| name.to_string_lossy().contains("staged")).collect();
    assert!(staged.is_empty(), "{staged:?}");
}

#[test]
fn a_killed_run_is_resumed_from_the_cache_and_progress_is_shown_as_lines() {
    let project = Project::new(&[("a.c", SLOW)]);
    let words = ["generate", "a.c", "-j", "1", "--cache", "cache", "--timeout", "60", "--budget", "60"];
    let mut command = project.command(&words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("touchstone runs");
    let mut line = String::new();
    let mut lines = std::io::BufReader::new(child.stderr.take().expect("a pipe"));
    std::io::BufRead::read_line(&mut lines, &mut line).expect("a line");
    assert!(line.starts_with("progress: 1 of 2 functions after 3 s; now slow"), "{line}");
    child.kill().expect("killed");
    child.wait().expect("it ended");
    let words = ["generate", "a.c", "--resume", "--cache", "cache", "--timeout", "60", "--budget", "60", "-f", "quick"];
    let said = project.says(&words, 0);
    assert!(said.contains("resumed: 1 function was finished, 0 explored now"), "{said}");
}

#[test]
fn a_run_without_changes_writes_no_file_and_a_measurement_has_its_own_document() {
    let test = "int clamp(int, int, int);\nint main(void) { return clamp(1, 0, 2) != 1; }\n";
    let project = Project::new(&[("a.c", CLAMP), ("t.c", test)]);
    let words = ["generate", "a.c", "-q", "--emit", "c,unity,json"];
    project.says(&words, 0);
    let (files, campaign) = (project.files("touchstone-out"), project.read("touchstone-out/campaign.json"));
    project.says(&["measure", "-q", "--", "sh", "-c", "cc a.c t.c -o t && ./t"], 0);
    assert_eq!(project.read("touchstone-out/campaign.json"), campaign);
    // The newer document is shown, and the other one is named.
    let said = project.says(&["report"], 0);
    assert!(said.contains("touchstone report touchstone-out/campaign.json") && said.contains("t.c"), "{said}");
    let said = project.says(&["report", "touchstone-out/campaign.json", "-q"], 0);
    assert!(!said.contains("t.c"), "{said}");
    let own = || {
        let measured = ["hits", "units", "kept"].map(|name| project.path("touchstone-out").join(name));
        let mut files = project.files("touchstone-out");
        files.retain(|path, _| !measured.iter().any(|own| path.starts_with(own)));
        files
    };
    project.says(&["generate", "a.c", "-q", "--emit", "c,unity,json", "--update"], 0);
    check_untouched(&files, &own());
    project.says(&words, 0);
    check_untouched(&files, &own());
    let said = project.says(&["report"], 0);
    assert!(said.contains("touchstone report touchstone-out/measurement.json"), "{said}");
}
