// Decisions of && and ||, in every nesting of two to five conditions that matters for masking.

int all_of_two(int a, int b) {
    if (a && b)
        return 1;
    return 0;
}

int any_of_two(int a, int b) {
    if (a || b)
        return 1;
    return 0;
}

int all_of_five(int a, int b, int c, int d, int e) {
    if (a && b && c && d && e)
        return 1;
    return 0;
}

int any_of_five(int a, int b, int c, int d, int e) {
    if (a || b || c || d || e)
        return 1;
    return 0;
}

int and_then_or(int a, int b, int c) {
    if ((a > 0 && b > 0) || c > 0)
        return 1;
    return 0;
}

int or_then_and(int a, int b, int c) {
    if ((a > 0 || b > 0) && c > 0)
        return 1;
    return 0;
}

int or_of_ands(int a, int b, int c, int d) {
    if ((a && b) || (c && d))
        return 1;
    return 0;
}

int and_of_ors(int a, int b, int c, int d) {
    if ((a || b) && (c || d))
        return 1;
    return 0;
}

int right_leaning(int a, int b, int c, int d) {
    if (a || (b && (c || d)))
        return 1;
    return 0;
}

int left_leaning(int a, int b, int c, int d) {
    if (((a || b) && c) || d)
        return 1;
    return 0;
}
