/* The input requests of SV-COMP and Test-Comp programs. Each is an input with the name of the function. */

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
NONDET(size_t, unsigned long)
NONDET(ssize_t, long)
NONDET(loff_t, long long)
NONDET(sector_t, unsigned long)
NONDET(pthread_t, unsigned long)
NONDET(schar, signed char)
NONDET(S8, signed char)
NONDET(int8, signed char)
NONDET(uint8, unsigned char)
NONDET(int16, short)
NONDET(uint16, unsigned short)
NONDET(int32, int)
NONDET(uint32, unsigned)
NONDET(int64, long)
NONDET(uint64, unsigned long)
NONDET(u64, unsigned long)

/* Null, or an unknown object. */
void *touchstone_pointer(const char *name);
void *__VERIFIER_nondet_pointer(void) { return touchstone_pointer("__VERIFIER_nondet_pointer"); }
char *__VERIFIER_nondet_pchar(void) { return touchstone_pointer("__VERIFIER_nondet_pchar"); }
char *__VERIFIER_nondet_charp(void) { return touchstone_pointer("__VERIFIER_nondet_charp"); }
const char *__VERIFIER_nondet_const_char_pointer(void)
{
    return touchstone_pointer("__VERIFIER_nondet_const_char_pointer");
}

void __VERIFIER_nondet_memory(void *address, unsigned long size)
{
    touchstone_symbolic(address, size, "__VERIFIER_nondet_memory");
}

_Bool __VERIFIER_nondet_bool(void) {
    unsigned char value;
    touchstone_symbolic(&value, 1, "__VERIFIER_nondet_bool");
    touchstone_assume(value <= 1);
    return value;
}
