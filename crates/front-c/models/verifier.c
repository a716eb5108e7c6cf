/* The requests for inputs of SV-COMP and Test-Comp programs. Each is an input that has the name of the function. */

void touchstone_symbolic(void *address, unsigned long size, const char *name);
void touchstone_assume(long condition);

#define NONDET(name, type)                                                          \
    type __VERIFIER_nondet_##name(void) {                                           \
        type value;                                                                 \
        touchstone_symbolic(&value, sizeof value, "__VERIFIER_nondet_" #name);      \
        return value;                                                               \
    }

NONDET(char, char)
NONDET(uchar, unsigned char)
NONDET(unsigned_char, unsigned char)
NONDET(short, short)
NONDET(ushort, unsigned short)
NONDET(int, int)
NONDET(uint, unsigned)
NONDET(unsigned, unsigned)
NONDET(long, long)
NONDET(ulong, unsigned long)
NONDET(longlong, long long)
NONDET(ulonglong, unsigned long long)
NONDET(float, float)
NONDET(double, double)
NONDET(u8, unsigned char)
NONDET(u16, unsigned short)
NONDET(u32, unsigned)
NONDET(U32, unsigned)

_Bool __VERIFIER_nondet_bool(void) {
    unsigned char value;
    touchstone_symbolic(&value, 1, "__VERIFIER_nondet_bool");
    touchstone_assume(value <= 1);
    return value;
}
