//! Induction over loops: what must come out proved, and what must not. Each function marks statements that no run reaches
//! with `777` and statements that some run reaches with `111`.

use crate::support::lowering::lower_text;
use touchstone_criteria::{CriteriaOptions, GoalId, GoalIndex, Proof, REGISTRY, objectives};
use touchstone_engine::{Config, prove_infeasible};

/// Returns the proofs about `f`: criterion and text of the objective, and the proof.
fn proved(text: &str, config: &Config) -> Vec<(String, String, Proof)> {
    let module = lower_text(text);
    let func = module.function_named("f").expect("there is a function f");
    let scope: Vec<_> = module.functions.ids().filter(|id| module.functions[*id].is_defined()).collect();
    let wanted = objectives(&module, &scope, REGISTRY, &CriteriaOptions::default());
    let watch = GoalIndex::new(&module, wanted.goals.clone());
    let open: Vec<GoalId> = wanted.goals.ids().collect();
    let proved = prove_infeasible(&module, func, &watch, &open, config);
    let all = proved.into_iter().map(|(id, proof)| {
        let objective = &wanted.list[id];
        (objective.criterion.clone(), objective.text.clone(), proof)
    });
    all.collect()
}

fn check_with(config: &Config, text: &str) {
    let module = lower_text(text);
    let expected = text.matches("777").count();
    let func = module.function_named("f").expect("there is a function f");
    assert!(module.functions[func].is_defined());
    let all = proved(text, config);
    let found = all.iter().filter(|(criterion, text, _)| criterion == "stmt" && text.contains("777")).count();
    let wrong: Vec<_> = all.iter().filter(|(_, text, _)| text.contains("111")).collect();
    assert!(wrong.is_empty(), "{wrong:?} is reached\n{text}");
    assert_eq!(found, expected, "proved: {all:?}\n{text}");
}

fn check(text: &str) {
    check_with(&Config::default(), text);
}

#[test]
fn a_counter_never_passes_its_limit() {
    check(
        "int f(int n) { int i; for (i = 0; i < n; i++) { if (i > n) return 777; } if (i < 0) return 777; return 111; }",
    );
    check("int f(int n) { if (n < 0) return 111; int i = 0; while (i < n) i++; if (i != n) return 777; return 111; }");
    check("int f(unsigned n) { unsigned i = n; while (i > 0) { if (i > n) return 777; i--; } return 111; }");
}

#[test]
fn an_even_step_keeps_a_number_even() {
    check("int f(int n) { unsigned s = 0; for (int i = 0; i < n; i++) s += 2; if (s % 2) return 777; return 111; }");
    check(
        "int f(int n, unsigned s) { unsigned t = s; for (int i = 0; i < n; i++) t += 4; if ((t - s) & 3) return 777; return 111; }",
    );
}

#[test]
fn two_counters_go_in_lock_step() {
    check("int f(int n) { int i = 0, j = n; while (i < n) { if (i + j != n) return 777; i++; j--; } return 111; }");
    check(
        "int f(int n) { int i = 0, s = 5; while (i < n) { i++; s += 3; if (s != 3 * i + 5) return 777; } return 111; }",
    );
}

#[test]
fn a_relation_that_the_loop_keeps_is_kept() {
    check(
        "int f(int n, int c) { int x = 0, y = 0; while (n-- > 0) { if (c) y++; else { x++; y++; } if (y == 1000000) return 111; if (x > y) return 777; } return 111; }",
    );
    check(
        "int f(int n) { int a = 1, b = 2, c = 3; while (n-- > 0) { int t = a; a = b; b = c; c = t; if (a == b) return 777; } return 111; }",
    );
}

#[test]
fn the_default_arm_of_a_state_machine_is_never_taken() {
    check(
        "int f(int *in, int n) { int state = 0; for (int i = 0; i < n; i++) { switch (state) {
          case 0: state = n > 5 ? 1 : 2; break; case 1: state = 3; break; case 2: state = 0; break; case 3: state = 1; break;
          default: return 777; } } return 111; }",
    );
    check(
        "int f(int n) { int state = 0; while (n-- > 0) { switch (state) { case 0: state = 10; break; case 10: state = 25; break;
          case 25: state = 0; break; default: return 777; } } return 111; }",
    );
}

