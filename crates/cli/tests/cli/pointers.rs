//! Input pointers beside others: into the same object, in order, as numbers. A verdict must hold for every caller, also
//! one that passes the middle of an array or left an error number, and a test must not depend on where objects lie.

use crate::support::verdicts::{check, check_unknown, verdicts};

#[test]
fn an_end_pointer_leads_into_the_object_of_its_beginning() {
    let text = "int f(const char *p, const char *end) { int n = 0;
        for (; p < end; p++) if (*p == 'x') n++; return n == 3; }";
    check(text, &["--len", "p=4"], [4, 0, 0]);
    let text = "int f(const int *p, const int *end) { if (end - p == 3) return p[2] == 7 ? 1 : 2; return 0; }";
    check(text, &["--len", "p=4"], [4, 0, 0]);
    let text = "struct span { const char *begin, *end; };
        int f(struct span s) { while (s.begin != s.end) if (*s.begin++ == ';') return 1; return 0; }";
    check(text, &["--len", "s.begin=3"], [4, 0, 0]);
}

#[test]
fn between_two_ends_there_may_be_more_than_one_element() {
    let text = "int f(const char *p, const char *end) { int n = 0;
        for (; p < end; p++) if (*p == 'x') n++; if (n == 3) return 1; return 0; }";
    check(text, &[], [6, 0, 0]);
    let text = "int f(const unsigned char *p, const unsigned char *end) { int n = 0;
        for (; p != end; p++) if (*p > 200) n++; if (n > 2) return 1; return 0; }";
    check(text, &[], [6, 0, 0]);
    let text = "struct slice { const char *p, *e; };
        int f(struct slice *s) { if (s->p == s->e) return -1; if (*s->p++ != 'x') return 0; if (s->p >= s->e) return -2; return *s->p; }";
    check(text, &[], [6, 0, 0]);
}

#[test]
fn an_end_pointer_can_be_asked_for_in_a_precondition() {
    let text = "int f(const char *p, const char *end) { if (end - p < 4) return 0; return p[3] == 'x' ? 1 : 2; }";
    check(text, &["--len", "p=4", "--pre", "p && end == p + 4"], [3, 1, 0]);
}

#[test]
fn a_pointer_into_the_middle_of_another_object_is_no_infeasible_input() {
    check("int f(char *p, char *q) { if (p + 1 == q) return 1; return 0; }", &["--len", "p=3"], [2, 0, 0]);
    // What is written through one is read through the other.
    let text = "int f(char *p, char *q) { p[1] = 0; *q = 5; if (p[1] == 5) return 1; return 0; }";
    check(text, &["--len", "p=3"], [2, 0, 0]);
    // But not where it would have less behind it than was said.
    check(text, &["--len", "p=3", "--len", "q=3"], [1, 1, 0]);
}

#[test]
fn a_pointer_into_a_part_of_another_object_is_found_where_something_depends_on_it() {
    let types = "struct in { int u, v; }; struct s { int x; struct in n; int arr[3]; struct s *next; int *ip; };\n\
        struct s g; int tab[5];\n";
    let covered = |text: &str, all: u64| check(&format!("{types}{text}"), &[], [all, 0, 0]);
    covered("int f(struct s *p, int *q) { p->x = 1; *q = 2; if (p->x == 2) return 1; return 0; }", 2);
    covered("int f(int *q, struct s *p) { *q = 3; p->x = 1; if (*q == 1) return 1; return 0; }", 2);
    covered("int f(struct s *p, struct in *i) { p->n.v = 4; i->v = 5; if (p->n.v == 5) return 1; return 0; }", 2);
    covered("int f(struct s *p) { if (p->ip == &p->arr[2]) return 1; return 0; }", 2);
    covered("int f(int *q) { g.n.u = 1; *q = 2; if (g.n.u == 2) return 1; return 0; }", 2);
    covered("int f(int *q) { int old = tab[3]; *q = 8; if (tab[3] != old) return 2; return 0; }", 2);
    covered("int f(struct s *p, struct s **end) { p->next = 0; *end = p; if (p->next) return 1; return 0; }", 2);
    // By other types.
    covered("int f(unsigned *w, struct s *p) { p->x = 1; *w = 9; if (p->x == 9) return 1; return 0; }", 2);
    covered("int f(char *c, int *i) { *i = 0; *c = 1; if (*i == 256) return 2; return 0; }", 2);
}

