// Bench: an engine controller without loops. Nine unconstrained inputs; comparisons with constants and between inputs,
// some of which exclude each other.
//
// expect: engine_step tests=15974

enum fault { OVERHEATED = 1, OVERSPEED = 2, LOW_BATTERY = 4, BAD_GEAR = 8 };

int engine_step(int speed, int limit, int revs, int gear, int throttle, int brake, int temperature, int battery,
                int slope) {
    int faults = 0;
    int torque = 0;
    int shift = 0;

    // Faults.
    if (temperature > 120)
        faults |= OVERHEATED;
    if (battery < 11)
        faults |= LOW_BATTERY;
    if (speed > limit)
        faults |= OVERSPEED;
    if (gear < 0 || gear > 6)
        faults |= BAD_GEAR;

    // What the driver wants.
    if (brake > 0) {
        torque = brake > 50 ? -100 : -brake;
    } else if (throttle > 0) {
        torque = throttle > 90 ? 100 : throttle;
    }
    if (speed < 5 && brake > throttle)
        torque = 0;

    // Hills.
    if (slope > 8 && speed + 20 < limit)
        torque += 10;
    else if (slope < -8)
        torque -= 10;

    // Gear.
    if (revs > 4000 && gear < 6)
        shift = 1;
    else if (revs < 1200 && gear > 1)
        shift = -1;
    if (shift != 0 && speed > 130)
        shift = 0;

    // Limits.
    if (torque > 0) {
        if (faults & OVERHEATED)
            torque = torque / 2;
        if (faults & OVERSPEED)
            torque = 0;
        else if (limit < 30 && torque > 40)
            torque = 40;
    }
    if (temperature > 90 && battery >= 13)
        torque -= 5; // fan
    if (temperature < 0)
        torque += 2; // heater
    return shift == 0 ? torque : torque - shift;
}
