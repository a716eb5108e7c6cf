//! A measured program does what the plain one does: random programs with all operators and GNU extensions print the same with
//! the probes of every criterion, and no file is dropped because a compiler refuses its probes.
//!
//! `TOUCHSTONE_LONG=1` tries many more, `TOUCHSTONE_SEED=N` begins elsewhere. A failure names its seed.

mod programs;

use crate::support::long;
use std::path::Path;
use std::process::Command;

/// Criteria that are measured together.
const SETS: [&str; 13] = [
    "stmt",
    "branch",
    "decision,condition",
    "dcc",
    "mcc",
    "mcdc",
    "wm",
    "idc,labels",
    "rte",
    "state",
    "mcdc,state",
    "stmt,branch,mcdc",
    "stmt,branch,decision,condition,dcc,mcc,mcdc,wm,idc,rte",
];

/// Runs a program and returns its output and exit status.
fn run(folder: &Path, program: &str) -> String {
    format!(
        "timeout 30 ./{program} > {program}.out 2>&1; echo $? >> {program}.out",
        program = folder.join(program).display()
    )
    .replace("./", "")
}

/// Measures programs, and compares what they print with what they print without probes. Gives what is wrong.
fn compare(programs: &[(String, String)], compiler: &str, flags: &str, criteria: &str) -> Vec<String> {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    let mut script = String::new();
    for (name, text) in programs {
        std::fs::write(folder.join(format!("{name}.c")), text).expect("writable");
        let build = |to: &str| format!("{compiler} -w -fwrapv {flags} -o {to} {name}.c -lm");
        let plain = Command::new("sh")
            .args(["-c", &format!("{} && {}", build(&format!("{name}-plain")), run(folder, &format!("{name}-plain")))])
            .current_dir(folder)
            .status()
            .expect("sh runs");
        assert!(plain.success(), "{name} does not compile without probes\n{text}");
        script += &format!("{} && {};", build(name), run(folder, name));
    }
    let made = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-c", criteria, "--", "sh", "-c", &script])
        .current_dir(folder)
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    let mut wrong = Vec::new();
    for (name, _) in programs {
        let read = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.out"))).unwrap_or_default();
        if read(name) != read(&format!("{name}-plain")) {
            wrong.push(format!("{name} with {criteria} by {compiler} {flags} prints something else"));
        }
    }
    let refused = said.lines().filter(|line| line.contains("refuses"));
    wrong.extend(refused.map(|line| format!("{criteria} by {compiler} {flags}: {line}")));
    wrong
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn random_programs_print_the_same_with_the_probes_of_every_criterion() {
    let (rounds, step) = if long() { (60, 1) } else { (1, 3) };
    let first = number("TOUCHSTONE_SEED").unwrap_or(1);
    let mut wrong = Vec::new();
    for round in 0..rounds {
        for (index, criteria) in SETS.iter().enumerate().step_by(step) {
            let seed = first + round * SETS.len() as u64 + index as u64;
            let compiler = if seed.is_multiple_of(3) { "clang-19" } else { "gcc" };
            let flags = ["-O0", "-O1", "-O2"][(seed % 4 % 3) as usize];
            let name = format!("seed{seed}");
            wrong.extend(compare(&[(name, programs::program(seed))], compiler, flags, criteria));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs whose behaviour a probe once changed, or that compilers refused with probes.
const FIXED: [(&str, &str); 8] = [
    (
        "elvis",
        r#"
        struct bits { unsigned a : 3; int b : 5; unsigned long long c : 40; _Bool d : 1; } s = { 5, -7, 1ull << 39, 1 };
        static int calls; static int side(int x) { calls++; return x; }
        static const char *name(const char *s) { return s ?: "none"; }
        static int one(int x) { return x; }
        int main(void) {
            int (*none)(int) = 0; float f = 0.25f; char text[4] = "abc"; unsigned char u = 200; int k = 3; volatile int v = 6;
            printf("%s %s %s\n", name(0), name("x"), text ?: "z");
            for (int i = -3; i < 4; i++) { int a = side(i) ?: side(7); printf("%d %d %d\n", i ?: 42, a, calls); }
            printf("%d %d %lld %d %d\n", s.a ?: 3, s.b ?: 4, (long long)(s.c ?: 9), s.d ?: 8, (s.a ?: 1u) - 10 < 0);
            printf("%g %g %d\n", f ?: 2.0, 0.0f * f ?: 3.5f, (none ?: one)(3));
            printf("%d %d %d %d\n", (calls > 3 && s.a) ?: -1, !calls ?: -1, (k--, k) ?: 9, v ?: 3);
            printf("%d %d\n", (int)sizeof(u ?: u) + (u ?: 1), (u ?: 1) << 24 < 0);
            return (int)(((__int128)1 << 70 ?: 3) >> 69);
        }"#,
    ),
    (
        "selected",
        r#"struct bits { unsigned a : 3; } s = { 5 };
        int main(void) { return __builtin_choose_expr(1, s.a, 2.0) + _Generic(1, int: s.a, default: 3); }"#,
    ),
    (
        "negated",
        "double h(double a) { return a * -0.5; } int main(void) { double d = 2; printf(\"%g %g\\n\", h(d), -(-d * -1.5)); return 0; }",
    ),
    (
        "parenthesised",
        r#"static const char *named(const char *s) { return s; }
        int f(const char *t, int b) { if ((*(named(t) ?: "none")) && b) return 1; return 0; }
        int main(void) { return f("x", 1) + f(0, 0); }"#,
    ),
    (
        "statements",
        r#"static int f(int x) { return ({ int y = x * 2; if (y > 5) y -= 3; y; }) + ({ x > 2 && x < 5; }) * ({ x -= 1; x; }); }
        int main(void) { for (int i = 0; i < 8; i++) printf("%d\n", f(i)); return 0; }"#,
    ),
    (
        "scopes",
        r#"static int f(int r, int b, int x) {
            for (int k = 0; k < 3; k++) {
                r += ({ int v = b; for (int inner = 0; inner < 3; inner++) if (x) v += inner; else v ^= b; v; });
                if (x == b) continue;
                r++;
            }
            return r;
        }
        int main(void) { printf("%d %d\n", f(1, 2, 3), f(1, 2, 2)); return 0; }"#,
    ),
    (
        "duff",
        r#"static int f(int v) { int k = 2, r = 0; switch (v & 3) { case 0: do { r += 3; case 1: r++; case 2: r ^= 8; case 3: ; } while (--k > 0); } return r; }
        int main(void) { for (int i = 0; i < 4; i++) printf("%d\n", f(i)); return 0; }"#,
    ),
    (
        "jumps",
        r#"static int f(int n) { static void *t[] = { &&a, &&b }; goto *t[n & 1]; a: if (n > 3) return 10; b: return n ? 20 : 30; }
        int main(void) { for (int i = 0; i < 6; i++) printf("%d\n", f(i)); return 0; }"#,
    ),
];

#[test]
fn what_probes_once_changed_stays_as_it_is() {
    let programs: Vec<(String, String)> =
        FIXED.iter().map(|(name, text)| (name.to_string(), format!("#include <stdio.h>\n{text}\n"))).collect();
    let mut wrong = Vec::new();
    let all = ["stmt,branch,decision,condition,dcc,mcc,mcdc,wm,idc,rte", "mcdc,state", "stmt,branch,mcdc", "mcc,wm"];
    for criteria in &all[..if long() { 4 } else { 2 }] {
        wrong.extend(compare(&programs, "gcc", "-O1", criteria));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
