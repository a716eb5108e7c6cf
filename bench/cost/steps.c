// Bench: a million concrete steps beside one symbolic branch.

int steps(int a) {
    unsigned int i, sum = 0;
    for (i = 0; i < 1000000; i++)
        sum = sum * 31 + i;
    if (a > (int)(sum & 255))
        return 1;
    return 0;
}
