//! The static prover against brute force: random functions with loops over small domains, every input run in the
//! interpreter. An objective that some run reaches and that the prover calls infeasible is a failure.
//!
//! Planted bugs that this finds, each tried once with 16 or 24 functions: memory that a loop writes is not made unknown (9
//! wrong proofs), invariants are not checked after an iteration (684), what a path that was given up can reach
//! is not counted as possible (1570), the interval fixpoint stops early (23).
//!
//! The functions have what the prover has to be careful with: loops that are never, once or often gone through, arrays
//! and pointers that may be one object or null, globals, callees that write through pointers, recursion, heap.
//! `TOUCHSTONE_LONG=1` tries fifty times as many, `TOUCHSTONE_SEED=N` begins elsewhere, `TOUCHSTONE_COUNT=N` says how
//! many.

use crate::support::domain::{Domain, Input};
#[allow(dead_code)]
use crate::support::lowering::lower_text;
use crate::support::rng::Rng;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use touchstone_criteria::{CriteriaOptions, GoalCriterion, GoalId, GoalIndex, Proof, REGISTRY, objectives};
use touchstone_engine::{Config, RunObservation, prove_infeasible, watch_function};
use touchstone_interp::Limits;
use touchstone_ir::{DataValue, Module, PointerTarget};

const BATCH: u64 = 10;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The declarations that all functions may use.
const PRELUDE: &str = "
void *malloc(unsigned long); void free(void *);
signed char g; static signed char hidden;
static signed char helper(signed char v) { hidden++; if (v > 2) { g = v; return 1; } return v & 3; }
static void put(signed char *p, signed char v) { if (p) *p = v; }
static signed char rec(signed char v) { if (v <= 0) { g++; return 0; } return rec(v - 1) + 1; }
";

struct Maker {
    rng: Rng,
    /// No pointers that change, no recursion, no heap: where less is given up, more can be proved wrongly.
    plain: bool,
    text: String,
    fuel: u32,
    loops: u32,
}

