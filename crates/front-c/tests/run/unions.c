/* Unions, type punning, anonymous members, flexible array members, packed and aligned structures. */
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>

union word { unsigned u; unsigned char b[4]; short h[2]; struct { unsigned low : 12, high : 20; }; };
struct value {
    int kind;
    union { long number; const char *text; struct { int x, y; }; };
};
struct __attribute__((packed)) packed { char c; int i; short s; };
struct __attribute__((aligned(16))) aligned { char c; };
#pragma pack(push, 2)
struct two { char c; int i; long l; };
#pragma pack(pop)
struct text { int length; char data[]; };
union nested { struct { union { int a; char b; } in; int c; } s; long l; };

static union word global = {.b = {1, 2, 3, 4}};
static struct value values[] = {{1, {42}}, {2, .text = "hi"}, {3, .x = 5, .y = 6}};

static unsigned sum(union word w) { return w.b[0] + w.b[1] + w.b[2] + w.b[3]; }
static union word make(unsigned u) { union word w; w.u = u; return w; }

int main(void)
{
    union word w;
    w.u = 0x12345678;
    printf("%x %x %x %x %x\n", w.b[0], w.b[3], w.h[0], w.low, w.high);
    w.b[1] = 0xff;
    printf("%x %u %x\n", w.u, sum(w), make(77).u);
    printf("%x %ld %s %d %d\n", global.u, values[0].number, values[1].text, values[2].x, values[2].y);
    union word local = {0x01020304}, other = local;
    other.h[1] = -1;
    printf("%x %x\n", local.u, other.u);
    struct packed p = {1, 2, 3};
    int *unaligned = &p.i;
    *unaligned += 100000;
    printf("%d %d %d %zu %zu\n", p.c, p.i, p.s, sizeof p, offsetof(struct packed, s));
    printf("%zu %zu %zu %zu\n", sizeof(struct aligned), _Alignof(struct aligned), sizeof(struct two), offsetof(struct two, l));
    struct text *t = malloc(sizeof *t + 6);
    t->length = 5;
    for (int i = 0; i < 5; i++)
        t->data[i] = 'a' + i;
    t->data[5] = 0;
    printf("%s %zu\n", t->data, sizeof *t);
    free(t);
    union nested n = {.s = {.in.a = 7, .c = 1}};
    printf("%d %lx\n", n.s.in.b, n.l);
    return 0;
}
