/* Input from stdin or a file, and scanf from there or from memory. */

typedef unsigned long size_t;
typedef __builtin_va_list va_list;
typedef struct _IO_FILE FILE;

extern FILE *const stdin;
int touchstone_read_byte(void);
void touchstone_refuse(const char *what);
void touchstone_run_only(const char *name);
double strtod(const char *, char **);
float strtof(const char *, char **);
void *realloc(void *, size_t);
int touchstone_file_get(FILE *);
int touchstone_file_unget(FILE *, int);
int touchstone_file_at_end(FILE *);
int touchstone_file_broke(FILE *);
void touchstone_file_clear(FILE *);

enum { END = -1, NOTHING = -2 };

/* A byte that was pushed back, or a lookahead; incremented by one, so that 0 is none. */
int touchstone_pending;
int touchstone_at_end;

#ifdef TOUCHSTONE_STDIN
/* The whole input is requested at the first read. */
void touchstone_given_stdin(void *address, unsigned long size, const char *name);
void touchstone_assume(long condition);

struct touchstone_given {
    unsigned length;
    unsigned char text[TOUCHSTONE_STDIN];
} touchstone_given;
unsigned touchstone_given_at; /* Incremented by one after the request. */

static void know_input(void)
{
    if (touchstone_given_at)
        return;
    touchstone_given_stdin(&touchstone_given, sizeof touchstone_given, "");
    touchstone_assume(touchstone_given.length <= TOUCHSTONE_STDIN + 1);
    touchstone_given_at = 1;
}

static int next_byte(void)
{
    know_input();
    if (touchstone_given_at > touchstone_given.length)
        return END;
    if (touchstone_given_at > TOUCHSTONE_STDIN)
        touchstone_refuse("standard input longer than --stdin");
    return touchstone_given.text[touchstone_given_at++ - 1];
}
#else
static void know_input(void) { touchstone_run_only("standard input (--stdin makes it an input)"); }

static int next_byte(void)
{
    know_input();
    return touchstone_read_byte();
}
#endif

int getchar(void)
{
    int c = touchstone_pending - 1;
    touchstone_pending = 0;
    if (c >= 0)
        return c;
    c = next_byte();
    if (c < 0)
        touchstone_at_end = 1;
    return c;
}

int fgetc(FILE *f)
{
    return f == stdin ? getchar() : touchstone_file_get(f);
}

int getc(FILE *f) { return fgetc(f); }

int ungetc(int c, FILE *f)
{
    if (c < 0)
        return END;
    if (f != stdin)
        return touchstone_file_unget(f, c);
    if (touchstone_pending)
        touchstone_refuse("ungetc of a second byte");
    touchstone_pending = (unsigned char)c + 1;
    touchstone_at_end = 0;
    return (unsigned char)c;
}

int feof(FILE *f)
{
    if (f != stdin)
        return touchstone_file_at_end(f);
    know_input();
    return touchstone_at_end;
}

void clearerr(FILE *f)
{
    if (f == stdin)
        touchstone_at_end = 0;
    else
        touchstone_file_clear(f);
}

char *fgets(char *to, int room, FILE *f)
{
    int n = 0;
    if (room <= 0)
        return 0;
    while (n < room - 1) {
        int c = fgetc(f);
        if (c < 0) {
            if (!n || (f != stdin && touchstone_file_broke(f)))
                return 0;
            break;
        }
        to[n++] = (char)c;
        if (c == '\n')
            break;
    }
    to[n] = 0;
    return to;
}

size_t fread(void *to, size_t size, size_t count, FILE *f)
{
    size_t n = 0;
    while (n < size * count) {
        int c = fgetc(f);
        if (c < 0)
            break;
        ((char *)to)[n++] = (char)c;
    }
    return size ? n / size : 0;
}

long getline(char **line, size_t *room, FILE *f)
{
    size_t n = 0;
    int c = 0;
    if (!*line)
        *room = 0;
    while (c != '\n') {
        c = fgetc(f);
        if (c < 0)
            break;
        if (n + 2 > *room) {
            size_t more = *room ? 2 * *room : 120;
            char *grown = realloc(*line, more);
            if (!grown)
                return -1;
            *line = grown;
            *room = more;
        }
        (*line)[n++] = (char)c;
    }
    if (!n)
        return -1;
    (*line)[n] = 0;
    return (long)n;
}

