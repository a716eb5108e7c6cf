package org.junit.jupiter.api;

/** Stands for JUnit's where the class path has none: only our replay uses it. */
public @interface DisplayName {
    String value();
}
