/* As much of Unity's interface as our tests use, written for them: each test prints `ok`, `failed` or `skipped`. */
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf unity_end;
static const char *unity_name;
static int unity_failures;

static void unity_skip(const char *why) { printf("skipped %s: %s\n", unity_name, why); longjmp(unity_end, 1); }
static void unity_check(int holds, const char *text) {
    if (holds) return;
    printf("failed %s: %s\n", unity_name, text);
    unity_failures = 1;
    longjmp(unity_end, 1);
}

#define UNITY_BEGIN() (unity_failures = 0)
#define UNITY_END() unity_failures
#define RUN_TEST(test)                                                                    \
    do {                                                                                  \
        unity_name = #test;                                                               \
        setUp();                                                                          \
        if (!setjmp(unity_end)) { test(); printf("ok %s\n", unity_name); }                \
        tearDown();                                                                       \
    } while (0)
#define TEST_IGNORE_MESSAGE(why) unity_skip(why)
#define TEST_FAIL_MESSAGE(why) unity_check(0, why)
#define TEST_ASSERT_TRUE(condition) unity_check((condition) != 0, #condition)
#define TEST_ASSERT_FALSE(condition) unity_check(!(condition), "not " #condition)
#define TEST_ASSERT_EQUAL_INT(expected, actual) unity_check((long long)(expected) == (long long)(actual), #actual)
#define TEST_ASSERT_EQUAL_UINT(expected, actual) TEST_ASSERT_EQUAL_INT(expected, actual)
#define TEST_ASSERT_EQUAL_INT64(expected, actual) TEST_ASSERT_EQUAL_INT(expected, actual)
#define TEST_ASSERT_EQUAL_UINT64(expected, actual) TEST_ASSERT_EQUAL_INT(expected, actual)
#define TEST_ASSERT_NULL(actual) unity_check((actual) == 0, #actual)
#define TEST_ASSERT_NOT_NULL(actual) unity_check((actual) != 0, #actual)
#define TEST_ASSERT_EQUAL_PTR(expected, actual) unity_check((const void *)(expected) == (const void *)(actual), #actual)
#define TEST_ASSERT_EQUAL_MEMORY(expected, actual, size) unity_check(memcmp(expected, actual, size) == 0, #actual)
#define TEST_ASSERT_EQUAL_STRING(expected, actual) unity_check(strcmp(expected, actual) == 0, #actual)
#define TEST_ASSERT_FLOAT_WITHIN(delta, expected, actual) unity_check((expected) == (actual), #actual)
#define TEST_ASSERT_DOUBLE_WITHIN(delta, expected, actual) unity_check((expected) == (actual), #actual)
#define TEST_ASSERT_EQUAL_INT32_ARRAY(expected, actual, count) unity_check(memcmp(expected, actual, 4 * (count)) == 0, #actual)
#define TEST_ASSERT_EQUAL_INT8_ARRAY(expected, actual, count) unity_check(memcmp(expected, actual, count) == 0, #actual)
