//! Assumptions about the environment of a function. Every case is an outcome that a real program reaches: by a second
//! call, through a pointer into a part of an object, with a failing allocation, by code of other files, by a device.
//! None may be called infeasible; if it is not covered, the verdict names the reason. A few cases are the opposite:
//! what no environment can change is still proved.

use crate::support::long;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// The objectives of a program's function `f` by all criteria that the cases speak about.
fn objectives(text: &str, options: &[&str]) -> Vec<Value> {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("world.c");
    std::fs::write(&file, text).expect("a writable scratch directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(["prove", "-c", "branch,decision,condition,mcdc", "--format", "json", "-q"]);
    command.args(["--budget", if long() { "0.3" } else { "0.1" }]);
    if !options.contains(&"--entry") {
        command.args(["-f", "f"]);
    }
    let output = command.args(options).arg(&file).current_dir(scratch.path()).output().expect("touchstone runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{text}\n{}", String::from_utf8_lossy(&output.stderr)));
    report["objectives"].as_array().expect("objectives").clone()
}

/// Returns an error for every reachable outcome, such as `k == 3 is true`, about which the verdicts are wrong.
fn complaints(text: &str, outcomes: &[&str], options: &[&str]) -> Vec<String> {
    let all = objectives(text, options);
    outcomes.iter().filter_map(|outcome| complaint(&all, text, outcome, options)).collect()
}

fn complaint(all: &[Value], text: &str, outcome: &str, options: &[&str]) -> Option<String> {
    let ours = all.iter().filter(|one| one["text"].as_str().is_some_and(|text| text.starts_with(outcome)));
    let ours: Vec<&Value> = ours.collect();
    if ours.is_empty() {
        return Some(format!("{outcome:?} is no objective of\n{text}\n{all:?}"));
    }
    ours.iter().find_map(|one| {
        let why = one["why"].as_str().unwrap_or_default();
        let status = one["status"].as_str().unwrap_or_default();
        let wrong = status == "infeasible" || (status == "unknown" && why.is_empty());
        wrong.then(|| format!("{} {outcome:?} is {status} ({why}), with {options:?}:\n{text}", one["criterion"]))
    })
}

/// Every outcome is reached by some program, so none is infeasible, and what is unknown has a reason.
#[track_caller]
fn check(cases: &[(&str, &str)]) {
    check_with(&[&[]], cases);
}

/// The same under each of several lists of options.
#[track_caller]
fn check_with(modes: &[&[&str]], cases: &[(&str, &str)]) {
    let mut programs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (outcome, text) in cases {
        programs.entry(text).or_default().push(outcome);
    }
    let all = modes.iter().flat_map(|options| programs.iter().map(move |program| (*options, program)));
    let complaints: Vec<String> =
        all.flat_map(|(options, (text, outcomes))| complaints(text, outcomes, options)).collect();
    let asked = modes.len() * cases.len();
    assert!(complaints.is_empty(), "{} of {asked} are wrong\n\n{}", complaints.len(), complaints.join("\n\n"));
}

/// No program reaches the outcome, and Touchstone proves that: caution is no excuse for saying nothing.
#[track_caller]
fn check_infeasible(cases: &[(&str, &str)]) {
    for (outcome, text) in cases {
        let all = objectives(text, &[]);
        let mut ours = all.iter().filter(|one| one["text"] == *outcome).peekable();
        assert!(ours.peek().is_some(), "{outcome:?} is no objective of\n{text}\n{all:?}");
        for one in ours {
            assert_eq!(one["status"], "infeasible", "{outcome:?}: {}\n{text}", one["why"]);
        }
    }
}

#[test]
fn a_static_local_has_any_value_that_earlier_calls_left() {
    check(&[
        ("k==3 is true", "int f(void){ static int k; k++; if (k==3) return 1; return 0; }"),
        ("k == 5 is true", "int f(int x){ static int k = 2; if (k == 5) return 1; if (x > 0) k = x; return 0; }"),
        ("first is false", "int f(void){ static int first = 1; if (first) { first = 0; return 1; } return 0; }"),
        (
            "t[1] == 7 is true",
            "int f(int i){ static int t[3]; if (t[1] == 7) return 1; if (i >= 0 && i < 3) t[i] = 7; return 0; }",
        ),
        (
            "s.b == 2 is true",
            "int f(int x){ static struct { int a, b; } s; if (s.b == 2) return 1; s.b = x; return 0; }",
        ),
        ("*p == 4 is true", "int f(int x){ static int k; int *p = &k; if (*p == 4) return 1; *p = x; return 0; }"),
        (
            "last == p is true",
            "int f(int *p){ static int *last; if (last == p) return p ? 1 : 2; last = p; return 0; }",
        ),
        (
            "*kept == 9 is true",
            "int f(int *p){ static int *kept; if (kept) { if (*kept == 9) return 1; } kept = p; return 0; }",
        ),
        (
            "flag is true",
            "#include <stdbool.h>\nint f(bool on){ static bool flag; if (flag) return 1; flag = on; return 0; }",
        ),
        (
            "s == 2 is true",
            "enum state { IDLE, ARMED, FIRED }; int f(int go){ static enum state s; if (s == 2) return 1;
            if (go) s = s == IDLE ? ARMED : FIRED; return 0; }",
        ),
        ("d > 1.5 is true", "int f(void){ static double d; d += 1.0; if (d > 1.5) return 1; return 0; }"),
        (
            "u.w == 256 is true",
            "int f(void){ static union { unsigned w; unsigned char b[4]; } u; if (u.w == 256) return 1; u.b[1] = 1; return 0; }",
        ),
    ]);
}

