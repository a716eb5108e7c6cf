/* Touchstone's test harness: the runner. Plain C11 and POSIX.
 *
 *     ./tests [--seconds N] [--memory MIB] [--total N] [--list] [NAME...]
 *
 * runs all tests, or those named, each in its own process, and prints TAP, one line per test:
 *
 *     ok 3 - max3_3
 *     not ok 4 - max3_4: result: expected 5, got 6
 *     ok 5 - max3_5 # SKIP out of bounds at max3.c:12 needs a build with -fsanitize=address
 *
 * Lines that begin with # belong to the preceding test: further failures, the end of the process, and its standard error.
 * The exit status is 0 if every test passed, 1 if not, 2 for a usage error.
 *
 * The child reports to the parent through a pipe, as records of a kind byte, a length and bytes. The parent gives the verdict,
 * because it also observes the end of the child; so a crash in the middle loses nothing.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "touchstone_test.h"

/* The program under test may define functions with these names; glibc also provides them under reserved names. */
#ifdef __GLIBC__
#define LIBRARY(name) extern __typeof__(name) library_##name __asm__("__" #name)
LIBRARY(close);
LIBRARY(dup2);
LIBRARY(fork);
LIBRARY(open);
LIBRARY(pipe);
LIBRARY(poll);
LIBRARY(read);
LIBRARY(waitpid);
LIBRARY(write);
#define close library_close
#define dup2 library_dup2
#define fork library_fork
#define open library_open
#define pipe library_pipe
#define poll library_poll
#define read library_read
#define waitpid library_waitpid
#define write library_write
#endif

/* ---- records of a child ---- */

enum record {
    RECORD_FAILURE = 'F',  /* text */
    RECORD_REJECTED = 'R', /* nothing */
    RECORD_SKIP = 'S',     /* text */
    RECORD_ERROR = 'E',    /* text: the expected error and its location; first byte '1' in a sanitized build */
    RECORD_EXIT = 'X',     /* the status as int */
    RECORD_OUTPUT = 'O',   /* the bytes that must have been written */
    RECORD_ANY = 'A',      /* nothing: any output is accepted */
    RECORD_DONE = 'D'      /* nothing: the test ran to completion */
};

static int record_fd = -1;

/* Defined only in a build with gcc --coverage. */
extern void __gcov_dump(void) __attribute__((weak));
extern void __gcov_exit(void) __attribute__((weak));

/* Ends a child without destructors and functions of atexit, which belong to the parent. */
__attribute__((noreturn)) static void end_child(int status) {
    if (__gcov_dump)
        __gcov_dump();
    else if (__gcov_exit)
        __gcov_exit();
    _exit(status);
}

static void send_bytes(const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(record_fd, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        at += written;
        size -= (size_t)written;
    }
}

static void send_record(enum record kind, const void *bytes, size_t size) {
    unsigned char head[5];
    uint32_t length = (uint32_t)size;
    head[0] = (unsigned char)kind;
    memcpy(head + 1, &length, 4);
    send_bytes(head, sizeof head);
    send_bytes(bytes, size);
}

__attribute__((format(printf, 2, 3))) static void send_text(enum record kind, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0) length = 0;
    if ((size_t)length >= sizeof text) length = (int)sizeof text - 1;
    send_record(kind, text, (size_t)length);
}

/* ---- functions that tests call ---- */

static char program_name[] = "program";
char *touchstone_arguments[] = {program_name, NULL};

void touchstone_skip(const char *reason) {
    send_text(RECORD_SKIP, "%s", reason);
    end_child(0);
}

/* ---- runs that hang ---- */

static void has_hung(int number) {
    (void)number;
    send_record(RECORD_DONE, "", 0);
    end_child(0);
}

void touchstone_expect_hang(void) {
    struct itimerval tenth = {{0, 0}, {0, 100000}};
    signal(SIGVTALRM, has_hung);
    setitimer(ITIMER_VIRTUAL, &tenth, NULL);
}

void touchstone_fail(const char *why) { send_text(RECORD_FAILURE, "%s", why); }

void touchstone_copy(void *to, const void *from, size_t size) { memcpy(to, from, size); }

void touchstone_check_int(long long expected, long long actual, const char *what) {
    if (expected != actual) send_text(RECORD_FAILURE, "%s: expected %lld, got %lld", what, expected, actual);
}

