/** Numbers of all types: what wraps, what saturates, what is not a number. */
public class Arithmetic {
    static int divisions(int a, int b) { return a / b * 1000 + a % b; }
    static long mix(long x) { x ^= x >>> 33; x *= 0xff51afd7ed558ccdL; x ^= x << 13; return x >> 3; }
    public static void main(String[] args) {
        int[] samples = {0, 1, -1, 7, -7, 42, Integer.MAX_VALUE, Integer.MIN_VALUE};
        for (int a : samples) {
            for (int b : samples) {
                System.out.print((a + b) + " " + (a - b) + " " + (a * b) + " " + (a & b) + " " + (a | b) + " " + (a ^ b) + " ");
                System.out.print((a << b) + " " + (a >> b) + " " + (a >>> b) + " " + Integer.compare(a, b) + " ");
                System.out.println(b == 0 ? "none" : String.valueOf(divisions(a, b)));
            }
        }
        long seed = 88172645463325252L;
        for (int i = 0; i < 20; i++) { seed = mix(seed + i); System.out.println(seed + " " + (int) seed + " " + (short) seed + " " + (byte) seed + " " + (int) (char) seed); }
        double[] doubles = {0.0, -0.0, 1.5, -2.5, 1e300, 1e-320, Double.NaN, Double.POSITIVE_INFINITY, 123456.789, 4e9, -1e19};
        for (double d : doubles) {
            System.out.println(d + " " + (int) d + " " + (long) d + " " + (float) d + " " + (char) d + " " + (byte) d + " " + d % 1.0 + " " + -d + " " + Math.sqrt(d) + " " + (d < 1) + (d > 1) + (d == d) + (d != 1) + (d >= 0) + (d <= 0));
        }
        float f = 0.1f;
        for (int i = 0; i < 5; i++) { f = f * f + i / 3f; System.out.println(f + " " + (int) (f * 1000) + " " + (double) f); }
        System.out.println(Integer.MIN_VALUE / -1 + " " + Integer.MIN_VALUE % -1 + " " + Long.MIN_VALUE / -1L);
        int x = 5; x += 3.7; x <<= 33; x = x++ + ++x; System.out.println(x);
        char c = 'a'; c += 2; c++; System.out.println(c); byte b = (byte) 200; b >>>= 1; System.out.println(b);
        System.out.println(Long.toHexString(Double.doubleToLongBits(-1.5)) + Integer.toBinaryString(-8 >>> 28) + Long.numberOfTrailingZeros(64) + Integer.bitCount(255) + Integer.reverse(1) + Long.highestOneBit(1000));
        System.out.println(Math.floorMod(-7, 3) + " " + Math.floorDiv(-7, 3) + " " + Math.abs(-5.5) + " " + Math.max(1L, 2L) + " " + Math.round(2.5) + " " + Math.round(-2.5) + " " + Math.ceil(-0.5) + " " + Math.floor(2.7) + " " + Math.rint(2.5) + " " + Math.pow(2, 10) + " " + Math.signum(-3.0));
        System.out.println(Math.addExact(1, 2) + " " + Integer.parseInt("-123") + " " + Integer.toString(255, 16) + " " + Long.parseLong("9223372036854775807") + " " + Double.parseDouble("1e-3") + " " + Integer.MAX_VALUE + 1);
        System.out.println(0.1 + 0.2); System.out.println(100.0); System.out.println(1e21); System.out.println(1.0f / 3); System.out.println((Object) 'x');
    }
}
