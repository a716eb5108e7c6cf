#include <stdio.h>
#include <stddef.h>
struct list { struct list *next, *prev; };
struct item { int v; struct list l; };
#define container_of(ptr,type,member) ({ const __typeof__(((type*)0)->member) *__mptr=(ptr); (type*)((char*)__mptr - offsetof(type,member)); })
#define swap(a,b) do { __typeof__(a) _t=(a); (a)=(b); (b)=_t; } while(0)
#define max(a,b) ({ __typeof__(a) _a=(a); __typeof__(b) _b=(b); _a>_b?_a:_b; })
int arr[3]={1,2,3};
__typeof__(arr) arr2 = {4,5,6};
__typeof__(int *) ip;
__typeof__(int[4]) ia;
int fn(int a){return a+1;}
__typeof__(fn) *pf = fn;
__typeof__(&fn) pf2 = fn;
int main(){ struct item it={7}; struct list *p=&it.l; printf("%d\n", container_of(p,struct item,l)->v);
 int a=1,b=2; swap(a,b); printf("%d %d %d\n",a,b,max(a,b)); __typeof__(arr[0]) *q=&arr[1]; printf("%d\n",*q); 
 __typeof__(a) z[4]={1,2,3,4}; __typeof__(a+1L) l = 5; __typeof__(&z[0]) pp=z; __typeof__(*pp) y=pp[2]; __typeof__(z) zz; zz[3]=9;
 __typeof__(a) *const *k; __typeof__(char) ch=300; 
 printf("%d %zu %d %d %d %d\n", z[3], sizeof l, y, zz[3], ch, pf(3)+pf2(5)); 
 __auto_type w = 3.5; typeof(w) *wp=&w; printf("%g %d %d\n",*wp, arr2[1], (int)sizeof(ia));
 typeof(struct item) it2=it; typeof(it2.l.next) nx=&it.l; printf("%d\n", it2.v+(nx==p));
 struct { int q; } an = {4}; typeof(an) an2=an; typeof(an) *anp=&an2; printf("%d\n", anp->q);
 return 0; }
