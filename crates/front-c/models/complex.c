/* Products and quotients of complex floats, as in common compilers' run-time libraries (C11 Annex G, and the scaling of
   Baudin and Smith, "A robust complex division in Scilab", 2012), and the simplest functions of complex.h. */

#define NOT_A_NUMBER(x) ((x) != (x))
#define INFINITE(x) (!NOT_A_NUMBER(x) && NOT_A_NUMBER((x) - (x)))
#define FINITE(x) (!NOT_A_NUMBER((x) - (x)))
#define ABS(x) ((x) < 0 ? -(x) : (x))

/* One or zero with the sign of x. */
static double boxed(double x, double sign) { return __builtin_copysign(INFINITE(x) ? 1.0 : 0.0, sign); }
static double signed_zero(double x) { return NOT_A_NUMBER(x) ? __builtin_copysign(0.0, x) : x; }
static float boxedf(float x, float sign) { return __builtin_copysignf(INFINITE(x) ? 1.0f : 0.0f, sign); }
static float signed_zerof(float x) { return NOT_A_NUMBER(x) ? __builtin_copysignf(0.0f, x) : x; }
static int negativel(long double x) { return ((const unsigned char *)&x)[9] >> 7; }
static long double boxedl(long double x, long double sign)
{
    long double value = INFINITE(x) ? 1.0L : 0.0L;
    return negativel(sign) ? -value : value;
}
static long double signed_zerol(long double x) { return NOT_A_NUMBER(x) ? (negativel(x) ? -0.0L : 0.0L) : x; }

#define MULTIPLY(type, s, infinity) \
    void touchstone_complex_multiply##s(type *out, const type *left, const type *right) \
    { \
        type a = left[0], b = left[1], c = right[0], d = right[1]; \
        type ac = a * c, bd = b * d, ad = a * d, bc = b * c; \
        type x = ac - bd, y = ad + bc; \
        if (NOT_A_NUMBER(x) && NOT_A_NUMBER(y)) { \
            int recalculate = 0; \
            if (INFINITE(a) || INFINITE(b)) { \
                a = boxed##s(a, a), b = boxed##s(b, b); \
                c = signed_zero##s(c), d = signed_zero##s(d); \
                recalculate = 1; \
            } \
            if (INFINITE(c) || INFINITE(d)) { \
                c = boxed##s(c, c), d = boxed##s(d, d); \
                a = signed_zero##s(a), b = signed_zero##s(b); \
                recalculate = 1; \
            } \
            if (!recalculate && (INFINITE(ac) || INFINITE(bd) || INFINITE(ad) || INFINITE(bc))) { \
                a = signed_zero##s(a), b = signed_zero##s(b); \
                c = signed_zero##s(c), d = signed_zero##s(d); \
                recalculate = 1; \
            } \
            if (recalculate) { \
                x = infinity * (a * c - b * d); \
                y = infinity * (a * d + b * c); \
            } \
        } \
        out[0] = x; \
        out[1] = y; \
    }

MULTIPLY(double, , __builtin_inf())
MULTIPLY(float, f, __builtin_inff())
MULTIPLY(long double, l, (long double)__builtin_inf())

/* Recovers infinities and zeros where both parts of the quotient are NaNs. */
#define RECOVER(type, s, infinity) \
    if (NOT_A_NUMBER(x) && NOT_A_NUMBER(y)) { \
        if (c == 0 && d == 0 && (!NOT_A_NUMBER(a) || !NOT_A_NUMBER(b))) { \
            type sign = boxed##s(infinity, c); \
            x = sign * infinity * a; \
            y = sign * infinity * b; \
        } else if ((INFINITE(a) || INFINITE(b)) && FINITE(c) && FINITE(d)) { \
            a = boxed##s(a, a), b = boxed##s(b, b); \
            x = infinity * (a * c + b * d); \
            y = infinity * (b * c - a * d); \
        } else if ((INFINITE(c) || INFINITE(d)) && FINITE(a) && FINITE(b)) { \
            c = boxed##s(c, c), d = boxed##s(d, d); \
            x = 0 * (a * c + b * d); \
            y = 0 * (b * c - a * d); \
        } \
    }

