#include <stdio.h>
int foo(int) __asm__("real_foo");
int real_foo(int x){ return x+1; }
extern int v __asm__("real_v");
int real_v=42;
int mine(void) __asm__("other");
int mine(void){ return 7; }
extern int other(void);
static int sv __asm__("svx") = 3;
int main(){ printf("%d %d %d %d\n", foo(1), v, other(), sv); return 0; }
