// Boolean ^, == and !=: decisions over both sides.

#include <stdbool.h>

int exclusive(bool a, bool b) {
    if (a ^ b)
        return 1;
    return 0;
}

int same(bool a, bool b) {
    if (a == b)
        return 1;
    return 0;
}

int different(int a, int b) {
    if ((a > 0) != (b > 0))
        return 1;
    return 0;
}

int exclusive_of_three(bool a, bool b, bool c) {
    if (a ^ b ^ c)
        return 1;
    return 0;
}

int same_and(int a, int b, int c) {
    if ((a < 0) == (b < 0) && c)
        return 1;
    return 0;
}

int parts_differ(int a, int b, int c, int d) {
    if ((a && b) != (c || d))
        return 1;
    return 0;
}

int against_constants(int a, int b) {
    if ((a > 0) == 1 && (b > 0) == 0)
        return 1;
    return 0;
}

// Both sides are numbers: one condition, for every compiler.
int equal_numbers(int a, int b) {
    if (a == b)
        return 1;
    return 0;
}

int exclusive_or(bool a, bool b, bool c) {
    if ((a ^ b) || c)
        return 1;
    return 0;
}

int chain_of_equivalences(bool a, bool b, bool c) {
    if ((a == b) != c)
        return 1;
    return 0;
}
