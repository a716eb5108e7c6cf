package org.junit.function;

/** Replaces JUnit's class where the class path has none. Only replay uses it. */
public interface ThrowingRunnable {
    void run() throws Throwable;
}
