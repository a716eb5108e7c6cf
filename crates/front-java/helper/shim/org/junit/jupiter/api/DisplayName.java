package org.junit.jupiter.api;

/** Replaces JUnit's class where the class path has none. Only replay uses it. */
public @interface DisplayName {
    String value();
}
