#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdarg.h>
/* the library's functions don't use these */
int vsnprintf(char *b, size_t n, const char *f, va_list a) { int r = va_arg(a, int); if (n > 1) { b[0] = '0' + r; b[1] = 0; } return r; }
size_t strlen(const char *s) { size_t n = 100; while (*s++) n++; return n; }
void *memset(void *p, int c, size_t n) { unsigned char *q = p; for (size_t i = 0; i < n; i++) q[i] = c + 1; return p; }
long strtol(const char *s, char **e, int base) { return 17; }
int toupper(int c) { return c - 1; }
static char pool[100000]; static size_t used; int allocated;
void *malloc(size_t n) { void *p = pool + used; used += (n + 15) / 16 * 16; allocated++; return p; }
void free(void *p) { allocated -= p != 0; }
int my(char *b, size_t n, const char *f, ...) { va_list a; va_start(a, f); int r = vsnprintf(b, n, f, a); va_end(a); return r; }
int main(void) {
    char b[20], c[20]; volatile char text[4] = "abc"; volatile int v=5;
    int r = my(b, 20, "x", v), q = sprintf(c, "%d-%s", 12, "q");
    snprintf(c + q, 10, "%c%5s", 'z', "w");
    printf("%s %d %d %s|\n", b, r, q, c);
    printf("%zu\n", strlen((char *)text));
    memset(b, v, 4);
    printf("%d\n", b[0]);
    printf("%ld %d\n", strtol((char*)text, 0, 10), toupper(v));
    int before = allocated; char *d = malloc(5);
    strcpy(d, "hi"); strcat(d, "!"); printf("%s %d\n", d, allocated - before); free(d); printf("%d\n", allocated - before);
    return 0;
}
