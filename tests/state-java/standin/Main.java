package standin;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.junit.jupiter.api.*;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.launcher.core.ExecutionListenerAdapter;

/** Runs the tests of classes as JUnit 5 does, and those of JUnit 4 and TestNG that are to end with an exception. */
public class Main {
    public static void main(String[] classes) throws Exception {
        ExecutionListenerAdapter listener = new ExecutionListenerAdapter();
        for (String name : classes) {
            Class<?> type = Class.forName(name);
            for (Method method : type.getDeclaredMethods()) {
                Class<?> expected = expected(method);
                if (!method.isAnnotationPresent(Test.class) && expected == null) continue;
                TestDescriptor test = new TestDescriptor(name, method.getName());
                listener.executionStarted(test);
                var made = type.getDeclaredConstructor();
                made.setAccessible(true);
                Object object = made.newInstance();
                for (Method before : type.getDeclaredMethods()) {
                    if (before.isAnnotationPresent(BeforeEach.class)) call(before, object);
                }
                try {
                    call(method, object);
                } catch (InvocationTargetException thrown) {
                    if (expected == null || !expected.isInstance(thrown.getCause())) throw thrown;
                }
                listener.executionFinished(test, null);
            }
        }
    }

    static Class<?> expected(Method method) {
        org.junit.Test older = method.getAnnotation(org.junit.Test.class);
        org.testng.annotations.Test other = method.getAnnotation(org.testng.annotations.Test.class);
        return older != null ? older.expected() : other != null ? other.expectedExceptions()[0] : null;
    }

    static void call(Method method, Object object) throws Exception {
        method.setAccessible(true);
        method.invoke(object);
    }

    /** Begins a test by hand. */
    public static void begin(String name) { new ExecutionListenerAdapter().executionStarted(new TestDescriptor("test", name)); }

    /** Ends it. */
    public static void end(String name) { new ExecutionListenerAdapter().executionFinished(new TestDescriptor("test", name), null); }
}
