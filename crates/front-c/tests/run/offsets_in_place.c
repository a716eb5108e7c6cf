/* A type that is defined in an offsetof can't be duplicated, so every offsetof of this file is parsed from its text. */
#include <stddef.h>
#include <stdio.h>

struct s {
    char c;
    int a[4];
    struct { short p, q; } in[3];
};
enum { TWO = 2 };

size_t nobody_calls_it(void) { return offsetof(struct w { char k; long m; }, m); }

int main(void)
{
    printf("%zu %zu\n", offsetof(struct s, a[2]), offsetof(struct s, in[TWO].q));
    printf("%zu\n", offsetof(struct s, in[sizeof(int) - 3]));
    return 0;
}
