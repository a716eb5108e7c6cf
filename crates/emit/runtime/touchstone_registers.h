/* Device registers: memory at addresses that are integer constants of the program.
 *
 *     REGISTERS();                               enables device registers
 *     READS(0x40012400, unsigned int, 2);        the result of the next read of this register
 *
 * A page of registers is mapped at the program's first access and kept inaccessible, so that every access faults. The handler
 * provides the next result if it is for the address, makes the page accessible for a single step, and protects it again. Each
 * such test needs its own process.
 *
 * The header of the test framework must be included before. This header declares nothing of the library, so that no name of
 * the program can clash with it: it makes system calls directly.
 */
#ifndef TOUCHSTONE_REGISTERS_H
#define TOUCHSTONE_REGISTERS_H

#undef REGISTERS
#undef READS

#if defined(TOUCHSTONE_TEST_H)
#define TOUCHSTONE_NO_REGISTERS(why) touchstone_skip(why)
#elif defined(TOUCHSTONE_GTEST_H)
#define TOUCHSTONE_NO_REGISTERS(why) GTEST_SKIP(why)
#elif defined(TEST_IGNORE_MESSAGE)
#define TOUCHSTONE_NO_REGISTERS(why) TEST_IGNORE_MESSAGE(why)
#else
#define TOUCHSTONE_NO_REGISTERS(why) skip()
#endif

#if defined(__x86_64__) && defined(__linux__)
/* These functions run inside of a faulting access, which no sanitizer must check. */
#define TOUCHSTONE_PLAIN __attribute__((__unused__, __no_sanitize_address__))
#define TOUCHSTONE_PAGE 4096ul
#define TOUCHSTONE_MOST_PAGES 64
#define TOUCHSTONE_MOST_READS 4096