impl Maker {
    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.rng.below(items.len())]
    }

    fn var(&mut self) -> &'static str {
        self.pick(&["x", "y", "z", "x", "y", "u", "k"])
    }

    fn leaf(&mut self) -> String {
        match self.rng.below(8) {
            0 | 1 => format!("{}", self.rng.below(7) as i64 - 2),
            2 => self.pick(&["a", "b", "g"]).to_string(),
            3 => format!("arr[{} & 1]", self.var()),
            4 => format!("loc[{} & 3]", self.var()),
            5 => "(p ? *p : 1)".to_string(),
            _ => self.var().to_string(),
        }
    }

    fn value(&mut self, depth: u32) -> String {
        if depth == 0 || self.rng.below(2) == 0 {
            return self.leaf();
        }
        let (a, b) = (self.value(depth - 1), self.value(depth - 1));
        let op = self.pick(&["+", "-", "+", "-", "*", "&", "^", "|", "/", "%"]);
        match op {
            "/" | "%" => format!("({a} {op} ({b} | 1))"),
            _ => format!("({a} {op} {b})"),
        }
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.value(1), self.value(1));
        let relation = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
        let one = format!("{a} {relation} {b}");
        match self.rng.below(5) {
            0 => format!("{one} && {} < {}", self.leaf(), self.leaf()),
            1 => format!("{one} || {} == {}", self.leaf(), self.leaf()),
            2 => format!("{} % 2 == {}", self.var(), self.rng.below(2)),
            _ => one,
        }
    }

    fn block(&mut self, depth: u32) {
        self.text.push_str("{ ");
        for _ in 0..1 + self.rng.below(3) {
            self.statement(depth);
        }
        self.text.push_str("} ");
    }

    fn statement(&mut self, depth: u32) {
        if self.fuel == 0 {
            self.text.push_str("; ");
            return;
        }
        self.fuel -= 1;
        let choices = if depth == 0 { 14 } else { 22 };
        let choice = match self.rng.below(choices) {
            hard @ (7 | 9..=12) if self.plain => [4, 5, 6, 8, 0][hard % 5],
            choice => choice,
        };
        let made = match choice {
            0 | 1 => format!("{} = {}; ", self.var(), self.value(2)),
            2 | 3 => {
                let step = self.pick(&["+= 1", "-= 1", "+= 2", "^= 1", "+= 3", "-= 2"]);
                format!("{} {step}; ", self.var())
            }
            4 => format!("arr[{} & 1] = {}; ", self.var(), self.value(1)),
            5 => format!("loc[{} & 3] = {}; ", self.var(), self.value(1)),
            6 => format!("g = {}; ", self.value(1)),
            7 => {
                let target = self.pick(&["p", "q", "&x", "&z", "r", "arr", "&loc[2]", "&g"]);
                format!("put({target}, {}); ", self.leaf())
            }
            8 => format!("{} = helper({}); ", self.var(), self.leaf()),
            9 => format!("{} = rec({} & 3); ", self.var(), self.leaf()),
            10 => {
                let target = self.pick(&["p", "q", "&x", "arr", "&g", "&loc[1]", "r"]);
                format!("r = {target}; ")
            }
            11 => match self.rng.below(3) {
                0 => "if (r) *r = 5; ".to_string(),
                1 => format!("if (q) *q = {}; ", self.leaf()),
                _ => format!("if (r) {} = *r; ", self.var()),
            },
            12 => {
                let var = self.var();
                format!(
                    "{{ signed char *m = malloc(2); m[0] = {}; m[1] = 3; {var} = m[{} & 1]; free(m); }} ",
                    self.leaf(),
                    self.leaf()
                )
            }
            13 => format!("if ({}) return {}; ", self.condition(), self.rng.below(90)),
            14..17 => {
                let condition = self.condition();
                write!(self.text, "if ({condition}) ").expect("a string");
                self.block(depth - 1);
                if self.rng.below(2) == 0 {
                    self.text.push_str("else ");
                    self.block(depth - 1);
                }
                return;
            }
            17 => {
                let var = self.var();
                let low = self.rng.below(4) as i64 - 1;
                write!(self.text, "switch ({var}) {{ case {low}: {var} = {}; break; case {}: ", low + 1, low + 1)
                    .expect("a string");
                self.statement(depth - 1);
                write!(self.text, "break; case {}: {var} = {low}; break; default: ", low + 3).expect("a string");
                self.statement(depth - 1);
                self.text.push_str("} ");
                return;
            }
            _ => return self.repeat(depth),
        };
        self.text.push_str(&made);
    }

    fn repeat(&mut self, depth: u32) {
        self.loops += 1;
        let i = format!("i{}", self.loops);
        let var = self.var();
        match self.rng.below(if self.plain { 4 } else { 5 }) {
            0 => {
                let (limit, step) = (self.leaf(), 1 + self.rng.below(2));
                write!(self.text, "for ({i} = 0; {i} < {limit}; {i} += {step}) ").expect("a string");
            }
            1 => {
                let start = self.leaf();
                write!(self.text, "{i} = {start}; while ({i}-- > 0) ").expect("a string");
            }
            2 => {
                let condition = self.condition();
                write!(self.text, "for ({i} = 0; {i} < 9 && ({condition}); {i}++) ").expect("a string");
            }
            3 => {
                write!(self.text, "{i} = 0; do ").expect("a string");
                self.block(depth - 1);
                let limit = self.leaf();
                write!(self.text, "while (++{i} < {limit}); ").expect("a string");
                return;
            }
            _ => write!(self.text, "for (r = arr; r < arr + 2; r++) ").expect("a string"),
        }
        self.text.push_str("{ ");
        if self.rng.below(3) == 0 {
            let condition = self.condition();
            let way = self.pick(&["break", "continue", "return 91"]);
            write!(self.text, "if ({condition}) {way}; ").expect("a string");
        }
        self.block(depth - 1);
        // A variable in step with the counter, and a condition on it.
        if self.rng.below(2) == 0 {
            let (step, question) = (1 + self.rng.below(2), self.condition());
            write!(self.text, "{var} += {step}; if ({question}) u ^= 4; ").expect("a string");
        }
        self.text.push_str("} ");
    }
}

/// A function with loops.
fn function(seed: u64) -> String {
    let mut maker =
        Maker { rng: Rng::new(seed), plain: !seed.is_multiple_of(3), text: String::new(), fuel: 16, loops: 0 };
    for _ in 0..2 {
        maker.statement(2);
        maker.repeat(2);
    }
    maker.statement(3);
    let last = maker.condition();
    let loc = match seed % 3 {
        0 => "signed char loc[4];",
        _ => "signed char loc[4] = {0, 1, 2, 0};",
    };
    let counters: String = (1..=maker.loops).map(|counter| format!("int i{counter} = 0; ")).collect();
    format!(
        "int f{seed}(signed char a, signed char b, signed char arr[2], signed char *p, signed char *q) {{
  signed char x = 0, y = {}; int z = b; unsigned u = 0; int k = a; signed char *r = 0; {loc} {counters}
  {} if ({}) return 101; if (u > 200) return 102; return x + y; }}\n",
        ["a", "0", "2"][(seed % 3) as usize],
        maker.text,
        last,
    )
}

const DOMAINS: [(&str, &[i128]); 7] = [
    ("hidden", &[0]),
    ("a", &[-1, 0, 1, 2, 3]),
    ("b", &[0, 2]),
    ("arr", &[0, 1]),
    ("p", &[0, 3]),
    ("q", &[1]),
    ("g", &[0, 2]),
];

