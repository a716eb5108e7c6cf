package org.junit;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** Stands for JUnit's where the class path has none: only our replay uses it. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Test {
    Class<? extends Throwable> expected() default None.class;

    /** Nothing is thrown. */
    class None extends Throwable {
        private static final long serialVersionUID = 1L;
    }
}
