// Decisions outside control flow.

#include <stdbool.h>

static int twice(int truth) { return 2 * truth; }

int stored(int a, int b) {
    int both = a && b;
    return both + 1;
}

int returned(int a, int b, int c) {
    return a || (b && c);
}

int passed(int a, int b) {
    return twice(a > 1 && b > 1);
}

bool kept(int a, int b) {
    bool result = a;
    result = result && !b;
    return result;
}

int as_index(int a, int b) {
    static const int table[2] = {10, 20};
    return table[a || b];
}

int added(int a, int b, int c) {
    return (a && b) + (b || c);
}
