//! `touchstone summary`: what a function does, case by case, judged by running all inputs of a small domain.

mod printed_values;

use serde_json::Value;
use std::process::Command;

const TEXT: &str = "struct point { int x, y; };
struct node { struct node *next; int value; };
int count;
static int half(int x) { return x / 2; }
int clamp(int x, int lo, int hi) { if (x < lo) return lo; if (x > hi) return hi; return x; }
void tick(int by) { count = count + by; if (count > 100) count = 0; }
void move(struct point *p, int by) { p->x += by; if (by > 3) p->y = half(by); }
int kind(unsigned char c) { switch (c) { case 'a': return 1; case 'b': case 'c': return 2; default: return -3; } }
int second(struct node *n) { return n->next->value; }
";

fn summary(words: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a directory");
    std::fs::write(folder.path().join("a.c"), TEXT).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    let output = command.args(["summary", "a.c"]).args(words).current_dir(folder.path()).output().expect("it starts");
    assert!(!words.contains(&"--page") || folder.path().join("cases.html").exists());
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The cases of a function: when, result, changes.
fn cases(function: &str) -> Vec<(String, String, String)> {
    let (_, text) = summary(&["-f", function, "--format", "json"]);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let cases = document["functions"][0]["cases"].as_array().expect("cases").clone();
    let list = |value: &Value| -> Vec<String> {
        value.as_array().expect("a list").iter().filter_map(Value::as_str).map(str::to_string).collect()
    };
    let changes = |case: &Value| -> Vec<String> {
        let all = case["changes"].as_array().expect("a list").iter();
        all.map(|change| {
            format!("{} = {}", change["what"].as_str().expect("a text"), change["to"].as_str().expect("a text"))
        })
        .collect()
    };
    let result = |case: &Value| case["returns"].as_str().or(case["ends"].as_str()).unwrap_or("").to_string();
    let mut found: Vec<_> =
        cases.iter().map(|case| (list(&case["when"]).join(", "), result(case), changes(case).join(", "))).collect();
    found.sort();
    found
}

fn check(function: &str, expected: &[(&str, &str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(a, b, c)| (a.to_string(), b.to_string(), c.to_string())).collect();
    assert_eq!(cases(function), expected, "{function}");
}

#[test]
fn cases_say_when_what_is_returned_and_what_changes() {
    check("clamp", &[("lo <= x, hi < x", "hi", ""), ("lo <= x, x <= hi", "x", ""), ("x < lo", "lo", "")]);
    check("tick", &[("(count + by) <= 100", "", "count = count + by"), ("(count + by) > 100", "", "count = 0")]);
    check(
        "move",
        &[
            ("p != null, by <= 3", "", "p.x = by + p.x"),
            ("p != null, by > 3", "", "p.x = by + p.x, p.y = by / 2"),
            ("p == null", "null pointer at a.c:7:38", ""),
        ],
    );
    let mut kinds: Vec<String> = cases("kind").into_iter().map(|(_, result, _)| result).collect();
    kinds.sort();
    assert_eq!(kinds, ["-3", "1", "2"], "each arm once");
}

#[test]
fn shapes_of_the_heap_are_part_of_a_case_and_a_page_is_written() {
    let found = cases("second");
    assert!(
        found.iter().any(|(when, result, _)| when.contains("n.next == null") && result.starts_with("null pointer"))
    );
    assert!(found.iter().any(|(when, result, _)| when.contains("n.next != null") && result.contains("value")));
    let (status, text) = summary(&["--page", "cases.html"]);
    assert_eq!(status, Some(0));
    assert!(text.contains("clamp(x, lo, hi)") && text.contains("tick(by)"), "{text}");
    let (status, _) = summary(&["-f", "nobody"]);
    assert_eq!(status, Some(1));
}
