package org.junit.function;

/** Stands for JUnit's where the class path has none: only our replay uses it. */
public interface ThrowingRunnable {
    void run() throws Throwable;
}
