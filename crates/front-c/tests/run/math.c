/* math.h: rounding, signs, classification, exponents; values of the library itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double values[] = {0.0, -0.0, 0.5, -0.5, 1, -1, 1.5, 2.5, -2.5, 0.1, 3.7, -3.2, 1e10, -1e-10, 4503599627370497.5,
    9007199254740993.0, 1e300, -1e300, 1e-310, 4e-324, 123456.789, -0.49999999999999994};

static void show(double d)
{
    unsigned long bits;
    memcpy(&bits, &d, sizeof bits);
    if (d == d) printf("%lx ", bits);
    else printf("nan ");
}
static void show_float(float f) { show(f); }

static void one(double x)
{
    float f = x;
    int e;
    double whole;
    float wholef;
    show(fabs(x)), show(floor(x)), show(ceil(x)), show(trunc(x)), show(round(x)), show(rint(x)), show(nearbyint(x)), show(sqrt(fabs(x)));
    show_float(fabsf(f)), show_float(floorf(f)), show_float(ceilf(f)), show_float(roundf(f)), show_float(rintf(f)), show_float(sqrtf(f));
    printf("%d%d%d%d%d ", isnan(x), isinf(x), isfinite(x) != 0, isnormal(x) != 0, signbit(x) != 0);
    printf("%d%d%d%d%d %d%d ", isnan(f), isinf(f), isfinite(f) != 0, isnormal(f) != 0, signbit(f) != 0, fpclassify(x), fpclassify(f));
    show(modf(x, &whole)), show(whole), show_float(modff(f, &wholef)), show_float(wholef);
    if (isfinite(x)) {
        show(frexp(x, &e));
        printf("%d ", e);
        show_float(frexpf(f, &e));
        printf("%d ", isfinite(f) ? e : 0);
        if (fabs(x) < 9e18) printf("%ld %ld %ld ", lround(x), lrint(x), llrintf(f));
    }
    for (int n = -2200; n <= 2200; n += 275) show(ldexp(x, n)), show_float(scalbnf(f, n / 7));
    printf("\n");
}

static void two(double x, double y)
{
    show(fmin(x, y)), show(fmax(x, y)), show(fmod(x, y)), show(copysign(x, y)), show(fdim(x, y)), show(nextafter(x, y)), show(fma(x, y, 0.1));
    show_float(fminf(x, y)), show_float(fmaxf(x, y)), show_float(fmodf(x, y)), show_float(copysignf(x, y)), show_float(nextafterf(x, y));
    int low = 0, lowf = 0;
    show(remainder(x, y)), show_float(remainderf(x, y)), show(remquo(x, y, &low)), show_float(remquof(x, y, &lowf));
    if (isfinite(x) && y == y && y != 0 && (float)y != 0 && isfinite((float)x)) printf("%d %d ", low, lowf);
    printf("%d%d%d%d%d%d\n", isgreater(x, y), isless(x, y), islessequal(x, y), isgreaterequal(x, y), islessgreater(x, y), isunordered(x, y));
}

static void library(double x)
{
    show(sin(x)), show(cos(x)), show(tan(x)), show(atan(x)), show(exp(x)), show(log(fabs(x))), show(log2(x)), show(log10(x)), show(tanh(x));
    show(pow(x, 2.5)), show(pow(2, x)), show(atan2(x, 3)), show(hypot(x, 4)), show(expm1(x)), show(log1p(x)), show(asin(x)), show(acos(x));
    show(sinh(x)), show(cosh(x)), show(exp2(x));
    show_float(sinf(x)), show_float(cosf(x)), show_float(tanf(x)), show_float(asinf(x)), show_float(acosf(x)), show_float(atanf(x));
    show_float(atan2f(x, 2)), show_float(sinhf(x)), show_float(coshf(x)), show_float(tanhf(x)), show_float(expf(x)), show_float(exp2f(x));
    show_float(expm1f(x)), show_float(logf(x)), show_float(log2f(x)), show_float(log10f(x)), show_float(log1pf(x));
    show_float(powf(x, 0.5f)), show_float(hypotf(x, 3));
    printf("\n");
}

static void parse(const char *text)
{
    char *end, *endf;
    show(strtod(text, &end)), show_float(strtof(text, &endf)), show(atof(text));
    printf("%d %d\n", (int)(end - text), (int)(endf - text));
}

int main(void)
{
    int count = sizeof values / sizeof *values;
    for (int i = 0; i < count; i++) {
        one(values[i]);
        for (int j = 0; j < count; j++) two(values[i], values[j]);
        two(values[i], INFINITY), two(NAN, values[i]), two(values[i], -NAN), two(-INFINITY, values[i]);
        library(values[i]);
    }
    one(INFINITY), one(-INFINITY), one(NAN), library(INFINITY), library(NAN);
    printf("%f %f %d %d %d\n", HUGE_VAL, INFINITY, (int)(M_PI * 100), FP_NAN, ilogb(1e10));
    static const char *const texts[] = {"0", "-0.0", "1", "  +12.5e-3x", "3.14159265358979323846", ".5", "5.", ".", "", "e5",
        "1e", "1e+", "1e400", "-1e-400", "4.9e-324", "0.1", "123456789012345678901234567890", "9007199254740993", "inf", "-INFinity", "nan",
        "1.7976931348623157e308", "2.2250738585072011e-308", "0.000000000000000000000000000001", "16777217", "1e23", "8.5e22e", "00001.50000",
        "0.3e1.5", "3.4028236e38", "1e-46", "7.0064923e-46", "1e22", "123456789012345e22", "  \t\n7",
        "0x1p3", "-0X1.8P-1x", "0x.8", "0x1.", "0x", "0xg", "0x1p", "0x1p+", "0x1.fffffffffffff7p0", "0x1.fffffffffffff8p0", "0x1.fffffffffffff9p1023",
        "0x1p1024", "0x1.8p-1074", "0x1p-1075", "0x1.00000000000000000001p-1075", "0x0.00000000000000000001p80", "0x123456789abcdef0123456789p-90",
        "0x1.000001p0", "0x1.000003p0", "0x1.000001000000000000000001p0", "0x1.ffffffp127", "0x1p-150", "0x1.8p-149", "0x0p5", "0x1p99999999999",
        "0x1.fffffffffffff7ffffp-1022", "0x0.fffffffffffff8p-1022", "0x0.ffffffp-126", "-", "+", " -x", "-.", "-.e1", "-e1"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) parse(texts[i]);
    show(logb(1e-310)), show(scalbln(1, 70)), show(ldexpf(0.75f, -140));
    return 0;
}
