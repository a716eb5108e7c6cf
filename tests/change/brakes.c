// Wheel brakes of an aircraft, in the manner of such controllers: which of two lines brakes, and how hard. Versions of it are made by
// `crates/cli/tests/cli/change/versions.rs`.

int command;   // 0 to 4
int alternate; // 0 or 1: the second line brakes
int latched;   // 0 or 1: the first line failed
int pressure;  // 0 to 4

static int demanded(int pedal, int automatic, int skid) {
    int wanted = pedal == 0 && automatic ? 2 : pedal;
    if (skid && wanted > 0)
        wanted = wanted > 2 ? wanted - 2 : 0;
    return wanted;
}

static int follows(int wanted) {
    if (wanted > pressure)
        return pressure + 1;
    return wanted;
}

int update(int pedal, int automatic, int skid) {
    if (pedal < 0 || pedal > 4)
        return -1;
    command = demanded(pedal, automatic, skid);
    if (!latched && command != pressure && command - pressure > 3)
        latched = 1;
    alternate = latched || (alternate && command > 0);
    if (alternate)
        pressure = command >= 3 ? 3 : command;
    else
        pressure = follows(command);
    return pressure;
}
