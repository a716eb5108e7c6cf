//! The static prover proves what it should, and nothing that a run reaches: random functions are run on all inputs.

// Tests may read files and the environment.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::collections::BTreeSet;
use std::fmt::Write;
use touchstone_criteria::{CriteriaOptions, GoalId, GoalIndex, NamedValue, Objectives, REGISTRY, objectives};
use touchstone_engine::{
    CallInputs, Config, Goals, RunObservation, SearchEvent, Sink, explore_goals, prove_infeasible, watch_function,
};
use touchstone_interp::Limits;
use touchstone_ir::{DataValue, FuncId, Module, mask, parse, verify};

fn module(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let errors = verify(&module);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    module
}

/// Returns all objectives of all functions, by all criteria.
fn everything(module: &Module) -> Objectives {
    let functions: Vec<FuncId> = module.functions.ids().filter(|id| module.functions[*id].is_defined()).collect();
    objectives(module, &functions, REGISTRY, &CriteriaOptions::default())
}

/// Returns the objectives of `@f` that are proved infeasible, as `criterion: text`.
fn proved(text: &str, config: &Config) -> BTreeSet<String> {
    let module = module(text);
    let func = module.function_named("f").expect("there is a function f");
    let wanted = everything(&module);
    let watch = GoalIndex::new(&module, wanted.goals.clone());
    let open: Vec<GoalId> = wanted.goals.ids().collect();
    let proved = prove_infeasible(&module, func, &watch, &open, config);
    proved.into_keys().map(|id| format!("{}: {}", wanted.list[id].criterion, wanted.list[id].text)).collect()
}

/// Checks that exactly these objectives of one criterion are proved infeasible.
fn check_with(config: &Config, text: &str, criterion: &str, expected: &[&str]) {
    let prefix = format!("{criterion}: ");
    let all = proved(text, config);
    let got: Vec<&str> = all.iter().filter_map(|line| line.strip_prefix(&prefix)).collect();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(got, expected, "{criterion} of\n{text}");
}

fn check(text: &str, criterion: &str, expected: &[&str]) {
    check_with(&Config::default(), text, criterion, expected);
}

const NESTED: &str = r#"
type ty0 = int "int" 32 signed
func @f(%0 "x": i32 ty0) -> i32 ty0 {
  decision d0 if "x > 10" = c0 { c0 "x > 10" }
  decision d1 if "x < 5 && x" = and(c0, c1) { c0 "x < 5" c1 "x" }
  point p0 statement "dead"
  point p1 label "both" (and_then i1 (slt i1 (i32 %0 "x") (i32 20)) (slt i1 (i32 30) (i32 %0 "x"))) "both"
  point p2 label "some" (and_then i1 (slt i1 (i32 %0 "x") (i32 20)) (slt i1 (i32 12) (i32 %0 "x"))) "some"
b0:
  %1: i1 = cmp slt 10, %0
  branch %1, b1, b4 [d0.c0]
b1:
  point p1
  point p2
  %1 = cmp slt %0, 5
  branch %1, b2, b4 [d1.c0]
b2:
  %1 = cmp ne %0, 0
  branch %1, b3, b4 [d1.c1]
b3:
  point p0
  jump b4
b4:
  return 0
}
"#;

#[test]
fn conditions_that_contradict_each_other_are_seen() {
    check(NESTED, "stmt", &["dead"]);
    check(NESTED, "decision", &["x < 5 && x is true"]);
    check(NESTED, "condition", &["x < 5 is true", "x is false", "x is true"]);
    check(NESTED, "mcc", &["x < 5 and !(x)", "x < 5 and x"]);
    check(
        NESTED,
        "mcdc",
        &[
            "x < 5 is true and independently affects the outcome",
            "x is false and independently affects the outcome",
            "x is true and independently affects the outcome",
        ],
    );
    check(NESTED, "labels", &["both: "]);
    check(NESTED, "returns", &["returns non-zero"]);
}

