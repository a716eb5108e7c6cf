/* branch: 5 covered, 1 infeasible */
extern unsigned int __VERIFIER_nondet_uint(void);
int main(void) {
    unsigned int x = __VERIFIER_nondet_uint();
    if ((x & 0xff00u) == 0xab00u) {
        if ((x ^ x >> 16) == 0x1234u) return 1;
        return 2;
    }
    if (x && !(x & (x - 1))) return 3;
    return 0;
}
