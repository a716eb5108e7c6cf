/* Aliases, old-style calls, differences of labels, classes of types, and other builtins. */
#include <stdio.h>

int original = 5;
extern int other __attribute__((alias("original")));
static int hidden(int x) { return x * 2; }
int doubled(int x) __attribute__((alias("hidden")));
int early(int x) __attribute__((alias("later")));
int later(int x) { return x + 100; }

int old_style() { return 17; }
long takes(p) long p; { return p != 0; }

static int step(int which)
{
    static int places[] = {&&one - &&one, &&two - &&one, &&three - &&one};
    goto *(&&one + places[which]);
one:
    return 1;
two:
    return 2;
three:
    return 3;
}

static int expected(int z)
{
    if (__builtin_expect(original > 8, z++))
        return z;
    return -z;
}

union both { int i; float f; };
struct only { int i; };

int main(void)
{
    union both u = {1};
    struct only s = {2};
    int array[3];
    other = 9;
    printf("%d %d\n", expected(3), expected(4));
    printf("%d %d %d %d\n", original, &other == &original, doubled(4), early(1));
    printf("%d %d\n", old_style(1, 2.0, s), (int)takes(array));
    printf("%d %d %d\n", step(0), step(1), step(2));
    printf("%d %d %d %d %d %d %d\n", __builtin_classify_type(1), __builtin_classify_type('c'),
           __builtin_classify_type(1.0f), __builtin_classify_type(array), __builtin_classify_type(u),
           __builtin_classify_type(s), __builtin_classify_type(1.0i));
    printf("%d %d %d %d\n", __builtin_constant_p("text"), __builtin_constant_p(2.5), __builtin_constant_p(original),
           __builtin_constant_p(3 * 4));
    printf("%d %d %d %d\n", __builtin_clrsb(5), __builtin_clrsb(-1), __builtin_clrsbl(-256L), __builtin_clrsbll(0));
    printf("%d %d %d %d\n", __builtin_ffsl(8), __builtin_ffsll(0), __builtin_parityl(7), __builtin_parityll(3));
    long double big = __builtin_infl(), none = __builtin_nanl(""), small = -0.0L;
    printf("%d %d %d %d\n", __builtin_isinf(big) != 0, __builtin_isnan(none) != 0, __builtin_signbit(small) != 0,
           __builtin_isfinite(big) != 0);
    printf("%d %d %d %d\n", __builtin_isless(small, big), __builtin_isunordered(big, none),
           __builtin_islessgreater(none, big), __builtin_copysignl(2.0L, small) < 0);
    printf("%d %d\n", __builtin_fpclassify(0, 1, 2, 3, 4, small), __builtin_fpclassify(0, 1, 2, 3, 4, 1.5L));
    printf("%g\n", (double)__builtin_fabsl(-2.5L));
    return 0;
}