#[test]
fn results_that_no_return_has_are_seen() {
    let function = |ty: &str, body: &str| format!("type ty0 = {ty}\nfunc @f(%0 \"x\": {body}");
    let int = |body: &str| function("int \"int\" 32 signed", &format!("i32 ty0) -> i32 ty0 {{\n{body}}}\n"));
    check(&int("b0:\n  return %0\n"), "returns", &[]);
    check(&int("b0:\n  %1: i32 = or %0, 1\n  return %1\n"), "returns", &["returns zero"]);
    let two = "b0:\n  %1: i1 = cmp eq %0, 0\n  branch %1, b1, b2\nb1:\n  return %0\nb2:\n  return 3\n";
    check(&int(two), "returns", &[]);
    check(&int(&two.replace("cmp eq", "cmp ne")), "returns", &["returns zero"]);
    let float = "float \"double\" f64";
    check(
        &function(float, "i64 ty0) -> i64 ty0 {\nb0:\n  return i64 0x8000000000000000\n}\n"),
        "returns",
        &["returns non-zero"],
    );
}

#[test]
fn ranges_of_inputs_count() {
    let mut config = Config::default();
    config.ranges.insert("x".into(), (-3, 10));
    check_with(&config, NESTED, "decision", &["x < 5 && x is false", "x < 5 && x is true", "x > 10 is true"]);
    check_with(&config, NESTED, "idc", &["x is greatest", "x is least"]);
}

#[test]
fn a_function_that_calls_itself_starts_with_anything() {
    let text = r#"
type ty0 = int "int" 32 signed
func @f(%0 "x": i32 ty0) -> i32 ty0 {
  decision d0 if "x > 5" = c0 { c0 "x > 5" }
b0:
  %1: i1 = cmp slt 5, %0
  branch %1, b1, b2 [d0.c0]
b1:
  return 1
b2:
  %2: i32 = add %0, 1
  %2 = call @f(%2)
  return %2
}
"#;
    let mut config = Config::default();
    config.ranges.insert("x".into(), (0, 3));
    check_with(&config, text, "decision", &[]);
}

#[test]
fn loops_are_followed_to_a_fixpoint_and_back() {
    let text = r#"
file f0 "a.c"
type ty0 = int "int" 32 signed
type ty1 = array ty0 length 10
func @f(%0 "n": i32 ty0) -> i32 ty0 {
  slot s0 "a": ty1 size 40
  decision d0 for "i < 10" = c0 { c0 "i < 10" }
  decision d1 if "i > 10" = c0 { c0 "i > 10" }
  decision d2 if "i == 10" = c0 { c0 "i == 10" }
  reg %1 "i": i32
b0:
  %1 = copy 0
  jump b1
b1:
  %2: i1 = cmp slt %1, 10
  branch %2, b2, b3 [d0.c0]
b2:
  %3: ptr = slot_addr s0
  %4: i64 = sext %1
  %4 = mul %4, 4
  %3 = ptr_add %3, %4
  store %3, %0 @f0:3:3
  %1 = add %1, 1
  jump b1
b3:
  %2 = cmp slt 10, %1
  branch %2, b4, b5 [d1.c0]
b4:
  return 1
b5:
  %2 = cmp eq %1, 10
  branch %2, b6, b4 [d2.c0]
b6:
  %5: i32 = sdiv %0, %1 @f0:4:4
  %3 = ptr_add %3, 4
  store %3, %0 @f0:5:5
  return %5
}
"#;
    check(text, "decision", &["i == 10 is false", "i > 10 is true"]);
    // The access in the loop is in bounds; after it nothing is known of the pointer but its base.
    let rte = ["division by zero", "null pointer", "dangling pointer", "out of bounds"];
    let got = proved(text, &Config::default());
    let got: Vec<&String> = got.iter().filter(|line| line.starts_with("rte")).collect();
    assert!(got.iter().all(|line| rte.iter().any(|kind| line.ends_with(kind))) && got.len() >= 2, "{got:?}");
}

