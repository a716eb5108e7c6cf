//! Limits hold for every object and every shape of code: `--memory`, `--timeout`, and the stack that we run on.

use crate::room::{Room, rounds};
use std::time::{Duration, Instant};

/// Runs with a time limit of a second and 1,000 MB, and must end soon, with little more memory than that. Gives the report.
fn check_limits(name: &str, source: &str, options: &[&str]) -> String {
    let room = Room::new();
    room.file("large.c", source);
    let limits = ["generate", "large.c", "-q", "--no-replay", "--timeout", "1", "--memory", "1000", "-j", "1"];
    let own = limits.chunks(2).filter(|pair| !options.contains(&pair[0])).flatten();
    let words: Vec<&str> = own.chain(options).copied().collect();
    let started = Instant::now();
    // Twice what is allowed, beside the stacks, of which little is taken.
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(room.path()).env("NO_COLOR", "1").arg("-c").arg("ulimit -v 4500000; exec \"$0\" \"$@\"");
    let output = shell.arg(env!("CARGO_BIN_EXE_touchstone")).args(&words).output().expect("it runs");
    crate::room::no_bug(&words, &output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
    // Generous: other tests run at the same time.
    assert!(started.elapsed() < Duration::from_secs(60), "{name} took {:?}", started.elapsed());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn large_objects_keep_the_limits() {
    let check = |name: &str, source: &str, options: &[&str], word: &str| {
        let said = check_limits(name, source, options);
        assert!(said.contains(word), "{name}: `{word}` is not in {said}");
    };
    check(
        "a local",
        "int f(unsigned x) { char b[64UL << 20]; if (x >= sizeof b) return 0; b[x] = 1; return b[x] == 3; }",
        &[],
        "stack of 67108864 bytes",
    );
    check(
        "locals of a recursion",
        "int g(int n) { char b[1 << 20]; b[n] = 1; return n ? g(n - 1) + b[n] : b[0]; } int f(int x) { if (x < 3) return 0; return g(100) > 5; }",
        &["-f", "f"],
        "stack of",
    );
    check("a global", "char b[64UL << 20]; int f(void) { return b[0] == 3; }", &[], "global b of 67108864 bytes");
    check(
        "a global input",
        "char b[8UL << 20]; int f(int x) { if (x) return 2; if (b[0] == 3) return 1; return 0; }",
        &[],
        "large object",
    );
    check(
        "a length",
        "int f(char *p) { if (p[0] == 3) return 1; return 0; }",
        &["--len", "p=1000000000"],
        "input of 1000000000 bytes",
    );
    check(
        "an index",
        "#include <stdlib.h>\nint f(unsigned x) { char *b = calloc(4, 1 << 20); if (x >= 4 << 20) return 0; b[x] = 1; if (b[x ^ 1] == 3) return 1; return 2; }",
        &[],
        "index that depends on inputs into an object of 4194304 bytes",
    );
    check_limits(
        "a size that depends on inputs",
        "#include <stdlib.h>\n#include <string.h>\nint f(size_t n) { char *b = malloc(n); memset(b, 1, n); if (n > 5 && b[5] == 1) return 1; return 0; }",
        &[],
    );
}

#[test]
fn objects_for_which_there_is_no_memory_are_not_begun() {
    let check = |name: &str, source: &str, word: &str| {
        let said = check_limits(name, source, &["--memory", "200", "-f", "f"]);
        assert!(said.contains(word), "{name}: `{word}` is not in {said}");
    };
    let globals: String = (0..30).map(|i| format!("char b{i}[4UL << 20] = {{1}};\n")).collect();
    let sum: Vec<String> = (0..30).map(|i| format!("b{i}[x & 7]")).collect();
    let reads = format!("{globals} int f(int x) {{ if ({} == 3) return 1; return 0; }}", sum.join(" + "));
    check("many globals", &reads, "bound: --memory");
    let heap = "#include <stdlib.h>\nint f(unsigned x) { char *b = 0; for (int i = 0; i < 100; i++) { b = CALL; if (!b) return 0; b[i] = x; } if (b[99] == 3) return 1; return 2; }";
    for call in ["malloc(4UL << 20)", "calloc(1, 4UL << 20)"] {
        check(call, &heap.replace("CALL", call), "bound: --memory");
    }
    check(
        "a structure",
        "struct s { char n[32 << 20]; }; int f(struct s a) { if (a.n[0] == 6) return 1; return 2; }",
        "input of 33554432 bytes",
    );
}

#[test]
fn the_beginning_of_a_large_input_is_an_input() {
    let said = check_limits("a table", "int t[100000]; int f(int x) { if (t[10] == x + 5) return 1; return 0; }", &[]);
    assert!(said.contains("2/2"), "{said}");
}

#[test]
fn wide_and_deep_code_keeps_the_limits() {
    let many = rounds(300, 2000) as usize;
    let arms = |many: usize| (0..many).map(|i| format!("if (x == {}) return {i};\nelse ", 7 * i)).collect::<String>();
    check_limits("else-if", &format!("int f(int x) {{ {} return -1; }}", arms(many)), &[]);
    let choices: String = (0..many).map(|i| format!("x == {i} ? {i} : ")).collect();
    check_limits("choices", &format!("int f(int x) {{ return {choices} -1; }}"), &[]);
    for op in ["||", "&&"] {
        let conditions: Vec<String> = (0..many).map(|i| format!("x == {}", 3 * i)).collect();
        check_limits(op, &format!("int f(int x) {{ if ({}) return 1; return 0; }}", conditions.join(op)), &[]);
    }
    let deep = format!("int f(int x) {{ return {}x{}; }}", "(1 + ".repeat(many), ")".repeat(many));
    check_limits("brackets", &deep, &["-c", "branch"]);
}

#[test]
fn more_mutants_than_can_be_listed_are_unknown_not_forgotten() {
    let many = 260;
    let globals: String = (0..many).map(|i| format!("int g{i};\n")).collect();
    let sums: String = (0..many).map(|i| format!("s += g{i};\n")).collect();
    let source = format!("{globals}int f(int x) {{ int s = x;\n{sums}return s; }}\n");
    let said = check_limits("variables in each other's place", &source, &["-c", "wm", "--mutators", "VRP"]);
    assert!(said.contains("more than 65536 mutants in the function"), "{said}");
    assert!(said.contains("every mutant of s += g259"), "{said}");
}

#[test]
fn numbers_of_options_are_taken_or_refused() {
    let room = Room::new();
    room.file("f.c", "int f(int x) { return x > 3 ? 1 : 0; }\n");
    let huge = u64::MAX.to_string();
    let taken = [
        ["--timeout", "1e30"],
        ["--timeout", "0"],
        ["--solver-timeout", "1e300"],
        ["--memory", &huge],
        ["--steps", &huge],
    ];
    for option in taken.into_iter().chain([["--max-paths", &huge], ["--call-depth", &huge], ["--max-values", &huge]]) {
        let words = [["generate", "f.c"], ["-q", "--no-replay"], option].concat();
        assert!(room.touchstone(&words).status.success(), "{words:?}");
    }
    for option in
        [["--timeout", "nan"], ["--timeout", "inf"], ["--timeout=-1", "-q"], ["--memory=-1", "-q"], ["--jobs", "0"]]
    {
        let words = [["generate", "f.c"], option].concat();
        let refused = room.touchstone(&words);
        assert_eq!(refused.status.code(), Some(1), "{words:?}");
        assert!(!refused.stderr.is_empty());
    }
}
