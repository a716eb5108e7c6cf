/* Touchstone's test harness: what a test file needs.
 *
 * A test file includes the program's source, then this header, then has its tests:
 *
 *     TEST(max3_1, "a > b: true, a > c: true") {
 *         int result = max3(3, 2, 1);
 *         CHECK_INT(3, result);
 *     }
 *
 * touchstone_test.c has main(): it runs each test in a process of its own, with limits, and prints TAP.
 * Nothing of POSIX or of the library is declared here, so that no name of the program can clash with it.
 */
#ifndef TOUCHSTONE_TEST_H
#define TOUCHSTONE_TEST_H

#include <limits.h>
#include <stddef.h>

/* The program may have macros of the same names; from here on they are ours. */
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
    /* One process can run several of them, since they leave nothing behind. */
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

/* Tests stand in a section of their own, in the order of the file; the runner walks over it. */
#define TOUCHSTONE_REGISTER(id, text)                                                                   \
    static void touchstone_run_##id(void);                                                              \
    static const struct touchstone_test touchstone_entry_##id = {#id, text, touchstone_run_##id, 0, 0}; \
    static const struct touchstone_test *const touchstone_listed_##id                                   \
        __attribute__((__section__("touchstone_tests"), __used__)) = &touchstone_entry_##id;            \
    static void touchstone_run_##id(void)

/* A test that must run to its end; with TOUCHSTONE_ERRORS_ONLY it is read but not compiled. */
#ifdef TOUCHSTONE_ERRORS_ONLY
#define TEST(id, text) static __inline__ void touchstone_run_##id(void)
#else
#define TEST(id, text) TOUCHSTONE_REGISTER(id, text)
#endif

/* A test that must go wrong, as its EXPECT_ERROR says. */
#define ERROR_TEST(id, text) TOUCHSTONE_REGISTER(id, text)

/* Large suites: tests that differ only in their numbers share one function, which gets a row of values. A row compiles
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
/* The same for tests that leave nothing behind: several run in one process, and alone if anything is wrong with them. */
#define TABLE_TOGETHER(function, shape, table) TOUCHSTONE_TABLE(#function, shape, table, 1)

/* The run stays in a loop that has no end: it is watched for a tenth of a second of its own time. MUST_HANG() is behind the call. */
#define EXPECT_HANG() touchstone_expect_hang()
#define MUST_HANG() touchstone_fail("it returned, and was expected to hang")

/* The test can't be run, and why. */
#define SKIP(reason) touchstone_skip(reason)

/* Sets a variable of any type, also one with constant parts: SET(origin, {1, 2}); */
#define SET(place, ...)                                                  \
    do {                                                                 \
        const __typeof__(place) touchstone_value = __VA_ARGS__;          \
        touchstone_copy((void *)&(place), &touchstone_value, sizeof(place)); \
    } while (0)

/* Expected first, then what is there. */
#define CHECK_INT(expected, actual) touchstone_check_int(expected, actual, #actual)
#define CHECK_UINT(expected, actual) touchstone_check_uint(expected, actual, #actual)
/* The same number with the same sign of zero, or both none. */
#define CHECK_FLOAT(expected, actual) touchstone_check_float(expected, actual, #actual)
#define CHECK_PTR(expected, actual) touchstone_check_ptr((const void *)(expected), (const void *)(actual), #expected, #actual)
#define CHECK_NOT_NULL(actual) touchstone_check_not_null((const void *)(actual), #actual)
#define CHECK_STRING(expected, actual) touchstone_check_string(expected, (const char *)(actual), #actual)

/* All elements of an array of integers of `type`, of any rank: CHECK_ARRAY(int, a, {1, 2, 3}); */
#define CHECK_ARRAY(type, actual, ...)                                  \
    do {                                                                \
        static const __typeof__(actual) touchstone_value = __VA_ARGS__; \
        CHECK_ELEMENTS(type, touchstone_value, actual);                 \
    } while (0)
/* The same, with the expected elements in an array. */
#define CHECK_ELEMENTS(type, expected, actual)                                                       \
    touchstone_check_array((const void *)&(expected), (const void *)&(actual), sizeof(expected),     \
                           (type)-1 < (type)1 ? -(int)sizeof(type) : (int)sizeof(type), #actual)

/* What a call must leave alone: BEFORE keeps what is at a place, UNCHANGED compares it afterwards, byte by byte; what may
 * change is excepted.
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

/* The program's own oracle must accept. */
#define CHECK_ORACLE(accepted) touchstone_check_oracle((accepted) != 0)

/* What follows must go wrong in this way at this place. */
#define EXPECT_ERROR(kind, file, line) touchstone_expect_error(kind, file, line, TOUCHSTONE_SANITIZED)
/* What follows must end the process with this status. */
#define EXPECT_EXIT(status) touchstone_expect_exit(status)
/* What the whole test must write to standard output; without this it must write nothing. */
#define EXPECT_OUTPUT(text) touchstone_expect_output(text, sizeof(text) - 1)
/* What it writes doesn't matter. */
#define ANY_OUTPUT() touchstone_any_output()
/* The answer to the program's next request for an input. */
#define INPUT(name, ...)                                                                \
    do {                                                                                \
        static const unsigned char touchstone_bytes[] = {__VA_ARGS__};                  \
        touchstone_input(name, touchstone_bytes, sizeof touchstone_bytes);              \
    } while (0)
/* The same as a value: INPUT_OF(struct order, "o", {.price = 5}); what is between its fields is 0. */
#define INPUT_OF(type, name, ...)                                                                              \
    do {                                                                                                       \
        static const __typeof__(type) touchstone_value = __VA_ARGS__;                                          \
        touchstone_input(name, (const unsigned char *)&touchstone_value, sizeof touchstone_value);             \
    } while (0)
/* All that can be read from standard input. */
#define STANDARD_INPUT(text) touchstone_standard_input(text, sizeof(text) - 1)
/* A variable of the environment; NULL: it isn't set. */
#define ENVIRONMENT(name, text) touchstone_environment(name, text)

/* The whole program from its main; ARGUMENTS is what this main takes. */
#define RUN_PROGRAM(...) touchstone_exit(main(__VA_ARGS__))
/* The same for a program that leaves nothing behind: the process goes on. */
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
