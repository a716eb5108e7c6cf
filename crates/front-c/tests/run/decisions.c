/* Decisions in all places, with their evaluation order made visible. */
#include <stdio.h>
#include <stdbool.h>

static int t(int x) { printf("%d", x); return x; }
#define BOTH(a, b) ((a) && (b))
#define likely(x) __builtin_expect(!!(x), 1)

static int forms(int a, int b, int c, bool p, bool q)
{
    int r = 0;
    if (a && b || c) r |= 1;
    if (!(a || b) && !c) r |= 2;
    if (a > b ? b > c : a > c) r |= 4;
    if ((a > 0) == (b > 0)) r |= 8;
    if ((a > 0) != (b > 0)) r |= 16;
    if ((a > 0) ^ (b > 0) ^ (c > 0)) r |= 32;
    if ((a && b) != 0) r |= 64;
    if ((a && b) == 0) r |= 128;
    if (p == q) r |= 256;
    if (p ^ q) r |= 512;
    if (p == true) r |= 1024;
    if (p != false) r |= 2048;
    if (likely(a > 1)) r |= 4096;
    if (BOTH(a, c > 1)) r |= 8192;
    if ((r++, a && b)) r |= 16384;
    if ((bool)(a & 2)) r |= 32768;
    if (1 && a) r |= 1 << 16;
    if (0 || sizeof(int) == 4) r |= 1 << 17;
    int x = a && b;
    int y = !a;
    bool z = a || c;
    int w = (a < b) + (b < c);
    r += (x + 2 * y + 4 * z + 8 * w) << 18;
    if (!!a == !!b) r ^= 1 << 25;
    if (a == b == c) r ^= 1 << 26;
    if ((a ?: b) > 0) r ^= 1 << 27;
    if (a ?: c) r ^= 1 << 28;
    r += (a && b ?: c) * 3;
    if ((a > 0) == ({ int k = b; switch (k) { case 1: k = 7; } k > c; })) r ^= 1 << 29;
    if (p == (q == (p == (a > b)))) r ^= 1 << 30;
    return r;
}

static int g(int x, int y) { return x * 2 + y; }

int main(void)
{
    for (int a = -1; a < 3; a++)
        for (int b = -1; b < 3; b++)
            for (int c = -1; c < 3; c++)
                for (int pq = 0; pq < 4; pq++)
                    printf("%x ", forms(a, b, c, pq & 1, pq >> 1));
    puts("");
    for (int m = 0; m < 16; m++) {
        int a = m & 1, b = m >> 1 & 1, c = m >> 2 & 1, d = m >> 3;
        int r = t(a) && (t(b) || t(c)) || !t(d);
        printf("=%d ", r);
        r = (t(a) ? t(b) : t(c)) && t(d);
        printf("=%d ", r);
        if ((!t(a)) == (t(b) && t(c))) printf("!");
        if ((!!t(a)) ^ (!!t(d))) printf("?");
        int arr[2] = {5, 6};
        printf("[%d]", arr[a && b] + g(a || b, c && !d));
        while (t(a) && a--) printf(".");
        do { b++; } while (b < 3 && !c);
        for (int i = 0; i < 2 && !d; i++) printf(",");
        puts("");
    }
    void *n = 0, *k = &n;
    printf("%d%d%d\n", !n, !k, n || k);
    for (int i = -1; i < 2; i++) {
        long wide = 1L << 40;
        unsigned long positive = 3;
        signed char narrow = i;
        _Bool flag = i;
        printf("%ld %lu %d %d %ld\n", i ?: wide, narrow ?: positive, narrow ?: 300, flag ?: 7, (i > 0) ?: wide);
    }
    return 0;
}
