package java.lang;

import java.util.Arrays;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

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
 *
 * <p>An expected event costs a few instructions, which are inlined into the measured code. An error, such as an overflow of the stack, may end any call
 * in here: before a call that changes more than one field, no event is expected.
 */
public final class TouchstoneTrace {
    /** The address of the position of the next slot, in bytes from {@code SLOTS}. */
    private static final long POSITION = 0x5453_0000_0000_0001L;
    /** The address of the number of times that an event had no room, counted once for each limit. */
    private static final long DROPPED = 0x5453_0000_0000_0002L;
    /** The address of an empty slot, which is never expected. */
    private static final long NO_SLOT = 0x5453_0000_0000_0006L;
    /** The address of the slots. */
    private static final long SLOTS = 0x5453_0000_0000_0003L;
    /** The room for slots, in bytes. */
    private static final long ROOM = 0x5453_0000_0000_0004L;
    /** The maximum number of slots that a thread remembers in a large heap. 0 turns repetitions off. */
    private static final int HISTORY = 0x5453_0005;

    private static final long SLOT_BYTES = 16;
    private static final int SLOT_SHIFT = 4;
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
    /** The number of bytes of the heap for each slot that a thread remembers, as a binary logarithm: the program needs its memory itself. */
    private static final int HEAP_SHIFT = 15;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final int MOST = Math.min(HISTORY, (int) Math.min(Runtime.getRuntime().maxMemory() >> HEAP_SHIFT, Integer.MAX_VALUE));
    private static final ThreadLocal<TouchstoneTrace> RECORDERS = new ThreadLocal<TouchstoneTrace>();
    /** The position up to which the running test may write, and 1 if an event was dropped for it. */
    private static volatile long[] limit = {ROOM, 0};
    /** The thread that recorded the last event. Other threads forget their history before they record, so that the order of events is kept. */
    private static volatile TouchstoneTrace last = new TouchstoneTrace(null);

    private final Thread thread;
    /** The identity of the thread, as an event has it. */
    private final long bits;
    /** The address of the slot of the expected event. */
    private long cursor = NO_SLOT;
    /** The address of the number of events in the open repetition, in bytes of slots: it is {@code cursor + offset}. */
    private long address;
    private long offset;
    /** The address of a slot that is not the next event: the body ends, or a repetition begins or ends. */
    private long stop;
    /** The first and last address of a body whose passes need not be counted, and {@code cursor + offset} at its end. */
    private long bodyStart;
    private long bodyEnd;
    private long bodyUntil;
    /** The expected values of the remembered slots, and what is added to those of elements in each pass of the innermost repetition. */
    private long[] expected = new long[0];
    private long[] step = expected;
    /** True while an unexpected event is recorded. If it is true before that, an error ended the recording of the event before. */
    private boolean recording;

    /** The remembered slots: kind, method and instruction of events, and their objects. They are contiguous in the file. */
    private long[] words = new long[0];
    private long[] values = new long[0];
    private int count;
    /** The address of the first remembered slot, and of the slot after the last one. */
    private long first;
    private long next;
    /** Maps hashes of events to remembered slots. */
    private int[] table = new int[0];
    /** For each height of a repetition, the strides of the slots in its body. */
    private long[][] strides = new long[MAX_DEPTH][];
    /** For each remembered repetition, its height (0 if its body has no repetition), and the slot of the repetition before it. */
    private int[] heights = new int[0];
    private int[] previous = new int[0];
    /** For each slot of a closed body, the number of events from it up to the next slot that is none; 0 if that is not known. */
    private int[] runs = new int[0];
    /** The last remembered repetition, or -1. */
    private int lastRepetition = -1;

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
    @ForceInline
    public static void instruction(int method, int instruction) {
        record(1L << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction, 0);
    }

    /** A block begins at an instruction. */
    @ForceInline
    public static void block(int method, int instruction) {
        record(2L << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction, 0);
    }

    /** An instruction is executed next, on an object. */
    @ForceInline
    public static void object(Object object, int method, int instruction) {
        record(3L << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction, id(object));
    }

    /** An instruction is executed next, on an element of an array. */
    @ForceInline
    public static void element(Object array, int index, int method, int instruction) {
        long word = ELEMENT << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction;
        long value = id(array) | (long) index << 32;
        TouchstoneTrace current = last;
        if (current.thread == Thread.currentThread()) {
            long at = current.cursor;
            if (UNSAFE.getLong(at) == (word | current.bits)) {
                int own = (int) (at - current.first >> SLOT_SHIFT);
                long[] expected = current.expected;
                if (expected[own] == value) {
                    expected[own] = value + current.step[own];
                    current.advance(at);
                    return;
                }
            }
        }
        append(word, value);
    }

    /** A call is executed next, with two references. */
    @ForceInline
    public static void references(Object first, Object second, int method, int instruction) {
        record(5L << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction, id(first) | id(second) << 32);
    }

    /** The call of the event before has two more references. */
    @ForceInline
    public static void moreReferences(Object first, Object second, int method, int instruction) {
        record(6L << KIND_SHIFT | (long) method << METHOD_SHIFT | instruction, id(first) | id(second) << 32);
    }

    /** A method begins, with its receiver or null. */
    @ForceInline
    public static void enter(Object receiver, int method) {
        record(7L << KIND_SHIFT | (long) method << METHOD_SHIFT, id(receiver));
    }

    /** A constructor has called another one: its receiver is initialised. */
    @ForceInline
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

    @ForceInline
    private static long id(Object object) {
        return System.identityHashCode(object);
    }

