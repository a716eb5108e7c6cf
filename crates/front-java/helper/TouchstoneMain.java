import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Loads the helper classes into the compiler's package, and compiles: one request a line on standard input, with the arguments of
 * {@code TouchstoneCompile.run} separated by tabs. The response consists of the compiler's messages, one a line after "m ", and "done"
 * with the result of {@code run}, or 2 if it fails.
 */
public final class TouchstoneMain {
    public static void main(String[] args) throws Throwable {
        Method run = compiler(Path.of(args[0])).getMethod("run", String[].class);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
        // Annotation processors may print.
        System.setIn(new ByteArrayInputStream(new byte[0]));
        System.setOut(new PrintStream(OutputStream.nullOutputStream()));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            ByteArrayOutputStream messages = new ByteArrayOutputStream();
            System.setErr(new PrintStream(messages, true, "UTF-8"));
            int result = 2;
            try {
                result = (int) run.invoke(null, (Object) line.split("\t", -1));
            } catch (Throwable e) {
                e.printStackTrace();
            }
            messages.toString("UTF-8").lines().forEach(message -> answers.print("m " + message + "\n"));
            answers.print("done " + result + "\n");
            answers.flush();
        }
        System.exit(0);
    }

    /** Defines the classes of a directory in the compiler's package. */
    private static Class<?> compiler(Path directory) throws Exception {
        Class<?> neighbour = Class.forName("com.sun.tools.javac.jvm.Gen");
        MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(neighbour, MethodHandles.lookup());
        Class<?> compile = null;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory.resolve("com/sun/tools/javac/jvm"))) {
            for (Path file : files) {
                Class<?> made = lookup.defineClass(Files.readAllBytes(file));
                compile = made.getName().endsWith(".TouchstoneCompile") ? made : compile;
            }
        }
        return compile;
    }
}
