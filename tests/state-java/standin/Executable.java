package org.junit.jupiter.api.function;

public interface Executable { void execute() throws Throwable; }
