#include <stdio.h>
/* Tentative definitions before the type is complete. */
struct S s;
extern struct S es;
static struct V v;
struct S *ps = &s;
struct S { int a; char b[5]; };
struct S es = { 3, "ab" };
static struct V { int z, w; } v;
/* Flexible array members with initial elements. */
struct F { int n; char s[]; };
struct F f1 = { 3, "abc" };
struct F f2 = { 3, {"hello"} };
struct F f3 = { 3, {'a', 'b'} };
static struct F f4 = { .s = "xyz", .n = 1 };
struct G { int n; int v[]; } g1 = { 2, {1, 2, 3} };
struct H { char c; short s[]; } h1 = { 1, {1, [4] = 5} };
struct W { int n; __WCHAR_TYPE__ w[]; } w1 = { 1, L"ab" };
/** A documented global. */ int documented = 4;
/** An array. */ static const int tab[] = {1, 2, 3};
/** A structure. */ struct D { /** Field. */ int a; /**< Trailing. */ int b; /** Bits. */ unsigned c:3; /** Enum. */ enum { /** e1 */ E1 = 4, /**< e2 */ E2 } e; };
/** A function.
 * @param a something
 */
int f(/** p */ int a) {
    /** x */ int i = a; /** y */ static int j = 3; /** z */ int k[2] = {1, 2}; /** w */ struct D d = {1, 2, 3, E2};
    /** unioned */ union { /** q */ int x; } u = {5}; //!< hi
    for (/** loop */ int z = 0; z < 2; z++) i += z;
    /** st */ if (/** c */ a > 1) { i++; }
    return i + j + k[1] + d.b + d.c + d.e + u.x;
}
/** e */ enum X { /** a */ XA = 3, XB };
/* Members without a name. */
struct A { int t; union { int i; float f; struct { short lo, hi; }; }; struct { char c; int z; }; };
struct A a1 = { 1, { .i = 5 }, { 'c', 3 } };
struct A a2 = { .t = 2, .lo = 3, .hi = 4, .z = 9 };
struct N { struct { int a; struct { int b; union { int c; char d[4]; }; }; }; int e; } n1 = {{1, {2, {3}}}, 4};
typedef struct { union { struct { int x, y; }; int v[2]; }; } V;
int pick(struct A *p) { if (p->i > 3) return p->hi; return p->z; }
int main(void) {
    static struct F loc = { 2, "local" };
    s.a = 5; ps->b[1] = 2; v.w = 6;
    printf("%d %d %d %d %d\n", s.a + es.a, s.b[1], (int)sizeof s, v.w, (int)sizeof v);
    printf("%s %s %c %s %d %d %d %s\n", f1.s, f2.s, f3.s[1], f4.s, g1.v[2], h1.s[4], (int)w1.w[1], loc.s);
    printf("%d %d %d %d\n", f(3), documented, tab[2], XB);
    V v1 = {.x = 1, .y = 2}; V v2 = {{{3, 4}}}; V *p = &v1; struct A l = {.hi = 5};
    printf("%d %d %d %d\n", pick(&a1), a2.i, a2.z, n1.c + n1.e + n1.d[0]);
    p->v[0] = 9;
    printf("%d %d %d %d %d\n", v1.v[1], v2.v[0], p->x, l.lo, l.hi);
    return 0;
}
