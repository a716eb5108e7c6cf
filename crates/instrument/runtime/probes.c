/* The runtime of instrumented units, after system.c. The first unit of a process creates its hit file; every unit maps its
   probes into it. No descriptor stays open, because a program may close and reuse any. If the file can't be written, the
   process runs without probes and never crashes: mapped pages are allocated before, within the limit on file sizes. An
   empty file reports that hits were lost.
   The format: 8 bytes magic; process id, number of units (32 bits each); 512 bytes name of the test, 1024 bytes command line;
   at 4096 a table of units (64 bits identity, 32 bits offset, 32 bits size); from 65536 on the probes. */
typedef struct {
    int pid, failed;
    unsigned count, end, files, entries;
    struct { unsigned long long unit; volatile unsigned char *probes; unsigned size, offset; } units[3840];
    char directory[1024], elsewhere[256], path[1200], test[512];
} __touchstone_process_t;
extern char **__touchstone_environment __asm__("environ");
__attribute__((__weak__, __visibility__("default"))) __touchstone_process_t __touchstone_process_2;
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
static const char *__touchstone_getenv(const char *name) {
    char **at;
    for (at = __touchstone_environment; at && *at; at++) {
        const char *a = *at, *b = name;
        while (*b && *a == *b) a++, b++;
        if (!*b && *a == '=') return a + 1;
    }
    return (const char *)0;
}
/* Allocates a range of the file, so that a store into it can't fail. Past the limit on sizes the kernel would send a signal. */
static int __touchstone_room(int file, unsigned long from, unsigned long size) {
    char zeros[512];
    unsigned long at;
    int error;
    if (from + size > __touchstone_largest_file()) return -1;
    do error = __touchstone_allocate(file, (long)from, (long)size); while (error == -4);
    if (!error) return 0;
    /* Some file systems can't allocate ranges: there zeros are written. */
    if (error == -28 || error == -27 || error == -122) return -1;
    for (at = 0; at < sizeof zeros; at++) ((volatile char *)zeros)[at] = 0;
    for (at = 0; at < size; at += sizeof zeros)
        if (__touchstone_pwrite(file, zeros, sizeof zeros, (long)(from + at)) != (long)sizeof zeros) return -1;
    return 0;
}
/* Creates a file in the directory of hits, or in the fallback directory if another user may not write there. */
static int __touchstone_fresh(char *path, unsigned long size, const char *extension) {
    __touchstone_process_t *process = &__touchstone_process_2;
    int place, file = -1;
    for (place = 0; place < 2 && file < 0; place++) {
        const char *directory = place ? process->elsewhere : process->directory;
        char *end = path + size, *to = path;
        long now[2] = {0, 0};
        if (!*directory) continue;
        __touchstone_clock(now);
        to = __touchstone_put(to, end, directory);
        to = __touchstone_put(to, end, "/");
        to = __touchstone_number(to, end, (unsigned long long)__touchstone_getpid());
        to = __touchstone_put(to, end, "-");
        to = __touchstone_number(to, end, (unsigned long long)now[0] * 1000000000ull + (unsigned long long)now[1]);
        to = __touchstone_put(to, end, "-");
        to = __touchstone_number(to, end, process->files++);
        __touchstone_put(to, end, extension);
        file = __touchstone_open(path, 02000302, 0666);
    }
    /* The measuring user must be able to read it, whatever the umask is. The sandbox forbids chmod, and has one user. */
    if (file >= 0 && !__touchstone_getenv("TOUCHSTONE_SANDBOXED")) __touchstone_mode(file, 0666);
    return file;
}
/* Creates an empty file, which reports that hits were lost. */
static void __touchstone_lost(void) {
    char path[1200];
    int file = __touchstone_fresh(path, sizeof path, ".hits");
    if (file >= 0) __touchstone_close(file);
}
/* Creates a hit file; its header is mapped only while it is written. */
static int __touchstone_new_file(void) {
    __touchstone_process_t *process = &__touchstone_process_2;
    int file = __touchstone_fresh(process->path, sizeof process->path, ".hits");
    unsigned char *header;
    if (file < 0) return -1;
    header = __touchstone_room(file, 0, 4096) ? (unsigned char *)0 : (unsigned char *)__touchstone_mmap(0, 4096, 1, file, 0);
    if (!header) {
        /* A partly allocated file is no hit file: it is truncated to an empty one. */
        __touchstone_close(__touchstone_open(process->path, 02001001, 0));
        __touchstone_close(file);
        return -1;
    }
    {
        int line = __touchstone_open("/proc/self/cmdline", 02000000, 0);
        if (line >= 0) {
            if (__touchstone_read(line, header + 528, 1023) < 0) header[528] = 0;
            __touchstone_close(line);
        }
    }
    __touchstone_put((char *)header + 16, (char *)header + 528, process->test);
    *(int *)(header + 8) = __touchstone_getpid();
    __touchstone_put((char *)header, (char *)header + 9, "TSHITS0");
    header[7] = '1';
    __touchstone_munmap(header, 4096);
    process->pid = __touchstone_getpid();
    process->end = 65536;
    process->entries = 0;
    return file;
}
/* Maps the probes of a unit into the hit file: at its end, unless the unit has an offset there. Keeps earlier hits on request. */
static int __touchstone_map(int file, unsigned index, int keep) {
    __touchstone_process_t *process = &__touchstone_process_2;
    volatile unsigned char *probes = process->units[index].probes;
    unsigned size = process->units[index].size, offset = process->units[index].offset, at;
    unsigned table = 4096 + 16 * process->entries;
    unsigned char *header, *pages;
    if (!probes) return 0;
    if (!offset) {
        if (!(table % 4096) && __touchstone_room(file, table, 4096)) return -1;
        offset = process->end;
        if (__touchstone_room(file, offset, size)) return -1;
    }
    if (keep) {
        pages = (unsigned char *)__touchstone_mmap(0, size, 1, file, (long)offset);
        if (!pages) return -1;
        for (at = 0; at < size; at++) if (probes[at]) pages[at] = probes[at];
        __touchstone_munmap(pages, size);
    }
    if (!__touchstone_mmap((void *)probes, size, 17, file, (long)offset)) return -1;
    if (process->units[index].offset) return 0;
    header = (unsigned char *)__touchstone_mmap(0, 65536, 1, file, 0);
    if (!header) return -1;
    *(unsigned long long *)(header + table) = process->units[index].unit;
    *(unsigned *)(header + table + 8) = offset;
    *(unsigned *)(header + table + 12) = size;
    *(volatile unsigned *)(header + 12) = ++process->entries;
    __touchstone_munmap(header, 65536);
    process->units[index].offset = offset;
    process->end = offset + size;
    return 0;
}
/* Creates a new file for all units. */
static void __touchstone_all(int keep) {
    __touchstone_process_t *process = &__touchstone_process_2;
    unsigned index;
    int file = __touchstone_new_file();
    process->failed = file < 0;
    for (index = 0; index < process->count; index++) process->units[index].offset = 0;
    for (index = 0; index < process->count && !process->failed; index++) {
        process->failed = __touchstone_map(file, index, keep) != 0;
        if (process->failed) __touchstone_lost();
    }
    /* Units that could not be mapped must not count for the test before. */
    for (index = 0; index < process->count && process->failed && !keep; index++)
        if (process->units[index].probes && !process->units[index].offset)
            __touchstone_mmap((void *)process->units[index].probes, process->units[index].size, 50, -1, 0);
    if (file >= 0) __touchstone_close(file);
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void __touchstone_register_2(unsigned long long unit, volatile unsigned char *probes, unsigned size, const char *directory,
                             const char *elsewhere) {
    __touchstone_process_t *process = &__touchstone_process_2;
    unsigned index;
    int file;
    if (!process->pid && !process->failed) {
        const char *named = __touchstone_getenv("TOUCHSTONE_HITS"), *test = __touchstone_getenv("TOUCHSTONE_TEST");
        __touchstone_put(process->directory, process->directory + sizeof process->directory, named ? named : directory);
        __touchstone_put(process->elsewhere, process->elsewhere + sizeof process->elsewhere, elsewhere);
        __touchstone_put(process->test, process->test + sizeof process->test, test ? test : "");
    }
    if (process->failed) return;
    /* A library that is loaded again has an entry already. */
    for (index = 0; index < process->count; index++)
        if (!process->units[index].probes && process->units[index].unit == unit && process->units[index].size == size) break;
    if (index == 3840) return;
    if (index == process->count) {
        process->count++;
        process->units[index].unit = unit;
        process->units[index].size = size;
        process->units[index].offset = 0;
    }
    process->units[index].probes = probes;
    /* After a fork the file is shared with the parent: a unit that only the child loads gets a new file. */
    if (process->pid != __touchstone_getpid()) {
        __touchstone_all(1);
        return;
    }
    file = __touchstone_open(process->path, 02000002, 0);
    /* The file can't be opened as another user or in another root directory: the process gets a new one. */
    if (file < 0) {
        __touchstone_all(1);
        return;
    }
    process->failed = __touchstone_map(file, index, 1) != 0;
    if (process->failed) __touchstone_lost();
    __touchstone_close(file);
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void __touchstone_forget_2(volatile unsigned char *probes) {
    unsigned index;
    for (index = 0; index < __touchstone_process_2.count; index++)
        if (__touchstone_process_2.units[index].probes == probes) __touchstone_process_2.units[index].probes = 0;
}
/* Attributes the hits from here on to a test. */
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void touchstone_test_begin(const char *name) {
    __touchstone_process_t *process = &__touchstone_process_2;
    __touchstone_put(process->test, process->test + sizeof process->test, name);
    if (__touchstone_state_test) __touchstone_state_test(name);
    if (process->pid && !process->failed) __touchstone_all(0);
}
