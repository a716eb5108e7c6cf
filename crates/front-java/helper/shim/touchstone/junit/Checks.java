package touchstone.junit;

import java.util.Arrays;
import java.util.Objects;

/** Assertions that both versions of JUnit share. Only replay uses this class. */
public class Checks {
    protected static void check(boolean holds, Object expected, Object actual) {
        if (!holds) {
            throw new AssertionError("expected: <" + expected + "> but was: <" + actual + ">");
        }
    }

    public static void assertEquals(long expected, long actual) {
        check(expected == actual, expected, actual);
    }

    public static void assertEquals(Object expected, Object actual) {
        check(Objects.equals(expected, actual), expected, actual);
    }

    public static void assertEquals(float expected, float actual, float delta) {
        check(Float.compare(expected, actual) == 0 || Math.abs(expected - actual) <= delta, expected, actual);
    }

    public static void assertEquals(double expected, double actual, double delta) {
        check(Double.compare(expected, actual) == 0 || Math.abs(expected - actual) <= delta, expected, actual);
    }

    public static void assertArrayEquals(boolean[] expected, boolean[] actual) {
        check(Arrays.equals(expected, actual), Arrays.toString(expected), Arrays.toString(actual));
    }

    public static void assertArrayEquals(byte[] expected, byte[] actual) {
        check(Arrays.equals(expected, actual), Arrays.toString(expected), Arrays.toString(actual));
    }

    public static void assertArrayEquals(char[] expected, char[] actual) {
        check(Arrays.equals(expected, actual), Arrays.toString(expected), Arrays.toString(actual));
    }

    public static void assertArrayEquals(short[] expected, short[] actual) {
        check(Arrays.equals(expected, actual), Arrays.toString(expected), Arrays.toString(actual));
    }

    public static void assertArrayEquals(int[] expected, int[] actual) {
        check(Arrays.equals(expected, actual), Arrays.toString(expected), Arrays.toString(actual));
    }

    public static void assertArrayEquals(long[] expected, long[] actual) {
        check(Arrays.equals(expected, actual), Arrays.toString(expected), Arrays.toString(actual));
    }

    public static void assertArrayEquals(float[] expected, float[] actual) {
        check(Arrays.equals(expected, actual), Arrays.toString(expected), Arrays.toString(actual));
    }

    public static void assertArrayEquals(double[] expected, double[] actual) {
        check(Arrays.equals(expected, actual), Arrays.toString(expected), Arrays.toString(actual));
    }

    public static void assertArrayEquals(Object[] expected, Object[] actual) {
        check(Arrays.deepEquals(expected, actual), Arrays.toString(expected), Arrays.toString(actual));
    }

    public static void assertArrayEquals(float[] expected, float[] actual, float delta) {
        assertArrayEquals(expected, actual);
    }

    public static void assertArrayEquals(double[] expected, double[] actual, double delta) {
        assertArrayEquals(expected, actual);
    }

    public static void assertTrue(boolean condition) {
        check(condition, true, condition);
    }

    public static void assertFalse(boolean condition) {
        check(!condition, false, condition);
    }

    public static void assertNull(Object actual) {
        check(actual == null, null, actual);
    }

    public static void assertNotNull(Object actual) {
        check(actual != null, "not null", null);
    }

    public static void assertSame(Object expected, Object actual) {
        check(expected == actual, expected, actual);
    }

    /** Returns the thrown exception if it is of exactly this class. */
    protected static <T extends Throwable> T thrown(Class<T> type, Throwable thrown) {
        if (thrown != null && thrown.getClass() == type) {
            return type.cast(thrown);
        }
        String what = thrown == null ? "nothing was thrown" : "was: <" + thrown + ">";
        throw new AssertionError("expected: <" + type.getName() + "> but " + what);
    }
}
