/**
 * The hits of a replayed test: one byte for each of up to 32767 probes.
 *
 * <p>This class is a template: it gets a name of its own. A replay either loads it once for each test, or clears its bytes before each test.
 */
public final class ReplayHits {
    public static final byte[] HIT = new byte[32_767];

    private ReplayHits() {}

    public static boolean isHit(int probe) {
        return HIT[probe] != 0;
    }

    public static void hit(int probe) {
        HIT[probe] = 1;
    }
}
