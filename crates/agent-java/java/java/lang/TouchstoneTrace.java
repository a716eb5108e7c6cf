package java.lang;

import java.util.Arrays;
import jdk.internal.misc.Unsafe;

/**
 * Records the events of a trace in a file that is mapped into memory.
 *
 * <p>This class is a template: the agent fills in the addresses, and the name of {@code Unsafe} in Java 8. {@code trace_recorder.rs} describes the
 * file. An event is a slot of two words: kind, thread, method and instruction in the first, objects in the second.
 *
 * <p>Repeated events are counted instead of stored. A thread remembers its events since another thread recorded one. If the next event is one of
 * them, a repetition begins: a slot with the distance back to that event and the number of events that have been repeated. It goes on for as long as
 * events are those from there up to the slot, over and over again. Indices of arrays may differ from one pass to the next by a stride, for which the
 * first pass records another slot. A body may contain repetitions itself, so nested loops become nested repetitions. Everything is in the file at all
 * times: a process may be killed.
 */
public final class TouchstoneTrace {
    /** The address of the position of the next slot, in bytes from {@code SLOTS}. */
    private static final long POSITION = 0x5453_0000_0000_0001L;
    /** The address of the number of times that an event had no room, counted once for each limit. */
    private static final long DROPPED = 0x5453_0000_0000_0002L;
    /** The address of the slots. */
    private static final long SLOTS = 0x5453_0000_0000_0003L;
    /** The room for slots, in bytes. */
    private static final long ROOM = 0x5453_0000_0000_0004L;
    /** The maximum number of slots that a thread remembers. 0 turns repetitions off. */
    private static final int HISTORY = 0x5453_0005;

    private static final long SLOT_BYTES = 16;
    private static final int THREAD_MASK = 0xff_ffff;
    private static final int THREAD_SHIFT = 36;
    private static final int METHOD_SHIFT = 16;
    private static final int KIND_SHIFT = 60;
    private static final long ELEMENT = 4;
    private static final long REPETITION = 10;
    private static final long STRIDE = 11;
    /** The maximum depth of nested repetitions. */
    private static final int MAX_DEPTH = 4;
    /** The maximum number of repetitions in the body of another one. */
    private static final int MAX_NESTED = 64;
    /** The number of slots for which a thread has room at first. */
    private static final int FIRST_HISTORY = 256;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final ThreadLocal<TouchstoneTrace> RECORDERS = new ThreadLocal<TouchstoneTrace>();
    /** The position up to which the running test may write, and 1 if an event was dropped for it. */
    private static volatile long[] limit = {ROOM, 0};
    /** The thread that recorded the last event. Other threads forget their history before they record, so that the order of events is kept. */
    private static volatile TouchstoneTrace last = new TouchstoneTrace(null);

    private final Thread thread;
    /** The identity of the thread, as an event has it. */
    private final long bits;
    /** True while an event is recorded. If it is true before that, an error ended the recording of the event before. */
    private boolean recording;

    /** The remembered slots: kind, method and instruction of events, and their objects. They are contiguous in the file. */
    private long[] words = new long[0];
    private long[] values = new long[0];
    private int count;
    /** The address of the slot after the remembered ones. */
    private long next;
    /** Maps hashes of events to remembered slots. */
    private int[] table = new int[0];
    /** For each height of a repetition, the strides of the slots in its body. */
    private long[][] strides = new long[MAX_DEPTH][];
    /** For each remembered repetition, its height (0 if its body has no repetition), and the slot of the repetition before it. */
    private int[] heights = new int[0];
    private int[] previous = new int[0];
    /** The last remembered repetition, or -1. */
    private int lastRepetition = -1;

    /** The slot of the expected event, or -1 if no repetition is open. */
    private int cursor = -1;
    /** The number of events in the open repetition, and the address where the file has it. */
    private long events;
    private long address;
    /** The number of repetitions in which the expected event is nested, apart from the open one. */
    private int depth;
    /** The open repetition and those nested in it: first slot, own slot, strides, pass, and the number of events at which it ends. */
    private final int[] starts = new int[MAX_DEPTH];
    private final int[] ends = new int[MAX_DEPTH];
    private final long[][] steps = new long[MAX_DEPTH][];
    private final long[] passes = new long[MAX_DEPTH];
    private final long[] until = new long[MAX_DEPTH];

    private TouchstoneTrace(Thread thread) {
        this.thread = thread;
        this.bits = (long) (System.identityHashCode(thread) & THREAD_MASK) << THREAD_SHIFT;
    }

    /** An instruction is executed next. */
    public static void instruction(int method, int instruction) {
        record(1L << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction, 0);
    }

    /** A block begins at an instruction. */
    public static void block(int method, int instruction) {
        record(2L << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction, 0);
    }

    /** An instruction is executed next, on an object. */
    public static void object(Object object, int method, int instruction) {
        record(3L << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction, id(object));
    }

