/* branch: 4 covered, 0 infeasible */
extern char __VERIFIER_nondet_char(void);
int main(void) {
    const char *secret = "k3y!";
    for (int i = 0; secret[i]; i++) {
        if (__VERIFIER_nondet_char() != secret[i]) return 1;
    }
    return 0;
}