void touchstone_check_uint(unsigned long long expected, unsigned long long actual, const char *what) {
    if (expected != actual) send_text(RECORD_FAILURE, "%s: expected %llu, got %llu", what, expected, actual);
}

void touchstone_check_float(double expected, double actual, const char *what) {
    if (expected != expected && actual != actual) return;
    if (memcmp(&expected, &actual, sizeof expected) != 0)
        send_text(RECORD_FAILURE, "%s: expected %.17g, got %.17g", what, expected, actual);
}

void touchstone_check_ptr(const void *expected, const void *actual, const char *where, const char *what) {
    if (expected == actual) return;
    send_text(RECORD_FAILURE, "%s: expected %s, got %s", what, where, actual ? "another address" : "NULL");
}

void touchstone_check_not_null(const void *actual, const char *what) {
    if (!actual) send_text(RECORD_FAILURE, "%s: expected an address, got NULL", what);
}

void touchstone_check_string(const char *expected, const char *actual, const char *what) {
    if (!actual)
        send_text(RECORD_FAILURE, "%s: expected \"%s\", got NULL", what, expected);
    else if (strcmp(expected, actual) != 0)
        send_text(RECORD_FAILURE, "%s: expected \"%s\", got \"%.200s\"", what, expected, actual);
}

static unsigned long long read_element(const unsigned char *at, int element) {
    unsigned size = (unsigned)(element < 0 ? -element : element);
    unsigned long long value = 0;
    for (unsigned i = 0; i < size && i < 8; i++) value |= (unsigned long long)at[i] << (8 * i);
    if (element < 0 && size < 8 && (value >> (8 * size - 1)) != 0) value |= ~0ULL << (8 * size);
    return value;
}

void touchstone_check_same(const void *before, const void *now, size_t size, const char *what) {
    const unsigned char *old = before, *have = now;
    for (size_t at = 0; at < size; at++) {
        if (old[at] == have[at]) continue;
        send_text(RECORD_FAILURE, "%s, byte %zu, which must not change: expected %u, got %u", what, at, old[at], have[at]);
        return;
    }
}

void touchstone_check_array(const void *expected, const void *actual, size_t size, int element, const char *what) {
    const unsigned char *want = expected, *have = actual;
    size_t step = (size_t)(element < 0 ? -element : element);
    if (memcmp(want, have, size) == 0) return;
    for (size_t at = 0; at + step <= size; at += step) {
        if (memcmp(want + at, have + at, step) == 0) continue;
        unsigned long long wanted = read_element(want + at, element), got = read_element(have + at, element);
        if (element < 0)
            send_text(RECORD_FAILURE, "%s: element %zu: expected %lld, got %lld", what, at / step, (long long)wanted, (long long)got);
        else
            send_text(RECORD_FAILURE, "%s: element %zu: expected %llu, got %llu", what, at / step, wanted, got);
        return;
    }
}

void touchstone_check_oracle(int accepted) {
    if (!accepted) send_record(RECORD_REJECTED, "", 0);
}

void touchstone_expect_error(const char *kind, const char *file, int line, int sanitized) {
    send_text(RECORD_ERROR, "%d%s at %s:%d", sanitized, kind, file, line);
}

void touchstone_expect_exit(int status) { send_record(RECORD_EXIT, &status, sizeof status); }

void touchstone_expect_output(const char *bytes, size_t size) { send_record(RECORD_OUTPUT, bytes, size); }

void touchstone_any_output(void) { send_record(RECORD_ANY, "", 0); }

void touchstone_exit(int status) { exit(status); }

/* ---- inputs of whole programs, and the functions that request them ----
 *
 * Weak, so that definitions of the program take precedence. */

struct input {
    const char *name;
    void *to; /* for a change outside of the stub's arguments */
    size_t size;
    struct input *next;
    unsigned char bytes[];
};

static struct input *first_input, **last_input = &first_input;
static unsigned asked;

void touchstone_change(const char *name, void *to, const void *bytes, size_t size) {
    struct input *input = malloc(sizeof *input + size);
    if (!input) end_child(1);
    input->name = name;
    input->to = to;
    input->size = size;
    input->next = NULL;
    if (size) memcpy(input->bytes, bytes, size);
    *last_input = input;
    last_input = &input->next;
}

