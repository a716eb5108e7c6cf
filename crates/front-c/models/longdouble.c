/* Arithmetic on 80-bit floats: a significand with its leading bit, and a head of sign and exponent. Rounded to nearest even. */

typedef unsigned long word;
typedef unsigned __int128 wide;

enum { BIAS = 16383, SIGN = 0x8000, MAX_EXPONENT = 0x7fff };

static const word TOP = 1UL << 63;

static void special(word *out, word significand, word head)
{
    out[0] = significand;
    out[1] = head;
}

static int is_nan(word s, word h) { return (h & MAX_EXPONENT) == MAX_EXPONENT && s << 1 != 0; }
static int is_infinite(word s, word h) { return (h & MAX_EXPONENT) == MAX_EXPONENT && s << 1 == 0; }
static int power_of(word h) { return ((h & MAX_EXPONENT) ? (int)(h & MAX_EXPONENT) : 1) - BIAS - 63; }

/* The exponent of a number (ilogbl); glibc's results for zero, infinities and NaNs. */
int touchstone_long_exponent(word s, word h)
{
    if ((h & MAX_EXPONENT) == MAX_EXPONENT)
        return s << 1 ? -2147483647 - 1 : 2147483647;
    return s ? power_of(h) + 63 - __builtin_clzl(s) : -2147483647 - 1;
}

static int width_of(wide value)
{
    word high = (word)(value >> 64), low = (word)value;
    if (high)
        return 128 - __builtin_clzl(high);
    return low ? 64 - __builtin_clzl(low) : 0;
}

/* value * 2^power, rounded; the last bit of the value is a sticky bit. */
static void finish(word *out, word sign, wide value, int power)
{
    int width = width_of(value), exponent, drop;
    wide kept;
    if (!width) {
        special(out, 0, sign);
        return;
    }
    exponent = power + width - 1 + BIAS;
    drop = width - 64;
    if (exponent <= 0) {
        drop += 1 - exponent;
        exponent = 0;
    }
    if (drop > 127) {
        /* Less than half of the smallest subnormal. */
        special(out, 0, sign);
        return;
    }
    if (drop > 0) {
        wide rest = value & (((wide)1 << drop) - 1), half = (wide)1 << (drop - 1);
        kept = value >> drop;
        if (rest > half || (rest == half && (word)kept & 1))
            kept += 1;
    } else {
        kept = value << -drop;
    }
    if (kept >> 64) {
        kept >>= 1;
        exponent++;
    }
    if (exponent == 0 && (word)kept & TOP)
        exponent = 1;
    if (exponent >= MAX_EXPONENT)
        special(out, TOP, sign | MAX_EXPONENT);
    else
        special(out, (word)kept, sign | (word)exponent);
}

static int nan_of(word *out, word as, word ah, word bs, word bh)
{
    if (is_nan(as, ah))
        special(out, as | 3UL << 62, ah);
    else if (is_nan(bs, bh))
        special(out, bs | 3UL << 62, bh);
    else
        return 0;
    return 1;
}

static void invalid(word *out) { special(out, 3UL << 62, SIGN | MAX_EXPONENT); }

void touchstone_long_add(word *out, word as, word ah, word bs, word bh)
{
    word sa = ah & SIGN, sb = bh & SIGN;
    int pa, pb, apart;
    wide a, b;
    if (nan_of(out, as, ah, bs, bh))
        return;
    if (is_infinite(as, ah) && is_infinite(bs, bh) && sa != sb) {
        invalid(out);
        return;
    }
    if (is_infinite(as, ah) || is_infinite(bs, bh)) {
        special(out, TOP, is_infinite(as, ah) ? ah : bh);
        return;
    }
    if (!as && !bs) {
        special(out, 0, sa & sb);
        return;
    }
    pa = power_of(ah);
    pb = power_of(bh);
    if (pa < pb) {
        touchstone_long_add(out, bs, bh, as, ah);
        return;
    }
    apart = pa - pb;
    a = (wide)as << 63;
    b = (wide)bs << 63;
    if (apart > 126)
        b = bs != 0;
    else if (apart)
        b = b >> apart | ((b & (((wide)1 << apart) - 1)) != 0);
    if (sa == sb)
        finish(out, sa, a + b, pa - 63);
    else if (a == b)
        special(out, 0, 0);
    else if (a > b)
        finish(out, sa, a - b, pa - 63);
    else
        finish(out, sb, b - a, pa - 63);
}

void touchstone_long_subtract(word *out, word as, word ah, word bs, word bh)
{
    if (!nan_of(out, as, ah, bs, bh))
        touchstone_long_add(out, as, ah, bs, bh ^ SIGN);
}

