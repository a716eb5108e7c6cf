/* The runtime of state coverage, after probes.c. The events of a process and of its forked children are in one mapped file:
   4096 bytes of header (8 bytes magic; process id, 32 bits; 4 unused; number of reserved words and maximum number of words,
   64 bits each; number of streams, 64 bits; at 64, 512 bytes name of the test; at 1024, 1024 bytes command line),
   then 64-bit words. An event is one word: kind (8 bits), stream (16 bits), size (8 bits), site (32 bits). Its value and its
   size, if they do not fit, are in the words before it: 254 (8 bits) and the value (56 bits); 255 and the size; 253, bits 56
   to 63 of the value and of the size (8 bits each). A read in the first stream is one word: 128, size (8 bits), address (48).
   The word of the event is written last: without it the words before it have no meaning. Words that are zero are skipped.
   While there is one stream it reserves blocks of words, and takes words of its block without a locked instruction.
   The file grows as it is filled, and mapped pages are accessed only within its size. */
typedef struct {
    volatile unsigned long long *header, *words;
    volatile unsigned char *alive;
    unsigned long long most, ready;
    /* The next word of the block of the only stream, and the end of the block. */
    volatile unsigned long next, limit;
    unsigned units;
    char path[1200];
} __touchstone_trace_t;
extern __attribute__((__weak__)) void __touchstone_f0(void) __asm__("malloc");
extern __attribute__((__weak__)) void __touchstone_f1(void) __asm__("calloc");
extern __attribute__((__weak__)) void __touchstone_f2(void) __asm__("realloc");
extern __attribute__((__weak__)) void __touchstone_f3(void) __asm__("free");
extern __attribute__((__weak__)) void __touchstone_f4(void) __asm__("strdup");
__attribute__((__weak__, __visibility__("default"))) __touchstone_trace_t __touchstone_trace_2;
__attribute__((__weak__, __visibility__("default"))) __thread unsigned __touchstone_stream;
/* Nonzero while events are recorded: units read it before each event, and uninstrumented copies run while it is 0. */
__attribute__((__weak__, __visibility__("default"))) unsigned char __touchstone_told;

/* Adds to a counter of this thread, in one instruction, because signal handlers record events, too. */
static unsigned long __touchstone_take(volatile unsigned long *counter, unsigned long count) {
#if defined __x86_64__ && !defined __ILP32__
    __asm__ volatile("xaddq %0, %1" : "+r"(count), "+m"(*counter) : : "cc");
    return count;
#else
    return __atomic_fetch_add(counter, count, 0);
#endif
}
/* Grows the file for the words of a range. If that fails, recording ends, and the header shows how many words were dropped.
   The steps grow with the file: a short trace is a small file. */
static int __touchstone_more(unsigned long long from, unsigned long long count) {
    __touchstone_trace_t *trace = &__touchstone_trace_2;
    unsigned long long ready = trace->ready, step = ready < 2048 ? 2048 : ready > 131072 ? 131072 : ready;
    unsigned long long wanted = (from + count + step - 1) / step * step;
    int file = -1, failed = from + count > trace->most;
    if (wanted > trace->most) wanted = trace->most;
    if (!failed) {
        file = __touchstone_open(trace->path, 02000002, 0);
        failed = file < 0 || __touchstone_room(file, 4096 + ready * 8, (wanted - ready) * 8);
    }
    if (file >= 0) __touchstone_close(file);
    if (failed) {
        trace->words = 0;
        trace->limit = 0;
        __touchstone_told = 0;
        if (trace->header[3] > from) trace->header[3] = from;
        return -1;
    }
    /* One call instead of a page fault for each page; older kernels refuse it. */
    __touchstone_madvise((unsigned char *)trace->header + 4096 + ready / 512 * 4096, (wanted - ready / 512 * 512) * 8, 23);
    trace->ready = wanted;
    return 0;
}
static void __touchstone_put_event(unsigned kind, unsigned site, unsigned long long a, unsigned long long b) {
    __touchstone_trace_t *trace = &__touchstone_trace_2;
    volatile unsigned long long *words = trace->words;
    unsigned high = (unsigned)((a >> 56) | (b >> 56) << 8);
    unsigned long count = 1 + !!(a << 8) + (b >= 255) + !!high;
    unsigned long long index;
    if (!words) return;
    if (trace->header[4] == 1) {
        index = __touchstone_take(&trace->next, count);
        if (index + count > trace->limit) {
            unsigned long long block = trace->header[2] + 512 <= trace->most ? 512 : count;
            /* No block while its limits change: a signal handler then reserves one of its own. */
            trace->limit = 0;
            index = __atomic_fetch_add(trace->header + 2, block, 0);
            if (index + block > trace->ready && __touchstone_more(index, block)) return;
            trace->next = (unsigned long)(index + count);
            trace->limit = (unsigned long)(index + block);
        }
    } else {
        index = __atomic_fetch_add(trace->header + 2, count, 0);
        if (__builtin_expect(index + count > trace->ready, 0) && __touchstone_more(index, count)) return;
    }
    words += index;
    if (high) *words++ = 253 | (unsigned long long)high << 8;
    if (a << 8) *words++ = 254 | a << 8;
    if (b >= 255) {
        *words++ = 255 | b << 8;
        b = 255;
    }
    __atomic_store_n(words, kind | (unsigned long long)__touchstone_stream << 8 | b << 24 | (unsigned long long)site << 32, 3);
}
/* Begins a stream with the first event of a thread or of a forked process. */
static void __touchstone_new_stream(void) {
    __touchstone_trace_t *trace = &__touchstone_trace_2;
    unsigned parent = 0;
    if (*trace->alive != 1) parent = __touchstone_stream;
    *trace->alive = 1;
    __touchstone_stream = (unsigned)(__atomic_add_fetch(trace->header + 4, 1, 0) & 0xffff);
    if (!__touchstone_stream) __touchstone_stream = 1;
    __touchstone_put_event(24, 0, (unsigned long long)__touchstone_getpid(), parent);
}
/* True in the first stream as long as there is no other. */
#define __touchstone_sole(trace) \
    (__builtin_expect(__touchstone_stream == 1 && *(trace)->alive == 1 && (trace)->header[4] == 1, 1))