#[test]
fn a_global_and_a_callee_are_followed() {
    check(
        "static int next(int x) { return x == 3 ? 0 : x + 1; } int f(int n) { int s = 0; while (n-- > 0) { s = next(s); if (s > 3) return 777; } return 111; }",
    );
    check("int g; int f(int n) { int i = 0; g = 0; while (i < n) { g++; i++; if (g != i) return 777; } return 111; }");
}

#[test]
fn an_index_below_the_length_is_inside() {
    let text = "int f(int a[10]) { int s = 0, j = 0; for (int i = 0; i < 10; i++) { s ^= a[j]; j++; } return s; }";
    let rte: Vec<_> =
        proved(text, &Config::default()).into_iter().filter(|(criterion, ..)| criterion == "rte").collect();
    assert!(rte.iter().any(|(_, text, proof)| text.contains("out of bounds") && *proof == Proof::Induction), "{rte:?}");
}

#[test]
fn what_the_loop_may_change_is_not_trusted() {
    // Through a pointer, through an alias, by a callee, in the middle of an object.
    check(
        "int g; int f(int n, int *p) { g = 0; for (int i = 0; i < n; i++) { if (g == 1) return 111; if (p == &g) return 0; g = 1; } return 111; }",
    );
    check(
        "int f(int n, int *p, int *q) { if (!p || !q) return 111; *p = 0; for (int i = 0; i < n; i++) { if (*p == 1) return 111; *q = 1; } return 111; }",
    );
    check(
        "int g; static void set(void) { g = 1; } int f(int n) { g = 0; for (int i = 0; i < n; i++) { if (g) return 111; set(); } return 111; }",
    );
    check(
        "static void put(int *p) { *p = 1; } int f(int n) { int x = 0; for (int i = 0; i < n; i++) { if (x) return 111; put(&x); } return 111; }",
    );
    check(
        "int f(int n) { int a[4] = {0}; for (int i = 0; i < n; i++) { if (a[3]) return 111; a[i & 3] = 1; } return 111; }",
    );
    check(
        "struct s { int *q; }; int f(int n, struct s *s) { if (!s || !s->q) return 111; for (int i = 0; i < n; i++) { if (i > 1 && s->q[0] == 77) return 111; s->q[0] = 77; } return 111; }",
    );
}

#[test]
fn functions_that_are_called_through_a_pointer_are_followed_or_not_trusted() {
    check(
        "int g; static void set(int v) { g = v; } static void clear(int v) { g = 0; } int f(int n, int c) {
          void (*act)(int) = clear; g = 0; for (int i = 0; i < n; i++) { if (g == 3) return 111; act(3); if (c) act = set; }
          return 111; }",
    );
    check(
        "static int mark(int v) { if (v > 2) return 111; return 0; } int f(int n, int *p) { int (*act)(int) = mark;
          for (int i = 0; i < n; i++) { if (p) *p = i; p = p + i; act(i); } return 111; }",
    );
    check(
        "void *malloc(unsigned long); void free(void *); int f(int n) { char *m = malloc(4), *e = m; m[0] = 0;
          while (n-- > 0 && e == m) { e = e + (n & 1); e = m; } free(e); return 111; }",
    );
}

#[test]
fn nothing_is_said_of_what_lies_behind_an_unsupported_construct() {
    let text =
        "int f(int n) { if (n > 3) __asm__(\"nop\"); for (int i = 0; i < n; i++) if (i == 5) return 111; return 111; }";
    check(text);
    check("double d; int f(int n) { for (int i = 0; i < n; i++) { if (d > 1.5) return 111; } return 111; }");
    check(
        "int other(int); int f(int n) { for (int i = 0; i < n; i++) { if (other(i) == 5) return 111; } return 111; }",
    );
}
