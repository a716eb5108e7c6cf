/* Complex numbers of all widths: operators, conversions, infinities, parameters and results. */
#include <complex.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

_Complex double given = 1.5 + 2.5i;
_Complex float list[3] = {1.0f, 2.0fi, -1.0f - 3.0fi};
_Complex int whole = 3 + 4i;
_Complex long double wide = 1.0L - 2.0Li;
_Complex char bytes[2] = {1 + 2i, -3 - 4i};
_Complex double counted = 5 - 6i;
static const double complex negative = -(1.0 + 2.0i);

static void show(const char *name, _Complex double z) { printf("%s: %.17g %.17g\n", name, creal(z), cimag(z)); }
static _Complex double sum(_Complex double a, _Complex float b) { return a + b; }
static _Complex int twice(_Complex int a) { return a * 2; }

static double last(int count, ...)
{
    va_list args;
    _Complex double z = 0;
    va_start(args, count);
    while (count--)
        z = va_arg(args, _Complex double);
    va_end(args);
    return __imag__ z;
}

int main(void)
{
    _Complex double a = 3.0 - 4.0i, b = 0.5 + 0.25i, c;
    _Complex float f = a;
    _Complex int n = whole;
    volatile _Complex double huge = 1e300 + 1e300i, small = 1e-300 + 2e-300i, tiny = 3e-310 - 1e-320i;
    volatile double inf = INFINITY;
    double real = 2.0;
    show("given", given);
    show("counted", counted + bytes[1]);
    show("negative", negative);
    show("list", list[1] + list[2]);
    show("sum", sum(a, list[0]));
    show("product", a * b);
    show("quotient", a / b);
    show("difference", a - b);
    show("by real", a * real);
    show("real by", real / b);
    show("real minus", real - a);
    show("halved", a / 2);
    show("conjugate", ~a);
    show("negated", -a);
    show("float product", f * f / (1.0f + 2.0fi));
    show("float quotient", (1.0f + 3.0fi) / (3.0f - 0.7fi));
    show("infinite", (inf + 1.0i) * b);
    show("over zero", a / (0.0 + 0.0i));
    show("over infinity", a / (inf - 1.0i));
    show("huge", huge / (1e300 - 1e299i));
    show("small", small / (3e-300 + 1e-300i));
    show("tiny", tiny / small);
    show("huge by tiny", huge / tiny);
    c = a;
    c += b;
    c *= 2;
    c -= 1.0i;
    c /= b;
    show("compound", c);
    c++;
    __real__ c += 10;
    __imag__ c = -__imag__ c;
    show("parts", c);
    real += a;
    printf("%g %d %d %d %d\n", real, a == b, a != b, !a, a == 3.0);
    if (a && !(0.0 + 0.0i))
        printf("true\n");
    n = twice(n) - 1;
    printf("%d %d\n", __real__ n, __imag__ n);
    n = (17 + 5i) / (2 + 1i);
    printf("%d %d\n", __real__ n, __imag__ n);
    n = (17 + 5i) * n;
    printf("%d %d\n", __real__ n, __imag__ n);
    c = n;
    show("from integers", c);
    wide = wide * wide + 1;
    wide /= 3.0L + 1.0Li;
    printf("%.15g %.15g\n", (double)creall(wide), (double)__imag__ wide);
    c = wide;
    show("narrowed", c);
    printf("%g %g\n", cabs(3.0 + 4.0i), last(2, a, b));
    show("chosen", real > 1 ? a : b);
    show("conj", conj(b));
    printf("%d %d %d\n", (int)sizeof(a), (int)sizeof(n), (int)sizeof(wide));
    printf("%g %g\n", __real__ real, __imag__ real);
    return (int)a;
}
