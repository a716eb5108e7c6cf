//! Bad input is normal: a clear message or a reported bound, the right exit code, nothing lost, no panic.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Case {
        Case { folder: tempfile::tempdir().expect("a scratch directory") }
    }
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("writable");
        path
    }
    fn touchstone(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().expect("touchstone runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!error.contains("panicked"), "{arguments:?}: {error}");
        output
    }
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.current_dir(self.folder.path()).args(arguments).env("NO_COLOR", "1");
        command
    }
}

/// Runs `generate` with these arguments and wants this exit code and these words on standard error.
fn check_message(case: &Case, arguments: &[&str], code: i32, words: &[&str]) {
    let output = case.touchstone(arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    for word in words {
        assert!(error.contains(word), "{arguments:?}: `{word}` is not in: {error}");
    }
    assert!(output.stdout.is_empty(), "an error says nothing on standard output");
}

#[test]
fn what_cannot_be_read_is_named_and_exits_with_1() {
    let case = Case::new();
    case.file("good.c", "int f(int x) { return x > 0; }\nint g(int);\nint h(int x) { return g(x); }\n");
    case.file("bad.c", "int f(int x) { return x +; }\n");
    case.file("empty.c", "");
    std::fs::create_dir(case.folder.path().join("folder.c")).expect("a folder");
    check_message(&case, &["generate", "missing.c"], 1, &["missing.c"]);
    check_message(&case, &["generate", "folder.c"], 1, &["folder.c", "directory"]);
    check_message(&case, &["generate", "bad.c"], 1, &["bad.c:1:26", "expected expression"]);
    check_message(&case, &["generate", "empty.c"], 1, &["no function"]);
    check_message(&case, &["generate", "good.c", "-f", "nothing"], 1, &["no function `nothing`", "f"]);
    check_message(&case, &["generate", "good.c", "-f", "g"], 1, &["declared but not defined"]);
    check_message(&case, &["generate", "good.c", "-c", "nonsense"], 1, &["nonsense", "paths"]);
    check_message(&case, &["generate", "good.c", "--range", "x=3"], 1, &["LO..HI"]);
    check_message(&case, &["generate", "good.c", "--pre", "y > 0"], 1, &["y"]);
    check_message(&case, &["run", "good.c"], 1, &["no `main`"]);
}

fn report(case: &Case, arguments: &[&str]) -> (i32, Value) {
    let mut all = vec!["generate", "--format", "json"];
    if !arguments.contains(&"-c") {
        all.extend(["-c", "paths"]);
    }
    all.extend(arguments);
    let output = case.touchstone(&all);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code().expect("an exit code");
    (code, serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {error}")))
}

/// The first function's reasons for being incomplete.
fn reasons(report: &Value) -> Vec<String> {
    let incomplete = report["functions"][0]["incomplete"].as_array().expect("a list");
    incomplete.iter().map(|entry| entry["why"].as_str().expect("a reason").to_string()).collect()
}

#[test]
fn bounds_that_were_hit_are_reported_and_make_strict_runs_exit_with_3() {
    let case = Case::new();
    case.file("loop.c", "int f(int n) { int s = 0; while (n > 0) { s += n; n--; } return s; }\n");
    case.file("forever.c", "int f(int n) { for (;;) n++; return n; }\n");
    case.file("deep.c", "int f(int n) { return n == 0 ? 0 : 1 + f(n - 1); }\n");
    for (arguments, reason) in [
        (vec!["loop.c", "--max-paths", "5"], "bound: --max-paths"),
        (vec!["loop.c", "--depth", "4"], "bound: --depth"),
        (vec!["loop.c", "--loop-bound", "3"], "bound: --loop-bound"),
        (vec!["loop.c", "--budget", "0.2", "--no-replay"], "bound: --budget"),
        (vec!["loop.c", "--budget", "0", "--timeout", "0.5", "--no-replay"], "bound: --timeout"),
        (vec!["forever.c", "--steps", "10000"], "bound: --steps"),
        (vec!["forever.c", "--timeout", "0.9", "--steps", "1000000000"], "bound: --budget"),
        (vec!["deep.c", "--call-depth", "20"], "bound: --call-depth"),
    ] {
        let (code, result) = report(&case, &arguments);
        assert_eq!(code, 0, "{arguments:?}");
        assert_eq!(reasons(&result), [reason], "{arguments:?}");
        assert_eq!(result["functions"][0]["exhaustive"], false, "{arguments:?}");
        let mut strict = arguments.clone();
        strict.push("--strict");
        assert_eq!(report(&case, &strict).0, 3, "{strict:?}");
    }
    // The interpreter confirms what the engine may explore.
    case.file("deeper.c", "static int d(int n) { return n ? 1 + d(n - 1) : 0; }\nint f(void) { return d(10500); }\n");
    let (_, result) = report(&case, &["deeper.c", "--function", "f", "--call-depth", "11000"]);
    assert_eq!(result["functions"][0]["exhaustive"], true, "{result}");
    assert_eq!(reasons(&result), [""; 0], "{result}");
}

#[test]
fn what_a_reason_names_lifts_it() {
    let case = Case::new();
    case.file("text.c", "#include <string.h>\nint f(const char *s) { if (strlen(s) == 5) return 1; return 0; }\n");
    case.file("third.c", "int f(int *p) { if (p[2] == 7) return 1; return 0; }\n");
    case.file("far.c", "int f(const char *s) { int n = 0; while (s[n]) n++; if (n == 100) return 1; return 0; }\n");
    case.file("nine.c", "int f(void) { static int k; k++; if (k == 9) return 1; return 0; }\n");
    case.file(
        "list.c",
        "struct n { struct n *next; int v; };\n\
         int f(struct n *p) { if (p && p->next && p->next->next && p->next->next->v == 3) return 1; return 0; }\n",
    );
    case.file(
        "args.c",
        "#include <string.h>\n\
         int main(int argc, char **argv) { if (argc == 3 && !strcmp(argv[2], \"-v\")) return 1; return 0; }\n",
    );
    case.file("loop.c", "int f(int n) { if (n > 9) return -1; int s = 0; while (n > 0) { s += n; n--; } return s; }\n");
    case.file("deep.c", "int f(int n) { if (n < 0 || n > 9) return -1; return n == 0 ? 0 : 1 + f(n - 1); }\n");
    case.file(
        "copy.c",
        "#include <string.h>\n\
         int f(unsigned n) { char a[40], b[40] = {0}; if (n > 40) return 2; memcpy(a, b, n); return a[n / 2]; }\n",
    );
    // At least six instructions an iteration depend on no input: nine times as many as the limit don't count.
    case.file(
        "fixed.c",
        "int f(int a) { unsigned s = 0; for (int i = 0; i < 9000; i++) s = s * 31 + i; return a > (int)s; }\n",
    );
    let all: &[(&[&str], &[&str], &[&str])] = &[
        (&["loop.c"], &["--loop-bound", "3"], &["--loop-bound", "10"]),
        (&["loop.c"], &["--depth", "4"], &["--depth", "12"]),
        (&["loop.c"], &["--max-paths", "5"], &["--max-paths", "11"]),
        (&["loop.c"], &["--steps", "20"], &["--steps", "600"]),
        (&["fixed.c"], &["--steps", "4000"], &["--steps", "12000"]),
        (&["deep.c"], &["--call-depth", "4"], &["--call-depth", "11"]),
        (&["copy.c"], &["--max-values", "3"], &["--max-values", "41"]),
        (&["list.c"], &["--max-objects", "2"], &["--max-objects", "3"]),
        (&["text.c", "-c", "branch"], &["--strings", "3"], &["--strings", "5"]),
        (&["third.c", "-c", "branch"], &["--grow", "1"], &["--len", "p=3"]),
        (&["far.c", "-c", "branch"], &[], &["--len", "s=101"]),
        (&["nine.c", "-c", "branch"], &[], &["--calls", "9"]),
        (&["args.c", "-c", "branch", "--entry", "main"], &[], &["--argv", "2"]),
    ];
    for (file, tight, lifted) in all {
        let named = |options: &[&str]| {
            let (_, result) = report(&case, &[file, options, &["--no-replay"]].concat());
            if !file.contains(&"-c") {
                return reasons(&result);
            }
            let objectives = result["objectives"].as_array().expect("objectives").iter();
            let unknown = objectives.filter(|objective| objective["status"] == "unknown");
            unknown.map(|objective| objective["why"].as_str().expect("a reason").to_string()).collect()
        };
        let why = named(tight);
        assert!(!why.is_empty() && why.iter().all(|why| why.contains(lifted[0])), "{file:?} {tight:?}: {why:?}");
        assert_eq!(named(lifted), Vec::<String>::new(), "{file:?} {lifted:?}");
    }
}

#[test]
fn at_most_k_iterations_of_each_loop_entry_are_complete_by_themselves() {
    let case = Case::new();
    case.file("loop.c", "int f(int n) { int s = 0; while (n > 0) { s += n; n--; } return s; }\n");
    case.file("again.c", "int f(int n) { do { n--; } while (n > 0); return n; }\n");
    case.file(
        "nest.c",
        "int f(int n, int m) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s++; return s; }",
    );
    for (file, criterion, tests) in [
        ("loop.c", "paths:0", 1),
        ("loop.c", "paths:1", 2),
        ("loop.c", "paths:3", 4),
        ("again.c", "paths:1", 1),
        ("again.c", "paths:2", 2),
        // n and m don't change: m iterations at every entry of the inner loop.
        ("nest.c", "paths:2", 7),
    ] {
        let (code, result) = report(&case, &[file, "-c", criterion]);
        assert_eq!(code, 0, "{file} {criterion}");
        assert_eq!(result["functions"][0]["tests"], tests, "{file} {criterion}");
        assert_eq!(result["functions"][0]["exhaustive"], true, "{file} {criterion}");
        assert_eq!(result["functions"][0]["criterion"], criterion);
    }
}

#[test]
fn a_very_long_path_is_no_problem() {
    let case = Case::new();
    case.file(
        "long.c",
        "int f(int n) { int s = 0; for (int i = 0; i < 150000; i++) if (i & 1) s ^= i; if (n > 3) return s; return 0; }\n",
    );
    let (code, result) = report(&case, &["long.c", "--no-replay"]);
    assert_eq!(
        (code, &result["functions"][0]["tests"], &result["functions"][0]["exhaustive"]),
        (0, &2.into(), &true.into())
    );
}

#[test]
fn an_unsupported_construct_poisons_only_the_paths_that_execute_it() {
    let case = Case::new();
    case.file("half.c", "int f(int x) { if (x > 10) { __float128 d = x; return d == 0.5; } return x < 0 ? -1 : 1; }\n");
    let (code, result) = report(&case, &["half.c"]);
    assert_eq!(code, 0);
    assert_eq!(result["functions"][0]["tests"], 2);
    assert_eq!(reasons(&result), ["unsupported: __float128"]);
    let entry = &result["functions"][0]["incomplete"][0];
    assert_eq!((entry["file"].as_str(), entry["line"].as_u64()), (Some("half.c"), Some(1)));
    let text = case.touchstone(&["generate", "half.c", "-c", "paths"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("unsupported: __float128 at half.c:1:"), "{text}");
}

#[test]
fn a_program_with_input_that_is_not_modelled_says_so() {
    let case = Case::new();
    case.file("main.c", "#include <stdio.h>\nint main(void) { int c = getchar(); return c == 'x' ? 1 : 0; }\n");
    let (code, result) = report(&case, &["main.c", "--entry", "main"]);
    assert_eq!(code, 0);
    assert_eq!(result["functions"][0]["tests"], 0);
    assert!(reasons(&result)[0].contains("standard input"), "{:?}", reasons(&result));
}

#[test]
fn what_only_arguments_of_a_program_reach_is_not_infeasible() {
    let case = Case::new();
    case.file("main.c", "int main(int argc, char **argv) { if (argc > 1) return 7; return argv[0] == 0; }\n");
    let (code, result) = report(&case, &["main.c", "--entry", "main", "-c", "mcdc"]);
    assert_eq!(code, 0);
    assert!(reasons(&result)[0].contains("arguments of the program"), "{:?}", reasons(&result));
    assert_eq!(result["functions"][0]["objectives"]["infeasible"], 0);
    assert_eq!(result["functions"][0]["exhaustive"], false);
}

#[test]
fn a_second_run_on_the_same_output_directory_is_refused() {
    let case = Case::new();
    case.file("slow.c", "int f(int n) { int s = 0; while (n > 0) { s += n; n--; } return s; }\n");
    let mut first = case
        .command(&["generate", "slow.c", "-c", "paths", "--timeout", "20", "-q"])
        .stdout(Stdio::null())
        .spawn()
        .expect("runs");
    wait_for(&case.folder.path().join("touchstone-out/test_f.c"));
    check_message(&case, &["generate", "slow.c"], 1, &["another touchstone", "-o"]);
    first.kill().expect("killed");
    first.wait().expect("ended");
}

#[test]
fn killing_a_run_leaves_every_finished_test_usable() {
    let case = Case::new();
    case.file("slow.c", "int f(int n) { int s = 0; while (n > 0) { s += n; n--; } return s; }\n");
    let mut run = case
        .command(&["generate", "slow.c", "-c", "paths", "--timeout", "30", "-q"])
        .stdout(Stdio::null())
        .spawn()
        .expect("runs");
    let file = case.folder.path().join("touchstone-out/test_f.c");
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(20) {
        let tests = std::fs::read_to_string(&file).unwrap_or_default().matches("\nTEST(").count();
        if tests >= 5 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // SIGKILL: nothing of ours runs any more.
    run.kill().expect("killed");
    run.wait().expect("ended");
    let tests = std::fs::read_to_string(&file).expect("the tests").matches("\nTEST(").count();
    assert!(tests >= 5, "{tests} tests");
    let out = case.folder.path().join("touchstone-out");
    let compiled = Command::new("cc")
        .current_dir(&out)
        .args(["-fwrapv", "-fno-strict-aliasing", "-o", "suite", "test_f.c", "touchstone_test.c"])
        .status()
        .expect("cc runs");
    assert!(compiled.success(), "what a killed run left compiles");
    assert!(Command::new(out.join("suite")).stdout(Stdio::null()).status().expect("runs").success());
}

#[test]
fn ctrl_c_writes_what_there_is_and_exits_with_130() {
    let case = Case::new();
    case.file("slow.c", "int f(int n) { int s = 0; while (n > 0) { s += n; n--; } return s; }\n");
    let run = case
        .command(&["generate", "slow.c", "-c", "paths", "--timeout", "60", "-q", "--no-replay", "--format", "json"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("runs");
    wait_for(&case.folder.path().join("touchstone-out/test_f.c"));
    std::thread::sleep(Duration::from_millis(300));
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().expect("kill").success());
    let output = run.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130));
    let result: Value = serde_json::from_slice(&output.stdout).expect("a whole report");
    assert_eq!(reasons(&result), ["bound: interrupted"]);
    assert!(result["functions"][0]["tests"].as_u64() > Some(0));
}

fn wait_for(path: &Path) {
    let started = Instant::now();
    while !path.exists() {
        assert!(started.elapsed() < Duration::from_secs(20), "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(10));
    }
}
