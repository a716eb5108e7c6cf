/* Function pointers: tables, comparison, casts, members, results, and functions of the library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int (*operation)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
int mul(int a, int b) { return a * b; }

static operation table[] = {add, sub, &mul, 0};
struct named { const char *name; operation run; } const names[] = {{"add", add}, {"sub", *sub}, {.run = mul, .name = "mul"}};

static operation choose(int which) { return which < 0 ? 0 : which & 1 ? sub : add; }
static int apply(operation f, int a, int b) { return f ? f(a, b) : -1; }
static int twice(int f(int, int), int x) { return (*f)((***f)(x, x), x); }
static int (*deep(void))(int, int) { return mul; }

struct pair { int a, b; };
static struct pair swap(struct pair p) { return (struct pair){p.b, p.a}; }
static struct pair (*swapper)(struct pair) = swap;

static int calls;
static void count(void) { calls++; }
static void (*hooks[2])(void) = {count, count};

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void sort(int *v, int n, int (*less)(const void *, const void *))
{
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && less(&v[j - 1], &v[j]) > 0; j--) {
            int t = v[j];
            v[j] = v[j - 1];
            v[j - 1] = t;
        }
}

#define APART __attribute__((noinline, noclone))
static APART void *where(void) { return __builtin_return_address(0); }
static APART void *where_else(void) { void *at = __builtin_return_address(0); where(); return at; }
static APART void *callers(void) { return __builtin_return_address(1); }
static APART void *above(void) { void *at = callers(); return at; }
static APART void *same_place(void *(*f)(void)) { void *at = f(); return at; }
static APART void *other_place(void *(*f)(void)) { void *at = f(); return at; }

int main(void)
{
    for (int i = 0; table[i]; i++)
        printf("%d ", table[i](10, 3));
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        printf("%s=%d ", names[i].name, names[i].run(7, 2));
    printf("\n%d %d %d %d\n", choose(0) == add, choose(1) == sub, choose(-1) == 0, add != sub);
    printf("%d %d %d %d\n", apply(mul, 4, 5), apply(0, 1, 1), twice(add, 3), deep()(6, 7));
    struct pair p = swapper((struct pair){1, 2});
    printf("%d %d\n", p.a, p.b);
    hooks[0]();
    (*hooks[1])();
    printf("%d\n", calls);
    int v[] = {5, 3, 9, 1, 4};
    sort(v, 5, by_value);
    for (int i = 0; i < 5; i++)
        printf("%d ", v[i]);
    void *raw = (void *)mul;
    unsigned long number = (unsigned long)raw;
    printf("%d %d\n", ((operation)raw)(3, 3), ((operation)number)(4, 4));
    unsigned long (*length)(const char *) = strlen;
    printf("%lu\n", length("four"));
    operation copy[2];
    memcpy(copy, table, sizeof copy);
    printf("%d %d\n", copy[0](1, 1), copy[1](1, 1));
    printf("%d %d ", same_place(where) == same_place(where_else), same_place(where) == other_place(where));
    printf("%d %d\n", same_place(above) == same_place(where), same_place(where) && __builtin_return_address(0));
    return 0;
}
