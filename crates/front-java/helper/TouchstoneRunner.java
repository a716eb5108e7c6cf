import java.io.*;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.*;
import java.util.regex.Pattern;

/**
 * Runs tests: one request a line on standard input, with fields separated by tabs:
 *
 *   directory of classes, class path, test class, timeout of a test in milliseconds, names of tests separated by commas, the beginning of the
 *   names of the classes with hits if the classes under test have probes
 *
 * Responses: "begin NAME", "ok NAME", "fail NAME TEXT", "late NAME", "asserts NAME TEXT" if a test passes only without
 * assertions, "hits NAME HITS" for a test that passes with probes, and "done". HITS are the number of a class with hits, a colon and the
 * numbers of its probes, separated by commas; classes are separated by spaces.
 */
public final class TouchstoneRunner {
    private static final PrintStream ANSWERS = System.out;

    public static void main(String[] args) throws Exception {
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.setIn(new ByteArrayInputStream(new byte[0]));
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] fields = line.split("\t", -1);
            run(fields);
            answer("done");
        }
        // Threads of tests that do not terminate must not keep the process alive.
        Runtime.getRuntime().halt(0);
    }

    private static void answer(String text) {
        synchronized (ANSWERS) {
            ANSWERS.println(text);
            ANSWERS.flush();
        }
    }

    private static String oneLine(String text) {
        return text.replaceAll("[\\r\\n\\t]+", " ").trim();
    }

    private static void run(String[] fields) throws Exception {
        List<URL> urls = new ArrayList<>();
        urls.add(Path.of(fields[0]).toUri().toURL());
        for (String part : fields[1].split(File.pathSeparator)) {
            urls.add(Path.of(part).toUri().toURL());
        }
        long limit = Long.parseLong(fields[3]);
        for (String name : fields[4].split(",")) {
            answer("begin " + name);
            TestLoader loader = new TestLoader(urls);
            if (!fields[5].isEmpty()) {
                answer(runWithProbes(loader, fields[2], name, limit, fields[5]));
                continue;
            }
            String verdict = run(loader, fields[2], name, limit);
            if (verdict.startsWith("ok ") && loader.hasAssertions()) {
                // Build tools enable assertions in tests.
                TestLoader asserting = new TestLoader(urls);
                asserting.setDefaultAssertionStatus(true);
                String second = run(asserting, fields[2], name, limit);
                verdict = second.startsWith("fail ") ? "asserts " + second.substring(5) : verdict;
            }
            answer(verdict);
        }
    }

    /** Runs a test, and returns its hits if it passes. */
    private static String runWithProbes(TestLoader loader, String type, String name, long limit, String prefix) throws Exception {
        List<Class<?>> holders = sharedHolders(prefix);
        if (!holders.isEmpty()) {
            // All tests share classes of the JDK. The first run loads the classes that the test needs, so that hits of the second are its own.
            run(loader, type, name, limit);
            for (Class<?> holder : holders) {
                Arrays.fill(hits(holder), (byte) 0);
            }
        }
        String verdict = run(loader, type, name, limit);
        if (!verdict.startsWith("ok ")) {
            return verdict;
        }
        StringBuilder text = new StringBuilder("hits " + name);
        for (Class<?> holder : holders.isEmpty() ? loader.holders(prefix) : holders) {
            byte[] hits = hits(holder);
            String separator = " " + holder.getName().substring(prefix.length()) + ":";
            for (int probe = 0; probe < hits.length; probe++) {
                if (hits[probe] != 0) {
                    text.append(separator).append(probe);
                    separator = ",";
                }
            }
        }
        return text.toString();
    }

    /** Returns the classes with hits that are part of the JDK. */
    private static List<Class<?>> sharedHolders(String prefix) {
        List<Class<?>> found = new ArrayList<>();
        try {
            while (true) {
                found.add(Class.forName(prefix + found.size(), true, null));
            }
        } catch (ClassNotFoundException last) {
            return found;
        }
    }

    private static byte[] hits(Class<?> holder) throws Exception {
        return (byte[]) holder.getField("HIT").get(null);
    }

    /** Runs a test, and restores the state of the JDK that the next test would see. */
    private static String run(ClassLoader loader, String type, String name, long limit) throws Exception {
        Locale locale = Locale.getDefault();
        Locale display = Locale.getDefault(Locale.Category.DISPLAY);
        Locale format = Locale.getDefault(Locale.Category.FORMAT);
        TimeZone zone = TimeZone.getDefault();
        Properties properties = (Properties) System.getProperties().clone();
        String[] verdict = {null};
        Thread thread = new Thread(null, () -> verdict[0] = verdict(loader, type, name), "test", 64 << 20);
        thread.setDaemon(true);
        thread.setContextClassLoader(loader);
        thread.start();
        thread.join(limit);
        String found = thread.isAlive() || verdict[0] == null ? "late " + name : verdict[0];
        Locale.setDefault(locale);
        Locale.setDefault(Locale.Category.DISPLAY, display);
        Locale.setDefault(Locale.Category.FORMAT, format);
        TimeZone.setDefault(zone);
        System.setProperties(properties);
        return found;
    }

    /** Gives each test uninitialised classes. */
    private static final class TestLoader extends URLClassLoader {
        private final List<Class<?>> loaded = new ArrayList<>();

        TestLoader(List<URL> urls) {
            super(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            Class<?> found = super.findClass(name);
            synchronized (loaded) {
                loaded.add(found);
            }
            return found;
        }

        /** Returns the classes that the test has used; more may be loaded while they are examined. */
        private List<Class<?>> loaded() {
            synchronized (loaded) {
                return List.copyOf(loaded);
            }
        }

        /** Returns the classes with hits that the test has used. */
        List<Class<?>> holders(String prefix) {
            List<Class<?>> found = new ArrayList<>(loaded());
            found.removeIf(one -> !one.getName().matches(Pattern.quote(prefix) + "[0-9]+"));
            return found;
        }

        /** Returns true if a class that the test has used contains an assert statement. */
        boolean hasAssertions() {
            for (Class<?> one : loaded()) {
                try {
                    one.getDeclaredField("$assertionsDisabled");
                    return true;
                } catch (NoSuchFieldException | LinkageError none) {
                    // The class has no assert statement.
                }
            }
            return false;
        }
    }

    private static String verdict(ClassLoader loader, String type, String name) {
        try {
            Class<?> test = Class.forName(type, true, loader);
            var constructor = test.getDeclaredConstructor();
            constructor.setAccessible(true);
            var method = test.getDeclaredMethod(name);
            method.setAccessible(true);
            method.invoke(constructor.newInstance());
            return "ok " + name;
        } catch (InvocationTargetException e) {
            return "fail " + name + " " + oneLine(String.valueOf(e.getCause()));
        } catch (Throwable e) {
            return "fail " + name + " " + oneLine(e.toString());
        }
    }
}
