/* GNU vectors: lanes, comparisons, casts, parameters and results. */
#include <stdarg.h>
#include <stdio.h>

typedef int v4si __attribute__((vector_size(16)));
typedef unsigned char v8qi __attribute__((vector_size(8)));
typedef float v4sf __attribute__((vector_size(16)));
typedef double v2df __attribute__((vector_size(16)));
typedef long long v2di __attribute__((vector_size(16)));
typedef short v2hi __attribute__((vector_size(4)));

struct pair {
    char tag;
    v4si body;
};

v4si table[2] = {{1, 2, 3, 4}, {5, 6}};
struct pair whole = {'x', {9, 8, 7, 6}};
v2df halves = {0.5, -0.25};

static void show(const char *name, v4si v) { printf("%s: %d %d %d %d\n", name, v[0], v[1], v[2], v[3]); }
static v4si added(v4si a, v4si b) { return a + b; }
static v2df scaled(double by, v2df a) { return a * by; }
static v4si *second(void) { return &table[1]; }

static int total(int count, ...)
{
    va_list list;
    int sum = 0;
    va_start(list, count);
    while (count--) {
        v4si v = va_arg(list, v4si);
        sum += v[0] + v[3];
    }
    va_end(list);
    return sum;
}

int main(void)
{
    v4si a = {1, -2, 3, 2147483647}, b = {10, 20, -30, 1}, c;
    v8qi q = {200, 100, 3, 4, 5, 6, 7, 255};
    v4sf f = {1.5f, -2.0f, 0.0f, 1e30f};
    union {
        v4si v;
        int i[4];
        v2di l;
    } u;
    int i, k = 2;
    show("sum", added(a, b));
    show("difference", a - b);
    show("product", a * b);
    show("quotient", b / a);
    show("remainder", b % (v4si){3, 7, 4, 1});
    show("bits", (a & b) | (a ^ 5));
    show("shift", a << 2);
    show("shifts", b >> (v4si){1, 2, 3, 0});
    show("negated", -a);
    show("flipped", ~a);
    show("splat", a + 100);
    show("less", a < b);
    show("equal", a == a);
    show("floats", f >= (v4sf){1.5f, -3.0f, -0.0f, 0.0f});
    c = a;
    c += b;
    c[k] = 77;
    c[k + 1]++;
    show("written", c);
    c = k ? a : b;
    show("chosen", c);
    show("comma", (k++, b));
    show("table", *second() + table[0]);
    table[1][3] = 44;
    show("element", table[1]);
    whole.body[1] += 5;
    show("member", whole.body);
    q += 100;
    for (i = 0; i < 8; i++)
        printf("%d ", q[i]);
    printf("\n");
    f = f * 2.0f + 1.0f;
    for (i = 0; i < 4; i++)
        printf("%g ", f[i]);
    halves = scaled(3.0, halves);
    printf("%g %g\n", halves[0], halves[1]);
    printf("%llx\n", (unsigned long long)(v8qi){1, 2, 3, 4, 5, 6, 7, 8});
    printf("%x\n", (int)(v2hi){0x1234, 0x5678});
    show("reinterpreted", (v4si)(v2di){0x100000002LL, -1});
    u.v = a;
    printf("%d %llx\n", u.i[3], (unsigned long long)u.l[0]);
    c = __builtin_convertvector((v4sf){1.9f, -1.9f, 7.0f, 0.5f}, v4si);
    show("converted", c);
    printf("%d %d %d\n", total(2, a, b), (int)sizeof(v4si), (int)_Alignof(v4si));
    printf("%d\n", (a + b)[1]);
    show("shuffled", __builtin_shuffle(a, (v4si){3, 5, 0, -2}));
    halves = __builtin_shuffle(halves, (v2di){10000000001LL, 0});
    printf("%g %g\n", halves[0], halves[1]);
    return 0;
}
