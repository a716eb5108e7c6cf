// KLEE driver for matcher.c.
#include "matcher.c"
#include <klee/klee.h>

int main(void) {
    char pattern[PATTERN + 1];
    char text[TEXT + 1];
    klee_make_symbolic(pattern, sizeof pattern, "pattern");
    klee_make_symbolic(text, sizeof text, "text");
    klee_assume(pattern[PATTERN] == '\0');
    klee_assume(text[TEXT] == '\0');
    return matches(pattern, text);
}