#[test]
fn memory_that_others_may_write_is_not_trusted() {
    let text = r#"
type ty0 = int "int" 32 signed
global @g: ty0 size 4
global @table: ty0 size 12 internal constant = { 0: i32 3, 4: i32 7, 8: i32 5 }
func @other() -> i32 ty0
func @f(%0 "n": i64, %1 "p": ptr) -> i32 ty0 {
  slot s0 "own": ty0 size 4
  slot s1 "lent": ty0 size 4
  decision d0 if "own == 1" = c0 { c0 "own == 1" }
  decision d1 if "lent == 1" = c0 { c0 "lent == 1" }
  decision d2 if "g == 1" = c0 { c0 "g == 1" }
  decision d3 if "table[n] < 3" = c0 { c0 "table[n] < 3" }
  decision d4 if "g == 1 before" = c0 { c0 "g == 1 before" }
b0:
  %5: ptr = slot_addr s0
  store %5, i32 1
  %2: ptr = slot_addr s1
  store %2, i32 1
  store %1, %2
  %3: ptr = global_addr @g
  store %3, i32 1
  %4: i32 = load %3
  %6: i1 = cmp eq %4, 1
  branch %6, b1, b6 [d4.c0]
b1:
  %4 = call @other()
  %4 = load %5
  %6 = cmp eq %4, 1
  branch %6, b2, b6 [d0.c0]
b2:
  %4 = load %2
  %6 = cmp eq %4, 1
  branch %6, b3, b6 [d1.c0]
b3:
  %4 = load %3
  %6 = cmp eq %4, 1
  branch %6, b4, b6 [d2.c0]
b4:
  %7: i64 = and %0, 2
  %7 = shl %7, 2
  %8: ptr = global_addr @table
  %8 = ptr_add %8, %7
  %4 = load %8
  %6 = cmp slt %4, 3
  branch %6, b5, b6 [d3.c0]
b5:
  return 1
b6:
  return 0
}
"#;
    check(text, "decision", &["g == 1 before is false", "own == 1 is false", "table[n] < 3 is true"]);
}

#[test]
fn switches_leave_only_arms_that_values_lead_to() {
    let text = r#"
type ty0 = int "unsigned" 32 unsigned
func @f(%0 "x": i32 ty0) -> i32 ty0 {
b0:
  %1: i32 = urem %0, 4
  switch %1 { 0 => b1, 1..2 => b2, 3 => b1, 7 => b3, else => b4 }
b1:
  return 1
b2:
  return 2
b3:
  return 3
b4:
  return 4
}
"#;
    check(text, "branch", &["switch: case 7", "switch: default"]);
}

#[test]
fn pointers_are_null_only_before_they_were_used() {
    let text = r#"
type ty0 = int "int" 32 signed
type ty1 = pointer ty0
func @f(%0 "p": ptr ty1) -> i32 ty0 {
  decision d0 if "p" = c0 { c0 "p" }
b0:
  %1: i32 = load %0
  %2: i1 = cmp ne %0, null
  branch %2, b1, b2 [d0.c0]
b1:
  return %1
b2:
  return 0
}
"#;
    check(text, "decision", &["p is false"]);
}

struct Quiet;
impl Sink for Quiet {
    fn event(&mut self, _: SearchEvent<'_>) {}
}

// Random functions.

struct Rng(u64);

impl Rng {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % count
    }
    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len() as u64) as usize]
    }
}

/// Generates a function: `%0` and `%1` are parameters (i8), `%2` to `%4` variables (i8), `%5` and up scratch registers.
struct Maker {
    rng: Rng,
    blocks: Vec<String>,
    current: usize,
    decisions: String,
    decision_count: usize,
    points: String,
    point_count: usize,
    line: usize,
    fuel: usize,
}

const RELATIONS: [&str; 6] = ["eq", "ne", "ult", "ule", "slt", "sle"];
const OPERATIONS: [&str; 13] =
    ["add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr", "ashr"];

impl Maker {
    fn emit(&mut self, line: &str) {
        self.line += 1;
        let line = format!("  {line} @f0:{}:1\n", self.line);
        self.blocks[self.current].push_str(&line);
    }

    fn block(&mut self) -> usize {
        self.blocks.push(String::new());
        self.blocks.len() - 1
    }

    fn variable(&mut self) -> String {
        format!("%{}", self.rng.below(5))
    }

    fn local(&mut self) -> String {
        format!("%{}", 2 + self.rng.below(3))
    }

    fn number(&mut self) -> i64 {
        match self.rng.below(4) {
            0 => self.rng.below(256) as i64 - 128,
            _ => self.rng.below(9) as i64 - 3,
        }
    }

    fn operand(&mut self) -> String {
        if self.rng.below(3) == 0 { format!("i8 {}", self.number()) } else { self.variable() }
    }