void touchstone_input(const char *name, const unsigned char *bytes, size_t size) {
    touchstone_change(name, NULL, bytes, size);
}

static struct input *take_input(void) {
    struct input *input = first_input;
    first_input = input->next;
    if (!first_input) last_input = &first_input;
    return input;
}

/* Checks that every input was requested, and begins the next test without inputs. */
static void check_inputs(void) {
    if (first_input)
        send_text(RECORD_FAILURE, "after input %u: the program didn't ask for `%s`", asked, first_input->name);
    while (first_input) free(take_input());
    asked = 0;
}

void touchstone_program_returns(int expected, int result) {
    if (expected != (result & 255))
        send_text(RECORD_FAILURE, "exit status: expected %d, got %d", expected, result & 255);
    check_inputs();
}

void touchstone_written(void *to, const char *name) {
    if (first_input && !first_input->to && strcmp(first_input->name, name) == 0) {
        struct input *input = take_input();
        if (to && input->size) memcpy(to, input->bytes, input->size);
        free(input);
    }
}

void touchstone_changed(const char *name) {
    while (first_input && first_input->to && strcmp(first_input->name, name) == 0) {
        struct input *input = take_input();
        memcpy(input->to, input->bytes, input->size);
        free(input);
    }
}

void touchstone_answer(void *to, size_t size, const char *name) {
    struct input *input = first_input;
    asked++;
    if (!input) {
        send_text(RECORD_FAILURE, "input %u: the program asks for `%s`, the test has no more inputs", asked, name ? name : "");
        end_child(1);
    }
    if (input->size != size) {
        send_text(RECORD_FAILURE, "input %u: the program asks for %zu bytes of `%s`, the test has %zu bytes of `%s`", asked,
                  size, name ? name : "", input->size, input->name);
        end_child(1);
    }
    memcpy(to, input->bytes, size);
    free(take_input());
}

void touchstone_standard_input(const char *bytes, size_t size) {
    FILE *file = tmpfile();
    if (!file || fwrite(bytes, 1, size, file) != size || fflush(file) != 0 || lseek(fileno(file), 0, SEEK_SET) != 0 ||
        dup2(fileno(file), 0) < 0) {
        send_text(RECORD_FAILURE, "standard input can't be made: %s", strerror(errno));
        end_child(1);
    }
}

void touchstone_environment(const char *name, const char *text) {
    if (text)
        setenv(name, text, 1);
    else
        unsetenv(name);
}

static void assume(int holds) {
    if (holds) return;
    send_text(RECORD_FAILURE, "an assumption of the program doesn't hold for these inputs");
    end_child(1);
}

#define WEAK __attribute__((weak))
WEAK void klee_make_symbolic(void *address, size_t size, const char *name) { touchstone_answer(address, size, name); }
WEAK int klee_int(const char *name) { int value; touchstone_answer(&value, sizeof value, name); return value; }
WEAK int klee_range(int low, int high, const char *name) {
    int value = klee_int(name);
    assume(low <= value && value < high);
    return value;
}
WEAK void klee_assume(uintptr_t condition) { assume(condition != 0); }
WEAK void klee_silent_exit(int status) { end_child(status); }
WEAK uintptr_t klee_choose(uintptr_t n) {
    uintptr_t value;
    touchstone_answer(&value, sizeof value, "klee_choose");
    assume(value < n);
    return value;
}
WEAK void klee_abort(void) { abort(); }
WEAK void klee_report_error(const char *file, int line, const char *message, const char *suffix) {
    (void)suffix;
    fflush(stdout);
    fprintf(stderr, "%s:%d: %s\n", file, line, message);
    abort();
}
WEAK void klee_prefer_cex(void *object, uintptr_t condition) { (void)object; (void)condition; }
WEAK void klee_posix_prefer_cex(void *object, uintptr_t condition) { (void)object; (void)condition; }
WEAK void klee_mark_global(void *object) { (void)object; }
WEAK void klee_set_forking(unsigned enable) { (void)enable; }
WEAK void klee_open_merge(void) {}
WEAK void klee_close_merge(void) {}
WEAK void klee_warning(const char *message) { (void)message; }
WEAK void klee_warning_once(const char *message) { (void)message; }
WEAK void klee_print_expr(const char *message, ...) { (void)message; }
WEAK void klee_print_range(const char *name, int value) { (void)name; (void)value; }
WEAK void klee_stack_trace(void) {}
WEAK unsigned klee_is_symbolic(uintptr_t value) { (void)value; return 0; }
WEAK unsigned klee_is_replay(void) { return 0; }
WEAK float klee_get_valuef(float value) { return value; }
WEAK double klee_get_valued(double value) { return value; }
WEAK long klee_get_valuel(long value) { return value; }
WEAK long long klee_get_valuell(long long value) { return value; }
WEAK int32_t klee_get_value_i32(int32_t value) { return value; }
WEAK int64_t klee_get_value_i64(int64_t value) { return value; }
WEAK void touchstone_symbolic(void *address, size_t size, const char *name) { touchstone_answer(address, size, name); }
WEAK void touchstone_assume(long condition) { assume(condition != 0); }
WEAK void touchstone_assert(long condition) {
    if (condition) return;
    fflush(stdout);
    fputs("Assertion of touchstone_assert failed\n", stderr);
    abort();
}
/* The functions of SV-COMP and Test-Comp. */
#define NONDET(name, type)                                                   \
    WEAK type __VERIFIER_nondet_##name(void) {                               \
        type value;                                                          \
        touchstone_answer(&value, sizeof value, "__VERIFIER_nondet_" #name); \
        return value;                                                        \
    }
