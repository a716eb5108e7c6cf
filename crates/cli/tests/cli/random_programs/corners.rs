//! Random programs of declarations that are rare and valid: members without a name, `typeof` in declarators, `offsetof` through
//! macros, tentative and flexible objects, atomics, literals behind labels, old-style functions, documentation comments,
//! compatible types, constructors.
//!
//! Every unit prints what it computes; nothing in it is undefined.

use crate::support::rng::Rng;
use std::fmt::Write;

const SCALARS: [&str; 8] = ["char", "signed char", "unsigned short", "short", "int", "unsigned", "long", "double"];
const TYPES: [&str; 14] = [
    "int",
    "unsigned",
    "long",
    "long long",
    "char",
    "signed char",
    "enum E",
    "int *",
    "const int *",
    "volatile int *",
    "int[]",
    "int[3]",
    "int (*)(void)",
    "int (*)()",
];

/// One file with one unit for every seed, and a `main` that runs all of them.
pub fn program(seeds: std::ops::Range<u64>) -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#include <stddef.h>\n#include <stdatomic.h>\nenum E { RED, GREEN };\nunsigned started;\n\
         #define container_of(p, t, m) ({ const __typeof__(((t *)0)->m) *at_ = (p); (t *)((char *)at_ - offsetof(t, m)); })\n",
    );
    let mut priorities = Rng::new(seeds.start);
    for seed in seeds.clone() {
        text.push_str(&unit(seed));
        let _ = writeln!(
            text,
            "__attribute__((constructor({}))) static void start_{seed}(void) {{ started = started * 31 + {seed}; }}",
            101 + priorities.below(4)
        );
    }
    text.push_str("int main(void) {\n  printf(\"%u\\n\", started);\n");
    for seed in seeds {
        let _ = writeln!(text, "  run_{seed}();");
    }
    text.push_str("  return 0;\n}\n");
    text
}