#[test]
fn the_order_of_different_objects_is_never_decided() {
    let text = "char a[2], b[2]; int f(int x) { if (x == 3) return a < b ? 1 : 2; return 0; }";
    check_unknown(text, &[], [1, 0, 3], "order of pointers into different objects");
    // In one object they have an order.
    let text = "int f(int *p, int *q) { *p = 1; *q = 2; if (p < q) return *p == 1 ? 3 : 4; return 0; }";
    check_unknown(text, &[], [3, 0, 1], "order of pointers into different objects");
}

#[test]
fn an_array_may_be_another_one_although_it_was_used_before_it_is_compared() {
    let text = "int f(int t[2], int q[1]) { if (*q < 7) { if (t[0] != 2 && q == t) return 1; return 2; } return 0; }";
    check_unknown(text, &[], [3, 0, 1], "part of another object");
    let text = "int g[3]; int f(int t[3]) { if (t[0] > 2) { if (t == g) return 1; return 2; } return 0; }";
    check_unknown(text, &[], [3, 0, 1], "part of another object");
}

#[test]
fn what_depends_on_an_address_is_never_infeasible() {
    let text = "#include <stdint.h>\nint f(const char *p) { if ((uintptr_t)p & 7) return 1; return 0; }";
    check_unknown(text, &["--len", "p=16"], [1, 0, 1], "address of an object as a number");
    // A pointer that only passes through an integer is as good as one that does not.
    let text = "#include <stdint.h>\nint f(char *p) { char *q = (char *)(uintptr_t)p; if (q && *q == 'x') return 1; return 0; }";
    check(text, &[], [2, 0, 0]);
}

#[test]
fn both_compilers_see_the_same_side_of_a_version_check() {
    // clang says that it is gcc 4.2; the tests are compiled with a newer gcc, or with clang.
    let text = "int f(int x) {\n#if defined(__GNUC__) && __GNUC__ >= 5\n    return x == 1 ? 2 : 3;\n#else\n\
        return x == 1 ? 4 : 5;\n#endif\n}";
    check(text, &[], [2, 0, 0]);
}

#[test]
fn what_is_behind_a_void_pointer_are_bytes() {
    let text = "int f(const void *data, unsigned n) { const unsigned char *p = data; unsigned sum = 0;
        while (n--) sum += *p++; return sum == 7; }";
    check(text, &["--len", "data=3", "--range", "n=0..3"], [2, 0, 0]);
    let text = "int f(void *a, const void *b) { if (*(const int *)b == 70000) { *(int *)a = 1; return 1; } return 0; }";
    check(text, &["--len", "a=4", "--len", "b=4"], [2, 0, 0]);
    // Without a length there is as much as the code asks for; nothing is claimed of what is behind a first byte.
    let text = "int f(const void *p) { return ((const char *)p)[1] == 3 ? 1 : 0; }";
    check(text, &[], [2, 0, 0]);
    check_unknown(text, &["--grow", "1"], [0, 0, 2], "--len");
}

#[test]
fn a_function_fits_a_pointer_whatever_its_types_are_called() {
    let text = "typedef unsigned int word; typedef word (*step)(word, const void *);
        static unsigned twice(unsigned x, void const *unused) { (void)unused; return 2 * x; }
        struct machine { step next; }; unsigned keep(struct machine *m) { m->next = twice; return 0; }
        int f(struct machine *m, unsigned x) { if (m && m->next && m->next(x, m) == 14) return 1; return 0; }";
    let (found, reasons) = verdicts(text, &[]);
    assert_eq!(found, [2, 0, 0], "{reasons}");
}

#[test]
fn no_proof_rests_on_where_pointers_lead() {
    // Only proofs by induction get behind these loops in a second.
    let check = |condition: &str| {
        let text = format!(
            "int f(const char *p, const char *q, int x) {{ int n = 0; while (n < x) n++;
             if (n > 100000000 && {condition}) return 1; return n; }}"
        );
        let ([_, infeasible, _], reasons) = verdicts(&text, &["--len", "p=3", "--timeout", "1"]);
        assert_eq!(infeasible, 0, "{text}\n{reasons}");
    };
    check("p + 1 == q");
    check("p > q");
    check("((unsigned long)p & 7)");
    check("(*(unsigned long *)&p & 7)");
    check("((const unsigned char *)&p)[1] == 3");
}