/* The source of bytes: a string, or a stream if that is null. */
struct source {
    FILE *stream;
    const char *text;
    int used;
};

static int take(struct source *s)
{
    int c;
    if (!s->text)
        c = fgetc(s->stream);
    else
        c = s->text[s->used] ? (unsigned char)s->text[s->used] : END;
    s->used += c >= 0;
    return c;
}

static void give_back(struct source *s, int c)
{
    if (c < 0)
        return;
    s->used--;
    if (!s->text)
        ungetc(c, s->stream);
}

static int is_space(int c) { return (c == ' ') | ((unsigned)c - '\t' < 5); }

static int skip(struct source *s)
{
    int c = take(s);
    while (is_space(c))
        c = take(s);
    give_back(s, c);
    return c;
}

static unsigned value_of(int c)
{
    unsigned digit = (unsigned)c - '0';
    if (digit < 10)
        return digit;
    digit = (unsigned)(c | 32) - 'a';
    return c >= 0 && digit < 6 ? digit + 10 : 99;
}

/* Parses an integer of at most `width` bytes; returns 1, or 0 if there is none. */
static int integer(struct source *s, int width, int base, unsigned long *value)
{
    int c = take(s), negative = 0, any = 0;
    *value = 0;
    if (c == '-' || c == '+') {
        negative = c == '-';
        c = --width > 0 ? take(s) : NOTHING;
    }
    if (c == '0' && (base == 0 || base == 16)) {
        any = 1;
        c = --width > 0 ? take(s) : NOTHING;
        if (c == 'x' || c == 'X') {
            base = 16;
            any = 0;
            c = --width > 0 ? take(s) : NOTHING;
        } else if (base == 0) {
            base = 8;
        }
    }
    if (base == 0)
        base = 10;
    while (c >= 0 && value_of(c) < (unsigned)base) {
        if (*value > (~0UL >> 1) / base)
            touchstone_refuse("scanf of a number that does not fit");
        *value = *value * base + value_of(c);
        any = 1;
        c = --width > 0 ? take(s) : NOTHING;
    }
    give_back(s, c);
    if (negative)
        *value = -*value;
    return any;
}

/* Scans a float; returns its number of bytes. Infinities, NaNs and hexadecimal floats are unsupported. */
static int float_text(struct source *s, int width, char *text, int room)
{
    int n = 0, digits = 0, point = 0, exponent = 0, c = take(s);
    while (c >= 0 && n < width) {
        char before = n ? text[n - 1] : 'e';
        if ((unsigned)c - '0' < 10)
            digits = 1;
        else if (c == '.' && !point && !exponent)
            point = 1;
        else if ((c == 'e' || c == 'E') && digits && !exponent)
            exponent = 1;
        else if (!((c == '-' || c == '+') && (before == 'e' || before == 'E'))) {
            if ((c == 'x' || c == 'X') && before == '0')
                touchstone_refuse("scanf of a hexadecimal float");
            if (!digits && !point && (c == 'i' || c == 'I' || c == 'n' || c == 'N'))
                touchstone_refuse("scanf of inf or nan");
            break;
        }
        if (n == room - 1)
            touchstone_refuse("scanf of a long float");
        text[n++] = (char)c;
        c = take(s);
    }
    give_back(s, c);
    text[n] = 0;
    return digits;
}

static const char *read_set(const char *f, char *set)
{
    int invert = 0, first = 1;
    if (*f == '^') {
        invert = 1;
        f++;
    }
    for (int i = 0; i < 256; i++)
        set[i] = (char)invert;
    for (; *f && (first || *f != ']'); f++, first = 0) {
        unsigned char low = (unsigned char)*f, high = low;
        if (f[1] == '-' && f[2] && f[2] != ']') {
            high = (unsigned char)f[2];
            f += 2;
        }
        for (int i = low; i <= high; i++)
            set[i] = (char)!invert;
    }
    return f;
}

static void store(void *to, int bits, unsigned long value)
{
    if (bits == 8)
        *(char *)to = (char)value;
    else if (bits == 16)
        *(short *)to = (short)value;
    else if (bits == 32)
        *(int *)to = (int)value;
    else
        *(long *)to = (long)value;
}

