/* Formatting into memory. Printing is not modelled here: output is no part of a path, contents of memory are. */

typedef unsigned long size_t;
typedef __builtin_va_list va_list;

int touchstone_float_text(long bits, int conversion, int flags, int width, int precision, int index);
void touchstone_refuse(const char *what);

enum { LEFT = 1, ZERO = 2, PLUS = 4, SPACE = 8, ALTERNATE = 16 };

struct out {
    char *to;
    size_t room;
    size_t count;
};

struct field {
    int flags, width, precision, bits;
};

static void put(struct out *o, char c)
{
    if (o->count + 1 < o->room)
        o->to[o->count] = c;
    o->count++;
}

static void pad(struct out *o, char c, int n)
{
    while (n-- > 0)
        put(o, c);
}

/* One condition per possible length: the digits are computed without branches. */
static int digits(char *to, unsigned long value, unsigned long base, int ten)
{
    unsigned long power = 1;
    int n = 0;
    while (power <= ~0UL / base && value >= power * base)
        power *= base;
    for (; power; power /= base) {
        int digit = (int)(value / power % base);
        to[n++] = (char)('0' + digit + ((9 - digit) >> 31 & (ten - '0' - 10)));
    }
    return n;
}

static void number(struct out *o, struct field *f, const char *prefix, unsigned long value, unsigned base, int ten)
{
    char text[24];
    int n = 0, zeros = 0, before = 0;
    while (prefix[before])
        before++;
    if (f->precision != 0 || value != 0)
        n = digits(text, value, base, ten);
    if (f->precision >= 0)
        zeros = f->precision - n;
    else if ((f->flags & (ZERO | LEFT)) == ZERO)
        zeros = f->width - before - n;
    if (zeros < 0)
        zeros = 0;
    if (base == 8 && (f->flags & ALTERNATE) && !zeros && (!n || text[0] != '0'))
        zeros = 1;
    if (!(f->flags & LEFT))
        pad(o, ' ', f->width - before - zeros - n);
    for (int i = 0; i < before; i++)
        put(o, prefix[i]);
    pad(o, '0', zeros);
    for (int i = 0; i < n; i++)
        put(o, text[i]);
    if (f->flags & LEFT)
        pad(o, ' ', f->width - before - zeros - n);
}

static void string(struct out *o, struct field *f, const char *s)
{
    int n = 0;
    if (!s)
        s = f->precision < 0 || f->precision >= 6 ? "(null)" : "";
    while ((f->precision < 0 || n < f->precision) && s[n])
        n++;
    if (!(f->flags & LEFT))
        pad(o, ' ', f->width - n);
    for (int i = 0; i < n; i++)
        put(o, s[i]);
    if (f->flags & LEFT)
        pad(o, ' ', f->width - n);
}

static void character(struct out *o, struct field *f, char c)
{
    if (!(f->flags & LEFT))
        pad(o, ' ', f->width - 1);
    put(o, c);
    if (f->flags & LEFT)
        pad(o, ' ', f->width - 1);
}

static void decimal(struct out *o, struct field *f, long value)
{
    if (value < 0)
        number(o, f, "-", -(unsigned long)value, 10, 0);
    else
        number(o, f, f->flags & PLUS ? "+" : f->flags & SPACE ? " " : "", value, 10, 0);
}

static void floating(struct out *o, struct field *f, int conversion, long bits)
{
    for (int i = 0;; i++) {
        int c = touchstone_float_text(bits, conversion, f->flags, f->width, f->precision, i);
        if (c < 0)
            return;
        put(o, (char)c);
    }
}

static const char *flags(const char *s, struct field *f)
{
    for (;; s++) {
        if (*s == '-')
            f->flags |= LEFT;
        else if (*s == '0')
            f->flags |= ZERO;
        else if (*s == '+')
            f->flags |= PLUS;
        else if (*s == ' ')
            f->flags |= SPACE;
        else if (*s == '#')
            f->flags |= ALTERNATE;
        else
            return s;
    }
}

