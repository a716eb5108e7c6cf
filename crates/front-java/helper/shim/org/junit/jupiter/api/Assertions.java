package org.junit.jupiter.api;

import touchstone.junit.Checks;

/** Replaces JUnit's class where the class path has none. Only replay uses it. */
public class Assertions extends Checks {
    public static void assertEquals(byte expected, byte actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(char expected, char actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(short expected, short actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(int expected, int actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(float expected, float actual) {
        check(Float.floatToIntBits(expected) == Float.floatToIntBits(actual), expected, actual);
    }

    public static void assertEquals(double expected, double actual) {
        check(Double.doubleToLongBits(expected) == Double.doubleToLongBits(actual), expected, actual);
    }

    public static <T extends Throwable> T assertThrows(Class<T> type, org.junit.jupiter.api.function.Executable body) {
        Throwable thrown = null;
        try {
            body.execute();
        } catch (Throwable caught) {
            thrown = caught;
        }
        return thrown(type, thrown);
    }
}
