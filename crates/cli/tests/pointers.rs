//! Input pointers beside others: into the same object, in order, as numbers. A verdict must hold for every caller, also
//! one that passes the middle of an array or left an error number, and a test must not depend on where objects lie.

mod support;

use support::verdicts::{check, check_unknown, verdicts};

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
fn the_order_of_different_objects_is_never_decided() {
    let text = "char a[2], b[2]; int f(int x) { if (x == 3) return a < b ? 1 : 2; return 0; }";
    check_unknown(text, &[], [1, 0, 3], "order of pointers into different objects");
    let text = "int f(int *p, int *q) { *p = 1; *q = 2; if (p < q) return *p == 1 ? 3 : 4; return 0; }";
    check_unknown(text, &[], [1, 0, 3], "order of pointers into different objects");
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
    // Without a length nothing is claimed of what is behind the first byte.
    check_unknown("int f(const void *p) { return ((const char *)p)[1] == 3 ? 1 : 0; }", &[], [0, 0, 2], "--len");
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
