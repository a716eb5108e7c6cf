package org.junit;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Replaces JUnit's class where the class path has none. Only replay uses it. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Test {
    Class<? extends Throwable> expected() default None.class;

    /** The default: no exception is expected. */
    class None extends Throwable {
        private static final long serialVersionUID = 1L;
    }
}
