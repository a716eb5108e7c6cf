// Constants that delete a condition, or the whole decision.

enum { OFF, ON };

int and_on(int a, int b) {
    if (a && ON && b)
        return 1;
    return 0;
}

int or_off(int a, int b) {
    if (OFF || a || b)
        return 1;
    return 0;
}

// `b` is never evaluated.
int and_off(int a, int b) {
    if ((a && OFF && b) || a > 5)
        return 1;
    return 0;
}

int always(int a) {
    if (sizeof(int) == 4)
        a++;
    return a;
}

int chosen_by_constant(int a, int b) {
    if (ON ? a : b)
        return 1;
    return 0;
}

#define DEBUG 0

int logs(int a, int b) {
    if ((DEBUG || a) && (b || !DEBUG))
        return 1;
    return 0;
}
