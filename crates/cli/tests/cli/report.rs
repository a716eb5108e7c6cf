//! `touchstone report` and the report flags of `generate`: what is stored can be rendered again, thresholds and changed
//! lines do what they say, wrong exclusions stop a run before it begins.

use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str =
    "int sign(int x) {\n    if (x > 0)\n        return 1;\n    if (x < 0)\n        return -1;\n    return 0;\n}\n";

fn touchstone(dir: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(arguments.split_whitespace())
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .output()
        .expect("touchstone runs")
}

fn check(dir: &Path, arguments: &str, code: i32, stdout: &str, stderr: &str) {
    let output = touchstone(dir, arguments);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let what = format!("{arguments}\n--- stdout\n{out}\n--- stderr\n{err}");
    assert_eq!(output.status.code(), Some(code), "{what}");
    assert!(out.contains(stdout), "no `{stdout}`: {what}");
    assert!(err.contains(stderr), "no `{stderr}`: {what}");
}

fn folder(source: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("sign.c"), source).expect("writable");
    dir
}

#[test]
fn a_stored_campaign_is_rendered_as_the_run_itself_would() {
    let dir = folder(SOURCE);
    let files = |name: &str| {
        format!(
            "--html {name} --lcov {name}/l --cobertura {name}/c --sarif {name}/s --junit {name}/j --badge {name}/b --json {name}/document"
        )
    };
    check(dir.path(), &format!("generate sign.c -c stmt,branch,mcdc {}", files("one")), 0, "sign", "one/index.html");
    check(dir.path(), &format!("report {}", files("two")), 0, "files, lowest coverage first", "");
    for name in ["index.html", "f/sign.c.html", "d/sign.c-0.js", "tests.html", "l", "c", "s", "j", "b", "document"] {
        let read = |folder: &str| std::fs::read_to_string(dir.path().join(folder).join(name)).expect(name);
        assert_eq!(read("one"), read("two"), "{name}");
        assert!(!read("one").is_empty(), "{name}");
    }
    // The sources may be gone by now.
    std::fs::remove_file(dir.path().join("sign.c")).expect("removable");
    check(dir.path(), "report touchstone-out/campaign.json --html three", 0, "sign.c", "its page shows no source");
}

#[test]
fn a_threshold_decides_the_exit_code() {
    let dir = folder(SOURCE);
    check(dir.path(), "generate sign.c -c branch,mcdc --no-replay --fail-under mcdc=100,branch=100", 0, "", "");
    let less = "generate sign.c -c branch --no-replay --max-paths 1 --search dfs --fail-under branch=90";
    check(dir.path(), less, 2, "", "below threshold: branch is");
    check(dir.path(), "report --fail-under branch=90", 2, "not covered", "below 90%");
    check(dir.path(), "report --fail-under branch=10", 0, "", "");
    check(dir.path(), "report --fail-under wm=10", 1, "", "no wm objectives, only branch");
    check(dir.path(), "generate sign.c -c branch --fail-under mcdc=10", 1, "", "add it to -c branch");
    check(dir.path(), "report --fail-under branch=ten", 1, "", "not a percentage");
    check(dir.path(), "report nowhere", 1, "", "run touchstone generate, prove or measure first");
}

#[test]
fn exclusions_count_apart_and_wrong_ones_stop_the_run() {
    let dir = folder(&SOURCE.replace("return -1;", "return -1; /* touchstone: exclude (by review) */"));
    check(dir.path(), "generate sign.c -c stmt -q --no-replay", 0, "", "");
    check(dir.path(), "report", 0, "1  by review", "");
    check(dir.path(), "report", 0, "4/4", "");
    std::fs::write(dir.path().join("sign.c"), SOURCE.replace("return 0;", "return 0; // touchstone: exclude"))
        .expect("writable");
    check(dir.path(), "generate sign.c -c stmt", 1, "", "sign.c:6:15: an exclusion needs a reason");
}

#[test]
fn since_keeps_what_stands_on_changed_lines() {
    let dir = folder(SOURCE);
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let run =
            Command::new("git").args(identity).args(arguments).current_dir(dir.path()).output().expect("git runs");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "sign.c"]);
    git(&["commit", "-q", "-m", "first"]);
    std::fs::write(dir.path().join("sign.c"), SOURCE.replace("x < 0", "x < -1")).expect("writable");
    check(dir.path(), "generate sign.c -c stmt,branch -q --no-replay", 0, "", "");
    check(dir.path(), "report --changed-lines HEAD", 0, "branch         2/2", "");
    check(dir.path(), "report --changed-lines HEAD", 0, "stmt           1/1", "");
    check(dir.path(), "report --changed-lines no-such-revision", 1, "", "git diff failed");
    check(dir.path(), "report --changed-lines=--output=x", 1, "", "is not a revision");
}

#[test]
fn manual_pages_and_completions_are_printed() {
    let dir = folder(SOURCE);
    check(dir.path(), "man", 0, ".TH touchstone 1", "");
    check(dir.path(), "man pages", 0, "", "");
    assert!(dir.path().join("pages/touchstone-report.1").is_file());
    for shell in ["bash", "zsh", "fish"] {
        check(dir.path(), &format!("completions {shell}"), 0, "touchstone", "");
    }
}

#[test]
fn no_line_of_a_report_is_wider_than_the_terminal() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let scratch = tempfile::tempdir().expect("a folder");
    let run = |columns: &str, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.args(words).arg(if words[0] == "report" { "out" } else { "-oout" });
        let output = command.current_dir(scratch.path()).env("COLUMNS", columns).env("NO_COLOR", "1").output();
        String::from_utf8_lossy(&output.expect("touchstone runs").stdout).into_owned()
    };
    for (columns, width) in [("80", 80), ("50", 50)] {
        for name in ["tcas.c", "packet.c", "errors.c"] {
            let path = examples.join(name).display().to_string();
            let words = ["generate", &path, "-c", "mcdc,rte", "--no-replay", "--timeout", "2", "-v"];
            for text in [run(columns, &words), run(columns, &["report"])] {
                let wide = text.lines().find(|line| line.chars().count() > width);
                assert!(wide.is_none() && text.lines().count() > 5, "{columns}: {wide:?}\n{text}");
            }
        }
    }
}

#[test]
fn help_lists_the_criteria_of_the_registry() {
    for verb in ["generate", "prove", "measure"] {
        let output = Command::new(env!("CARGO_BIN_EXE_touchstone")).args([verb, "--help"]).output().expect("it runs");
        let help = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        let names: Vec<&str> = touchstone_criteria::REGISTRY.iter().map(|criterion| criterion.name()).collect();
        assert!(help.contains(&names.join(" ")), "{verb}: {help}");
    }
}
