/* Inputs, assumptions and assertions for Touchstone. Ordinary builds link their own definitions of these functions. */
#ifndef TOUCHSTONE_H
#define TOUCHSTONE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes at address become an input of the program, called name. */
void touchstone_symbolic(void *address, size_t size, const char *name);

/* Executions on which the condition is 0 are not considered. */
void touchstone_assume(long condition);

/* An execution on which the condition is 0 is an error. */
void touchstone_assert(long condition);

/* A test objective: to get here while the condition holds. Never evaluated by the program itself. */
void touchstone_label(long id, long condition);

/* Under `touchstone measure`: what is covered from here on is covered by the test of this name. Nothing otherwise. */
#ifdef __GNUC__
extern void touchstone_test_begin(const char *name) __attribute__((weak));
#define touchstone_test_begin(name) (touchstone_test_begin ? touchstone_test_begin(name) : (void)0)
#endif

#ifdef __cplusplus
}
#endif

#endif
