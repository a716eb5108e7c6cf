# 1 "<touchstone>" 3
/* What a unit whose state is followed needs at run time, after probes.c. Events of a process and of what it forks go to one
   mapped file: 4096 bytes of header (8 bytes magic; process id, 32 bits; 4 unused; number of events and most events, 64 bits
   each; at 64, 512 bytes name of the test; at 1024, 1024 bytes command line), then events of three 64-bit words: kind (8 bits),
   stream (16 bits), site (upper 32 bits); two values. The first word is written last. */
typedef struct {
    volatile unsigned long long *header, *events;
    volatile unsigned char *alive;
    unsigned long long most;
    unsigned units;
} __touchstone_trace_t;
extern __attribute__((__weak__)) void __touchstone_f0(void) __asm__("malloc");
extern __attribute__((__weak__)) void __touchstone_f1(void) __asm__("calloc");
extern __attribute__((__weak__)) void __touchstone_f2(void) __asm__("realloc");
extern __attribute__((__weak__)) void __touchstone_f3(void) __asm__("free");
extern __attribute__((__weak__)) void __touchstone_f4(void) __asm__("strdup");
extern int __touchstone_madvise(void *, unsigned long, int) __asm__("madvise");
__attribute__((__weak__, __visibility__("default"))) __touchstone_trace_t __touchstone_trace;
__attribute__((__weak__, __visibility__("default"))) __thread unsigned __touchstone_stream;

__attribute__((__weak__, __noinline__, __visibility__("default"), __no_instrument_function__))
void __touchstone_put_event(unsigned kind, unsigned site, unsigned long long a, unsigned long long b) {
    __touchstone_trace_t *trace = &__touchstone_trace;
    volatile unsigned long long *event = trace->events;
    unsigned long long index;
    if (!event) return;
    index = __atomic_fetch_add(trace->header + 2, 1, 0);
    if (index >= trace->most) {
        /* Nothing is told any more, and that costs little. */
        trace->events = 0;
        return;
    }
    event += 3 * index;
    event[1] = a;
    event[2] = b;
    __atomic_store_n(event, kind | (unsigned long long)__touchstone_stream << 8 | (unsigned long long)site << 32, 3);
}
/* A thread's or a forked process's first event. */
static void __touchstone_new_stream(void) {
    __touchstone_trace_t *trace = &__touchstone_trace;
    unsigned parent = 0;
    if (*trace->alive != 1) parent = __touchstone_stream;
    *trace->alive = 1;
    __touchstone_stream = (unsigned)(__atomic_add_fetch(trace->header + 4, 1, 0) & 0xffff);
    if (!__touchstone_stream) __touchstone_stream = 1;
    __touchstone_put_event(24, 0, (unsigned long long)__touchstone_getpid(), parent);
}
__attribute__((__weak__, __noinline__, __visibility__("default"), __no_instrument_function__))
void __touchstone_ev(unsigned kind, unsigned site, const volatile void *a, unsigned long long b) {
    if (!__touchstone_trace.events) return;
    if (!__touchstone_stream || *__touchstone_trace.alive != 1) __touchstone_new_stream();
    __touchstone_put_event(kind, site, (unsigned long long)(__touchstone_word)a, b);
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void __touchstone_leave(unsigned *site) { __touchstone_ev(15, *site, 0, 0); }
/* The end of a call, and its value. */
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void *__touchstone_pointer(unsigned site, const volatile void *value) {
    __touchstone_ev(12, site, value, 1);
    return (void *)value;
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
unsigned long long __touchstone_integer(unsigned site, unsigned long long value) {
    __touchstone_ev(12, site, 0, 1);
    return value;
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
double __touchstone_double(unsigned site, double value) {
    __touchstone_ev(12, site, 0, 1);
    return value;
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void __touchstone_state_test(const char *name) {
    unsigned long long words[2];
    unsigned at, done = 0;
    if (!__touchstone_trace.events) return;
    do {
        words[0] = words[1] = 0;
        for (at = 0; at < 16; at++) {
            if (!*name) { done = 1; break; }
            words[at / 8] |= (unsigned long long)(unsigned char)*name++ << 8 * (at % 8);
        }
        __touchstone_ev(25, done, (const volatile void *)(__touchstone_word)words[0], words[1]);
    } while (!done);
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
unsigned __touchstone_state_unit(unsigned long long unit) {
    __touchstone_trace_t *trace = &__touchstone_trace;
    __touchstone_process_t *process = &__touchstone_process;
    int saved = *__touchstone_errno();
    if (!trace->events && !process->failed) {
        char path[1200];
        char *end = path + sizeof path, *to = path;
        const char *most = __touchstone_getenv("TOUCHSTONE_STATE_EVENTS");
        long now[2] = {0, 0};
        int file;
        unsigned long size;
        trace->most = 0;
        for (; most && *most >= '0' && *most <= '9'; most++) trace->most = trace->most * 10 + (unsigned)(*most - '0');
        if (!trace->most) trace->most = 16000000;
        __touchstone_clock(0, now);
        to = __touchstone_put(to, end, process->directory);
        to = __touchstone_put(to, end, "/");
        to = __touchstone_number(to, end, (unsigned long long)__touchstone_getpid());
        to = __touchstone_put(to, end, "-");
        to = __touchstone_number(to, end, (unsigned long long)now[0] * 1000000000ull + (unsigned long long)now[1]);
        __touchstone_put(to, end, ".state");
        file = __touchstone_open(path, 02000302, 0666);
        size = 4096 + trace->most * 24;
        if (file >= 0 && __touchstone_truncate(file, (long)size) == 0) {
            unsigned char *pages = (unsigned char *)__touchstone_mmap(0, size, 3, 1, file, 0);
            unsigned char *alive = (unsigned char *)__touchstone_mmap(0, 4096, 3, 34, -1, 0);
            if (pages != (unsigned char *)-1 && alive != (unsigned char *)-1) {
                int line = __touchstone_open("/proc/self/cmdline", 02000000);
                if (line >= 0) {
                    if (__touchstone_read(line, pages + 1024, 1023) < 0) pages[1024] = 0;
                    __touchstone_close(line);
                }
                /* A forked child finds zero here. */
                __touchstone_madvise(alive, 4096, 18);
                *alive = 1;
                trace->alive = alive;
                trace->header = (volatile unsigned long long *)pages;
                *(int *)(pages + 8) = __touchstone_getpid();
                trace->header[3] = trace->most;
                __touchstone_put((char *)pages + 64, (char *)pages + 576, process->test);
                __touchstone_put((char *)pages, (char *)pages + 9, "TSSTATE");
                pages[7] = '1';
                trace->events = trace->header + 512;
                __touchstone_ev(31, 0, (const volatile void *)__touchstone_f0, 0);
                __touchstone_ev(31, 1, (const volatile void *)__touchstone_f1, 0);
                __touchstone_ev(31, 2, (const volatile void *)__touchstone_f2, 0);
                __touchstone_ev(31, 3, (const volatile void *)__touchstone_f3, 0);
                __touchstone_ev(31, 4, (const volatile void *)__touchstone_f4, 0);
            }
        }
        if (file >= 0) __touchstone_close(file);
    }
    *__touchstone_errno() = saved;
    trace->units++;
    __touchstone_ev(23, trace->units << 20, (const volatile void *)(__touchstone_word)unit, 0);
    return trace->units << 20;
}
