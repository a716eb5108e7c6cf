// Conditions that come from macros.

#define POSITIVE(x) ((x) > 0)
#define BOTH(x, y) ((x) && (y))
#define BETWEEN(low, x, high) ((low) <= (x) && (x) < (high))
#define UNLESS(x) if (!(x))
#define LIKELY(x) __builtin_expect(!!(x), 1)

int conditions_from_macros(int a, int b) {
    if (POSITIVE(a) || POSITIVE(b))
        return 1;
    return 0;
}

int decision_from_macro(int a, int b) {
    if (BOTH(a, b))
        return 1;
    return 0;
}

int range(int x) {
    if (BETWEEN(3, x, 9))
        return 1;
    return 0;
}

int macro_in_macro(int a, int b, int c) {
    if (BOTH(POSITIVE(a), b) || c)
        return 1;
    return 0;
}

int statement_from_macro(int a, int b) {
    UNLESS(a && b)
        return 1;
    return 0;
}

int expected(int a, int b) {
    if (LIKELY(a && b))
        return 1;
    return 0;
}

#define EITHER_RANGE(x) (BETWEEN(0, x, 5) || BETWEEN(10, x, 15))

int ranges_from_macro(int a, int b) {
    if (EITHER_RANGE(a) && b)
        return 1;
    return 0;
}