void touchstone_complex_dividef(float *out, const float *left, const float *right)
{
    float a = left[0], b = left[1], c = right[0], d = right[1], x, y;
    double aa = a, bb = b, cc = c, dd = d, scale = cc * cc + dd * dd;
    x = (float)((aa * cc + bb * dd) / scale);
    y = (float)((bb * cc - aa * dd) / scale);
    RECOVER(float, f, __builtin_inff())
    out[0] = x;
    out[1] = y;
}

#define DIVIDE(type, s, infinity, BIG, SMALL, SMALLER, GROW, ROOM) \
    void touchstone_complex_divide##s(type *out, const type *left, const type *right) \
    { \
        type a = left[0], b = left[1], c = right[0], d = right[1], x, y, ratio, scale; \
        int swapped = ABS(c) < ABS(d); \
        type most = swapped ? ABS(d) : ABS(c); \
        if (most >= BIG) { \
            a = a / 2, b = b / 2, c = c / 2, d = d / 2; \
        } else if (most < SMALLER \
                   || (ABS(a) < SMALL && ABS(b) < ROOM && most < ROOM) \
                   || (ABS(b) < SMALL && ABS(a) < ROOM && most < ROOM)) { \
            a = a * GROW, b = b * GROW, c = c * GROW, d = d * GROW; \
        } \
        if (swapped) { \
            ratio = c / d; \
            scale = c * ratio + d; \
            if (ABS(ratio) > SMALL) { \
                x = (a * ratio + b) / scale; \
                y = (b * ratio - a) / scale; \
            } else { \
                x = (c * (a / d) + b) / scale; \
                y = (c * (b / d) - a) / scale; \
            } \
        } else { \
            ratio = d / c; \
            scale = d * ratio + c; \
            if (ABS(ratio) > SMALL) { \
                x = (b * ratio + a) / scale; \
                y = (b - a * ratio) / scale; \
            } else { \
                x = (a + d * (b / c)) / scale; \
                y = (b - d * (a / c)) / scale; \
            } \
        } \
        RECOVER(type, s, infinity) \
        out[0] = x; \
        out[1] = y; \
    }

#define MOST_DOUBLE 0x1.fffffffffffffp+1023
#define LEAST_DOUBLE 0x1p-1022
#define EPSILON 0x1p-52
DIVIDE(double, , __builtin_inf(), MOST_DOUBLE / 2, LEAST_DOUBLE, EPSILON, 1 / EPSILON, MOST_DOUBLE / 2 * EPSILON)

#define MOST_LONG 0x1.fffffffffffffffep+16383L
#define LEAST_LONG 0x1p-16382L
#define EPSILON_LONG 0x1p-63L
DIVIDE(long double, l, (long double)__builtin_inf(), MOST_LONG / 2, LEAST_LONG, EPSILON_LONG, 1 / EPSILON_LONG,
       MOST_LONG / 2 * EPSILON_LONG)

/* Integers: Smith's method with truncated quotients, as in gcc. */
#define DIVIDE_INTEGERS(name, type) \
    void touchstone_complex_divide_##name(type *out, const type *left, const type *right) \
    { \
        type a = left[0], b = left[1], c = right[0], d = right[1], ratio, scale; \
        if (ABS(c) < ABS(d)) { \
            ratio = c / d; \
            scale = c * ratio + d; \
            out[0] = (a * ratio + b) / scale; \
            out[1] = (b * ratio - a) / scale; \
        } else { \
            ratio = d / c; \
            scale = d * ratio + c; \
            out[0] = (b * ratio + a) / scale; \
            out[1] = (b - a * ratio) / scale; \
        } \
    }

DIVIDE_INTEGERS(integer, long)
DIVIDE_INTEGERS(unsigned, unsigned long)

double hypot(double x, double y);
float hypotf(float x, float y);
double creal(_Complex double z) { return __real__ z; }
float crealf(_Complex float z) { return __real__ z; }
long double creall(_Complex long double z) { return __real__ z; }
double cimag(_Complex double z) { return __imag__ z; }
float cimagf(_Complex float z) { return __imag__ z; }
long double cimagl(_Complex long double z) { return __imag__ z; }
_Complex double conj(_Complex double z) { return ~z; }
_Complex float conjf(_Complex float z) { return ~z; }
_Complex long double conjl(_Complex long double z) { return ~z; }
double cabs(_Complex double z) { return hypot(__real__ z, __imag__ z); }
float cabsf(_Complex float z) { return hypotf(__real__ z, __imag__ z); }
