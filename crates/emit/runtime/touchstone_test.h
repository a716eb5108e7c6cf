/* Touchstone's test harness: the macros of test files.
 *
 * A test file includes the program's source and this header, and then contains its tests:
 *
 *     TEST(max3_1, "a > b: true, a > c: true") {
 *         int result = max3(3, 2, 1);
 *         CHECK_INT(3, result);
 *     }
 *
 * touchstone_test.c defines main(): it runs each test in its own process, with limits, and prints TAP.
 * This header declares nothing of POSIX or of the library, so that no name of the program can clash with it.
 */
#ifndef TOUCHSTONE_TEST_H
#define TOUCHSTONE_TEST_H

#include <limits.h>
#include <stddef.h>

/* The program may define macros of the same names, which are replaced here. */
#undef TEST
#undef EXPECT_HANG
#undef MUST_HANG
#undef ERROR_TEST
#undef SHAPE
#undef ROWS
#undef TABLE
#undef TABLE_TOGETHER
#undef SKIP
#undef SET
#undef BEFORE
#undef EXCEPT
#undef UNCHANGED
#undef CHECK_INT
#undef CHECK_UINT
#undef CHECK_FLOAT
#undef CHECK_PTR
#undef CHECK_NOT_NULL
#undef CHECK_STRING
#undef CHECK_ARRAY
#undef CHECK_ELEMENTS
#undef CHECK_ORACLE
#undef EXPECT_ERROR
#undef EXPECT_EXIT
#undef EXPECT_OUTPUT
#undef ANY_OUTPUT
#undef INPUT
#undef INPUT_OF
#undef STANDARD_INPUT
#undef ENVIRONMENT
#undef RUN_PROGRAM
#undef PROGRAM_RETURNS

#ifndef NAN
#define NAN __builtin_nanf("")
#endif
#ifndef INFINITY
#define INFINITY __builtin_inff()
#endif

struct touchstone_test {
    const char *name;
    const char *description;
    void (*run)(void);
    /* For a test that is a row of a table: */
    const struct touchstone_table *table;
    const void *row;
};

/* Rows of one shape, each with its number before it. */
struct touchstone_table {
    const char *function;
    void (*run)(const void *row);
    const void *rows;
    size_t count, size, before;
    /* The rows have no side effects, so one process can run several of them. */
    int together;
};

#if defined(TOUCHSTONE_SANITIZED)
#elif defined(__SANITIZE_ADDRESS__)
#define TOUCHSTONE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TOUCHSTONE_SANITIZED 1
#endif
#endif
#ifndef TOUCHSTONE_SANITIZED
#define TOUCHSTONE_SANITIZED 0
#endif

/* Tests are registered in a linker section, in the order of the file; the runner iterates over it. */
#define TOUCHSTONE_REGISTER(id, text)                                                                   \
    static void touchstone_run_##id(void);                                                              \
    static const struct touchstone_test touchstone_entry_##id = {#id, text, touchstone_run_##id, 0, 0}; \
    static const struct touchstone_test *const touchstone_listed_##id                                   \
        __attribute__((__section__("touchstone_tests"), __used__)) = &touchstone_entry_##id;            \
    static void touchstone_run_##id(void)

/* A test that must run to completion; with TOUCHSTONE_ERRORS_ONLY it is parsed, but no code is generated. */
#ifdef TOUCHSTONE_ERRORS_ONLY
#define TEST(id, text) static __inline__ void touchstone_run_##id(void)
#else
#define TEST(id, text) TOUCHSTONE_REGISTER(id, text)
#endif

/* A test that must end in the error that its EXPECT_ERROR states. */
#define ERROR_TEST(id, text) TOUCHSTONE_REGISTER(id, text)

/* Large suites: tests that differ only in numbers share one function, which receives a row of values. A row compiles
 * about forty times as fast as a TEST.
 *
 *     struct shape_1 { int a; int b; int expected; };
 *     SHAPE(shape_1) { int result = max(row->a, row->b); CHECK_INT(row->expected, result); }
 *     ROWS(max, shape_1, 1) = {
 *         {17, {3, 2, 3}}, // the test max_17
 *     };
 *     TABLE(max, shape_1, 1)
 */
