/* A few macros in the style of Unity, enough for the tests here. */
#ifndef UNITY_H
#define UNITY_H

#include <stdio.h>
#include <stdlib.h>

static inline void UnityFail(const char *what, int line) {
    fprintf(stderr, "line %d: %s\n", line, what);
    exit(1);
}

#define TEST_ASSERT(condition)               \
    do {                                     \
        if (!(condition))                    \
            UnityFail(#condition, __LINE__); \
    } while (0)
#define TEST_ASSERT_EQUAL_INT(expected, actual) TEST_ASSERT((expected) == (actual))
#define RUN_TEST(test) test()

#endif
