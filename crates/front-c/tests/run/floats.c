/* Floats: literals, conversions, arithmetic, relations, conditions, memory, output. */
#include <stdio.h>
#include <string.h>

typedef float real;
struct mixed { real x; double y; int k; float tail[2]; };

double table[] = {0.0, -0.0, 1, -1.5, 0.1, 1e-310, 4e-324, 2147483647.5, -2147483649.0, 4294967295.0, 9.3e18, 1e300, 1e-40};
static float third = 1.0f / 3;
double invalid[] = {0.0 / 0.0, -(0.0 / 0.0), 1e308 * 10 - 1e308 * 10};
struct mixed origin = {0.1f, 1e-3, 7, {2, -1 / 4.0}};
float narrow = 16777217, hex = 0x1.8p-3f, folded = (float)0.1 + 1 - .5f * 3;
double wide = 9007199254740993, big = 18446744073709551615u, cond = 1 < 2.5 ? 3 : 4.5;
int counts[(int)2.9] = {(int)1e9, (unsigned char)200.7};
static const double pi = 3.14159265358979323846, tiny = 2.2250738585072014e-308;

static void show(double d)
{
    unsigned long bits;
    memcpy(&bits, &d, sizeof bits);
    if (d == d) printf("%lx ", bits);
    else printf("nan ");
}
static void show_float(float f)
{
    unsigned bits;
    memcpy(&bits, &f, sizeof bits);
    if (f == f) printf("%x ", bits);
    else printf("nan ");
}

static int relations(double x, double y)
{
    return (x < y) | (x > y) << 1 | (x == y) << 2 | (x != y) << 3 | (x <= y) << 4 | (x >= y) << 5;
}
static int single_relations(float x, float y)
{
    int r = 0;
    if (x < y) r += 1;
    if (x > y) r += 2;
    if (x == y) r += 4;
    if (x != y && !(x == y)) r += 8;
    if (x <= y || x > y) r += 16;
    return r;
}
static double pass(struct mixed m) { m.x += m.tail[1]; return m.x * m.y + m.k; }
static struct mixed make(double a) { struct mixed m = {.y = a, .x = a, .tail = {[1] = a / 3}}; return m; }
static float accumulate(const float *p, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += p[i] * p[i];
    return sum;
}

static void pair(double a, double b)
{
    float x = a, y = b;
    show(a + b), show(a - b), show(a * b), show(a / b), show(-a);
    show_float(x + y), show_float(x - y), show_float(x * y), show_float(x / y), show_float(-x);
    show(x + b);
    printf("%d %d\n", relations(a, b), single_relations(x, y));
}

static void conversions(double d)
{
    float f = d;
    if (d > -2147483649.0 && d < 2147483648.0) printf("%d %d ", (int)d, (int)f == (int)d);
    if (d > -1 && d < 4294967296.0) printf("%u ", (unsigned)d);
    if (d > -9.3e18 && d < 9.2e18) printf("%ld ", (long)d);
    if (d > -1 && d < 1.8e19) printf("%lu ", (unsigned long)d);
    if (d > -129 && d < 128) printf("%d ", (signed char)f);
    if (d > -1 && d < 256) printf("%d ", (unsigned char)d);
    if (d > -32769 && d < 32768) printf("%d ", (short)d);
    printf("%d %d %d\n", (_Bool)d, !d, d ? 1 : 2);
}

static void integers(long n)
{
    show((double)n), show((double)(unsigned long)n), show((int)n), show((unsigned)n), show((short)n), show((unsigned char)n);
    show_float(n), show_float((unsigned long)n), show_float((int)n), show_float((unsigned)n);
    printf("\n");
}

int main(void)
{
    double inf = 1e308 * 10, nan = inf - inf;
    int count = sizeof table / sizeof *table;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) pair(table[i], table[j]);
        pair(table[i], inf), pair(nan, table[i]), pair(-inf, table[i]);
        conversions(table[i]);
    }
    pair(inf, -inf), pair(nan, nan), pair(inf, inf);
    long numbers[] = {0, 1, -1, 16777217, 16777219, -33554435, 9007199254740993, 9223372036854775807, 1L << 63, 255, 256, 65535};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) integers(numbers[i]);

    int i = 7;
    i *= 0.5, i += 2.75, i -= 1e-9;
    unsigned char c = 200;
    c += 1.9, c /= 1.5f;
    _Bool b = 0;
    b += 0.25;
    float f = 3;
    f *= 0.1, f++, --f, f -= 1;
    double d = f++;
    d /= 3, d = -d--;
    printf("%d %d %d %a %a\n", i, c, b, f, d);
    show_float(narrow), show_float(hex), show_float(folded), show_float(third), show(wide), show(big), show(cond), show(pi), show(tiny);
    printf("%d %d\n", counts[0], counts[1]);

    double *p = &table[3];
    *p += 0.25, p[1] = *p / 7, origin.tail[0]++;
    show(*p), show(p[1]), show(-*p), show_float(origin.tail[0]);
    show(pass(origin)), show(make(0.1).x), show(make(2).tail[1]);
    show_float(accumulate((float[]){1.5f, 2, 0.1f}, 3));
    show(i > 2 ? 1.5 : 2), show(0.0 ?: 4.5), show(nan ?: 1), show(i ? 1 : 0.5f);
    printf("%d %d %d\n", (int)sizeof(double), (int)sizeof 1.0f, (int)sizeof(1.0f + 1.0));

    while (d < 1e18) d = (d + 1) * 17.25;
    do f /= 2; while (f);
    for (float s = 0; s < 1; s += 0.1f) printf("%.9g ", s);
    printf("%.20g %g\n", d, f);
    if (d > 1 && f == 0 && (nan != nan)) printf("all\n");
    if (nan < 1 || nan >= 1) printf("none\n");
    if (!(nan < 1) == !0) printf("unordered\n");
    printf("%f|%10.3f|%-10.2e|%+g|% G|%#.0f|%010.4f|%.0f|%a|%5.1f%%\n", d, 3.14159, -12345.678, 0.0001, 1e-5, 3.0, -2.5, 2.5, 0.1, 99.95);
    printf("%f %F %e %010f %-6f| %g\n", inf, -inf, inf, inf, inf, 1e100);
    printf("%d %f %d %.3f %s\n", 1, 2.5, 3, third, "end");
    for (int i = 0; i < 3; i++) {
        unsigned long bits;
        memcpy(&bits, &invalid[i], sizeof bits);
        printf("%lx ", bits);
    }
    return (int)(d / 1e19 * 100);
}
