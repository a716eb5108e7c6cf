package org.junit.jupiter.api.function;

/** Stands for JUnit's where the class path has none: only our replay uses it. */
public interface Executable {
    void execute() throws Throwable;
}
