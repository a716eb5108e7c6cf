/* Compiler builtins on bits, without branches. */

unsigned short touchstone_bswap16(unsigned short x) { return x >> 8 | x << 8; }

unsigned touchstone_bswap32(unsigned x)
{
    return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
}

unsigned long touchstone_bswap64(unsigned long x)
{
    return (unsigned long)touchstone_bswap32((unsigned)x) << 32 | touchstone_bswap32((unsigned)(x >> 32));
}

/* arpa/inet.h on a little-endian machine. */
unsigned htonl(unsigned x) { return touchstone_bswap32(x); }
unsigned ntohl(unsigned x) { return touchstone_bswap32(x); }
unsigned short htons(unsigned short x) { return touchstone_bswap16(x); }
unsigned short ntohs(unsigned short x) { return touchstone_bswap16(x); }

int touchstone_popcountl(unsigned long x)
{
    x -= x >> 1 & 0x5555555555555555UL;
    x = (x & 0x3333333333333333UL) + (x >> 2 & 0x3333333333333333UL);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fUL;
    return (int)(x * 0x0101010101010101UL >> 56);
}

int touchstone_popcountll(unsigned long long x) { return touchstone_popcountl(x); }
int touchstone_popcount(unsigned x) { return touchstone_popcountl(x); }
int touchstone_parity(unsigned x) { return touchstone_popcountl(x) & 1; }
int touchstone_parityl(unsigned long x) { return touchstone_popcountl(x) & 1; }
int touchstone_parityll(unsigned long long x) { return touchstone_popcountl(x) & 1; }

/* 0 if the value is defined; otherwise a division that overflows, so that inputs with an undefined value are avoided. */
static int defined(int is) { return (-2147483647 - 1) / (2 * is - 1) & 0; }

static int trailing(unsigned long x) { return touchstone_popcountl((x & -x) - 1); }

/* Not defined for 0. */
int touchstone_ctzl(unsigned long x) { return trailing(x) + defined(x != 0); }
int touchstone_ctzll(unsigned long long x) { return trailing(x) + defined(x != 0); }
int touchstone_ctz(unsigned x) { return trailing(x) + defined(x != 0); }
int touchstone_ffs(int x) { return (trailing((unsigned)x) + 1) * (x != 0); }
int touchstone_ffsl(long x) { return (trailing((unsigned long)x) + 1) * (x != 0); }
int touchstone_ffsll(long long x) { return (trailing((unsigned long)x) + 1) * (x != 0); }
int ffs(int x) { return touchstone_ffs(x); }
int ffsl(long x) { return touchstone_ffsl(x); }
int ffsll(long long x) { return touchstone_ffsll(x); }

static int leading(unsigned long x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    x |= x >> 32;
    return 64 - touchstone_popcountl(x);
}

int touchstone_clzl(unsigned long x) { return leading(x) + defined(x != 0); }
int touchstone_clzll(unsigned long long x) { return leading(x) + defined(x != 0); }
int touchstone_clz(unsigned x) { return leading(x) - 32 + defined(x != 0); }

static unsigned long high_product(unsigned long a, unsigned long b)
{
    unsigned long low = (a & 0xffffffff) * (b & 0xffffffff);
    unsigned long middle = (a >> 32) * (b & 0xffffffff) + (low >> 32);
    unsigned long other = (a & 0xffffffff) * (b >> 32) + (middle & 0xffffffff);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

/* True if a product of two numbers of `bits` bits overflows. */
int touchstone_umul_overflows(unsigned long a, unsigned long b, unsigned long bits)
{
    return (high_product(a, b) != 0) | (a * b >> (bits - 1) >> 1 != 0);
}

int touchstone_smul_overflows(long a, long b, unsigned long bits)
{
    unsigned long low = (unsigned long)a * (unsigned long)b;
    unsigned long high = high_product(a, b) - ((unsigned long)(a >> 63) & b) - ((unsigned long)(b >> 63) & a);
    return (high != (unsigned long)((long)low >> 63)) | ((long)(low << (64 - bits)) >> (64 - bits) != (long)low);
}

/* The number of bits after the sign bit that equal it. */
int touchstone_clrsbl(long x)
{
    unsigned long differing = (unsigned long)(x ^ (x >> 63));
    return touchstone_clzl(differing << 1 | 1);
}
int touchstone_clrsbll(long long x) { return touchstone_clrsbl(x); }
int touchstone_clrsb(int x) { return touchstone_clrsbl(x) - 32; }
