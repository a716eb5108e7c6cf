//! Composition of calls from summaries. The verdicts are the same with and without it, on random functions that call
//! others, where a confirmed test contradicts an infeasible verdict; and the purpose of composition.

use crate::support::long;
use crate::support::rng::Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

fn report(folder: &Path, verb: &str, options: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(folder).args([verb, "case.c", "--format", "json", "-q", "--cache", "off"]).args(options);
    let output = command.output().expect("touchstone runs");
    let told = || {
        let source = std::fs::read_to_string(folder.join("case.c")).unwrap_or_default();
        format!("{}{}\n{options:?}\n{source}", text(&output.stdout), text(&output.stderr))
    };
    assert_eq!(output.status.code(), Some(0), "{}", told());
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The status of each objective, by its id.
fn statuses(report: &Value) -> BTreeMap<String, String> {
    let word = |objective: &Value, key: &str| objective[key].as_str().unwrap_or_default().to_string();
    let objectives = report["objectives"].as_array().expect("objectives");
    objectives.iter().map(|objective| (word(objective, "id"), word(objective, "status"))).collect()
}

/// Helpers of all kinds that can be composed, and some that can't, and functions that call them.
fn random_file(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut text = String::from(
        "struct pair { int a, b; };\nstatic const signed char table[8] = {3, -1, 4, 1, -5, 9, 2, 6};\nstatic int kept;\n",
    );
    let helpers = 5;
    for number in 0..helpers {
        let body = helper(&mut rng, number);
        text.push_str(&format!("static int h{number}(struct pair *p, int x, int y)\n{{\n{body}}}\n"));
    }
    for number in 0..4 {
        text.push_str(&format!("int f{number}(signed char x, signed char y, struct pair *p)\n{{\n    int r = 0;\n"));
        for _ in 0..3 {
            let (callee, x, y) = (rng.below(helpers), term(&mut rng), term(&mut rng));
            text.push_str(&format!("    r += h{callee}(p, {x}, {y});\n"));
            let (left, right) = (comparison(&mut rng), comparison(&mut rng));
            let op = rng.word("&& ||");
            text.push_str(&format!("    if ({left} {op} {right})\n        r -= 3;\n"));
        }
        text.push_str(&format!("    if (r == {})\n        return -1;\n    return r;\n}}\n", rng.between(-9, 9)));
    }
    text
}

fn helper(rng: &mut Rng, number: usize) -> String {
    let (k, m) = (rng.between(-5, 5), rng.between(1, 6));
    let mut body = String::new();
    for _ in 0..1 + rng.below(3) {
        let line = match rng.below(9) {
            0 => format!("    if (x > {k})\n        return y - {m};\n"),
            1 => format!("    p->a = x < y ? {k} : p->b;\n"),
            2 => format!("    if (p->b == {k})\n        p->b = x + {m};\n"),
            3 => format!("    x = y / (x - {k});\n"),
            4 => "    y = table[x & 7];\n".to_string(),
            5 => format!(
                "    switch (x) {{\n    case {k}: y = 1; break;\n    case 7: return {m};\n    default: x++;\n    }}\n"
            ),
            6 => format!("    if (y < {k})\n        kept = x;\n    else if (kept > {m})\n        x = kept;\n"),
            7 => format!(
                "    int u{k};\n    if (x == {m})\n        u{k} = y;\n    if (x == {m} && u{k} > 2)\n        y = 0;\n"
            )
            .replace("u-", "n"),
            _ if number > 0 => format!("    x += h{}(p, y, x - {k});\n", rng.below(number)),
            _ => format!("    for (int i = 0; i < (x & 3); i++)\n        y += {m};\n"),
        };
        body.push_str("    {\n");
        body.push_str(&line);
        body.push_str("    }\n");
    }
    body.push_str("    return x + 2 * y;\n");
    body
}

fn term(rng: &mut Rng) -> String {
    let number = rng.between(-4, 4);
    match rng.below(5) {
        0 => "x".to_string(),
        1 => "y".to_string(),
        2 => "r".to_string(),
        3 => "p->a".to_string(),
        _ => format!("x - {number}"),
    }
}

fn comparison(rng: &mut Rng) -> String {
    let (left, op, number) = (term(rng), rng.word("< > == != <="), rng.between(-6, 6));
    format!("{left} {op} {number}")
}

#[test]
fn verdicts_are_the_same_with_and_without() {
    let (count, seconds) = if long() { (200, "3") } else { (1, "1") };
    let first = std::env::var("TOUCHSTONE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let (mut judged, mut decided) = (0, [0, 0]);
    for seed in first..first + count {
        let folder = tempfile::tempdir().expect("a scratch directory");
        std::fs::write(folder.path().join("case.c"), random_file(seed)).expect("writable");
        let options = |mode| ["-c", "branch,mcdc,rte", "--timeout", seconds, "--summaries", mode];
        let off = statuses(&report(folder.path(), "prove", &options("off")));
        for mode in ["auto", "on"] {
            let on = statuses(&report(folder.path(), "prove", &options(mode)));
            assert_eq!(off.len(), on.len(), "seed {seed}: other objectives");
            for (id, with) in &on {
                let without = &off[id];
                let both = [with.as_str(), without.as_str()];
                let contradict = both.contains(&"covered") && both.contains(&"infeasible");
                assert!(
                    !contradict,
                    "seed {seed}, {mode}: {id} is {without} without, {with} with\n{}",
                    random_file(seed)
                );
                judged += 1;
                decided[0] += usize::from(without != "unknown");
                decided[1] += usize::from(with != "unknown");
            }
        }
    }
    println!("{judged} verdicts, decided without: {}, with: {}", decided[0], decided[1]);
    assert!(judged > 0 && decided[1] * 10 >= decided[0] * 9, "composed calls decide less: {decided:?} of {judged}");
}

const WORDS: &str = "
static int is_digit(int c) { return c >= '0' && c <= '9'; }
static int is_alpha(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static int kind(int c)
{
    if (is_digit(c)) return 1;
    if (is_alpha(c)) return 2;
    if (c == ' ' || c == '\\t') return 3;
    return 0;
}
int words(const char *s)
{
    int words = 0, state = 0;
    for (int i = 0; i < 5 && s[i]; i++) {
        int k = kind(s[i]);
        if (k == 2 && state == 0) { words++; state = 2; }
        else if (k == 3) state = 0;
        else if (k == 0) return -1;
    }
    if (words > 3) return 5;
    return words;
}
";

#[test]
fn what_takes_a_path_for_each_character_class_is_decided_in_few() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(folder.path().join("case.c"), WORDS).expect("writable");
    let run = |mode| {
        let options = ["-f", "words", "-c", "mcdc", "--len", "s=6", "--timeout", "60", "--summaries", mode];
        let report = report(folder.path(), "prove", &options);
        (statuses(&report), report["functions"][0]["paths"]["explored"].as_u64().expect("a number of paths"))
    };
    let (with, few) = run("auto");
    let (without, many) = run("off");
    assert_eq!(with.values().filter(|status| *status == "infeasible").count(), 1, "five characters have no four words");
    assert!(with.values().all(|status| status != "unknown"), "{with:?}");
    assert!(without.iter().all(|(id, status)| status == "unknown" || with[id] == *status), "{with:?} {without:?}");
    assert!(few * 4 < many, "{few} paths instead of {many}");
}

const COUNTED: &str = "
static int down(int n) { int turns = 0; while (n > 0) { n--; turns++; } return turns; }
int twice(int n) { return down(n) + down(n > 1 ? 1 : 0); }
int once(int n) { return down(n); }
";

#[test]
fn paths_with_few_visits_of_each_block_are_those_of_each_call_alone() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(folder.path().join("case.c"), COUNTED).expect("writable");
    let paths = |function: &str, criterion: &str| {
        let options = ["-f", function, "-c", criterion, "--range", "n=0..9", "--no-replay", "-o", "out"];
        let report = report(folder.path(), "generate", &options);
        let function = &report["functions"][0];
        assert_eq!(function["exhaustive"], true, "{report:#}");
        [&function["paths"]["explored"], &function["paths"]["longer"]].map(|number| number.as_u64().expect("a number"))
    };
    // A loop that is asked K times has at most K - 1 iterations.
    assert_eq!(paths("once", "block:1"), [1, 1]);
    assert_eq!(paths("once", "block:3"), [3, 1]);
    assert_eq!(paths("once", "paths:2"), [3, 1]);
    // Each call counts for itself.
    assert_eq!(paths("twice", "block:3"), [3, 1]);
    assert_eq!(paths("twice", "paths"), [10, 0]);
}

#[test]
fn paths_and_their_tests_are_the_same_whatever_is_composed() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(folder.path().join("case.c"), WORDS).expect("writable");
    let tests = |mode: &str| {
        let options = ["-c", "block:3", "--len", "s=6", "--no-replay", "-o", mode, "--summaries", mode];
        report(folder.path(), "generate", &options)["tests"].clone()
    };
    let off = tests("off");
    assert!(off.as_array().is_some_and(|tests| tests.len() > 20), "{off:#}");
    assert!(tests("on") == off && tests("auto") == off);
}

