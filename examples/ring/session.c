// A program of several files: a session of puts and gets on a ring buffer.
// Run:    touchstone generate examples/ring/session.c examples/ring/ring.c -f session -c paths
// Expect: 63 tests, one for every feasible sequence of full, empty and working operations.
//
// expect: session tests=63
// domain: operations=-1..1

#include "ring.h"

#define OPERATIONS 5

// A positive operation puts itself, zero gets, a negative one ends the session. Returns how many operations failed.
int session(const int operations[OPERATIONS]) {
    struct ring ring;
    int failed = 0;
    ring_clear(&ring);
    for (int i = 0; i < OPERATIONS; i++) {
        int item;
        if (operations[i] < 0)
            break;
        if (operations[i] > 0) {
            if (!ring_put(&ring, operations[i]))
                failed++;
        } else if (!ring_get(&ring, &item)) {
            failed++;
        }
    }
    return failed;
}
