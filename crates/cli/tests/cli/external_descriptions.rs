//! External functions that a file describes (`--world`): the stubs of tests do exactly that, verdicts name it as an
//! assumption, and errors in the file are reported. The judge is the same function written in C, with another one that
//! chooses what the description leaves open.

use crate::support::long;
use crate::support::rng::Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

fn touchstone(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(folder).args(words).args(["--cache", "off"]).output().expect("touchstone runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const DEVICE: &str = r#"#include <unistd.h>
#include <errno.h>
struct place { int x, y; };
int sensor(int channel, int *out);
void locate(struct place *p, int mode);
int mode_now;
int *made(int n);

int pump(int channel) {
    int value;
    int ok = sensor(channel, &value);
    if (ok < 0) return -1;
    if (value > 1000) return 2;
    if (value < 0) return 3;
    if (ok > 1) return 4;
    return 0;
}

int fill(int fd) {
    char buf[4] = {0};
    long n = read(fd, buf, sizeof buf);
    if (n < 0) return errno == EINTR ? 1 : 2;
    if (n > 4) return 3;
    if (n == 2 && buf[1] == 'x') return 4;
    return 5;
}

int has(int n) {
    int *p = made(n);
    return p ? 1 : 0;
}

int find(int mode) {
    struct place p = {7, 8};
    locate(&p, mode);
    locate(&p, 0);
    if (p.y != 8) return 1;
    if (p.x == 7) return 2;
    if (mode_now == 3) return 4;
    return 3;
}
"#;

const WORLD: &str = "# what is below us
sensor(channel, out)
    when channel < 0    returns -1
    when channel >= 0   returns 0 .. 1   writes *out = 0 .. 1023

read(fd, buf, count)
    when fd < 0    returns -1   writes errno = EBADF
    when fd >= 0   returns -1   writes errno = EINTR
                   returns 0 .. count
                   writes buf[0 .. result]

made(n)
    when n > 0    returns any
    when n <= 0   returns NULL

locate(p, mode)
    when mode == 0   writes p->x = p->x
    when mode == 9   fails
    otherwise        writes p->x = p->x + mode   writes mode_now = 3
";

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

#[test]
fn stubs_do_what_is_said_and_nothing_else() {
    let toml = "world = [\"device.world\"]\n";
    let folder = folder(&[("a.c", DEVICE), ("device.world", WORLD), ("touchstone.toml", toml)]);
    let output = touchstone(folder.path(), &["generate", "a.c", "-c", "branch", "-o", "out", "--format", "json", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let infeasible: Vec<String> = report["objectives"]
        .as_array()
        .expect("objectives")
        .iter()
        .filter(|objective| objective["status"] != "covered")
        .map(|objective| {
            format!(
                "{} {}",
                objective["status"].as_str().unwrap_or_default(),
                objective["text"].as_str().unwrap_or_default()
            )
        })
        .collect();
    let expected = [
        "infeasible value < 0 is true",
        "infeasible ok > 1 is true",
        "infeasible n > 4 is true",
        "infeasible p.y != 8 is true",
        "infeasible mode_now == 3 is false",
    ];
    assert_eq!(infeasible, expected, "{report:#}");
    assert!(report["tests"].as_array().expect("tests").iter().all(|test| test["replay"] == "agreed"), "{report:#}");
    let rests = report["functions"][0]["assumptions"].to_string();
    assert!(rests.contains("`sensor` behaves as described, without other side effects"), "{rests}");
    let tests = std::fs::read_to_string(folder.path().join("out/test_fill.c")).expect("tests");
    for line in [
        "RETURNS(ssize_t, read, -1);\n    SETS_ERRNO(read, 9); /* EBADF */",
        "WRITES(short, read, __buf, 30720);",
        "SETS_ERRNO(read, 4); /* EINTR */",
    ] {
        assert!(tests.contains(line), "{line} in\n{tests}");
    }
    let tests = std::fs::read_to_string(folder.path().join("out/test_find.c")).expect("tests");
    assert!(tests.contains("CHANGES(locate, mode_now, 3);\n    WRITES(struct place, locate, p, "), "{tests}");
}

#[test]
fn what_a_driver_promises_rules_out_what_only_its_caller_fears() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/firmware");
    let out = tempfile::tempdir().expect("a directory");
    let out = out.path().to_str().expect("a path");
    let files = ["src/can.c", "src/motor.c", "src/pid.c"];
    let words = ["-f", "can_poll", "-f", "can_report", "-c", "branch", "-o", out, "--format", "json", "-q"];
    let run = |more: &[&str]| {
        let all = [&["generate"], &files[..], &words[..], more].concat();
        let output = touchstone(&example, &all);
        assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let infeasible = |report: &Value| {
        let all = report["objectives"].as_array().expect("objectives").clone();
        assert!(all.iter().all(|objective| objective["status"] != "unknown"), "{report:#}");
        all.into_iter()
            .filter(|objective| objective["status"] == "infeasible")
            .map(|objective| objective["text"].clone())
            .collect::<Vec<Value>>()
    };
    assert_eq!(infeasible(&run(&[])), Vec::<Value>::new());
    assert_eq!(infeasible(&run(&["--world", "hal.world"])), ["length > sizeof data is true"]);
}

#[test]
fn a_call_that_fails_ends_the_program_in_the_test_as_well() {
    let world = "locate(p, mode)\n  when mode == 9 fails\n  otherwise writes p->x = mode\n";
    let folder = folder(&[("a.c", DEVICE), ("w", world)]);
    let words = ["generate", "a.c", "-f", "find", "-c", "paths", "--world", "w", "-o", "out"];
    let output = touchstone(folder.path(), &words);
    let said = text(&output.stdout) + &text(&output.stderr);
    let tests = std::fs::read_to_string(folder.path().join("out/test_find.c")).expect("tests");
    assert!(tests.contains("FAILS(locate);"), "{tests}\n{said}");
    assert!(!said.contains("disagree"), "{said}");
}

#[test]
fn what_is_wrong_is_named_where_it_stands() {
    let cases = [
        (
            "sensor(c, out)\n  when c < 0 returns -1\n  when c > 0 returns 0 .. 1\n",
            "w:2:1: there is no case for a call of `sensor` with c = 0, out = null\n",
        ),
        (
            "sensor(c, out)\n  when c < 0 returns -1\n  when c <= 0 returns -1 .. 1\n  otherwise returns 0\n",
            "w:3:1: two cases of `sensor`, at lines 2 and 3, are for c = -1, out = null, result = -1\n",
        ),
        ("sensor(c, out)\n  returns chanel\n", "w:2:11: error: use of undeclared identifier 'chanel'"),
        ("sensor(c)\n  returns 0\n", "w:1:1: `sensor` has 2 parameters, not 1\n"),
        ("sensor(result, out)\n  returns 0\n", "w:1:1: a parameter is called `result`\n"),
        ("locate(p, mode)\n  returns 0\n", "w:2:11: `locate` returns nothing\n"),
        ("locate(p, mode)\n  throws Trouble\n", "w:2:10: functions of C throw nothing\n"),
        (
            "sensor(c, out)\n  returns 0 writes out->next->x = 1\n",
            "w:2:20: `out->next->x` is not a part of the pointee of a parameter\n",
        ),
        (
            "sensor(c, out)\n  returns 0 writes out[0 .. 1] writes *out = 1\n",
            "w:2:1: anything is left there, and something else as well\n",
        ),
        (
            "sensor(c, out)\n  returns 0\nsensor(c, out)\n  returns 1\n",
            "w:3:1: `sensor` was described before, at w:1\n",
        ),
        ("  returns 0\n", "w:1:1: a case of no function\n"),
        (
            "sensor(c, out)\n  when *out > 0 returns 1\n  otherwise returns 0\n",
            "w:2:1: the description of `sensor` fails for c = 0, out = null",
        ),
        (
            "made(n)\n  returns n > 0 ? &mode_now : 0\n",
            "w:2:11: `made` returns a pointer: a description can only return null\n",
        ),
    ];
    let folder = folder(&[("a.c", DEVICE)]);
    for (world, expected) in cases {
        std::fs::write(folder.path().join("w"), world).expect("a file");
        let output = touchstone(folder.path(), &["generate", "a.c", "-f", "pump", "--world", "w", "-o", "out"]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{world}\n{said}");
        assert!(said.contains(expected), "{world}\n{said}");
    }
    std::fs::write(folder.path().join("w"), "senser(c)\n  fails\npump(c)\n  returns 0\n").expect("a file");
    let output = touchstone(folder.path(), &["generate", "a.c", "-f", "fill", "--world", "w", "-o", "out"]);
    let said = text(&output.stderr);
    assert!(
        said.contains(
            "w:1: the description of `senser` is ignored: the program does not call it; did you mean `sensor`?"
        ),
        "{said}"
    );
    assert!(said.contains("w:3: the description of `pump` is ignored: the program defines it"), "{said}");
    let output = touchstone(folder.path(), &["generate", "a.c", "--world", "none", "-o", "out"]);
    assert!(text(&output.stderr).contains("can't read none"), "{}", text(&output.stderr));
}

#[test]
fn what_there_was_no_time_to_check_is_told() {
    let folder = folder(&[
        (
            "a.c",
            "unsigned long mix(unsigned long a, unsigned long b); int f(unsigned long x) { if (mix(x, 3) == 7) return 1; return 0; }\n",
        ),
        (
            "a.world",
            "mix(a, b)
    when a > 1 && a < b && b < 4294967296 && a * b + a == 1000000016000000063   returns 1
    when a == 1000000007 && b != 1000000008   returns 2
    when a != 1000000007   returns 7
",
        ),
    ]);
    let said = touchstone(folder.path(), &["generate", "a.c", "--world", "a.world", "-c", "branch", "--budget", "0.3"]);
    assert!(
        text(&said.stderr).contains("a.world:1: no time to check that every call of `mix` has one case"),
        "{said:?}"
    );
}

/// The callers, what is said of `dev`, and `dev` as C.
fn random_pair(seed: u64) -> (String, String, String) {
    let mut rng = Rng::new(seed);
    let mut callers = String::from("int dev(int a, int *p);\nint choose(void);\nint shared;\n");
    for number in 0..4 {
        let (a, k) = (rng.word("x y x+y x-y 3"), rng.between(-4, 4));
        callers.push_str(&format!("int f{number}(signed char x, signed char y, int *q)\n{{\n    int v = {k}, r;\n"));
        let target = rng.word("&v &v q 0");
        callers.push_str(&format!("    r = dev({a}, {target});\n"));
        for _ in 0..3 {
            let (left, op, right) = (rng.word("r v shared r+v x"), rng.word("< == > !="), rng.between(-6, 6));
            let (left2, op2, right2) = (rng.word("r v shared y"), rng.word("< == >"), rng.between(-6, 6));
            let join = rng.word("&& ||");
            callers.push_str(&format!("    if ({left} {op} {right} {join} {left2} {op2} {right2})\n        v += 2;\n"));
            if rng.below(3) == 0 {
                callers.push_str(&format!("    r += dev({}, &v);\n", rng.word("y r v")));
            }
        }
        callers.push_str("    return v + r;\n}\n");
    }
    let first = rng.between(-3, 0);
    let second = first + rng.between(1, 4);
    let guards = [format!("a < {first}"), format!("a >= {first} && a < {second}"), format!("a >= {second}")];
    let (mut world, mut body) = (String::from("dev(a, p)\n"), String::new());
    for guard in &guards {
        let low = rng.between(-5, 5);
        let high = low + rng.between(0, 4);
        let value = rng.word("a a+1 7 shared -a");
        let plain = rng.word("a 0 shared+1 2*a");
        match rng.below(6) {
            0 => {
                world += &format!("  when {guard} returns {value}\n");
                body += &format!("    if ({guard}) return {value};\n");
            }
            1 => {
                world += &format!("  when {guard} returns {low} .. {high} writes shared = {plain}\n");
                body += &format!(
                    "    if ({guard}) {{ int c = choose(); shared = {plain}; return c < {low} ? {low} : c > {high} ? {high} : c; }}\n"
                );
            }
            2 => {
                world += &format!(
                    "  when {guard} returns {low} writes *p = {plain} writes shared = {value}\n  when {guard} returns {} .. {}\n",
                    high + 1,
                    high + 3
                );
                body += &format!(
                    "    if ({guard}) {{ int c = choose(); if (c < {0}) {{ int w = {plain}, s = {value}; if (p) *p = w; shared = s; return {low}; }} return c > {1} ? {1} : c; }}\n",
                    high + 1,
                    high + 3
                );
            }
            3 => {
                world += &format!("  when {guard} returns {value} writes *p = {low} .. {high}\n");
                body += &format!(
                    "    if ({guard}) {{ int c = choose(), v = {value}; if (p) *p = c < {low} ? {low} : c > {high} ? {high} : c; return v; }}\n"
                );
            }
            4 => {
                world += &format!("  when {guard} returns any writes p[0 .. 1]\n");
                body += &format!("    if ({guard}) {{ if (p) *p = choose(); return choose(); }}\n");
            }
            _ => {
                world += &format!("  when {guard} fails\n");
                body += &format!("    if ({guard}) __builtin_abort();\n");
            }
        }
    }
    let defined = format!("int dev(int a, int *p)\n{{\n{body}    __builtin_abort();\n}}\n");
    (callers, world, defined)
}

/// The status of each objective of the callers, by its id; and how many tests did not do on the real program what they say.
fn statuses(folder: &Path, words: &[&str]) -> BTreeMap<String, String> {
    let output = touchstone(folder, words);
    let told = || format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{words:?}\n{}", told());
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for test in report["tests"].as_array().into_iter().flatten() {
        assert!(matches!(test["replay"].as_str(), Some("agreed" | "not_run")), "{test:#}");
    }
    let word = |objective: &Value, key: &str| objective[key].as_str().unwrap_or_default().to_string();
    let objectives = report["objectives"].as_array().expect("objectives");
    objectives.iter().map(|objective| (word(objective, "id"), word(objective, "status"))).collect()
}

#[test]
fn what_is_said_and_the_same_in_c_have_the_same_verdicts() {
    let seeds = match (std::env::var("TOUCHSTONE_SEED").ok().and_then(|seed| seed.parse().ok()), long()) {
        (Some(seed), _) => vec![seed],
        (None, true) => (0..60).collect(),
        (None, false) => (0..6u64).collect(),
    };
    let (mut decided, mut all) = (0, 0);
    for seed in seeds {
        let (callers, world, defined) = random_pair(seed);
        let folder = folder(&[("said.c", &callers), ("w", &world), ("whole.c", &format!("{callers}{defined}"))]);
        let said = ["generate", "said.c", "-c", "branch,mcdc", "--world", "w", "-o", "out", "--format", "json", "-q"];
        let said = statuses(folder.path(), &said);
        let whole = [
            "generate",
            "whole.c",
            "--externals",
            "pure",
            "-c",
            "branch,mcdc",
            "-o",
            "out2",
            "--format",
            "json",
            "-q",
            "--no-replay",
        ];
        let whole = statuses(folder.path(), &whole);
        for (id, status) in &said {
            all += 1;
            decided += usize::from(status != "unknown");
            let other = whole.get(id).map(String::as_str);
            let contradicts = matches!(
                (status.as_str(), other),
                ("covered", Some("infeasible")) | ("infeasible", Some("covered")) | (_, None)
            );
            assert!(
                !contradicts,
                "seed {seed}: {id} is {status} as said, and {other:?} in C\n{callers}\n{world}\n{defined}"
            );
        }
    }
    assert!(decided * 10 > all * 9, "{decided} of {all} decided");
    println!("{decided} of {all} decided");
}

#[test]
fn descriptions_that_assign_fail_or_do_not_fit_are_errors() {
    let source = "int sensor(int a);\nint mode;\nint f(int a) { int r = sensor(a); return r > 5 ? mode : 0; }\n";
    for (cases, expected) in [
        ("when a = 5 returns 1", "`a = 5` assigns"),
        ("when (a += 5) returns 1", "`==` compares"),
        ("returns 1/0", "the description of `sensor` fails"),
        ("when a == 5 returns 6\n  otherwise returns 0 .. 7 % (a - a)", "the description of `sensor` fails"),
        ("returns 3000000000", "does not fit its type"),
        ("returns 0 .. 3000000000", "does not fit its type"),
        ("returns 1 writes mode = 5000000000", "does not fit its type"),
        ("returns 1 writes mode = 1 / (a - a)", "the description of `sensor` fails"),
    ] {
        let folder = folder(&[("a.c", source), ("w.world", &format!("sensor(a)\n  {cases}\n"))]);
        let words = ["prove", "a.c", "-f", "f", "-c", "branch", "--world", "w.world"];
        let output = touchstone(folder.path(), &words);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(expected), "{cases}: {said}");
    }
    for cases in
        ["returns -1", "returns 0xffffffff", "when a <= 5 returns 6\n  otherwise returns 1 .. a writes mode = -1"]
    {
        let folder = folder(&[("a.c", source), ("w.world", &format!("sensor(a)\n  {cases}\n"))]);
        let words = ["prove", "a.c", "-f", "f", "-c", "branch", "--world", "w.world"];
        let output = touchstone(folder.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{cases}: {}", text(&output.stderr));
    }
}
