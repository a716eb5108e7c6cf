/* string.h, with as few branches as possible. Results as in glibc: differences of bytes, not only signs. */

typedef unsigned long size_t;

void touchstone_access(const void *);

size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

size_t strnlen(const char *s, size_t limit)
{
    size_t n = 0;
    while (n < limit && s[n])
        n++;
    return n;
}

int strcmp(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    return (unsigned char)a[i] - (unsigned char)b[i];
}

int strncmp(const char *a, const char *b, size_t limit)
{
    for (size_t i = 0; i < limit; i++) {
        if (a[i] != b[i])
            return (unsigned char)a[i] - (unsigned char)b[i];
        if (!a[i])
            return 0;
    }
    return 0;
}

char *strcpy(char *to, const char *from)
{
    size_t i = 0;
    while (from[i]) {
        to[i] = from[i];
        i++;
    }
    to[i] = 0;
    return to;
}

char *strncpy(char *to, const char *from, size_t limit)
{
    size_t i = 0;
    while (i < limit && from[i]) {
        to[i] = from[i];
        i++;
    }
    while (i < limit)
        to[i++] = 0;
    return to;
}

char *strcat(char *to, const char *from)
{
    size_t end = 0, i = 0;
    while (to[end])
        end++;
    while (from[i]) {
        to[end + i] = from[i];
        i++;
    }
    to[end + i] = 0;
    return to;
}

char *strncat(char *to, const char *from, size_t limit)
{
    size_t end = 0, i = 0;
    while (to[end])
        end++;
    while (i < limit && from[i]) {
        to[end + i] = from[i];
        i++;
    }
    to[end + i] = 0;
    return to;
}

char *strchr(const char *s, int c)
{
    for (size_t i = 0;; i++) {
        if (s[i] == (char)c)
            return (char *)s + i;
        if (!s[i])
            return 0;
    }
}

char *strrchr(const char *s, int c)
{
    char *last = 0;
    for (size_t i = 0;; i++) {
        if (s[i] == (char)c)
            last = (char *)s + i;
        if (!s[i])
            return last;
    }
}

char *strstr(const char *s, const char *part)
{
    for (size_t i = 0;; i++) {
        size_t j = 0;
        while (part[j] && s[i + j] == part[j])
            j++;
        if (!part[j])
            return (char *)s + i;
        if (!s[i + j])
            return 0;
    }
}

static int is_in(char c, const char *set)
{
    for (size_t i = 0; set[i]; i++)
        if (set[i] == c)
            return 1;
    return 0;
}

size_t strspn(const char *s, const char *accept)
{
    size_t n = 0;
    (void)*(const volatile char *)accept; /* Accessed also if the set is empty. */
    while (s[n] && is_in(s[n], accept))
        n++;
    return n;
}

size_t strcspn(const char *s, const char *reject)
{
    size_t n = 0;
    (void)*(const volatile char *)reject;
    while (s[n] && !is_in(s[n], reject))
        n++;
    return n;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; i++) {
        if (x[i] != y[i]) {
            /* Both objects have all bytes, also those behind the first difference (C11 7.24.4.1). */
            touchstone_access(x + size - 1);
            touchstone_access(y + size - 1);
            return x[i] - y[i];
        }
    }
    return 0;
}

void *memchr(const void *s, int c, size_t size)
{
    const unsigned char *x = s;
    for (size_t i = 0; i < size; i++)
        if (x[i] == (unsigned char)c)
            return (void *)(x + i);
    return 0;
}

void *memrchr(const void *s, int c, size_t size)
{
    const unsigned char *x = s;
    while (size-- > 0)
        if (x[size] == (unsigned char)c) {
            touchstone_access(x);
            return (void *)(x + size);
        }
    return 0;
}

void *memccpy(void *to, const void *from, int c, size_t size)
{
    unsigned char *x = to;
    const unsigned char *y = from;
    for (size_t i = 0; i < size; i++) {
        x[i] = y[i];
        if (y[i] == (unsigned char)c)
            return x + i + 1;
    }
    return 0;
}