    /** An instruction is executed next, on an element of an array. */
    public static void element(Object array, int index, int method, int instruction) {
        long word = ELEMENT << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction;
        long value = id(array) | (long) index << 32;
        TouchstoneTrace current = begin();
        int at = current.cursor;
        if (at >= 0 && current.words[at] == word && current.expected(at) == value) {
            current.advance(at);
        } else {
            current.append(word, value);
        }
        current.recording = false;
    }

    /** A call is executed next, with two references. */
    public static void references(Object first, Object second, int method, int instruction) {
        record(5L << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction, id(first) | id(second) << 32);
    }

    /** The call of the event before has two more references. */
    public static void moreReferences(Object first, Object second, int method, int instruction) {
        record(6L << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction, id(first) | id(second) << 32);
    }

    /** A method begins, with its receiver or null. */
    public static void enter(Object receiver, int method) {
        record(7L << KIND_SHIFT | (long) method << METHOD_SHIFT, id(receiver));
    }

    /** A constructor has called another one: its receiver is initialised. */
    public static void initialised(Object receiver, int method) {
        record(8L << KIND_SHIFT | (long) method << METHOD_SHIFT, id(receiver));
    }

    /** Records which test begins or ends. */
    public static void mark(int mark, int isLast, long value) {
        TouchstoneTrace current = begin();
        current.forget();
        long slot = current.allocate();
        if (slot != 0) {
            current.write(slot, 9L << KIND_SHIFT | (long) mark << METHOD_SHIFT | isLast, value);
        }
        current.recording = false;
    }

    /** Limits the events of the test that begins. The agent calls it. */
    public static void limitTest(long bytes) {
        limit = new long[] {Math.min(UNSAFE.getLong(POSITION) + bytes, ROOM), 0};
    }

    private static long id(Object object) {
        return System.identityHashCode(object);
    }

    private static void record(long word, long value) {
        TouchstoneTrace current = begin();
        int at = current.cursor;
        if (at >= 0 && current.words[at] == word && current.values[at] == value) {
            current.advance(at);
        } else {
            current.append(word, value);
        }
        current.recording = false;
    }

    /** Returns the recorder of the current thread. */
    private static TouchstoneTrace begin() {
        TouchstoneTrace current = last;
        Thread thread = Thread.currentThread();
        if (current.thread != thread) {
            current = switchThread(thread);
        }
        if (current.recording) {
            current.forget();
        }
        current.recording = true;
        return current;
    }

    private static TouchstoneTrace switchThread(Thread thread) {
        TouchstoneTrace current = RECORDERS.get();
        if (current == null) {
            current = new TouchstoneTrace(thread);
            RECORDERS.set(current);
        }
        current.forget();
        current.recording = false;
        last = current;
        TouchstoneTestAttribution.markThread();
        return current;
    }

    /** Closes the open repetition and forgets all slots. */
    private void forget() {
        cursor = -1;
        count = 0;
        lastRepetition = -1;
    }

    /** Returns the value of the expected event, whose index may advance by strides. */
    private long expected(int at) {
        long value = values[at];
        for (int level = depth; level >= 0; level--) {
            value += passes[level] * steps[level][at];
        }
        return value;
    }

    /** Counts the expected event, and expects the next one. */
    private void advance(int at) {
        long events = this.events + 1;
        this.events = events;
        UNSAFE.putLong(address, events);
        int after = at + 1;
        if (events == until[depth] || words[after] >>> KIND_SHIFT >= REPETITION) {
            expectAt(after);
        } else {
            cursor = after;
        }
    }

    /** Expects the event of a slot, or of the next one if that is not an event. */
    private void expectAt(int after) {
        while (true) {
            if (depth > 0 && events == until[depth]) {
                after = ends[depth] + 1;
                depth--;
            } else if (after == ends[depth]) {
                passes[depth]++;
                after = starts[depth];
            } else if (words[after] >>> KIND_SHIFT == STRIDE) {
                after++;
            } else if (words[after] >>> KIND_SHIFT == REPETITION) {
                depth++;
                starts[depth] = after - (int) words[after];
                ends[depth] = after;
                steps[depth] = strides[heights[after]];
                passes[depth] = 1;
                until[depth] = Math.min(until[depth - 1], events + values[after]);
                after = starts[depth];
            } else {
                cursor = after;
                return;
            }
        }
    }

    /** Records an event that is not the expected one. */
    private void append(long word, long value) {
        int at = cursor;
        if (at < 0 && isFull()) {
            return;
        }
        if (at >= 0) {
            // The first pass finds the strides of its elements.
            if (depth == 0
                    && passes[0] == 1
                    && words[at] == word
                    && word >>> KIND_SHIFT == ELEMENT
                    && (int) values[at] == (int) value) {
                long stride = value - values[at];
                long slot = allocate();
                if (slot != 0 && slot == next && hasRoom()) {
                    remember(slot, STRIDE << KIND_SHIFT | at - starts[0], stride);
                    steps[0][at] = stride;
                    advance(at);
                } else if (slot != 0) {
                    forget();
                    addEvent(slot, word, value);
                }
                return;
            }
            cursor = -1;
        }
        long slot = allocate();
        if (slot == 0) {
            return;
        }
        if (slot != next || !hasRoom()) {
            forget();
        }
        int known = count == 0 ? 0 : table[hash(word, value) & table.length - 1];
        if (known < count && words[known] == word && values[known] == value) {
            int height = height(known);
            if (height < MAX_DEPTH) {
                repeat(slot, known, height);
                return;
            }
        }
        addEvent(slot, word, value);
    }

