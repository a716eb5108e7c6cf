/** Values that the platform prescribes to the last bit. */
public class Mathematics {
    static long sum;

    static void add(double value) {
        sum = sum * 31 + Double.doubleToLongBits(value);
    }

    static double argument(long seed) {
        double unit = (seed >>> 11) * 0x1.0p-53;
        switch ((int) (seed & 3)) {
            case 0: return 2 * unit - 1;
            case 1: return 60 * unit - 30;
            case 2: return 1 / (unit + 1e-9);
            default: return Double.longBitsToDouble(seed);
        }
    }

    public static void main(String[] args) {
        long seed = 42;
        for (int i = 0; i < 400; i++) {
            seed = seed * 6364136223846793005L + 1442695040888963407L;
            double x = argument(seed), y = argument(Long.rotateLeft(seed, 17));
            add(StrictMath.atan(x));
            add(StrictMath.atan2(x, y));
            add(StrictMath.asin(x));
            add(StrictMath.acos(x));
            add(StrictMath.tan(x));
            add(StrictMath.log(x));
            add(StrictMath.log10(x));
            add(StrictMath.sinh(x));
            add(StrictMath.cosh(x));
            add(StrictMath.tanh(x));
            add(StrictMath.expm1(x));
            add(StrictMath.exp(x));
            add(StrictMath.cbrt(x));
            add(StrictMath.hypot(x, y));
            add(StrictMath.pow(x, y));
            add(Math.sqrt(x));
            if (i % 40 == 0) System.out.println(i + " " + Long.toHexString(sum));
        }
        System.out.println(StrictMath.tanh(-1.259572443559282) + " " + StrictMath.atan2(2.356194490192345, 3.356194490192345));
    }
}
