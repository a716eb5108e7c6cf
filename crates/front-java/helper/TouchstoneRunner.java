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
 * Responses: "compile TEXT" if the tests don't compile, "begin NAME", "ok NAME", "fail NAME TEXT", "late NAME", and "done".
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
            // A class loader of its own gives each test uninitialised classes.
            ClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
            answer("begin " + name);
            String[] verdict = {null};
            Thread thread = new Thread(null, () -> verdict[0] = verdict(loader, fields[3], name), "test", 64 << 20);
            thread.setDaemon(true);
            thread.setContextClassLoader(loader);
            thread.start();
            thread.join(limit);
            answer(thread.isAlive() || verdict[0] == null ? "late " + name : verdict[0]);
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
