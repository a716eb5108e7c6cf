/* Standard output redirected to a file, and files by descriptor. Their contents determine the status. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME "/tmp/touchstone-redirected-test"

static void list(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
}

static int descriptors(void)
{
    char text[20] = "";
    int f = open(NAME, O_RDWR | O_CREAT | O_TRUNC, 0600), g, ok = 1;
    ok &= write(f, "hello, world", 12) == 12;
    ok &= lseek(f, 7, SEEK_SET) == 7 && read(f, text, 19) == 5 && !strcmp(text, "world") && read(f, text, 19) == 0;
    ok &= close(f) == 0 && close(f) == -1 && errno == EBADF;
    ok &= open(NAME, O_WRONLY | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST;
    g = open(NAME, O_WRONLY | O_APPEND);
    ok &= write(g, "!", 1) == 1 && read(g, text, 1) == -1 && errno == EBADF && lseek(g, 0, SEEK_END) == 13;
    close(g);
    ok &= unlink(NAME) == 0 && open(NAME, O_RDONLY) == -1 && errno == ENOENT;
    f = open("/dev/zero", O_RDONLY);
    text[0] = text[1] = 'x';
    ok &= f >= 3 && read(f, text, 2) == 2 && !text[0] && !text[1];
    close(f);
    f = open("/dev/null", O_RDWR);
    ok &= write(f, "x", 1) == 1 && read(f, text, 1) == 0;
    close(f);
    return ok;
}

int main(void)
{
    char line[40] = "";
    FILE *f;
    if (!descriptors())
        return 2;
    printf("before\n");
    f = freopen(NAME, "w", stdout);
    printf("1%d", 2);
    if (printf("%c", '3') != 1)
        return 3;
    puts("4");
    putchar('5');
    fputs("6", stdout);
    list("%d", 7);
    fwrite("8\n", 1, 2, stdout);
    fclose(f);
    f = fopen(NAME, "r");
    if (!fgets(line, sizeof line, f) || strcmp(line, "1234\n") || !fgets(line, sizeof line, f) || strcmp(line, "5678\n"))
        return 4;
    fclose(f);
    remove(NAME);
    return 5;
}
