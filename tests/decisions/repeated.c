// The same condition more than once, and conditions that exclude each other: some obligations have no inputs.

// `!c` can never be false and decide: `c` is true then, and masks it.
int c_again(int a, int c) {
    if ((a && !c) || c)
        return 1;
    return 0;
}

int majority(int a, int b, int c) {
    if ((a && b) || (b && c) || (a && c))
        return 1;
    return 0;
}

int selects(int s, int a, int b) {
    if ((s && a) || (!s && b))
        return 1;
    return 0;
}

int exclusive_comparisons(int x) {
    if (x < 3 || x > 9)
        return 1;
    return 0;
}

int implied(int x) {
    if (x > 5 && x > 2)
        return 1;
    return 0;
}

int contradiction(int x, int y) {
    if (x > 5 && (x < 2 || y))
        return 1;
    return 0;
}

// Only with `a` does `c` change alone: the first tests that come to mind don't show it.
int two_ways(int a, int b, int c) {
    if ((a || b) && (c || (b && !a)))
        return 1;
    return 0;
}

int letter_or_digit(int c) {
    if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
        return 1;
    return 0;
}
