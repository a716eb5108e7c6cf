/** Modes of a flight guidance: one lateral and one vertical mode, and what buttons do to them. */
public class FlightGuidance {
    enum Lateral { ROLL, HEADING, NAVIGATION, APPROACH }

    enum Vertical { PITCH, HOLD, SPEED, GLIDE }

    enum Button { HEADING, NAVIGATION, APPROACH, ALTITUDE, SPEED, AUTOPILOT }

    private Lateral lateral = Lateral.ROLL;
    private Vertical vertical = Vertical.PITCH;
    private boolean autopilot;
    private boolean armed;

    void press(Button button) {
        switch (button) {
            case HEADING -> lateral = lateral == Lateral.HEADING ? Lateral.ROLL : Lateral.HEADING;
            case NAVIGATION -> lateral = lateral == Lateral.NAVIGATION ? Lateral.ROLL : Lateral.NAVIGATION;
            case APPROACH -> armed = !armed && lateral != Lateral.APPROACH;
            case ALTITUDE -> vertical = vertical == Vertical.HOLD ? Vertical.PITCH : Vertical.HOLD;
            case SPEED -> vertical = vertical == Vertical.SPEED ? Vertical.PITCH : Vertical.SPEED;
            case AUTOPILOT -> autopilot = !autopilot;
        }
    }

    /** Takes the readings of the receivers. */
    boolean sense(boolean onCourse, boolean onGlide, int height) {
        if (armed && onCourse && (lateral == Lateral.NAVIGATION || lateral == Lateral.HEADING)) {
            lateral = Lateral.APPROACH;
            armed = false;
        }
        if (lateral == Lateral.APPROACH && onGlide && vertical != Vertical.GLIDE) {
            vertical = Vertical.GLIDE;
        }
        if (autopilot && height < 200 && !(lateral == Lateral.APPROACH && vertical == Vertical.GLIDE)) {
            autopilot = false;
        }
        return autopilot;
    }

    Lateral lateral() {
        return lateral;
    }

    Vertical vertical() {
        return vertical;
    }
}