#[test]
fn paths_of_random_functions_are_the_same_whatever_is_composed() {
    let count = if long() { 50 } else { 1 };
    for seed in 1..=count {
        let folder = tempfile::tempdir().expect("a scratch directory");
        std::fs::write(folder.path().join("case.c"), random_file(seed)).expect("writable");
        let paths = |mode: &str| {
            // Without a clock: what a busy machine has no time for would differ.
            let bounds = ["--max-paths", "24", "--timeout", "0", "--solver-timeout", "0"];
            let options = [&["-c", "block:2", "--no-replay", "-o", mode, "--summaries", mode][..], &bounds].concat();
            let report = report(folder.path(), "generate", &options);
            let tests = report["tests"].as_array().expect("tests").iter();
            let paths: Vec<[Value; 2]> = tests.map(|test| ["function", "path"].map(|key| test[key].clone())).collect();
            paths
        };
        let off = paths("off");
        assert!(off.len() > 20, "seed {seed}: {off:?}");
        assert!(paths("on") == off && paths("auto") == off, "seed {seed}\n{}", random_file(seed));
    }
}

#[test]
fn a_bound_without_visits_is_none() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(folder.path().join("case.c"), COUNTED).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    let output = command.current_dir(folder.path()).args(["generate", "case.c", "-c", "block:0"]).output();
    let output = output.expect("touchstone runs");
    assert_ne!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("block:K"), "{}", text(&output.stderr));
}
