/** Triangles by the lengths of their sides. */
public class Triangle {
    /** 0: no triangle, 1: all sides differ, 2: two are equal, 3: all are equal. */
    public static int classify(int a, int b, int c) {
        if (a <= 0 || b <= 0 || c <= 0) {
            throw new IllegalArgumentException("a side has a length");
        }
        // As long, so that nothing overflows.
        if ((long) a + b <= c || (long) b + c <= a || (long) a + c <= b) {
            return 0;
        }
        if (a == b && b == c) {
            return 3;
        }
        return a == b || b == c || a == c ? 2 : 1;
    }

    /** Returns true if the sum of the sides fits into an int. */
    static boolean isSmall(int a, int b, int c) {
        try {
            return Math.addExact(Math.addExact(a, b), c) > 0;
        } catch (ArithmeticException overflow) {
            return false;
        }
    }
}
