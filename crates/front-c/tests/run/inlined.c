#include <stdio.h>
long long llabs (long long); double fabs(double); int abs(int); long labs(long);
volatile long long a=-1; volatile int i=-3; volatile double d=-2.5; volatile long l=-9;
static float fabsf(float x){ return x+1; }
int main(){ volatile float f=-3; printf("%lld %d %g %ld %g\n", llabs(a), abs(i), fabs(d), labs(l), fabsf(f)); return 0; }
long long llabs(long long b){ return 7; }
int abs(int b){ return 8; }
double fabs(double b){ return 9; }