#[test]
fn the_state_of_a_callee_outlives_the_call() {
    check(&[
        (
            "next() == 3 is true",
            "static int next(void){ static int n; return ++n; } int f(void){ if (next() == 3) return 1; return 0; }",
        ),
        (
            "n == 4 is true",
            "static int depth(int x){ static int n; n++; if (x > 0) depth(x - 1); return n; }
            int f(void){ int n = depth(1); if (n == 4) return 1; return 0; }",
        ),
        ("k == 2 is true", "int f(int x){ static int k; if (k == 2) return 1; if (x == 1) { k++; f(0); } return 0; }"),
        (
            "seen is true",
            "static int once(void){ static int seen; int was = seen; seen = 1; return was; }
            int f(void){ int seen = once(); if (seen) return 1; return 0; }",
        ),
        (
            "b[0] == 'x' is true",
            "static char *buffer(void){ static char b[4]; return b; }
            int f(int c){ char *b = buffer(); if (b[0] == 'x') return 1; b[0] = c; return 0; }",
        ),
    ]);
}

#[test]
fn a_file_level_static_is_changed_by_the_other_functions_of_its_file() {
    check(&[
        ("k == 3 is true", "static int k; void set(int v){ k = v; } int f(void){ if (k == 3) return 1; return 0; }"),
        ("k == 3 is true", "static int k = 1; void up(void){ k++; } int f(void){ if (k == 3) return 1; return 0; }"),
        ("ready is true", "static int ready; static void init(void){ ready = 1; } void start(void){ init(); }
            int f(void){ if (ready) return 1; return 0; }"),
        ("t[2] == 5 is true", "static int t[4] = {1, 2, 3, 4}; void put(int i, int v){ if (i >= 0 && i < 4) t[i] = v; }
            int f(void){ if (t[2] == 5) return 1; return 0; }"),
        ("s.on is true", "static struct { int on; int level; } s = {0, 3}; void on(void){ s.on = 1; } int f(void){ if (s.on) return s.level; return 0; }"),
        ("k == 9 is true", "static int k = 1; static int *where = &k; void put(int v){ *where = v; } int f(void){ if (k == 9) return 1; return 0; }"),
        ("k == 9 is true", "static int k = 1; int *place(void){ return &k; } int f(void){ if (k == 9) return 1; return 0; }"),
        ("k == 9 is true", "void learn(int *); static int k = 1; void tell(void){ learn(&k); } int f(void){ if (k == 9) return 1; return 0; }"),
        ("k == 9 is true", "#include <string.h>\nstatic int k = 1; void load(const void *from){ memcpy(&k, from, sizeof k); }
            int f(void){ if (k == 9) return 1; return 0; }"),
        ("cb != 0 is true", "static int (*cb)(int); void use(int (*g)(int)){ cb = g; } int f(int x){ if (cb != 0) return cb(x); return 0; }"),
        ("cb(1) == 7 is true", "static int two(int x){ return 2 * x; } static int (*cb)(int) = two; void use(int (*g)(int)){ cb = g; }
            int f(void){ if (cb(1) == 7) return 1; return 0; }"),
        ("head is true", "struct node { struct node *next; int v; }; static struct node *head; void push(struct node *n){ n->next = head; head = n; }
            int f(void){ if (head) return 1; return 0; }"),
        ("head->next == head is true", "struct node { struct node *next; }; static struct node *head; void set(struct node *n){ head = n; }
            int f(void){ if (head && head->next == head) return 1; return 0; }"),
        ("s == DONE is true", "enum state { OFF, ON, DONE }; static enum state s; void step(void){ if (s < DONE) s++; }
            int f(void){ if (s == DONE) return 1; return 0; }"),
        ("a > b is true", "static int a = 1, b = 2; void swap(void){ int t = a; a = b; b = t; } int f(void){ if (a > b) return 1; return 0; }"),
        ("k == 3 is true", "static int k; static void bump(int n){ if (n > 0) { k++; bump(n - 1); } } void go(int n){ bump(n); }
            int f(void){ if (k == 3) return 1; return 0; }"),
    ]);
}

#[test]
fn a_global_that_other_files_see_is_changed_by_them() {
    check(&[
        ("g == 3 is true", "int g; int f(void){ if (g == 3) return 1; return 0; }"),
        ("g == 3 is true", "int g = 1; int f(void){ if (g == 3) return 1; return 0; }"),
        ("t[1] == 3 is true", "int t[2] = {1, 2}; int f(void){ if (t[1] == 3) return 1; return 0; }"),
        (
            "mode.b == 3 is true",
            "struct { int a, b; } mode = {1, 2}; int f(void){ if (mode.b == 3) return 1; return 0; }",
        ),
        (
            "*where == 3 is true",
            "static int k = 1; int *where = &k; int f(void){ if (*where == 3) return 1; return 0; }",
        ),
        (
            "where == 0 is true",
            "static int k = 1; int *where = &k; int f(void){ if (where == 0) return 1; return *where; }",
        ),
        (
            "*where == 3 is true",
            "static const int k = 1; const int *where = &k; int f(void){ if (*where == 3) return 1; return 0; }",
        ),
        (
            "hook(2) == 9 is true",
            "static int id(int x){ return x; } int (*hook)(int) = id; int f(void){ if (hook(2) == 9) return 1; return 0; }",
        ),
        (
            "hook is false",
            "static int id(int x){ return x; } int (*hook)(int) = id; int f(void){ if (hook) return hook(1); return 0; }",
        ),
        ("name[0] == 'b' is true", "const char *name = \"a\"; int f(void){ if (name[0] == 'b') return 1; return 0; }"),
        ("g == 3 is true", "int g __attribute__((weak)) = 1; int f(void){ if (g == 3) return 1; return 0; }"),
        (
            "limit == 3 is true",
            "__attribute__((weak)) const int limit = 1; int f(void){ if (limit == 3) return 1; return 0; }",
        ),
        ("v == 3 is true", "volatile int v = 1; int f(void){ if (v == 3) return 1; return 0; }"),
        (
            "v == 3 is true",
            "static volatile int v = 1; void handler(int s){ v = s; } int f(void){ v = 0; if (v == 3) return 1; return 0; }",
        ),
        ("v != v is true", "volatile int v; int f(void){ if (v != v) return 1; return 0; }"),
        ("v == 1 is true", "volatile int v; int f(void){ v = 0; if (v == 1) return 1; return 0; }"),
        ("v == 4 is true", "extern const volatile int v; int f(void){ if (v == 4) return 1; return 0; }"),
        ("g == 3 is true", "static int g; int *g_place = &g; int f(void){ if (g == 3) return 1; return 0; }"),
    ]);
}

#[test]
fn what_other_files_define_has_any_value() {
    let cases = [
        ("limit < x is true", "extern const unsigned limit; int f(unsigned x){ if (limit < x) return 1; return 0; }"),
        ("limit < x is false", "extern const unsigned limit; int f(unsigned x){ if (limit < x) return 1; return 0; }"),
        ("level > 3 is true", "extern int level; int f(void){ if (level > 3) return 1; return 0; }"),
        ("level > 3 is false", "extern int level; int f(void){ if (level > 3) return 1; return 0; }"),
        ("t[1] == 3 is true", "extern int t[]; int f(void){ if (t[1] == 3) return 1; return 0; }"),
        ("t[1] == 3 is true", "extern const int t[4]; int f(void){ if (t[1] == 3) return 1; return 0; }"),
        (
            "names[0][0] == 'a' is true",
            "extern const char *const names[2]; int f(void){ if (names[0][0] == 'a') return 1; return 0; }",
        ),
        ("s.n == 3 is true", "extern struct { int m, n; } s; int f(void){ if (s.n == 3) return 1; return 0; }"),
        ("p == 0 is true", "extern int *p; int f(void){ if (p == 0) return 1; return 0; }"),
        ("p == 0 is false", "extern int *const p; int f(void){ if (p == 0) return 1; return 0; }"),
        ("p == &k is true", "extern int *p; int k; int f(void){ if (p == &k) return 1; return 0; }"),
        (
            "&missing == 0 is true",
            "extern int missing __attribute__((weak)); int f(void){ if (&missing == 0) return 1; return 0; }",
        ),
        ("hook is true", "void hook(void) __attribute__((weak)); int f(void){ if (hook) return 1; return 0; }"),
        ("hook is false", "void hook(void) __attribute__((weak)); int f(void){ if (hook) return 1; return 0; }"),
        ("q == t + 2 is true", "extern int t[]; int f(int *q){ if (q == t + 2) return 1; return 0; }"),
    ];
    check(&cases);
    let whole = [
        ("limit > 3 is true", "extern const unsigned limit; int f(void){ if (limit > 3) return 1; return 0; }"),
        ("level > 3 is true", "extern int level; int f(void){ if (level > 3) return 1; return 0; }"),
        ("level > 3 is false", "extern int level; int f(void){ if (level > 3) return 1; return 0; }"),
        ("t[1] == 3 is true", "extern int t[4]; int f(void){ if (t[1] == 3) return 1; return 0; }"),
        ("p == 0 is false", "extern int *p; int f(void){ if (p == 0) return 1; return 0; }"),
    ];
    check_with(&[&["--entry", "f"]], &whole);
}

#[test]
fn a_function_that_is_not_defined_may_do_anything_that_c_allows() {
    let cases = [
        ("ask() == 3 is true", "int ask(void); int f(void){ if (ask() == 3) return 1; return 0; }"),
        ("g == 3 is true", "int act(void); int g; int f(void){ g = 1; act(); if (g == 3) return 1; return 0; }"),
        ("*p == 3 is true", "void fill(int *); int f(int *p){ *p = 1; fill(p); if (*p == 3) return 1; return 0; }"),
        ("x == 3 is true", "void fill(int *); int f(void){ int x = 1; fill(&x); if (x == 3) return 1; return 0; }"),
        (
            "x == 3 is true",
            "void keep(int *); void act(void); int f(void){ int x = 1; keep(&x); x = 2; act(); if (x == 3) return 1; return 0; }",
        ),
        ("*p == 3 is true", "void act(void); int f(int *p){ *p = 1; act(); if (*p == 3) return 1; return 0; }"),
        (
            "k == 3 is true",
            "void act(void); static int k; void set(int v){ k = v; } int f(void){ k = 1; act(); if (k == 3) return 1; return 0; }",
        ),
        (
            "k == 2 is true",
            "void act(void); int f(int x){ static int k; if (x == 2) { k = 0; act(); if (k == 2) return 1; } k = x; return 0; }",
        ),
        (
            "s.in->v == 3 is true",
            "struct in { int v; }; struct s { struct in *in; }; void act(struct s *);
            int f(void){ struct in in = {1}; struct s s = {&in}; act(&s); if (s.in->v == 3) return 1; return 0; }",
        ),
        ("get() == &g is true", "int *get(void); int g; int f(void){ if (get() == &g) return 1; return 0; }"),
        (
            "*r == 3 is true",
            "int *get(void); int g; int f(void){ int *r = get(); if (!r) return 0; if (*r == 3) return 1; return 2; }",
        ),
        ("get(p) == p is true", "int *get(int *); int f(int *p){ if (p && get(p) == p) return 1; return 0; }"),
        (
            "x == 3 is true",
            "void fill(const int *); int f(void){ int x = 1; fill(&x); if (x == 3) return 1; return 0; }",
        ),
        (
            "t[1] == 3 is true",
            "int read(int, void *, unsigned long); int f(void){ char t[2] = {0}; if (read(0, t, 2) != 2) return 2; if (t[1] == 3) return 1; return 0; }",
        ),
    ];
    let modes: [&[&str]; 2] = [&[], &["--externals", "named"]];
    check_with(&modes[..if long() { 2 } else { 1 }], &cases);
}

#[test]
fn devices_give_any_value_at_every_read() {
    let cases = [
        ("ADC1 > 5 is true", "#include <stdint.h>\n#define ADC1 (*(volatile uint32_t *)0x40012400)\nint f(void){ if (ADC1 > 5) return 1; return 0; }"),
        ("ADC1 > 5 is false", "#include <stdint.h>\n#define ADC1 (*(volatile uint32_t *)0x40012400)\nint f(void){ if (ADC1 > 5) return 1; return 0; }"),
        ("UART->sr & 1 is true", "#include <stdint.h>\nstruct uart { volatile uint32_t cr, sr, dr; };\n#define UART ((struct uart *)0x40013800)
            int f(void){ UART->cr = 1; if (UART->sr & 1) return UART->dr; return 0; }"),
        ("u->sr & 1 is true", "#include <stdint.h>\nstruct uart { volatile uint32_t cr, sr; };\nint f(void){ struct uart *u = (struct uart *)0x40013800; if (u->sr & 1) return 1; return 0; }"),
        ("UART->cr == 2 is true", "#include <stdint.h>\nstruct uart { uint32_t cr, sr, dr; };\n#define UART ((volatile struct uart *)0x40013800)
            int f(void){ UART->cr = 1; if (UART->cr == 2) return 1; return 0; }"),
        ("*base == 3 is true", "static volatile unsigned char *const base = (volatile unsigned char *)0x4000; int f(void){ if (*base == 3) return 1; return 0; }"),
        ("base[2] == 3 is true", "static volatile unsigned char *const base = (volatile unsigned char *)0x4000; int f(void){ if (base[2] == 3) return 1; return 0; }"),
        ("*id == 7 is true", "int f(void){ const unsigned *id = (const unsigned *)0x1ffff7e8; if (*id == 7) return 1; return 0; }"),
        ("REG(i) == 7 is true", "#define REG(i) (*(volatile unsigned *)(0x40000000u + 4u * (i)))\nint f(unsigned i){ if (i > 3) return 2; if (REG(i) == 7) return 1; return 0; }"),
        ("n > 2 is true", "#define SR (*(volatile unsigned *)0x40013804)\nint f(void){ int n = 0; while (!(SR & 1)) n++; if (n > 2) return 1; return 0; }"),
        ("*p != *p is true", "int f(volatile int *p){ if (*p != *p) return 1; return 0; }"),
        ("*p == 2 is true", "int f(volatile int *p){ *p = 1; if (*p == 2) return 1; return 0; }"),
        ("d->sr == 2 is true", "struct dev { int cr; volatile int sr; }; int f(struct dev *d){ d->sr = 1; if (d->sr == 2) return 1; return 0; }"),
    ];
    check_with(&[&[], &["--volatile", "fresh"]], &cases);
}

#[test]
fn every_allocation_may_fail() {
    let cases = [
        (
            "p is false",
            "#include <stdlib.h>\nint f(void){ int *p = malloc(4); if (p) { *p = 1; free(p); return 1; } return 0; }",
        ),
        (
            "!p is true",
            "#include <stdlib.h>\nint f(unsigned n){ char *p = malloc(n); if (!p) return 1; free(p); return 0; }",
        ),
        (
            "p == NULL is true",
            "#include <stdlib.h>\nint f(void){ int *p = calloc(2, 4); if (p == NULL) return 1; free(p); return 0; }",
        ),
        (
            "q == 0 is true",
            "#include <stdlib.h>\nint f(void){ int *p = malloc(4); if (!p) return 3; int *q = realloc(p, 8); if (q == 0) { free(p); return 1; } free(q); return 0; }",
        ),
        (
            "q == p is true",
            "#include <stdlib.h>\nint f(void){ int *p = malloc(4); if (!p) return 3; int *o = p; p = realloc(p, 8); if (!p) return 2; int *q = o; if (q == p) return 1; return 0; }",
        ),
        (
            "q == p is false",
            "#include <stdlib.h>\nint f(void){ int *p = malloc(4); if (!p) return 3; int *o = p; p = realloc(p, 8); if (!p) return 2; int *q = o; if (q == p) return 1; return 0; }",
        ),
        (
            "s == NULL is true",
            "#include <string.h>\n#include <stdlib.h>\nint f(const char *t){ char *s = strdup(t); if (s == NULL) return 1; free(s); return 0; }",
        ),
        (
            "s == NULL is true",
            "#include <string.h>\n#include <stdlib.h>\nint f(void){ char *s = strndup(\"abc\", 2); if (s == NULL) return 1; free(s); return 0; }",
        ),
        (
            "p is true",
            "#include <stdlib.h>\nint f(void){ void *p = malloc(0); if (p) { free(p); return 1; } return 0; }",
        ),
        (
            "p is false",
            "#include <stdlib.h>\nint f(void){ void *p = malloc(0); if (p) { free(p); return 1; } return 0; }",
        ),
        (
            "p is false",
            "#include <stdlib.h>\nstatic void *get(unsigned long n){ return malloc(n); } int f(void){ void *p = get(3); if (p) { free(p); return 1; } return 0; }",
        ),
        (
            "b is false",
            "#include <stdlib.h>\nint f(void){ char *a = malloc(1), *b = malloc(1); if (a) { if (b) return 2; return 1; } return 0; }",
        ),
        (
            "p is false",
            "#include <stdlib.h>\nint f(void){ int *p = aligned_alloc(16, 16); if (p) return 1; return 0; }",
        ),
        (
            "posix_memalign(&p, 16, 4) != 0 is true",
            "#include <stdlib.h>\nint f(void){ void *p; if (posix_memalign(&p, 16, 4) != 0) return 1; free(p); return 0; }",
        ),
        (
            "errno == ENOMEM is true",
            "#include <stdlib.h>\n#include <errno.h>\nint f(void){ void *p = malloc(4); if (p) return 0; if (errno == ENOMEM) return 1; return 2; }",
        ),
    ];
    check_with(&[&[], &["--externals", "named"]], &cases);
    check_with(&[&["--entry", "f"]], &cases[..3]);
}

#[test]
fn input_pointers_lead_into_parts_of_each_other() {
    let cases = [
        (
            "p->x==2 is true",
            "struct s { int x, y; }; int f(struct s *p, int *q){ p->x=1; *q=2; if (p->x==2) return 1; return 0; }",
        ),
        (
            "p->y == 2 is true",
            "struct s { int x, y; }; int f(int *q, struct s *p){ p->y = 1; *q = 2; if (p->y == 2) return 1; return 0; }",
        ),
        (
            "t->a == &t->b is true",
            "struct t { int *a; int b; }; int f(struct t *t){ if (t->a == &t->b) return 1; return 0; }",
        ),
        (
            "t->b == 2 is true",
            "struct t { int *a; int b; }; int f(struct t *t){ t->b = 1; *t->a = 2; if (t->b == 2) return 1; return 0; }",
        ),
        ("*p == 2 is true", "int f(int *p, char *c){ *p = 1; *c = 2; if (*p == 2) return 1; return 0; }"),
        ("*p == 0x201 is true", "int f(int *p, char *c){ *p = 1; *c = 2; if (*p == 0x201) return 1; return 0; }"),
        ("*p == 2 is true", "int f(int *p, unsigned *u){ *p = 1; *u = 2; if (*p == 2) return 1; return 0; }"),
        ("*p == 2 is true", "int f(int *p, void *v){ *p = 1; *(int *)v = 2; if (*p == 2) return 1; return 0; }"),
        (
            "*p == 0 is true",
            "#include <string.h>\nint f(int *p, void *v){ *p = 1; memset(v, 0, 4); if (*p == 0) return 1; return 0; }",
        ),
        (
            "(void *)q == p is true",
            "struct s { int x; }; int f(struct s *p, int *q){ if ((void *)q == p) return 1; return 0; }",
        ),
        (
            "&p->x == q is true",
            "struct s { int w, x; }; int f(struct s *p, int *q){ if (&p->x == q) return 1; return 0; }",
        ),
        (
            "p->a[1] == 2 is true",
            "struct s { int a[2]; }; int f(struct s *p, int *q){ p->a[1] = 1; *q = 2; if (p->a[1] == 2) return 1; return 0; }",
        ),
        (
            "o->in.v == 2 is true",
            "struct in { int v; }; struct out { int t; struct in in; }; int f(struct out *o, struct in *i){ o->in.v = 1; i->v = 2; if (o->in.v == 2) return 1; return 0; }",
        ),
        ("*p == 2 is true", "int f(int *p, int **pp){ *p = 1; **pp = 2; if (*p == 2) return 1; return 0; }"),
        ("p == 0 is true", "int f(int **pp){ int *p = *pp; *pp = 0; if (p == 0) return 1; return 0; }"),
        (
            "s->p == 0 is true",
            "struct s { int *p; }; int f(struct s *s, int **pp){ int k; s->p = &k; *pp = 0; if (s->p == 0) return 1; return 0; }",
        ),
        (
            "p->next == p is true",
            "struct n { struct n *next; }; int f(struct n *p){ if (p->next == p) return 1; return 0; }",
        ),
        (
            "p[0].v == 2 is true",
            "struct n { int v; }; int f(struct n *p, struct n *q){ p[0].v = 1; (q - 1)->v = 2; if (p[0].v == 2) return 1; return 0; }",
        ),
        (
            "q == p + 1 is true",
            "struct n { int v, w; }; int f(struct n *p, struct n *q){ if (q == p + 1) return 1; return 0; }",
        ),
        (
            "u->i == 2 is true",
            "union u { int i; float f; }; int f(union u *u, int *q){ u->i = 1; *q = 2; if (u->i == 2) return 1; return 0; }",
        ),
        (
            "*p == 0x40000000 is true",
            "union u { int i; float f; }; int f(union u *u){ int *p = &u->i; u->i = 1; u->f = 2; if (*p == 0x40000000) return 1; return 0; }",
        ),
        ("a[1] == 2 is true", "int f(int a[2], int *q){ a[1] = 1; *q = 2; if (a[1] == 2) return 1; return 0; }"),
        (
            "*p == 2 is true",
            "int f(const int *p, int *q){ int o = *p; *q = 2; if (o == 1) if (*p == 2) return 1; return 0; }",
        ),
        (
            "p->len == 7 is true",
            "struct b { unsigned len; char *data; }; int f(struct b *p){ p->len = 3; p->data[0] = 7; if (p->len == 7) return 1; return 0; }",
        ),
        ("*l == 2 is true", "int f(long *l, unsigned long *u){ *l = 1; *u = 2; if (*l == 2) return 1; return 0; }"),
        (
            "s->e == 2 is true",
            "enum e { A, B, C }; struct s { enum e e; }; int f(struct s *s, unsigned *u){ s->e = A; *u = 2; if (s->e == 2) return 1; return 0; }",
        ),
        (
            "p->c[1] == 'b' is true",
            "struct s { char c[4]; }; int f(struct s *p, const char *q, char *r){ p->c[1] = 'a'; *r = 'b'; if (p->c[1] == 'b') return *q; return 0; }",
        ),
    ];
    check(&cases);
}

#[test]
fn input_pointers_lead_into_globals() {
    check(&[
        ("gb[2]!=o is true", "int gb[3]; int f(int *q){ int o=gb[2]; *q=7; if (gb[2]!=o) return 1; return 0; }"),
        ("g == 7 is true", "int g; int f(int *q){ g = 1; *q = 7; if (g == 7) return 1; return 0; }"),
        ("g == 7 is true", "int g = 1; int f(int *q){ *q = 7; if (g == 7) return 1; return 0; }"),
        (
            "gs.y == 7 is true",
            "struct s { int x, y; } gs; int f(int *q){ gs.y = 1; *q = 7; if (gs.y == 7) return 1; return 0; }",
        ),
        ("q == &gs.y is true", "struct s { int x, y; } gs; int f(int *q){ if (q == &gs.y) return 1; return 0; }"),
        ("q == gb + 1 is true", "int gb[3]; int f(int *q){ if (q == gb + 1) return 1; return 0; }"),
        ("q == gb + 3 is true", "int gb[3]; int f(int *q){ if (q == gb + 3) return 1; return 0; }"),
        (
            "k == 7 is true",
            "static int k; int *place(void){ return &k; } int f(int *q){ k = 1; *q = 7; if (k == 7) return 1; return 0; }",
        ),
        ("g == 2 is true", "int g; int f(char *c){ g = 1; *c = 2; if (g == 2) return 1; return 0; }"),
        ("g == 2 is true", "int g; int f(unsigned *u){ g = 1; *u = 2; if (g == 2) return 1; return 0; }"),
        (
            "gt[1].b == 2 is true",
            "struct s { int a, b; } gt[2]; int f(struct s *p){ gt[1].b = 1; p->b = 2; if (gt[1].b == 2) return 1; return 0; }",
        ),
        (
            "gt[1].b == 2 is true",
            "struct s { int a, b; } gt[2]; int f(int *p){ gt[1].b = 1; *p = 2; if (gt[1].b == 2) return 1; return 0; }",
        ),
        ("gp == 0 is true", "int x; int *gp; int f(int **pp){ gp = &x; *pp = 0; if (gp == 0) return 1; return 0; }"),
        ("*gp == 2 is true", "int *gp; int f(int *q){ *gp = 1; *q = 2; if (*gp == 2) return 1; return 0; }"),
        (
            "gp == &gs.y is true",
            "struct s { int x, y; } gs; int *gp; int f(void){ if (gp == &gs.y) return 1; return 0; }",
        ),
        ("e == 2 is true", "extern int e; int f(int *q){ e = 1; *q = 2; if (e == 2) return 1; return 0; }"),
    ]);
}

#[test]
fn a_pointer_may_lead_to_the_middle_or_the_end() {
    let walk = "int f(const char *buf, const char *end){ if (buf==end) return 0; if (*buf=='\\r') { ++buf; if (buf==end) return 1; if (*buf=='\\n') return 2; } return 3; }";
    let cases = [
        ("buf==end is true", walk),
        ("s[-1] == 'a' is true", "int f(const char *s){ if (s[-1] == 'a') return 1; return 0; }"),
        ("s[-1] == 'a' is false", "int f(const char *s){ if (s[-1] == 'a') return 1; return 0; }"),
        ("s[0] == 'b' is true", "int f(const char *s){ char c = s[-1]; if (s[0] == 'b') return c; return 0; }"),
        ("*--p == 3 is true", "int f(int *p){ if (*--p == 3) return 1; return 0; }"),
        ("p[-1].v == 3 is true", "struct h { int v; }; int f(struct h *p){ if (p[-1].v == 3) return 1; return 0; }"),
        ("h->v == 3 is true", "struct h { int v; }; int f(char *p){ struct h *h = (struct h *)p - 1; if (h->v == 3) return 1; return 0; }"),
        ("o->tag == 3 is true", "#include <stddef.h>\nstruct in { int v; }; struct out { int tag; struct in in; };
            int f(struct in *i){ struct out *o = (struct out *)((char *)i - offsetof(struct out, in)); if (o->tag == 3) return 1; return 0; }"),
        ("*p == 0 is true", "int f(const char *s){ const char *p = s; while (*p != '/' && p[1]) p++; if (*p == 0) return 1; return 0; }"),
    ];
    check(&cases);
    check_with(&[&["--len", "s=8"]], &cases[1..4]);
    check_with(&[&["--len", "buf=4"]], &cases[..1]);
}

#[test]
fn no_proof_by_induction_rests_on_where_a_walk_begins_or_ends() {
    // Every decision of these is reached by a caller with a buffer of some bytes.
    let walk = |end: &str| {
        format!(
            "int f(const char *buf, const char *end, int n){{ int lines = 0; int i = 0; while (i < n) i++;
             while (buf != end) {{ if (*buf == '\\r') {{ ++buf; if (buf == end) return {end}; if (*buf != '\\n') return -2; lines++; }} ++buf; }}
             if (lines == 2) return 3; return i; }}"
        )
    };
    let text = walk("-1");
    let outcomes = [
        "buf == end is true",
        "buf == end is false",
        "*buf != '\\n' is true",
        "lines == 2 is true",
        "buf != end is false",
    ];
    check_with(&[&[], &["--len", "buf=3"]], &outcomes.map(|outcome| (outcome, text.as_str())));
    check(&[
        (
            "n == 2 is true",
            "int f(const char *s, const char *e){ int n = 0; while (s < e) { if (*s++ == ',') n++; } if (n == 2) return 1; return 0; }",
        ),
        ("p == q is true", "int f(int *p, int *q, int n){ while (n-- > 0) p++; if (p == q) return 1; return 0; }"),
        (
            "*q == 2 is true",
            "int f(int *p, int *q, int n){ *q = 1; while (n-- > 0) *p++ = 2; if (*q == 2) return 1; return 0; }",
        ),
        (
            "g[2] == 2 is true",
            "int g[3]; int f(int *p, int n){ g[2] = 1; while (n-- > 0) *p++ = 2; if (g[2] == 2) return 1; return 0; }",
        ),
        (
            "s->n == 2 is true",
            "struct s { int n; int *d; }; int f(struct s *s, int n){ s->n = 1; for (int i = 0; i < n; i++) s->d[i] = 2; if (s->n == 2) return 1; return 0; }",
        ),
        (
            "k == 3 is true",
            "int f(int n){ static int k; for (int i = 0; i < n; i++) k ^= 1; if (k == 3) return 1; if (n == -1) k = 3; return 0; }",
        ),
        (
            "l == h is true",
            "struct l { struct l *next; }; int f(struct l *h, int n){ struct l *l = h->next; while (n-- > 0 && l) l = l->next; if (l == h) return 1; return 0; }",
        ),
    ]);
}

#[test]
fn the_library_answers_otherwise_at_another_time() {
    let cases = [
        ("errno != 0 is true", "#include <errno.h>\nint f(void){ if (errno != 0) return 1; return 0; }"),
        (
            "errno == ERANGE is true",
            "#include <errno.h>\n#include <stdlib.h>\nint f(const char *s){ errno = 0; strtol(s, 0, 10); if (errno == ERANGE) return 1; return 0; }",
        ),
        ("time(0) > 9 is true", "#include <time.h>\nint f(void){ if (time(0) > 9) return 1; return 0; }"),
        ("time(0) > 9 is false", "#include <time.h>\nint f(void){ if (time(0) > 9) return 1; return 0; }"),
        (
            "a != b is true",
            "#include <time.h>\nint f(void){ long a = time(0), b = time(0); if (a != b) return 1; return 0; }",
        ),
        ("rand() == 7 is true", "#include <stdlib.h>\nint f(void){ if (rand() == 7) return 1; return 0; }"),
        (
            "a == b is false",
            "#include <stdlib.h>\nint f(void){ srand(1); int a = rand(); srand(1); int b = rand(); b = rand(); if (a == b) return 1; return 0; }",
        ),
        (
            "e is true",
            "#include <stdlib.h>\nint f(void){ const char *e = getenv(\"HOME\"); if (e) return 1; return 0; }",
        ),
        (
            "e is false",
            "#include <stdlib.h>\nint f(void){ const char *e = getenv(\"HOME\"); if (e) return 1; return 0; }",
        ),
        (
            "a == b is false",
            "#include <stdlib.h>\nint f(void){ const char *a = getenv(\"A\"); setenv(\"A\", \"x\", 1); const char *b = getenv(\"A\"); if (a == b) return 1; return 0; }",
        ),
        ("c == EOF is true", "#include <stdio.h>\nint f(void){ int c = getchar(); if (c == EOF) return 1; return 0; }"),
        ("c == 'q' is true", "#include <stdio.h>\nint f(void){ int c = getchar(); if (c == 'q') return 1; return 0; }"),
        (
            "file is false",
            "#include <stdio.h>\nint f(void){ FILE *file = fopen(\"x\", \"r\"); if (file) return 1; return 0; }",
        ),
        ("printf(\"x\") < 0 is true", "#include <stdio.h>\nint f(void){ if (printf(\"x\") < 0) return 1; return 0; }"),
    ];
    // Where time is an input it is said never to run backwards.
    check_with(
        &[&["--externals", "named"]],
        &[(
            "b < a is true",
            "#include <time.h>\nint f(void){ long a = time(0), b = time(0); if (b < a) return 1; return 0; }",
        )],
    );
    check_with(&[&[], &["--externals", "named"]], &cases);
}

/// The cases of a text: `? OUTCOME`, perhaps ` with OPTIONS`, and the program up to an empty line.
fn cases(text: &'static str) -> Vec<(&'static str, Vec<&'static str>, String)> {
    let blocks = text.split("\n\n").filter_map(|block| block.trim().strip_prefix("? "));
    let case = |block: &'static str| {
        let (question, program) = block.split_once('\n').expect("a program below its outcome");
        let (outcome, options) = question.split_once(" with ").unwrap_or((question, ""));
        (outcome, options.split_whitespace().collect(), format!("{program}\n"))
    };
    blocks.map(case).collect()
}

#[test]
fn siblings_that_found_their_way_around_a_fix_are_not_infeasible() {
    let all = cases(include_str!("environment/siblings.txt"));
    assert!(all.len() > 100, "only {} cases", all.len());
    let all: Vec<_> = all.into_iter().step_by(if long() { 1 } else { 5 }).collect();
    // Two at a time: most of the time goes into starting processes.
    let judge = |part: usize| {
        let mine = all.iter().skip(part).step_by(2);
        mine.flat_map(|(outcome, options, text)| complaints(text, &[outcome], options)).collect::<Vec<_>>()
    };
    let complaints = std::thread::scope(|scope| {
        let other = scope.spawn(|| judge(1));
        [judge(0), other.join().expect("no case panics")].concat()
    });
    assert!(complaints.is_empty(), "{} of {} are wrong\n\n{}", complaints.len(), all.len(), complaints.join("\n\n"));
}

#[test]
fn a_void_pointer_may_lead_to_all_that_the_code_takes_it_for() {
    check(&[
        (
            "b->x == 7 is true",
            "struct a { int t; }; struct b { int t; int x; }; \
             int f(void *p){ struct a *a = p; if (a->t == 1) { struct b *b = p; if (b->x == 7) return 1; } return 0; }",
        ),
        (
            "d->x == 5 is true",
            "struct base { int kind; }; struct derived { struct base b; int x; }; \
             int f(void *p){ struct base *b = p; if (b->kind == 1) { struct derived *d = (struct derived *)b; \
             if (d->x == 5) return 1; } return 0; }",
        ),
        (
            "a->t == 2 is true",
            "struct a { int t; }; int f(void *p, struct a *q){ struct a *a = p; a->t = 1; q->t = 2; \
             if (a->t == 2) return 1; return 0; }",
        ),
        (
            "a->t == 2 is true",
            "struct a { int t; }; int f(void *p, void *q){ struct a *a = p; char *c = q; a->t = 1; c[0] = 2; \
             if (a->t == 2) return 1; return 0; }",
        ),
        (
            "n == 3 is true",
            "struct a { int t; }; struct b { char text[40]; int n; }; int g(void *p){ struct b *b = p; return b->n; } \
             int f(void *p, int k){ int n = 0; if (k) { struct a *a = p; n = a->t == 9; } else { n = g(p); } \
             if (n == 3) return 1; return 0; }",
        ),
        (
            "p is true",
            "struct a { int t; }; int f(void *p){ struct a *a; p = (char *)p - 4; a = p; if (p) return a->t; return 0; }",
        ),
    ]);
}

#[test]
fn no_local_proof_rests_on_memory_that_something_may_have_written() {
    check(&[
        ("*n != 1 is true", "int f(int *n, int *m){ if (*n != 1) return 0; *m = 2; if (*n != 1) return 1; return 2; }"),
        (
            "*n != 1 is true",
            "void act(void); int k; int f(void){ int *n = &k; if (*n != 1) return 0; act(); if (*n != 1) return 1; return 2; }",
        ),
        (
            "(unsigned char)n != n is true",
            "int get(unsigned *); int f(void){ unsigned n; if (!get(&n)) return 0; if ((unsigned char)n != n) return 1; return 2; }",
        ),
        (
            "n < m is true",
            "int get(unsigned *); int f(void){ unsigned n, m; if (!get(&n)) return 0; m = n + 1; if (n < m) return 1; return 2; }",
        ),
        (
            "n < m is false",
            "int get(unsigned *); int f(void){ unsigned n, m; if (!get(&n)) return 0; m = n + 1; if (n < m) return 1; return 2; }",
        ),
        ("i == 3 is true", "int f(int n){ int i = 0; while (n--) { if (i == 3) return 1; i++; } return 0; }"),
    ]);
}

#[test]
fn what_no_world_can_change_is_proved() {
    check_infeasible(&[
        (
            "(unsigned long)n != n is true and independently affects the outcome",
            "struct s { int (*read)(struct s *, unsigned *); }; int f(struct s *s){ unsigned n; if (!s->read(s, &n)) return 0; \
             for (unsigned i = 0; i < n; i++) if (!s->read(s, &i)) return 1; \
             if (!s->read(s, &n)) return 0; if ((unsigned long)n != n) return -1; return 1; }",
        ),
        (
            "n > size is true and independently affects the outcome",
            "struct s { int (*read)(struct s *, unsigned *); }; int f(struct s *s){ unsigned n; unsigned long size; \
             do { if (!s->read(s, &n)) return 0; } while (n > 1000); \
             size = n + 8ul; if (n > size) return -1; return 1; }",
        ),
        ("k == 3 is true", "static const int k = 1; int f(void){ if (k == 3) return 1; return 0; }"),
        ("k == 3 is true", "const int k = 1; int f(void){ if (k == 3) return 1; return 0; }"),
        ("k == 3 is true", "static int k = 1; int f(void){ if (k == 3) return 1; return 0; }"),
        (
            "t[i] == 9 is true",
            "static const int t[2] = {1, 2}; int f(unsigned i){ if (i > 1) return 2; if (t[i] == 9) return 1; return 0; }",
        ),
        ("x == 3 is true", "void act(void); int f(void){ int x = 1; if (x == 3) return 1; act(); return 0; }"),
        ("x < 3 is true", "int f(int x){ if (x > 5) { if (x < 3) return 1; } return 0; }"),
        ("*p == 2 is true", "int f(int *p){ *p = 1; if (*p == 2) return 1; return 0; }"),
        ("x == 2 is true", "int f(int *p){ int x = 1; *p = 2; if (x == 2) return 1; return 0; }"),
        (
            "s.y == 2 is true",
            "struct s { int x, y; }; int f(struct s s){ s.y = 1; s.x = 2; if (s.y == 2) return 1; return 0; }",
        ),
    ]);
}

/// Returns the output of `prove` for a function of a program that gcc compiles.
fn proved_for_gcc(text: &str, function: &str, format: &str) -> String {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("world.c"), text).expect("a writable scratch directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(["prove", "-c", "decision", "--timeout", "5", "--format", format, "-f", function, "world.c"]);
    let output = command.env("CC", "gcc").current_dir(scratch.path()).output().expect("touchstone runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn verdicts_about_wide_bit_fields_name_the_compiler() {
    // For gcc the sum has 40 bits, and is 0; for clang it has 64.
    let text = "struct s { unsigned long b : 40; unsigned n : 20; };\n\
                static int full(struct s *p) { return p->b + 1 == 1ul << 40; }\n\
                int f(struct s *p) { if (full(p)) return 1; return 0; }\n\
                static int (*table[])(struct s *) = { full };\n\
                int through(struct s *p, unsigned i) { if (i < 1 && table[i](p)) return 1; return 0; }\n\
                int less(struct s *p, long l) { if (p->b < l && l < 0) return 1; return 0; }\n\
                int plain(struct s *p) { if (p->b > 1ul << 40 || p->n + 1 == 0) return 1; return 0; }\n";
    let check = |function: &str, named: bool| {
        let said = proved_for_gcc(text, function, "json");
        let report: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}\n{said}"));
        assert_eq!(report["functions"][0]["name"], function, "{said}");
        let all = report["functions"][0]["assumptions"].as_array().cloned().unwrap_or_default();
        let found = all.iter().any(|one| one["by"] == "compiler" && one["text"].to_string().contains("bit-fields"));
        assert_eq!(found, named, "{function}: {all:?}");
    };
    check("f", true);
    check("through", true);
    check("less", true);
    check("plain", false);
    let said = proved_for_gcc(text, "f", "text");
    assert!(
        said.contains("assumptions") && said.contains("in their own width") && said.contains("(compiler)"),
        "{said}"
    );
    assert!(!proved_for_gcc(text, "plain", "text").contains("assumptions"));
}

#[test]
fn what_only_clang_compiles_is_no_part_of_a_program_that_gcc_translates() {
    let text = "#if defined(__clang__) || defined(__llvm__) || __clang_major__ > 2\n#define LIMIT 3\n#else\n\
                #define LIMIT 4\n#endif\nint f(int a) { if (a > LIMIT && a < 5) return a; return 0; }\n";
    let said = proved_for_gcc(text, "f", "json");
    let report: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}\n{said}"));
    let objectives = report["objectives"].as_array().expect("objectives");
    let statuses: Vec<&Value> = objectives.iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["infeasible", "covered"], "{said}");
}

#[test]
fn a_copied_length_is_not_bounded_by_objects_of_unknown_size() {
    let include = "#include <string.h>\n";
    let cases = [
        ("n > 2 is true", "int f(char *d, unsigned long n) { memset(d, 7, n); if (n > 2) return 1; return 0; }"),
        (
            "n > 2 is true",
            "int f(char *d, const char *s, unsigned long n) { memcpy(d, s, n); if (n > 2) return 1; return 0; }",
        ),
        (
            "n > 2 is true",
            "int f(char *d, const char *s, unsigned long n) { memmove(d, s, n); if (n > 2) return 1; return 0; }",
        ),
        (
            "d[2] == 'q' is true",
            "int f(char *d, const char *s, unsigned n) { memcpy(d, s, n); return n > 2 && d[2] == 'q'; }",
        ),
        (
            "n > 2 is true",
            "int f(const char *s, unsigned long n) { char d[8]; if (n > 8) return 2; memcpy(d, s, n); if (n > 2) return 1; return 0; }",
        ),
        (
            "n > 2 is true",
            "struct m { int n; char t[1]; };\nint f(struct m *m, unsigned long n) { memset(m->t, 0, n); if (n > 2) return 1; return 0; }",
        ),
        (
            "n > 2 is true",
            "int f(int *d, unsigned long n) { memset(d + 1, 7, n * sizeof *d); if (n > 2) return 1; return 0; }",
        ),
    ];
    let texts: Vec<(&str, String)> =
        cases.iter().map(|(outcome, text)| (*outcome, format!("{include}{text}\n"))).collect();
    let cases: Vec<(&str, &str)> = texts.iter().map(|(outcome, text)| (*outcome, text.as_str())).collect();
    check(&cases);
}
