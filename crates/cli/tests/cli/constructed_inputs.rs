//! Inputs that types alone do not determine: variadic arguments, objects that only constructors create, objects of
//! undefined types. Every test is replayed, so the compiled program accepts what is passed.

use crate::support::verdicts::{check, check_unknown};

#[test]
fn variable_arguments_are_of_the_types_that_are_taken() {
    let text = "#include <stdarg.h>
        int f(const char *fmt, ...) { va_list ap; int r = 0; va_start(ap, fmt);
          for (; *fmt; fmt++) {
            if (*fmt == 'd') { if (va_arg(ap, double) > 2.5) r++; }
            else if (*fmt == 's') { const char *s = va_arg(ap, const char *); if (s && s[0] == 'x') r += 2; }
            else if (*fmt == 'l') { if (va_arg(ap, long) == 77) r += 4; }
            else if (*fmt == 'v') (void)va_arg(ap, double);
            else return -1; }
          va_end(ap); return r; }";
    check(text, &[], [16, 0, 0]);
    let text = "#include <stdarg.h>
        int f(int n, ...) { va_list ap; int all = 0; va_start(ap, n);
          while (n-- > 0) all += va_arg(ap, int); va_end(ap); if (all > 10) return 1; return 0; }";
    check(text, &[], [4, 0, 0]);
}

#[test]
fn a_list_of_variable_arguments_is_made_by_a_call() {
    let text = "#include <stdarg.h>
        static int f(int kind, va_list ap) { if (kind == 1) return va_arg(ap, int) == 5 ? 1 : 2;
          if (kind == 2) return va_arg(ap, double) == 0.5 ? 3 : 4;
          if (va_arg(ap, char *)[0] == 'q' && va_arg(ap, unsigned) > 3u) return 5; return 0; }";
    check(text, &[], [10, 0, 0]);
    let text = "#include <stdarg.h>
        int f(va_list *ap) { if (va_arg(*ap, int) > 7) return 1; return 0; }";
    check(text, &[], [2, 0, 0]);
}

#[test]
fn the_librarys_formats_take_what_they_take() {
    let text = "#include <stdarg.h>\n#include <stdio.h>
        int f(const char *fmt, ...) { char to[8]; va_list ap; int n; va_start(ap, fmt);
          n = vsnprintf(to, sizeof to, fmt, ap); va_end(ap); if (n > 3) return 1; return 0; }";
    check(text, &[], [2, 0, 0]);
}

#[test]
fn an_argument_is_not_taken_as_two_types() {
    // What that does only compilers know, so it is neither covered nor infeasible.
    let text = "#include <stdarg.h>
        int f(int n, ...) { va_list ap, again; int r = 0; va_start(ap, n); va_copy(again, ap);
          if (va_arg(ap, int) == 3) r = 1;
          if (va_arg(again, double) == 2.0) r += 2;
          return r; }";
    check_unknown(text, &[], [0, 0, 4], "a variable argument of another type");
}

#[test]
fn there_may_be_more_variable_arguments_than_a_test_passes() {
    let text = "#include <stdarg.h>
        int f(int n, ...) { va_list ap; int i, all = 0; va_start(ap, n);
          for (i = 0; i < 12; i++) all += va_arg(ap, int); if (all == 5) return 1; return 0; }";
    check_unknown(text, &[], [0, 0, 4], "more variable arguments than a test passes");
}

/// Only the seed that the constructor writes opens a box.
const OPENED: &str = "
        int f(const struct box *b) { unsigned long m = b->seed; int i;
          for (i = 0; i < 6; i++) m = (m * m ^ m >> 29) + 0x1234567UL * i;
          if (m == 2623745067806673938UL) { if (b->count > 2) return 2; return 1; }
          return 0; }";

#[test]
fn constructors_make_what_no_search_finds() {
    let text = "#include <stdlib.h>
        struct box { unsigned long seed; unsigned count; char *name; };
        struct box *box_new(void) { struct box *b = malloc(sizeof *b);
          if (b) { b->seed = 0x9e3779b97f4a7c15UL; b->count = 0; b->name = 0; } return b; }
        void box_add(struct box *b, unsigned n) { b->count += n; }";
    check(&format!("{text}{OPENED}"), &["--timeout", "2"], [6, 0, 0]);
}

#[test]
fn an_object_of_an_unknown_type_exists_and_is_not_accessed() {
    let text = "struct s; void use(struct s *p);
        int f(struct s *p, struct s *q, int x) { if (p && x > 3) return 1; if (p == q) return 2; if (q) use(q); return 0; }";
    check(text, &[], [6, 0, 0]);
    // Not infeasible: it may be anything.
    let text = "struct s; int f(struct s *p) { if (p && *(char *)p == 3) return 1; return 0; }";
    check_unknown(text, &[], [1, 0, 1], "whose type has no known size");
}

#[test]
fn a_case_excludes_what_others_do_not() {
    let text = "struct n { unsigned type; struct n *next; };
        int f(struct n *n, unsigned k) {
          while (n) {
            switch (n->type & 31) {
            case 8: case 9: case 10: case 11: if (n->type & 24) k++; else return 7; break;
            case 16: case 17: return k;
            }
            n = n->next;
          }
          return 0; }";
    check(text, &["--timeout", "2"], [6, 1, 0]);
    // One of the cases allows it.
    let text = "struct n { unsigned type; struct n *next; };
        int f(struct n *n, unsigned k) {
          while (n) {
            switch (n->type & 31) {
            case 8: case 9: case 10: case 3: if (n->type & 24) k++; else return 7; break;
            case 16: case 17: return k;
            }
            n = n->next;
          }
          return 0; }";
    check(text, &["--timeout", "2"], [7, 0, 0]);
}

#[test]
fn what_a_constructor_did_not_write_yet_is_no_obstacle() {
    // An object that is returned itself, and has room for more.
    let text = "#include <stdlib.h>
        struct box { unsigned long seed; unsigned count; unsigned long *numbers; char **names; };
        struct box box_of(void) { struct box b; b.seed = 0x9e3779b97f4a7c15UL; b.count = 0;
          b.numbers = malloc(8 * sizeof *b.numbers); b.names = malloc(8 * sizeof *b.names); return b; }
        void box_add(struct box *b, unsigned n) { if (b->count < 8) { b->names[b->count] = 0; b->numbers[b->count++] = n; } }";
    check(&format!("{text}{OPENED}"), &["--timeout", "2"], [6, 0, 0]);
}

#[test]
fn tests_compile_with_an_array_of_another_file_of_unknown_length() {
    let text = "extern int table[]; extern const unsigned char map[];
        int f(int i) { if (i >= 0 && i < 4 && (table[i] == 5 || map[i])) return 1; return 0; }";
    check_unknown(text, &[], [1, 0, 1], "variable `table`, which no given file defines");
}
