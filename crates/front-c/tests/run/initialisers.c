/* Initialisers of globals, static locals and locals. */
#include <stdio.h>
#include <wchar.h>
enum { FIRST = 3, SECOND };
struct point { int x; short y; const char *name; };
int zero, one = 1, negative = -5, sum = 2 * 3 + SECOND;
unsigned char narrow = 300 & 0xff;
long wide = 1L << 40;
_Bool truth = 7;
int table[6] = {1, [4] = 5, 6};
int spread[] = {[2 ... 4] = 9, 10};
char text[] = "text\0more", cut[3] = "abc", padded[10] = "pad";
const char *strings[] = {"a", "bc", 0, "d" "ef"};
struct point points[3] = {{1, 2, "p"}, {.name = "q", .x = 4}};
struct point *second = &points[1], *none;
int *inside = &table[2] + 1, *back = table + 5 - 1;
const char *tail = &text[5], *middle = "literal" + 3;
const struct point constant = {.y = -1, .name = text};
static int matrix[2][3] = {{1, 2}, {4}};
int flat[2][2] = {1, 2, 3, 4};
char grid[2][4] = {"ab", {'c', 'd'}};
struct { struct { int a, b; } in; int c[2]; } nested = {1, 2, {3, 4}}, braced = {{.b = 5}, .c = {[1] = 6}};
struct list { struct list *next; int v; } last = {0, 3}, first = {&last, 1};
struct list self = {&self, 9};
int *literal = (int[]){7, 8, 9};
unsigned long address_like = (unsigned long)0x1234;
short chars[] = {'a', 'b', '\n'};
wchar_t wide_text[] = L"w\u20ac";
int folded = sizeof(struct point) > 8 ? 11 : 22;
int minus = -1 >> 1, unsigned_compare = -1 < 1u;
struct { int bits : 5; unsigned more : 3; } fields = {3, 5};
float half = 0.5f;
int tentative;
int tentative;
int tentative = 4;
extern int later;
int uses_later(void) { return later; }
int later = 6;

int main(void)
{
    printf("%d %d %d %d %d %ld %d\n", zero, one, negative, sum, narrow, wide, truth);
    for (int i = 0; i < 6; i++) printf("%d ", table[i]);
    for (int i = 0; i < (int)(sizeof spread / sizeof *spread); i++) printf("%d ", spread[i]);
    printf("\n%s %s %c%c%c %s %d\n", text, tail, cut[0], cut[1], cut[2], padded, padded[9]);
    for (int i = 0; i < 4; i++) printf("%s ", strings[i] ? strings[i] : "null");
    printf("\n%d %d %s %d %s %d %d\n", points[0].x, points[0].y, points[0].name, second->x, second->name, points[2].x, none == 0);
    printf("%d %d %s %d %s\n", *inside, *back, middle, constant.y, constant.name);
    printf("%d %d %d %d %d %s %d\n", matrix[0][1], matrix[0][2], matrix[1][0], flat[1][0], flat[1][1], grid[0], grid[1][3]);
    printf("%d %d %d %d %d\n", nested.in.b, nested.c[1], braced.in.b, braced.c[0], braced.c[1]);
    printf("%d %d %d %d\n", first.next->v, self.next->next->v, literal[2], chars[1]);
    printf("%lu %x %d %d %d %d\n", address_like, (unsigned)wide_text[1], folded, minus, unsigned_compare, tentative);
    printf("%d\n", uses_later());
    int local[5] = {1, 2, 3}, full[2] = {zero + 1, one + 1}, copy = full[1];
    struct point p = {.y = 3}, q = {1, 2, "local"}, ps[2] = {q, {5}};
    char s[8] = "loc", t[] = {'x', 0};
    int scalar = {3};
    static const int primes[] = {2, 3, 5};
    static int *into = &table[1];
    static const char *const names[] = {"n0", "n1"};
    printf("%d %d %d %d %d\n", local[0], local[4], full[0], full[1], copy);
    printf("%d %d %s %d %d %d %s\n", p.x, p.y, q.name, ps[0].y, ps[1].x, ps[1].y, ps[0].name);
    printf("%s %d %s %d %d %d %s\n", s, s[7], t, scalar, primes[2], *into, names[1]);
    struct { struct { int a, b; } in; int c[2]; } n = {{1}, {one, 2}};
    printf("%d %d %d\n", n.in.a, n.in.b, n.c[0] + n.c[1]);
    for (int i = 0; i < 3; i++) {
        int fresh[2] = {i};
        fresh[1] += fresh[0] + 1;
        printf("%d", fresh[1]);
    }
    /* One object in one block: its initialiser reads the previous value. */
    int *count = &(int){5}, rounds = 0;
    while (count = &(int){*count - 1}, *count > 0) rounds++;
    printf(" %d", rounds);
    printf("\n%s %d\n", __func__, (int)sizeof __func__);
    return 0;
}
