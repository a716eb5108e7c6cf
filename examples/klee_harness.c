// A harness written for KLEE runs unchanged, and finds that it divides by zero.
// Run:    touchstone generate examples/klee_harness.c --entry main -c paths
// Expect: five tests, of which one ends in a division by zero (an empty range).
//
// expect: main --entry main tests=5 errors=1
// domain: low=0..3
// domain: high=0..20
// domain: value=-1..21

#include <assert.h>
#include <klee/klee.h>

// Position of `value` between `low` and `high`, in percent.
static int percent(int low, int high, int value) {
    if (value < low)
        return 0;
    if (value > high)
        return 100;
    return (value - low) * 100 / (high - low);
}

int main(void) {
    int high, value;
    int low = klee_range(0, 4, "low");
    klee_make_symbolic(&high, sizeof high, "high");
    klee_make_symbolic(&value, sizeof value, "value");
    klee_assume(high >= low);
    klee_assume(high <= 20);

    int result = percent(low, high, value);
    assert(result >= 0);
    assert(result <= 100);
    return result == 100 ? 1 : 0;
}