static const char *length(const char *s, struct field *f)
{
    f->bits = 32;
    if (*s == 'h') {
        f->bits = s[1] == 'h' ? 8 : 16;
        return s + 1 + (s[1] == 'h');
    }
    if (*s == 'l' || *s == 'j' || *s == 'z' || *s == 't' || *s == 'L') {
        if (*s == 'L')
            touchstone_refuse("printf of a long double");
        f->bits = 64;
        return s + 1 + (s[0] == 'l' && s[1] == 'l');
    }
    return s;
}

/* Arguments are read in the types that callers pass: a test passes the types that are read. */
static unsigned long whole(struct field *f, va_list list)
{
    return f->bits == 64 ? __builtin_va_arg(list, unsigned long) : __builtin_va_arg(list, unsigned int);
}

static long pattern(double value) { return *(long *)&value; }

int vsnprintf(char *to, size_t room, const char *s, va_list list)
{
    struct out o = {to, room, 0};
    for (; *s; s++) {
        struct field f = {0, 0, -1, 32};
        unsigned long value;
        if (*s != '%') {
            put(&o, *s);
            continue;
        }
        s = flags(s + 1, &f);
        if (*s == '*') {
            f.width = __builtin_va_arg(list, int);
            if (f.width < 0) {
                f.flags |= LEFT;
                f.width = -f.width;
            }
            s++;
        }
        for (; *s >= '0' && *s <= '9'; s++)
            f.width = f.width * 10 + (*s - '0');
        if (*s == '.') {
            s++;
            f.precision = 0;
            if (*s == '*') {
                f.precision = __builtin_va_arg(list, int);
                s++;
            }
            for (; *s >= '0' && *s <= '9'; s++)
                f.precision = f.precision * 10 + (*s - '0');
        }
        s = length(s, &f);
        switch (*s) {
        case '%':
            put(&o, '%');
            break;
        case 'd':
        case 'i':
            value = whole(&f, list);
            decimal(&o, &f, (long)(value << (64 - f.bits)) >> (64 - f.bits));
            break;
        case 'u':
        case 'o':
        case 'x':
        case 'X':
            value = whole(&f, list) << (64 - f.bits) >> (64 - f.bits);
            if (*s == 'u' || *s == 'o')
                number(&o, &f, "", value, *s == 'u' ? 10 : 8, 0);
            else if ((f.flags & ALTERNATE) && value)
                number(&o, &f, *s == 'x' ? "0x" : "0X", value, 16, *s - 'x' + 'a');
            else
                number(&o, &f, "", value, 16, *s - 'x' + 'a');
            break;
        case 'c':
            if (f.bits != 32)
                touchstone_refuse("printf of a wide character");
            character(&o, &f, (char)__builtin_va_arg(list, int));
            break;
        case 's':
            if (f.bits != 32)
                touchstone_refuse("printf of a wide string");
            string(&o, &f, __builtin_va_arg(list, const char *));
            break;
        case 'p':
            value = (unsigned long)__builtin_va_arg(list, void *);
            if (value)
                number(&o, &f, "0x", value, 16, 'a');
            else {
                f.precision = -1;
                string(&o, &f, "(nil)");
            }
            break;
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
        case 'a':
        case 'A':
            floating(&o, &f, *s, pattern(__builtin_va_arg(list, double)));
            break;
        default:
            touchstone_refuse("printf with another conversion than d i u o x X c s p f e g a");
        }
    }
    if (o.room)
        o.to[o.count < o.room ? o.count : o.room - 1] = 0;
    return (int)o.count;
}

int vsprintf(char *to, const char *format, va_list list) { return vsnprintf(to, ~0UL >> 1, format, list); }

int snprintf(char *to, size_t room, const char *format, ...)
{
    va_list list;
    int n;
    __builtin_va_start(list, format);
    n = vsnprintf(to, room, format, list);
    __builtin_va_end(list);
    return n;
}

int sprintf(char *to, const char *format, ...)
{
    va_list list;
    int n;
    __builtin_va_start(list, format);
    n = vsprintf(to, format, list);
    __builtin_va_end(list);
    return n;
}
