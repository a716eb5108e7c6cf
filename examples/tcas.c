// Advisory logic of an imaginary collision-avoidance unit, in the manner of such programs: sensor values in globals, small
// boolean helpers, nested conditions. Altitudes are in hundreds of feet.
// Run:    touchstone generate examples/tcas.c -f advise -c paths
// Expect: 125 tests, one for every feasible course of the decision; the sensor ranges are in advise_pre.
//
// expect: advise tests=125
// domain: sensors_valid=0..1
// domain: own_altitude=0..7
// domain: other_altitude=0..7
// domain: own_climb=-1..1
// domain: other_climb=-1..1
// domain: closing_speed=0..3
// domain: other_equipped=0..1
// domain: last_advice=0..2

enum advice { NO_ADVICE, CLIMB, DESCEND };
enum layer { LOW_LAYER, HIGH_LAYER };

// Sensors.
int sensors_valid;  // 0 or 1
int own_altitude;   // 0 to 7
int other_altitude; // 0 to 7
int own_climb;      // -1 descending, 0 level, 1 climbing
int other_climb;
int closing_speed;  // 0 to 3
int other_equipped; // 0 or 1: the other aircraft coordinates with us
int last_advice;    // enum advice

// Required separation by layer, in hundreds of feet.
static const int separation[2] = {2, 3};

static int layer(void) {
    return own_altitude < 4 ? LOW_LAYER : HIGH_LAYER;
}

static int distance(void) {
    return own_altitude > other_altitude ? own_altitude - other_altitude : other_altitude - own_altitude;
}

static int is_converging(void) {
    if (own_altitude < other_altitude)
        return own_climb > other_climb;
    return own_climb < other_climb;
}

static int is_threat(void) {
    int required = separation[layer()];
    if (closing_speed == 0)
        return 0;
    if (distance() < required)
        return 1;
    return closing_speed >= 2 && is_converging() && distance() < 2 * required;
}

static int may_climb(void) {
    return own_altitude < 7 && !(other_equipped && other_climb > 0);
}

static int may_descend(void) {
    return own_altitude > 0 && !(other_equipped && other_climb < 0);
}

int advise(void) {
    if (!sensors_valid)
        return NO_ADVICE;
    if (!is_threat())
        return NO_ADVICE;
    // Keep to what was said before while it is still possible.
    if (last_advice == CLIMB && may_climb())
        return CLIMB;
    if (last_advice == DESCEND && may_descend())
        return DESCEND;
    if (own_altitude >= other_altitude) {
        if (may_climb())
            return CLIMB;
        return may_descend() ? DESCEND : NO_ADVICE;
    }
    if (may_descend())
        return DESCEND;
    return may_climb() ? CLIMB : NO_ADVICE;
}

static int between(int low, int value, int high) {
    return low <= value && value <= high;
}

int advise_pre(void) {
    return between(0, sensors_valid, 1) && between(0, own_altitude, 7) && between(0, other_altitude, 7) &&
           between(-1, own_climb, 1) && between(-1, other_climb, 1) && between(0, closing_speed, 3) &&
           between(0, other_equipped, 1) && between(NO_ADVICE, last_advice, DESCEND);
}
