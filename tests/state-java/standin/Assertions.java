package org.junit.jupiter.api;

import java.util.Objects;
import org.junit.jupiter.api.function.Executable;

/** The few assertions of JUnit 5 that our tests use, so that these need no jar. */
public final class Assertions {
    public static void assertEquals(Object expected, Object actual) { if (!Objects.equals(expected, actual)) fail(); }

    public static void assertEquals(int expected, int actual) { if (expected != actual) fail(); }

    public static void assertEquals(long expected, long actual) { if (expected != actual) fail(); }

    public static void assertEquals(double expected, double actual) { if (expected != actual) fail(); }

    public static void assertArrayEquals(long[] expected, long[] actual) { if (!java.util.Arrays.equals(expected, actual)) fail(); }

    public static void assertSame(Object expected, Object actual) { if (expected != actual) fail(); }

    public static void assertTrue(boolean condition) { if (!condition) fail(); }

    public static void assertFalse(boolean condition) { if (condition) fail(); }

    public static void assertNotNull(Object object) { if (object == null) fail(); }

    public static <T extends Throwable> T assertThrows(Class<T> type, Executable executable) {
        try {
            executable.execute();
        } catch (Throwable thrown) {
            if (type.isInstance(thrown)) return type.cast(thrown);
        }
        return fail();
    }

    public static <T> T fail() { throw new AssertionError(); }
}
