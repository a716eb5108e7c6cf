/* branch: 6 covered, 0 infeasible */
extern unsigned int __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
int main(void) {
    unsigned int a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
    __VERIFIER_assume(a > 0 && a < 20 && b > 0 && b < 20);
    while (a != b) {
        if (a > b) a -= b;
        else b -= a;
    }
    if (a == 7) return 1;
    return 0;
}
