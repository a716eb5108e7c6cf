package touchstone;

/** Labels: things that tests are asked to do. Copy it where you like; it does nothing. */
public final class Label {
    private Label() {
    }

    /** Asks for a test that gets here with the condition true. */
    public static void label(int id, boolean condition) {
    }

    /** The same, with a name. */
    public static void label(String id, boolean condition) {
    }
}
