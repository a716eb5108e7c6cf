/* stdlib.h and the rest of string.h. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct item {
    int key;
    char tag;
};

static int calls;
static int by_key(const void *a, const void *b)
{
    calls++;
    return ((const struct item *)a)->key - ((const struct item *)b)->key;
}
static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
static int sign(int x) { return (x > 0) - (x < 0); }

static void first(void) { printf("the first handler runs last\n"); }
static void second(void) { printf("the second handler\n"); }

static void numbers(const char *text, int base)
{
    char *end;
    errno = 0;
    long l = strtol(text, &end, base);
    printf("%ld %d %d|", l, (int)(end - text), errno);
    errno = 0;
    unsigned long u = strtoul(text, &end, base);
    printf("%lu %d %d|", u, (int)(end - text), errno);
    errno = 0;
    printf("%lld %llu\n", strtoll(text, NULL, base), strtoull(text, NULL, base));
}

static void tokens(const char *text, const char *separators)
{
    char copy[64];
    strcpy(copy, text);
    for (char *word = strtok(copy, separators); word; word = strtok(NULL, separators))
        printf("<%s>", word);
    char *at = strcpy(copy, text), *word;
    while ((word = strsep(&at, separators)))
        printf("(%s)", word);
    puts("");
}

int main(void)
{
    struct item items[] = {{3, 'a'}, {1, 'b'}, {2, 'c'}, {3, 'd'}, {1, 'e'}, {9, 'f'}, {0, 'g'}, {2, 'h'}, {3, 'i'}};
    int n = sizeof items / sizeof *items;
    qsort(items, n, sizeof *items, by_key);
    for (int i = 0; i < n; i++)
        printf("%d%c ", items[i].key, items[i].tag);
    struct item wanted = {9, 0}, missing = {5, 0};
    struct item *found = bsearch(&wanted, items, n, sizeof *items, by_key);
    printf("%c %d\n", found->tag, bsearch(&missing, items, n, sizeof *items, by_key) == NULL);
    const char *words[] = {"pear", "apple", "fig", "", "banana"};
    qsort(words, 5, sizeof *words, by_text);
    for (int i = 0; i < 5; i++)
        printf("%s,", words[i]);
    puts("");

    const char *texts[] = {"", " 12", "-12x", "+0x1F", "0x", "0xg", "077", "08", "zz", "Zz9", "-", "9223372036854775807",
                           "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
                           "18446744073709551616", "99999999999999999999999", "-1", "7fffffffffffffff", "1111", "\t\n 5",
                           "000000000000000000000000000000012"};
    const int bases[] = {0, 10, 16, 8, 2, 36, 1, 37};
    for (int i = 0; i < (int)(sizeof texts / sizeof *texts); i++)
        for (int b = 0; b < 6; b++)
            numbers(texts[i], bases[b]);
    long refused = strtol("5", NULL, 37);
    printf("%ld %d\n", refused, errno);
    div_t d = div(-7, 2);
    ldiv_t l = ldiv(100, -7);
    lldiv_t ll = lldiv(9, 4);
    printf("%d %d %ld %ld %lld %lld\n", d.quot, d.rem, l.quot, l.rem, ll.quot, ll.rem);

    for (int i = 0; i < 5; i++)
        printf("%d ", rand());
    srand(42);
    for (int i = 0; i < 40; i++)
        printf("%d ", rand());
    srand(0);
    printf("%d ", rand());
    srandom(4000000000u);
    printf("%ld\n", random());
    printf("%d\n", getenv("TOUCHSTONE_NOT_SET") == NULL);

    int *grown = malloc(2 * sizeof *grown);
    grown[0] = 1, grown[1] = 2;
    grown = reallocarray(grown, 4, sizeof *grown);
    grown[3] = 4;
    printf("%d %d %d\n", grown[0], grown[1], grown[3]);
    free(grown);
    char *aligned = aligned_alloc(16, 32);
    memset(aligned, 'x', 32);
    printf("%c\n", aligned[31]);
    void (*release)(void *) = free;
    release(aligned);

    tokens("one two  three", " ");
    tokens(",,a,b;c,", ",;");
    tokens("", ",");
    tokens("none", ",");
    char buffer[32];
    char *copy = strdup("duplicate"), *part = strndup("duplicate", 3);
    printf("%s %s %s\n", copy, part, strpbrk(copy, "xl"));
    printf("%d\n", strpbrk(copy, "xyz") == NULL);
    free(copy);
    free(part);
    char *end = mempcpy(buffer, "abcdef", 6);
    *end = 0;
    printf("%s %d\n", buffer, (int)((char *)memccpy(buffer + 10, "hello", 'l', 5) - buffer));
    printf("%d\n", memccpy(buffer + 10, "hello", 'z', 5) == NULL);
    end = stpcpy(buffer, "stp");
    printf("%d %d\n", (int)(end - buffer), (int)(stpncpy(buffer, "ab", 4) - buffer));
    printf("%d %d %d %d\n", sign(strcasecmp("HeLLo", "hEllO")), sign(strcasecmp("a", "B")), sign(strncasecmp("ABx", "aby", 2)),
           sign(strcasecmp("\xff", "a")));
    printf("%s %d\n", strcasestr("Hello World", "WORLD"), strcasestr("abc", "d") == NULL);
    printf("%s %s\n", (char *)memrchr("abcabc", 'b', 6), strchrnul("abc", 'x') - 1);
    printf("%s %d\n", (char *)memmem("abcdef", 6, "cd", 2), memmem("ab", 2, "abc", 3) == NULL);
    printf("%d %d %d\n", isascii(200), toascii(200), sign(strcoll("a", "b")));
    bzero(buffer, 4);
    bcopy("xyz", buffer, 3);
    printf("%s %d %s %s\n", buffer, bcmp("a", "a", 1), index("abc", 'b'), rindex("abcb", 'b'));
    atexit(first);
    atexit(second);
    if (calls > 1000)
        _Exit(1);
    exit(calls > 5 ? 3 : 4);
}
