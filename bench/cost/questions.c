// Bench: decisions that are hard for a solver. Both outcomes of each are feasible.

typedef unsigned int word;
typedef unsigned long long wide;

int factors(word a, word b) {
    if (a > 1 && b > 1 && (wide)a * b == 1000036000099ULL)
        return 1;
    return 0;
}

int quotient(wide a, wide b, wide c) {
    if (a % b == c && a / b == 1234567)
        return 1;
    return 0;
}

int matrix(word a, word b, word c, word d, word e, word f, word g, word h) {
    if (a * e + b * g == 1234567 && a * f + b * h == 7654321 && c * e + d * g == 31337 && c * f + d * h == 271828)
        return 1;
    return 0;
}

int modulo(word a, word b, word c) {
    if (a % c == 7 && b % c == 11 && (a + b) % 1000 == 18)
        return 1;
    return 0;
}

static void order(unsigned char *x, int i, int j) {
    unsigned char low = x[i] < x[j] ? x[i] : x[j], high = x[i] < x[j] ? x[j] : x[i];
    x[i] = low;
    x[j] = high;
}

// Batcher's network for eight values.
int network(unsigned char x[8]) {
    static const unsigned char pairs[19][2] = {
        {0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6}, {5, 7}, {1, 2}, {5, 6},
        {0, 4}, {1, 5}, {2, 6}, {3, 7}, {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6},
    };
    int i, same = 1;
    for (i = 0; i < 19; i++)
        order(x, pairs[i][0], pairs[i][1]);
    for (i = 0; i < 8; i++)
        same &= x[i] == 10 * i + 3;
    if (same)
        return 1;
    return 0;
}
