/* Stubs of external functions: what they return, and the arguments of their calls.
 *
 *     STUB(measure, int, (int a1), a1)
 *
 *     RETURNS(int, measure, 106);     the result of the next call
 *     WRITES(int, fetch, to, 5);      the value that the next call writes to the pointee of its parameter `to`
 *     KEEPS(fetch, to);               the next call does not write there; only needed if a later call does
 *     CHANGES(fetch, mode, 3);        the value that the next call assigns to the variable `mode`
 *     SETS_ERRNO(fetch, 11);          the value that the next call assigns to `errno`
 *     FAILS(fetch);                   the next call ends the program
 *     CALLED(measure, 3);             after the tested call: the next recorded call, with its arguments
 *     NO_MORE_CALLS();                there were no further calls
 *
 * The header of the test framework must be included before. This header declares nothing of the library, so that no name
 * of the program can clash with it.
 */
#ifndef TOUCHSTONE_STUBS_H
#define TOUCHSTONE_STUBS_H

#include <stddef.h>

#undef RETURNS
#undef WRITES
#undef WRITTEN
#undef KEEPS
#undef CHANGES
#undef SETS_ERRNO
#undef FAILS
#undef FAILED
#undef ANSWER
#undef ANSWERED
#undef STUB_AS_SAID
#undef STUB
#undef STUB_OF_NOTHING
#undef STUB_THAT_WRITES
#undef STUB_THAT_ONLY_WRITES
#undef STUB_THAT_ENDS
#undef STUB_TIME
#undef STUB_OF_THE_WORLD
#undef CALLED
#undef NO_MORE_CALLS
#undef FORGET_CALLS
#undef ADDRESS
#undef REAL
#undef ANYTHING

/* A stub and the function that it replaces may differ in their types, but not in their calling convention. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif

#if defined(TOUCHSTONE_TEST_H)
#define TOUCHSTONE_FAIL(why) touchstone_fail(why)
#elif defined(TOUCHSTONE_GTEST_H)
#define TOUCHSTONE_FAIL(why) touchstone_fail(__FILE__, __LINE__, why)
#elif defined(TEST_FAIL_MESSAGE)
#define TOUCHSTONE_FAIL(why) TEST_FAIL_MESSAGE(why)
#else
#define TOUCHSTONE_FAIL(why) fail_msg("%s", why)
#endif

extern int *__errno_location(void);

#define TOUCHSTONE_MOST_CALLS 256
#define TOUCHSTONE_MOST_VALUES 16

struct touchstone_call {
    const char *name;
    size_t count;
    long long values[TOUCHSTONE_MOST_VALUES];
};

static struct touchstone_call touchstone_calls[TOUCHSTONE_MOST_CALLS];
static size_t touchstone_made, touchstone_seen;
static const char touchstone_anything = 0;

/* Recorded arguments: integers unchanged, pointers by ADDRESS, floats by REAL. */
#define ADDRESS(place) ((long long)(__INTPTR_TYPE__)(place))
#define REAL(number) touchstone_real(number)
/* Matches any argument. */
#define ANYTHING ADDRESS(&touchstone_anything)

__attribute__((__unused__)) static long long touchstone_real(double number) {
    long long bits;
    if (number != number) return -1;
    __builtin_memcpy(&bits, &number, sizeof bits);
    return bits;
}

__attribute__((__unused__)) static void touchstone_record(const char *name, const long long *values, size_t count) {
    if (touchstone_made < TOUCHSTONE_MOST_CALLS) {
        struct touchstone_call *call = &touchstone_calls[touchstone_made];
        size_t i;
        call->name = name;
        call->count = count < TOUCHSTONE_MOST_VALUES ? count : TOUCHSTONE_MOST_VALUES;
        for (i = 0; i < call->count; i++) call->values[i] = values[i];
    }
    touchstone_made++;
}

/* The mismatch of the next recorded call, or NULL. */
__attribute__((__unused__)) static const char *touchstone_next_call(const char *name, const long long *values, size_t count) {
    static char text[160];
    size_t i, index = touchstone_seen;
    if (index >= touchstone_made) {
        __builtin_snprintf(text, sizeof text, "call %u: expected one of %s, there was none", (unsigned)index + 1, name);
        return text;
    }
    touchstone_seen++;
    struct touchstone_call *call = &touchstone_calls[index];
    if (__builtin_strcmp(call->name, name) != 0) {
        __builtin_snprintf(text, sizeof text, "call %u: expected %s, got %s", (unsigned)index + 1, name, call->name);
        return text;
    }
    for (i = 0; i < count && i < call->count; i++) {
        if (values[i] != call->values[i] && values[i] != ANYTHING) {
            __builtin_snprintf(text, sizeof text, "call %u, argument %u of %s: expected %lld, got %lld", (unsigned)index + 1,
                               (unsigned)i + 1, name, values[i], call->values[i]);
            return text;
        }
    }
    return NULL;
}

