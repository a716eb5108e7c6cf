package java.lang;

import java.util.Arrays;
import jdk.internal.vm.annotation.DontInline;

/**
 * Attributes hits and trace events to tests, by the thread in which they occur.
 *
 * <p>An object is an owner of hits: a test, or a thread that a test started. While tests run one after another, owners are not needed:
 * {@code concurrent} is false, and the log attributes every hit to the running test.
 *
 * <p>The methods that the agent calls are private: JNI ignores access.
 */
public final class TouchstoneTestAttribution extends InheritableThreadLocal<Object> {
    /** The number of probes of a hit array. */
    private static final int PROBES = 32_767;
    /** The number of threads of one test that are attributed separately; hits of further threads have no owner. */
    private static final int MAX_CHILD_THREADS = 64;
    /** The mark of a trace that says that the recording thread works for a test. */
    private static final int MARK_CHILD_THREAD = 5;

    /** The owner of hits outside of tests. It is also the thread-local variable that holds the owner of each thread. */
    private static final TouchstoneTestAttribution NO_TEST = new TouchstoneTestAttribution(null, null, 0);
    /** True once two tests ran at the same time. */
    private static volatile boolean concurrent;

    /** The test that started this thread, or null if this owner is a test. */
    private final TouchstoneTestAttribution test;
    /** The owner of the thread before this test began. */
    private final TouchstoneTestAttribution enclosing;
    /** The number of this owner in the log; 0 until it is known. */
    private int id;
    /** The number of threads that this test started. */
    private int childThreads;
    /** True if the trace has the mark of this thread. */
    private boolean marked;
    /** The probes that this owner hit, by hit array. */
    private byte[][] hits = new byte[0][];

    private TouchstoneTestAttribution(TouchstoneTestAttribution test, TouchstoneTestAttribution enclosing, int id) {
        this.test = test;
        this.enclosing = enclosing;
        this.id = id;
    }

    /**
     * Logs a hit of a probe whose byte is not set.
     *
     * <p>It is not inlined: in place of every probe it would make methods so large that JIT compilers would stop inlining what they inline
     * otherwise. Nothing is thrown, not even if memory is exhausted: the measured program must not notice.
     */
    @DontInline
    public static void firstHit(int array, int probe) {
        try {
            if (!concurrent && logHit(array, probe, 0)) {
                return;
            }
            TouchstoneTestAttribution owner = current();
            byte[] hits = owner.hitsIn(array);
            if (hits[probe] == 0 && logHit(array, probe, owner.id)) {
                hits[probe] = 1;
            }
        } catch (Throwable ignored) {
        }
    }

    /** Marks the current thread in the trace, if a test started it. */
    public static void markThread() {
        try {
            TouchstoneTestAttribution owner = current();
            if (!owner.marked) {
                owner.marked = true;
                if (owner.test != null) {
                    TouchstoneTrace.mark(MARK_CHILD_THREAD, 1, owner.registeredId());
                }
            }
        } catch (Throwable ignored) {
        }
    }

    private static TouchstoneTestAttribution current() {
        return (TouchstoneTestAttribution) NO_TEST.get();
    }

    /** Returns the number of this owner; a thread that a test started gets one here. */
    private int registeredId() {
        if (id == 0 && test != null) {
            id = registerThread(test.id, Thread.currentThread());
        }
        return id;
    }

    private byte[] hitsIn(int array) {
        registeredId();
        if (array >= hits.length) {
            hits = Arrays.copyOf(hits, array + 1);
        }
        if (hits[array] == null) {
            hits[array] = new byte[PROBES];
        }
        return hits[array];
    }

    @Override
    protected Object initialValue() {
        return NO_TEST;
    }

    @Override
    protected Object childValue(Object parent) {
        TouchstoneTestAttribution owner = (TouchstoneTestAttribution) parent;
        TouchstoneTestAttribution test = owner.test != null ? owner.test : owner;
        if (test.id == 0 || test.childThreads >= MAX_CHILD_THREADS) {
            return NO_TEST;
        }
        test.childThreads++;
        return new TouchstoneTestAttribution(test, null, 0);
    }

    /** Attributes the current thread to a test. The agent calls it. */
    private static void beginTest(int id) {
        NO_TEST.set(new TouchstoneTestAttribution(null, current(), id));
    }

    /** Attributes the current thread to its owner before the test, if the test is its owner. The agent calls it. */
    private static void endTest(int id) {
        if (current().id == id) {
            NO_TEST.set(current().enclosing);
        }
    }

    /** From now on tests run concurrently. The agent calls it. */
    private static void setConcurrent() {
        concurrent = true;
    }

    /** Logs a hit. Returns true if the owner needs not log this hit again. */
    private static native boolean logHit(int array, int probe, int owner);

    /** Registers a thread that a test started, and returns its number as an owner. */
    private static native int registerThread(int test, Object thread);
}
