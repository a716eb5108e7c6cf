/* branch: 6 covered, 0 infeasible */
extern unsigned char __VERIFIER_nondet_uchar(void);
int main(void) {
    unsigned char bytes[4], sum = 0;
    for (int i = 0; i < 4; i++) {
        bytes[i] = __VERIFIER_nondet_uchar();
        sum = (unsigned char)(sum * 3 + bytes[i]);
    }
    if (bytes[0] != 0x7f) return 1;
    if (sum != 0x5a) return 2;
    return 0;
}
