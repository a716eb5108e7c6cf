//! Repeated events of a Java trace: the state coverage of random programs with loops is the same whether the recorder counts repeated events or stores
//! them, and a hot loop is recorded in a few slots. `TOUCHSTONE_LONG=1` tries many more programs, `TOUCHSTONE_SEED=N` begins elsewhere.

use super::java_state::standins;
use super::support::{self, rng::Rng};
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Classes that the programs use.
const HEAD: &str = "
class Cell { int a, b, c; int[] row = new int[8]; Cell next;
  void add(int v) { a += v; } int sum() { return a + b; } void swap() { int t = a; a = b; b = t; }
  void shift() { c = b; b = a; } int fails(int v) { if (v % 5 == 3) throw new IllegalStateException(); b = v; return v; }
  synchronized void count() { c++; } void divide(int v) { a = 7 / v; c = v; return; }
  int deep(int n) { a++; return n <= 0 ? b : deep(n - 1) + 1; } }
";

/// A variable, as a program names it.
fn variable(rng: &mut Rng) -> &'static str {
    rng.pick::<&str>(&[
        "t.a",
        "t.b",
        "t.c",
        "u.a",
        "u.b",
        "g",
        "h",
        "x",
        "y",
        "z",
        "t.row[i & 7]",
        "t.row[(i + 1) & 7]",
        "u.row[3]",
        "flat[i & 15]",
        "flat[(i * 2) & 15]",
        "t.next.a",
        "grid[i & 3][1]",
    ])
}

fn statement(rng: &mut Rng, depth: usize, out: &mut String) {
    let (to, from, other) = (variable(rng), variable(rng), variable(rng));
    let _ = match rng.below(if depth == 0 { 17 } else { 21 }) {
        0..=4 => writeln!(out, "{to} = {from};"),
        5 | 6 => writeln!(out, "{to} = {from} + {other};"),
        7 => writeln!(out, "{to} += {from};"),
        8 => writeln!(out, "t.add({from});"),
        9 => writeln!(out, "u.swap();"),
        10 => writeln!(out, "t.shift(); {to} = t.sum();"),
        11 => writeln!(out, "list.add({from}); if (list.size() > 5) list.clear();"),
        12 => writeln!(out, "map.put(\"{}\", {from}); {to} = map.getOrDefault(\"k\", 1);", rng.pick(&["k", "l"])),
        13 => writeln!(out, "numbers.put({}, {from});", rng.pick(&["i & 3", "i", "2", "x & 1"])),
        14 => writeln!(out, "try {{ {to} = u.fails(i); }} catch (IllegalStateException e) {{ {other}++; }}"),
        15 => writeln!(out, "try {{ u.divide(i & 3); }} catch (ArithmeticException e) {{ {to} = {from}; }}"),
        16 => writeln!(out, "t.count(); {to} = u.deep(i & 3);"),
        17 => {
            let condition = *rng.pick(&["i % 3 == 0", "(x & 1) == 0", "t.a > u.b", "i > 4", "y < z"]);
            let _ = writeln!(out, "if ({condition}) {{");
            statement(rng, depth - 1, out);
            let _ = writeln!(out, "}} else {{");
            statement(rng, depth - 1, out);
            writeln!(out, "}}")
        }
        18 => writeln!(out, "if (i == {}) break;", rng.between(3, 60)),
        19 => writeln!(out, "if ({from} == 987654321) throw new AssertionError();"),
        _ => {
            let _ = writeln!(
                out,
                "for (int k = 0; k < {}; k++) {{ flat[k & 15] += {from};",
                rng.pick(&["3", "20", "(i & 7)"])
            );
            statement(rng, depth - 1, out);
            writeln!(out, "}}")
        }
    };
}

