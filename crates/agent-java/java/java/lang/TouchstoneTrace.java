package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Records the events of a trace in a file that is mapped into memory.
 *
 * <p>This class is a template: the agent fills in the addresses, and the name of {@code Unsafe} in Java 8. {@code trace_recorder.rs} describes the
 * file. An event is a slot of two words: kind, thread, method and instruction in the first, objects in the second.
 */
public final class TouchstoneTrace {
    /** The address of the position of the next slot, in bytes from {@code SLOTS}. */
    private static final long POSITION = 0x5453_0000_0000_0001L;
    /** The address of the number of events that had no room. */
    private static final long DROPPED = 0x5453_0000_0000_0002L;
    /** The address of the slots. */
    private static final long SLOTS = 0x5453_0000_0000_0003L;
    /** The room for slots, in bytes. */
    private static final long ROOM = 0x5453_0000_0000_0004L;

    private static final long SLOT_BYTES = 16;
    private static final int THREAD_MASK = 0xff_ffff;
    private static final int THREAD_SHIFT = 36;
    private static final int METHOD_SHIFT = 16;
    private static final int KIND_SHIFT = 60;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    /** The position up to which the running test may write. */
    private static long limit = ROOM;
    /** The thread that recorded the last event. */
    private static TouchstoneTrace last = switchThread(null);

    private final Thread thread;
    /** The identity of the thread, as an event has it. */
    private final long bits;

    private TouchstoneTrace(Thread thread, long bits) {
        this.thread = thread;
        this.bits = bits;
    }

    /** An instruction is executed next. */
    public static void instruction(int method, int instruction) {
        record(1L << KIND_SHIFT, method, instruction, 0);
    }

    /** A block begins at an instruction. */
    public static void block(int method, int instruction) {
        record(2L << KIND_SHIFT, method, instruction, 0);
    }

    /** An instruction is executed next, on an object. */
    public static void object(Object object, int method, int instruction) {
        record(3L << KIND_SHIFT, method, instruction, id(object));
    }

    /** An instruction is executed next, on an element of an array. */
    public static void element(Object array, int index, int method, int instruction) {
        record(4L << KIND_SHIFT, method, instruction, id(array) | (long) index << 32);
    }

    /** A call is executed next, with two references. */
    public static void references(Object first, Object second, int method, int instruction) {
        record(5L << KIND_SHIFT, method, instruction, id(first) | id(second) << 32);
    }

    /** The call of the event before has two more references. */
    public static void moreReferences(Object first, Object second, int method, int instruction) {
        record(6L << KIND_SHIFT, method, instruction, id(first) | id(second) << 32);
    }

    /** A method begins, with its receiver or null. */
    public static void enter(Object receiver, int method) {
        record(7L << KIND_SHIFT, method, 0, id(receiver));
    }

    /** A constructor has called another one: its receiver is initialised. */
    public static void initialised(Object receiver, int method) {
        record(8L << KIND_SHIFT, method, 0, id(receiver));
    }

    /** Records which test begins or ends. */
    public static void mark(int mark, int isLast, long value) {
        record(9L << KIND_SHIFT, mark, isLast, value);
    }

    /** Limits the events of the test that begins. The agent calls it. */
    public static void limitTest(long bytes) {
        limit = Math.min(UNSAFE.getLong(POSITION) + bytes, ROOM);
    }

    private static long id(Object object) {
        return System.identityHashCode(object);
    }

    private static void record(long kind, int method, int instruction, long value) {
        TouchstoneTrace current = last;
        Thread thread = Thread.currentThread();
        if (current.thread != thread) {
            current = switchThread(thread);
        }
        if (UNSAFE.getLong(POSITION) >= limit) {
            UNSAFE.getAndAddLong(null, DROPPED, 1);
            return;
        }
        long slot = SLOTS + UNSAFE.getAndAddLong(null, POSITION, SLOT_BYTES);
        // The first word says that the slot is used, so it is written last.
        UNSAFE.putLong(slot + 8, value);
        UNSAFE.putLong(slot, kind | current.bits | (long) method << METHOD_SHIFT | instruction);
    }

    private static TouchstoneTrace switchThread(Thread thread) {
        long bits = (long) (System.identityHashCode(thread) & THREAD_MASK) << THREAD_SHIFT;
        TouchstoneTrace current = new TouchstoneTrace(thread, bits);
        last = current;
        if (thread != null) {
            TouchstoneTestAttribution.markThread();
        }
        return current;
    }
}
