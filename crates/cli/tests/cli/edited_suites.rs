//! Tests belong to their user: what was edited stays, new tests go beside it, and a later run says what still holds.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder with a source file.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(source: &str) -> Folder {
        let folder = Folder(tempfile::tempdir().expect("a scratch directory"));
        folder.write("a.c", source);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("writable");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Changes a file as a user does.
    fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{text}");
        self.write(name, &text.replacen(from, to, 1));
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.args(["generate", "a.c", "-q"]).args(words).current_dir(self.0.path()).output().expect("it runs")
    }

    #[track_caller]
    fn says(&self, words: &[&str], code: i32) -> String {
        let run = self.run(words);
        let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert_eq!(run.status.code(), Some(code), "{said}");
        said
    }

    #[track_caller]
    fn json(&self, words: &[&str]) -> Value {
        let run = self.run(&[words, &["--format", "json"]].concat());
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{error}\n{said}"))
    }
}

/// Eight small functions, and one that keeps the search busy.
fn many() -> String {
    let small = |n: usize| format!("int f{n}(int a, int b) {{ if (a > {n} && b < 3) return a; return b == {n}; }}\n");
    let slow = "unsigned slow(unsigned x, unsigned y) {\n    unsigned h = x;\n    for (int i = 0; i < 400; i++) {\n        \
                h = h * 2654435761u ^ (h >> 13) ^ y * h;\n        if (h * y == 12345u + i && h * h % 77777u == y % 9973u)\n            \
                return i;\n    }\n    return h % 7 == 3;\n}\n";
    (0..8).map(small).collect::<String>() + slow
}

/// Runs until something is there, and then gets a signal.
fn interrupted(folder: &Folder, words: &[&str], signal: &str, sign: impl Fn() -> bool) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(["generate", "a.c", "-j", "1"]).args(words).current_dir(folder.0.path());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let begun = Instant::now();
    while !sign() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let sent = Instant::now();
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    assert!(kill.success(), "it had ended by itself");
    let output = child.wait_with_output().expect("it ends");
    assert!(sent.elapsed() < Duration::from_secs(15), "{:?}", sent.elapsed());
    output
}

