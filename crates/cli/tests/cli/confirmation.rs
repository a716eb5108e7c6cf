//! Coverage is what probes in the real program saw, and a replay that contradicts the model withdraws its proofs. The
//! compiler in these tests is a script that defines a macro, so that the real program is another one than the analysed.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Generates tests for `a.c`, compiled with the macro `REAL` as the replay's compiler defines it, and returns the
/// report.
fn report(text: &str, real: &str, criteria: &str) -> Value {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let path = |name: &str| scratch.path().join(name);
    std::fs::write(path("a.c"), text).expect("writable");
    let compiler = path("cc");
    std::fs::write(&compiler, format!("#!/bin/sh\nexec gcc {real} \"$@\"\n")).expect("writable");
    make_executable(&compiler);
    let output = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["generate", "a.c", "-c", criteria, "--format", "json", "-q", "-o", "out"])
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
