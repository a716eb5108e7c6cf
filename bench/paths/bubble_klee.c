// KLEE driver for bubble.c.
#include "bubble.c"
#include <klee/klee.h>

int main(void) {
    int a[N];
    klee_make_symbolic(a, sizeof a, "a");
    bubble_sort(a);
    return 0;
}
