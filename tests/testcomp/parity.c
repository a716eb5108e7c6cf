/* branch: 6 covered, 0 infeasible */
extern unsigned char __VERIFIER_nondet_uchar(void);
int main(void) {
    unsigned char word = __VERIFIER_nondet_uchar();
    int ones = 0;
    for (int i = 0; i < 8; i++) {
        if (word >> i & 1) ones++;
    }
    if (ones == 8) return 2;
    return ones % 2;
}