#[test]
fn what_an_earlier_call_left_in_errno_is_no_infeasible_input() {
    let text = "#include <errno.h>\nint f(void) { if (errno != 0) return 1; return 0; }";
    check_unknown(text, &[], [1, 0, 1], "error number");
    let text =
        "#include <errno.h>\nint f(int x) { if (x < 0) { errno = EINVAL; return errno == 0 ? 1 : 2; } return 0; }";
    check(text, &[], [3, 1, 0]);
}

/// A structure with pointers on both sides of an array and a function that makes one.
const MIXED: &str = "#include <string.h>
    struct mixed { int *first; unsigned char cells[40]; int *last; unsigned count; };
    static void make(struct mixed *m, int *x) { memset(m, 0, sizeof *m); m->first = m->last = x; }\n";

#[test]
fn an_integer_may_be_written_anywhere_beside_pointers() {
    let check = |body: &str, expected: [u64; 3]| {
        let text = format!("{MIXED} int f(unsigned char i, unsigned char j, unsigned char v) {{ int x = 3; {body} }}");
        check(&text, &["--timeout", "20"], expected);
    };
    // The last is infeasible: a byte that is no pointer's changes none.
    let text = "struct mixed m; make(&m, &x); unsigned char *raw = (unsigned char *)&m; if (i >= sizeof m) return 0;
        raw[i] = v; if (m.count == 0x500) return 1; if (m.cells[17] == 9) return 2;
        if (i < 8 || (i >= 48 && i < 56)) return 3; if (*m.first + *m.last != 6) return 4; return 5;";
    check(text, [9, 1, 0]);
    // Two writes: the later one hides the earlier, and both are there if they are apart.
    let text = "struct mixed m; make(&m, &x); if (i >= 40 || j >= 40) return 0; m.cells[i] = v; m.cells[j] = 7;
        if (m.cells[i] == 8) return i == j; if (m.cells[3] + m.cells[4] == 14) return v != 7; return *m.last;";
    check(text, [6, 0, 0]);
    // A pointer that is written after a delayed write is the one that is read, and so is an integer over a pointer.
    let text = "int y = 4; struct mixed m; make(&m, &x); if (i >= 40) return 0; m.cells[i] = v; m.last = &y;
        if (*m.last + m.cells[2] == 10) return 1; memset(&m.first, 0, sizeof m.first);
        if (m.first) return 2; if (m.last != &y) return 3; return 4;";
    check(text, [6, 2, 0]);
}

#[test]
fn structures_of_pointers_and_arrays_are_indexed_without_a_path_for_each_place() {
    let text = "struct state { struct state *next; unsigned short table[600]; char *name; int heap[300]; unsigned n; };
        int f(struct state *s, unsigned short i, unsigned short j) {
            if (!s) return 0; s->table[i]++; if (s->table[j] == 77 && i == j) return 1;
            s->heap[s->n] = j; if (s->heap[7] == 123) return s->n == 7 ? 2 : 3; return 4; }";
    let ([_, infeasible, _], reasons) = verdicts(text, &["--timeout", "20"]);
    assert_eq!(infeasible, 0, "{reasons}");
    check(text, &["--timeout", "20", "--pre", "s && i < 600 && j < 600 && s->n < 300"], [7, 1, 0]);
}

#[test]
fn a_function_that_the_program_does_not_have_may_return_anything_and_do_more() {
    check(
        "int f(int (*get)(int), int x) { if (get(x) > 10) return 1; if (get(3) == x) return 2; return 0; }",
        &[],
        [4, 0, 0],
    );
    let text = "struct ops { int (*get)(void *, int); void *data; };
        int f(struct ops *o, int n) { int s = 0; for (int i = 0; i < n && i < 2; i++) s += o->get(o->data, i); return s == 42; }";
    check(text, &[], [2, 0, 0]);
    // It may write the global, unless it is said not to; a static one no stub can reach.
    let text = "int v; int f(void (*act)(void)) { v = 0; act(); if (v) return 1; return 0; }";
    check(text, &[], [2, 0, 0]);
    check_unknown(text, &["--externals", "named"], [1, 0, 1], "pointee of `act`: a function");
    check_unknown(&format!("static {text}"), &[], [1, 0, 1], "may change memory");
    check(text, &["--externals", "pure"], [1, 1, 0]);
    // Nor does a proof by induction rest on that.
    let text = "static int v; int f(void (*act)(void), int n) { v = 0; for (int i = 0; i < n; i++) act(); if (v) return 1; return 0; }";
    let ([covered, infeasible, _], reasons) = verdicts(text, &["--timeout", "1"]);
    assert_eq!((covered, infeasible), (3, 0), "{reasons}");
}

