/* Compiler builtins on bits, without conditions. */

unsigned short touchstone_bswap16(unsigned short x) { return x >> 8 | x << 8; }

unsigned touchstone_bswap32(unsigned x)
{
    return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
}

unsigned long touchstone_bswap64(unsigned long x)
{
    return (unsigned long)touchstone_bswap32((unsigned)x) << 32 | touchstone_bswap32((unsigned)(x >> 32));
}

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

/* Not defined for 0; here 64 (or 32). */
int touchstone_ctzl(unsigned long x) { return touchstone_popcountl((x & -x) - 1); }
int touchstone_ctzll(unsigned long long x) { return touchstone_ctzl(x); }
int touchstone_ctz(unsigned x) { return touchstone_popcountl((unsigned)((x & -x) - 1)); }
int touchstone_ffs(int x) { return (touchstone_ctz((unsigned)x) + 1) * (x != 0); }

int touchstone_clzl(unsigned long x)
{
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    x |= x >> 32;
    return 64 - touchstone_popcountl(x);
}

int touchstone_clzll(unsigned long long x) { return touchstone_clzl(x); }
int touchstone_clz(unsigned x) { return touchstone_clzl(x) - 32; }
