//! Random programs with all operators and the GNU extensions that real code uses. Each has one meaning: effects are in
//! an order that C defines (at most one operand has them, and no other operand reads what it writes), divisors and
//! shifts are in range, overflow wraps (`-fwrapv`), and floats become integers only where they fit. So every difference
//! between two builds is a bug of ours.
//!
//! Deliberately not here: nested functions and inline assembly with operands (files with them get no probes).

use std::fmt::Write;

/// A small deterministic generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
    fn pick(&mut self, list: &[&'static str]) -> &'static str {
        list[self.below(list.len())]
    }
}

/// The common head of all programs.
const HEAD: &str = r#"#include <stdio.h>
#include <stddef.h>
#include <string.h>
#include <alloca.h>
#include <stdbool.h>
typedef unsigned char u8;
typedef unsigned long long u64;
enum colour { RED = -1, GREEN, BLUE = 5 };
struct bits { unsigned a : 3; int b : 5; u64 c : 40; _Bool d : 1; signed char : 0; unsigned e : 31; };
struct point { int x, y; struct { short s; u8 t[3]; }; union { float f; unsigned u; }; };
struct tail { int n; int more[]; };
static u64 hash = 14695981039346656037ull;
static int g0 = 3, g1 = -7;
static unsigned gu = 40000u;
static long gl = -5;
static double gd = 1.5;
static float gf = -0.25f;
static u8 gc = 250;
static _Bool gb = 1;
static __int128 gw = (__int128)1 << 70;
static struct bits gs = { .a = 5, .b = -7, .c = 1ull << 39, .d = 1, .e = 77 };
static struct point gp = { 1, 2, { 3, { 4, 5, [2] = 6 } }, { .f = 2.0f } };
static int arr[8] = { [0] = 1, [2 ... 4] = 9, [7] = -1 };
static const char *text = "touchstone";
static const char *none;
static int *null;
static enum colour hue = BLUE;
static volatile int vol = 4;
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define BOTH(a, b) ((a) && (b) ? 1 : (a) || (b) ? 2 : 3)
#define SAFE(x) ({ __typeof__(+(x)) kept = (x); kept > 0 ? kept : -kept; })
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define KIND(x) _Generic((x), int: 1, unsigned: 2, double: 3, char *: 4, default: 5)
static long note(long x) { hash = (hash ^ (u64)x) * 1099511628211ull; return x; }
static const char *named(const char *s) { note(s ? s[0] : -1); return s; }
static int *at(int *p) { note(p ? *p : -2); return p; }
static int small(double d) { return d < 1e6 && d > -1e6 ? (int)d : 7; }
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int (*const table[2])(int, int) = { add, sub };
static int (*nothing)(int, int);
static inline int twice(int x) { if (x > 1000) return x; return x * 2; }
static int old(a, b) int a; char b; { return a && b ? a : b; }
static void leave(int *x) { note(*x); }
"#;

struct Writer {
    random: Random,
    out: String,
    /// Numbers for names.
    next: u32,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut writer = Writer { random, out: HEAD.to_string(), next: 0 };
    for _ in 0..20 {
        writer.random.below(2);
    }
    let count = 3;
    for index in 0..count {
        writer.function(index);
    }
    writer.out += "int main(void) {\n    static const int values[] = { 0, 1, -1, 3, 8, -100, 70000 };\n";
    writer.out += "    for (int i = 0; i < 7; i++) {\n";
    for index in 0..count {
        let _ = writeln!(
            writer.out,
            "        long r{index} = f{index}(values[i], (unsigned)values[6 - i], i * 0.75 - 2, i & 1 ? text : 0);\n        \
             printf(\"f{index} %ld %llu\\n\", r{index}, hash);"
        );
    }
    writer.out += "    }\n    printf(\"%d %d %u %ld %g %g %d %d\\n\", g0, g1, gu, gl, gd, gf, gc, gb);\n    return (int)(hash & 63);\n}\n";
    writer.out
}

impl Writer {
    fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(depth));
    }

    fn function(&mut self, index: usize) {
        let _ = writeln!(self.out, "static long f{index}(int a, unsigned b, double d, const char *s) {{");
        self.line(1, "long r = 0; int x = a, y = 2; u64 q = b; float f = (float)d; int *p = a & 1 ? &x : 0; struct bits t = gs; int e = 0;");
        for _ in 0..4 {
            self.statement(1, 2);
        }
        let value = self.int(3);
        self.line(1, &format!("return r + x + y + (long)q + e + t.a + t.b + ({value});"));
        self.out += "}\n";
    }

    /// A condition.
    fn truth(&mut self, left: u32) -> String {
        if left == 0 {
            return self
                .random
                .pick(&["a > 0", "b", "d < 0.5", "s", "!p", "t.d", "gb", "x == y", "q & 4", "none"])
                .to_string();
        }
        let (a, b) = (self.random.below(14), left - 1);
        match a {
            0 | 1 => format!("({} && {})", self.effect(b), self.truth(b)),
            2 | 3 => format!("({} || {})", self.truth(b), self.effect(b)),
            4 => format!("!({})", self.truth(b)),
            5 => format!("(({}) == ({}))", self.bool(b), self.bool(b)),
            6 => format!("(({}) ^ ({}))", self.bool(b), self.bool(b)),
            7 => format!("({} ? {} : {})", self.truth(b), self.effect(b), self.truth(b)),
            8 => format!("(note({}), {})", self.int(b), self.truth(b)),
            9 => format!("LIKELY({})", self.truth(b)),
            10 => format!("({} ?: {})", self.effect(b), self.truth(b)),
            11 => format!("({} < {})", self.float(b), self.float(b)),
            12 => format!("(x = {})", self.int_without_x(b)),
            _ => format!("({} > {})", self.effect(b), self.int(b)),
        }
    }

    /// A value that is 0 or 1.
    fn bool(&mut self, left: u32) -> String {
        match self.random.below(4) {
            0 => "gb".to_string(),
            1 => format!("{} < {}", self.int(left), self.int(0)),
            2 => format!("!({})", self.pure_truth(left)),
            _ => format!("({}) && {}", self.pure_truth(left), self.pure_truth(0)),
        }
    }

    fn pure_truth(&mut self, left: u32) -> String {
        if left == 0 {
            return self.truth(0);
        }
        match self.random.below(4) {
            0 => format!("({} || {})", self.pure_truth(left - 1), self.pure_truth(left - 1)),
            1 => format!("({} ? {} : {})", self.pure_truth(left - 1), self.pure_truth(left - 1), self.pure_truth(0)),
            2 => format!("({} >= {})", self.int(left - 1), self.int(0)),
            _ => format!("({} ?: {})", self.int(left - 1), self.pure_truth(0)),
        }
    }

    /// A number whose evaluation may have effects on what nothing else reads.
    fn effect(&mut self, left: u32) -> String {
        let inner = left.saturating_sub(1);
        match self.random.below(12) {
            0 => format!("note({})", self.int(inner)),
            1 => format!("(note({}) ?: note({}))", self.int(inner), self.int(inner)),
            2 => format!("(e++, e += {}, {})", self.int(inner), self.int(inner)),
            3 => format!("(*(named({}) ?: \"none\"))", self.random.pick(&["s", "none", "text", "\"\"", "(s ?: none)"])),
            4 => format!("(*(at({}) ?: &g0))", self.random.pick(&["p", "null", "&arr[3]", "(p ?: null)"])),
            5 => {
                let (v, k) = (self.name("v"), self.name("k"));
                let (value, cond, other) = (self.int(inner), self.pure_truth(inner), self.int(inner));
                format!(
                    "({{ int {v} = {value}; for (int {k} = 0; {k} < 3; {k}++) if ({cond}) {v} += {k}; else {v} ^= {other}; note({v}); {v}; }})"
                )
            }
            6 => format!("(e = {}, e)", self.int(inner)),
            7 => format!("({} ? note({}) : ({}))", self.pure_truth(inner), self.int(inner), self.int(inner)),
            8 => format!(
                "({{ __label__ out; if ({}) goto out; note({}); out: ; {}; }})",
                self.pure_truth(inner),
                self.int(0),
                self.int(0)
            ),
            _ => self.int(left),
        }
    }

    fn int_without_x(&mut self, left: u32) -> String {
        // A fresh value of the parameters only.
        match self.random.below(3) {
            0 => format!("(a + {left})"),
            1 => "(int)b".to_string(),
            _ => "(s ? s[1] : a) & 7".to_string(),
        }
    }

    /// A number, without effects.
    fn int(&mut self, left: u32) -> String {
        if left == 0 {
            return match self.random.below(3) {
                0 => self
                    .random
                    .pick(&[
                        "0",
                        "1",
                        "-1",
                        "'x'",
                        "255u",
                        "0x7fffffff",
                        "3L",
                        "RED",
                        "BLUE",
                        "(-128)",
                        "sizeof(int)",
                        "-2147483647 - 1",
                    ])
                    .to_string(),
                1 => self
                    .random
                    .pick(&["a", "b", "x", "y", "q", "t.a", "t.b", "(long)t.c", "t.e", "gc", "gb"])
                    .to_string(),
                _ => self
                    .random
                    .pick(&[
                        "g0",
                        "g1",
                        "gu",
                        "gl",
                        "hue",
                        "vol",
                        "arr[a & 7]",
                        "gp.s",
                        "gp.t[1]",
                        "gp.u",
                        "gs.a",
                        "(int)gw",
                        "(p ? *p : 3)",
                    ])
                    .to_string(),
            };
        }
        let b = left - 1;
        match self.random.below(35) {
            0..=4 => {
                let sign = self.random.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({} {sign} {})", self.int(b), self.int(b))
            }
            5 => format!("({} / (({} & 15) | 1))", self.int(b), self.int(b)),
            6 => format!("({} % (({} & 15) | 1))", self.int(b), self.int(b)),
            7 => {
                let sign = self.random.pick(&["<<", ">>"]);
                format!("({} {sign} ({} & 15))", self.int(b), self.int(b))
            }
            8 => {
                let sign = self.random.pick(&["-", "~", "!", "+"]);
                format!("({sign}({}))", self.int(b))
            }
            9 => {
                let sign = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({} {sign} {})", self.int(b), self.int(b))
            }
            10 | 11 => format!("({} ? {} : {})", self.pure_truth(b), self.int(b), self.int(b)),
            12 | 13 => format!("({} ?: {})", self.int(b), self.int(b)),
            14 => format!("({} && {})", self.pure_truth(b), self.pure_truth(b)),
            15 => format!(
                "(({})({}))",
                self.random.pick(&["char", "u8", "short", "_Bool", "long", "u64", "unsigned", "enum colour"]),
                self.int(b)
            ),
            16 => format!("arr[({}) & 7]", self.int(b)),
            17 => format!("((int[]){{ {}, 4, [3] = {} }}[b & 3])", self.int(b), self.int(b)),
            18 => format!("((struct point){{ .y = {}, .x = 2 }}.y)", self.int(b)),
            19 => format!("(int)((struct bits){{ .b = {} & 15, .a = 6 }}.b)", self.int(b)),
            20 => {
                let v = self.name("v");
                format!("({{ __auto_type {v} = +({}); {v} += {}; {v}; }})", self.int(b), self.int(b))
            }
            21 => format!("MAX({}, {})", self.int(b), self.int(b)),
            22 => format!("BOTH({}, {})", self.pure_truth(b), self.int(b)),
            23 => format!("SAFE({})", self.int(b)),
            24 => format!(
                "({} ?: sub)({}, {})",
                self.random.pick(&["nothing", "table[a & 1]", "add"]),
                self.int(b),
                self.int(b)
            ),
            25 => format!("twice({})", self.int(b)),
            26 => format!("small({})", self.float(b)),
            27 => format!("((s ?: \"none\")[({}) & 3])", self.int(b)),
            28 => format!("KIND({})", self.int(b)),
            29 => format!("((int)((gw * ({}) + 3) >> 65))", self.int(b)),
            30 => format!("(t.{} ?: {})", self.random.pick(&["a", "b", "c", "d", "e"]), self.int(b)),
            31 => format!("old({}, {})", self.int(b), self.int(b)),
            33 => format!("__builtin_choose_expr(1, {}, 2.0)", self.int(b)),
            32 => format!("(int)sizeof({} ?: {})", self.int(b), self.int(b)),
            _ => format!("((int)offsetof(struct point, t[1]) + (int)_Alignof(double) + {})", self.int(b)),
        }
    }

    /// A float, without effects.
    fn float(&mut self, left: u32) -> String {
        if left == 0 {
            return self
                .random
                .pick(&["d", "gd", "gf", "f", "0.5", "-0.5", "2.5f", "1e3", "-0.0", "gp.f", "3"])
                .to_string();
        }
        let b = left - 1;
        match self.random.below(8) {
            0..=3 => {
                let sign = self.random.pick(&["+", "-", "*", "/"]);
                format!("({} {sign} {})", self.float(b), self.float(b))
            }
            4 => format!("(- {})", self.float(b)),
            5 => format!("({} ? {} : {})", self.pure_truth(b), self.float(b), self.float(b)),
            6 => format!("({} ?: {})", self.float(b), self.float(b)),
            _ => format!("({})({})", self.random.pick(&["float", "double", "long double"]), self.int(b)),
        }
    }

    fn block(&mut self, depth: usize, left: u32) {
        for _ in 0..1 + self.random.below(2) {
            self.statement(depth, left);
        }
    }

    fn statement(&mut self, depth: usize, left: u32) {
        let kinds = if left == 0 { 10 } else { 27 };
        let e = 2;
        match self.random.below(kinds) {
            0 => {
                let (to, sign) = (
                    self.random.pick(&[
                        "r",
                        "x",
                        "y",
                        "q",
                        "e",
                        "t.a",
                        "t.b",
                        "t.c",
                        "gu",
                        "gl",
                        "gc",
                        "gb",
                        "arr[a & 7]",
                        "gp.t[2]",
                        "gw",
                    ]),
                    self.random.pick(&["=", "+=", "-=", "*=", "|=", "&=", "^="]),
                );
                let value = self.int(e + 1);
                self.line(depth, &format!("{to} {sign} {value};"));
            }
            1 => {
                let value = self.effect(e + 1);
                self.line(depth, &format!("r += {value};"));
            }
            2 => {
                let value = self.float(e + 1);
                self.line(depth, &format!("gd = {value}; note(small(gd)); f *= -0.5f;"));
            }
            3 => {
                let (a, b) = (self.pure_truth(e), self.int(e));
                self.line(depth, &format!("if ({a}) x++, --y; else t.b = {b} & 7;"));
            }
            4 => {
                let value = self.int(e);
                self.line(depth, &format!("note(small({value})); p ? (*p = y) : (y ^= 1);"));
            }
            5 => {
                let (v, value, other) = (self.name("v"), self.int(e), self.int(e));
                self.line(depth, &format!("{{ int {v}[(({value}) & 3) + 2]; {v}[1] = {other}; {v}[0] = 1; note(sizeof {v}); r ^= {v}[1]; }}"));
            }
            6 => {
                let (v, value, n) = (self.name("v"), self.int(e), self.int(1));
                self.line(
                    depth,
                    &format!("{{ static int {v} = 4; {v} += {value}; note({v}); if ({v} > 100) {v} = ({n}) ?: 2; }}"),
                );
            }
            7 => {
                let (v, value) = (self.name("v"), self.int(e));
                self.line(depth, &format!("{{ struct point {v} = {{ .t = {{ [1] = {value} }}, .f = 1.5f }}, copy = {v}; note(copy.t[1] + (copy.u >> 20)); }}"));
            }
            8 => {
                let (v, value) = (self.name("v"), self.int(e));
                self.line(
                    depth,
                    &format!("{{ int {v} __attribute__((__cleanup__(leave))) = {value}; if ({v} & 1) note(1); }}"),
                );
            }
            9 => {
                let (v, value) = (self.name("v"), self.int(e));
                self.line(depth, &format!("{{ struct tail *{v} = alloca(sizeof *{v} + 8); {v}->more[1] = {value}; note({v}->more[1]); __asm__ __volatile__(\"\" ::: \"memory\"); }}"));
            }
            10..=12 => {
                let cond = self.truth(e + 1);
                self.line(depth, &format!("if ({cond}) {{"));
                self.block(depth + 1, left - 1);
                if self.random.below(2) == 0 {
                    let cond = self.truth(e);
                    self.line(depth, &format!("}} else if ({cond}) {{"));
                    self.block(depth + 1, left - 1);
                }
                self.line(depth, "} else {");
                self.block(depth + 1, left - 1);
                self.line(depth, "}");
            }
            13 => {
                let (k, cond) = (self.name("k"), self.truth(e));
                self.line(depth, &format!("for (int {k} = 0; {k} < 3 && ({cond} || 1); {k}++) {{"));
                self.block(depth + 1, left - 1);
                let cond = self.pure_truth(1);
                self.line(depth + 1, &format!("if ({cond}) continue;"));
                self.line(depth + 1, "r++;");
                self.line(depth, "}");
            }
            14 => {
                let (k, cond) = (self.name("k"), self.truth(e));
                self.line(depth, &format!("{{ int {k} = 3; while ({k}-- > 0 && {cond}) {{"));
                self.block(depth + 1, left - 1);
                self.line(depth, "} }");
            }
            15 => {
                let (k, cond) = (self.name("k"), self.truth(e));
                self.line(depth, &format!("{{ int {k} = 0; do {{"));
                self.block(depth + 1, left - 1);
                self.line(depth, &format!("if ({k} > 5) break; }} while (++{k} < 3 && {cond}); }}"));
            }
            16..=19 => self.switch(depth, left),
            20 | 21 => {
                let (one, two, v, value) = (self.name("l"), self.name("l"), self.name("t"), self.int(e));
                self.line(
                    depth,
                    &format!("{{ static void *{v}[] = {{ &&{one}, &&{two} }}; goto *{v}[(({value}) & 1)];"),
                );
                self.line(depth, &format!("{one}:"));
                self.statement(depth + 1, left - 1);
                self.line(depth, &format!("{two}: ;"));
                self.statement(depth + 1, left - 1);
                self.line(depth, "}");
            }
            22 => {
                let (l, k, cond) = (self.name("again"), self.name("k"), self.pure_truth(e));
                self.line(depth, &format!("{{ int {k} = 0;"));
                self.line(depth, &format!("{l}:"));
                self.statement(depth + 1, left - 1);
                self.line(depth, &format!("if ({k}++ < 2 && {cond}) goto {l}; }}"));
            }
            23 => {
                let (a, b, c) = (self.pure_truth(1), self.pure_truth(1), self.int(1));
                self.line(depth, &format!("if ({a}) if ({b}) r += {c}; else r--; else ;"));
            }
            24 => {
                // Duff's device.
                let (k, value) = (self.name("k"), self.int(e));
                self.line(depth, &format!("{{ int {k} = 2; switch (({value}) & 3) {{ case 0: do {{ r += 3; case 1: note({k}); case 2: x ^= 1; case 3: ; }} while (--{k} > 0); }} }}"));
            }
            25 => {
                let (cond, value, other) = (self.truth(e), self.int(e), self.int(e));
                self.line(
                    depth,
                    &format!("x = {cond} ? {value} : ({{ if (y > 3) note(1); else note(2); {other}; }});"),
                );
            }
            _ => {
                let cond = self.truth(e);
                self.line(
                    depth,
                    &format!("if (({cond}) && depth_{}) return note(r);", "x").replace("depth_x", "x > 90000"),
                );
            }
        }
    }

    fn switch(&mut self, depth: usize, left: u32) {
        let value = self.effect(2);
        let (low, high) = (self.random.below(3), 4 + self.random.below(3));
        self.line(depth, &format!("switch ({value}) {{"));
        if self.random.below(4) == 0 {
            let v = self.name("v");
            self.line(depth + 1, &format!("int {v};"));
        }
        let mut cases = vec![
            "case -1:".to_string(),
            format!("case {low} ... 3:"),
            format!("case {high}: case {}:", high + 1),
            "case 'x': case BLUE + 200 ... 300:".to_string(),
            "case sizeof(int) * 100 ? 1000 : 2000:".to_string(),
        ];
        let at = self.random.below(7);
        if at < cases.len() {
            cases.insert(at, "default:".to_string());
        }
        for case in cases {
            self.line(depth, &case);
            match self.random.below(4) {
                0 => self.line(depth + 1, ";"),
                1 => {
                    self.line(depth + 1, "{");
                    self.block(depth + 1, left - 1);
                    self.line(depth + 1, "break; }");
                }
                _ => self.block(depth + 1, left - 1),
            }
            if self.random.below(2) == 0 {
                self.line(depth + 1, "break;");
            }
        }
        self.line(depth, "}");
    }
}