    /** Writes an event that is not repeated. */
    private void addEvent(long slot, long word, long value) {
        if (hasRoom()) {
            table[hash(word, value) & table.length - 1] = count;
            remember(slot, word, value);
        } else {
            write(slot, word, value);
        }
    }

    /** Begins a repetition from a slot on, with the event of that slot. */
    private void repeat(long slot, int start, int height) {
        int own = count;
        heights[own] = height;
        previous[own] = lastRepetition;
        lastRepetition = own;
        starts[0] = start;
        ends[0] = own;
        steps[0] = strides[height];
        passes[0] = 1;
        until[0] = Long.MAX_VALUE;
        depth = 0;
        events = 1;
        address = slot + 8;
        remember(slot, REPETITION << KIND_SHIFT | own - start, 1);
        expectAt(start + 1);
    }

    /** Returns the height of a repetition that begins at a slot, or the maximum depth if it would share a part of another body. */
    private int height(int start) {
        int height = 0;
        int left = MAX_NESTED;
        for (int own = lastRepetition; own > start; own = previous[own]) {
            if (left-- == 0) {
                return MAX_DEPTH;
            }
            values[own] = UNSAFE.getLong(next - (count - own) * SLOT_BYTES + 8);
            if (own - (int) words[own] < start) {
                return MAX_DEPTH;
            }
            height = Math.max(height, heights[own] + 1);
        }
        return height;
    }

    private static int hash(long word, long value) {
        return (int) ((word ^ value * 0x9e37_79b9_7f4a_7c15L) * 0x9e37_79b9_7f4a_7c15L >>> 40);
    }

    /** Writes and remembers a slot, for which there is room. */
    private void remember(long slot, long word, long value) {
        int own = count;
        words[own] = word;
        values[own] = value;
        for (int height = 0; height < MAX_DEPTH; height++) {
            strides[height][own] = 0;
        }
        // The slot after the last one ends a body: no event is there.
        words[own + 1] = REPETITION << KIND_SHIFT;
        count = own + 1;
        next = slot + SLOT_BYTES;
        write(slot, word, value);
    }

    /** Returns true if another slot can be remembered. */
    private boolean hasRoom() {
        int room = values.length;
        if (count < room) {
            return true;
        }
        if (room >= HISTORY) {
            return false;
        }
        int more = Math.min(Math.max(2 * room, FIRST_HISTORY), HISTORY);
        try {
            int[] moreHeights = Arrays.copyOf(heights, more);
            int[] morePrevious = Arrays.copyOf(previous, more);
            long[] moreWords = Arrays.copyOf(words, more + 1);
            long[] moreValues = Arrays.copyOf(values, more);
            long[][] moreStrides = new long[MAX_DEPTH][];
            for (int height = 0; height < MAX_DEPTH; height++) {
                moreStrides[height] = room == 0 ? new long[more] : Arrays.copyOf(strides[height], more);
            }
            int slots = Integer.highestOneBit(more) * 2;
            int[] moreTable = new int[slots];
            for (int own = 0; own < count; own++) {
                moreTable[hash(moreWords[own], moreValues[own]) & slots - 1] = own;
            }
            heights = moreHeights;
            previous = morePrevious;
            words = moreWords;
            strides = moreStrides;
            if (cursor >= 0) {
                steps[0] = moreStrides[heights[ends[0]]];
            }
            table = moreTable;
            values = moreValues;
            return true;
        } catch (OutOfMemoryError ignored) {
            return false;
        }
    }

    /** Returns the address of a new slot, or 0 if there is no room. */
    private long allocate() {
        if (isFull()) {
            forget();
            return 0;
        }
        long slot = SLOTS + UNSAFE.getAndAddLong(null, POSITION, SLOT_BYTES);
        // Another thread may have recorded an event since this one began: its repetition has to end.
        if (last != this) {
            last = this;
        }
        return slot;
    }

    /** The first word says that the slot is used, so it is written last. */
    private void write(long slot, long word, long value) {
        UNSAFE.putLong(slot + 8, value);
        UNSAFE.putLong(slot, word | bits);
    }

    /** Returns true if the running test may not write any more, which the file says then. */
    private static boolean isFull() {
        long[] current = limit;
        if (UNSAFE.getLong(POSITION) < current[0]) {
            return false;
        }
        if (current[1] == 0) {
            current[1] = 1;
            UNSAFE.getAndAddLong(null, DROPPED, 1);
        }
        return true;
    }
}