/* For uses of their addresses; direct calls are builtins. */
void *memcpy(void *to, const void *from, size_t size) { return __builtin_memcpy(to, from, size); }
void *memmove(void *to, const void *from, size_t size) { return __builtin_memmove(to, from, size); }
void *memset(void *to, int c, size_t size) { return __builtin_memset(to, c, size); }

void *mempcpy(void *to, const void *from, size_t size) { return (char *)__builtin_memcpy(to, from, size) + size; }
void bzero(void *to, size_t size) { __builtin_memset(to, 0, size); }
void explicit_bzero(void *to, size_t size) { __builtin_memset(to, 0, size); }
void bcopy(const void *from, void *to, size_t size) { __builtin_memmove(to, from, size); }
int bcmp(const void *a, const void *b, size_t size) { return memcmp(a, b, size); }
char *index(const char *s, int c) { return strchr(s, c); }
char *rindex(const char *s, int c) { return strrchr(s, c); }
int strcoll(const char *a, const char *b) { return strcmp(a, b); }

void *memmem(const void *s, size_t size, const void *part, size_t length)
{
    if (size)
        touchstone_access((const char *)s + size - 1);
    for (size_t i = 0; length <= size && i <= size - length; i++)
        if (memcmp((const char *)s + i, part, length) == 0)
            return (char *)s + i;
    return 0;
}

char *strchrnul(const char *s, int c)
{
    size_t i = 0;
    while (s[i] && s[i] != (char)c)
        i++;
    return (char *)s + i;
}

char *stpcpy(char *to, const char *from)
{
    size_t i = 0;
    while (from[i]) {
        to[i] = from[i];
        i++;
    }
    to[i] = 0;
    return to + i;
}

char *stpncpy(char *to, const char *from, size_t limit)
{
    size_t end = strnlen(from, limit);
    strncpy(to, from, limit);
    return to + end;
}

char *strpbrk(const char *s, const char *accept)
{
    size_t n = strcspn(s, accept);
    return s[n] ? (char *)s + n : 0;
}

char *strtok_r(char *s, const char *separators, char **rest)
{
    char *end;
    if (!s)
        s = *rest;
    if (!*s) {
        *rest = s;
        return 0;
    }
    s += strspn(s, separators);
    if (!*s) {
        *rest = s;
        return 0;
    }
    end = s + strcspn(s, separators);
    if (*end)
        *end++ = 0;
    *rest = end;
    return s;
}

char *touchstone_strtok_rest;
char *strtok(char *s, const char *separators)
{
    return strtok_r(s, separators, &touchstone_strtok_rest);
}

char *strsep(char **at, const char *separators)
{
    char *begin = *at, *end;
    if (!begin)
        return 0;
    end = begin + strcspn(begin, separators);
    if (*end) {
        *end = 0;
        *at = end + 1;
    } else {
        *at = 0;
    }
    return begin;
}

char *strndup(const char *s, size_t limit)
{
    size_t n = strnlen(s, limit);
    char *copy = __builtin_malloc(n + 1);
    if (!copy)
        return 0;
    __builtin_memcpy(copy, s, n);
    copy[n] = 0;
    return copy;
}

char *strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *copy = __builtin_malloc(n);
    return copy ? __builtin_memcpy(copy, s, n) : 0;
}

static int lower(char c) { return (unsigned char)c + (((unsigned)(unsigned char)c - 'A' < 26) << 5); }

int strcasecmp(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && lower(a[i]) == lower(b[i]))
        i++;
    return lower(a[i]) - lower(b[i]);
}

int strncasecmp(const char *a, const char *b, size_t limit)
{
    for (size_t i = 0; i < limit; i++) {
        if (lower(a[i]) != lower(b[i]))
            return lower(a[i]) - lower(b[i]);
        if (!a[i])
            return 0;
    }
    return 0;
}

char *strcasestr(const char *s, const char *part)
{
    for (size_t i = 0;; i++) {
        size_t j = 0;
        while (part[j] && lower(s[i + j]) == lower(part[j]))
            j++;
        if (!part[j])
            return (char *)s + i;
        if (!s[i + j])
            return 0;
    }
}
