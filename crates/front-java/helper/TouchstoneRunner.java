import java.io.*;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import javax.tools.*;

/**
 * Compiles and runs tests: one request a line on standard input, with fields separated by tabs:
 *
 *   source, directory of classes, class path, test class, timeout of a test in milliseconds, names of tests separated by commas
 *
 * Responses: "compile TEXT" if the tests don't compile, "begin NAME", "ok NAME", "fail NAME TEXT", "late NAME", "asserts NAME TEXT" if a test
 * passes only without assertions, and "done".
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
            if (compiles(fields[0], fields[1], fields[2])) {
                run(fields);
            }
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

    private static boolean compiles(String source, String directory, String classPath) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Files.createDirectories(Path.of(directory));
        StringBuilder said = new StringBuilder();
        DiagnosticListener<JavaFileObject> listener = diagnostic -> {
            if (diagnostic.getKind() == Diagnostic.Kind.ERROR) {
                said.append(diagnostic).append(' ');
            }
        };
        StandardJavaFileManager manager = compiler.getStandardFileManager(listener, null, StandardCharsets.UTF_8);
        List<String> options = List.of("-nowarn", "-proc:none", "-g:none", "-d", directory, "-cp", classPath);
        Boolean fine = compiler.getTask(null, manager, listener, options, null, manager.getJavaFileObjects(source)).call();
        if (!fine) {
            answer("compile " + oneLine(said.toString()));
        }
        return fine;
    }

    private static void run(String[] fields) throws Exception {
        List<URL> urls = new ArrayList<>();
        urls.add(Path.of(fields[1]).toUri().toURL());
        for (String part : fields[2].split(File.pathSeparator)) {
            urls.add(Path.of(part).toUri().toURL());
        }
        long limit = Long.parseLong(fields[4]);
        for (String name : fields[5].split(",")) {
            answer("begin " + name);
            TestLoader loader = new TestLoader(urls);
            String verdict = run(loader, fields[3], name, limit);
            if (verdict.startsWith("ok ") && loader.hasAssertions()) {
                // Build tools enable assertions in tests.
                TestLoader asserting = new TestLoader(urls);
                asserting.setDefaultAssertionStatus(true);
                String second = run(asserting, fields[3], name, limit);
                verdict = second.startsWith("fail ") ? "asserts " + second.substring(5) : verdict;
            }
            answer(verdict);
        }
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

        /** Returns true if a class that the test has used contains an assert statement. */
        boolean hasAssertions() {
            List<Class<?>> all;
            synchronized (loaded) {
                // The types of fields may be loaded while fields are looked up.
                all = List.copyOf(loaded);
            }
            for (Class<?> one : all) {
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
