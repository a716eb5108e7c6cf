//! Java: objects that no calls make. What calls leave open is tried on any heap, and such a test says so; judged by brute force over
//! all heaps of at most three nodes.

use super::java_generate::{generated, source, touchstone};
use super::java_verdicts::{javac, number, run, text};
use crate::support;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const REMARK: &str = "// no API sequence constructs this state; it may be unreachable";

/// Returns the objective with a text.
fn objective<'r>(report: &'r Value, text: &str) -> &'r Value {
    let mut all = report["objectives"].as_array().expect("objectives").iter();
    all.find(|objective| objective["text"] == text).unwrap_or_else(|| panic!("no {text}: {report:#}"))
}

fn tests_in(directory: &Path, class: &str) -> String {
    std::fs::read_to_string(directory.join(format!("{class}TouchstoneTest.java"))).unwrap_or_default()
}

const GAUGE: &str = "public class Gauge {
    private int level;
    private final int limit = compute();
    private Gauge next;
    private static int compute() { return 3; }
    public void raise() { level = (level + 1) % 10; }
    public int state() { if (level < 0) return -1; if (level > 5) return 1; return 0; }
    public boolean isLimited() { if (limit == 77) return true; return false; }
    public int round() { int n = 0; for (Gauge g = this; g != null; g = g.next) n++; return n; }
    public boolean isOwn() { if (next == this) return true; return false; }
}
";

#[test]
fn a_state_that_no_call_makes_is_covered_and_the_test_says_so() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(scratch.path(), "Gauge.java", GAUGE);
    let forms = [("junit5", ""), ("junit4", "junit4")];
    for (form, within) in forms.into_iter().take(if crate::support::long() { 2 } else { 1 }) {
        let out = scratch.path().join(form);
        let report = generated(&["-c", "branch", "--emit", form], &file, &out);
        for text in ["level < 0 is true", "limit == 77 is true", "next == this is true"] {
            let found = objective(&report, text);
            assert_eq!(
                (found["status"].as_str(), found["reason"].as_str()),
                (Some("covered"), Some("heap_not_shown_reachable"))
            );
        }
        // Calls do this, so no other test is needed.
        assert_eq!(objective(&report, "level > 5 is true")["reason"], Value::Null);
        let tests = tests_in(&out.join(within), "Gauge");
        assert_eq!(tests.matches(REMARK).count(), 3, "{tests}");
        assert!(tests.contains("Gauge gauge = make(\"Gauge\", \"level\", -1);"), "{tests}");
        assert!(tests.contains("fill(gauge, \"next\", gauge);"), "{tests}");
        let on_any = report["tests"].as_array().expect("tests").iter().filter(|test| !test["heap"].is_null());
        assert_eq!(on_any.count(), 3, "{report:#}");
    }
    let output = touchstone(&["generate", "-c", "branch"], &[&file], &scratch.path().join("text"));
    let said = text(&output.stdout);
    assert!(said.contains("3 objectives are covered only in a state that was not shown reachable"), "{said}");
}

#[test]
fn without_such_heaps_it_is_unknown() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(scratch.path(), "Gauge.java", GAUGE);
    let report = generated(&["-c", "branch", "--heaps", "calls"], &file, scratch.path());
    for text in ["level < 0 is true", "limit == 77 is true", "next == this is true"] {
        assert_eq!(objective(&report, text)["status"], "unknown", "{report:#}");
    }
    assert!(!tests_in(scratch.path(), "Gauge").contains(REMARK));
}

#[test]
fn an_invariant_and_a_precondition_exclude_heaps() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "public class Kept {
    private int size;
    private int[] items;
    private Kept() { }
    public static Kept empty() { Kept made = new Kept(); made.items = new int[2]; return made; }
    boolean repOk() { return items != null && size >= 0 && size <= items.length; }
    public int broken() { if (size > items.length) return 1; if (items.length == 3) return 2; return 0; }
    public int asked(Kept other) { if (other.size == 2) return 1; if (other.size == 3) return 2; if (other.size < 0) return 3; return 0; }
    static boolean asked_pre(Kept other) { return other != null && other.size != 2; }
}
";
    let file = source(scratch.path(), "Kept.java", code);
    let report = generated(&["-c", "branch"], &file, scratch.path());
    for text in ["size > items.length is true", "other.size == 2 is true", "other.size < 0 is true"] {
        assert_ne!(objective(&report, text)["status"], "covered", "{report:#}");
    }
    for text in ["items.length == 3 is true", "other.size == 3 is true"] {
        assert_eq!(objective(&report, text)["status"], "covered", "{report:#}");
    }
}

