// Negation of a condition, of a part and of a whole decision.

int not_one(int a, int b) {
    if (!a && b)
        return 1;
    return 0;
}

int not_all(int a, int b) {
    if (!(a && b))
        return 1;
    return 0;
}

int not_any(int a, int b, int c) {
    if (!(a || b) && c)
        return 1;
    return 0;
}

int twice(int a, int b) {
    if (!!a || !(!b))
        return 1;
    return 0;
}

int not_nested(int a, int b, int c) {
    if (!(a && !(b || !c)))
        return 1;
    return 0;
}
