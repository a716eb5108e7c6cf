/* Pointers, arrays, structures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>

struct point { int x; char tag; long y; };
struct line { struct point a, b; const char *name; };
struct nested { struct { int p; short q[3]; }; struct line lines[2]; unsigned char last; };
typedef struct node { struct node *next; int value; } node;
typedef struct { int rows, cols; int cells[3][4]; } matrix;

static struct point make(int x, long y) { struct point p = {x, 'm', y}; return p; }
static struct point moved(struct point p, int by) { p.x += by; p.y -= by; return p; }
static long sum(struct line l) { l.a.x = 1000; return l.a.x + l.b.y + l.b.tag; }
static struct line joined(struct point a, struct point b) { return (struct line){a, b, "joined"}; }
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static void set(int **p, int *to) { *p = to; }
static int total(int m[3][4]) { int s = 0; for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) s += m[i][j] * (i + 1); return s; }
static int column(int (*m)[4], int j) { return m[0][j] + (*(m + 1))[j] + *(*(m + 2) + j); }

static node *insert(node *list, int value)
{
    node **at = &list;
    while (*at && (*at)->value < value)
        at = &(*at)->next;
    node *n = malloc(sizeof *n);
    n->value = value;
    n->next = *at;
    *at = n;
    return list;
}

static int escape(int n)
{
    int *keep[3];
    int s = 0;
    int local[3];
    for (int i = 0; i < 3; i++) {
        local[i] = i * n;
        keep[i] = &local[i];
    }
    for (int i = 0; i < 3; i++) s += *keep[i];
    return s;
}
static int parameter_address(int n) { int *p = &n; *p += 5; return n; }

int main(void)
{
    struct point p = make(3, 4), q = moved(p, 10), r;
    r = p;
    r.x++;
    printf("%d %ld %c %d %d\n", q.x, q.y, q.tag, p.x, r.x);
    struct line l = joined(p, q);
    printf("%ld %d %s\n", sum(l), l.a.x, l.name);
    printf("%d %ld\n", moved(make(1, 2), 5).x, joined(q, p).a.y);
    struct nested n;
    memset(&n, 0, sizeof n);
    n.p = 7; n.q[2] = -3; n.lines[1] = l; n.last = 255;
    struct nested *pn = &n;
    pn->lines[0].b.x = pn->lines[1].a.x * 2;
    printf("%d %d %d %s %d\n", n.p, n.q[2], n.lines[0].b.x, n.lines[1].name, n.last);
    int a = 1, b = 2, *pa = &a, **ppa = &pa;
    swap(&a, &b);
    set(&pa, &b);
    **ppa += 40;
    printf("%d %d %d\n", a, b, *pa);
    matrix m = {3, 4, {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}};
    printf("%d %d\n", total(m.cells), column(m.cells, 2));
    int cube[2][3][4];
    for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < 4; k++) cube[i][j][k] = i * 100 + j * 10 + k;
    int *flat = &cube[0][0][0];
    printf("%d %d %d\n", cube[1][2][3], flat[13], (int)(&cube[1][1][1] - flat));
    printf("%d\n", 2[flat] + *(flat + 3));
    char text[] = "hello", *c = text;
    while (*c) { if (*c == 'l') *c = 'L'; c++; }
    printf("%s %d\n", text, (int)(c - text));
    node *list = 0;
    int values[] = {5, 1, 9, 3, 7};
    for (int i = 0; i < 5; i++) list = insert(list, values[i]);
    for (node *at = list; at; at = at->next) printf("%d ", at->value);
    puts("");
    while (list) { node *next = list->next; free(list); list = next; }
    int *heap = calloc(4, sizeof(int));
    heap[1] = 3;
    int *copy = malloc(16);
    memcpy(copy, heap, 16);
    memmove(copy + 1, copy, 8);
    printf("%d %d %d\n", copy[0], copy[1], copy[2]);
    free(heap); free(copy);
    printf("%d %d\n", escape(4), parameter_address(6));
    long addr = (long)&a;
    *(int *)addr = 99;
    printf("%d\n", a);
    unsigned char *bytes = (unsigned char *)&b;
    b = 0x01020304;
    printf("%d %d %d\n", bytes[0], bytes[3], *(short *)(bytes + 1));
    const char *strings[] = {"one", "two", "three"};
    for (int i = 0; i < 3; i++) printf("%s:%c ", strings[i], strings[i][i]);
    puts("");
    int *cl = (int[]){4, 5, 6};
    printf("%d %d\n", cl[1], ((struct point){.y = 8}).x);
    int *end = values + 5, s = 0;
    for (int *it = values; it != end; ++it) s += *it;
    for (int *it = end - 1; it >= values; it--) s = s * 2 + *it;
    printf("%d %d\n", s, (int)(end - values));
    printf("%d %d\n", (int)offsetof(struct nested, lines[1].b.y), (int)offsetof(struct nested, q));
    struct point arr[3] = {{1}, {2, 'x'}, {3, 'y', 33}};
    struct point *ap = arr;
    ap++;
    int first = (*ap++).x, second = ap->x;
    long third = (ap--)->y;
    printf("%d %d %ld %d\n", first, second, third, ap->x);
    struct point tern = a > 5 ? arr[0] : arr[2];
    (a < 5 ? &arr[0] : &arr[1])->x = 70;
    printf("%d %d\n", tern.x, arr[1].x);
    arr[0] = arr[1] = arr[2];
    printf("%d %d\n", arr[0].x, arr[1].x);
    char grid[3][4] = {"abc", "de", {'f'}};
    printf("%s %s %c %d\n", grid[0], grid[1], grid[2][0], grid[2][3]);
    void *v = &arr[2];
    printf("%d\n", ((struct point *)v)->x + (int)((char *)(v + 4) - (char *)v));
    return 0;
}
