/* long double: every operation on numbers of all sizes, and its text. */
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static long double global = 1.25L;
static const long double table[] = {0.1L, -3, 7.5, 1e4000L, 3.6e-4951L, 123456789012345678901234567890.0L};

struct pair {
    char tag;
    long double value;
};

static void bits(long double x)
{
    unsigned char bytes[16];
    memcpy(bytes, &x, 10);
    for (int i = 9; i >= 0; i--)
        printf("%02x", bytes[i]);
    printf(" ");
}

static long double half(long double x, int n) { return n ? half(x / 2, n - 1) : x; }
static struct pair make(long double x) { struct pair p = {'p', x}; return p; }
static long double sum(int count, ...)
{
    va_list list;
    long double total = 0;
    va_start(list, count);
    while (count--)
        total += va_arg(list, long double);
    va_end(list);
    return total;
}
static long double (*pointer)(long double, int) = half;

static void two(long double a, long double b)
{
    bits(a + b), bits(a - b), bits(a * b), bits(a / b), bits(-a);
    printf("%d%d%d%d%d%d %d %d\n", a < b, a <= b, a > b, a >= b, a == b, a != b, a && b, !a);
}

static void one(long double x)
{
    bits(x);
    double d = x;
    float f = x;
    long double back = d;
    unsigned long db;
    unsigned fb;
    memcpy(&db, &d, 8);
    memcpy(&fb, &f, 4);
    printf("%016lx %08x ", db, fb);
    bits(back);
    bits(f);
    if (x > -9e18L && x < 9e18L)
        printf("%ld %d ", (long)x, (int)(x / 1e10L));
    if (x >= 0 && x < 1.8e19L)
        printf("%lu ", (unsigned long)x);
    printf("%Lf|%Le|%Lg|%La\n", x > 1e30L || x < -1e30L ? 0 : x, x, x, x);
    printf("%.0Lf|%.3Le|%10.2Lg|%-12.4Lf|%+.1Lf|%#.0Lf|%012.3Lf|%.25Lg|%LG\n", x > 1e20L ? 1 : x, x, x, x > 1e20L ? 2 : x,
           x > 1e20L ? 3 : x, x > 1e20L ? 4 : x, x > 1e20L ? 5 : x, x, x);
}

long double computed[] = {1.0L / 3, 0.1L + 0.2L, 1e4931L * 9 + 1e4931L * 9, 3.0L - 1e-30L, 1.0L / 0.0L, -2.5L * 1e-4940L * 1e-8L,
                         7 / 1e-4945L, 1 - 1.0L};

int main(void)
{
    volatile double zero = 0;
    long double infinity = 1 / zero, nothing = infinity - infinity;
    long double values[] = {
        0, -0.0L, 1, -1, 2, 3, 10, 0.1L, 0.5, 1.5, 2.5, -7.25, 1e10L, 1e19L, 1.8446744073709551615e19L, 18446744073709551615.0L, 1e20L, 1e-10L,
        3.14159265358979323846264338327950288L, 2.71828182845904523536L, 1e300L, 1e-300L, 1e-320L, 5e-324L, 2.5e-324L, 1e4932L, 1e-4930L,
        LDBL_MAX, LDBL_MIN, LDBL_EPSILON, DBL_MAX, DBL_MIN, FLT_MAX, FLT_MIN, 1.00000005960464477539L, 1.00000017881393432617L, 4503599627370497.5L,
        9007199254740993.0L, infinity, -infinity, nothing,
    };
    int count = sizeof values / sizeof *values;
    for (int i = 0; i < count; i++) {
        one(values[i]);
        for (int j = 0; j < count; j++)
            two(values[i], values[j]);
    }
    for (int i = 0; i < (int)(sizeof table / sizeof *table); i++)
        one(table[i]), one(half(table[i], 3));
    for (int i = 0; i < (int)(sizeof computed / sizeof *computed); i++)
        bits(computed[i]);
    global *= 3;
    global += 1;
    global -= 0.1;
    global /= 7;
    bits(global), bits(global++), bits(++global), bits(global--), bits(--global);
    struct pair p = make(global), q = p;
    q.value *= 2;
    bits(p.value), bits(q.value), bits(sum(3, 1.5L, 1e100L, (long double)7)), bits(pointer(100, 5));
    long double *where = &q.value;
    *where = *where > 1 ? *where : 1;
    bits(*where);
    int n = 7;
    n *= 1.5L;
    double d = 3;
    d /= 0.7L;
    unsigned char c = 250.9L;
    _Bool b = 0.25L;
    long big = -9007199254740993L;
    printf("%d %.17g %d %d %zu %zu\n", n, d, c, b, sizeof(struct pair), _Alignof(long double));
    bits(big), bits(0xffffffffffffffffUL), bits((long double)(float)0.1), bits(n), bits(c), bits(1.0 / 3), bits(1.0L / 3);
    if (global)
        printf("true %Lf\n", global);
    while (global > 0.5L)
        global -= 0.25L;
    printf("%.20Lf %5d %Lg\n", global, 3, (n++, (long double)n));
    fprintf(stdout, "%Lf %d %s\n", global, 4, "end");
    for (long double x = 1e-4945L; x < 1e4900L; x *= 1e821L)
        printf("%d ", __builtin_ilogbl(x));
    printf("%d %d\n", __builtin_ilogbl(-8.5L), __builtin_ilogbl(__builtin_infl()));
    return 0;
}