#[test]
fn a_signal_leaves_a_report_of_all_functions_and_resume_goes_on() {
    let folder = Folder::new(&many());
    // While the third function is compiled or replayed.
    let run = interrupted(&folder, &["--format", "json"], "-TERM", || folder.path("touchstone-out/test_f2.c").exists());
    assert_eq!(run.status.code(), Some(130), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(String::from_utf8_lossy(&run.stderr).contains("continue with --resume"));
    let report: Value = serde_json::from_slice(&run.stdout).expect("a report");
    let functions = report["functions"].as_array().expect("functions");
    assert_eq!(functions.len(), 9, "{report:#}");
    let finished = |function: &&Value| function.get("key").is_some();
    assert!((1..=8).contains(&functions.iter().filter(finished).count()), "{report:#}");
    let unknown = |function: &Value| function["objectives"]["unknown"] != 0;
    assert!(unknown(&functions[8]) && !unknown(&functions[0]), "{report:#}");
    assert!(report["tests"].as_array().expect("tests").iter().all(|test| test["replay"] != "disagreed"), "{report:#}");

    // A function that changed meanwhile is done again, one that did not isn't.
    folder.edit("a.c", "a > 0 && b < 3", "a > 0 && b < 4");
    let stays = std::fs::metadata(folder.path("touchstone-out/test_f1.c")).expect("a file").modified().expect("a time");
    let run = folder.run(&["--resume", "--timeout", "2", "--format", "json"]);
    let report: Value = serde_json::from_slice(&run.stdout).expect("a report");
    let functions = report["functions"].as_array().expect("functions");
    let names: Vec<&str> = functions.iter().filter_map(|function| function["name"].as_str()).collect();
    assert_eq!(names, ["f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "slow"]);
    assert!(functions[..8].iter().all(|function| !unknown(function)), "{report:#}");
    assert!(folder.read("a.c").contains("b < 4") && folder.read("touchstone-out/test_f0.c").contains("b < 4"));
    let again = std::fs::metadata(folder.path("touchstone-out/test_f1.c")).expect("a file").modified().expect("a time");
    assert_eq!(stays, again, "f1 was finished");
    let ids = |value: &Value| {
        value["tests"].as_array().expect("tests").iter().filter(|test| test["function"] == "f1").count()
    };
    assert!(ids(&report) > 0, "{report:#}");
}

#[test]
fn a_signal_before_anything_was_explored_is_no_error() {
    let folder = Folder::new(&many());
    let run = interrupted(&folder, &[], "-INT", || folder.path("touchstone-out/.lock").exists());
    assert_eq!(run.status.code(), Some(130), "{}", String::from_utf8_lossy(&run.stderr));
}

const GRADE: &str = "\
int grade(int points, int bonus) {
    if (points > 90 && bonus < 5)
        return 1;
    if (points > 50)
        return 2;
    return 3;
}
";
const FILE: &str = "touchstone-out/test_grade.c";
const MORE: &str = "touchstone-out/test_grade.more.c";

fn names(text: &str) -> Vec<&str> {
    let named = text.lines().filter_map(|line| line.strip_prefix("TEST(")?.split(',').next());
    named.collect()
}

/// The text without a test.
fn without(text: &str, name: &str) -> String {
    let start = text.find(&format!("TEST({name},")).expect("the test");
    let end = start + text[start..].find("\n}\n").expect("its end") + 3;
    format!("{}{}", &text[..start], &text[end..])
}

#[test]
fn an_unedited_suite_is_regenerated_and_numbers_have_no_gaps() {
    let folder = Folder::new(GRADE);
    folder.says(&[], 0);
    let first = folder.read(FILE);
    let count = names(&first).len();
    let numbered: Vec<String> = (1..=count).map(|number| format!("grade_{number}")).collect();
    assert_eq!(names(&first), numbered);
    let said = folder.says(&[], 0);
    assert!(!said.contains("existing tests"), "{said}");
    assert_eq!(folder.read(FILE), first);
}

#[test]
fn an_edited_suite_stays_and_what_it_covers_is_not_generated_again() {
    let folder = Folder::new(GRADE);
    folder.says(&[], 0);
    folder.edit(FILE, "TEST(grade_2,", "TEST(a_good_name,");
    let edited = folder.read(FILE);
    let said = folder.says(&[], 0);
    assert!(said.contains("test_grade.c, edited and kept: all 3 tests pass; nothing is missing"), "{said}");
    assert!(said.contains("100% of"), "{said}");
    assert_eq!(folder.read(FILE), edited);
    assert!(!folder.path(MORE).exists());
}

#[test]
fn what_an_edited_suite_lacks_goes_to_a_file_beside_it() {
    let folder = Folder::new(GRADE);
    folder.says(&[], 0);
    let whole = folder.read(FILE);
    folder.write(FILE, &without(&whole, "grade_1"));
    let edited = folder.read(FILE);
    let said = folder.says(&[], 0);
    assert!(said.contains(&format!("new tests: {MORE}")) && said.contains("replay: 1 agreed"), "{said}");
    assert_eq!(folder.read(FILE), edited);
    let more = folder.read(MORE);
    let kept = names(&edited);
    assert!(names(&more).len() == 1 && names(&more).iter().all(|name| !kept.contains(name)), "{more}");
    // Ours is written again, and only the same is missing.
    let json = folder.json(&[]);
    assert_eq!((folder.read(MORE), folder.read(FILE)), (more, edited));
    let suite = &json["kept"][0];
    assert_eq!((&suite["file"], &suite["new_tests"]), (&Value::from(FILE), &Value::from(MORE)));
    assert!(suite["tests"].as_array().expect("tests").iter().all(|test| test["verdict"] == "passes"), "{suite}");
    // If that one is edited, too, it stays as well.
    folder.edit(MORE, "TEST(", "/* mine */\nTEST(");
    let said = folder.says(&[], 0);
    assert!(
        said.contains("test_grade.more.c, edited and kept")
            && !folder.path("touchstone-out/test_grade.more2.c").exists()
    );
    // If the edited file is deleted, all tests are generated into one file.
    std::fs::remove_file(folder.path(FILE)).expect("removed");
    std::fs::remove_file(folder.path(MORE)).expect("removed");
    folder.says(&[], 0);
    assert_eq!(names(&folder.read(FILE)).len(), names(&whole).len());
}

#[test]
fn an_update_says_which_expectation_changed_and_to_what() {
    let folder = Folder::new(GRADE);
    folder.says(&[], 0);
    folder.edit("a.c", "return 2", "return 20");
    // An unedited suite is run, and then regenerated with the same names.
    let before = folder.read(FILE);
    let said = folder.says(&["--update"], 0);
    assert!(said.contains("result: 2 → 20") && said.contains("; regenerated"), "{said}");
    let after = folder.read(FILE);
    assert_eq!(names(&before), names(&after));
    // A search may name less of a path than a run of the same inputs.
    let body = |text: &str| -> Vec<String> {
        text.lines().skip(3).filter(|line| !line.starts_with("TEST(")).map(str::to_string).collect()
    };
    assert_eq!(body(&after.replace("CHECK_INT(20,", "CHECK_INT(2,")), body(&before));
    // An edited suite is kept, and CI must notice that it fails.
    folder.edit(FILE, "TEST(grade_2,", "TEST(a_good_name,");
    folder.edit("a.c", "return 3", "return 33");
    let edited = folder.read(FILE);
    let said = folder.says(&["--update"], 4);
    assert!(said.contains("result: 3 → 33"), "{said}");
    assert_eq!(folder.read(FILE), edited);
    let json = folder.json(&["--update"]);
    let broken = json["kept"][0]["tests"].as_array().expect("tests").iter().find(|test| test["verdict"] == "fails");
    let change = &broken.expect("one fails")["changes"][0];
    assert_eq!((&change["expected"], &change["got"]), (&Value::from("3"), &Value::from("33")));
}

#[test]
fn a_new_branch_is_missing_and_the_tests_that_hold_keep_their_names() {
    let folder = Folder::new(GRADE);
    folder.says(&[], 0);
    let inputs = |json: &Value| -> Vec<(String, String)> {
        let tests = json["tests"].as_array().expect("tests").iter();
        tests.map(|test| (test["inputs"].to_string(), test["id"].to_string())).collect()
    };
    let before: Value = serde_json::from_str(&folder.read("touchstone-out/campaign.json")).expect("json");
    folder.edit("a.c", "    if (points > 50)", "    if (points == -7)\n        return 7;\n    if (points > 50)");
    let after = folder.json(&["--update"]);
    for (inputs_before, id) in inputs(&before) {
        if let Some((_, kept)) = inputs(&after).iter().find(|(inputs, _)| *inputs == inputs_before) {
            assert_eq!(*kept, id);
        }
    }
    assert!(inputs(&after).len() > inputs(&before).len());
    // With an edit, only the test for the new branch is new.
    let folder = Folder::new(GRADE);
    folder.says(&[], 0);
    folder.edit(FILE, "TEST(grade_2,", "TEST(a_good_name,");
    folder.edit("a.c", "    if (points > 50)", "    if (points == -7)\n        return 7;\n    if (points > 50)");
    folder.says(&["--update"], 0);
    let more = folder.read(MORE);
    assert!(
        names(&more).len() == 1 && more.contains("int points = -7;") && more.contains("CHECK_INT(7, result);"),
        "{more}"
    );
}

#[test]
fn a_test_that_does_not_compile_any_more_is_named_and_the_others_run() {
    let folder = Folder::new("struct p { int x; int y; };\nint f(struct p *p) { if (p->x > 3) return 1; return 0; }\n");
    folder.says(&["--len", "p=1"], 0);
    let file = "touchstone-out/test_f.c";
    folder.edit(file, "TEST(", "TEST(broken, \"\") {\n    struct p p = {.z = 1};\n    (void)p;\n}\n\nTEST(");
    let said = folder.says(&[], 4);
    assert!(said.contains("broken: no longer compiles: "), "{said}");
    assert!(said.contains("of 3 tests pass") || said.contains("of 4 tests pass"), "{said}");
}

#[test]
fn an_edited_suite_for_a_framework_stays_and_only_tests_that_it_lacks_go_beside_it() {
    let folder = Folder::new(GRADE);
    folder.says(&["--emit", "c,unity"], 0);
    let file = "touchstone-out/unity/test_grade.c";
    folder.edit(file, "static void test_grade_1(void) {\n", "static void test_grade_1(void) {\n    /* mine */\n");
    let edited = folder.read(file);
    let said = folder.says(&["--emit", "c,unity"], 0);
    assert!(said.contains("unity/test_grade.c, edited and kept: all ") && said.contains(" tests pass"), "{said}");
    assert_eq!(folder.read(file), edited);
    let more = folder.read("touchstone-out/unity/test_grade.more.c");
    assert_eq!(more.matches("static void test_grade_").count(), 1, "{more}");
    // An edited test that fails is noticed.
    folder.write(file, &edited.replacen("TEST_ASSERT_EQUAL_INT(1, result)", "TEST_ASSERT_EQUAL_INT(7, result)", 1));
    let said = folder.says(&["--emit", "c,unity"], 4);
    assert!(said.contains("result: 7 → 1"), "{said}");
    // Without tests in C, the coverage of an edited suite counts.
    let folder = Folder::new(GRADE);
    folder.says(&["--emit", "unity"], 0);
    let whole = folder.read(file);
    let first = whole.find("/* ").and_then(|_| whole.find("static void test_grade_1(void) {")).expect("a test");
    let end = first + whole[first..].find("\n}\n").expect("an end") + 3;
    let less = format!("{}{}", &whole[..first], &whole[end..]).replace("    RUN_TEST(test_grade_1);\n", "");
    folder.write(file, &less);
    let json = folder.json(&["--emit", "unity"]);
    assert_eq!(json["kept"][0]["edited"], true, "{}", json["kept"]);
    let made = json["tests"].as_array().expect("tests").iter().filter(|test| test["outcome"] != "measured");
    assert_eq!(made.count(), 1, "{}", json["tests"]);
    // The same tests stay in every form if those in C were edited.
    let folder = Folder::new(GRADE);
    folder.says(&["--emit", "c,unity"], 0);
    let (own, unity) = (folder.read(FILE), folder.read(file));
    folder.write(FILE, &without(&own, "grade_1"));
    folder.says(&["--emit", "c,unity"], 0);
    assert_eq!(folder.read(file), unity);
}