#[test]
fn arrays_texts_numbers_and_classes_below_are_fields_and_what_goes_in_circles_ends() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "public class Chain {
    static class Node { private int value; private Node next; private Node[] kids; private String name; private long[] data; private Object any; private Object[] all; private String[] names; Node(int v) { value = v; } }
    private static final class Wide extends Node { private byte more; Wide() { super(1); } }
    record Pair(int a, Node b) { int f() { if (a == b.value + 3) return 1; return 0; } }
    private Node head;
    public int length() { int n = 0; for (Node x = head; x != null; x = x.next) n++; return n; }
    public boolean cycle() { if (head != null && head.next != null && head.next.value == 42 && head.next.next == head) return true; return false; }
    public boolean kid() { if (head != null && head.kids != null && head.kids.length == 2 && head.kids[1] == head && head.kids[0] == null) return true; return false; }
    public boolean named() { if (head != null && \"ab\".equals(head.name)) return true; return false; }
    public boolean data() { if (head != null && head.data != null && head.data.length > 1 && head.data[1] == 9L) return true; return false; }
    public boolean boxed() { if (head != null && head.any instanceof Integer && (Integer) head.any == 1000) return true; return false; }
    public boolean all() { if (head != null && head.all != null && head.all.length == 2 && head.all[1] == null) return true; return false; }
    public boolean names() { if (head != null && head.names != null && head.names.length == 1 && head.names[0] == null) return true; return false; }
    public boolean below() { if (head instanceof Wide && ((Wide) head).more == -5) return true; return false; }
    static int both(Node a, Node b) { if (a == null || b == null) return 0; if (a.next == b && b.next == a && a != b) return 1; return 2; }
}
";
    let file = source(scratch.path(), "Chain.java", code);
    let report = generated(&["-c", "branch", "--timeout", "10"], &file, scratch.path());
    let open: Vec<&Value> =
        report["objectives"].as_array().expect("objectives").iter().filter(|one| one["status"] != "covered").collect();
    assert!(open.is_empty(), "{open:#?}");
}

#[test]
fn an_argument_of_any_type_is_also_an_object_of_the_program_with_whatever_its_fields_hold() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "public class Coin {
    private int value;
    private int worn;
    public Coin(int value) { this.value = value; }
    @Override public int hashCode() { return value; }
    @Override public boolean equals(Object other) {
        if (worn == 5 && other instanceof Integer) return false;
        if (!(other instanceof Coin)) return false;
        Coin coin = (Coin) other;
        if (coin.worn == 7 && coin != this) return false;
        return value == coin.value;
    }
}
";
    let file = source(scratch.path(), "Coin.java", code);
    let report = generated(&["-c", "mcdc", "--timeout", "10"], &file, scratch.path());
    let open: Vec<&Value> =
        report["objectives"].as_array().expect("objectives").iter().filter(|one| one["status"] != "covered").collect();
    assert!(open.is_empty(), "{open:#?}");
    // The object is worn while the argument is a number, and the other way round.
    for text in [
        "other instanceof Integer is true and independently affects the outcome",
        "coin.worn == 7 is true and independently affects the outcome",
    ] {
        assert_eq!(objective(&report, text)["reason"], "heap_not_shown_reachable", "{report:#}");
    }
}

/// Chance, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn of<'s>(&mut self, all: &[&'s str]) -> &'s str {
        all[self.below(all.len())]
    }

    /// Statements that return a number of their own on every way.
    fn body(&mut self, depth: u32, returns: &mut u32) -> String {
        const CHANGES: [&str; 6] = [
            "if (n != null) n = n.next; ",
            "size--; ",
            "if (n != null) n.v++; ",
            "if (n != null) n.next = head; ",
            "n = head; ",
            "if (n != null && n.next != null) { head = n.next; size = head.v; } ",
        ];
        const ASKS: [&str; 9] = [
            "n == null",
            "n != null && n.v > 1",
            "n != null && n.next == n",
            "size == 2",
            "n != null && n.next != null && n.next.next == n",
            "n != null && n.next != null && n.next.v == n.v + 1",
            "head == n",
            "size < 0 && head != null",
            "n.next != null",
        ];
        let change = if self.below(2) == 0 { self.of(&CHANGES) } else { "" };
        if depth == 0 {
            *returns += 1;
            return format!("{change}return {returns};");
        }
        let ask = self.of(&ASKS);
        let (yes, no) = (self.body(depth - 1, returns), self.body(depth - 1, returns));
        format!("{change}if ({ask}) {{ {yes} }} {no}")
    }
}