struct Corner {
    rng: Rng,
    unit: u64,
    /// Paths of the scalars of the structure, with their types.
    leaves: Vec<(String, &'static str)>,
    fresh: usize,
    /// Types of the old-style function's parameters.
    old: [&'static str; 3],
}

fn unit(seed: u64) -> String {
    let mut corner =
        Corner { rng: Rng::new(seed ^ 0xc0_12e5), unit: seed, leaves: Vec::new(), fresh: 0, old: ["int"; 3] };
    let mut text = String::new();
    let members = corner.members(2, "");
    let comment = corner.comment();
    let _ = writeln!(text, "struct S{seed} early_{seed};\n{comment}struct S{seed} {{ {members} }};");
    corner.flexible(&mut text);
    corner.old_style(&mut text);
    let _ = writeln!(text, "{}static void run_{seed}(void) {{", corner.comment());
    corner.offsets(&mut text);
    corner.atomics(&mut text);
    corner.literals(&mut text);
    corner.compatible(&mut text);
    text.push_str("}\n");
    text
}

impl Corner {
    fn comment(&mut self) -> &'static str {
        let comments: [&str; 4] = ["", "/** What it is. */ ", "/// What it is.\n", "/*! \\param x what it is */ "];
        comments[self.rng.below(comments.len())]
    }
    fn name(&mut self) -> String {
        self.fresh += 1;
        format!("m{}", self.fresh)
    }

    /// Members of a structure; those of a member without a name are reached as its own.
    fn members(&mut self, depth: usize, prefix: &str) -> String {
        let mut text = String::new();
        for _ in 0..2 + self.rng.below(3) {
            let comment = self.comment();
            match self.rng.below(if depth > 0 { 5 } else { 2 }) {
                0 => {
                    let (name, ty, count) = (self.name(), *self.rng.pick(&SCALARS), 1 + self.rng.below(4));
                    let index = self.rng.below(count);
                    let _ = write!(text, "{comment}{ty} {name}[{count}]; ");
                    self.leaves.push((format!("{prefix}{name}[{index}]"), ty));
                }
                1 | 2 => {
                    let (name, ty) = (self.name(), *self.rng.pick(&SCALARS));
                    let _ = write!(text, "{comment}{ty} {name}; ");
                    self.leaves.push((format!("{prefix}{name}"), ty));
                }
                3 => {
                    let inner = self.members(depth - 1, prefix);
                    let _ = write!(text, "{comment}struct {{ {inner} }}; ");
                }
                _ => {
                    let name = self.name();
                    let inner = self.members(depth - 1, &format!("{prefix}{name}."));
                    let _ = write!(text, "{comment}struct {{ {inner} }} {name}; ");
                }
            }
        }
        text
    }

    fn offsets(&mut self, text: &mut String) {
        let unit = self.unit;
        for (path, ty) in self.leaves.clone() {
            let value = self.rng.between(1, 90);
            let cast = ["(long)", ""][usize::from(ty == "double")];
            let format = if ty == "double" { "%g" } else { "%ld" };
            let comment = self.comment();
            let _ = writeln!(text, "  early_{unit}.{path} = {value};");
            let _ = writeln!(
                text,
                "  {{ {comment}__typeof__(early_{unit}.{path}) *p = &early_{unit}.{path}, q[2] = {{ 1, *p }}; *p += q[1]; \
                 printf(\"%zu %zu %d {format}\\n\", offsetof(struct S{unit}, {path}), (size_t)&((struct S{unit} *)0)->{path}, \
                 container_of(p, struct S{unit}, {path}) == &early_{unit}, {cast}*p); }}"
            );
        }
    }

    fn flexible(&mut self, text: &mut String) {
        let unit = self.unit;
        let initial = *self.rng.pick(&["\"flex\"", "{\"in braces\"}", "{'a', 'b', 0}", "{[3] = 'x'}"]);
        let comment = self.comment();
        let _ = writeln!(text, "struct F{unit} {{ int n; char s[]; }};");
        let _ = writeln!(text, "{comment}static struct F{unit} flex_{unit} = {{ {}, {initial} }};", self.rng.below(9));
    }

    fn old_style(&mut self, text: &mut String) {
        let [a, b, c] =
            [*self.rng.pick(&SCALARS), *self.rng.pick(&["float", "short", "char"]), *self.rng.pick(&SCALARS)];
        self.old = [a, b, c];
        let _ = writeln!(
            text,
            "static double old_{}(a, b, c) {a} a; {b} b; {c} c; {{ return a * 3 + b * 2 + c; }}",
            self.unit
        );
    }

    fn atomics(&mut self, text: &mut String) {
        let unit = self.unit;
        let (ty, start) =
            (*self.rng.pick(&["int", "unsigned", "long", "unsigned char", "short"]), self.rng.between(0, 99));
        let comment = self.comment();
        let _ =
            writeln!(text, "  {comment}_Atomic {ty} n = {start}; {ty} expected = {};", self.rng.between(0, 1) * start);
        for _ in 0..4 {
            let value = self.rng.between(0, 20);
            let step = match self.rng.below(7) {
                0 => format!("n += {value};"),
                1 => "n++;".to_string(),
                2 => format!("printf(\"%ld\\n\", (long)atomic_fetch_sub(&n, {value}));"),
                3 => format!("printf(\"%ld\\n\", (long)atomic_exchange(&n, {value}));"),
                4 => format!("printf(\"%d\\n\", atomic_compare_exchange_strong(&n, &expected, {value}));"),
                5 => format!("atomic_fetch_xor(&n, {value});"),
                _ => format!("atomic_store(&n, {value});"),
            };
            let _ = writeln!(text, "  {step}");
        }
        let _ = writeln!(text, "  printf(\"%ld %ld\\n\", (long)n, (long)expected);");
        let _ = writeln!(text, "  printf(\"%s %d\\n\", flex_{unit}.s, flex_{unit}.n);");
        let arguments: Vec<String> = (0..3).map(|_| format!("{}", self.rng.between(-9, 90))).collect();
        let [a, b, c] = self.old;
        let _ = writeln!(
            text,
            "  printf(\"%g\\n\", old_{unit}(({a}){}, ({b}){}.5, ({c}){}));",
            arguments[0], arguments[1], arguments[2]
        );
    }

    fn literals(&mut self, text: &mut String) {
        let (times, step) = (self.rng.between(1, 4), self.rng.between(1, 9));
        let _ = writeln!(
            text,
            "  int *kept = 0, again = 0, sum = 0;\nback: if (kept) sum = sum * 10 + kept[1];\n  \
             kept = (int[]){{ again, again * {step} }}; int here = again; int *also = &here; sum += *also;\n  \
             if (again++ < {times}) goto back;\n  printf(\"%d %d\\n\", sum, *kept);"
        );
    }

    fn compatible(&mut self, text: &mut String) {
        for _ in 0..3 {
            let (a, b) = (*self.rng.pick(&TYPES), *self.rng.pick(&TYPES));
            let _ = writeln!(text, "  printf(\"%d\\n\", __builtin_types_compatible_p({a}, {b}));");
        }
    }
}