static int scan(struct source *s, const char *f, va_list list)
{
    int done = 0;
    for (; *f; f++) {
        int width = 0, bits = 32, assign = 1, c;
        unsigned long value;
        char text[128], set[256], *to;
        if (is_space(*f)) {
            skip(s);
            continue;
        }
        if (*f != '%' || f[1] == '%') {
            if (*f == '%') {
                skip(s);
                f++;
            }
            c = take(s);
            if (c != (unsigned char)*f) {
                give_back(s, c);
                return c < 0 && !done ? END : done;
            }
            continue;
        }
        f++;
        if (*f == '*') {
            assign = 0;
            f++;
        }
        for (; *f >= '0' && *f <= '9'; f++)
            width = width * 10 + (*f - '0');
        if (*f == 'h') {
            bits = f[1] == 'h' ? 8 : 16;
            f += bits == 8 ? 2 : 1;
        } else if (*f == 'l' || *f == 'j' || *f == 'z' || *f == 't' || *f == 'L') {
            if (*f == 'L')
                touchstone_refuse("scanf of a long double");
            bits = 64;
            f += *f == 'l' && f[1] == 'l' ? 2 : 1;
        }
        if (*f == 'n') {
            if (assign)
                store(__builtin_va_arg(list, void *), bits, s->used);
            continue;
        }
        if (*f != 'c' && *f != '[') {
            if (skip(s) < 0)
                return done ? done : END;
        } else {
            c = take(s);
            give_back(s, c);
            if (c < 0)
                return done ? done : END;
        }
        switch (*f) {
        case 'd':
        case 'i':
        case 'u':
        case 'o':
        case 'x':
        case 'X':
            c = *f == 'i' ? 0 : *f == 'o' ? 8 : *f == 'x' || *f == 'X' ? 16 : 10;
            if (!integer(s, width ? width : 1 << 30, c, &value))
                return done;
            if (assign)
                store(__builtin_va_arg(list, void *), bits, value);
            break;
        case 'c':
            to = assign ? __builtin_va_arg(list, char *) : 0;
            for (int i = 0; i < (width ? width : 1); i++) {
                c = take(s);
                if (c < 0)
                    return done;
                if (to)
                    to[i] = (char)c;
            }
            break;
        case 's':
        case '[': {
            int n = 0, any = *f == 's';
            if (!any)
                f = read_set(f + 1, set);
            to = assign ? __builtin_va_arg(list, char *) : 0;
            while (!width || n < width) {
                c = take(s);
                if (c < 0 || (any ? is_space(c) : !set[c])) {
                    give_back(s, c);
                    break;
                }
                if (to)
                    to[n] = (char)c;
                n++;
            }
            if (!n)
                return done;
            if (to)
                to[n] = 0;
            break;
        }
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
            if (!float_text(s, width ? width : 1 << 30, text, sizeof text))
                return done;
            if (assign && bits == 64)
                *__builtin_va_arg(list, double *) = strtod(text, 0);
            else if (assign)
                *__builtin_va_arg(list, float *) = strtof(text, 0);
            break;
        default:
            touchstone_refuse("scanf with another conversion than d i u o x c s [ f e g n");
        }
        done += assign;
    }
    return done;
}

int vfscanf(FILE *f, const char *format, va_list list)
{
    struct source s = {f, 0, 0};
    return scan(&s, format, list);
}

int vscanf(const char *format, va_list list) { return vfscanf(stdin, format, list); }

int vsscanf(const char *text, const char *format, va_list list)
{
    struct source s = {0, text, 0};
    return scan(&s, format, list);
}

int scanf(const char *format, ...)
{
    va_list list;
    int n;
    __builtin_va_start(list, format);
    n = vscanf(format, list);
    __builtin_va_end(list);
    return n;
}

int fscanf(FILE *f, const char *format, ...)
{
    va_list list;
    int n;
    __builtin_va_start(list, format);
    n = vfscanf(f, format, list);
    __builtin_va_end(list);
    return n;
}

int sscanf(const char *text, const char *format, ...)
{
    va_list list;
    int n;
    __builtin_va_start(list, format);
    n = vsscanf(text, format, list);
    __builtin_va_end(list);
    return n;
}
