#include <stdio.h>
#include <stddef.h>
struct in { char c; int a[4]; struct { short q; int w; } n[3]; };
struct out { char x; struct in i; union { int u1; double u2; }; int bf:3; struct { int z1; char z2; }; long tail[]; };
typedef struct out O;
#define OFF(t,m) offsetof(t,m)
#define MYOFF(t,m) __builtin_offsetof(t,m)
#define OLD(t,m) ((size_t)&((t*)0)->m)
enum { EE = 2, OE = offsetof(struct out, i.n[1].w) };
static int sz[offsetof(struct out, i.a[1])];
#define IDX 3
#define FIELD i.n[IDX-1].w
#define NAME O
struct hdr { int a; char pad[sizeof(long)-sizeof(int)]; long b; };
_Static_assert(offsetof(struct hdr,b)==8,"");
int main(){ int k=2; 
 printf("%zu %zu %zu %zu\n", offsetof(struct out, i), offsetof(O, i.a[2]), offsetof(struct out,u2), offsetof(struct out,z2));
 printf("%zu %zu %zu %zu\n", OFF(O,i.n[EE].w), MYOFF(struct out,tail), OLD(O,i.n[1]), (size_t)sizeof sz);
 printf("%zu\n", offsetof(O, i.a[k])); printf("%zu\n", offsetof(O, FIELD)); printf("%zu\n", offsetof(NAME, tail[2]));
 printf("%zu %zu\n", offsetof(struct in,a[1+1]), __builtin_offsetof (struct in , n [ 2 ] . q));
 switch(k){ case offsetof(struct in,c): break; case (offsetof(struct in,a)): break; }
 return 0; }
