/* Functions with variable arguments. */
#include <stdarg.h>
#include <stdio.h>

struct small { int a, b; };
struct large { long v[5]; };

static int sum(int n, ...)
{
    va_list ap;
    int total = 0;
    va_start(ap, n);
    while (n-- > 0)
        total += va_arg(ap, int);
    va_end(ap);
    return total;
}
static long mixed(const char *kinds, ...)
{
    long total = 0;
    va_list ap, again;
    va_start(ap, kinds);
    va_copy(again, ap);
    for (; *kinds; kinds++)
        switch (*kinds) {
        case 'i': total += va_arg(ap, int); break;
        case 'l': total += va_arg(ap, long); break;
        case 'u': total += va_arg(ap, unsigned); break;
        case 's': total += va_arg(ap, const char *)[0]; break;
        case 'p': total += *va_arg(ap, int *); break;
        case 'm': total += va_arg(ap, struct small).b; break;
        case 'L': total += va_arg(ap, struct large).v[4]; break;
        }
    va_end(ap);
    total += 1000 * va_arg(again, int);
    va_end(again);
    return total;
}
static int next(va_list *ap) { return va_arg(*ap, int); }
static int rest(va_list ap) { return va_arg(ap, int) - va_arg(ap, int); }
static int indirect(int n, ...)
{
    va_list ap;
    va_start(ap, n);
    int first = next(&ap);
    int result = first * 100 + rest(ap);
    va_end(ap);
    return result;
}
static void say(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
}
static struct small pick(int which, ...)
{
    struct small s;
    va_list ap;
    va_start(ap, which);
    do
        s = va_arg(ap, struct small);
    while (which--);
    va_end(ap);
    return s;
}
static int none(int x, ...) { return x; }

struct three { char c[17]; };
static int collect(const char *form, ...)
{
    va_list list;
    int sum = 0;
    va_start(list, form);
    for (; *form; form++)
        switch (*form) {
        case 'i': sum = sum * 10 + va_arg(list, int); break;
        case 'd': sum = sum * 10 + (int)va_arg(list, double); break;
        case 's': sum = sum * 10 + va_arg(list, struct three).c[16]; break;
        default: sum = sum * 10 + *va_arg(list, char *) - '0';
        }
    va_end(list);
    return sum;
}
extern inline __attribute__((always_inline, gnu_inline)) int passed(const char *form, ...)
{
    return collect(form, __builtin_va_arg_pack());
}
extern inline __attribute__((always_inline, gnu_inline)) int passed_behind(struct three *t, const char *form, ...)
{
    return collect(form, 7, *t, __builtin_va_arg_pack());
}

int main(void)
{
    struct small s = {1, 2};
    struct large l = {{1, 2, 3, 4, 5}};
    int x = 50;
    char c = -3;
    short h = 7;
    printf("%d %d %d\n", sum(0), sum(3, 1, 2, 3), sum(4, c, h, 'a', 1 == 1));
    printf("%ld\n", mixed("iluspmLi", 1, 1L << 33, 4000000000u, "A", &x, s, l, -1));
    printf("%d\n", indirect(3, 7, 5, 3));
    say("%d %s %c %5ld|%-4x|\n", 1, "two", '3', 4L, 255);
    say("none\n");
    int (*f)(int, ...) = sum;
    printf("%d %d\n", f(2, 10, 20), none(5, s, l, "x"));
    printf("%d\n", pick(1, s, (struct small){8, 9}).b);
    struct three three = {{0}};
    three.c[16] = 4;
    printf("%d %d ", passed(""), passed("idsp", 1, 2.0, three, "5"));
    printf("%d %d\n", passed_behind(&three, "is"), passed_behind(&three, "isdsi", 3.5, three, 9));
    return 0;
}
