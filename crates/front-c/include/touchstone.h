/* Inputs, assumptions and assertions for Touchstone. Ordinary builds link their own definitions of these functions. */
#ifndef TOUCHSTONE_H
#define TOUCHSTONE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the bytes at address an input of the program, with this name. */
void touchstone_symbolic(void *address, size_t size, const char *name);

/* Ignores executions on which the condition is 0. */
void touchstone_assume(long condition);

/* Reports an execution on which the condition is 0 as an error. */
void touchstone_assert(long condition);

/* A test objective: to reach this point while the condition holds. The program itself never evaluates it. */
void touchstone_label(long id, long condition);

/* Under `touchstone measure`, attributes the following coverage to the test of this name. Otherwise without effect. */
#ifdef __GNUC__
extern void touchstone_test_begin(const char *name) __attribute__((weak));
#define touchstone_test_begin(name) (touchstone_test_begin ? touchstone_test_begin(name) : (void)0)
#endif

#ifdef __cplusplus
}
#endif

#endif
