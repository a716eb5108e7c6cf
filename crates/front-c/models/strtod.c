/* stdlib.h: floats from strings, rounded once. Without errno. */

double touchstone_parse(const char *text, long length);
float touchstone_parsef(const char *text, long length);
/* A parsed number: sign * digits * 10^exponent unless it is special. */
struct number {
    const char *digits_begin;
    const char *end;
    unsigned long digits;
    int count;
    int exponent;
    int negative;
    int special; /* 1: infinity, 2: NaN, 3: hexadecimal: digits * 2^exponent, with a sticky last bit */
};

static int lower(char c) { return (unsigned)c - 'A' < 26 ? c + 32 : c; }

static int starts(const char *s, const char *word)
{
    int n = 0;
    while (word[n] && lower(s[n]) == word[n])
        n++;
    return word[n] ? 0 : n;
}

static int is_digit(char c) { return (unsigned)c - '0' < 10; }
static int is_hex(char c) { return is_digit(c) || (unsigned)lower(c) - 'a' < 6; }

static unsigned hex_value(char c) { return is_digit(c) ? (unsigned)c - '0' : (unsigned)lower(c) - 'a' + 10; }

/* Parses the exponent after this letter, if there is one. */
static void read_exponent(struct number *n, const char *s, char letter)
{
    int power = 0, minus;
    n->end = s;
    if (lower(*s) != letter)
        return;
    s++;
    minus = *s == '-';
    if ((*s == '-') | (*s == '+'))
        s++;
    if (!is_digit(*s))
        return;
    for (; is_digit(*s); s++)
        if (power < 100000)
            power = power * 10 + (*s - '0');
    n->exponent += minus ? -power : power;
    n->end = s;
}

/* Parses the part after 0x. */
static void scan_hex(struct number *n, const char *s)
{
    int point = 0;
    for (;; s++) {
        if (*s == '.' && !point) {
            point = 1;
            continue;
        }
        if (!is_hex(*s))
            break;
        if (n->digits >> 60) {
            n->digits |= hex_value(*s) != 0;
            n->exponent += point ? 0 : 4;
        } else {
            n->digits = n->digits << 4 | hex_value(*s);
            n->exponent -= point ? 4 : 0;
        }
    }
    read_exponent(n, s, 'p');
}

/* digits * 2^exponent, rounded once to `bits` bits and to multiples of 2^least; the last bit of the digits is sticky. */
static double from_hex(struct number *n, int bits, int least, int most)
{
    unsigned long digits = n->digits, rest, half;
    int exponent = n->exponent, width = 0, shift;
    double value;
    if (!digits)
        return 0;
    while (width < 64 && digits >> width)
        width++;
    shift = width - bits;
    if (exponent + shift < least)
        shift = least - exponent;
    if (shift > 64)
        return 0;
    if (shift == 64) {
        digits = digits > 1UL << 63;
    } else if (shift > 0) {
        rest = digits & ((1UL << shift) - 1);
        half = 1UL << (shift - 1);
        digits >>= shift;
        digits += rest > half || (rest == half && (digits & 1));
    } else {
        shift = 0;
    }
    exponent += shift;
    value = (double)digits;
    if (width + n->exponent > most + 1)
        return __builtin_inf();
    for (; exponent > 0; exponent--)
        value *= 2;
    for (; exponent < 0; exponent++)
        value /= 2;
    return value;
}

static void scan(struct number *n, const char *text)
{
    const char *s = text;
    int any = 0;
    n->end = text;
    n->digits = 0;
    n->count = n->exponent = n->special = 0;
    while ((*s == ' ') | ((unsigned)*s - '\t' < 5))
        s++;
    n->negative = *s == '-';
    if ((*s == '-') | (*s == '+'))
        s++;
    n->digits_begin = s;
    if (!is_digit(*s) && *s != '.') {
        if (starts(s, "inf")) {
            n->special = 1;
            n->end = s + (starts(s, "infinity") ? 8 : 3);
        } else if (starts(s, "nan")) {
            n->special = 2;
            n->end = s + 3;
        } else {
            n->negative = 0; /* a sign alone is no number */
        }
        return;
    }
    if (*s == '0' && lower(s[1]) == 'x' && (is_hex(s[2]) || (s[2] == '.' && is_hex(s[3])))) {
        n->special = 3;
        scan_hex(n, s + 2);
        return;
    }
    for (; is_digit(*s); s++) {
        any = 1;
        if (n->count < 19)
            n->digits = n->digits * 10 + (*s - '0'), n->count += n->digits != 0;
        else
            n->exponent++, n->count++;
    }
    if (*s == '.') {
        if (!any && !is_digit(s[1])) {
            n->negative = 0;
            return;
        }
        for (s++; is_digit(*s); s++) {
            if (n->count < 19)
                n->digits = n->digits * 10 + (*s - '0'), n->count += n->digits != 0, n->exponent--;
            else
                n->count++;
        }
    }
    read_exponent(n, s, 'e');
}

static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

double strtod(const char *text, char **end)
{
    struct number n;
    double value;
    scan(&n, text);
    if (end)
        *end = (char *)n.end;
    if (n.special == 3)
        value = from_hex(&n, 53, -1074, 1023);
    else if (n.special)
        value = n.special == 1 ? __builtin_inf() : __builtin_nan("");
    else if (n.digits == 0)
        value = 0;
    else if (n.count <= 15 && n.exponent <= 22 && n.exponent >= -22)
        /* Both are exact, so that only one operation rounds. */
        value = n.exponent < 0 ? n.digits / powers[-n.exponent] : n.digits * powers[n.exponent];
    else
        value = touchstone_parse(n.digits_begin, n.end - n.digits_begin);
    return n.negative ? -value : value;
}

float strtof(const char *text, char **end)
{
    struct number n;
    float value;
    scan(&n, text);
    if (end)
        *end = (char *)n.end;
    if (n.special == 3)
        value = (float)from_hex(&n, 24, -149, 127);
    else if (n.special)
        value = n.special == 1 ? __builtin_inff() : __builtin_nanf("");
    else if (n.digits == 0)
        value = 0;
    else if (n.count <= 7 && n.exponent <= 10 && n.exponent >= -10)
        value = n.exponent < 0 ? (float)n.digits / (float)powers[-n.exponent] : (float)n.digits * (float)powers[n.exponent];
    else
        value = touchstone_parsef(n.digits_begin, n.end - n.digits_begin);
    return n.negative ? -value : value;
}

double atof(const char *text) { return strtod(text, (char **)0); }
