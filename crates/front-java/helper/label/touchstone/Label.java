package touchstone;

/** Labels: user-defined objectives. The class may be copied into a program; its methods do nothing. */
public final class Label {
    private Label() {
    }

    /** Requires a test that reaches this call with a true condition. */
    public static void label(int id, boolean condition) {
    }

    /** Requires such a test, by name. */
    public static void label(String id, boolean condition) {
    }
}