__attribute__((__weak__, __noinline__, __visibility__("default"), __no_instrument_function__))
void __touchstone_ev(unsigned kind, unsigned site, const volatile void *a, unsigned long long b) {
    if (!__touchstone_trace_2.words) return;
    if (!__touchstone_stream || *__touchstone_trace_2.alive != 1) __touchstone_new_stream();
    __touchstone_put_event(kind, site, (unsigned long long)(__touchstone_word)a, b);
}
/* The common events: a read, an event with a site only, and an event with a site, an address and a size. */
__attribute__((__weak__, __noinline__, __visibility__("default"), __no_instrument_function__))
void __touchstone_get(const volatile void *a, unsigned long long b) {
    __touchstone_trace_t *trace = &__touchstone_trace_2;
    unsigned long long address = (unsigned long long)(__touchstone_word)a;
    if (__touchstone_sole(trace) && !(address >> 48) && b < 256) {
        unsigned long index = __touchstone_take(&trace->next, 1);
        if (__builtin_expect(index < trace->limit, 1)) {
            trace->header[512 + index] = 128 | b << 8 | address << 16;
            return;
        }
    }
    __touchstone_ev(1, 0, a, b);
}
__attribute__((__weak__, __noinline__, __visibility__("default"), __no_instrument_function__))
void __touchstone_mark(unsigned kind, unsigned site) {
    __touchstone_trace_t *trace = &__touchstone_trace_2;
    if (__touchstone_sole(trace)) {
        unsigned long index = __touchstone_take(&trace->next, 1);
        if (__builtin_expect(index < trace->limit, 1)) {
            trace->header[512 + index] = kind | 1 << 8 | (unsigned long long)site << 32;
            return;
        }
    }
    __touchstone_ev(kind, site, 0, 0);
}
__attribute__((__weak__, __noinline__, __visibility__("default"), __no_instrument_function__))
void __touchstone_at(unsigned kind, unsigned site, const volatile void *a, unsigned long long b) {
    __touchstone_trace_t *trace = &__touchstone_trace_2;
    unsigned long long address = (unsigned long long)(__touchstone_word)a;
    if (__touchstone_sole(trace) && !(address >> 56) && b < 255) {
        unsigned long index = __touchstone_take(&trace->next, 2);
        if (__builtin_expect(index + 2 <= trace->limit, 1)) {
            volatile unsigned long long *words = trace->header + 512 + index;
            words[0] = 254 | address << 8;
            __atomic_store_n(words + 1, kind | 1 << 8 | b << 24 | (unsigned long long)site << 32, 3);
            return;
        }
    }
    __touchstone_ev(kind, site, a, b);
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void __touchstone_leave(unsigned *site) { __touchstone_ev(15, *site, 0, 0); }
/* Record the end of a call, and return its value. */
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
/* Observes an expression at the end of a test: an object (0), a string in an array (1), or the string that a pointer points to
   (2). A pointer may be invalid: the kernel reads the pointee, and reports that. A string ends with its first zero. */
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void __touchstone_see(unsigned site, const volatile void *at, unsigned long long size, unsigned text) {
    unsigned char bytes[64];
    unsigned long long word, done;
    if (!__touchstone_trace_2.words || !at) return;
    if (text == 2) {
        const volatile void *behind;
        if (__touchstone_peek(&behind, at, sizeof behind) != (long)sizeof behind || !behind) return;
        at = behind;
        size = sizeof bytes;
    }
    if (text && size > sizeof bytes) size = sizeof bytes;
    if (size > sizeof bytes) return;
    if (__touchstone_peek(bytes, at, size) != (long)size) {
        /* Only strings may end early. */
        for (done = 0; text && done < size; done++) {
            if (__touchstone_peek(bytes + done, (const volatile char *)at + done, 1) != 1) return;
            if (!bytes[done]) break;
        }
        if (!text || done == size) return;
    }
    for (done = 0; text && done < size && bytes[done]; done++) {}
    if (text && done == size) return;
    if (text) size = done + 1;
    __touchstone_ev(32, site, at, size);
    for (done = 0; done < size; done += 8) {
        unsigned at_most;
        for (word = 0, at_most = 0; at_most < 8 && done + at_most < size; at_most++)
            word |= (unsigned long long)bytes[done + at_most] << 8 * at_most;
        __touchstone_put_event(33, site, word, 0);
    }
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
void __touchstone_state_test(const char *name) {
    unsigned long long words[2];
    unsigned at, done = 0;
    if (!__touchstone_trace_2.words) return;
    do {
        words[0] = words[1] = 0;
        for (at = 0; at < 16; at++) {
            if (!*name) { done = 1; break; }
            words[at / 8] |= (unsigned long long)(unsigned char)*name++ << 8 * (at % 8);
        }
        __touchstone_ev(25, done, (const volatile void *)(__touchstone_word)words[0], words[1]);
    } while (!done);
}
static void __touchstone_new_trace(void) {
    __touchstone_trace_t *trace = &__touchstone_trace_2;
    const char *most = __touchstone_getenv("TOUCHSTONE_STATE_EVENTS");
    unsigned char *pages, *alive;
    int file, line;
    trace->most = trace->ready = 0;
    for (; most && *most >= '0' && *most <= '9'; most++) trace->most = trace->most * 10 + (unsigned)(*most - '0');
    if (!trace->most) trace->most = 4194304;
    /* An event takes about 10 bytes. */
    trace->most += trace->most / 3;
    file = __touchstone_fresh(trace->path, sizeof trace->path, ".state");
    if (file < 0) return;
    if (__touchstone_room(file, 0, 4096)) {
        __touchstone_close(file);
        return;
    }
    pages = (unsigned char *)__touchstone_mmap(0, 4096 + trace->most * 8, 1, file, 0);
    alive = (unsigned char *)__touchstone_mmap(0, 4096, 34, -1, 0);
    __touchstone_close(file);
    if (!pages || !alive) return;
    line = __touchstone_open("/proc/self/cmdline", 02000000, 0);
    if (line >= 0) {
        if (__touchstone_read(line, pages + 1024, 1023) < 0) pages[1024] = 0;
        __touchstone_close(line);
    }
    /* A forked child reads zero here. */
    __touchstone_madvise(alive, 4096, 18);
    *alive = 1;
    trace->alive = alive;
    trace->header = (volatile unsigned long long *)pages;
    *(int *)(pages + 8) = __touchstone_getpid();
    trace->header[3] = trace->most;
    __touchstone_put((char *)pages + 64, (char *)pages + 576, __touchstone_process_2.test);
    __touchstone_put((char *)pages, (char *)pages + 9, "TSSTATE");
    pages[7] = '4';
    trace->words = trace->header + 512;
    __touchstone_told = 1;
    __touchstone_ev(31, 0, (const volatile void *)__touchstone_f0, 0);
    __touchstone_ev(31, 1, (const volatile void *)__touchstone_f1, 0);
    __touchstone_ev(31, 2, (const volatile void *)__touchstone_f2, 0);
    __touchstone_ev(31, 3, (const volatile void *)__touchstone_f3, 0);
    __touchstone_ev(31, 4, (const volatile void *)__touchstone_f4, 0);
}
__attribute__((__weak__, __visibility__("default"), __no_instrument_function__))
unsigned __touchstone_state_unit(unsigned long long unit) {
    __touchstone_trace_t *trace = &__touchstone_trace_2;
    if (!trace->header && !__touchstone_process_2.failed) __touchstone_new_trace();
    trace->units++;
    __touchstone_ev(23, trace->units << 20, (const volatile void *)(__touchstone_word)unit, 0);
    return trace->units << 20;
}
