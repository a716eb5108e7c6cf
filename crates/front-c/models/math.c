/* math.h: functions on exponents. */

unsigned long touchstone_bits(double);
unsigned touchstone_bitsf(float);
double touchstone_from_bits(unsigned long);
float touchstone_from_bitsf(unsigned);

double modf(double x, double *whole)
{
    *whole = __builtin_trunc(x);
    /* The difference of infinities would be a NaN; a zero has the sign of x. */
    return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - *whole, x);
}

float modff(float x, float *whole)
{
    *whole = __builtin_truncf(x);
    return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - *whole, x);
}

double frexp(double x, int *exponent)
{
    unsigned long bits = touchstone_bits(x);
    int e = bits >> 52 & 0x7ff;
    *exponent = 0;
    if ((x == 0) | (e == 0x7ff))
        return x + x;
    if (e == 0) {
        bits = touchstone_bits(x * 0x1p64);
        e = (bits >> 52 & 0x7ff) - 64;
    }
    *exponent = e - 1022;
    return touchstone_from_bits((bits & 0x800fffffffffffffUL) | 0x3fe0000000000000UL);
}

float frexpf(float x, int *exponent)
{
    /* Every float is a normal double. */
    return (float)frexp(x, exponent);
}

double scalbn(double x, int n)
{
    if (n > 1023) {
        x *= 0x1p1023;
        n -= 1023;
        if (n > 1023) {
            x *= 0x1p1023;
            n -= 1023;
            if (n > 1023)
                n = 1023;
        }
    } else if (n < -1022) {
        /* Intermediate results stay normal, so that only the last step rounds. */
        x *= 0x1p-1022 * 0x1p53;
        n += 1022 - 53;
        if (n < -1022) {
            x *= 0x1p-1022 * 0x1p53;
            n += 1022 - 53;
            if (n < -1022)
                n = -1022;
        }
    }
    return x * touchstone_from_bits((unsigned long)(1023 + n) << 52);
}

double ldexp(double x, int n) { return scalbn(x, n); }
double scalbln(double x, long n) { return scalbn(x, n > 99999 ? 99999 : n < -99999 ? -99999 : (int)n); }

float scalbnf(float x, int n)
{
    /* Exact in double, then rounded once. */
    return (float)scalbn(x, n > 999 ? 999 : n < -999 ? -999 : n);
}

float ldexpf(float x, int n) { return scalbnf(x, n); }

double logb(double x)
{
    int e;
    if (x == 0)
        return -1 / (x * x);
    if (!__builtin_isfinite(x))
        return x * x;
    frexp(x, &e);
    return e - 1;
}

int ilogb(double x)
{
    int e;
    if (x == 0)
        return -2147483647 - 1;
    if (!__builtin_isfinite(x))
        return __builtin_isnan(x) ? -2147483647 - 1 : 2147483647;
    frexp(x, &e);
    return e - 1;
}

double nextafter(double x, double y)
{
    if (x != x || y != y)
        return x + y;
    if (x == y)
        return y;
    if (x == 0)
        return __builtin_copysign(0x1p-1074, y);
    return touchstone_from_bits(touchstone_bits(x) + ((x < y) == (x > 0) ? 1 : -1UL));
}

float nextafterf(float x, float y)
{
    if (x != x || y != y)
        return x + y;
    if (x == y)
        return y;
    if (x == 0)
        return __builtin_copysignf(0x1p-149f, y);
    return touchstone_from_bitsf(touchstone_bitsf(x) + ((x < y) == (x > 0) ? 1 : -1u));
}

/* x minus the nearest multiple of y (ties to even); the low bits of the quotient (at most 8, as in glibc). Every step
 * is exact. */
double remquo(double x, double y, int *multiple)
{
    double a = __builtin_fabs(x), b = __builtin_fabs(y);
    int count = 0, negative = __builtin_signbit(x) != __builtin_signbit(y);
    *multiple = 0;
    if (x != x || y != y)
        return x + y;
    if (a == __builtin_inf() || b == 0)
        return (x * y) / (x * y);
    if (b <= 0x1.fffffffffffffp+1020)
        a = __builtin_fmod(a, 8 * b);
    if (b <= 0x1.fffffffffffffp+1021 && a >= 4 * b)
        a -= 4 * b, count += 4;
    if (b <= 0x1.fffffffffffffp+1022 && a >= 2 * b)
        a -= 2 * b, count += 2;
    if (b < 0x1p-1021 ? a + a > b : a > 0.5 * b) {
        a -= b, count++;
        if (b < 0x1p-1021 ? a + a >= b : a >= 0.5 * b)
            a -= b, count++;
    }
    *multiple = negative ? -count : count;
    return __builtin_signbit(x) ? -a : a;
}

double remainder(double x, double y)
{
    int multiple;
    return remquo(x, y, &multiple);
}

double drem(double x, double y) { return remainder(x, y); }

/* A double represents the remainder of floats exactly. */
float remquof(float x, float y, int *multiple) { return (float)remquo(x, y, multiple); }

float remainderf(float x, float y) { return (float)remainder(x, y); }

/* The rounding mode: floats are rounded to nearest here. */
void touchstone_refuse(const char *what);
int fesetround(int mode) { touchstone_refuse("change of the rounding mode"); return 0; }
int fesetenv(const void *environment) { touchstone_refuse("change of the rounding mode"); return 0; }
int feupdateenv(const void *environment) { touchstone_refuse("change of the rounding mode"); return 0; }
