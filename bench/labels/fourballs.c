// Bench: which of four balls is the odd one, and is it heavier or lighter? Two weighings decide. All weights are inputs.

int four_balls(int a, int b, int c, int d) {
    int verdict = 0;
    if (a + b == c + d)
        return 0;
    if (a + b > c + d) {
        if (a == b)
            verdict = c < d ? 3 : 4;
        else
            verdict = a > b ? 1 : 2;
    } else {
        if (c == d)
            verdict = a < b ? -1 : -2;
        else
            verdict = c > d ? 3 : 4;
    }
    return verdict;
}
