/* What stands before the twin: marks, chance, and what the library answers. Every choice of the world is choose(). */
#define _GNU_SOURCE
#pragma pack(push, 16) /* -fpack-struct is for the twin. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#pragma pack(pop)

/* State of the program: reset before every run. */
#define STATE __attribute__((section("twin_state")))
extern char __start_twin_state[], __stop_twin_state[];

/* ---- chance */
static uint64_t chance = 88172645463325252ull;
static unsigned choose(unsigned count) {
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (unsigned)((chance >> 20) % count);
}
static int num(void) {
    static const int usual[] = {-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7};
    static const int rare[] = {8, 9, 10, 16, 100, -100, 255, 256, 0x102, 0x201, 0x300, 0x7fffffff, -0x7fffffff - 1};
    if (choose(30) == 0) return rare[choose(sizeof rare / sizeof *rare)];
    return usual[choose(sizeof usual / sizeof *usual)];
}

/* ---- devices: any value at every read */
static void *fresh(volatile void *place, size_t size) {
    if (choose(3) == 0) {
        long value = num();
        memcpy((void *)place, &value, size);
    }
    return (void *)place;
}
#define FRESH(e) (*(__typeof__(&(e)))fresh(&(e), sizeof(e)))

/* ---- memory that may not be had */
static char arena[1 << 15] __attribute__((aligned(16)));
static size_t used;
static void *tw_malloc(size_t size) {
    size_t all = 16 + ((size + 15) & ~(size_t)15);
    if (choose(4) == 0 || size > 4096 || used + all > sizeof arena) {
        errno = ENOMEM;
        return NULL;
    }
    char *block = arena + used;
    used += all;
    *(size_t *)block = size;
    memset(block + 16, 0x5a, all - 16);
    return block + 16;
}
static void *tw_calloc(size_t count, size_t size) {
    void *block = tw_malloc(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}
static void *tw_realloc(void *old, size_t size) {
    if (!old) return tw_malloc(size);
    size_t before = *(size_t *)((char *)old - 16);
    if (size <= before && choose(2)) return old;
    void *block = tw_malloc(size);
    if (block) memcpy(block, old, before < size ? before : size);
    return block;
}
static char *tw_strdup(const char *text) {
    char *block = tw_malloc(strlen(text) + 1);
    return block ? strcpy(block, text) : NULL;
}
static void tw_free(void *block) { (void)block; }
#define malloc tw_malloc
#define calloc tw_calloc
#define realloc tw_realloc
#undef strdup
#define strdup tw_strdup
#define free tw_free

/* ---- a library with moods */
static int tw_rand(void) { return num() & 0x7fffffff; }
static time_t now;
static time_t tw_time(time_t *out) {
    now += choose(3);
    if (out) *out = now;
    return now;
}
static char *tw_getenv(const char *name) {
    static char answers[3][4] = {"", "a", "on"};
    (void)name;
    return choose(2) ? answers[choose(3)] : NULL;
}
#define rand tw_rand
#define time tw_time
#define getenv tw_getenv

/* ---- registers: pages at the addresses that programs name */
static uintptr_t const pages[] = {0x40012000, 0x40020000};
static void map_registers(void) {
    for (unsigned i = 0; i < sizeof pages / sizeof *pages; i++) {
        void *got = mmap((void *)pages[i], 4096, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got != (void *)pages[i]) {
            perror("registers");
            exit(3);
        }
    }
}
static void set_registers(void) {
    for (unsigned i = 0; i < sizeof pages / sizeof *pages; i++)
        for (unsigned at = 0; at < 64; at++) ((int *)(pages[i] + 0x400))[at] = num(), ((int *)pages[i])[at] = num();
}

/* ---- things of other files, and pointers that they have */
struct region { int unit; int *base; int count; enum { OWN, FOREIGN } whose; };
static int unit, calls;
static int other_files(void);
static void external(void);
#define SAVED 6
static STATE int *saved[SAVED];
static STATE int saves;
static void save(int *place) {
    if (place) saved[saves++ % SAVED] = place;
}
