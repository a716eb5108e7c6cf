package org.junit.jupiter.api;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Stands for JUnit's where the class path has none: only our replay uses it. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Test {
}
