/* Declarations that let harnesses written for KLEE compile for Touchstone. */
#ifndef TOUCHSTONE_KLEE_H
#define TOUCHSTONE_KLEE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void klee_make_symbolic(void *address, size_t size, const char *name);
void klee_assume(uintptr_t condition);
int klee_range(int low, int high, const char *name);
int klee_int(const char *name);
void klee_silent_exit(int status) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
