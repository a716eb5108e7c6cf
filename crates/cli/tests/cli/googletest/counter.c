#include "counter.h"

void counter_init(struct counter *c, int limit) {
    c->value = 0;
    c->limit = limit;
    c->lost = 0;
}

int counter_add(struct counter *c, int by) {
    if (by < 0)
        return -1;
    if (c->value + by > c->limit) {
        c->lost++;
        return 0;
    }
    c->value += by;
    return 1;
}

void counter_name(char *to, char name) {
    to[0] = name;
    to[1] = 0;
}
