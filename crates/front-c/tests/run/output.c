/* Output other than plain printf, and formatting into memory. */
#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char buffer[256];

static int format(const char *f, ...)
{
    va_list list;
    va_start(list, f);
    int n = vsnprintf(buffer, sizeof buffer, f, list);
    va_end(list);
    return n;
}

static int say(FILE *to, const char *f, ...)
{
    va_list list, again;
    va_start(list, f);
    va_copy(again, list);
    int n = vfprintf(to, f, list);
    n += vprintf(f, again);
    va_end(again);
    va_end(list);
    return n;
}

#define SHOW(...) (n = format(__VA_ARGS__), printf("%d [%s]\n", n, buffer))

int main(void)
{
    int n;
    const int ints[] = {0, 1, -1, 7, 8, 42, -42, 99, 100, 255, 2147483647, -2147483647 - 1};
    for (int i = 0; i < (int)(sizeof ints / sizeof *ints); i++) {
        int x = ints[i];
        SHOW("%d|%i|%u|%x|%X|%o|%#x|%#X|%#o|%c", x, x, x, x, x, x, x, x, x, 'a' + i);
        SHOW("%5d|%-5d|%05d|%+d|% d|%.5d|%8.5d|%-8.5d|%08.5d|%+06d", x, x, x, x, x, x, x, x, x, x);
        SHOW("[%.0d][%.0x][%.d][%5.0d][%#.0o][%#.5o][%#08x][%#-8x]|", x, x, x, x, x, x, x, x);
        SHOW("%hhd|%hd|%hhu|%hx|%*d|%-*d|%.*d|%*.*d|", x, x, x, x, 6, x, 6, x, 4, x, -9, 3, x);
    }
    const long longs[] = {0, -1, 9223372036854775807L, -9223372036854775807L - 1, 10000000000L, 1L << 60};
    for (int i = 0; i < (int)(sizeof longs / sizeof *longs); i++)
        SHOW("%ld|%lld|%lu|%lx|%lo|%zu|%jd|%td|%#lo|%lX", longs[i], (long long)longs[i], longs[i], longs[i], longs[i],
             (size_t)longs[i], longs[i], longs[i], longs[i], longs[i]);
    SHOW("%s|%10s|%-10s|%.2s|%5.1s|%s|%.3s|%%|%c%3c%-3c|%p", "hello", "hello", "hello", "hello", "hello", (char *)0, (char *)0,
         'x', 'y', 'z', (void *)0);
    SHOW("%f|%.2f|%10.3e|%-12g|%+.0f|%a|%g|%08.2f|%E", 3.14159, 2.5, 12345.678, 0.0001, 2.5, 1.0, 1e100, -3.14159, 1e-5);
    char small[5] = "####";
    n = snprintf(small, 3, "%d", 12345);
    printf("%d %s %c\n", n, small, small[3]);
    printf("%d %d\n", snprintf(small, 0, "%s", "abc"), snprintf(NULL, 0, "%d:%s", 10, "abc"));
    n = sprintf(small, "%s", "abcd");
    printf("%d %s\n", n, small);
    n = printf("%s %d\n", "value", 12);
    printf("%d\n", n);
    printf("%d\n", puts("a line"));
    printf("%d\n", putchar('c') + putchar(-1 - 255));
    fprintf(stdout, "to stdout %d\n", 1);
    fprintf(stderr, "to stderr %d\n", 2);
    printf("%d\n", fprintf(stderr, "%d%s", 22, "xx"));
    fputs("no newline", stdout);
    fputs("unseen", stderr);
    printf(" %d\n", fputc('q', stdout) == 'q' && putc('r', stdout) == 'r');
    printf("%d\n", (int)fwrite("a\0b", 1, 3, stdout));
    printf("%d\n", say(stdout, "%d %s\n", 5, "five"));
    FILE *out = stdout;
    fflush(out);
    setvbuf(stdout, NULL, _IONBF, 0);
    setbuf(stdout, NULL);
    printf("%s\n", setlocale(LC_ALL, "C"));
    errno = 5;
    perror("nothing");
    printf("%d %d\n", errno, ferror(stdout));
    int (*print)(const char *, ...) = printf;
    print("%d through a pointer\n", 3);
    return 0;
}
