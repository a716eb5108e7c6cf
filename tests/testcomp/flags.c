/* branch: 6 covered, 0 infeasible */
extern _Bool __VERIFIER_nondet_bool(void);
extern char __VERIFIER_nondet_char(void);
int main(void) {
    _Bool quiet = __VERIFIER_nondet_bool(), verbose = __VERIFIER_nondet_bool();
    char option = __VERIFIER_nondet_char();
    if (quiet && verbose) return 2;
    if (option == 'q' || option == -3) return quiet ? 0 : 1;
    return verbose;
}
