#include <stdio.h>
int f(x) float x; { return x > 1.5f ? (int)(x*10) : -1; }
float g(a,b,c) char a; float b; short c; { return a+b+c; }
double h(c, f, d) unsigned char c; float f; double d; { return c+f*d; }


int main(){ printf("%d\n", f(2.5)); printf("%g\n", g(1,2.5,300)); printf("%g\n", h(257,0.5,4.0));   float z=4.25f; printf("%d\n", f(z)); return 0; }
