/* branch: 6 covered, 0 infeasible */
extern int __VERIFIER_nondet_int(void);
int main(void) {
    static const int table[7] = {-40, -3, 0, 5, 12, 99, 1000};
    int wanted = __VERIFIER_nondet_int(), low = 0, high = 6;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        if (table[middle] == wanted) return middle;
        if (table[middle] < wanted) low = middle + 1;
        else high = middle - 1;
    }
    return 100;
}
