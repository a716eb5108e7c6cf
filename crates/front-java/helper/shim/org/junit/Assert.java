package org.junit;

import touchstone.junit.Checks;

/** Replaces JUnit's class where the class path has none. Only replay uses it. */
public class Assert extends Checks {
    public static <T extends Throwable> T assertThrows(Class<T> type, org.junit.function.ThrowingRunnable body) {
        Throwable thrown = null;
        try {
            body.run();
        } catch (Throwable caught) {
            thrown = caught;
        }
        return thrown(type, thrown);
    }
}
