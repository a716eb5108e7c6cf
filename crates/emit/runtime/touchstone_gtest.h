/* GoogleTest for tests that are written in C.
 *
 * GoogleTest's own macros are C++. A test file includes the program's C source, so these macros replace them: they report to
 * GoogleTest with the file and line of the check. touchstone_gtest.cc is the C++ side.
 */
#ifndef TOUCHSTONE_GTEST_H
#define TOUCHSTONE_GTEST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The location of a check, and its expressions. */
struct touchstone_check {
    const char *file;
    int line;
    const char *expected;
    const char *actual;
};

void touchstone_equal_int(struct touchstone_check check, long long expected, long long actual);
void touchstone_equal_uint(struct touchstone_check check, unsigned long long expected, unsigned long long actual);
void touchstone_equal_double(struct touchstone_check check, double expected, double actual);
void touchstone_equal_pointer(struct touchstone_check check, const void *expected, const void *actual);
void touchstone_equal_text(struct touchstone_check check, const char *expected, const char *actual);
/* Elements of `size` bytes, negative for signed integers. */
void touchstone_equal_array(struct touchstone_check check, const void *expected, const void *actual, size_t bytes, int size);
void touchstone_truth(struct touchstone_check check, int expected, int actual);
void touchstone_skip(const char *file, int line, const char *why);
void touchstone_fail(const char *file, int line, const char *why);

#ifdef __cplusplus
}
#else

/* The program may define macros of the same names, which are replaced here. */
#undef EXPECT_EQ
#undef EXPECT_TRUE
#undef EXPECT_FALSE
#undef EXPECT_STREQ
#undef EXPECT_ARRAY_EQ
#undef GTEST_SKIP
#undef SET

#define TOUCHSTONE_CHECK(expected, actual) ((struct touchstone_check){__FILE__, __LINE__, expected, actual})
#define EXPECT_EQ(expected, actual)                                                                               \
    _Generic((actual),                                                                                            \
        float: touchstone_equal_double, double: touchstone_equal_double,                                          \
        unsigned long: touchstone_equal_uint, unsigned long long: touchstone_equal_uint,                          \
        const void *: touchstone_equal_pointer,                                                                   \
        default: touchstone_equal_int)(TOUCHSTONE_CHECK(#expected, #actual), expected, actual)
#define EXPECT_TRUE(condition) touchstone_truth(TOUCHSTONE_CHECK("true", #condition), 1, (condition) != 0)
#define EXPECT_FALSE(condition) touchstone_truth(TOUCHSTONE_CHECK("false", #condition), 0, (condition) != 0)
#define EXPECT_STREQ(expected, actual) touchstone_equal_text(TOUCHSTONE_CHECK(#expected, #actual), expected, actual)
/* Compares all elements of an array of integers of `type`, of any rank. */
#define EXPECT_ARRAY_EQ(type, expected, actual)                                                                   \
    touchstone_equal_array(TOUCHSTONE_CHECK(#expected, #actual), &(expected), (const void *)&(actual),            \
                           sizeof(expected), (type)-1 < (type)1 ? -(int)sizeof(type) : (int)sizeof(type))
#define GTEST_SKIP(why)                           \
    do {                                          \
        touchstone_skip(__FILE__, __LINE__, why); \
        return;                                   \
    } while (0)

#endif
#endif
