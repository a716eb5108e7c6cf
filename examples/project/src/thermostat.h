/* A thermostat: heats below its target, with a margin so that it doesn't switch all the time. */
#ifndef THERMOSTAT_H
#define THERMOSTAT_H

struct thermostat {
    int target;
    int margin;
    int heating;
    int switches; /* how often the heating was turned on or off */
};

void thermostat_init(struct thermostat *t, int target, int margin);
void thermostat_update(struct thermostat *t, int temperature);
int thermostat_heating(const struct thermostat *t);

#endif