    fn leaf(&mut self) -> String {
        if self.rng.below(3) == 0 {
            format!("(i8 {})", self.number())
        } else {
            format!("(i8 {} \"v\")", self.variable())
        }
    }

    fn value(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.below(3) == 0 {
            return self.leaf();
        }
        let op = self.rng.pick(&OPERATIONS);
        let (a, b) = (self.value(depth - 1), self.value(depth - 1));
        format!("({op} i8 {a} {b} \"e\")")
    }

    fn predicate(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.below(2) == 0 {
            let relation = self.rng.pick(&RELATIONS);
            let (a, b) = (self.value(1), self.value(1));
            return format!("({relation} i1 {a} {b} \"c\")");
        }
        let (a, b) = (self.predicate(depth - 1), self.predicate(depth - 1));
        match self.rng.below(4) {
            0 => format!("(not i1 {a})"),
            1 => format!("(ite i1 {a} {b} {})", self.predicate(0)),
            2 => format!("(and_then i1 {a} {b} \"c\")"),
            _ => format!("(or_else i1 {a} {b} \"c\")"),
        }
    }

    fn point(&mut self) {
        let kind = match self.rng.below(3) {
            0 => "statement".to_string(),
            1 => format!("value {}", self.value(2)),
            _ => format!("label \"l\" {}", self.predicate(2)),
        };
        let number = self.point_count;
        self.point_count += 1;
        writeln!(self.points, "  point p{number} {kind} \"p{number}\"").expect("a string");
        self.emit(&format!("point p{number}"));
    }

    /// Computes a condition in `%5`, through a widening half of the time.
    fn condition(&mut self) {
        let (a, b) = (self.variable(), self.operand());
        let relation = self.rng.pick(&RELATIONS);
        match self.rng.below(4) {
            0 => {
                let widen = self.rng.pick(&["sext", "zext"]);
                self.emit(&format!("%6 = {widen} {a}"));
                let number = self.number();
                self.emit(&format!("%5 = cmp {relation} %6, i32 {number}"));
            }
            1 => {
                self.emit(&format!("%7 = add {a}, i8 {}", 3));
                self.emit(&format!("%5 = cmp {relation} %7, {b}"));
            }
            2 => {
                self.emit(&format!("%5 = cmp {relation} {a}, {b}"));
                self.emit("%6 = zext %5");
                self.emit("%5 = cmp ne %6, i32 0");
            }
            _ => self.emit(&format!("%5 = cmp {relation} {a}, {b}")),
        }
    }

    /// Branches on a decision of one or two conditions.
    fn decide(&mut self, kind: &str, yes: usize, no: usize) {
        let number = self.decision_count;
        self.decision_count += 1;
        let tree = self.rng.pick(&["c0", "c0", "and(c0, c1)", "or(c0, c1)"]);
        let second = if tree == "c0" { "" } else { "c1 \"c1\"" };
        writeln!(self.decisions, "  decision d{number} {kind} \"d{number}\" = {tree} {{ c0 \"c0\" {second} }}")
            .expect("a string");
        self.condition();
        if tree == "c0" {
            return self.emit(&format!("branch %5, b{yes}, b{no} [d{number}.c0]"));
        }
        let next = self.block();
        let (then, other) = if tree.starts_with("and") { (next, no) } else { (yes, next) };
        self.emit(&format!("branch %5, b{then}, b{other} [d{number}.c0]"));
        self.current = next;
        self.condition();
        self.emit(&format!("branch %5, b{yes}, b{no} [d{number}.c1]"));
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.rng.below(4) {
            self.fuel = self.fuel.saturating_sub(1);
            if self.fuel == 0 {
                return;
            }
            self.statement(depth);
        }
    }

