/* Bit-fields of more than 32 bits, which gcc computes in their own width: truncation and signedness. */
#include <stdio.h>

struct s {
    unsigned long long u : 40;
    long long i : 40;
    unsigned long long v : 33;
    unsigned long w : 63;
} s;
long minus = -1;
int one = 1;
unsigned unsigned_one = 1;

#define SHOW(e) printf("%llx\n", (long long)(e))

int main(void)
{
    s.u = 0xFFFFFFFFFFull, s.i = -1, s.v = 0x1FFFFFFFFull, s.w = ~0ull;
    printf("%d %d %d %d\n", s.u < minus, s.u > minus, s.i < unsigned_one, s.u == minus);
    SHOW((one ? s.u : s.v) + 1);
    SHOW((0, s.u) + 1);
    SHOW((s.u = 5) - 6);
    SHOW(-s.u);
    SHOW(~s.u);
    SHOW(s.u++ + 1);
    SHOW((s.u += 1) - 8);
    SHOW(s.u - s.v);
    SHOW(s.u / minus);
    s.u = 100;
    SHOW(s.u / minus), SHOW(s.u % minus), SHOW((s.u + minus * 200) >> 3);
    s.u /= minus;
    SHOW(s.u);
    printf("%d %d\n", s.i < s.u, (s.i = -1) < s.v);
    SHOW((s.u | 0) - 200);
    s.u = 1;
    printf("%f %f\n", (double)(s.u - 2), (double)(s.u * minus));
    printf("%d\n", (s.u - 2) > 0x10000000000);
    SHOW(({ s.u; }) - 2);
    SHOW((long)s.u - 2);
    SHOW(s.u - 2 + minus);
    printf("%d %d %d\n", (_Bool)(s.u << 39 << 1), s.u << 39 << 1 ? 1 : 0, !(s.u << 39 << 1));
    switch (s.u - 2) {
    case 0xFFFFFFFFFFull: puts("own"); break;
    default: puts("declared");
    }
    SHOW(one << s.u);
    SHOW(s.w + 1);
    SHOW(s.w * 2 >> 1);
    return 0;
}
