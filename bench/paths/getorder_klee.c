// KLEE driver for getorder.c. The precondition is written without branches (& instead of &&), which suits KLEE best.
#include "getorder.c"
#include <klee/klee.h>

int main(void) {
    perm p;
    klee_make_symbolic(p, sizeof p, "p");
    for (int i = 0; i < N; i++) {
        klee_assume((p[i] >= 0) & (p[i] < N));
        for (int j = 0; j < i; j++)
            klee_assume(p[i] != p[j]);
    }
    return getOrder(p);
}
