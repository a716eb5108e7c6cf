/* branch: 6 covered, 0 infeasible */
extern short __VERIFIER_nondet_short(void);
int main(void) {
    short total = __VERIFIER_nondet_short(), parts = __VERIFIER_nondet_short();
    if (parts == 0) return 1;
    if (total % parts == 17) return 2;
    if (total / parts < -100) return 3;
    return 0;
}
