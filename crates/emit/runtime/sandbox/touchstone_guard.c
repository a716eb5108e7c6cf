/* Touchstone's guard: the part of the sandbox inside of the test program, linked only for the replay.
 *
 * Each test gets its own directory and the strict filter. A forbidden call ends the test and is reported by name. The program's
 * file functions are redirected here by the linker's --wrap: the kernel would refuse writes outside of the directory anyway (or
 * permit reads), but only here the file name is known, and a prediction about such a file is not checkable: the model of the C
 * library only knows files that the program itself created.
 *
 * System calls are made by number, because their library names may be stubs of the test or functions of the program. */
#define _GNU_SOURCE
#include "touchstone_filter.h"
#include "touchstone_test.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#ifndef SYS_memfd_create
#define SYS_memfd_create 0x3fffffff /* none */
#endif

/* The timeout of the program's constructors. */
enum { SECONDS_BEFORE_MAIN = 10 };

static int in_test;
static char scratch[4096];

__attribute__((__format__(__printf__, 1, 2))) static void refuse(const char *format, ...) {
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (in_test) touchstone_skip(text);
    printf("Bail out! before its first test, the program %s\n", text);
    fflush(stdout);
    _exit(1);
}

/* ---- system calls that a filter traps ---- */

static void trapped(int signal, siginfo_t *info, void *context) {
    (void)signal;
    (void)context;
    const char *name = touchstone_denied_name(info->si_syscall);
    if (strcmp(name, "clone") == 0 || strcmp(name, "vfork") == 0) name = "fork";
    refuse("calls `%s`, which the sandbox does not allow", name);
}

static void wake_after(int seconds) {
    struct itimerval timer = {{0, 0}, {seconds, 0}};
    syscall(SYS_setitimer, ITIMER_REAL, &timer, NULL);
}

static void late(int signal) {
    (void)signal;
    refuse("does not come to an end of its constructors within %d s", SECONDS_BEFORE_MAIN);
}

/* As early as possible: constructors of the program under test run later. */
__attribute__((__constructor__(101))) static void begin(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = trapped;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSYS, &action, NULL);
    signal(SIGALRM, late);
    wake_after(SECONDS_BEFORE_MAIN);
    if (getenv("TOUCHSTONE_SCRATCH")) syscall(SYS_getcwd, scratch, sizeof scratch);
}

void touchstone_guard_main(void);
void touchstone_guard_main(void) {
    wake_after(0);
    signal(SIGALRM, SIG_DFL);
}

void touchstone_guard(const char *test);
void touchstone_guard(const char *test) {
    long parent = syscall(SYS_getppid);
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (syscall(SYS_getppid) != parent) _exit(1);
    in_test = 1;
    if (*scratch && syscall(SYS_mkdirat, AT_FDCWD, test, 0700) == 0 && syscall(SYS_chdir, test) == 0)
        syscall(SYS_getcwd, scratch, sizeof scratch);
    int filtered = getenv("TOUCHSTONE_SECCOMP") != NULL;
    unsetenv("TOUCHSTONE_SCRATCH");
    unsetenv("TOUCHSTONE_SECCOMP");
    if (filtered && touchstone_filter(TOUCHSTONE_TEST, (pid_t)syscall(SYS_getpid)) != 0) refuse("can't be kept in");
}

/* ---- files ---- */

/* True if a path points outside of the test's directory lexically; the kernel resolves links. */
static int is_outside(const char *path) {
    size_t length = strlen(scratch);
    int depth = 0;
    if (*path == '/') {
        if (length == 0 || strncmp(path, scratch, length) != 0 || (path[length] != '/' && path[length] != 0)) return 1;
        path += length;
    }
    while (*path) {
        size_t size = 0;
        while (path[size] && path[size] != '/') size++;
        if (size == 2 && path[0] == '.' && path[1] == '.')
            depth--;
        else if (size > 0 && !(size == 1 && *path == '.'))
            depth++;
        if (depth < 0) return 1;
        path += size + (path[size] == '/');
    }
    return 0;
}

static int is_device(const char *path) { return strcmp(path, "/dev/null") == 0 || strcmp(path, "/dev/full") == 0; }

