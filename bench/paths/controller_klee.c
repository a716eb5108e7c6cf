// KLEE driver for controller.c.
#include "controller.c"
#include <klee/klee.h>

int main(void) {
    int speed, limit, revs, gear, throttle, brake, temperature, battery, slope;
    klee_make_symbolic(&speed, sizeof speed, "speed");
    klee_make_symbolic(&limit, sizeof limit, "limit");
    klee_make_symbolic(&revs, sizeof revs, "revs");
    klee_make_symbolic(&gear, sizeof gear, "gear");
    klee_make_symbolic(&throttle, sizeof throttle, "throttle");
    klee_make_symbolic(&brake, sizeof brake, "brake");
    klee_make_symbolic(&temperature, sizeof temperature, "temperature");
    klee_make_symbolic(&battery, sizeof battery, "battery");
    klee_make_symbolic(&slope, sizeof slope, "slope");
    return engine_step(speed, limit, revs, gear, throttle, brake, temperature, battery, slope);
}
