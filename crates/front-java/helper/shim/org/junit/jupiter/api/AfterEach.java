package org.junit.jupiter.api;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Replaces JUnit's class where the class path has none. Only replay uses it. */
@Retention(RetentionPolicy.RUNTIME)
public @interface AfterEach {
}