/// Returns the same input with the second pointer aliasing the first one's object, or the array.
fn aliased(input: &Input) -> Vec<Input> {
    let object = |value: &DataValue| match value {
        DataValue::Pointer(PointerTarget::Object { object, .. }) => Some(*object),
        _ => None,
    };
    let mut all = Vec::new();
    for (from, to) in [(3, 4), (2, 3), (2, 4)] {
        if let (Some(target), Some(_)) = (object(&input.params[from].value), object(&input.params[to].value)) {
            let mut other = input.clone();
            other.params[to].value = DataValue::Pointer(PointerTarget::Object { object: target, offset: 0 });
            all.push(other);
        }
    }
    all
}

#[derive(Default)]
struct Counts {
    goals: usize,
    reached: usize,
    intervals: usize,
    induction: usize,
    wrong: Vec<String>,
}

fn check(module: &Module, seed: u64, text: &str, counts: &mut Counts) {
    let func = module.function_named(&format!("f{seed}")).expect("the function");
    let heavy = seed.is_multiple_of(4);
    let criteria: Vec<&'static dyn GoalCriterion> = REGISTRY
        .iter()
        .copied()
        .filter(|criterion| criterion.name() != "labels" && (heavy || criterion.name() != "wm"))
        .collect();
    let scope: Vec<_> = ["helper", "put", "rec"].iter().filter_map(|name| module.function_named(name)).collect();
    let scope: Vec<_> = scope.into_iter().chain([func]).collect();
    let wanted = objectives(module, &scope, &criteria, &CriteriaOptions::default());
    let watch = GoalIndex::new(module, wanted.goals.clone());
    let open: Vec<GoalId> = wanted.goals.ids().collect();
    let mut config = Config::default();
    // Half of the runs give the prover the domains of the inputs.
    if seed.is_multiple_of(2) {
        for (name, values) in DOMAINS {
            let (low, high) = (values.iter().min(), values.iter().max());
            config.ranges.insert(name.into(), (*low.expect("values"), *high.expect("values")));
        }
    }
    let proved = prove_infeasible(module, func, &watch, &open, &config);
    let values = |name: &str| DOMAINS.iter().find(|(known, _)| *known == name).map(|(_, all)| all.to_vec());
    let domain = Domain::new(module, func, &values, u64::MAX).expect("a small domain");
    let limits = Limits { steps: 3000, frames: 20, ..Limits::default() };
    let mut reached = BTreeSet::new();
    for point in 0..domain.points {
        let input = domain.at(point);
        for input in aliased(&input).into_iter().chain([input]) {
            let look = RunObservation { watch: Some(&watch), limits, ..RunObservation::default() };
            let run = watch_function(module, func, input.call(), look);
            for goal in run.hits {
                if reached.insert(goal)
                    && let Some(proof) = proved.get(&goal)
                {
                    let objective = &wanted.list[goal];
                    let place = objective.span.display(&module.files);
                    let what = format!("{} {place} `{}`", objective.id, objective.text);
                    counts.wrong.push(format!("seed {seed}: {what}: {proof}, but {}\n{text}", input.shown()));
                }
            }
        }
    }
    counts.goals += open.len();
    counts.reached += reached.len();
    counts.intervals += proved.values().filter(|proof| **proof == Proof::Intervals).count();
    counts.induction += proved.values().filter(|proof| **proof == Proof::Induction).count();
}

#[test]
fn nothing_that_some_input_reaches_is_proved_infeasible() {
    let first = number("TOUCHSTONE_SEED").unwrap_or(1);
    let long = std::env::var_os("TOUCHSTONE_LONG").is_some();
    let count = number("TOUCHSTONE_COUNT").unwrap_or(if long { 800 } else { 6 });
    let mut counts = Counts::default();
    for start in (first..first + count).step_by(BATCH as usize) {
        let seeds: Vec<u64> = (start..(start + BATCH).min(first + count)).collect();
        let functions: Vec<String> = seeds.iter().map(|seed| function(*seed)).collect();
        let module = lower_text(&format!("{PRELUDE}{}", functions.concat()));
        for (seed, text) in seeds.iter().zip(&functions) {
            check(&module, *seed, text, &mut counts);
        }
    }
    let Counts { goals, reached, intervals, induction, wrong } = counts;
    println!("{count} functions: {goals} goals, {reached} reached, {intervals} by intervals, {induction} by induction");
    for one in wrong.iter().take(5) {
        eprintln!("---------------- {one}\n");
    }
    assert!(wrong.is_empty(), "{} wrong proofs", wrong.len());
    assert!(intervals > 0 && induction > 0, "the prover proves nothing by {intervals} and {induction}");
}