#[test]
fn what_is_behind_a_pointer_grows_until_everything_is_covered() {
    // A text, a buffer with its length, an array of structures, what a cast asks for, what is before the pointer.
    check(
        "int f(const char *s) { if (s[0] == 'a' && s[1] == 'b' && s[2] == 'c') return 1; return 0; }",
        &[],
        [2, 0, 0],
    );
    let text = "#include <string.h>\nint f(const char *s) { if (strcmp(s, \"touch\") == 0) return 1; return 0; }";
    check(text, &[], [2, 0, 0]);
    let text = "int f(const unsigned char *b, unsigned n) { unsigned x = 0;
        for (unsigned i = 0; i < n; i++) x += b[i]; if (x == 700) return 1; return 0; }";
    check(text, &[], [4, 0, 0]);
    let text = "struct s { int key, value; };
        int f(const struct s *t, int n) { for (int i = 0; i < n; i++) if (t[i].key == i * i && i == 3) return 1; return 0; }";
    check(text, &[], [4, 0, 0]);
    let text = "struct s { int a, b, c; }; int f(void *p) { struct s *s = p; if (s->c == 5) return 1; return 0; }";
    check(text, &[], [2, 0, 0]);
    check("int f(const char *s) { if (s[-1] == 3) return 1; return 0; }", &[], [2, 0, 0]);
}

#[test]
fn a_list_grows_though_others_go_in_circles() {
    let text = "struct n { struct n *next; int v; };
        int f(struct n *p) { int n = 0; while (p) { n++; p = p->next; } if (n == 9) return 1; return 0; }";
    check(text, &["--steps", "500000"], [4, 0, 0]);
}

#[test]
fn objects_grow_as_far_as_was_said_and_no_further() {
    let text = "#include <string.h>\nint f(const char *s) { if (strlen(s) == 7) return 1; return 0; }";
    check(text, &[], [2, 0, 0]);
    check_unknown(text, &["--grow", "4"], [1, 0, 1], "bound: --len");
    check_unknown(text, &["--grow", "1"], [1, 0, 1], "bound: --len");
    // What was said about a length holds in all rounds.
    check(text, &["--strings", "9"], [2, 0, 0]);
    check(text, &["--len", "s=3"], [1, 1, 0]);
}

#[test]
fn a_test_that_returns_is_preferred_to_one_that_goes_wrong() {
    let text = "int f(const int *p, int n) { int sum = 0;
        for (int i = 0; i < n; i++) if (p[i] > 0) sum += p[i]; return sum; }";
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("sum.c");
    std::fs::write(&file, text).expect("a writable scratch directory");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.arg("generate").arg(&file).args(["--format", "json", "-o"]).arg(scratch.path().join("out"));
    let output = command.output().expect("touchstone runs");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    for test in report["tests"].as_array().expect("tests") {
        assert_eq!(test["outcome"], "returned", "{test}");
    }
}

#[test]
fn what_one_hard_question_hides_is_found_by_changing_tests_a_little() {
    let text = "int f(unsigned long v, unsigned long base) { int n = 0; if (base == 0) return -1;
        while (v != 0) { v /= base; n++; if (n == 32) return 1; } return 0; }";
    check(text, &["--timeout", "6"], [6, 0, 0]);
}

#[test]
fn a_context_is_what_its_function_casts_it_to() {
    let text = "struct context { int kind; const char *name; int (*done)(int); };
        int f(int event, void *arg) { struct context *c = arg;
            if (c->kind == event && c->name[0] == 'x') { if (c->done(event)) return 1; return 2; } return 0; }";
    check(text, &[], [4, 0, 0]);
}