    fn statement(&mut self, depth: usize) {
        let choice = self.rng.below(if depth == 0 { 8 } else { 12 });
        match choice {
            0 | 1 => {
                let (dst, a, b) = (self.local(), self.variable(), self.operand());
                let op = self.rng.pick(&OPERATIONS);
                // Mostly a divisor other than zero.
                let odd = (op.ends_with("div") || op.ends_with("rem")) && self.rng.below(4) != 0;
                if odd {
                    self.emit(&format!("%7 = or {b}, i8 1"));
                }
                let b = if odd { "%7" } else { &b };
                self.emit(&format!("{dst} = {op} {a}, {b}"));
            }
            2 => {
                let (dst, src) = (self.local(), self.operand());
                self.emit(&format!("{dst} = copy {src}"));
            }
            3 => self.point(),
            4 => {
                // A slot, the array or the global, at a constant or masked offset.
                let place = self.rng.pick(&["slot_addr s0", "slot_addr s1", "global_addr @g", "global_addr @table"]);
                self.emit(&format!("%8 = {place}"));
                if self.rng.below(2) == 0 {
                    let index = self.variable();
                    self.emit(&format!("%9 = sext {index}"));
                    let limit = self.rng.pick(&["3", "1", "7"]);
                    self.emit(&format!("%9 = and %9, i64 {limit}"));
                    self.emit("%8 = ptr_add %8, %9");
                }
                let (value, dst) = (self.operand(), self.local());
                if self.rng.below(4) != 0 && !place.ends_with("table") {
                    self.emit(&format!("store %8, {value}"));
                }
                self.emit(&format!("{dst} = load %8"));
            }
            5 => {
                let (dst, a) = (self.local(), self.variable());
                self.emit(&format!("{dst} = call @helper({a})"));
            }
            6 => {
                // Rarely violated, so that much of the function stays reachable.
                let (a, which) = (self.variable(), self.rng.pick(&["assume", "assert"]));
                let (relation, limit) = if self.rng.below(2) == 0 { ("ne", self.number()) } else { ("sle", 100) };
                self.emit(&format!("%5 = cmp {relation} {a}, i8 {limit}"));
                self.emit(&format!("builtin {which}(%5)"));
            }
            7 => {
                // The address of a slot passes through a pointer variable.
                let place = self.rng.pick(&["slot_addr s0", "slot_addr s1", "slot_addr s1", "global_addr @g"]);
                let (dst, value) = (self.local(), self.operand());
                self.emit(&format!("%8 = {place}"));
                self.emit("%10 = slot_addr s2");
                if self.rng.below(2) == 0 {
                    self.emit("store %10, %8");
                    self.emit(&format!("%7 = call @writer(%8, {value})"));
                    self.emit("%8 = load %10");
                }
                if self.rng.below(2) == 0 {
                    self.emit(&format!("store %8, {value}"));
                }
                self.emit(&format!("{dst} = load %8"));
            }
            8 | 9 => {
                let (yes, no, end) = (self.block(), self.block(), self.block());
                self.decide("if", yes, no);
                for side in [yes, no] {
                    self.current = side;
                    self.statements(depth - 1);
                    self.emit(&format!("jump b{end}"));
                }
                self.current = end;
            }
            10 => {
                let (head, body, end) = (self.block(), self.block(), self.block());
                let counter = self.local();
                if self.rng.below(2) == 0 {
                    self.emit(&format!("{counter} = copy i8 0"));
                }
                self.emit(&format!("jump b{head}"));
                self.current = head;
                self.decide("while", body, end);
                self.current = body;
                self.statements(depth - 1);
                let step = 1 + self.rng.below(3);
                self.emit(&format!("{counter} = add {counter}, i8 {step}"));
                self.emit(&format!("jump b{head}"));
                self.current = end;
            }
            _ => {
                let (one, two, end) = (self.block(), self.block(), self.block());
                let value = self.variable();
                let low = self.number().min(100);
                let high = low + self.rng.below(10) as i64;
                self.emit(&format!(
                    "switch {value} {{ {low}..{high} => b{one}, {} => b{two}, 120 => b{one}, else => b{end} }}",
                    high + 1
                ));
                for side in [one, two] {
                    self.current = side;
                    self.statements(depth - 1);
                    self.emit(&format!("jump b{end}"));
                }
                self.current = end;
            }
        }
    }
}

