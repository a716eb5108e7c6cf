package PACKAGE;

import java.io.File;
import java.io.RandomAccessFile;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;

/**
 * Records the hits of classes that were woven offline, in a mapped file with the format of probes.c. Only the first hit of a probe
 * writes. If no file can be written, the program runs without probes.
 */
public final class HOLDER {
    private static final int TABLE = 4096, PROBES = 65536, SIZE = ROOM;
    /** The units, and the number of probes of each. */
    private static final long[] UNITS = {IDENTITIES};
    private static final int[] SIZES = {COUNTS};
    private static final byte[] HIT = new byte[SIZE];
    private static final MappedByteBuffer FILE = mapped();

    private HOLDER() { }

    public static boolean isHit(int probe) { return HIT[probe] != 0; }

    public static void hit(int probe) {
        if (HIT[probe] == 0) {
            HIT[probe] = 1;
            if (FILE != null) FILE.put(PROBES + probe, (byte) 1);
        }
    }

    private static MappedByteBuffer mapped() {
        try {
            for (int number = 0; number < 100; number++) {
                File file = new File(directory(), "java-" + System.nanoTime() + "-" + number + "-HOLDER.hits");
                if (file.createNewFile()) return written(file);
            }
        } catch (Throwable lost) { }
        return null;
    }

    private static String directory() {
        String hits = System.getProperty("touchstone.hits", System.getenv("TOUCHSTONE_HITS"));
        String all = System.getenv("TOUCHSTONE_DIR");
        return hits != null ? hits : all != null ? all + "/hits" : DIRECTORY;
    }

    /** Allocates the file, so that a store into it can't fail. An empty file reports that hits were lost. */
    private static MappedByteBuffer written(File file) throws Exception {
        file.setReadable(true, false);
        try (RandomAccessFile opened = new RandomAccessFile(file, "rw")) {
            try {
                opened.write(new byte[PROBES + SIZE]);
                MappedByteBuffer made = opened.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, PROBES + SIZE);
                made.order(ByteOrder.LITTLE_ENDIAN);
                String test = System.getenv("TOUCHSTONE_TEST");
                put(made, 16, 511, test == null ? "" : test);
                put(made, 528, 1022, "java " + System.getProperty("sun.java.command", ""));
                int first = 0;
                for (int unit = 0; unit < UNITS.length; unit++) {
                    made.putLong(TABLE + 16 * unit, UNITS[unit]);
                    made.putInt(TABLE + 16 * unit + 8, PROBES + first);
                    made.putInt(TABLE + 16 * unit + 12, SIZES[unit]);
                    first += SIZES[unit];
                }
                made.putInt(12, UNITS.length);
                put(made, 0, 8, "TSHITS01");
                return made;
            } catch (Throwable lost) {
                opened.setLength(0);
                return null;
            }
        }
    }

    /** Writes a string; the words of the command, at 528, are separated by zeros. */
    private static void put(MappedByteBuffer to, int at, int most, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < bytes.length && i < most; i++) to.put(at + i, at == 528 && bytes[i] == ' ' ? 0 : bytes[i]);
    }
}
