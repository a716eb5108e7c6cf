//! Arguments that do something are evaluated in the order of the compiler that tests are compiled with.

use crate::support::verdicts::check;

#[test]
fn arguments_that_do_something_are_evaluated_last_first() {
    let text = "static int n; static int next(void) { return ++n; }
        static int join(int a, int b, int c) { return a * 100 + b * 10 + c; }
        int f(int k) { n = k; if (join(next(), next(), next()) == 321) return 1; return 0; }";
    check(text, &[], [2, 0, 0]);
    // Also for variadic functions and for external functions: tests depend on the order of their calls.
    let text = "int type(int at); int error(const char *format, ...);
        int f(int k) { if (k > 3) return error(\"%d %d\", type(-2), type(-1)); return 0; }";
    check(text, &[], [2, 0, 0]);
}
