/* branch: 6 covered, 0 infeasible */
extern int __VERIFIER_nondet_int(void);
static int twice(int x) { return 2 * x; }
static int square(int x) { return x * x; }
static int (*const table[2])(int) = {twice, square};
int main(void) {
    int which = __VERIFIER_nondet_int(), x = __VERIFIER_nondet_int();
    if (which < 0 || which > 1) return 1;
    if (x < -100 || x > 100) return 2;
    if (table[which](x) == 144) return 3;
    return 0;
}
