/* Two files: internal names may clash, external ones are shared. */
#include <stdio.h>
#include "link.h"
static int hidden(void) { return 1; }
static int state = 10;
int shared;
extern int table[];
int b_hidden(void);
int b_state(void);
struct opaque;
struct opaque *b_make(void);
int b_value(struct opaque *);
int own_abs(int x) { return x < 0 ? -x : x; }
static int counter(void) { static int n; return ++n; }
int main(void)
{
    shared = 5;
    state++;
    printf("%d %d %d %d\n", hidden(), b_hidden(), state, b_state());
    printf("%d %d\n", shared, table[2]);
    printf("%d\n", b_value(b_make()));
    struct common c = {1, 2};
    printf("%d %d\n", common_sum(&c), twice(4));
    int a = counter(), b = counter();
    printf("%d%d\n", a, b);
    printf("%d\n", own_abs(puts_count("x")));
    return 3;
}
