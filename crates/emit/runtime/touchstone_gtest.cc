/* GoogleTest for tests that are written in C: the C++ side of touchstone_gtest.h.
 */
#include "touchstone_gtest.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace {

template <typename T>
void equal(const touchstone_check &check, const T &expected, const T &actual) {
    if (expected == actual) return;
    ADD_FAILURE_AT(check.file, check.line) << "Expected equality of these values:\n  " << check.expected
                                           << "\n    Which is: " << testing::PrintToString(expected) << "\n  "
                                           << check.actual << "\n    Which is: " << testing::PrintToString(actual);
}

long long number(const unsigned char *bytes, int size) {
    switch (size) {
    case -1: { std::int8_t value; std::memcpy(&value, bytes, sizeof value); return value; }
    case -2: { std::int16_t value; std::memcpy(&value, bytes, sizeof value); return value; }
    case -4: { std::int32_t value; std::memcpy(&value, bytes, sizeof value); return value; }
    default: break;
    }
    /* Little endian, as on every machine that Touchstone writes tests for. */
    unsigned long long value = 0;
    std::memcpy(&value, bytes, static_cast<size_t>(size < 0 ? -size : size));
    return static_cast<long long>(value);
}

}  // namespace

extern "C" {

void touchstone_equal_int(touchstone_check check, long long expected, long long actual) { equal(check, expected, actual); }
void touchstone_equal_uint(touchstone_check check, unsigned long long expected, unsigned long long actual) {
    equal(check, expected, actual);
}
void touchstone_equal_double(touchstone_check check, double expected, double actual) { equal(check, expected, actual); }
void touchstone_equal_pointer(touchstone_check check, const void *expected, const void *actual) {
    equal(check, expected, actual);
}
void touchstone_equal_text(touchstone_check check, const char *expected, const char *actual) {
    if (actual && std::strcmp(expected, actual) == 0) return;
    ADD_FAILURE_AT(check.file, check.line) << "Expected equality of these texts:\n  " << check.expected << "\n  "
                                           << check.actual << "\n    Which is: " << (actual ? actual : "NULL");
}
void touchstone_equal_array(touchstone_check check, const void *expected, const void *actual, size_t bytes, int size) {
    const size_t step = static_cast<size_t>(size < 0 ? -size : size);
    for (size_t at = 0; at < bytes; at += step) {
        const long long want = number(static_cast<const unsigned char *>(expected) + at, size);
        const long long have = number(static_cast<const unsigned char *>(actual) + at, size);
        if (want != have) {
            ADD_FAILURE_AT(check.file, check.line)
                << check.actual << ": element " << at / step << " is " << have << ", expected " << want;
        }
    }
}
void touchstone_truth(touchstone_check check, int expected, int actual) {
    if (expected != actual) {
        ADD_FAILURE_AT(check.file, check.line) << "Value of: " << check.actual << "\nExpected: " << check.expected;
    }
}
void touchstone_fail(const char *file, int line, const char *why) { ADD_FAILURE_AT(file, line) << why; }
void touchstone_skip(const char *file, int line, const char *why) { GTEST_SKIP() << file << ":" << line << ": " << why; }
}