    @ForceInline
    private static void record(long word, long value) {
        TouchstoneTrace current = last;
        if (current.thread == Thread.currentThread()) {
            long at = current.cursor;
            if ((UNSAFE.getLong(at) ^ word ^ current.bits | UNSAFE.getLong(at + 8) ^ value) == 0) {
                current.advance(at);
                return;
            }
        }
        append(word, value);
    }

    /** Counts the expected event, and expects the next one. */
    @ForceInline
    private void advance(long at) {
        long after = at + SLOT_BYTES;
        UNSAFE.putLong(address, after + offset);
        cursor = after;
        if (after == stop) {
            endRun(after);
        }
    }

    /** Expects the next event after a slot that is followed by no event. */
    @ForceInline
    private void endRun(long after) {
        long start = bodyStart;
        long more = offset + (after - start);
        if (after == bodyEnd && after + more <= bodyUntil) {
            offset = more;
            cursor = start;
        } else {
            cursor = NO_SLOT;
            expectAt((int) (after - first >> SLOT_SHIFT), after + offset >> SLOT_SHIFT);
        }
    }

    @DontInline
    private static void append(long word, long value) {
        TouchstoneTrace current = begin();
        current.appendEvent(word, value);
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
        cursor = NO_SLOT;
        count = 0;
        lastRepetition = -1;
    }

    /** Expects the event of a slot, or of the next one if that is not an event. */
    @DontInline
    private void expectAt(int own, long events) {
        while (true) {
            if (depth > 0 && events == until[depth]) {
                own = ends[depth] + 1;
                depth--;
            } else if (own == ends[depth]) {
                passes[depth]++;
                own = starts[depth];
                if (heights[ends[depth]] > 0) {
                    expectElements();
                }
            } else if (words[own] >>> KIND_SHIFT == STRIDE) {
                own++;
            } else if (words[own] >>> KIND_SHIFT == REPETITION) {
                depth++;
                starts[depth] = own - (int) words[own];
                ends[depth] = own;
                steps[depth] = strides[heights[own]];
                passes[depth] = 1;
                until[depth] = Math.min(until[depth - 1], events + values[own]);
                own = starts[depth];
                expectElements();
            } else {
                break;
            }
        }
        if (runs[own] == 0) {
            int end = own;
            while (words[end] >>> KIND_SHIFT < REPETITION) {
                end++;
            }
            runs[own] = end - own;
        }
        step = steps[depth];
        long at = first + ((long) own << SLOT_SHIFT);
        // Later passes through a body without repetitions need not be counted.
        boolean isSimple = passes[depth] > 1 && heights[ends[depth]] == 0;
        bodyStart = first + ((long) starts[depth] << SLOT_SHIFT);
        bodyEnd = isSimple ? first + ((long) ends[depth] << SLOT_SHIFT) : 0;
        bodyUntil = until[depth] > Long.MAX_VALUE >> SLOT_SHIFT + 1 ? Long.MAX_VALUE >> 1 : until[depth] << SLOT_SHIFT;
        offset = (events << SLOT_SHIFT) - at;
        stop = at + (Math.min(until[depth] - events, runs[own]) << SLOT_SHIFT);
        cursor = at;
    }

    /** Computes the values that are expected in this pass of the innermost repetition. */
    private void expectElements() {
        for (int own = starts[depth]; own < ends[depth]; own++) {
            long value = values[own];
            for (int level = depth; level >= 0; level--) {
                value += passes[level] * steps[level][own];
            }
            expected[own] = value;
        }
    }

    /** Records an event that is not the expected one. */
    private void appendEvent(long word, long value) {
        if (cursor == NO_SLOT) {
            if (isFull()) {
                return;
            }
        } else {
            int at = (int) (cursor - first >> SLOT_SHIFT);
            cursor = NO_SLOT;
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
                    expected[at] = value + stride;
                    long events = UNSAFE.getLong(address) + SLOT_BYTES;
                    UNSAFE.putLong(address, events);
                    expectAt(at + 1, events >> SLOT_SHIFT);
                } else if (slot != 0) {
                    forget();
                    addEvent(slot, word, value);
                }
                return;
            }
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
        address = slot + 8;
        remember(slot, REPETITION << KIND_SHIFT | own - start, SLOT_BYTES);
        expectElements();
        expected[start] += steps[0][start];
        expectAt(start + 1, 1);
    }

    /** Returns the height of a repetition that begins at a slot, or the maximum depth if it would share a part of another body. */
    private int height(int start) {
        int height = 0;
        int left = MAX_NESTED;
        for (int own = lastRepetition; own > start; own = previous[own]) {
            if (left-- == 0) {
                return MAX_DEPTH;
            }
            values[own] = UNSAFE.getLong(first + ((long) own << SLOT_SHIFT) + 8) >> SLOT_SHIFT;
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
        if (own == 0) {
            first = slot;
        }
        words[own] = word;
        values[own] = value;
        runs[own] = 0;
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
        if (room >= MOST) {
            return false;
        }
        int more = Math.min(Math.max(2 * room, FIRST_HISTORY), MOST);
        try {
            int[] moreHeights = Arrays.copyOf(heights, more);
            int[] morePrevious = Arrays.copyOf(previous, more);
            int[] moreRuns = Arrays.copyOf(runs, more);
            long[] moreExpected = Arrays.copyOf(expected, more);
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
            runs = moreRuns;
            expected = moreExpected;
            words = moreWords;
            strides = moreStrides;
            if (count > 0 && ends[0] < count) {
                // The first repetition that is open may find a stride.
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