NONDET(bool, _Bool)
NONDET(char, char)
NONDET(uchar, unsigned char)
NONDET(unsigned_char, unsigned char)
NONDET(short, short)
NONDET(ushort, unsigned short)
NONDET(int, int)
NONDET(uint, unsigned)
NONDET(unsigned, unsigned)
NONDET(long, long)
NONDET(ulong, unsigned long)
NONDET(longlong, long long)
NONDET(ulonglong, unsigned long long)
NONDET(float, float)
NONDET(double, double)
NONDET(u8, unsigned char)
NONDET(u16, unsigned short)
NONDET(u32, unsigned)
NONDET(U32, unsigned)
NONDET(size_t, size_t)
NONDET(ssize_t, ssize_t)
NONDET(loff_t, long long)
NONDET(sector_t, unsigned long)
NONDET(pthread_t, unsigned long)
NONDET(schar, signed char)
NONDET(S8, signed char)
NONDET(int8, int8_t)
NONDET(uint8, uint8_t)
NONDET(int16, int16_t)
NONDET(uint16, uint16_t)
NONDET(int32, int32_t)
NONDET(uint32, uint32_t)
NONDET(int64, int64_t)
NONDET(uint64, uint64_t)
NONDET(u64, uint64_t)
NONDET(pointer, void *)
NONDET(pchar, char *)
NONDET(charp, char *)
NONDET(const_char_pointer, const char *)
WEAK void __VERIFIER_nondet_memory(void *address, size_t size) {
    touchstone_answer(address, size, "__VERIFIER_nondet_memory");
}
WEAK void __VERIFIER_error(void) { abort(); }
WEAK void reach_error(void) { abort(); }
WEAK void __VERIFIER_assert(int condition) { touchstone_assert(condition); }
WEAK void __VERIFIER_atomic_begin(void) {}
WEAK void __VERIFIER_atomic_end(void) {}
WEAK void __VERIFIER_assume(int condition) { assume(condition != 0); }
WEAK void touchstone_label(long id, long condition) { (void)id; (void)condition; }

/* ---- the parent: one child per test ---- */

struct buffer {
    char *bytes;
    size_t size, capacity, limit;
};

