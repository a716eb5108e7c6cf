// A heating controller without loops: about twenty conditions, some of which depend on each other.
// Run:    touchstone generate examples/controller.c -f step -c paths
// Expect: 8,420 tests; every combination that can't happen is found infeasible.
//
// expect: step tests=8420
// domain: mode=0..3
// domain: target=13,23,30
// domain: inside=2,4,5,16,20,21,22,23,24,25,30,32
// domain: outside=-11,4,27
// domain: pressure=0,5,10,21
// domain: flow=0..2
// domain: door_open=0..1
// domain: previous=0..2
// domain: hour=0,6,22

enum mode { OFF, ECO, COMFORT, BOOST };
enum valve { CLOSED, HALF, OPEN };

struct command {
    int burner;
    int pump;
    int valve;
    int alarm;
};

struct command step(int mode, int target, int inside, int outside, int pressure, int flow, int door_open, int previous,
                    int hour) {
    struct command command = {0, 0, CLOSED, 0};
    int wanted = target;

    // Alarms.
    if (pressure > 20)
        command.alarm |= 1;
    else if (pressure < 5)
        command.alarm |= 2;
    if (inside < 5 || inside > 30)
        command.alarm |= 4;

    // What temperature is wanted?
    switch (mode) {
    case OFF:
        wanted = 5;
        break;
    case ECO:
        wanted = target - 2;
        break;
    case BOOST:
        wanted = target + 2;
        break;
    default:
        break;
    }
    if (hour >= 22 || hour < 6)
        wanted--; // night
    if (wanted > 25)
        wanted = 25;
    else if (wanted < 16 && mode != OFF)
        wanted = 16;
    if (outside > wanted)
        wanted = inside < wanted ? inside : wanted;

    // Heat, with hysteresis.
    if (inside < wanted - 1)
        command.valve = OPEN;
    else if (inside < wanted + 1)
        command.valve = previous;
    if (door_open && command.valve == OPEN)
        command.valve = HALF;

    // Burner and pump.
    if (command.valve != CLOSED && command.alarm == 0) {
        command.burner = outside < -10 ? 2 : 1;
        command.pump = flow < 2 ? 2 : 1;
    } else if (outside < 0 && (flow == 0 || pressure < 10)) {
        command.pump = 1; // frost protection
    }
    if (previous != CLOSED && command.valve == CLOSED)
        command.pump = 1; // cool down
    return command;
}

// What the sensors can deliver.
int step_pre(int mode, int target, int inside, int outside, int pressure, int flow, int door_open, int previous,
             int hour) {
    return OFF <= mode && mode <= BOOST && 10 <= target && target <= 30 && -20 <= inside && inside <= 50 && -40 <= outside &&
           outside <= 50 && 0 <= pressure && pressure <= 40 && 0 <= flow && flow <= 9 && 0 <= door_open && door_open <= 1 &&
           CLOSED <= previous && previous <= OPEN && 0 <= hour && hour <= 23;
}
