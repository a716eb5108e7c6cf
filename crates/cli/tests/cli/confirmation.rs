//! Coverage is what probes in the real program saw, and a replay that contradicts the model withdraws its proofs. The
//! compiler in these tests is a script that defines a macro, so that the real program is another one than the analysed.
//! The JVM is a script that puts another class on the class path.

use crate::java_run::jdks;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Generates tests for `a.c`, compiled with the macro `REAL` as the replay's compiler defines it, and returns the
/// report.
fn report(text: &str, real: &str, criteria: &str) -> Value {
    report_on(&[("a.c", text)], real, criteria)
}

fn report_on(files: &[(&str, &str)], real: &str, criteria: &str) -> Value {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let path = |name: &str| scratch.path().join(name);
    for (name, text) in files {
        std::fs::write(path(name), text).expect("writable");
    }
    let compiler = path("cc");
    std::fs::write(&compiler, format!("#!/bin/sh\nexec gcc {real} \"$@\"\n")).expect("writable");
    make_executable(&compiler);
    let output = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["generate", "-c", criteria, "--format", "json", "-q", "-o", "out"])
        .args(files.iter().map(|(name, _)| name))
        .env("CC", &compiler)
        .current_dir(scratch.path())
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
}

/// Returns the status and the reason of each objective whose text contains `text`.
fn verdicts(report: &Value, text: &str) -> Vec<(String, String)> {
    let objectives = report["objectives"].as_array().expect("objectives").iter();
    let asked = objectives.filter(|objective| objective["text"].as_str().is_some_and(|own| own.contains(text)));
    let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
    asked.map(|objective| (word(&objective["status"]), word(&objective["reason"]))).collect()
}

const LIMIT: &str = "#ifndef LIMIT\n#define LIMIT 0\n#endif\n\
    int f(int x) { if (x > 2) { if (x < 3 + LIMIT) return 1; return 2; } return 0; }\n";

#[test]
fn a_replay_that_disagrees_withdraws_proofs() {
    let plain = report(LIMIT, "", "branch");
    assert_eq!(verdicts(&plain, "x < 3 + LIMIT is true"), [("infeasible".to_string(), "exhaustive".to_string())]);
    let other = report(LIMIT, "-DLIMIT=2147483000", "branch");
    assert_eq!(verdicts(&other, "x < 3 + LIMIT is true"), [("unknown".to_string(), "contradicted".to_string())]);
    assert_eq!(verdicts(&other, "x < 3 + LIMIT is false"), [("unknown".to_string(), "unconfirmed".to_string())]);
}

#[test]
fn a_test_that_passes_on_another_path_covers_nothing() {
    let text = "#ifndef SWAPPED\n#define SWAPPED 0\n#endif\n\
        int f(int x) { int r = 0; if ((x > 2) != SWAPPED) r = 0; return r; }\n";
    let plain = report(text, "", "branch");
    assert!(verdicts(&plain, "").iter().all(|(status, _)| status == "covered"), "{plain}");
    let other = report(text, "-DSWAPPED=1", "branch");
    let all = verdicts(&other, "");
    assert!(!all.is_empty() && all.iter().all(|(_, reason)| reason == "unconfirmed"), "{all:?}");
}

#[test]
fn private_functions_of_one_name_are_confirmed_in_their_own_files() {
    let a =
        "static int h(int x) { int y = x & 3; if (y > 5) return 1; return 0; }\nint fa(int x) { return h(x) + 1; }\n";
    let b = "#ifndef SWAPPED\n#define SWAPPED 0\n#endif\n\
        static int h(int x) { int y = x & 7; if ((y > 5) != SWAPPED) y = 0; return 0; }\nint fb(int x) { return h(x) + 2; }\n";
    let files = [("a.c", a), ("b.c", b)];
    let plain = report_on(&files, "", "branch");
    let covered = ("covered".to_string(), String::new());
    let proved = ("infeasible".to_string(), "exhaustive".to_string());
    assert_eq!(verdicts(&plain, "y > 5 is"), [proved, covered.clone()], "{plain:#}");
    assert_eq!(verdicts(&plain, "SWAPPED"), [covered.clone(), covered], "{plain:#}");
    let other = report_on(&files, "-DSWAPPED=1", "branch");
    assert!(verdicts(&other, "SWAPPED").iter().all(|(_, reason)| reason == "unconfirmed"), "{other:#}");
}

