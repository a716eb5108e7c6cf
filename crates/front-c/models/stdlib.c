/* stdlib.h: numbers. */

int abs(int x) { return (x ^ (x >> 31)) - (x >> 31); }
long labs(long x) { return (x ^ (x >> 63)) - (x >> 63); }
long long llabs(long long x) { return (x ^ (x >> 63)) - (x >> 63); }

/* As glibc's strtol with base 10: white space, a sign, digits; saturates. */
static long parse(const char *s)
{
    unsigned long value = 0;
    unsigned long limit = 0x7fffffffffffffffUL;
    int digits = 0, negative, over = 0;
    while ((*s == ' ') | ((unsigned)*s - '\t' < 5))
        s++;
    negative = *s == '-';
    if ((*s == '-') | (*s == '+'))
        s++;
    limit += negative;
    while ((unsigned)*s - '0' < 10) {
        unsigned long digit = *s - '0';
        /* Eighteen digits always fit, and how many there are is known on a path. */
        if (digits >= 18 && value > (limit - digit) / 10)
            over = 1;
        value = value * 10 + digit;
        digits++;
        s++;
    }
    if (over)
        value = limit;
    return negative ? -value : value;
}

int atoi(const char *s) { return (int)parse(s); }
long atol(const char *s) { return parse(s); }
long long atoll(const char *s) { return parse(s); }

unsigned long touchstone_object_size(const void *);

/* As glibc: an empty request frees. */
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
    had = touchstone_object_size(old);
    __builtin_memcpy(new, old, had < size ? had : size);
    __builtin_free(old);
    return new;
}
