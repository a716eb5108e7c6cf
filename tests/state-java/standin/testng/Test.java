package org.testng.annotations;

import java.lang.annotation.*;

@Retention(RetentionPolicy.RUNTIME)
public @interface Test {
    Class<?>[] expectedExceptions();
}
