#include "link.h"
static int hidden(void) { return 2; }
static long state = 20;
int shared;
int table[] = {1, 2, 3};
struct opaque { int v; };
static struct opaque one = {77};
static int counter(void) { static int n = 50; return ++n; }
int b_hidden(void) { return hidden() + counter() * 0; }
int b_state(void) { return (int)(++state + shared); }
struct opaque *b_make(void) { return &one; }
int b_value(struct opaque *o) { return o->v + twice(1); }
int common_sum(struct common *c) { return c->a + c->b; }
int puts_count(const char *s) { return puts(s) + abs(-3); }
int puts(const char *s) { return 40 + (s[0] == 'x'); }
int abs(int x) { return x == -3 ? 100 : x; }
