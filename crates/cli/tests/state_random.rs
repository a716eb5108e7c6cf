//! State coverage against the truth: in random programs, where another last value of a global changes what is asserted, that
//! global must be checked. (The other direction is no law: influence that happens not to show is influence.)

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

/// A generator of random programs.
struct Random {
    seed: u64,
    /// The next assignment of a global.
    id: usize,
}

const GLOBALS: usize = 5;
const LOCALS: usize = 3;

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) as usize % most
    }

    fn expression(&mut self, depth: usize) -> String {
        let (left, right) = match depth {
            0 => (String::new(), String::new()),
            _ => (self.expression(depth - 1), self.expression(depth - 1)),
        };
        match (depth, self.below(10)) {
            (0, 0..=4) => format!("g{}", self.below(GLOBALS)),
            (0, 5..=7) => format!("l{}", self.below(LOCALS)),
            (0, _) => format!("{}u", self.below(9)),
            (_, 0..=2) => format!("({left} + {right})"),
            (_, 3) => format!("({left} ^ {right})"),
            (_, 4) => format!("({left} * 3u)"),
            (_, 5) => format!("(({left} & 1u) ? {right} : 4u)"),
            (_, 6) => format!("({left} < 5u && {right} > 2u)"),
            (_, 7) => format!("help({left}, {right})"),
            (_, 8) => format!("box((struct pair){{{left}, {right}}})"),
            _ => left,
        }
    }

    fn statements(&mut self, depth: usize, in_loop: bool, out: &mut String) {
        for _ in 0..=self.below(4) {
            let value = self.expression(2);
            // Statements whose conditions have compound literals in them are not followed to their end.
            let asked = if value.contains("box(") { format!("(g{} + l1)", self.below(GLOBALS)) } else { value.clone() };
            match self.below(if depth == 0 { 5 } else { 9 }) {
                0..=2 => {
                    let global = self.below(GLOBALS);
                    self.id += 1;
                    let _ = writeln!(out, "g{global} = S({global}, {}, {value});", self.id);
                }
                3 if in_loop => {
                    let _ = writeln!(out, "if ({asked} & 1u) break;");
                }
                // What a called function would have written is not known where a condition leaves the call out.
                3 if depth == 2 => {
                    let (global, other) = (self.below(GLOBALS), self.below(LOCALS));
                    self.id += 1;
                    let _ = writeln!(out, "set(&g{global}, S({global}, {}, {value} + l{other}));", self.id);
                }
                3 | 4 => {
                    let _ = writeln!(out, "l{} = {value};", self.below(LOCALS));
                }
                5 | 6 => {
                    let _ = writeln!(out, "if ({asked} & 1u) {{");
                    self.statements(depth - 1, in_loop, out);
                    out.push_str("} else {\n");
                    self.statements(depth - 1, in_loop, out);
                    out.push_str("}\n");
                }
                7 => {
                    let _ = writeln!(out, "for (unsigned i = 0; i < ({asked} & 3u); i++) {{");
                    self.statements(depth - 1, true, out);
                    out.push_str("}\n");
                }
                _ => {
                    let _ = writeln!(
                        out,
                        "switch ({asked} & 3u) {{\ncase 0: l0++; break;\ncase 1: l1 += g1;\ndefault: l2 = g2;\n}}"
                    );
                }
            }
        }
    }
}

