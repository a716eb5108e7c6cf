//! Compile flags that change the meaning of a program are honoured, refused by name, or named as assumptions.

use serde_json::Value;
use std::process::{Command, Output};

/// Runs `prove` on a program's function `f` with compile flags.
fn prove(text: &str, format: &str, flags: &[&str]) -> Output {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("flags.c"), text).expect("a writable scratch directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(["prove", "-c", "decision", "--timeout", "2", "-q", "-f", "f", "--format", format, "flags.c", "--"]);
    command.args(flags).current_dir(scratch.path()).output().expect("touchstone runs")
}

/// Returns the status of an objective.
fn status(text: &str, objective: &str, flags: &[&str]) -> String {
    let output = prove(text, "json", flags);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let all = report["objectives"].as_array().expect("objectives");
    let found = all.iter().find(|one| one["text"] == objective);
    found.unwrap_or_else(|| panic!("{objective:?} in {all:?}"))["status"].as_str().expect("a status").to_string()
}

#[test]
fn flags_under_which_verdicts_would_be_wrong_are_refused_by_name() {
    let text = "int f(int n) { if (n && sizeof(void *) == 4) return 1; return 0; }";
    for flags in
        [&["-m32"][..], &["--target=x86_64-linux-gnux32"], &["-target", "arm-none-eabi"], &["-funsigned-bitfields"]]
    {
        let output = prove(text, "text", flags);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && message.contains(&format!("`{}`", flags.join(" "))), "{message}");
    }
}

#[test]
fn sizes_follow_the_flags_of_the_compiler() {
    let check = |ty: &str, size: u32, flag: &str| {
        let text = format!(
            "enum e {{ A, B }}; struct s {{ char c; int i; }};\nint f(int n) {{ return n && sizeof({ty}) == {size} ? 1 : 0; }}"
        );
        let objective = format!("n && sizeof({ty}) == {size} is true");
        assert_eq!(status(&text, &objective, &[flag]), "covered", "{flag}");
        assert_eq!(status(&text, &objective, &[]), "infeasible", "without {flag}");
    };
    check("enum e", 1, "-fshort-enums");
    check("struct s", 5, "-fpack-struct");
    check("struct s", 6, "-fpack-struct=2");
    let text = "int f(char c) { return c > 127 ? 1 : 0; }";
    assert_eq!(status(text, "c > 127 is true", &["-fno-signed-char"]), "covered");
    assert_eq!(status(text, "c > 127 is true", &["-funsigned-char", "-fsigned-char"]), "infeasible");
    let text = "struct __attribute__((ms_struct)) s { char a : 4; int b : 4; };\n\
                int f(int n) { return n && sizeof(struct s) == 8 ? 1 : 0; }";
    assert_ne!(status(text, "n && sizeof(struct s) == 8 is true", &[]), "infeasible");
}

#[test]
fn without_strict_aliasing_types_exclude_no_overlap() {
    let text = "int f(int *p, float *q) { *p = 1; *q = 2.0f; int k = *p; if (k == 7) return 1; return 0; }";
    assert_eq!(status(text, "k == 7 is true", &["-fno-strict-aliasing"]), "unknown");
    assert_eq!(status(text, "k == 7 is true", &[]), "infeasible");
}

#[test]
fn what_only_the_build_decides_is_named_as_an_assumption() {
    let text = "extern inline int h(void) { return 1; }\n\
                int f(int n) { float x = n * 0.1f; if (h() == 2) return 1; return x != 0; }";
    let report = prove(text, "text", &["-fgnu89-inline", "-mfma"]).stdout;
    let report = String::from_utf8_lossy(&report).into_owned();
    assert!(report.contains("calls of `h` use the inline definition") && report.contains("`-mfma` allows"), "{report}");
    let text = "inline int g(int n) { return 1; } int f(int n) { if (g(n) == 2) return 1; return 0; }";
    let output = prove(text, "text", &["-ffast-math", "-fPIC", "-march=x86-64"]);
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(report.contains("`-ffast-math` does not change what the program computes (compiler)"), "{report}");
    assert!(report.contains("calls of `g` use the inline definition"), "{report}");
    assert!(!report.contains("-fPIC") && !report.contains("-march"), "{report}");
}
