import java.lang.reflect.Array;

/**
 * Hits a probe if a value has a property. Woven code passes copies of operands; no method throws.
 *
 * <p>This class is a template: it gets the name of the class with the hit array, and {@code Hits} becomes that class. The last parameter of each
 * method is the number of a probe, or of the first of several.
 */
public final class HitsValueChecks {
    private HitsValueChecks() {}

    public static void isNull(Object object, int probe) {
        if (object == null) {
            Hits.hit(probe);
        }
    }

    public static void isOutOfBounds(Object array, int index, int probe) {
        if (array != null && (index < 0 || index >= Array.getLength(array))) {
            Hits.hit(probe);
        }
    }

    public static void isArrayStoreError(Object array, int index, Object value, int probe) {
        if (array != null
                && value != null
                && index >= 0
                && index < Array.getLength(array)
                && !array.getClass().getComponentType().isInstance(value)) {
            Hits.hit(probe);
        }
    }

    public static void isZero(int divisor, int probe) {
        if (divisor == 0) {
            Hits.hit(probe);
        }
    }

    public static void isZeroLong(long divisor, int probe) {
        if (divisor == 0) {
            Hits.hit(probe);
        }
    }

    public static void isNegative(int length, int probe) {
        if (length < 0) {
            Hits.hit(probe);
        }
    }

    /** {@code isInstance} is the result of {@code instanceof}. */
    public static void isClassCastError(Object object, int isInstance, int probe) {
        if (object != null && isInstance == 0) {
            Hits.hit(probe);
        }
    }

    public static void isTrue(int label, int probe) {
        if (label != 0) {
            Hits.hit(probe);
        }
    }

    /** {@code min} and {@code max} are the bounds of the parameter's type. */
    public static void partitionInt(int value, int min, int max, int first) {
        if (value < 0) {
            Hits.hit(first);
        }
        if (value == 0) {
            Hits.hit(first + 1);
        }
        if (value > 0) {
            Hits.hit(first + 2);
        }
        if (value == min) {
            Hits.hit(first + 3);
        }
        if (value == max) {
            Hits.hit(first + 4);
        }
    }

    public static void partitionLong(long value, int first) {
        if (value < 0) {
            Hits.hit(first);
        }
        if (value == 0) {
            Hits.hit(first + 1);
        }
        if (value > 0) {
            Hits.hit(first + 2);
        }
        if (value == Long.MIN_VALUE) {
            Hits.hit(first + 3);
        }
        if (value == Long.MAX_VALUE) {
            Hits.hit(first + 4);
        }
    }

    public static void partitionDouble(double value, int first) {
        if (value < 0) {
            Hits.hit(first);
        }
        if (value == 0) {
            Hits.hit(first + 1);
        }
        if (value > 0) {
            Hits.hit(first + 2);
        }
        if (value != value) {
            Hits.hit(first + 3);
        }
    }

    public static void partitionReference(Object value, int first) {
        if (value == null) {
            Hits.hit(first);
        } else {
            Hits.hit(first + 1);
        }
    }
}
