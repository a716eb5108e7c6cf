/* The models of the library against the library. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sign(int x) { return (x > 0) - (x < 0); }

int main(void)
{
    const char *words[] = {"", "a", "ab", "abc", "abd", "b", "\xff", "hello world", "world", "o w", "aab", "aaab"};
    int n = sizeof words / sizeof *words;
    for (int i = 0; i < n; i++) {
        printf("%d %d ", (int)strlen(words[i]), (int)strnlen(words[i], 4));
        for (int j = 0; j < n; j++) {
            const char *a = words[i], *b = words[j];
            char *s = strstr(a, b);
            printf("%d%d%d%d%d ", sign(strcmp(a, b)), sign(strncmp(a, b, 2)), s ? (int)(s - a) : -1, (int)strspn(a, b),
                   (int)strcspn(a, b));
        }
        char *f = strchr(words[i], 'o'), *l = strrchr(words[i], 'o'), *z = strchr(words[i], 0);
        printf("%d %d %d\n", f ? (int)(f - words[i]) : -1, l ? (int)(l - words[i]) : -1, (int)(z - words[i]));
    }
    char buffer[32];
    memset(buffer, '#', 31);
    buffer[31] = 0;
    strcpy(buffer, "abc");
    strcat(buffer, "def");
    strncat(buffer, "ghijk", 2);
    printf("%s %c\n", buffer, buffer[9]);
    strncpy(buffer, "xy", 5);
    printf("%s %d %c\n", buffer, buffer[4], buffer[5]);
    printf("%d %d\n", sign(memcmp("abc", "abd", 3)), memcmp("abc", "abd", 2));
    printf("%d\n", (int)((char *)memchr("hello", 'l', 5) - "hello") >= 0);
    for (int c = -1; c < 256; c++)
        printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", isalnum(c), isalpha(c), isblank(c), iscntrl(c), isdigit(c),
               isgraph(c), islower(c), isprint(c), ispunct(c), isspace(c), isupper(c), isxdigit(c), tolower(c), toupper(c));
    printf("%d %d %ld %lld %d\n", abs(-5), abs(7), labs(-9L), llabs(11LL), abs(-2147483647 - 1));
    const char *numbers[] = {"0", "12", "-12", "+7", "  \t42x", "abc", "", "-", "999999999999", "99999999999999999999",
                             "-99999999999999999999", "9223372036854775807", "-9223372036854775808", "000000000000000000000123"};
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
        printf("%d %ld\n", atoi(numbers[i]), atol(numbers[i]));
    printf("%d %d %d %d\n", __builtin_popcount(0xf0f1u), __builtin_ctz(40), __builtin_clz(40), __builtin_ffs(0));
    printf("%x %d %d %d\n", __builtin_bswap32(0x12345678), __builtin_clzl(1UL << 40), __builtin_ctzl(1UL << 40),
           __builtin_popcountl(-1UL));
    if (strlen(words[3]) == 3)
        exit(17);
    return 1;
}
