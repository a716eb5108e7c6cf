/* 128-bit integers: every operator on values around the boundary of the halves. */
#include <stdarg.h>
#include <stdio.h>

typedef __int128 s128;
typedef unsigned __int128 u128;

static void show(const char *what, u128 value)
{
    printf("%s %016lx%016lx\n", what, (unsigned long)(value >> 64), (unsigned long)value);
}

static s128 global = -5;
static u128 table[3] = {1, (u128)7 << 90, -(u128)1 / 3};
static const u128 shifted = ((u128)0x123456789abcdef0 << 64) + 0xfedcba9876543210;

struct holder {
    char tag;
    s128 value;
    short after;
};

static s128 add(s128 a, int b, s128 c) { return a + b - c; }
static struct holder make(s128 value) { struct holder h = {'h', value, 3}; return h; }
static u128 sum(int count, ...)
{
    va_list list;
    u128 total = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        total += va_arg(list, u128);
    va_end(list);
    return total;
}
static s128 factorial(int n) { return n < 2 ? (s128)1 : n * factorial(n - 1); }
static s128 (*pointer)(int) = factorial;

static int mixed(void)
{
    unsigned long u;
    long s;
    int i, bits = 0;
    unsigned char c;
    bits = bits << 1 | __builtin_add_overflow(-1L, 5UL, &u);
    bits = bits << 1 | __builtin_add_overflow(-6L, 5UL, &u);
    bits = bits << 1 | __builtin_mul_overflow(0xffffffffffffffffUL, 0xffffffffffffffffUL, &s);
    bits = bits << 1 | __builtin_mul_overflow(-1L, 0x8000000000000000UL, &s);
    bits = bits << 1 | __builtin_mul_overflow(3000000000UL, -2, &s);
    bits = bits << 1 | __builtin_sub_overflow(0UL, 9223372036854775807L, &s);
    bits = bits << 1 | __builtin_sub_overflow(1L, 2UL, &i);
    bits = bits << 1 | __builtin_add_overflow(200L, 55, &c);
    bits = bits << 1 | __builtin_add_overflow(200L, 56, &c);
    printf("%lu %ld %d %d\n", u, s, i, c);
    return bits;
}

#define TRY(op, A, B, R)                                                     \
    do {                                                                     \
        R result = 0;                                                        \
        int over = __builtin_##op##_overflow((A)a, (B)b, &result);           \
        hash = hash * 1000003 + (u128)result * 2 + (u128)over;               \
    } while (0)
#define TRY_ALL(A, B, R) TRY(add, A, B, R); TRY(sub, A, B, R); TRY(mul, A, B, R)

static u128 wide_overflows(u128 a, u128 b)
{
    u128 hash = 0;
    TRY_ALL(u128, u128, u128);
    TRY_ALL(s128, s128, s128);
    TRY_ALL(u128, s128, s128);
    TRY_ALL(s128, u128, u128);
    TRY_ALL(u128, u128, s128);
    TRY_ALL(s128, s128, u128);
    TRY_ALL(s128, long, long);
    TRY_ALL(int, u128, unsigned);
    TRY_ALL(long, unsigned long, u128);
    TRY_ALL(unsigned long, unsigned long, s128);
    TRY_ALL(s128, s128, signed char);
    return hash;
}

static int chosen(s128 value)
{
    switch (value) {
    case -1: return 1;
    case 0: case 3 ... 10: return 2;
    case 0x7fffffffffffffff: return 3;
    case -0x7fffffffffffffff - 1: return 4;
    default: return 5;
    }
}
static int picked(u128 value)
{
    switch (value) {
    case 0: return 1;
    case 0xffffffffffffffff: return 2;
    case 2 ... 0xffffffff: return 3;
    }
    return 4;
}

int main(void)
{
    u128 values[] = {
        0, 1, 2, 3, 10, 0xffffffff, 0x100000000, 0xffffffffffffffff, (u128)1 << 64, ((u128)1 << 64) + 1, (u128)1 << 127,
        -(u128)1, ((u128)1 << 127) - 1, shifted, ~shifted, (u128)0xdeadbeef << 60,
    };
    int count = sizeof values / sizeof *values;
    u128 hash = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            u128 a = values[i], b = values[j];
            s128 sa = a, sb = b;
            u128 results[] = {
                a + b, a - b, a * b, a & b, a | b, a ^ b, ~a, -a, a << (b & 127), a >> (b & 127), sa >> (b & 127),
                b ? a / b : 7, b ? a % b : 7, b && ~b ? (u128)(sa / sb) : 7, b && ~b ? (u128)(sa % sb) : 7,
                a < b, a <= b, a > b, a >= b, a == b, a != b, sa < sb, sa <= sb, sa > sb, sa >= sb, !a, a && b, a ? b : a,
            };
            for (int k = 0; k < (int)(sizeof results / sizeof *results); k++)
                hash = hash * 1000003 + results[k];
            hash = hash * 1000003 + wide_overflows(a, b);
            show("overflows", wide_overflows(a, b));
            printf("%d%d%d ", chosen(a), chosen(a - b), picked(a));
        }
    show("hash", hash);
    show("global", global);
    show("table", table[1] + table[2]);
    show("shifted", shifted);
    show("add", add((s128)1 << 100, -1, global));
    struct holder h = make((s128)-1 << 70), copy = h;
    copy.value += h.after;
    copy.value <<= 3;
    show("member", copy.value);
    printf("%zu %zu %zu\n", sizeof(struct holder), sizeof(s128), _Alignof(s128));
    show("variadic", sum(3, (u128)1, (u128)1 << 99, (u128)-1));
    show("pointer", pointer(33));
    int narrow = 100;
    narrow += (s128)1 << 64 | 5;
    narrow *= (u128)3;
    unsigned char byte = 250;
    byte += (s128)10;
    _Bool truth = (s128)1 << 64;
    printf("%d %d %d %d\n", narrow, byte, truth, (int)((s128)1 << 64));
    s128 counter = -1;
    show("post", counter++);
    show("pre", ++counter);
    show("down", counter-- - --counter);
    if (counter)
        puts("not zero");
    while ((counter += 1) < 3)
        show("loop", counter);
    s128 *where = &counter;
    *where -= 40;
    where[0] /= 7;
    show("through", *where);
    show("comma", (narrow++, (u128)narrow));
    show("statement", ({ s128 inner = counter; inner * inner; }));
    double doubles[] = {0.0, 1.5, -1.5, 1e10, 1e19, -1e19, 1e30, -1e30, 1.7e38, 0x1p64, 0x1.fffffffffffffp100};
    for (int i = 0; i < (int)(sizeof doubles / sizeof *doubles); i++) {
        show("double", (s128)doubles[i]);
        show("float", (s128)(float)(doubles[i] / 2));
        if (doubles[i] >= 0)
            show("unsigned", (u128)doubles[i]);
    }
    for (int i = 0; i < count; i++)
        printf("%a %a %a %a\n", (double)values[i], (double)(s128)values[i], (float)values[i], (float)(s128)values[i]);
    for (int i = 0; i < 128; i++) {
        u128 odd = (shifted >> (127 - i)) | ((u128)1 << i) | 1;
        printf("%a %a\n", (double)odd, (double)(float)odd);
    }
    printf("%d\n", mixed());
    return 0;
}
