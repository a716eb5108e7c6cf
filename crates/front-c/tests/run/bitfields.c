/* Bit-fields: layout, signs, assignment values, operators, initialisers. */
#include <stdio.h>
#include <string.h>

struct flags { unsigned a : 1, b : 2, c : 5; };
struct mixed { signed s : 4; unsigned u : 9; int : 3; long l : 33; _Bool t : 1; unsigned char byte; int : 0; unsigned last : 31; };
struct __attribute__((packed)) tight { unsigned a : 3; unsigned long b : 62; int c : 7; char d; };
#pragma pack(push)
#pragma pack(1)
struct pragma { signed a : 21; short b; unsigned c : 11; };
#pragma pack(pop)
struct tail { char c; int x : 17; char d; };

static struct mixed global = {-3, 300, 1L << 31, 1, 200, 12345};
static struct flags many[3] = {{1, 2, 3}, {.c = 31}, {0, 3}};

static void show(const void *p, unsigned n)
{
    const unsigned char *b = p;
    while (n--)
        printf("%02x", *b++);
    printf("\n");
}

int main(void)
{
    struct flags f = {1, 3, 17};
    printf("%d %d %d %zu\n", f.a, f.b, f.c, sizeof f);
    f.b++;
    f.c -= 20;
    printf("%d %d %d\n", f.a, f.b, f.c);
    int assigned = f.b = 7;
    int stepped = ++f.a;
    int old = f.c++;
    printf("%d %d %d %d\n", assigned, stepped, old, f.c);
    struct mixed m;
    memset(&m, 0, sizeof m);
    m.s = 9;
    m.u = 1023;
    m.l = -1L << 32;
    m.t = 4;
    m.byte = 255;
    m.last = -1;
    printf("%d %u %ld %d %d %u %zu\n", m.s, m.u, (long)m.l, m.t, m.byte, m.last, sizeof m);
    show(&m, sizeof m);
    printf("%d %u %ld %d %d %u\n", global.s, global.u, (long)global.l, global.t, global.byte, global.last);
    struct tight t;
    memset(&t, 0, sizeof t);
    t.a = 5;
    t.b = 0x2123456789abcdefUL;
    t.c = -33;
    t.d = 1;
    printf("%d %lx %d %d %zu\n", t.a, (unsigned long)t.b, t.c, t.d, sizeof t);
    show(&t, sizeof t);
    struct pragma g = {-1000000, -2, 2047};
    printf("%d %d %d %zu\n", g.a, g.b, g.c, sizeof g);
    struct tail x = {1, -65536, 2};
    printf("%d %d %d %zu\n", x.c, x.x, x.d, sizeof x);
    struct flags *p = &many[1];
    p->b = p[-1].b + p[1].b;
    for (int i = 0; i < 3; i++)
        printf("%d%d%d ", many[i].a, many[i].b, many[i].c);
    struct flags copy = *p;
    printf("%d %d %d\n", copy.c, copy.a ? 1 : 2, -copy.c > 0 || copy.b < -1);
    return 0;
}