static int is_there(const char *path) {
    int before = errno, there = syscall(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
    errno = before;
    return there;
}

/* Handles a call that modifies a path: its result is predictable only if nothing exists there. */
static void changes(const char *function, const char *path) {
    if (in_test && path && is_outside(path) && is_there(path))
        refuse("calls `%s` on `%.200s`, which the sandbox does not allow", function, path);
}

static void writes(const char *function, const char *path) {
    if (in_test && path && is_outside(path) && !is_device(path))
        refuse("calls `%s` on `%.200s` for writing, which the sandbox does not allow", function, path);
}

/* A file that the program did not create, or that cannot be created in an empty directory. */
static void opened(const char *function, const char *path, int for_writing, int succeeded) {
    if (!in_test || !path || is_device(path)) return;
    if (for_writing && !succeeded)
        refuse("calls `%s` on `%.200s`, which can't be made in the empty directory of a test", function, path);
    if (!for_writing && succeeded && is_outside(path))
        refuse("calls `%s` on `%.200s`, a file that is not the test's own", function, path);
}

static int mode_writes(const char *mode) { return mode && (*mode != 'r' || strchr(mode, '+')); }

/* Weak, because only wrapped functions have a real counterpart. */
#define REAL_OF(type, name, ...) extern type __real_##name(__VA_ARGS__) __attribute__((__weak__)); \
    type __wrap_##name(__VA_ARGS__);

#define OPENER(name)                                                                  \
    REAL_OF(FILE *, name, const char *path, const char *mode)                         \
    FILE *__wrap_##name(const char *path, const char *mode) {                         \
        int for_writing = mode_writes(mode) && mode[0] != 'r';                        \
        if (mode_writes(mode)) writes(#name, path);                                   \
        FILE *file = __real_##name(path, mode);                                       \
        opened(#name, path, for_writing && strchr("wa", *mode), file != NULL);        \
        return file;                                                                  \
    }
OPENER(fopen)
OPENER(fopen64)

#define REOPENER(name)                                                                \
    REAL_OF(FILE *, name, const char *path, const char *mode, FILE *old)              \
    FILE *__wrap_##name(const char *path, const char *mode, FILE *old) {              \
        if (mode_writes(mode)) writes(#name, path);                                   \
        FILE *file = __real_##name(path, mode, old);                                  \
        if (mode) opened(#name, path, *mode == 'w' || *mode == 'a', file != NULL);    \
        return file;                                                                  \
    }
REOPENER(freopen)
REOPENER(freopen64)

#define CHANGER(name)                        \
    REAL_OF(int, name, const char *path)     \
    int __wrap_##name(const char *path) {    \
        changes(#name, path);                \
        return __real_##name(path);          \
    }
CHANGER(remove)
CHANGER(unlink)
CHANGER(rmdir)

REAL_OF(int, rename, const char *from, const char *to)
int __wrap_rename(const char *from, const char *to) {
    changes("rename", from);
    if (from && is_there(from)) writes("rename", to);
    return __real_rename(from, to);
}

REAL_OF(int, mkdir, const char *path, mode_t mode)
int __wrap_mkdir(const char *path, mode_t mode) {
    writes("mkdir", path);
    return __real_mkdir(path, mode);
}

#define LOW_OPENER(name)                                                                              \
    extern int __real_##name(const char *path, int flags, ...) __attribute__((__weak__));             \
    int __wrap_##name(const char *path, int flags, ...);                                              \
    int __wrap_##name(const char *path, int flags, ...) {                                             \
        va_list arguments;                                                                            \
        va_start(arguments, flags);                                                                   \
        int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;                                      \
        va_end(arguments);                                                                            \
        if ((flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC)) writes(#name, path);      \
        return __real_##name(path, flags, mode);                                                      \
    }
LOW_OPENER(open)
LOW_OPENER(open64)

/* The library's tmpfile ignores TMPDIR and uses /tmp; a file in memory is anonymous as well. */
#define NAMELESS(name)                                                                \
    REAL_OF(FILE *, name, void)                                                       \
    FILE *__wrap_##name(void) {                                                       \
        int file = (int)syscall(SYS_memfd_create, "tmpfile", 0);                      \
        if (file < 0) return __real_##name();                                         \
        return fdopen(file, "w+");                                                    \
    }
NAMELESS(tmpfile)
NAMELESS(tmpfile64)
