# 1 "<touchstone>" 3
/* What a unit with probes needs at run time. It is appended to preprocessed text, so it has no directives of its own.
   Functions of the C library have names of our own here: nothing that the program declares is in the way.
   The first unit of a process makes its hit file; every unit maps its probes into it.
   The file: 8 bytes magic; process id, number of units (32 bits each); 512 bytes name of the test, 1024 bytes command line;
   at 4096 a table of units (64 bits identity, 32 bits offset, 32 bits size); from 65536 on the probes. */
typedef struct {
    int pid, failed;
    unsigned count, end, files;
    struct { unsigned long long unit; volatile unsigned char *probes; unsigned size; } units[3840];
    char directory[1024], test[512];
} __touchstone_process_t;
extern char *__touchstone_getenv(const char *) __asm__("getenv");
extern int __touchstone_open(const char *, int, ...) __asm__("open");
extern int __touchstone_close(int) __asm__("close");
extern long __touchstone_read(int, void *, unsigned long) __asm__("read");
extern int __touchstone_truncate(int, long) __asm__("ftruncate");
extern void *__touchstone_mmap(void *, unsigned long, int, int, int, long) __asm__("mmap");
extern int __touchstone_munmap(void *, unsigned long) __asm__("munmap");
extern int __touchstone_getpid(void) __asm__("getpid");
extern int __touchstone_clock(int, long *) __asm__("clock_gettime");
extern int *__touchstone_errno(void) __asm__("__errno_location");
__attribute__((__weak__, __visibility__("default"))) __touchstone_process_t __touchstone_process;
__attribute__((__weak__, __visibility__("default"))) int __touchstone_file = -1;
__attribute__((__weak__, __visibility__("default"))) void __touchstone_state_test(const char *);

