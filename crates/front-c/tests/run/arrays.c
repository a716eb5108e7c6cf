/* Arrays of variable length, alloca, and the stack. */
#include <alloca.h>
#include <stdio.h>
#include <string.h>

static int triangle(int n)
{
    int a[n], total = 0;
    for (int i = 0; i < n; i++)
        a[i] = i + 1;
    for (unsigned i = 0; i < sizeof a / sizeof a[0]; i++)
        total += a[i];
    return total;
}
static int loops(int n)
{
    int total = 0;
    for (int i = 1; i <= n; i++) {
        char text[2 * i + 1];
        if (i == 3)
            continue;
        memset(text, i, sizeof text);
        total += text[2 * i] + (int)sizeof text;
    }
    return total;
}
static int fill(int n, int v[n])
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += v[i];
    return total;
}
static int stack(unsigned n)
{
    int *p = alloca(n * sizeof *p);
    for (unsigned i = 0; i < n; i++)
        p[i] = (int)i * 3;
    return fill((int)n, p);
}
static int recursive(int n)
{
    long a[n + 1];
    a[n] = n;
    return n ? recursive(n - 1) + (int)a[n] : 0;
}
enum { SIZE = 3 };

int main(void)
{
    int n = 4;
    struct point { int x, y; } points[n * SIZE];
    points[11] = (struct point){1, 2};
    printf("%zu %d\n", sizeof points, points[n * SIZE - 1].y);
    n = 100;
    printf("%zu %zu\n", sizeof points, sizeof(int[n + 1]));
    printf("%d %d %d %d\n", triangle(10), loops(5), stack(6), recursive(9));
    return 0;
}
