//! Limits hold for every object and every shape of code: `--memory`, `--timeout`, and the stack that we run on.

use crate::trial::room::{Room, rounds};
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
    crate::trial::room::no_bug(&words, &output);
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

/// The most memory that a run with `--memory 200` had, in megabytes, and what it says; 0 where the system does not tell.
fn peak(name: &str, source: &str, options: &[&str]) -> (u64, String) {
    let room = Room::new();
    room.file("large.c", source);
    let words = ["generate", "large.c", "-f", "f", "-q", "--no-replay", "--timeout", "3", "--memory", "200", "-j", "1"];
    let words: Vec<&str> = words.iter().chain(options).copied().collect();
    let mut child = room.command(&words).stdout(std::process::Stdio::piped()).spawn().expect("it runs");
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().expect("a child of ours").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak =
            text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok());
        most = most.max(peak.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().expect("a child of ours");
    assert!(output.status.success(), "{name}");
    (most >> 10, String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn memory_is_bounded_whatever_is_done_to_large_objects() {
    const HEAD: &str = "#include <stdlib.h>\n#include <string.h>\nchar b[1 << 20], c[1 << 20];\n";
    let long = ["--len", "p=1048576"];
    let both = ["--len", "p=1048576", "--len", "q=1048576"];
    let shapes: [(&str, &str, &[&str]); 8] = [
        (
            "set",
            "int f(unsigned n, int x) { if (n > sizeof b) return 0; memset(b, x, n); return b[1000] == 7 ? 1 : 2; }",
            &[],
        ),
        (
            "copied",
            "int f(unsigned n, int x) { if (n > sizeof b) return 0; b[5] = x; memcpy(c, b, n); return c[5] == 7 ? 1 : 2; }",
            &[],
        ),
        (
            "moved",
            "int f(unsigned n, int x) { if (n > 1 << 19) return 0; b[5] = x; memmove(b + 9, b, n); return b[14] == 7 ? 1 : 2; }",
            &[],
        ),
        (
            "a local",
            "int f(unsigned n) { if (n == 0 || n > 1 << 20) return 0; char a[n]; memset(a, 1, n); a[n / 2] = 3; return a[n - 1] == 3 ? 1 : 2; }",
            &[],
        ),
        (
            "cleared",
            "int f(unsigned n, unsigned m) { int *a = calloc(n, m); if (!a) return 1; if (n > 5) { free(a); return 2; } free(a); return 3; }",
            &[],
        ),
        (
            "compared",
            "int f(char *p, char *q) { int r = memcmp(p, q, 1 << 20); if (r < 0) return 1; return r > 0 ? 2 : 3; }",
            &both,
        ),
        ("a text", "int f(char *p) { size_t n = strlen(p); if (n > 1000) return 1; return n == 5 ? 2 : 3; }", &long),
        (
            "on many paths",
            "int f(unsigned x) { for (int i = 0; i < 32; i++) if (x >> i & 1) b[i * 1000]++; return b[5000] == 1 ? 1 : 3; }",
            &[],
        ),
    ];
    for (name, body, options) in shapes {
        let (most, said) = peak(name, &format!("{HEAD}{body}\n"), options);
        // The limit is 200, and as much again may be allocated between two checks.
        assert!(most < 400, "{name} took {most} MB: {said}");
    }
}

#[test]
fn loops_that_allocate_cover_what_memory_allows() {
    const HEAD: &str = "#include <stdlib.h>\nstruct n { struct n *next; int v; char room[1000]; };\n";
    let each = |step: &str| {
        format!(
            "{HEAD}int f(unsigned n) {{ char *q = 0; struct n *h = 0; int s = 0; for (unsigned i = 0; i < n; i++) {{ {step} }} if (s == 6) return 1; return 0; }}\n"
        )
    };
    for (name, step) in [
        ("made", "q = malloc(100000); if (!q) return -1; q[0] = (char)i; s += q[0];"),
        ("linked", "struct n *e = malloc(sizeof *e); if (!e) return -1; e->next = h; h = e; s += (int)i;"),
        ("grown", "char *m = realloc(q, (i + 1) * 1000); if (!m) return -1; q = m; q[i] = (char)i; s += q[i];"),
    ] {
        let (most, said) = peak(name, &each(step), &[]);
        assert!(most < 320, "{name} took {most} MB");
        let covered = said.lines().find_map(|line| line.strip_prefix("f ")?.split_whitespace().nth(1)?.chars().next());
        assert!(covered >= Some('4'), "{name}: {said}");
    }
}

#[test]
fn the_beginning_of_a_large_input_is_an_input() {
    let said = check_limits("a table", "int t[100000]; int f(int x) { if (t[10] == x + 5) return 1; return 0; }", &[]);
    assert!(said.contains("2/2"), "{said}");
}

#[test]
fn wide_and_deep_code_keeps_the_limits() {
    let many = rounds(150, 2000) as usize;
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
fn a_clang_that_never_ends_is_ended() {
    let room = Room::new();
    room.file("f.c", "int f(int x) { return x > 3; }\n");
    // Silent, as one that works; its child would go on for ever.
    let clang = room.file("clang", "#!/bin/sh\nsleep 200\n");
    std::fs::set_permissions(&clang, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a file of ours");
    let words = ["objectives", "f.c", "--timeout", "0.001"];
    let started = Instant::now();
    let output = room.command(&words).env("TOUCHSTONE_CLANG", &clang).output().expect("it runs");
    crate::trial::room::no_bug(&words, &output);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("clang took too long to read `f.c`") && said.contains("--timeout"), "{said}");
    assert!(started.elapsed() < Duration::from_secs(90), "{:?}", started.elapsed());
}

#[test]
fn more_mutants_than_can_be_listed_are_unknown_not_forgotten() {
    // More than 65,536 mutants take a debug build fifteen seconds.
    if !crate::support::long() {
        return;
    }
    let many = 260;
    let globals: String = (0..many).map(|i| format!("int g{i};\n")).collect();
    let sums: String = (0..many).map(|i| format!("s += g{i};\n")).collect();
    let source = format!("{globals}int f(int x) {{ int s = x;\n{sums}return s; }}\n");
    let said = check_limits("variables in each other's place", &source, &["-c", "wm", "--mutators", "VRP", "-v"]);
    assert!(said.contains("more than 65536 mutants in the function"), "{said}");
    assert!(said.contains("every mutant of s += g259"), "{said}");
}

#[test]
fn expressions_that_are_too_deep_for_criteria_about_expressions_are_unknown_not_forgotten() {
    let check = |name: &str, body: &str, expected: &str| {
        let source = format!("int a[9]; int f(int x, int y) {{ {body} }}\n");
        let said = check_limits(name, &source, &["-c", "wm,rte", "-v"]);
        assert!(said.contains("more than 200 levels of nesting"), "{name}: {said}");
        assert!(said.contains(expected), "{name}: `{expected}` is not in {said}");
    };
    let brackets = format!("{}x{}", "(1 + ".repeat(250), ")".repeat(250));
    check("a value", &format!("return {brackets};"), "every mutant of ");
    check("errors", &format!("return {brackets};"), "every error in ");
    check("a condition", &format!("if ({brackets} > 3) return 1; return 0;"), "every mutant of ");
    check("a place", &format!("a[{brackets}] = y; return 0;"), "every mutant of ");
    let many: Vec<String> = (0..250).map(|i| format!("x == {}", 3 * i)).collect();
    check("a decision", &format!("if ({}) return 1; return 0;", many.join(" || ")), "every mutant of ");
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
