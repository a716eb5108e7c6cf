/* Allocations that fail.
 *
 *     FAIL_ALLOCATION(2);     the second allocation of the program from here on fails
 *
 * These definitions of malloc, calloc, realloc, reallocarray, aligned_alloc, strdup and strndup take precedence over those of
 * the shared library for calls in the program; allocations of the library itself are not counted. This header declares nothing
 * of the library, so that no name of the program can clash with it. An allocator of the program takes precedence over these
 * definitions, which are weak.
 */
#ifndef TOUCHSTONE_ALLOCATIONS_H
#define TOUCHSTONE_ALLOCATIONS_H

#include <stddef.h>

#undef FAIL_ALLOCATION

/* A sanitizer calls these before its initialisation, and clang's sanitizer has weak definitions of its own. */
#define TOUCHSTONE_WEAK __attribute__((__weak__, __noinline__, __no_sanitize_address__))
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef TOUCHSTONE_WEAK
#define TOUCHSTONE_WEAK __attribute__((__noinline__, __no_sanitize_address__))
#endif
#endif

/* The set of failing allocations, one bit each, and the number of allocations since it was set. */
__attribute__((__weak__)) unsigned long long touchstone_failing_allocations = 0;
__attribute__((__weak__)) unsigned touchstone_allocations = 0;

#define FAIL_ALLOCATION(number)                                                                             \
    do {                                                                                                    \
        touchstone_failing_allocations |= 1ull << ((number)-1);                                             \
        touchstone_allocations = 0;                                                                         \
    } while (0)

/* The library's allocator, or that of a sanitizer. */
#define TOUCHSTONE_ALLOCATOR(name, parameters)                                                              \
    extern void *__libc_##name parameters;                                                                  \
    extern void *__interceptor_##name parameters __attribute__((__weak__))
#define TOUCHSTONE_REAL(name) (__interceptor_##name ? __interceptor_##name : __libc_##name)
TOUCHSTONE_ALLOCATOR(malloc, (size_t));
TOUCHSTONE_ALLOCATOR(calloc, (size_t, size_t));
TOUCHSTONE_ALLOCATOR(realloc, (void *, size_t));
TOUCHSTONE_ALLOCATOR(memalign, (size_t, size_t));
extern int *__errno_location(void);
extern char __executable_start[] __attribute__((__weak__)), etext[] __attribute__((__weak__));

/* True if the current allocation must fail; the caller must be code of the program. */
TOUCHSTONE_WEAK int touchstone_allocation_fails(const void *caller) {
    const char *at = (const char *)caller;
    unsigned number;
    if (!touchstone_failing_allocations || at < __executable_start || at >= etext) return 0;
    number = touchstone_allocations++;
    if (number >= 64 || !(touchstone_failing_allocations >> number & 1)) return 0;
    touchstone_failing_allocations &= ~(1ull << number);
    *__errno_location() = 12; /* ENOMEM */
    return 1;
}
#define TOUCHSTONE_FAILS touchstone_allocation_fails(__builtin_return_address(0))

TOUCHSTONE_WEAK void *malloc(size_t size) { return TOUCHSTONE_FAILS ? NULL : TOUCHSTONE_REAL(malloc)(size); }
TOUCHSTONE_WEAK void *calloc(size_t count, size_t size) { return TOUCHSTONE_FAILS ? NULL : TOUCHSTONE_REAL(calloc)(count, size); }
TOUCHSTONE_WEAK void *realloc(void *old, size_t size) {
    /* One that only frees asks for nothing. */
    return (size || !old) && TOUCHSTONE_FAILS ? NULL : TOUCHSTONE_REAL(realloc)(old, size);
}
TOUCHSTONE_WEAK void *reallocarray(void *old, size_t count, size_t size) {
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        *__errno_location() = 12;
        return NULL;
    }
    return (all || !old) && TOUCHSTONE_FAILS ? NULL : TOUCHSTONE_REAL(realloc)(old, all);
}
TOUCHSTONE_WEAK void *aligned_alloc(size_t alignment, size_t size) {
    return TOUCHSTONE_FAILS ? NULL : TOUCHSTONE_REAL(memalign)(alignment, size);
}
TOUCHSTONE_WEAK char *strndup(const char *text, size_t most) {
    size_t size = 0;
    char *copy;
    while (size < most && text[size]) size++;
    copy = TOUCHSTONE_FAILS ? NULL : (char *)TOUCHSTONE_REAL(malloc)(size + 1);
    if (copy) {
        __builtin_memcpy(copy, text, size);
        copy[size] = 0;
    }
    return copy;
}
TOUCHSTONE_WEAK char *strdup(const char *text) {
    size_t size = __builtin_strlen(text) + 1;
    char *copy = TOUCHSTONE_FAILS ? NULL : (char *)TOUCHSTONE_REAL(malloc)(size);
    return copy ? (char *)__builtin_memcpy(copy, text, size) : NULL;
}
#endif
