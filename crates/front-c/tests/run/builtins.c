/* Compiler builtins and other extensions: overflow checks, types, labels as values, jumps into blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stdarg.h>
int printf_unlocked(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("own ", stdout);
    vprintf(format, list);
    va_end(list);
    return 99;
}

static int interpret(const char *code)
{
    static void *const jump[] = {&&push, &&add, &&stop};
    int stack[8], top = 0;
    goto *jump[*code++ - '0'];
push:
    stack[top++] = *code++ - '0';
    goto *jump[*code++ - '0'];
add:
    top--;
    stack[top - 1] += stack[top];
    goto *jump[*code++ - '0'];
stop:
    return stack[0];
}
static int duff(const char *from, int count)
{
    int total = 0, n = (count + 3) / 4;
    switch (count % 4) {
    case 0: do { total += *from++;
    case 3: total += *from++;
    case 2: total += *from++;
    case 1: total += *from++;
        } while (--n > 0);
    }
    return total;
}
static int into(int x)
{
    int r = 0;
    if (x > 2)
        goto inside;
    for (int i = 0; i < 3; i++) {
        r += 10;
inside:
        r++;
        if (r > 25 || x > 2)
            break;
    }
    return r;
}
#define OVERFLOWS(type, op, a, b) do { \
    type r; int o = __builtin_##op##_overflow((type)(a), (type)(b), &r); \
    printf("%d:%lld ", o, (long long)r); } while (0)
#define ALL(type, low, high) do { \
    OVERFLOWS(type, add, high, 1); OVERFLOWS(type, add, low, -1); OVERFLOWS(type, add, 3, 4); \
    OVERFLOWS(type, sub, low, 1); OVERFLOWS(type, sub, high, high); OVERFLOWS(type, sub, 0, low); \
    OVERFLOWS(type, mul, high, 2); OVERFLOWS(type, mul, low, -1); OVERFLOWS(type, mul, high / 2, 2); \
    OVERFLOWS(type, mul, -3, 5); printf("\n"); } while (0)
static int kr(a, b, c) char a; short b; long c; { return a + b + (int)c; }

int main(void)
{
    printf("%d %d %d %d\n", interpret("050312"), duff("abcdefghij", 10), into(0), into(5));
    ALL(int, -2147483647 - 1, 2147483647);
    ALL(unsigned, 0, 4294967295u);
    ALL(long, -9223372036854775807L - 1, 9223372036854775807L);
    ALL(unsigned long, 0, 18446744073709551615ul);
    ALL(signed char, -128, 127);
    ALL(unsigned short, 0, 65535);
    int narrow;
    printf("%d ", __builtin_add_overflow(1 << 20, (short)-5, &narrow));
    printf("%d\n", narrow);
    printf("%d %d %d\n", __builtin_clz(1), __builtin_ctzl(8), __builtin_popcountll(255));
    printf("%x %d %d\n", __builtin_bswap32(0x01020304), __builtin_ffs(0), __builtin_parity(7));
    printf("%d %d\n", __builtin_types_compatible_p(int, const int), __builtin_types_compatible_p(int, long));
    printf("%d %ld\n", __builtin_choose_expr(1, 5, "x"), __builtin_expect(7L, 7));
    printf("%d %d\n", ({ int t = 3; t * t; }), _Generic(1L, int: 1, long: 2, default: 3));
    printf("%d\n", kr('a', 5, 1L << 33 | 4));
    char *p = realloc(0, 4);
    strcpy(p, "abc");
    p = realloc(p, 100);
    strcat(p, "def");
    p = realloc(p, 7);
    printf("%s\n", p);
    free(p);
    int x = 5;
    printf("%d\n", x ?: 9);
    printf("%ld %ld\n", (long)__builtin_imaxabs(-(1L << 40)), (long)__builtin_imaxabs(7));
    fflush(stdout);
    printf("%d\n", (int)__builtin_fwrite("written\n", 1, 8, stdout));
    printf("%d\n", __builtin_printf_unlocked("%d %s\n", 4, "args"));
    return 0;
}
