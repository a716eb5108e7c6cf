// Functions that go wrong on some path: each error is a test of its own, with its kind and place.
// Run:    touchstone generate examples/errors.c -c paths
// Expect: division by zero in average, a place outside the table in lookup, a null pointer in first_or, a failed
//         assertion in scale; the other tests of each function return.
//
// expect: average tests=3 errors=1
// domain: sum=-1..1
// domain: count=-1..2
// expect: lookup tests=3 errors=1
// domain: index=-2..8
// expect: first_or tests=4 errors=1
// expect: scale tests=4 errors=1
// domain: percent=-1..101

#include <assert.h>
#include <stddef.h>

// Forgets that there may be nothing to average.
int average(int sum, int count) {
    if (count < 0)
        return 0;
    return sum / count;
}

static const int table[6] = {1, 1, 2, 3, 5, 8};

// Checks one end of the range only.
int lookup(int index) {
    if (index < 0)
        return -1;
    return table[index];
}

// Dereferences `values` before it is known to point somewhere.
int first_or(const int *values, int count, int otherwise) {
    if (count <= 0)
        return otherwise;
    if (*values < 0)
        return 0;
    return *values;
}

// The caller is trusted with the upper end, but not silently.
int scale(int percent) {
    if (percent < 0)
        return 0;
    assert(percent <= 100);
    return percent > 50 ? 2 : 1;
}
