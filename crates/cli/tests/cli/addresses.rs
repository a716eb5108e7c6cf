//! Pointers that are read as numbers: by casts, unions, copies into integers, byte by byte. Where objects lie is known of
//! no run, so what depends on an address is covered only where the real program shows it, and never infeasible. Copies of
//! pointers, however they are made, are as good as the pointers.

use crate::support::verdicts::{check, check_unknown};

const ADDRESS: &str = "address of an object as a number";
const HEADERS: &str = "#include <stdint.h>\n#include <string.h>\nunion word { int *p; uintptr_t n; };\n";

/// `f` with these parameters and statements.
fn f(params: &str, body: &str) -> String {
    format!("{HEADERS}struct s {{ long a; int *p; }};\nint f({params}) {{ {body} return 0; }}\n")
}

#[test]
fn an_address_that_is_read_through_a_union_is_never_infeasible() {
    check_unknown(&f("int x", "union word u; u.p = &x; if (u.n == 0x7ffe00001000) return 1;"), &[], [1, 0, 1], ADDRESS);
    check_unknown(&f("int *x", "union word u; u.p = x; if (u.n == 4096) return 1;"), &[], [1, 0, 1], ADDRESS);
    check_unknown(&f("int *x", "union word u; u.p = x; if ((u.n & 3) == 0) return 1;"), &[], [1, 0, 1], ADDRESS);
    // Null has one address.
    check(&f("int *x", "union word u; u.p = x; if (u.n == 0) return 1;"), &[], [2, 0, 0]);
    check(&f("int x", "union word u; u.p = &x; if (u.n == 0) return 1;"), &[], [1, 1, 0]);
}

#[test]
fn an_address_that_is_copied_into_an_integer_is_never_infeasible() {
    let copied = "uintptr_t n; memcpy(&n, &p, sizeof n);";
    check_unknown(&f("char *p", &format!("{copied} if (n & 7) return 1;")), &["--len", "p=16"], [1, 0, 1], ADDRESS);
    check_unknown(&f("int *p", "if (*(uintptr_t *)&p == 4096) return 1;"), &[], [1, 0, 1], ADDRESS);
    // No address of the engine, or of the interpreter, is one of the program.
    for own in ["0x100000000", "0x200000000", "0x300000000", "0x100000", "0x101010"] {
        check_unknown(&f("int *p", &format!("{copied} if (n == {own}) return 1;")), &[], [1, 0, 1], ADDRESS);
    }
    check_unknown(&f("int *p", &format!("{copied} if (n >> 32 == 3) return 1;")), &[], [1, 0, 1], ADDRESS);
    check_unknown(&f("int *p", "if ((int)(uintptr_t)p > 5) return 1;"), &[], [1, 0, 1], ADDRESS);
}

#[test]
fn a_hash_of_a_pointer_is_never_infeasible() {
    let hash = "const unsigned char *b = (const unsigned char *)&p; unsigned h = 0;
        for (int i = 0; i < 8; i++) h = h * 31 + b[i];";
    // Null has one hash; other hashes are unknown.
    check_unknown(&f("int *p", &format!("{hash} if (h % 16 == 3) return 1;")), &[], [3, 0, 1], ADDRESS);
    // At a place that depends on inputs.
    let text = f("int *p, unsigned i", "if (i < 8 && ((const unsigned char *)&p)[i] == 77) return 1;");
    check_unknown(&text, &[], [1, 0, 1], ADDRESS);
}

#[test]
fn the_order_of_addresses_is_never_decided() {
    let text = f("void", "static int a, b; union word u, v; u.p = &a; v.p = &b; if (u.n < v.n) return 1;");
    check_unknown(&text, &[], [0, 0, 2], "order of pointers into different objects");
    let text = f("struct s *x, struct s *y", "if (memcmp(x, y, sizeof *x) < 0) return 1;");
    check(&text, &[], [2, 0, 0]);
    let text =
        f("void", "static int a, b; struct s x = {1, &a}, y = {1, &b}; if (memcmp(&x, &y, sizeof x) < 0) return 1;");
    check_unknown(&text, &[], [0, 0, 2], ADDRESS);
    let text =
        f("int *p", "struct s x = {1, p}, y = {1, p}; if (memcmp(&x, &y, sizeof x) != 0) return 1; if (!p) return 2;");
    check(&text, &[], [3, 1, 0]);
}

#[test]
fn a_number_that_no_object_has_as_its_address_is_one_that_a_caller_may_pass() {
    check_unknown(&f("int *p", "if (p == (int *)-1) return 1;"), &[], [1, 0, 1], ADDRESS);
    // But an object of the function has an address.
    check(&f("int x", "int *p = &x; if (p == (int *)-1) return 1; if (p == (int *)1) return 2;"), &[], [2, 2, 0]);
}

#[test]
fn a_copy_of_a_pointer_is_as_good_as_the_pointer() {
    let used = "if (c.p != x->p) return 3; if (c.p && *c.p == 5) return 1;";
    check(&f("struct s *x", &format!("struct s c; memcpy(&c, x, sizeof c); {used}")), &[], [3, 1, 0]);
    for byte in ["char", "unsigned char", "unsigned short", "unsigned", "unsigned long"] {
        let copy = format!(
            "struct s c; {byte} *d = ({byte} *)&c; const {byte} *e = ({byte} *)x;
             for (unsigned i = 0; i < sizeof c / sizeof *d; i++) d[i] = e[i];"
        );
        check(&f("struct s *x", &format!("{copy} {used}")), &[], [5, 1, 0]);
    }
    // Through a wider variable.
    let text = f(
        "int *p",
        "int *q; for (int i = 0; i < 8; i++) { int c = ((unsigned char *)&p)[i]; ((unsigned char *)&q)[i] = c; }
         if (q != p) return 3; if (q && *q == 4) return 1;",
    );
    check(&text, &[], [5, 1, 0]);
    let text =
        f("int *p", "uintptr_t n = (uintptr_t)p; int *q = (int *)n; if (q != p) return 1; if (q && *q == 2) return 2;");
    check(&text, &[], [3, 1, 0]);
}

#[test]
fn a_result_that_is_an_address_is_not_compared() {
    let text = format!("{HEADERS}uintptr_t kept; uintptr_t f(int *p) {{ kept = (uintptr_t)p; return p ? kept : 1; }}");
    check(&text, &[], [2, 0, 0]);
}