#[test]
fn no_heap_of_three_nodes_does_what_is_infeasible_and_tests_return_what_they_say() {
    const METHODS: u32 = 5;
    let first = number("TOUCHSTONE_SEED").unwrap_or(1);
    let count = number("TOUCHSTONE_COUNT").unwrap_or(if support::long() { 20 } else { 1 });
    for seed in first..first + count {
        let scratch = tempfile::tempdir().expect("a directory");
        let (mut chance, mut returns) = (Chance(seed), 0);
        let methods: String = (0..METHODS)
            .map(|at| format!("  int m{at}() {{ Node n = head; {} }}\n", chance.body(3, &mut returns)))
            .collect();
        let class = format!(
            "class H {{\n  static final class Node {{ private int v; private Node next; Node(int v) {{ this.v = v; }} }}\n  \
             private Node head; private int size;\n{methods}}}\n"
        );
        let file = source(scratch.path(), "H.java", &class);
        let report = generated(&["-c", "stmt", "--timeout", "4"], &file, scratch.path());
        let reached = brute_force(scratch.path(), &class, METHODS);
        let (mut covered, mut missed) = (0, 0);
        for objective in report["objectives"].as_array().expect("objectives") {
            let Some(own) = returned(objective["text"].as_str().unwrap_or_default()) else { continue };
            match objective["status"].as_str().unwrap_or_default() {
                "infeasible" => assert!(!reached.contains(&own), "seed {seed}: {objective:#}\n{class}"),
                "covered" => covered += 1,
                _ => missed += usize::from(reached.contains(&own)),
            }
            for test in objective["tests"].as_array().expect("tests") {
                let tests = report["tests"].as_array().expect("tests");
                let test = tests.iter().find(|known| known["id"] == *test).expect("a test");
                assert_eq!(test["expected"]["result"].as_u64(), Some(own), "seed {seed}: {test:#}\n{class}");
            }
        }
        eprintln!("seed {seed}: {covered} covered, {missed} missed of {}", reached.len());
        assert!(covered > 5 * missed, "seed {seed}: {covered} covered, {missed} missed\n{class}");
    }
}

/// The number that a statement returns.
fn returned(statement: &str) -> Option<u64> {
    statement.strip_prefix("return ")?.trim_end_matches(';').parse().ok()
}

/// The numbers that methods return on any heap of three nodes.
fn brute_force(scratch: &Path, class: &str, methods: u32) -> BTreeSet<u64> {
    let calls: String = (0..methods)
        .map(|at| format!("      try {{ seen.add(made(code).m{at}()); }} catch (NullPointerException e) {{ }}\n"))
        .collect();
    let driver = format!(
        "public class All {{
  static H made(int code) {{
    H.Node[] nodes = {{ new H.Node(0), new H.Node(0), new H.Node(0), null }};
    for (int at = 0; at < 3; at++) {{ nodes[at].v = code % 3; code /= 3; nodes[at].next = nodes[code % 4]; code /= 4; }}
    H made = new H(); made.head = nodes[code % 4]; code /= 4; made.size = code % 4 - 1;
    return made;
  }}
  public static void main(String[] args) {{
    java.util.TreeSet<Integer> seen = new java.util.TreeSet<>();
    for (int code = 0; code < 27 * 64 * 16; code++) {{
{calls}    }}
    System.out.println(seen);
  }}
}}
"
    );
    let brute = scratch.join("brute");
    std::fs::create_dir_all(&brute).expect("a directory");
    let files = [source(&brute, "H.java", &class.replace("private ", "")), source(&brute, "All.java", &driver)];
    javac(&brute, &brute, &files);
    let output = run(Command::new("java").arg("-cp").arg(&brute).arg("All"));
    let said = text(&output.stdout);
    let numbers = said.trim().trim_matches(['[', ']']).split(", ").filter_map(|number| number.parse().ok());
    numbers.collect()
}
