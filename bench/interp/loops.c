/* Integer loops for `touchstone bench interp`: PROGRAM says which. */
#include <stdio.h>

#if PROGRAM == 1
/* Registers only. */
int main(void)
{
    unsigned h = 2166136261u;
    for (unsigned i = 0; i < 2000000; i++) {
        h ^= i & 255;
        h *= 16777619u;
        if (h & 64)
            h += i >> 3;
    }
    printf("%u\n", h);
    return 0;
}
#elif PROGRAM == 2
/* An array, read and written. */
static unsigned char composite[300000];
int main(void)
{
    int count = 0;
    for (int round = 0; round < 4; round++) {
        count = 0;
        for (int i = 0; i < 300000; i++)
            composite[i] = 0;
        for (int i = 2; i < 300000; i++)
            if (!composite[i]) {
                count++;
                for (int j = 2 * i; j < 300000; j += i)
                    composite[j] = 1;
            }
    }
    printf("%d\n", count);
    return 0;
}
#elif PROGRAM == 3
/* Calls. */
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void)
{
    printf("%d\n", fib(27));
    return 0;
}
#elif PROGRAM == 4
/* Memory behind pointers and 64-bit arithmetic. */
static long a[100][100], b[100][100], c[100][100];
static void multiply(long (*x)[100], long (*y)[100], long (*z)[100])
{
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 100; j++) {
            long sum = 0;
            for (int k = 0; k < 100; k++)
                sum += x[i][k] * y[k][j];
            z[i][j] = sum;
        }
}
int main(void)
{
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 100; j++) {
            a[i][j] = i * j % 7;
            b[i][j] = i + j;
        }
    multiply(a, b, c);
    multiply(c, a, b);
    printf("%ld\n", b[17][42]);
    return 0;
}
#endif