#[test]
fn a_test_of_another_function_withdraws_proofs_too() {
    // No test of `h` itself has a reason to pass 5.
    let text = "#ifndef MASK\n#define MASK 3\n#endif\n\
        static int h(int x) { int y = x & MASK; if (y == 5) y = 0; return 0; }\n\
        int f(int x) { if (x > 9) return h(5); return 1; }\n";
    let pair = |status: &str, reason: &str| (status.to_string(), reason.to_string());
    let plain = report(text, "", "branch");
    assert_eq!(verdicts(&plain, "y == 5 is true"), [pair("infeasible", "exhaustive")], "{plain:#}");
    let other = report(text, "-DMASK=7", "branch");
    assert_eq!(verdicts(&other, "y == 5 is true"), [pair("unknown", "contradicted")], "{other:#}");
}

/// Creates a JDK whose JVM finds classes in `real` before those of the class path when it runs tests, and that runs no
/// tests once there is a file `stop`.
fn jdk_with_other_classes(directory: &Path) -> PathBuf {
    let (real, _) = jdks().pop().expect("a JDK");
    let home = directory.join("jdk");
    std::fs::create_dir_all(home.join("bin")).expect("a directory");
    let entries = |directory: &Path| std::fs::read_dir(directory).expect("a directory").flatten().collect::<Vec<_>>();
    for entry in entries(&real).iter().filter(|entry| entry.file_name() != "bin") {
        std::os::unix::fs::symlink(entry.path(), home.join(entry.file_name())).expect("a link");
    }
    for entry in entries(&real.join("bin")).iter().filter(|entry| entry.file_name() != "java") {
        std::os::unix::fs::symlink(entry.path(), home.join("bin").join(entry.file_name())).expect("a link");
    }
    let (java, directory) = (real.join("bin/java").display().to_string(), directory.display());
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in\n*TouchstoneRunner*) test -e {directory}/stop && exit 1\n\
         exec {java} -Xbootclasspath/a:{directory}/real \"$@\";;\n*) exec {java} \"$@\";;\nesac\n"
    );
    std::fs::write(home.join("bin/java"), text).expect("writable");
    make_executable(&home.join("bin/java"));
    home
}

#[test]
fn a_java_test_that_passes_on_another_path_covers_nothing_and_withdraws_proofs() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let path = |name: &str| scratch.path().join(name);
    let lib = |limit: &str| format!("public class Lib {{ public static int limit() {{ return {limit}; }} }}\n");
    let class = "class A {\n\
        static int swapped(int x) { int r = 0; if ((x > 2) != (Lib.limit() > 0)) r = 0; return r; }\n\
        static int proved(int x) { if (x > 2 && Lib.limit() > 5) return 0; return 0; }\n\
        static int right(int x) { java.util.function.IntPredicate p = y -> y > 4; return half(x) && p.test(x) ? 1 : 0; }\n\
        private static boolean half(int x) { return x > 2; }\n}\n";
    std::fs::create_dir(path("real")).expect("a directory");
    std::fs::write(path("Lib.java"), lib("9")).expect("writable");
    let home = jdk_with_other_classes(scratch.path());
    let compiled = Command::new(home.join("bin/javac")).args(["-d", "real", "Lib.java"]).current_dir(&scratch).status();
    assert!(compiled.expect("javac runs").success());
    std::fs::write(path("Lib.java"), lib("0")).expect("writable");
    std::fs::write(path("A.java"), class).expect("writable");
    let generate = || -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_touchstone"))
            .args([
                "generate",
                "A.java",
                "Lib.java",
                "-f",
                "A",
                "-c",
                "condition",
                "--format",
                "json",
                "-q",
                "-o",
                "out",
            ])
            .args(["--cache", "cache"])
            .env("JAVA_HOME", &home)
            .current_dir(&scratch)
            .output()
            .expect("touchstone runs");
        let said = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    };
    let pair = |status: &str, reason: &str| (status.to_string(), reason.to_string());
    let check = |report: &Value| {
        let swapped = verdicts(report, "(Lib.limit() > 0)");
        assert_eq!(swapped, [pair("unknown", "unconfirmed"), pair("unknown", "unconfirmed")], "{report:#}");
        assert_eq!(verdicts(report, "Lib.limit() > 5 is true"), [pair("unknown", "contradicted")], "{report:#}");
        assert_eq!(verdicts(report, "Lib.limit() > 5 is false"), [pair("unknown", "unconfirmed")], "{report:#}");
        for text in ["x > 2 is", "p.test(x) is", "half(x) is"] {
            let covered = [pair("covered", ""), pair("covered", "")];
            assert_eq!(verdicts(report, text), covered, "{report:#}");
        }
    };
    check(&generate());
    // What was observed is part of the cached result.
    std::fs::write(path("stop"), "").expect("writable");
    check(&generate());
}
