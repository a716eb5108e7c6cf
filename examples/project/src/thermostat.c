#include "thermostat.h"

void thermostat_init(struct thermostat *t, int target, int margin) {
    t->target = target;
    t->margin = margin;
    t->heating = 0;
    t->switches = 0;
}

void thermostat_update(struct thermostat *t, int temperature) {
    if (!t->heating && temperature < t->target - t->margin) {
        t->heating = 1;
        t->switches++;
    } else if (t->heating && temperature > t->target + t->margin) {
        t->heating = 0;
        t->switches++;
    }
}

int thermostat_heating(const struct thermostat *t) {
    return t->heating;
}
