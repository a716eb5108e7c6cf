/** Wheel brake system: which of two pressure lines brakes, and how hard. */
public class WheelBrakes {
    private int command;
    private boolean alternate;
    private boolean latched;
    private int pressure;

    /** One step of the controller. */
    int update(int pedal, boolean autoBrake, boolean skid) {
        if (pedal < 0 || pedal > 4) {
            throw new IllegalArgumentException("pedal");
        }
        command = pedal == 0 && autoBrake ? 2 : pedal;
        if (skid && command > 0) {
            command = command > 2 ? command - 2 : 0;
        }
        if (!latched && command != pressure && command - pressure > 3) {
            latched = true;
        }
        alternate = latched || (alternate && command > 0);
        if (alternate) {
            pressure = command >= 3 ? 3 : command;
        } else if (command > pressure) {
            pressure = pressure + 1;
        } else {
            pressure = command;
        }
        return pressure;
    }

    /** The ground crew has inspected it; what brakes stays as it is. */
    void repaired() {
        latched = false;
    }

    boolean isAlternate() {
        return alternate;
    }

    int pressure() {
        return pressure;
    }
}
