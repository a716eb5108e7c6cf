// Decisions inside conditions of other decisions.

#include <stdbool.h>

static int clamp(int truth, int value) { return truth ? value : 0; }

int argument_decides(int a, int b, int c) {
    if (clamp(a && b, c) > 3 || c < 0)
        return 1;
    return 0;
}

int index_decides(int a, int b, int c) {
    int table[2] = {c, 5};
    if (table[a || b] > 4 && c)
        return 1;
    return 0;
}

int comparison_of_choice(int a, int b, int c) {
    if ((a && b ? c : 7) > 5 || b)
        return 1;
    return 0;
}

int sum_of_truths(int a, int b, int c) {
    if ((a && b) + (b || c) == 1)
        return 1;
    return 0;
}

int comma(int a, int b) {
    if ((b = a || b, b && a < 5))
        return 1;
    return 0;
}

int else_ifs(int a, int b, int c) {
    if (a && b)
        return 1;
    else if (b && c)
        return 2;
    else if (!c || a)
        return 3;
    return 4;
}
