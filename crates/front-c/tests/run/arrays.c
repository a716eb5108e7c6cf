/* Variable-length arrays, alloca, and the stack. */
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

static short width = 6;
static _Thread_local int calls;
struct header { char tag; unsigned char count; struct { int sizes[3]; } limits; };
static long both(int a, unsigned char b)
{
    calls++;
    return a + b;
}
static void lengths(const char *name, struct header *header, struct header plain)
{
    char copy[strlen(name) + 1];
    int a[width], b[header->count], c[plain.limits.sizes[1] * 2], d[both(plain.tag, width) - 1];
    strcpy(copy, name);
    width = 9;
    printf("%s %zu %zu %zu %zu %zu %d\n", copy, sizeof copy, sizeof a, sizeof b, sizeof c, sizeof d, calls);
}

static int count;
static int counted(void) { return ++count; }
static int after(int i, int a[i++]) { return i; }
static int both_sides(int i, int a[++i], unsigned char c, int b[restrict c--]) { return i * 100 + c; }
static int by_call(int a[counted()], int b[static counted() + 1]) { return count; }
static int row(int n, int a[2][++n]) { return n * 100 + (int)sizeof a[0]; }
/* The length of this one is not needed and not evaluated. */
static int old(n, a) int n; int a[n++]; { return n; }
static int old_row(n, a) int n; int a[2][++n]; { return n * 100 + (int)sizeof a[0]; }

int main(void)
{
    int n = 4;
    struct point { int x, y; } points[n * SIZE];
    points[11] = (struct point){1, 2};
    printf("%zu %d\n", sizeof points, points[n * SIZE - 1].y);
    n = 100;
    printf("%zu %zu\n", sizeof points, sizeof(int[n + 1]));
    printf("%d %d %d %d\n", triangle(10), loops(5), stack(6), recursive(9));
    struct header header = {3, 7, {{1, 2, 3}}};
    lengths("touchstone", &header, header);
    int some[20];
    printf("%d %d %d %d %d %d\n", after(10, some), both_sides(1, some, 5, some), by_call(some, some), row(2, (void *)some), old(3, some), old_row(3, some));
    n = 3;
    int first[n++];
    typedef int several[++n];
    several x, y;
    printf("%zu %zu %zu %zu %d ", sizeof first, sizeof x, sizeof y, sizeof(several), n);
    printf("%zu ", sizeof(int[n--]));
    char w[n+++1];
    printf("%d %zu\n", n, sizeof w);
    return 0;
}