static void *grow(void *memory, size_t size) {
    memory = realloc(memory, size);
    if (!memory) {
        fputs("touchstone_test: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

static void append(struct buffer *buffer, const char *bytes, size_t size) {
    if (size > buffer->limit - buffer->size) size = buffer->limit - buffer->size;
    if (buffer->size + size > buffer->capacity) {
        buffer->capacity = (buffer->size + size) * 2;
        buffer->bytes = grow(buffer->bytes, buffer->capacity);
    }
    if (size > 0) memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

struct limits {
    long seconds, memory_mib, total;
};

/* The result of a test's run. */
struct run {
    struct buffer records, output, errors;
    int status, timed_out;
};

extern void __asan_init(void) __attribute__((weak));

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void limit(int resource, rlim_t value) {
    struct rlimit limits;
    if (getrlimit(resource, &limits) != 0) return;
    if (limits.rlim_max != RLIM_INFINITY && value > limits.rlim_max) value = limits.rlim_max;
    limits.rlim_cur = value;
    setrlimit(resource, &limits);
}

/* Defined only under `touchstone measure`: attributes further hits to this test. */
extern void touchstone_test_begin(const char *name) __attribute__((weak));
/* Defined only in Touchstone's own replay: prints what the test covered. */
extern void touchstone_test_end(void) __attribute__((weak));
/* Defined only in Touchstone's own replay: confines the process. */
extern void touchstone_guard(const char *name) __attribute__((weak));
extern void touchstone_guard_main(void) __attribute__((weak));

static void run_child(const struct touchstone_test *test, size_t count, const struct limits *limits, const int pipes[3]) {
    setpgid(0, 0);
    if (touchstone_test_begin) touchstone_test_begin(test->name);
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) dup2(nothing, 0);
    record_fd = fcntl(pipes[0], F_DUPFD, 200);
    if (record_fd < 0) record_fd = pipes[0];
    dup2(pipes[1], 1);
    dup2(pipes[2], 2);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, (rlim_t)limits->seconds + 1);
    /* AddressSanitizer reserves terabytes of address space; it has its own limit (hard_rss_limit_mb). */
    if (limits->memory_mib > 0 && !__asan_init) limit(RLIMIT_AS, (rlim_t)limits->memory_mib << 20);
    if (touchstone_guard) touchstone_guard(test->name);
    /* errno is 0 at the beginning of a test. */
    errno = 0;
    if (test->run) test->run();
    for (size_t i = 0; test->table && i < count; i++, errno = 0) test[i].table->run(test[i].row);
    check_inputs();
    fflush(stdout);
    send_record(RECORD_DONE, "", 0);
    end_child(0);
}

/* Reads the available bytes; 0 at the end of the stream. */
static int drain(int fd, struct buffer *buffer) {
    char bytes[65536];
    ssize_t size = read(fd, bytes, sizeof bytes);
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    append(buffer, bytes, (size_t)size);
    return size > 0;
}

/* Runs a test, or several rows of a table that can share a process. */
static void run_tests(const struct touchstone_test *test, size_t count, const struct limits *limits, double deadline,
                      struct run *run) {
    int reading[3], writing[3];
    for (int i = 0; i < 3; i++) {
        int ends[2];
        if (pipe(ends) != 0) {
            perror("touchstone_test: pipe");
            exit(2);
        }
        reading[i] = ends[0];
        writing[i] = ends[1];
    }
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) {
        perror("touchstone_test: fork");
        exit(2);
    }
    if (child == 0) {
        for (int i = 0; i < 3; i++) close(reading[i]);
        run_child(test, count, limits, writing);
    }
    setpgid(child, child);
    struct buffer *buffers[3] = {&run->records, &run->output, &run->errors};
    struct pollfd polls[3];
    for (int i = 0; i < 3; i++) {
        close(writing[i]);
        polls[i] = (struct pollfd){reading[i], POLLIN, 0};
        buffers[i]->size = 0;
    }
    run->timed_out = 0;
    int open_pipes = 3, ended = 0;
    while (open_pipes > 0) {
        double left = deadline - now();
        if (left <= 0) {
            /* A child that has ended, but left a process that holds its pipes, has not timed out. */
            ended = waitpid(child, &run->status, WNOHANG) == child;
            run->timed_out = !ended;
            kill(-child, SIGKILL);
            break;
        }
        if (poll(polls, 3, (int)(left * 1000) + 1) < 0 && errno != EINTR) break;
        for (int i = 0; i < 3; i++) {
            if (polls[i].fd < 0 || polls[i].revents == 0 || drain(reading[i], buffers[i])) continue;
            polls[i].fd = -1;
            open_pipes--;
        }
    }
    while (!ended && waitpid(child, &run->status, 0) < 0 && errno == EINTR) {
    }
    kill(-child, SIGKILL);
    for (int i = 0; i < 3; i++) close(reading[i]);
}

/* ---- the verdict ---- */

struct verdict {
    const char *skip, *failure, *error, *output;
    size_t skip_size, failure_size, error_size, output_size;
    int failures, rejected, done, sanitized, has_exit, exit_status, any_output;
};

static void read_records(const struct buffer *records, struct verdict *verdict) {
    memset(verdict, 0, sizeof *verdict);
    for (size_t at = 0; at + 5 <= records->size;) {
        uint32_t size;
        const char *bytes = records->bytes + at + 5;
        memcpy(&size, records->bytes + at + 1, 4);
        if (size > records->size - at - 5) return;
        switch (records->bytes[at]) {
        case RECORD_FAILURE:
            if (verdict->failures++ == 0) verdict->failure = bytes, verdict->failure_size = size;
            break;
        case RECORD_REJECTED: verdict->rejected = 1; break;
        case RECORD_SKIP: verdict->skip = bytes, verdict->skip_size = size; break;
        case RECORD_ERROR:
            verdict->sanitized = bytes[0] == '1';
            verdict->error = bytes + 1, verdict->error_size = size - 1;
            break;
        case RECORD_EXIT:
            verdict->has_exit = 1;
            memcpy(&verdict->exit_status, bytes, sizeof verdict->exit_status);
            break;
        case RECORD_OUTPUT: verdict->output = bytes, verdict->output_size = size; break;
        case RECORD_ANY: verdict->any_output = 1; break;
        case RECORD_DONE: verdict->done = 1; break;
        }
        at += 5 + size;
    }
}

/* Bytes as one line of printable text. */
static void print_text(const char *bytes, size_t size, size_t most) {
    for (size_t i = 0; i < size && i < most; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte == '\n')
            fputs("\\n", stdout);
        else if (byte < ' ' || byte == 127)
            printf("\\x%02x", byte);
        else
            putchar(byte);
    }
    if (size > most) fputs("...", stdout);
}

