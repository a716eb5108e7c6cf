/* stdlib.h except floats. */

int abs(int x) { return (x ^ (x >> 31)) - (x >> 31); }
long labs(long x) { return (x ^ (x >> 63)) - (x >> 63); }
long imaxabs(long x) { return (x ^ (x >> 63)) - (x >> 63); }
long long llabs(long long x) { return (x ^ (x >> 63)) - (x >> 63); }

int *__errno_location(void);
void touchstone_run_only(const char *name);
void touchstone_refuse(const char *what);
void touchstone_at_exit(void *function);

enum { NO_MEMORY = 12, INVALID = 22, RANGE = 34 };

/* The value of a letter or digit, below 36; larger for other characters. */
static unsigned digit_of(char c, int base)
{
    unsigned digit = (unsigned)c - '0';
    if (base <= 10 || digit < 10)
        return digit;
    digit = (unsigned)(c | 32) - 'a';
    return digit < 26 ? digit + 10 : 99;
}

/* The magnitude, at most `limit` (plus one for negative numbers if `wider`), which the caller negates by wrapping. */
static unsigned long convert(const char *text, char **end, int base, unsigned long limit, int wider)
{
    const char *s = text, *after = text;
    unsigned long value = 0;
    int count = 0, safe, negative, over = 0;
    if (base < 0 || base == 1 || base > 36) {
        *__errno_location() = INVALID;
        return 0;
    }
    while ((*s == ' ') | ((unsigned)*s - '\t' < 5))
        s++;
    negative = *s == '-';
    if ((*s == '-') | (*s == '+'))
        s++;
    if ((base == 0 || base == 16) && *s == '0' && (s[1] | 32) == 'x' && digit_of(s[2], 16) < 16) {
        s += 2;
        base = 16;
    } else if (base == 0) {
        base = *s == '0' ? 8 : 10;
    }
    limit += negative & wider;
    /* This number of digits always fits, and a path determines their number. */
    safe = base <= 10 ? 18 : base <= 16 ? 15 : 11;
    for (;;) {
        unsigned digit = digit_of(*s, base);
        if (digit >= (unsigned)base)
            break;
        if (count >= safe && (over || value > (limit - digit) / base))
            over = 1;
        value = value * base + digit;
        count++;
        after = ++s;
    }
    if (end)
        *end = (char *)after;
    if (over) {
        *__errno_location() = RANGE;
        return wider && negative ? -limit : limit;
    }
    return negative ? -value : value;
}

long strtol(const char *s, char **end, int base) { return (long)convert(s, end, base, ~0UL >> 1, 1); }
long long strtoll(const char *s, char **end, int base) { return strtol(s, end, base); }
unsigned long strtoul(const char *s, char **end, int base) { return convert(s, end, base, ~0UL, 0); }
unsigned long long strtoull(const char *s, char **end, int base) { return convert(s, end, base, ~0UL, 0); }
long strtoimax(const char *s, char **end, int base) { return strtol(s, end, base); }
unsigned long strtoumax(const char *s, char **end, int base) { return strtoul(s, end, base); }

int atoi(const char *s) { return (int)strtol(s, 0, 10); }
long atol(const char *s) { return strtol(s, 0, 10); }
long long atoll(const char *s) { return strtol(s, 0, 10); }

typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
div_t div(int a, int b) { return (div_t){a / b, a % b}; }
ldiv_t ldiv(long a, long b) { return (ldiv_t){a / b, a % b}; }
ldiv_t lldiv(long a, long b) { return (ldiv_t){a / b, a % b}; }

typedef int compare(const void *, const void *);

/* glibc's merge sort: stable, with the same order of comparisons. */
static void sort(char *base, unsigned long count, unsigned long size, compare *less, char *space)
{
    unsigned long left = count / 2, right = count - left;
    char *a = base, *b = base + left * size, *to = space;
    if (count <= 1)
        return;
    sort(a, left, size, less, space);
    sort(b, right, size, less, space);
    while (left > 0 && right > 0) {
        if (less(a, b) <= 0) {
            __builtin_memcpy(to, a, size);
            a += size;
            left--;
        } else {
            __builtin_memcpy(to, b, size);
            b += size;
            right--;
        }
        to += size;
    }
    __builtin_memcpy(to, a, left * size);
    __builtin_memcpy(base, space, (count - right) * size);
}

void qsort(void *base, unsigned long count, unsigned long size, compare *less)
{
    char *space;
    if (count <= 1)
        return;
    /* As in glibc, small arrays need no allocation, which could fail. */
    if (count * size <= 1 << 20) {
        sort(base, count, size, less, __builtin_alloca(count * size));
        return;
    }
    space = __builtin_malloc(count * size);
    sort(base, count, size, less, space);
    __builtin_free(space);
}

