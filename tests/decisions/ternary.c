// ?: as a decision, inside a decision, and with decisions in its arms.

int chooses(int a, int b) {
    return a && b ? 2 : 3;
}

int inside(int a, int b, int c) {
    if (a ? b : c)
        return 1;
    return 0;
}

int inside_and(int a, int b, int c, int d) {
    if ((a ? b : c) && d)
        return 1;
    return 0;
}

int arms_decide(int a, int b, int c) {
    if (a ? b && c : b || c)
        return 1;
    return 0;
}

int chain(int a, int b, int c) {
    return a > 0 ? 1 : b > 0 ? 2 : c > 0 ? 3 : 4;
}

int chosen_twice(int a, int b, int c, int d) {
    if (a ? (b ? c : d) : !c)
        return 1;
    return 0;
}