static void print_end(const struct run *run, const struct verdict *verdict) {
    if (run->timed_out)
        fputs("time-out", stdout);
    else if (verdict->done)
        fputs("returned", stdout);
    else if (WIFSIGNALED(run->status))
        printf("signal %d (%s)", WTERMSIG(run->status), strsignal(WTERMSIG(run->status)));
    else
        printf("exit %d", WEXITSTATUS(run->status));
}

/* Prints the comment lines of a test that failed or that was expected to end in an error. */
static void print_diagnostics(const struct run *run, const struct verdict *verdict) {
    fputs("# end: ", stdout);
    print_end(run, verdict);
    putchar('\n');
    int failure = 0;
    for (size_t at = 0; at + 5 <= run->records.size && failure < 20;) {
        uint32_t size;
        memcpy(&size, run->records.bytes + at + 1, 4);
        if (size > run->records.size - at - 5) break;
        if (run->records.bytes[at] == RECORD_FAILURE && failure++ > 0) {
            fputs("# also: ", stdout);
            print_text(run->records.bytes + at + 5, size, 1000);
            putchar('\n');
        }
        at += 5 + size;
    }
    for (size_t at = 0; at < run->errors.size;) {
        const char *line = run->errors.bytes + at;
        const char *end = memchr(line, '\n', run->errors.size - at);
        size_t size = end ? (size_t)(end - line) : run->errors.size - at;
        fputs("# stderr: ", stdout);
        print_text(line, size, 1000);
        putchar('\n');
        at += size + 1;
    }
}