void *bsearch(const void *key, const void *base, unsigned long count, unsigned long size, compare *less)
{
    unsigned long low = 0, high = count;
    while (low < high) {
        unsigned long middle = (low + high) / 2;
        char *at = (char *)base + middle * size;
        int order = less(key, at);
        if (order == 0)
            return at;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

/* glibc's additive generator of degree 31. */
int touchstone_random[32]; /* The last word is set when the generator is seeded. */
int touchstone_random_at;

static unsigned advance(void)
{
    int at = touchstone_random_at, back = at < 3 ? at + 28 : at - 3;
    unsigned value = (unsigned)touchstone_random[at] + (unsigned)touchstone_random[back];
    touchstone_random[at] = (int)value;
    touchstone_random_at = at == 30 ? 0 : at + 1;
    return value >> 1;
}

void srand(unsigned seed)
{
    int word = seed ? (int)seed : 1;
    for (int i = 0; i < 31; i++) {
        touchstone_random[i] = word;
        long next = 16807L * word % 2147483647;
        word = (int)(next < 0 ? next + 2147483647 : next);
    }
    touchstone_random_at = 3;
    touchstone_random[31] = 1;
    for (int i = 0; i < 310; i++)
        advance();
}

int rand(void)
{
    touchstone_run_only("rand");
    if (!touchstone_random[31])
        srand(1);
    return (int)advance();
}

void srandom(unsigned seed) { srand(seed); }
long random(void) { return rand(); }

#ifdef TOUCHSTONE_ENVIRONMENT
/* Each requested variable is one input: a flag that it is set, and its value. */
void touchstone_given_variable(void *address, unsigned long size, const char *name);
void touchstone_assume(long condition);
void *touchstone_allocate(unsigned long size);
int strcmp(const char *, const char *);
unsigned long strlen(const char *);

struct touchstone_variable {
    struct touchstone_variable *next;
    const char *name;
    char *text;
} *touchstone_variables;

static struct touchstone_variable *variable(const char *name)
{
    struct touchstone_variable *v;
    unsigned long size = strlen(name) + 1;
    char *copy, *text;
    for (v = touchstone_variables; v; v = v->next)
        if (!strcmp(v->name, name))
            return v;
    /* Not counted among the program's allocations. */
    v = touchstone_allocate(sizeof *v);
    text = touchstone_allocate(TOUCHSTONE_ENVIRONMENT + 2);
    copy = touchstone_allocate(size);
    __builtin_memcpy(copy, name, size);
    touchstone_given_variable(text, TOUCHSTONE_ENVIRONMENT + 2, copy);
    touchstone_assume((unsigned char)text[0] <= 2);
    touchstone_assume(text[TOUCHSTONE_ENVIRONMENT + 1] == 0);
    if (text[0] == 2)
        touchstone_refuse("variable of the environment longer than --env");
    v->text = text[0] ? text + 1 : 0;
    v->name = copy;
    v->next = touchstone_variables;
    touchstone_variables = v;
    return v;
}

char *getenv(const char *name) { return variable(name)->text; }
#else
char *getenv(const char *name)
{
    touchstone_run_only("getenv");
    return 0;
}
#endif

int atexit(void (*function)(void))
{
    touchstone_at_exit((void *)function);
    return 0;
}

void _Exit(int status)
{
    touchstone_at_exit(0);
    __builtin_exit(status);
}

void _exit(int status) { _Exit(status); }

/* For uses of their addresses; direct calls are builtins. */
void *malloc(unsigned long size) { return __builtin_malloc(size); }
void *calloc(unsigned long count, unsigned long size) { return __builtin_calloc(count, size); }
void free(void *old) { __builtin_free(old); }
void exit(int status) { __builtin_exit(status); }
void abort(void) { __builtin_abort(); }

void *aligned_alloc(unsigned long alignment, unsigned long size)
{
    if (alignment > 16)
        touchstone_refuse("aligned_alloc of more than 16");
    return __builtin_malloc(size);
}

unsigned long touchstone_object_size(const void *);

/* As in glibc, a request for zero bytes frees. */
void *realloc(void *old, unsigned long size)
{
    void *new;
    unsigned long had;
    if (!old)
        return __builtin_malloc(size);
    if (!size) {
        __builtin_free(old);
        return 0;
    }
    new = __builtin_malloc(size);
    if (!new)
        return 0;
    had = touchstone_object_size(old);
    __builtin_memcpy(new, old, had < size ? had : size);
    __builtin_free(old);
    return new;
}

void *reallocarray(void *old, unsigned long count, unsigned long size)
{
    if (size && count > ~0UL / size) {
        *__errno_location() = NO_MEMORY;
        return 0;
    }
    return realloc(old, count * size);
}
