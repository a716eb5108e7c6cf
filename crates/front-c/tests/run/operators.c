/* Every operator on every width, with values at the edges. */
#include <stdint.h>
#include <stdio.h>

static long long edges[] = {0, 1, -1, 2, -2, 7, 127, 128, -128, 255, 256, 32767, -32768, 65535, 2147483647LL, -2147483648LL,
                            4294967295LL, 9223372036854775807LL};
#define COUNT (sizeof(edges) / sizeof(edges[0]))

#define ALL(T, U)                                                                                                       \
    static unsigned long long all_##U(T a, T b)                                                                         \
    {                                                                                                                   \
        unsigned long long h = 0;                                                                                       \
        h = h * 31 + (unsigned long long)(a + b);                                                                       \
        h = h * 31 + (unsigned long long)(a - b);                                                                       \
        h = h * 31 + (unsigned long long)(a * b);                                                                       \
        if (b != 0 && b != (T)-1) {                                                                                     \
            h = h * 31 + (unsigned long long)(a / b);                                                                   \
            h = h * 31 + (unsigned long long)(a % b);                                                                   \
        }                                                                                                               \
        h = h * 31 + (unsigned long long)(a & b);                                                                       \
        h = h * 31 + (unsigned long long)(a | b);                                                                       \
        h = h * 31 + (unsigned long long)(a ^ b);                                                                       \
        h = h * 31 + (unsigned long long)~a;                                                                            \
        h = h * 31 + (unsigned long long)-a;                                                                            \
        h = h * 31 + (unsigned long long)+a;                                                                            \
        h = h * 31 + !a;                                                                                                \
        h = h * 31 + (unsigned long long)(a << (b & 7));                                                                \
        h = h * 31 + (unsigned long long)(a >> (b & 7));                                                                \
        h = h * 31 + (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b);               \
        T c = a;                                                                                                        \
        c += b; h = h * 31 + (unsigned long long)c;                                                                     \
        c -= 3; h = h * 31 + (unsigned long long)c;                                                                     \
        c *= b; h = h * 31 + (unsigned long long)c;                                                                     \
        c /= 3; h = h * 31 + (unsigned long long)c;                                                                     \
        c %= 5; h = h * 31 + (unsigned long long)c;                                                                     \
        c |= a; h = h * 31 + (unsigned long long)c;                                                                     \
        c &= b; h = h * 31 + (unsigned long long)c;                                                                     \
        c ^= a; h = h * 31 + (unsigned long long)c;                                                                     \
        c <<= 2; h = h * 31 + (unsigned long long)c;                                                                    \
        c >>= 1; h = h * 31 + (unsigned long long)c;                                                                    \
        h = h * 31 + (unsigned long long)(c++); h = h * 31 + (unsigned long long)(++c);                                 \
        h = h * 31 + (unsigned long long)(c--); h = h * 31 + (unsigned long long)(--c);                                 \
        h = h * 31 + (unsigned long long)(c, a, b);                                                                     \
        h = h * 31 + (unsigned long long)(a < b ? a : b);                                                               \
        h = h * 31 + (unsigned long long)(a ?: 5);                                                                      \
        return h;                                                                                                       \
    }

ALL(signed char, sc) ALL(unsigned char, uc) ALL(short, s) ALL(unsigned short, us) ALL(int, i) ALL(unsigned, u) ALL(long, l)
ALL(unsigned long, ul) ALL(long long, ll) ALL(uint64_t, u64) ALL(char, c)

static _Bool truths(int x, long y, void *p)
{
    _Bool a = x, b = y, c = p;
    a |= b;
    b++;
    c--;
    _Bool d = x & 4;
    _Bool e = (x > 3);
    a ^= 1;
    return (a + b * 2 + c + d + e) & 1;
}

enum color { RED, GREEN = 5, BLUE, NEG = -3 };

static int mixed(signed char a, unsigned short b, int c, unsigned d, long e, unsigned long f)
{
    int r = 0;
    r += a < b;
    r += 2 * (c < d);
    r += 4 * (a < d);
    r += 8 * (e < f);
    r += 16 * (a < e);
    r += 32 * ((unsigned char)a > a);
    r += (int)((char)c + (short)e + (unsigned char)f);
    return r;
}

int main(void)
{
    unsigned long long h = 0;
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned j = 0; j < COUNT; j++) {
            long long a = edges[i], b = edges[j];
            h = h * 7 + all_sc(a, b); h = h * 7 + all_uc(a, b); h = h * 7 + all_s(a, b); h = h * 7 + all_us(a, b);
            h = h * 7 + all_i(a, b); h = h * 7 + all_u(a, b); h = h * 7 + all_l(a, b); h = h * 7 + all_ul(a, b);
            h = h * 7 + all_ll(a, b); h = h * 7 + all_u64(a, b); h = h * 7 + all_c(a, b);
            h = h * 7 + truths(a, b, a ? &h : 0);
            h = h * 7 + mixed(a, b, a, b, a, b);
            if (i == j)
                printf("%u: %llx\n", i, h);
        }
    enum color c = BLUE;
    c = c == BLUE ? NEG : RED;
    printf("%d %d %d\n", c, GREEN, c < RED);
    printf("%d %d %d %d\n", (int)sizeof(int), (int)sizeof c, (int)sizeof(edges), (int)_Alignof(long));
    printf("%d %d\n", 'a', '\377');
    int x = 5;
    int y = x++ + ++x;
    x = y = 3;
    printf("%d %d\n", x, y);
    x += y -= 1;
    printf("%d %d %d\n", x, y, (x, y));
    unsigned char uc = 250;
    uc += 10;
    printf("%d\n", uc);
    printf("%d\n", (int)(sizeof(x++) + x));
    printf("%ld %lu\n", (long)-1 >> 3, (unsigned long)-1 >> 3);
    return (int)(h & 127);
}