/* 1 if the test passed (or was skipped). */
static int print_verdict(size_t number, const struct touchstone_test *test, const struct run *run, const struct limits *limits) {
    struct verdict verdict;
    read_records(&run->records, &verdict);
    int exited = !run->timed_out && WIFEXITED(run->status) && !verdict.done;
    int same_output =
        verdict.any_output || (run->output.size == verdict.output_size &&
                               (run->output.size == 0 || memcmp(run->output.bytes, verdict.output, verdict.output_size) == 0));
    if (verdict.skip) {
        printf("ok %zu - %s # SKIP ", number, test->name);
        print_text(verdict.skip, verdict.skip_size, 1000);
        putchar('\n');
        return 1;
    }
    if (verdict.error && !verdict.failures && !run->timed_out) {
        if (!verdict.done && !(exited && WEXITSTATUS(run->status) == 0)) {
            printf("ok %zu - %s\n", number, test->name);
            print_diagnostics(run, &verdict);
            return 1;
        }
        if (!verdict.sanitized) {
            printf("ok %zu - %s # SKIP ", number, test->name);
            print_text(verdict.error, verdict.error_size, 1000);
            puts(" shows only in a build with -fsanitize=address,undefined");
            print_diagnostics(run, &verdict);
            return 1;
        }
        printf("not ok %zu - %s: expected ", number, test->name);
        print_text(verdict.error, verdict.error_size, 1000);
        puts(", but nothing went wrong");
        print_diagnostics(run, &verdict);
        return 0;
    }
    int ended_well = verdict.has_exit ? exited && WEXITSTATUS(run->status) == (verdict.exit_status & 255) : verdict.done;
    if (ended_well && !verdict.failures && !verdict.rejected && same_output) {
        printf("ok %zu - %s\n", number, test->name);
        return 1;
    }
    printf("not ok %zu - %s: ", number, test->name);
    if (verdict.failures) {
        print_text(verdict.failure, verdict.failure_size, 1000);
    } else if (run->timed_out) {
        printf("no end within %ld s", limits->seconds);
    } else if (verdict.has_exit && !ended_well) {
        printf("expected exit status %d, got ", verdict.exit_status & 255);
        print_end(run, &verdict);
    } else if (!ended_well) {
        fputs("expected it to return, got ", stdout);
        print_end(run, &verdict);
    } else if (!same_output) {
        fputs("output: expected \"", stdout);
        print_text(verdict.output, verdict.output_size, 400);
        fputs("\", got \"", stdout);
        print_text(run->output.bytes, run->output.size, 400);
        putchar('"');
    } else {
        fputs("oracle rejected", stdout);
    }
    putchar('\n');
    print_diagnostics(run, &verdict);
    return 0;
}

/* ---- main ---- */

extern const struct touchstone_test *const __start_touchstone_tests[] __attribute__((weak));
extern const struct touchstone_test *const __stop_touchstone_tests[] __attribute__((weak));
extern const struct touchstone_table *const __start_touchstone_tables[] __attribute__((weak));
extern const struct touchstone_table *const __stop_touchstone_tables[] __attribute__((weak));

