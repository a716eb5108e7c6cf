package java.lang;

/**
 * A hit array: one byte for each of up to {@code PROBES} probes.
 *
 * <p>This class is a template. The agent defines it once for each array, under a name of its own and with the number of the array in place
 * of {@code NUMBER}. It belongs to the package {@code java.lang}, which every class can access, whatever its loader and its module.
 *
 * <p>Every probe is a call of {@code hit}, which JIT compilers inline into the measured code, so it is small. The first hit of a probe
 * is logged; the log sets the byte, so no hit is lost, and threads that hit the same probe don't contend for its cache line. All bytes are
 * cleared when another test begins. While tests run concurrently no byte is set: {@link TouchstoneTestAttribution} has the hits of each test.
 */
public final class TouchstoneHits {
    /** The number of this array. */
    private static final int NUMBER = 0x5453_0001;
    /** The number of probes of an array: probe numbers are pushed by {@code sipush}. */
    private static final int PROBES = 32_767;
    private static final byte[] HIT = new byte[PROBES];

    private TouchstoneHits() {}

    /** Records that a probe was executed. */
    public static void hit(int probe) {
        if (HIT[probe] == 0) {
            TouchstoneTestAttribution.firstHit(NUMBER, probe);
        }
    }

    /** Returns true if a hit of the probe is recorded already. */
    public static boolean isHit(int probe) {
        return HIT[probe] != 0;
    }
}
