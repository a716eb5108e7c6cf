/* string.h, with as few conditions as the meaning needs. Results as glibc's: differences of bytes, not just signs. */

typedef unsigned long size_t;

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
    while (s[n] && is_in(s[n], accept))
        n++;
    return n;
}

size_t strcspn(const char *s, const char *reject)
{
    size_t n = 0;
    while (s[n] && !is_in(s[n], reject))
        n++;
    return n;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; i++)
        if (x[i] != y[i])
            return x[i] - y[i];
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
