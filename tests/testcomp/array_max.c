/* branch: 6 covered, 0 infeasible */
extern int __VERIFIER_nondet_int(void);
#define N 4
int main(void) {
    int a[N], best;
    for (int i = 0; i < N; i++) a[i] = __VERIFIER_nondet_int();
    best = a[0];
    for (int i = 1; i < N; i++) {
        if (a[i] > best) best = a[i];
    }
    return best == a[N - 1];
}