static char *__touchstone_put(char *to, char *end, const char *from) {
    while (*from && to < end - 1) *to++ = *from++;
    *to = 0;
    return to;
}
static char *__touchstone_number(char *to, char *end, unsigned long long value) {
    char digits[24];
    char *at = digits + 23;
    *at = 0;
    do *--at = (char)('0' + value % 10); while (value /= 10);
    return __touchstone_put(to, end, at);
}
/* A fresh hit file; its header is mapped only while it is written. */
static int __touchstone_new_file(void) {
    __touchstone_process_t *process = &__touchstone_process;
    char path[1200];
    char *end = path + sizeof path, *to = path;
    long now[2] = {0, 0};
    int file;
    unsigned char *header;
    __touchstone_clock(0, now);
    to = __touchstone_put(to, end, process->directory);
    to = __touchstone_put(to, end, "/");
    to = __touchstone_number(to, end, (unsigned long long)__touchstone_getpid());
    to = __touchstone_put(to, end, "-");
    to = __touchstone_number(to, end, (unsigned long long)now[0] * 1000000000ull + (unsigned long long)now[1]);
    to = __touchstone_put(to, end, "-");
    to = __touchstone_number(to, end, process->files++);
    __touchstone_put(to, end, ".hits");
    file = __touchstone_open(path, 02000302, 0666);
    if (file < 0 || __touchstone_truncate(file, 65536) != 0) return -1;
    header = (unsigned char *)__touchstone_mmap(0, 65536, 3, 1, file, 0);
    if (header == (unsigned char *)-1) return -1;
    {
        int line = __touchstone_open("/proc/self/cmdline", 02000000);
        if (line >= 0) {
            if (__touchstone_read(line, header + 528, 1023) < 0) header[528] = 0;
            __touchstone_close(line);
        }
    }
    __touchstone_put((char *)header + 16, (char *)header + 528, process->test);
    *(int *)(header + 8) = __touchstone_getpid();
    __touchstone_put((char *)header, (char *)header + 9, "TSHITS0");
    header[7] = '1';
    __touchstone_munmap(header, 65536);
    process->pid = __touchstone_getpid();
    process->end = 65536;
    process->count = process->count;
    return file;
}
/* Maps one unit's probes to the end of the hit file. Hits so far are kept if asked for. */
static int __touchstone_map(unsigned index, int keep) {
    __touchstone_process_t *process = &__touchstone_process;
    volatile unsigned char *probes = process->units[index].probes;
    unsigned size = process->units[index].size, offset = process->end, at;
    unsigned char *header, *pages;
    if (!probes) return 0;
    if (__touchstone_truncate(__touchstone_file, (long)offset + (long)size) != 0) return -1;
    if (keep) {
        pages = (unsigned char *)__touchstone_mmap(0, size, 3, 1, __touchstone_file, (long)offset);
        if (pages == (unsigned char *)-1) return -1;
        for (at = 0; at < size; at++) if (probes[at]) pages[at] = probes[at];
        __touchstone_munmap(pages, size);
    }
    if (__touchstone_mmap((void *)probes, size, 3, 17, __touchstone_file, (long)offset) == (void *)-1) return -1;
    header = (unsigned char *)__touchstone_mmap(0, 65536, 3, 1, __touchstone_file, 0);
    if (header == (unsigned char *)-1) return -1;
    {
        unsigned entry = *(volatile unsigned *)(header + 12);
        *(unsigned long long *)(header + 4096 + 16 * entry) = process->units[index].unit;
        *(unsigned *)(header + 4096 + 16 * entry + 8) = offset;
        *(unsigned *)(header + 4096 + 16 * entry + 12) = size;
        *(volatile unsigned *)(header + 12) = entry + 1;
    }
    __touchstone_munmap(header, 65536);
    process->end = offset + size;
    return 0;
}
static int __touchstone_all(int keep) {
    unsigned index;
    int file = __touchstone_file;
    __touchstone_file = __touchstone_new_file();
    if (file >= 0) __touchstone_close(file);
    if (__touchstone_file < 0) return -1;
    for (index = 0; index < __touchstone_process.count; index++)
        if (__touchstone_map(index, keep) != 0) return -1;
    return 0;
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void __touchstone_register(unsigned long long unit, volatile unsigned char *probes, unsigned size, const char *directory) {
    __touchstone_process_t *process = &__touchstone_process;
    int saved = *__touchstone_errno();
    const char *named, *test;
    if (!process->pid && !process->failed) {
        named = __touchstone_getenv("TOUCHSTONE_HITS");
        test = __touchstone_getenv("TOUCHSTONE_TEST");
        __touchstone_put(process->directory, process->directory + sizeof process->directory, named ? named : directory);
        __touchstone_put(process->test, process->test + sizeof process->test, test ? test : "");
    }
    if (!process->failed && process->count < 3840) {
        unsigned index = process->count++;
        process->units[index].unit = unit;
        process->units[index].probes = probes;
        process->units[index].size = size;
        /* After a fork the file is still the parent's, too: a unit that only the child has makes a file of its own. */
        if (process->pid == __touchstone_getpid()) process->failed = __touchstone_map(index, 1) != 0;
        else process->failed = __touchstone_all(1) != 0;
    }
    *__touchstone_errno() = saved;
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void __touchstone_forget(volatile unsigned char *probes) {
    unsigned index;
    for (index = 0; index < __touchstone_process.count; index++)
        if (__touchstone_process.units[index].probes == probes) __touchstone_process.units[index].probes = 0;
}
/* From here on hits belong to this test. */
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void touchstone_test_begin(const char *name) {
    __touchstone_process_t *process = &__touchstone_process;
    int saved = *__touchstone_errno();
    __touchstone_put(process->test, process->test + sizeof process->test, name);
    if (__touchstone_state_test) __touchstone_state_test(name);
    if (process->pid && !process->failed) process->failed = __touchstone_all(0) != 0;
    *__touchstone_errno() = saved;
}
__attribute__((__constructor__(101), __no_instrument_function__))
static void __touchstone_begin(void) { __touchstone_register(0xUNITull, __touchstone_h, sizeof __touchstone_h, "HITS"); }
__attribute__((__destructor__(101), __no_instrument_function__))
static void __touchstone_end(void) { __touchstone_forget(__touchstone_h); }