void touchstone_long_multiply(word *out, word as, word ah, word bs, word bh)
{
    word sign = (ah ^ bh) & SIGN;
    if (nan_of(out, as, ah, bs, bh))
        return;
    if (is_infinite(as, ah) || is_infinite(bs, bh)) {
        if (!as || !bs)
            invalid(out);
        else
            special(out, TOP, sign | MAX_EXPONENT);
        return;
    }
    finish(out, sign, (wide)as * bs, power_of(ah) + power_of(bh));
}

void touchstone_long_divide(word *out, word as, word ah, word bs, word bh)
{
    word sign = (ah ^ bh) & SIGN;
    int pa = power_of(ah), pb = power_of(bh), shift;
    wide first, rest, second;
    if (nan_of(out, as, ah, bs, bh))
        return;
    if ((is_infinite(as, ah) && is_infinite(bs, bh)) || (!as && !bs)) {
        invalid(out);
        return;
    }
    if (is_infinite(as, ah) || !bs) {
        special(out, TOP, sign | MAX_EXPONENT);
        return;
    }
    if (is_infinite(bs, bh) || !as) {
        special(out, 0, sign);
        return;
    }
    shift = __builtin_clzl(as);
    as <<= shift;
    pa -= shift;
    shift = __builtin_clzl(bs);
    bs <<= shift;
    pb -= shift;
    first = ((wide)as << 64) / bs;
    rest = ((wide)as << 64) - first * bs;
    second = (rest << 32) / bs;
    rest = (rest << 32) - second * bs;
    finish(out, sign, (first << 32 | second) << 1 | (rest != 0), pa - pb - 97);
}

/* -1, 0 or 1; 2 if one of them is a NaN. */
int touchstone_long_compare(word as, word ah, word bs, word bh)
{
    int less, negative = (ah & SIGN) != 0;
    if (is_nan(as, ah) || is_nan(bs, bh))
        return 2;
    if (!as && !bs)
        return 0;
    if ((ah ^ bh) & SIGN)
        return negative ? -1 : 1;
    if (as == bs && ah == bh)
        return 0;
    less = (ah & MAX_EXPONENT) != (bh & MAX_EXPONENT) ? (ah & MAX_EXPONENT) < (bh & MAX_EXPONENT) : as < bs;
    return less != negative ? -1 : 1;
}

void touchstone_long_from_integer(word *out, word magnitude, word negative)
{
    finish(out, negative && magnitude ? SIGN : 0, magnitude, 0);
}

/* Rounds towards zero; a value that does not fit gives the minimum. */
word touchstone_long_to_integer(word s, word h)
{
    int shift = -power_of(h);
    word magnitude;
    if (shift < 0 || (h & MAX_EXPONENT) == MAX_EXPONENT)
        return TOP;
    magnitude = shift > 63 ? 0 : s >> shift;
    return h & SIGN ? 0 - magnitude : magnitude;
}

void touchstone_long_from_double(word *out, word bits)
{
    word sign = bits >> 63 ? SIGN : 0, fraction = bits & ((1UL << 52) - 1);
    int field = bits >> 52 & 0x7ff;
    if (field == 0x7ff)
        special(out, TOP | fraction << 11 | (fraction ? 1UL << 62 : 0), sign | MAX_EXPONENT);
    else if (field == 0)
        finish(out, sign, fraction, -1074);
    else
        finish(out, sign, fraction | 1UL << 52, field - 1075);
}

/* The bits of a narrower float, given its number of significand and exponent bits. */
word touchstone_long_to_float(word s, word h, word bits, word exponent_bits)
{
    word sign = (word)((h & SIGN) != 0) << (bits - 1 + exponent_bits), limit = (1UL << exponent_bits) - 1, kept;
    int least = 3 - (1 << (exponent_bits - 1)) - (int)bits, power = power_of(h), width, at, drop;
    if (is_nan(s, h))
        return sign | limit << (bits - 1) | 1UL << (bits - 2) | (s << 2 >> 2) >> (64 - bits);
    if (is_infinite(s, h))
        return sign | limit << (bits - 1);
    width = width_of(s);
    if (!width)
        return sign;
    at = power + width - (int)bits;
    if (at < least)
        at = least;
    drop = at - power;
    if (drop > 64) {
        kept = 0;
    } else if (drop == 64) {
        kept = s > TOP;
    } else if (drop > 0) {
        word rest = s & ((1UL << drop) - 1), half = 1UL << (drop - 1);
        kept = s >> drop;
        kept += rest > half || (rest == half && kept & 1);
    } else {
        kept = s << -drop;
    }
    if ((word)(at - least) >= limit)
        return sign | limit << (bits - 1);
    /* A significand that is rounded up to a power of two carries into the exponent. */
    kept += (word)(at - least) << (bits - 1);
    return sign | (kept >> (bits - 1) >= limit ? limit << (bits - 1) : kept);
}