fn program(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let (mut tests, mut calls) = (String::new(), String::new());
    for number in 0..12 {
        let mut body = String::new();
        for _ in 0..=rng.below(2) {
            let count = *rng.pick(&[3, 9, 40, 200]);
            let _ = writeln!(body, "for (int i = 0; i < {count}; i++) {{");
            for _ in 0..=rng.below(5) {
                statement(&mut rng, 2, &mut body);
            }
            body += "}\ni = x & 7;\n";
        }
        let asserted = variable(&mut rng);
        let asserted = if rng.chance(30) { "numbers.getOrDefault(1, 0)" } else { asserted };
        // The loops have an index of their own.
        let body = body.replace("int i = 0", "i = 0");
        let _ = writeln!(
            tests,
            "static void test{number}() {{ Cell t = new Cell(), u = new Cell(); t.next = u; int i = 0, x = 1, y = 2, z = 3; int[] flat = new int[16];
             int[][] grid = new int[4][2]; List<Integer> list = new ArrayList<>(); Map<String, Integer> map = new TreeMap<>();
             Map<Integer, Integer> numbers = new TreeMap<>(); held = t;\nstandin.Main.begin(\"test{number}\"); t.b = 4; u.a = 5;\n{body}
             if ({asserted} == 987654321) throw new AssertionError();\nstandin.Main.end(\"test{number}\"); }}"
        );
        let _ = write!(calls, "test{number}(); ");
    }
    format!(
        "import java.util.*;\n{HEAD}\npublic class Loops {{ static int g, h; static Cell held;\n{tests}\npublic static void main(String[] a) {{ {calls} }} }}\n"
    )
}

/// A program in which two threads take turns, with and without a lock.
const TURNS: &str = "
import standin.Main;
class Turn { int turn, left, right; volatile boolean done; int[] seen = new int[4];
  synchronized boolean take(int own) { if (turn != own) return false; turn = 1 - own; if (own == 0) left++; else right++; return true; } }
public class Loops {
  static void play(Turn turn, int own) { for (int k = 0; k < 50; k++) { while (!turn.take(own)) Thread.yield(); } }
  static void turns() throws Exception {
    Turn turn = new Turn();
    Thread other = new Thread(() -> { play(turn, 1); turn.seen[1] = 3; turn.done = true; });
    other.start();
    play(turn, 0);
    while (!turn.done) Thread.yield();
    other.join();
    if (turn.seen[1] != 3 || turn.left != 50) throw new AssertionError();
  }
  public static void main(String[] a) throws Exception { Main.begin(\"turns\"); turns(); Main.end(\"turns\"); } }
";

/// A hot loop, and the same with an error of the stack in it.
const HOT: &str = "
import standin.Main;
class Hot { int[] data = new int[100]; long sum; int rounds, unchecked, depth;
  void run(int times) { for (int round = 0; round < times; round++) { for (int i = 0; i < data.length; i++) { data[i] += i ^ round; sum += data[i]; unchecked = i; } rounds++; } }
  int down(int n) { depth = n; return down(n + 1) + 1; } }
public class Loops {
  static void hot() { Hot hot = new Hot(); hot.run(20_000); if (hot.sum == 1 || hot.rounds != 20_000) throw new AssertionError(); }
  static void deep() { Hot hot = new Hot(); for (int k = 0; k < 3; k++) { try { hot.down(0); } catch (StackOverflowError e) { hot.rounds++; } hot.run(5); }
    if (hot.rounds != 18) throw new AssertionError(); }
  public static void main(String[] a) throws Exception { Main.begin(\"hot\"); hot(); Main.end(\"hot\"); Main.begin(\"deep\"); deep(); Main.end(\"deep\"); } }
";

/// Compiles a program and measures it. Returns the state by test, and the size of its trace beyond the header.
fn measured(within: &Path, jar: &str, text: &str, history: Option<&str>) -> (Value, u64) {
    std::fs::write(within.join("Loops.java"), text).expect("writable");
    let compiled =
        support::javac().args(["-g", "-d", "classes", "-cp", jar, "Loops.java"]).current_dir(within).status();
    assert!(compiled.expect("javac runs").success(), "{text}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args([
        "measure",
        "-c",
        "state",
        "--format",
        "json",
        "--",
        "java",
        // A recursion without end is long enough.
        "-Xss256k",
        "-cp",
        &format!("classes:{jar}"),
        "Loops",
    ]);
    if let Some(history) = history {
        command.env("TOUCHSTONE_STATE_HISTORY", history);
    }
    let run = command.current_dir(within).output().expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success() && !said.contains("not followed"), "{said}\n{text}");
    let report: Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("no JSON: {said}"));
    let files = std::fs::read_dir(within.join("touchstone-out/hits")).expect("hits").flatten();
    let traces = files.filter(|file| file.path().extension().is_some_and(|own| own == "jstate"));
    (report["state"].clone(), traces.map(|file| file.metadata().map_or(0, |data| data.len() - (1 << 20))).sum())
}

/// Returns the state by test, without the numbers of objects.
fn by_test(state: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for test in state.as_array().expect("state by test") {
        for update in test["updates"].as_array().expect("updates") {
            found.push(format!("{} {} {}", test["test"], update["what"], update["checked"]));
        }
        found.push(format!("{} {}", test["test"], test["unknown"]));
    }
    found
}

#[test]
fn counted_events_have_the_results_of_stored_ones() {
    let first = std::env::var("TOUCHSTONE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let (scratch, beside) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let jar = standins(beside.path()).display().to_string();
    let (mut stored, mut counted) = (0, 0);
    for seed in first..first + if support::long() { 150 } else { 1 } {
        let text = program(seed);
        let (expected, size) = measured(scratch.path(), &jar, &text, Some("0"));
        stored += size;
        for history in [None, Some("40")] {
            let (found, size) = measured(scratch.path(), &jar, &text, history);
            assert_eq!(by_test(&found), by_test(&expected), "seed {seed}, history {history:?}\n{text}");
            assert_eq!(found, expected, "seed {seed}, history {history:?}");
            counted += if history.is_none() { size } else { 0 };
        }
    }
    assert!(counted * 2 < stored, "{counted} bytes instead of {stored}");
}

#[test]
fn threads_that_take_turns_keep_their_order() {
    let (scratch, beside) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let jar = standins(beside.path()).display().to_string();
    let (expected, _) = measured(scratch.path(), &jar, TURNS, Some("0"));
    for _ in 0..if support::long() { 30 } else { 2 } {
        let (found, _) = measured(scratch.path(), &jar, TURNS, None);
        assert_eq!(by_test(&found), by_test(&expected));
    }
}

#[test]
fn the_trace_of_a_hot_loop_is_short_and_complete() {
    let (scratch, beside) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let jar = standins(beside.path()).display().to_string();
    let (found, size) = measured(scratch.path(), &jar, HOT, None);
    let found = by_test(&found);
    let of = |test: &str| found.iter().filter(|line| line.contains(test)).cloned().collect::<Vec<String>>().join("\n");
    let hot = of("test.hot");
    for line in ["\"Hot.sum\" true", "\"Hot.rounds\" true", "\"Hot.data[]\" true", "\"Hot.unchecked\" false"] {
        assert!(hot.contains(line), "{line}: {hot}");
    }
    assert!(!hot.contains("true\n\"test.hot\" true"), "{hot}");
    assert!(of("test.deep").contains("\"Hot.rounds\" true"), "{found:?}");
    // 2 million iterations; the recursion is recorded as far as it differs.
    assert!(size < 1 << 20, "{size} bytes");
}
