/* Sizes, alignments and offsets are the compiler's. */
#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#define S(T) printf("%s %d %d\n", #T, (int)sizeof(T), (int)_Alignof(T))
#define O(T, f) printf("%s.%s %d\n", #T, #f, (int)(long)&((T *)0)->f)
struct a { char c; int i; char d; };
struct b { char c; double d; float f; };
struct c { struct a a[3]; short s; struct b b; };
union u { int i; char c[9]; double d; };
struct d { char c; union u u; char e; };
struct e { int a : 3; int b : 5; char c; unsigned f : 30; int : 0; short g; };
struct f { char c; int b : 20; int d : 13; long l : 40; };
struct __attribute__((packed)) g { char c; int i; long l; };
struct h { char c; struct g g; int i __attribute__((aligned(16))); };
struct i { int n; char flex[]; };
struct j { struct { char x; int y; }; char z; };
struct k { void *p; int (*f)(int, char); char c; };
enum small { A, B }; enum big { C = 0x100000000 }; enum neg { D = -1, E = 1 };
typedef struct { uint8_t a; uint16_t b; uint64_t c; enum small e; _Bool f; } l;
struct m { long double ld; char c; };
struct n { char c[7]; short s[3]; };
struct o { int a : 7; long b; char : 4; char e; };
void aligned_function(void) __attribute__((aligned(256)));
void aligned_function(void) {}
char spread __attribute__((aligned(32)));
static struct { char c __attribute__((aligned(64))); } inner;
struct __attribute__((packed)) tight_one { char c; int i; int j __attribute__((aligned(8))); } tight_one;
_Alignas(16) extern int declared;
_Alignas(16) int declared;

int main(void)
{
    S(char); S(short); S(int); S(long); S(long long); S(void *); S(_Bool); S(float); S(double); S(long double); S(size_t);
    S(struct a); S(struct b); S(struct c); S(union u); S(struct d); S(struct e); S(struct f); S(struct g); S(struct h);
    S(struct i); S(struct j); S(struct k); S(enum small); S(enum big); S(enum neg); S(l); S(struct m); S(struct n); S(struct o);
    S(struct a[4]); S(int[3][5]);
    O(struct a, i); O(struct a, d); O(struct b, d); O(struct b, f); O(struct c, s); O(struct c, b); O(struct d, u);
    O(struct d, e); O(struct e, c); O(struct e, g); O(struct g, i); O(struct g, l); O(struct h, g); O(struct h, i);
    O(struct i, flex); O(struct j, y); O(struct j, z); O(struct k, c); O(l, b); O(l, c); O(l, e); O(l, f); O(struct m, c);
    O(struct n, s); O(struct o, b); O(struct o, e);
    printf("%d %d\n", (int)offsetof(struct c, b.f), (int)__builtin_offsetof(struct c, a[1].d));
    printf("%d\n", (int)__builtin_offsetof( // (
        struct c /* ) */
        , b.f));
    _Alignas(128) short local = 1;
    int plain[9], *at = plain;
    static double kept;
#define A(e) printf("%d ", (int)__alignof__(e))
    A(aligned_function), A(spread), A(inner), A(inner.c), A(tight_one), A(tight_one.i), A(tight_one.j), A(declared), A(local);
    A(plain), A(*at), A(at[3]), A(at), A((kept)), A(1 + 1L), A("text"), A(plain[2]), A(local + 0);
    printf("\n");
    return 0;
}
