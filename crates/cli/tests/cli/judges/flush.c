/* Linked with an instrumented test program: every test runs in a process of its own that ends with _exit or a signal,
 * which no coverage runtime survives by itself. The linker's --wrap=_exit brings the runner's calls here. */
#include <signal.h>

#ifdef __clang__
int __llvm_profile_write_file(void);
static void flush(void) { __llvm_profile_write_file(); }
#else
void __gcov_dump(void);
static void flush(void) { __gcov_dump(); }
#endif

void __real__exit(int status) __attribute__((noreturn));

void __wrap__exit(int status) {
    flush();
    __real__exit(status);
}

/* A test that must go wrong. What it did until then counts. */
static void crashed(int number) {
    signal(number, SIG_DFL);
    flush();
    raise(number);
}

__attribute__((constructor)) static void install(void) {
    static const int numbers[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], crashed);
}
