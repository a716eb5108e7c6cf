#include <stdio.h>
int x;
static void __attribute__((constructor)) a(void){ x=x*10+1; printf("a\n"); }
__attribute__((constructor(300))) void b(void){ x=x*10+2; printf("b\n");}
__attribute__((constructor(200))) static void c(void){ x=x*10+3; printf("c\n");}
__attribute__((destructor)) static void d1(void){ printf("d1 %d\n",x); }
__attribute__((destructor(300))) static void d2(void){ printf("d2\n"); }
__attribute__((destructor(200))) static void d3(void){ printf("d3\n"); }
static void __attribute__((constructor,destructor)) both(void){ printf("both\n"); }
void later(void) __attribute__((constructor(250)));
void later(void){ printf("later\n"); x=x*10+4; }
int main(){ printf("%d\n",x); return 0; }