fn random_function(seed: u64) -> String {
    let mut maker = Maker {
        rng: Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        blocks: vec![String::new()],
        current: 0,
        decisions: String::new(),
        decision_count: 0,
        points: String::new(),
        point_count: 0,
        line: 10,
        fuel: 14,
    };
    for local in 2..5 {
        // Mostly input-dependent, sometimes constant or uninitialised.
        match maker.rng.below(16) {
            0 => {}
            1..5 => {
                let value = maker.number();
                maker.emit(&format!("%{local} = copy i8 {value}"));
            }
            choice => {
                let op = maker.rng.pick(&["add", "xor", "mul", "and", "ashr"]);
                let (input, value) = (choice % 2, maker.number());
                maker.emit(&format!("%{local} = {op} %{input}, i8 {value}"));
            }
        }
    }
    for (slot, bytes) in [(0, 1), (1, 4)] {
        if maker.rng.below(4) != 0 {
            let value = maker.operand();
            maker.emit(&format!("%8 = slot_addr s{slot}"));
            maker.emit(&format!("mem_set %8, {value}, i64 {bytes}"));
        }
    }
    maker.statements(3);
    maker.emit("return %2");
    let mut text = String::from(
        r#"
file f0 "a.c"
type ty0 = int "signed char" 8 signed
type ty1 = array ty0 length 4
global @g: ty1 size 4 external
global @table: ty1 size 4 internal constant = { 0: i8 3, 1: i8 -2, 2: i8 7, 3: i8 5 }
func @writer(%0 "p": ptr, %1 "v": i8 ty0) -> i8 ty0 {
  decision d0 if "p" = c0 { c0 "p" }
b0:
  %2: i1 = cmp ne %0, null @f0:1:1
  branch %2, b1, b2 [d0.c0]
b1:
  store %0, %1 @f0:2:1
  return %1
b2:
  return i8 0
}
func @helper(%0 "x": i8 ty0) -> i8 ty0 {
  decision d0 if "x" = c0 { c0 "x" }
  reg %2 "y": i8
b0:
  %1: i1 = cmp slt %0, i8 2 @f0:3:1
  branch %1, b1, b2 [d0.c0]
b1:
  %3: ptr = global_addr @g
  store %3, %0 @f0:4:1
  %2 = and %0, i8 3
  return %2
b2:
  %2 = udiv %0, %0 @f0:5:1
  return %2
}
func @f(%0 "a": i8 ty0, %1 "b": i8 ty0) -> i8 ty0 {
  reg %2 "u": i8
  reg %3 "v": i8
  reg %4 "w": i8
  reg %5 "t": i1
  reg %6 "wide": i32
  reg %7 "tmp": i8
  reg %8 "ptr": ptr
  reg %9 "index": i64
  reg %10 "holder": ptr
  slot s0 "s": ty0 size 1
  slot s1 "arr": ty1 size 4
  slot s2 "pointer": ty0 size 8
"#,
    );
    text.push_str(&maker.decisions);
    text.push_str(&maker.points);
    for (index, block) in maker.blocks.iter().enumerate() {
        let body = if block.contains("branch")
            || block.contains("jump")
            || block.contains("switch")
            || block.contains("return")
        {
            block.clone()
        } else {
            format!("{block}  return i8 0\n")
        };
        write!(text, "b{index}:\n{body}").expect("a string");
    }
    text.push_str("}\n");
    text
}

/// Returns the goals that some input reaches, and whether all runs ended.
fn reached(module: &Module, func: FuncId, watch: &GoalIndex, ranges: [(i64, i64); 2]) -> (BTreeSet<GoalId>, bool) {
    let data = module.functions[func].params[0].data;
    let array = module.globals[module.global_named("g").expect("there is a global g")].data;
    let limits = Limits { steps: 3000, frames: 20, ..Limits::default() };
    let (mut all, mut ended) = (BTreeSet::new(), true);
    let byte = |value: i64| DataValue::Int(mask(value as u64, 8));
    for a in ranges[0].0..=ranges[0].1 {
        for b in ranges[1].0..=ranges[1].1 {
            let named = |name: &str, value: i64| NamedValue { name: name.into(), data, value: byte(value) };
            let params = [named("a", a), named("b", b)];
            let g = DataValue::Array(vec![byte(a.wrapping_mul(37) ^ b), byte(b), byte(1), byte(-1)]);
            let globals = [NamedValue { name: "g".into(), data: array, value: g }];
            let call = CallInputs { earlier: &[], params: &params, globals: &globals, objects: &[], answers: &[] };
            let run = watch_function(
                module,
                func,
                call,
                RunObservation { watch: Some(watch), limits, ..RunObservation::default() },
            );
            ended &= !matches!(run.end, touchstone_interp::End::Limit(_));
            all.extend(run.hits);
        }
    }
    (all, ended)
}

#[test]
fn nothing_that_some_input_reaches_is_proved_infeasible() {
    let programs: u64 = match std::env::var("TOUCHSTONE_PROVER_PROGRAMS") {
        Ok(count) => count.parse().expect("a number"),
        Err(_) => 150,
    };
    let first: u64 = std::env::var("TOUCHSTONE_PROVER_SEED").ok().map_or(1, |seed| seed.parse().expect("a number"));
    let (mut total, mut proofs, mut open) = (0, 0, 0);
    for seed in first..first + programs {
        let text = random_function(seed);
        let module = module(&text);
        let func = module.function_named("f").expect("there is a function f");
        let wanted = everything(&module);
        let watch = GoalIndex::new(&module, wanted.goals.clone());
        let goals: Vec<GoalId> = wanted.goals.ids().collect();
        // For half of the seeds the parameters are narrow, and the prover knows their ranges.
        let ranges = if seed % 2 == 0 { [(-128, 127), (-2, 3)] } else { [(-6, 9), (0, 20)] };
        let proof_time = std::time::Duration::from_millis(300);
        let mut config = Config { proof_time, ..Config::default() };
        for (name, (low, high)) in ["a", "b"].into_iter().zip(ranges) {
            config.ranges.insert(name.into(), (i128::from(low), i128::from(high)));
        }
        let proved = prove_infeasible(&module, func, &watch, &goals, &config);
        let (reached, _) = reached(&module, func, &watch, ranges);
        for goal in proved.keys() {
            let objective = &wanted.list[*goal];
            assert!(
                !reached.contains(goal),
                "seed {seed}: {} {:?} at {:?} was reached\n{text}",
                objective.id,
                wanted.goals[*goal],
                objective.span
            );
        }
        total += goals.len();
        proofs += proved.len();
        open += goals.len() - reached.len() - proved.len();
    }
    println!("{programs} programs, {total} goals, {proofs} proved, {open} neither reached nor proved");
    assert!(proofs * 20 > total, "the prover proves next to nothing: {proofs} of {total}");
}

#[test]
fn a_proof_that_the_clock_cuts_off_proves_nothing() {
    let mut with_time = 0;
    for seed in 1..20 {
        let module = module(&random_function(seed));
        let func = module.function_named("f").expect("there is a function f");
        let wanted = everything(&module);
        let watch = GoalIndex::new(&module, wanted.goals.clone());
        let goals: Vec<GoalId> = wanted.goals.ids().collect();
        let late = Config { proof_time: std::time::Duration::ZERO, ..Config::default() };
        assert!(prove_infeasible(&module, func, &watch, &goals, &late).is_empty(), "seed {seed}");
        with_time += prove_infeasible(&module, func, &watch, &goals, &Config::default()).len();
    }
    assert!(with_time > 0, "there was something to prove");
}

#[test]
fn bounded_exploration_covers_nothing_that_is_proved() {
    for seed in 1000..1040 {
        let text = random_function(seed);
        let module = module(&text);
        let func = module.function_named("f").expect("there is a function f");
        let wanted = everything(&module);
        let watch = GoalIndex::new(&module, wanted.goals.clone());
        let goals: Vec<GoalId> = wanted.goals.ids().collect();
        let mut config = Config { steps: 3000, max_paths: Some(200), loop_bound: Some(6), ..Config::default() };
        config.proof_time = std::time::Duration::from_millis(300);
        config.deadline = touchstone_base::Deadline::after(std::time::Duration::from_secs(2));
        config.ranges.insert("b".into(), (-1, 2));
        let proved = prove_infeasible(&module, func, &watch, &goals, &config);
        let found =
            explore_goals(&module, func, Goals { watch: watch.into(), closed: Vec::new() }, &config, &mut Quiet);
        for goal in proved.into_keys() {
            let objective = &wanted.list[goal];
            assert!(found.open.contains(&goal), "seed {seed}: {} was covered\n{text}", objective.id);
        }
    }
}