/* Constants of the kernel; numbers and layouts are those of Linux on x86-64. */
enum {
    TOUCHSTONE_MMAP = 9,
    TOUCHSTONE_MPROTECT = 10,
    TOUCHSTONE_SIGACTION = 13,
    TOUCHSTONE_SIGTRAP = 5,
    TOUCHSTONE_SIGSEGV = 11,
    TOUCHSTONE_READ_WRITE = 3,
    TOUCHSTONE_PRIVATE_ANONYMOUS_FIXED_NOREPLACE = 0x100022,
    TOUCHSTONE_SIGINFO_RESTORER_NODEFER = 0x44000004,
    /* Words of a signal's context: the flags register, and the kind of a fault. */
    TOUCHSTONE_FLAGS = 22,
    TOUCHSTONE_FAULT = 24,
    TOUCHSTONE_TRAP_FLAG = 0x100,
    TOUCHSTONE_FAULT_IS_WRITE = 2
};
struct touchstone_action {
    void (*handler)(int, void *, void *);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

static struct {
    unsigned long address;
    unsigned size;
    unsigned char bytes[8];
} touchstone_reads[TOUCHSTONE_MOST_READS];
static unsigned touchstone_reads_given, touchstone_reads_taken;
static unsigned long touchstone_pages[TOUCHSTONE_MOST_PAGES];
static unsigned touchstone_page_count;
static struct touchstone_action touchstone_before_registers;

TOUCHSTONE_PLAIN static long touchstone_system(long number, unsigned long a, unsigned long b, unsigned long c,
                                                          unsigned long d) {
    long result;
    register unsigned long fourth __asm__("r10") = d;
    register unsigned long fifth __asm__("r8") = ~0ul;
    register unsigned long sixth __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

/* Returns from a signal handler. */
void touchstone_signal_ends(void);
__asm__(".pushsection .text\n.weak touchstone_signal_ends\n.type touchstone_signal_ends, @function\n"
        "touchstone_signal_ends: mov $15, %eax\nsyscall\n.popsection");

TOUCHSTONE_PLAIN static int touchstone_open_page(unsigned long page) {
    unsigned i;
    for (i = 0; i < touchstone_page_count; i++)
        if (touchstone_pages[i] == page)
            return touchstone_system(TOUCHSTONE_MPROTECT, page, TOUCHSTONE_PAGE, TOUCHSTONE_READ_WRITE, 0) == 0;
    if (touchstone_page_count == TOUCHSTONE_MOST_PAGES) return 0;
    if (touchstone_system(TOUCHSTONE_MMAP, page, TOUCHSTONE_PAGE, TOUCHSTONE_READ_WRITE,
                          TOUCHSTONE_PRIVATE_ANONYMOUS_FIXED_NOREPLACE) != (long)page)
        return 0;
    touchstone_pages[touchstone_page_count++] = page;
    return 1;
}

TOUCHSTONE_PLAIN static void touchstone_register_access(int number, void *info, void *context) {
    unsigned long *words = (unsigned long *)context;
    unsigned long at = ((unsigned long *)info)[2];
    if (at < 0x10000 || at >> 32 || !touchstone_open_page(at & ~(TOUCHSTONE_PAGE - 1))) {
        /* Another fault: it is raised again for the previous handler. */
        touchstone_system(TOUCHSTONE_SIGACTION, (unsigned long)number, (unsigned long)&touchstone_before_registers, 0, 8);
        return;
    }
    if (!(words[TOUCHSTONE_FAULT] & TOUCHSTONE_FAULT_IS_WRITE) && touchstone_reads_taken < touchstone_reads_given) {
        unsigned long address = touchstone_reads[touchstone_reads_taken].address;
        unsigned i, size = touchstone_reads[touchstone_reads_taken].size;
        if (at >= address && at < address + size && touchstone_open_page((address + size - 1) & ~(TOUCHSTONE_PAGE - 1))) {
            for (i = 0; i < size; i++)
                ((volatile unsigned char *)address)[i] = touchstone_reads[touchstone_reads_taken].bytes[i];
            touchstone_reads_taken++;
        }
    }
    words[TOUCHSTONE_FLAGS] |= TOUCHSTONE_TRAP_FLAG;
}

TOUCHSTONE_PLAIN static void touchstone_after_access(int number, void *info, void *context) {
    unsigned i;
    (void)number;
    (void)info;
    for (i = 0; i < touchstone_page_count; i++)
        touchstone_system(TOUCHSTONE_MPROTECT, touchstone_pages[i], TOUCHSTONE_PAGE, 0, 0);
    ((unsigned long *)context)[TOUCHSTONE_FLAGS] &= ~(unsigned long)TOUCHSTONE_TRAP_FLAG;
}

TOUCHSTONE_PLAIN static void touchstone_registers(void) {
    struct touchstone_action action = {touchstone_after_access, TOUCHSTONE_SIGINFO_RESTORER_NODEFER,
                                       touchstone_signal_ends, 0};
    touchstone_system(TOUCHSTONE_SIGACTION, TOUCHSTONE_SIGTRAP, (unsigned long)&action, 0, 8);
    action.handler = touchstone_register_access;
    touchstone_system(TOUCHSTONE_SIGACTION, TOUCHSTONE_SIGSEGV, (unsigned long)&action,
                      (unsigned long)&touchstone_before_registers, 8);
}

TOUCHSTONE_PLAIN static int touchstone_add_read(unsigned long address, const void *bytes, unsigned size) {
    if (touchstone_reads_given == TOUCHSTONE_MOST_READS || size > 8) return 0;
    touchstone_reads[touchstone_reads_given].address = address;
    touchstone_reads[touchstone_reads_given].size = size;
    __builtin_memcpy(touchstone_reads[touchstone_reads_given++].bytes, bytes, size);
    return 1;
}

#define REGISTERS() touchstone_registers()
#define READS(address, type, value)                                                   \
    do {                                                                              \
        const type touchstone_value = value;                                          \
        if (!touchstone_add_read(address, &touchstone_value, sizeof(type)))           \
            TOUCHSTONE_NO_REGISTERS("too many reads of registers");                   \
    } while (0)
#else
#define REGISTERS() TOUCHSTONE_NO_REGISTERS("registers need x86-64 and Linux")
#define READS(address, type, value) ((void)0)
#endif
#endif
