package org.junit.jupiter.api;

/** Replaces JUnit's class where the class path has none. Only replay uses it, without assertions. */
public class Assumptions {
    public static void assumeFalse(boolean assumption, String message) {
        if (assumption) {
            throw new IllegalStateException(message);
        }
    }
}