__attribute__((__unused__)) static const char *touchstone_other_call(void) {
    static char text[160];
    if (touchstone_made <= touchstone_seen) return NULL;
    const char *name = touchstone_seen < TOUCHSTONE_MOST_CALLS ? touchstone_calls[touchstone_seen].name : "?";
    __builtin_snprintf(text, sizeof text, "call %u of %s was not expected", (unsigned)touchstone_seen + 1, name);
    return text;
}

/* Checks the next recorded call of any stub. */
#define CALLED(function, ...)                                                                               \
    do {                                                                                                    \
        const long long touchstone_values[] = {0, __VA_ARGS__};                                             \
        const char *touchstone_why =                                                                        \
            touchstone_next_call(#function, touchstone_values + 1, sizeof touchstone_values / 8 - 1);       \
        if (touchstone_why) TOUCHSTONE_FAIL(touchstone_why);                                                \
    } while (0)
#define NO_MORE_CALLS()                                                                                     \
    do {                                                                                                    \
        const char *touchstone_why = touchstone_other_call();                                               \
        if (touchstone_why) TOUCHSTONE_FAIL(touchstone_why);                                                \
    } while (0)

#ifndef TOUCHSTONE_TEST_H
/* The results of calls. Touchstone's own runner implements this itself, with a process per test. */
#define TOUCHSTONE_MOST_BYTES 16384

struct touchstone_result {
    const char *name;
    void *to; /* for a change outside of the stub's arguments */
    size_t at, size;
};

static struct touchstone_result touchstone_results[TOUCHSTONE_MOST_CALLS];
static unsigned char touchstone_bytes[TOUCHSTONE_MOST_BYTES];
static size_t touchstone_given, touchstone_taken, touchstone_filled;

__attribute__((__unused__)) static void touchstone_change(const char *name, void *to, const void *bytes, size_t size) {
    if (touchstone_given < TOUCHSTONE_MOST_CALLS && size <= TOUCHSTONE_MOST_BYTES - touchstone_filled) {
        struct touchstone_result *result = &touchstone_results[touchstone_given++];
        result->name = name;
        result->to = to;
        result->at = touchstone_filled;
        result->size = size;
        __builtin_memcpy(touchstone_bytes + touchstone_filled, bytes, size);
        touchstone_filled += size;
    } else {
        TOUCHSTONE_FAIL("there is no room for so many results");
    }
}

__attribute__((__unused__)) static void touchstone_input(const char *name, const unsigned char *bytes, size_t size) {
    touchstone_change(name, NULL, bytes, size);
}

__attribute__((__unused__)) static void touchstone_written(void *to, const char *name) {
    struct touchstone_result *result = &touchstone_results[touchstone_taken];
    if (touchstone_taken < touchstone_given && !result->to && __builtin_strcmp(result->name, name) == 0) {
        if (to) __builtin_memcpy(to, touchstone_bytes + result->at, result->size);
        touchstone_taken++;
    }
}

__attribute__((__unused__)) static void touchstone_changed(const char *name) {
    while (touchstone_taken < touchstone_given && touchstone_results[touchstone_taken].to &&
           __builtin_strcmp(touchstone_results[touchstone_taken].name, name) == 0) {
        struct touchstone_result *result = &touchstone_results[touchstone_taken++];
        __builtin_memcpy(result->to, touchstone_bytes + result->at, result->size);
    }
}

__attribute__((__unused__)) static void touchstone_answer(void *to, size_t size, const char *name) {
    static char text[160];
    struct touchstone_result *result = &touchstone_results[touchstone_taken];
    __builtin_memset(to, 0, size);
    if (touchstone_taken < touchstone_given && result->size == size && __builtin_strcmp(result->name, name) == 0) {
        __builtin_memcpy(to, touchstone_bytes + result->at, size);
        touchstone_taken++;
        return;
    }
    __builtin_snprintf(text, sizeof text, "the program calls %s, the test has %s", name,
                       touchstone_taken < touchstone_given ? result->name : "no more results");
    TOUCHSTONE_FAIL(text);
}

/* Begins a test, because all tests share one process. */
#define FORGET_CALLS() \
    ((void)(touchstone_made = touchstone_seen = touchstone_given = touchstone_taken = touchstone_filled = 0))
#endif

#define RETURNS(type, name, ...)                                                                      \
    do {                                                                                              \
        const type touchstone_value = __VA_ARGS__;                                                    \
        touchstone_input(#name, (const unsigned char *)&touchstone_value, sizeof touchstone_value);   \
    } while (0)
#define WRITES(type, name, parameter, ...)                                                            \
    do {                                                                                              \
        const __typeof__(type) touchstone_value = __VA_ARGS__;                                        \
        touchstone_input(#name "." #parameter, (const unsigned char *)&touchstone_value,              \
                         sizeof touchstone_value);                                                    \
    } while (0)
#define KEEPS(name, parameter) touchstone_input(#name "." #parameter, (const unsigned char *)"", 0)
#define CHANGES(name, place, ...)                                                                     \
    do {                                                                                              \
        const __typeof__(place) touchstone_value = __VA_ARGS__;                                       \
        touchstone_change(#name, (void *)&(place), &touchstone_value, sizeof touchstone_value);       \
    } while (0)
#define SETS_ERRNO(name, number) CHANGES(name, *__errno_location(), number)
#define WRITTEN(name, parameter, to) touchstone_written((void *)(to), #name "." #parameter);
#define FAILS(name) touchstone_input(#name ".!", (const unsigned char *)"\1", 1)
#define FAILED(name)                                            \
    do {                                                        \
        char touchstone_mark = 0;                               \
        touchstone_written(&touchstone_mark, #name ".!");       \
        if (touchstone_mark) __builtin_abort();                 \
    } while (0);
#define ANSWER(type, name)                                             \
    do {                                                               \
        type touchstone_value;                                         \
        touchstone_answer((void *)&touchstone_value, sizeof touchstone_value, name); \
        return touchstone_value;                                       \
    } while (0)

/* The stub of an external function. It has the type of the program's declaration; its own parameters only need the same
 * argument class. */
#define TOUCHSTONE_KEEP(name, ...)                                                              \
    do {                                                                                        \
        const long long touchstone_values[] = {0, __VA_ARGS__};                                 \
        touchstone_record(#name, touchstone_values + 1, sizeof touchstone_values / 8 - 1);      \
    } while (0)
#define TOUCHSTONE_RECORD(name, ...)       \
    do {                                   \
        TOUCHSTONE_KEEP(name, __VA_ARGS__); \
        touchstone_changed(#name);         \
    } while (0)
#define TOUCHSTONE_ALIAS(name) extern __typeof__(name) name __attribute__((__alias__("touchstone_stub_" #name)));
#define STUB(name, type, parameters, ...)                   \
    static type touchstone_stub_##name parameters {         \
        TOUCHSTONE_RECORD(name, __VA_ARGS__);               \
        ANSWER(type, #name);                                \
    }                                                       \
    TOUCHSTONE_ALIAS(name)
#define STUB_OF_NOTHING(name, parameters, ...)              \
    static void touchstone_stub_##name parameters {         \
        TOUCHSTONE_RECORD(name, __VA_ARGS__);               \
    }                                                       \
    TOUCHSTONE_ALIAS(name)
/* Stubs that may write to pointees of their arguments: WRITTEN(fetch, to, a1) */
#define STUB_THAT_WRITES(name, type, parameters, written, ...) \
    static type touchstone_stub_##name parameters {            \
        TOUCHSTONE_RECORD(name, __VA_ARGS__);                  \
        written                                                \
        ANSWER(type, #name);                                   \
    }                                                          \
    TOUCHSTONE_ALIAS(name)
#define STUB_THAT_ONLY_WRITES(name, parameters, written, ...) \
    static void touchstone_stub_##name parameters {           \
        TOUCHSTONE_RECORD(name, __VA_ARGS__);                 \
        written                                               \
    }                                                         \
    TOUCHSTONE_ALIAS(name)
/* The stub of a described function: its side effects depend on its result. */
#define ANSWERED(type, name, done)                                     \
        type touchstone_value;                                         \
        touchstone_answer((void *)&touchstone_value, sizeof touchstone_value, name); \
        done                                                           \
        return touchstone_value;
#define STUB_AS_SAID(name, type, parameters, written, ...)             \
    static type touchstone_stub_##name parameters {                    \
        TOUCHSTONE_KEEP(name, __VA_ARGS__);                            \
        ANSWERED(type, #name, touchstone_changed(#name); written)      \
    }                                                                  \
    TOUCHSTONE_ALIAS(name)
/* The stub of a function that does not return. */
#define STUB_THAT_ENDS(name, parameters, ...)                                   \
    __attribute__((__noreturn__)) static void touchstone_stub_##name parameters { \
        TOUCHSTONE_RECORD(name, __VA_ARGS__);                                   \
        __builtin_exit(0);                                                      \
    }                                                                           \
    TOUCHSTONE_ALIAS(name)
/* Sources of time and randomness: their arguments do not matter. */
#define STUB_OF_THE_WORLD(name, type)                                        \
    static type touchstone_stub_##name(void) { ANSWER(type, #name); }        \
    TOUCHSTONE_ALIAS(name)
#define STUB_TIME(name)                                                              \
    static __typeof__(name(0)) touchstone_stub_##name(__typeof__(name(0)) *to) {     \
        __typeof__(name(0)) now;                                                     \
        touchstone_answer(&now, sizeof now, #name);                                  \
        if (to) *to = now;                                                           \
        return now;                                                                  \
    }                                                                                \
    TOUCHSTONE_ALIAS(name)

#endif
