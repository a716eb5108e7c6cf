/* A test that dies: what it did before counts. */
#include "thermostat.h"
#include <assert.h>
#include <stdlib.h>

int main(void) {
    struct thermostat t;
    thermostat_init(&t, 20, 1);
    assert(t.target == 20);
    thermostat_update(&t, 10);
    abort();
}
