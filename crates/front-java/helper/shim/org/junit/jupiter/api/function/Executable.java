package org.junit.jupiter.api.function;

/** Replaces JUnit's class where the class path has none. Only replay uses it. */
public interface Executable {
    void execute() throws Throwable;
}