#define SHAPE(shape)                                                  \
    static __inline__ void touchstone_do_##shape(const struct shape *row); \
    static __inline__ void touchstone_run_##shape(const void *row) { touchstone_do_##shape(row); } \
    static __inline__ void touchstone_do_##shape(const struct shape *row)
#define ROWS(function, shape, table)                    \
    static const struct touchstone_numbered_##table {   \
        int number;                                     \
        struct shape row;                               \
    } touchstone_rows_##table[]
#define TOUCHSTONE_TABLE(function, shape, table, together)                                                   \
    static const struct touchstone_table touchstone_table_##table = {                                        \
        function,                                                                                            \
        touchstone_run_##shape,                                                                              \
        touchstone_rows_##table,                                                                             \
        sizeof touchstone_rows_##table / sizeof(struct touchstone_numbered_##table),                         \
        sizeof(struct touchstone_numbered_##table),                                                          \
        offsetof(struct touchstone_numbered_##table, row),                                                   \
        together};                                                                                           \
    static const struct touchstone_table *const touchstone_listed_table_##table                              \
        __attribute__((__section__("touchstone_tables"), __used__)) = &touchstone_table_##table;
#define TABLE(function, shape, table) TOUCHSTONE_TABLE(#function, shape, table, 0)
/* A table of tests without side effects: several run in one process, and again in their own if one of them fails. */
#define TABLE_TOGETHER(function, shape, table) TOUCHSTONE_TABLE(#function, shape, table, 1)

/* The run must stay in an infinite loop; it is observed for 0.1 s of CPU time. MUST_HANG() follows the call. */
#define EXPECT_HANG() touchstone_expect_hang()
#define MUST_HANG() touchstone_fail("it returned, and was expected to hang")

/* Skips the test, with the reason. */
#define SKIP(reason) touchstone_skip(reason)

/* Assigns a variable of any type, even with const members: SET(origin, {1, 2}); */
#define SET(place, ...)                                                  \
    do {                                                                 \
        const __typeof__(place) touchstone_value = __VA_ARGS__;          \
        touchstone_copy((void *)&(place), &touchstone_value, sizeof(place)); \
    } while (0)

/* The expected value is the first argument, the actual value the second. */
#define CHECK_INT(expected, actual) touchstone_check_int(expected, actual, #actual)
#define CHECK_UINT(expected, actual) touchstone_check_uint(expected, actual, #actual)
/* Equal numbers with equal signs of zero, or NaN in both. */
#define CHECK_FLOAT(expected, actual) touchstone_check_float(expected, actual, #actual)
#define CHECK_PTR(expected, actual) touchstone_check_ptr((const void *)(expected), (const void *)(actual), #expected, #actual)
#define CHECK_NOT_NULL(actual) touchstone_check_not_null((const void *)(actual), #actual)
#define CHECK_STRING(expected, actual) touchstone_check_string(expected, (const char *)(actual), #actual)

/* Compares all elements of an array of integers of `type`, of any rank: CHECK_ARRAY(int, a, {1, 2, 3}); */
#define CHECK_ARRAY(type, actual, ...)                                  \
    do {                                                                \
        static const __typeof__(actual) touchstone_value = __VA_ARGS__; \
        CHECK_ELEMENTS(type, touchstone_value, actual);                 \
    } while (0)
/* Compares with the elements of another array. */
#define CHECK_ELEMENTS(type, expected, actual)                                                       \
    touchstone_check_array((const void *)&(expected), (const void *)&(actual), sizeof(expected),     \
                           (type)-1 < (type)1 ? -(int)sizeof(type) : (int)sizeof(type), #actual)

/* What a call must not change: BEFORE copies a place, UNCHANGED compares it with the copy after the call, byte by byte;
 * EXCEPT exempts what may change.
 *
 *     BEFORE(s_before, s);
 *     step(&s);
 *     CHECK_INT(1, s.count);
 *     EXCEPT(s_before.count, s.count);
 *     UNCHANGED(s_before, s);
 */
#define BEFORE(copy, place)                                                   \
    __typeof__(place) copy;                                                   \
    touchstone_copy((void *)&(copy), (const void *)&(place), sizeof(copy))
#define EXCEPT(copy, place) touchstone_copy((void *)&(copy), (const void *)&(place), sizeof(copy))
#define UNCHANGED(copy, place) \
    touchstone_check_same((const void *)&(copy), (const void *)&(place), sizeof(copy), #place)

/* The program's own oracle must accept the result. */
#define CHECK_ORACLE(accepted) touchstone_check_oracle((accepted) != 0)

/* The rest of the test must end in this error at this line. */
#define EXPECT_ERROR(kind, file, line) touchstone_expect_error(kind, file, line, TOUCHSTONE_SANITIZED)
/* The rest of the test must end the process with this status. */
#define EXPECT_EXIT(status) touchstone_expect_exit(status)
/* The expected standard output of the whole test; without it, the test must not write anything. */
#define EXPECT_OUTPUT(text) touchstone_expect_output(text, sizeof(text) - 1)
/* Accepts any output. */
#define ANY_OUTPUT() touchstone_any_output()
/* The value of the program's next requested input. */
#define INPUT(name, ...)                                                                \
    do {                                                                                \
        static const unsigned char touchstone_bytes[] = {__VA_ARGS__};                  \
        touchstone_input(name, touchstone_bytes, sizeof touchstone_bytes);              \
    } while (0)
/* The next requested input as a value of a type: INPUT_OF(struct order, "o", {.price = 5}); padding is 0. */
#define INPUT_OF(type, name, ...)                                                                              \
    do {                                                                                                       \
        static const __typeof__(type) touchstone_value = __VA_ARGS__;                                          \
        touchstone_input(name, (const unsigned char *)&touchstone_value, sizeof touchstone_value);             \
    } while (0)
/* The contents of standard input. */
#define STANDARD_INPUT(text) touchstone_standard_input(text, sizeof(text) - 1)
/* An environment variable; NULL means that it is not set. */
#define ENVIRONMENT(name, text) touchstone_environment(name, text)

/* Runs the whole program; the arguments are those of its main. */
#define RUN_PROGRAM(...) touchstone_exit(main(__VA_ARGS__))
/* Runs a program without side effects; the process continues. */
#define PROGRAM_RETURNS(status, result) touchstone_program_returns(status, result)

extern char *touchstone_arguments[];
void touchstone_skip(const char *reason);
void touchstone_expect_hang(void);
void touchstone_fail(const char *why);
void touchstone_copy(void *to, const void *from, size_t size);
void touchstone_check_int(long long expected, long long actual, const char *what);
void touchstone_check_uint(unsigned long long expected, unsigned long long actual, const char *what);
void touchstone_check_float(double expected, double actual, const char *what);
void touchstone_check_ptr(const void *expected, const void *actual, const char *where, const char *what);
void touchstone_check_not_null(const void *actual, const char *what);
void touchstone_check_string(const char *expected, const char *actual, const char *what);
void touchstone_check_same(const void *before, const void *now, size_t size, const char *what);
void touchstone_check_array(const void *expected, const void *actual, size_t size, int element, const char *what);
void touchstone_check_oracle(int accepted);
void touchstone_expect_error(const char *kind, const char *file, int line, int sanitized);
void touchstone_expect_exit(int status);
void touchstone_expect_output(const char *bytes, size_t size);
void touchstone_any_output(void);
void touchstone_input(const char *name, const unsigned char *bytes, size_t size);
void touchstone_answer(void *to, size_t size, const char *name);
void touchstone_change(const char *name, void *to, const void *bytes, size_t size);
void touchstone_written(void *to, const char *name);
void touchstone_changed(const char *name);
void touchstone_standard_input(const char *bytes, size_t size);
void touchstone_environment(const char *name, const char *text);
void touchstone_exit(int status);
void touchstone_program_returns(int expected, int result);

#endif
