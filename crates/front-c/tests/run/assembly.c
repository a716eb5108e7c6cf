/* Assembly without instructions: compiler barriers and opaque values. */
#include <stdio.h>

#define BARRIER() __asm__ __volatile__("" ::: "memory")
#define HIDE(x) asm volatile("" : "+r"(x) : /* nothing */ : "memory")

static int calls;
static int *place(int *p) { calls++; return p; }

int main(void)
{
    int a = 3, b = 0, c = 5, values[2] = {7, 8};
    long l;
    const char *text = "text", *other;
    asm("");
    BARRIER();
    HIDE(a);
    asm("" : "=r"(b) : "0"(a + 1));
    asm("" : "=r"(c), "=r"(a) : "1"(b), "0"(a));
    asm volatile("" : "+m"(*place(values)) : "r"(&values[1]), "g"(*place(values)));
    asm("" : [out] "=r"(other) : "[out]"(text));
    asm("" : "=m"(b) : "m"(b));
    asm("" : "=r"(l) : "0"(12L));
    printf("%d %d %d %d %s %ld %d\n", a, b, c, values[0], other, l, calls);
    return 0;
}
