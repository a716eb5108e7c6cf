// Conditions of loops.

int while_both(int n, int stop) {
    int i = 0;
    while (i < n && i != stop) {
        if (i == 4)
            break;
        i++;
    }
    return i;
}

int for_either(int a, int b) {
    int steps = 0;
    for (int i = 0; i < 3 && (a || b); i++) {
        a = b;
        b = 0;
        steps++;
    }
    return steps;
}

int do_while(int a, int b) {
    int rounds = 0;
    do {
        rounds++;
        a--;
    } while (rounds < 3 && (a > 0 || b));
    return rounds;
}

int for_without_condition(int a, int b) {
    for (int i = 0;; i++) {
        if (i == 3 || (i == a && b))
            return i;
    }
}

int skips(int a, int b) {
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        if (a && i == b)
            continue;
        sum++;
    }
    return sum;
}

int until_found(const int list[4], int wanted) {
    int i = 0;
    while (i < 4 && list[i] != wanted && (list[i] || i))
        i++;
    return i;
}