/// `count` tests; `S` notes which assignment a global had last, and changes its value if it is the one that is asked for.
fn program(seed: u64, count: usize) -> String {
    let mut random = Random { seed, id: 0 };
    let mut tests = String::new();
    for test in 0..count {
        let mut body = String::new();
        random.statements(2, false, &mut body);
        random.statements(2, false, &mut body);
        let asserted = random.expression(2);
        let _ = writeln!(
            tests,
            "static unsigned test{test}(void) {{\nunsigned l0 = 1, l1 = 2, l2 = 3;\n{body}unsigned seen = {asserted};\n\
             assert(seen + 1u != seen);\nreturn seen;\n}}"
        );
    }
    let globals: String = (0..GLOBALS).map(|global| format!("g{global} = {}; ", global + 2)).collect();
    let names: Vec<String> = (0..count).map(|test| format!("test{test}")).collect();
    format!(
        "#include <assert.h>\n#include <stdio.h>\n#include <string.h>\n\
         void touchstone_test_begin(const char *);\n\
         static unsigned g0, g1, g2, g3, g4, last[{GLOBALS}], times[{ids}], which, nth;\n\
         struct pair {{ unsigned a, b; }};\n\
         static unsigned help(unsigned a, unsigned b) {{ if (a & 1u) return a + b; unsigned c = 0; while (c < (b & 3u)) c++; return c ^ a; }}\n\
         static unsigned box(struct pair p) {{ struct pair q = p; return q.a ? q.b : 7u; }}\n\
         static void set(unsigned *p, unsigned v) {{ *p = v; }}\n\
         static unsigned S(unsigned global, unsigned id, unsigned v) {{\n  last[global] = id;\n  times[id]++;\n\
         \x20 return v + (id == which && times[id] == nth);\n}}\n\
         {tests}\
         static void reset(void) {{ {globals} memset(last, 0, sizeof last); memset(times, 0, sizeof times); }}\n\
         #ifndef TRUTH\n#define BEGIN(name) touchstone_test_begin(name)\n#else\n#define BEGIN(name) (void)0\n#endif\n\
         int main(void) {{\n  static unsigned (*const tests[])(void) = {{{list}}};\n\
         \x20 for (unsigned t = 0; t < {count}; t++) {{\n    char name[16];\n    snprintf(name, sizeof name, \"test%u\", t);\n\
         \x20   which = 0; reset(); BEGIN(name);\n    unsigned base = tests[t]();\n#ifdef TRUTH\n    unsigned id[{GLOBALS}], n[{GLOBALS}];\n\
         \x20   for (unsigned g = 0; g < {GLOBALS}; g++) {{ id[g] = last[g]; n[g] = times[last[g]]; }}\n\
         \x20   for (unsigned g = 0; g < {GLOBALS}; g++) {{ which = id[g]; nth = n[g]; reset(); if (which && tests[t]() != base) printf(\"test%u g%u\\n\", t, g); }}\n\
         #else\n    (void)base;\n    BEGIN(\"between\");\n#endif\n  }}\n  return 0;\n}}\n",
        ids = random.id + 1,
        list = names.join(", "),
    )
}

#[test]
fn what_changes_an_asserted_value_is_checked() {
    let long = std::env::var_os("TOUCHSTONE_LONG").is_some();
    let mut compared = 0;
    for seed in 0..if long { 40 } else { 3 } {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        std::fs::write(scratch.path().join("random.c"), program(seed, 40)).expect("writable");
        let truth = Command::new("sh")
            .args(["-c", "cc -w -DTRUTH -o truth random.c && ./truth"])
            .current_dir(scratch.path())
            .output()
            .expect("sh runs");
        assert!(truth.status.success(), "{}", String::from_utf8_lossy(&truth.stderr));
        let changing: BTreeSet<String> = String::from_utf8_lossy(&truth.stdout).lines().map(str::to_string).collect();
        let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
            .args([
                "measure",
                "-c",
                "state,branch",
                "--format",
                "json",
                "--",
                "sh",
                "-c",
                "cc -w -O1 -o random random.c && ./random",
            ])
            .current_dir(scratch.path())
            .output()
            .expect("touchstone runs");
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.success() && !said.contains("not followed"), "{said}");
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
        let (mut checked, mut changed) = (BTreeSet::new(), BTreeSet::new());
        for test in report["state"].as_array().expect("state by test") {
            for update in test["updates"].as_array().expect("updates") {
                let what = update["what"].as_str().expect("what");
                let Some(global) =
                    what.split(['(', ')']).find(|word| word.len() == 2 && word.starts_with('g')).or(Some(what))
                else {
                    continue;
                };
                let line = format!("{} {global}", test["test"].as_str().expect("a test"));
                if update["checked"] == true {
                    checked.insert(line.clone());
                }
                changed.insert(line);
            }
        }
        let missing: Vec<&String> = changing.difference(&checked).collect();
        assert!(missing.is_empty(), "seed {seed}: {missing:?} change what is asserted, and are not called checked");
        compared += changing.len();
        // Not everything is.
        let unchecked = changed.iter().filter(|line| line.contains(" g") && !checked.contains(*line)).count();
        assert!(unchecked > 5, "seed {seed}: {unchecked}");
    }
    assert!(compared > 100, "only {compared} influences were compared");
}
