/* branch: 6 covered, 0 infeasible */
extern unsigned char __VERIFIER_nondet_uchar(void);
extern unsigned short __VERIFIER_nondet_ushort(void);
int main(void) {
    unsigned char month = __VERIFIER_nondet_uchar();
    unsigned short year = __VERIFIER_nondet_ushort();
    int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    switch (month) {
    case 2: return leap ? 29 : 28;
    case 4: case 6: case 9: case 11: return 30;
    case 1: case 3: case 5: case 7: case 8: case 10: case 12: return 31;
    default: return 0;
    }
}
