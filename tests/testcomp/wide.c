/* branch: 6 covered, 0 infeasible */
extern long __VERIFIER_nondet_long(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
int main(void) {
    long a = __VERIFIER_nondet_long();
    unsigned long b = __VERIFIER_nondet_ulong();
    if (a == -9223372036854775807L - 1) return 1;
    if (b > 18446744073709551000UL) return 2;
    if ((unsigned long)a == b && a < -5000000000L) return 3;
    return 0;
}
