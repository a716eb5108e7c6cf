/* As much of cmocka's interface as our tests use, written for them: each test prints `ok`, `failed` or `skipped`. */
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

static jmp_buf cmocka_end;
static const char *cmocka_name;
static char cmocka_message[200];

#define print_message(...) ((void)snprintf(cmocka_message, sizeof cmocka_message, __VA_ARGS__))
static void skip(void) { printf("skipped %s: %s", cmocka_name, cmocka_message); longjmp(cmocka_end, 2); }
static void cmocka_check(int holds, const char *text) {
    if (holds) return;
    printf("failed %s: %s\n", cmocka_name, text);
    longjmp(cmocka_end, 1);
}

#define cmocka_unit_test(test) {#test, test}
static int cmocka_run(const struct CMUnitTest *tests, size_t count) {
    volatile int failures = 0;
    for (volatile size_t i = 0; i < count; i++) {
        void *state = NULL;
        cmocka_name = tests[i].name;
        switch (setjmp(cmocka_end)) {
        case 0: tests[i].run(&state); printf("ok %s\n", cmocka_name); break;
        case 1: failures++; break;
        }
    }
    return failures;
}
#define cmocka_run_group_tests(tests, before, after) cmocka_run(tests, sizeof tests / sizeof tests[0])

#define fail_msg(...) (print_message(__VA_ARGS__), cmocka_check(0, cmocka_message))
#define assert_true(condition) cmocka_check((condition) != 0, #condition)
#define assert_false(condition) cmocka_check(!(condition), "not " #condition)
#define assert_int_equal(a, b) cmocka_check((unsigned long long)(a) == (unsigned long long)(b), #a)
#define assert_null(a) cmocka_check((a) == NULL, #a)
#define assert_non_null(a) cmocka_check((a) != NULL, #a)
#define assert_ptr_equal(a, b) cmocka_check((const void *)(a) == (const void *)(b), #a)
#define assert_string_equal(a, b) cmocka_check(strcmp(a, b) == 0, #a)
#define assert_memory_equal(a, b, size) cmocka_check(memcmp(a, b, size) == 0, #a)
