/* branch: 3 covered, 1 infeasible */
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
int main(void) {
    int x = __VERIFIER_nondet_int();
    __VERIFIER_assume(x > 10 && x < 20);
    if (x * x == 16) return 1;
    if (x % 2 == 0) return 2;
    return 0;
}