static int by_name(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static long number_of(const char *text, const char *option) {
    char *end;
    long value = text ? strtol(text, &end, 10) : -1;
    if (!text || *end || value < 0 || value > 1000000000) {
        fprintf(stderr, "touchstone_test: %s needs a number\n", option);
        exit(2);
    }
    return value;
}

static int is_wanted(const char *name, char **names, size_t count) {
    return count == 0 || bsearch(&name, names, count, sizeof *names, by_name) != NULL;
}

/* Collects the tests of the file, then the rows of its tables; only those with the given names, if there are any. */
static struct touchstone_test *all_tests(char **names, size_t name_count, size_t *count) {
    size_t written = (size_t)(__stop_touchstone_tests - __start_touchstone_tests), all = written;
    size_t tables = (size_t)(__stop_touchstone_tables - __start_touchstone_tables);
    /* A sanitizer may insert padding between the entries. */
    for (size_t i = 0; i < tables; i++) all += __start_touchstone_tables[i] ? __start_touchstone_tables[i]->count : 0;
    struct touchstone_test *tests = grow(NULL, (all + 1) * sizeof *tests);
    *count = 0;
    for (size_t i = 0; i < written; i++) {
        const struct touchstone_test *test = __start_touchstone_tests[i];
        if (test && is_wanted(test->name, names, name_count)) tests[(*count)++] = *test;
    }
    for (size_t i = 0; i < tables; i++) {
        const struct touchstone_table *table = __start_touchstone_tables[i];
        for (size_t row = 0; table && row < table->count; row++) {
            const char *at = (const char *)table->rows + row * table->size;
            int number;
            memcpy(&number, at, sizeof number);
            size_t room = strlen(table->function) + 16;
            char *name = grow(NULL, room);
            snprintf(name, room, "%s_%d", table->function, number);
            if (is_wanted(name, names, name_count))
                tests[(*count)++] = (struct touchstone_test){name, "a row of a table", NULL, table, at + table->before};
            else
                free(name);
        }
    }
    return tests;
}

enum { FIRST_BATCH = 16, LARGEST_BATCH = 1024 };

/* The number of tests, from this one on, that can share a process. */
static size_t batch_at(const struct touchstone_test *tests, size_t at, size_t count, size_t most) {
    size_t batch = 1;
    if (!tests[at].table || !tests[at].table->together) return 1;
    while (batch < most && at + batch < count && tests[at + batch].table == tests[at].table) batch++;
    return batch;
}

/* True if all tests of a shared process returned and reported nothing else. */
static int all_done(const struct run *run) {
    return !run->timed_out && WIFEXITED(run->status) && WEXITSTATUS(run->status) == 0 && run->output.size == 0 &&
           run->errors.size == 0 && run->records.size == 5 && run->records.bytes[0] == RECORD_DONE;
}

/* Runs the tests and prints their verdicts; returns the exit status. */
static int run_all(const struct touchstone_test *tests, size_t count, const struct limits *limits, struct run *run) {
    int failed = 0;
    printf("1..%zu\n", count);
    double begin = now();
    /* A measurement attributes hits to single tests. */
    size_t together = touchstone_test_begin ? 1 : FIRST_BATCH, alone = 0;
    for (size_t i = 0; i < count; fflush(stdout)) {
        if (limits->total > 0 && now() > begin + (double)limits->total) {
            printf("Bail out! the limit of %ld s for all tests was hit\n", limits->total);
            return 1;
        }
        size_t batch = i < alone ? 1 : batch_at(tests, i, count, together);
        if (batch > 1) {
            double started = now();
            run_tests(&tests[i], batch, limits, started + 1, run);
            if (!all_done(run)) {
                /* One of them failed, or they are slow: each is run in its own process. */
                alone = i + batch;
                together = run->timed_out ? 1 : FIRST_BATCH;
                continue;
            }
            for (size_t j = i; j < i + batch; j++) printf("ok %zu - %s\n", j + 1, tests[j].name);
            i += batch;
            if (now() - started < 0.05 && together < LARGEST_BATCH) together *= 4;
            continue;
        }
        run_tests(&tests[i], 1, limits, now() + (double)limits->seconds, run);
        if (!print_verdict(i + 1, &tests[i], run, limits)) failed = 1;
        if (touchstone_test_end) touchstone_test_end();
        i++;
    }
    return failed;
}

int main(int argc, char **argv) {
    struct limits limits = {10, 1024, 0};
    char **names = grow(NULL, ((size_t)argc + 1) * sizeof *names);
    size_t name_count = 0;
    int list = 0, status = 0;
    if (touchstone_guard_main) touchstone_guard_main();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0)
            list = 1;
        else if (strcmp(argv[i], "--seconds") == 0)
            limits.seconds = number_of(argv[++i], "--seconds");
        else if (strcmp(argv[i], "--memory") == 0)
            limits.memory_mib = number_of(argv[++i], "--memory");
        else if (strcmp(argv[i], "--total") == 0)
            limits.total = number_of(argv[++i], "--total");
        else if (argv[i][0] == '-') {
            fprintf(stderr, "usage: %s [--seconds N] [--memory MIB] [--total N] [--list] [NAME...]\n", argv[0]);
            free(names);
            return 2;
        } else
            names[name_count++] = argv[i];
    }
    qsort(names, name_count, sizeof *names, by_name);
    size_t count;
    struct touchstone_test *tests = all_tests(names, name_count, &count);
    struct run run = {{0, 0, 0, 64 << 20}, {0, 0, 0, 16 << 20}, {0, 0, 0, 16 << 10}, 0, 0};
    if (list)
        for (size_t i = 0; i < count; i++) printf("%s: %s\n", tests[i].name, tests[i].description);
    else
        status = run_all(tests, count, &limits, &run);
    free(run.records.bytes);
    free(run.output.bytes);
    free(run.errors.bytes);
    /* The names of rows were made by all_tests. */
    for (size_t i = 0; i < count; i++)
        if (tests[i].table) free((char *)(uintptr_t)tests[i].name);
    free(tests);
    free(names);
    return status;
}
