package org.junit;

/** Replaces JUnit's class where the class path has none. Only replay uses it, without assertions. */
public class Assume {
    public static void assumeFalse(String message, boolean assumption) {
        if (assumption) {
            throw new IllegalStateException(message);
        }
    }
}
