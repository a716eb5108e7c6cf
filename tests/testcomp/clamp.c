/* branch: 8 covered, 0 infeasible */
extern double __VERIFIER_nondet_double(void);
extern float __VERIFIER_nondet_float(void);
int main(void) {
    double low = __VERIFIER_nondet_double();
    float x = __VERIFIER_nondet_float();
    if (!(low >= 0.25 && low <= 0.5)) return 1;
    if (x != x) return 2;
    if (x < low) return 3;
    if (x * 2.0f > 2.5f) return 4;
    return 0;
}
