// KLEE driver for max3als.c.
#include "max3als.c"
#include <klee/klee.h>

int main(void) {
    int i0, i1, i2;
    klee_make_symbolic(&i0, sizeof i0, "i0");
    klee_make_symbolic(&i1, sizeof i1, "i1");
    klee_make_symbolic(&i2, sizeof i2, "i2");
    klee_assume((i0 >= 0) & (i0 < 5));
    klee_assume((i1 >= 0) & (i1 < 5));
    klee_assume((i2 >= 0) & (i2 < 5));
    return max3Als(i0, i1, i2);
}
