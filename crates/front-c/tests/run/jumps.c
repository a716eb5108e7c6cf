/* setjmp and longjmp: back out of calls, again and again, with buffers that are copied. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf outer;
static int depth;

static void down(int n)
{
    char local[16];
    memset(local, n, sizeof local);
    depth++;
    if (n == 0)
        longjmp(outer, 7);
    down(n - 1);
    printf("never\n");
}

static int tried(int value)
{
    jmp_buf here, copy;
    volatile int steps = 0;
    switch (setjmp(here)) {
    case 0:
        steps++;
        break;
    case 1:
        steps += 10;
        break;
    default:
        return steps + 100;
    }
    if (value > 2)
        return -1;
    memcpy(copy, here, sizeof copy);
    longjmp(copy, value);
}

static void *five[5];
static void raise_it(void) { __builtin_longjmp(five, 1); }

int main(void)
{
    volatile int rounds = 0;
    int got = setjmp(outer);
    printf("%d %d %d\n", got, depth, rounds);
    if (rounds++ < 3)
        down(rounds);
    if (setjmp(outer) == 0 && rounds == 4)
        printf("again %d\n", rounds);
    else
        rounds = 50;
    if (rounds == 4)
        longjmp(outer, 0);
    printf("%d %d %d\n", rounds, tried(2), tried(3));
    if (__builtin_setjmp(five) == 0)
        raise_it();
    printf("end\n");
    return 0;
}
