/* Operations on 128-bit integers other than sums, products and shifts. The low half comes first. Loops have a fixed count
   and select by masks, so that a division of symbolic numbers is one path. */

void touchstone_wide_divide(unsigned long *out, unsigned long al, unsigned long ah, unsigned long bl, unsigned long bh)
{
    unsigned long rl = 0, rh = 0;
    if ((ah | bh) == 0) {
        out[0] = al / bl;
        out[1] = 0;
        out[2] = al % bl;
        out[3] = 0;
        return;
    }
    for (int step = 0; step < 128; step++) {
        unsigned long carry = rh >> 63;
        rh = rh << 1 | rl >> 63;
        rl = rl << 1 | ah >> 63;
        ah = ah << 1 | al >> 63;
        al = al << 1;
        unsigned long fits = carry | (unsigned long)(rh > bh) | ((unsigned long)(rh == bh) & (unsigned long)(rl >= bl));
        unsigned long mask = 0 - fits;
        unsigned long borrow = rl < (bl & mask);
        rl -= bl & mask;
        rh -= (bh & mask) + borrow;
        al |= fits;
    }
    out[0] = al;
    out[1] = ah;
    out[2] = rl;
    out[3] = rh;
}

/* -value if the mask is all ones. */
static void negate(unsigned long *value, unsigned long mask)
{
    unsigned long low = (value[0] ^ mask) - mask;
    unsigned long carry = (unsigned long)(low == 0) & mask;
    value[1] = (value[1] ^ mask) + carry;
    value[0] = low;
}

void touchstone_wide_divide_signed(unsigned long *out, unsigned long al, unsigned long ah, unsigned long bl,
                                   unsigned long bh)
{
    unsigned long a[2], b[2];
    unsigned long sa = 0 - (ah >> 63), sb = 0 - (bh >> 63);
    a[0] = al;
    a[1] = ah;
    b[0] = bl;
    b[1] = bh;
    negate(a, sa);
    negate(b, sb);
    touchstone_wide_divide(out, a[0], a[1], b[0], b[1]);
    negate(out, sa ^ sb);
    negate(out + 2, sa);
}

/* The low 128 bits of an exact product, and the next word if it is all zeros or ones, otherwise 1. The third word of
   a factor is its sign. */
void touchstone_wide_multiply(unsigned long *out, unsigned long al, unsigned long ah, unsigned long at, unsigned long bl,
                              unsigned long bh, unsigned long bt)
{
    unsigned long a[2], b[2];
    a[0] = al;
    a[1] = ah;
    b[0] = bl;
    b[1] = bh;
    negate(a, at);
    negate(b, bt);
    unsigned __int128 low = (unsigned __int128)a[0] * b[0];
    unsigned __int128 left = (unsigned __int128)a[1] * b[0], right = (unsigned __int128)a[0] * b[1];
    unsigned long high = (unsigned long)(low >> 64) + (unsigned long)left + (unsigned long)right;
    unsigned long beyond = (a[1] != 0) & (b[1] != 0);
    beyond |= (unsigned long)(left >> 64) | (unsigned long)(right >> 64);
    beyond |= high < (unsigned long)(low >> 64) || high < (unsigned long)left || high < (unsigned long)right;
    out[0] = (unsigned long)low;
    out[1] = high;
    unsigned long sign = (at ^ bt) & (0 - (unsigned long)((out[0] | out[1]) != 0));
    negate(out, sign);
    out[2] = beyond ? 1 : sign;
}

union touchstone_double {
    unsigned long bits;
    double value;
};

union touchstone_float {
    unsigned int bits;
    float value;
};

/* The magnitude's 64 leading bits, the last of which is sticky: rounded once more, to 53 or 24
   bits, it is the correctly rounded value. */
static int leading(unsigned long *top, unsigned long low, unsigned long high, unsigned long negative)
{
    unsigned long value[2];
    value[0] = low;
    value[1] = high;
    negate(value, 0 - negative);
    if (value[1] == 0) {
        *top = value[0];
        return 0;
    }
    int shift = 64 - __builtin_clzl(value[1]);
    if (shift == 64) {
        *top = value[1] | (unsigned long)(value[0] != 0);
    } else {
        unsigned long lost = value[0] << (64 - shift);
        *top = value[1] << (64 - shift) | value[0] >> shift | (unsigned long)(lost != 0);
    }
    return shift;
}

double touchstone_wide_to_double(unsigned long low, unsigned long high, unsigned long negative)
{
    unsigned long top;
    int shift = leading(&top, low, high, negative);
    union touchstone_double scale;
    scale.bits = (1023UL + (unsigned long)shift) << 52;
    double value = (double)top * scale.value;
    return negative ? -value : value;
}

float touchstone_wide_to_float(unsigned long low, unsigned long high, unsigned long negative)
{
    unsigned long top;
    int shift = leading(&top, low, high, negative);
    union touchstone_float scale;
    scale.bits = (127U + (unsigned int)shift) << 23;
    float value = (float)top * scale.value;
    return negative ? -value : value;
}

void touchstone_wide_from_double(unsigned long *out, double value)
{
    int negative = value < 0;
    double magnitude = negative ? -value : value;
    out[1] = (unsigned long)(magnitude * 0x1p-64);
    out[0] = (unsigned long)(magnitude - (double)out[1] * 0x1p64);
    negate(out, 0 - (unsigned long)negative);
}