#[test]
fn what_a_test_allocates_itself_does_not_count() {
    let text = "#include <stdlib.h>\nstatic void *(*get)(unsigned long) = malloc; static void (*put)(void *) = free;
        int f(void) { char *a = get(8), *b; if (!a) return 1; b = get(8); if (!b) { put(a); return 2; } put(a); put(b); return 0; }";
    check(text, &[], [4, 0, 0]);
}

#[test]
fn a_member_is_what_a_function_casts_it_to_also_where_it_is_only_checked() {
    let text = "struct node { int kind; struct node *next; }; struct context { int id; void *arg; };
        int f(struct context *c) { if (!c || !c->arg) return -1;
            struct node *n = (struct node *)c->arg; if (n->next && n->next->kind == 7) return 1; return 0; }";
    check(text, &[], [4, 0, 0]);
    // What is behind it may be another thing each time.
    let text = "struct a { int kind; struct a *next; }; struct b { void *first; void *second; };
        int f(void *p, int which) { if (which == 1) { struct a *a = p; return a->next ? 5 : 6; }
            struct b *b = p; struct a *inner = b->second; if (inner->next) return 1; return 0; }";
    check(text, &[], [6, 0, 0]);
    // A cast leaves nothing out: a caller may pass more than what it says.
    let text = "struct head { int kind; }; struct whole { struct head head; int more; };
        struct box { void *in; };
        int f(struct box *b) { struct head *h = b->in; if (h->kind == 1) { struct whole *w = b->in; if (w->more == 9) return 2; return 1; } return 0; }";
    let found = verdicts(text, &[]);
    assert_eq!(found.0[1], 0, "{found:?}");
}

#[test]
fn what_a_header_hides_is_what_the_code_casts_it_to() {
    // A type that is never defined, as in zlib's header.
    let text = "struct hidden; struct stream { struct hidden *state; int n; };
        struct state { struct stream *back; int mode; const unsigned char *table; };
        static int bad(struct stream *s) { if (s == 0) return 1;
            struct state *st = (struct state *)s->state; if (st == 0 || st->back != s || st->mode < 3) return 1; return 0; }
        int f(struct stream *s) { if (bad(s)) return -1;
            struct state *st = (struct state *)s->state; if (st->mode == 9 && st->table[1] == 7) return 1; return 0; }";
    check(text, &[], [4, 0, 0]);
    // What begins with the declared type, as objects of C do.
    let text = "struct shape { int kind; }; struct round { struct shape base; int radius; int (*area)(int); };
        struct ring { struct round outer; int inner; };
        int f(const struct shape *s) { if (s->kind == 1) { const struct round *r = (const struct round *)s; if (r->area(r->radius) == 12) return 1; return 2; }
            if (((const struct ring *)s)->inner == 5) return 3; return 0; }";
    check(text, &[], [6, 0, 0]);
    // A caller may still pass no more than what is declared, or the same thing twice.
    let text = "struct base { int kind; }; struct whole { struct base base; int more; };
        int f(struct base *p, struct base *q) { q->kind = 1; ((struct whole *)p)->more = 2; ((struct whole *)p)->base.kind = 3;
            if (q->kind == 3) return 1; return 0; }";
    check(text, &[], [2, 0, 0]);
}

#[test]
fn a_pointer_that_is_as_far_away_as_another_one_is_high_has_no_order() {
    let text = "int f(const char *from, const char *end) { end = from + (((end - from) >> 1) << 1);
        if (from < end) return 1; return 0; }";
    let found = verdicts(text, &[]);
    assert_eq!(found.0, [2, 0, 0], "{found:?}");
}

#[test]
fn a_remainder_of_a_pointer_is_no_expected_value() {
    let text = "struct s { int *p; int n; };
        int f(struct s *s, int k) { if (k == 7) { *(char *)&s->p = 0; return 1; } if (k == 8 && s->p) { *((char *)&s->p + 7) = 1; return 2; } return 0; }";
    assert_eq!(verdicts(text, &[]).0[2], 0);
    // Nor is one that was written into bytes.
    let text = "#include <string.h>
        int f(unsigned char *to, const char *s) { if (s && s[0] == 'x') { memcpy(to, &s, sizeof s); return 1; } return 0; }";
    assert_eq!(verdicts(text, &[]).0[2], 0);
}
