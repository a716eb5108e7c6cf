import java.io.*;
import java.util.*;
/** Standard input, arguments, the exit status. */
public class Input {
    public static void main(String[] args) throws IOException {
        System.out.println(args.length + Arrays.toString(args)); BufferedReader in = new BufferedReader(new InputStreamReader(System.in)); String line; int n = 0; while ((line = in.readLine()) != null) { n += line.length(); System.out.println("[" + line + "]"); if (line.equals("stop")) break; } System.out.println(n); System.err.println("to standard error"); ByteArrayOutputStream bytes = new ByteArrayOutputStream(); PrintStream own = new PrintStream(bytes, true); own.println("captured"); own.printf("%d", 5); System.out.print(bytes.toString().replace("\n", "|")); StringWriter w = new StringWriter(); new PrintWriter(w, true).println("written"); System.out.print(w); System.out.write(65); System.out.println(); System.out.flush(); System.exit(n > 3 ? 7 : 0); System.out.println("never");
    }
}
