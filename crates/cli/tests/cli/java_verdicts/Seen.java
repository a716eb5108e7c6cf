import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Records executed statements, conditions with their values, evaluations of decisions, and values of switches. */
public final class Seen {
    public static final int[] INTS = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
    public static final int[] FEW = {-4, -3, -2, -1, 0, 1, 2, 3};
    public static final int[] TRUTHS = {0, 1};
    public static final String[] TEXTS = {null, "", "a", "b", "ab", "ba", "A", "AB", "xyz", "abx", " a"};
    public static final int[][] ARRAYS = {null, {}, {0}, {1}, {-1}, {7}, {0, 0}, {1, 0}, {2, 3}, {-1, 2147483647}, {3, 1, 0}};

    private static final int MOST = 4000;
    private static boolean[] met = new boolean[2 * MOST];
    private static long[] open = new long[MOST];
    private static long[] last = new long[MOST];
    private static TreeSet<String> evaluations = new TreeSet<>();
    private static int hash;
    private static String method;

    public static void s(int mark) {
        met[2 * mark] = true;
    }

    public static boolean c(int mark, int decision, int own, boolean value) {
        met[2 * mark + (value ? 1 : 0)] = true;
        // Five bits for each condition; the first one of a decision is always asked.
        open[decision] = (own == 0 ? 1 : open[decision]) << 5 | own << 1 | (value ? 1 : 0);
        return value;
    }

    public static boolean d(int mark, boolean value) {
        met[2 * mark + (value ? 1 : 0)] = true;
        if (last[mark] != open[mark]) {
            last[mark] = open[mark];
            String text = "";
            for (long rest = open[mark]; rest > 1; rest >>= 5) {
                text = " " + (rest >> 1 & 15) + ((rest & 1) == 1 ? "+" : "-") + text;
            }
            evaluations.add("e" + mark + text);
        }
        return value;
    }

    public static int w(int mark, int value) {
        evaluations.add("w" + mark + " " + value);
        return value;
    }

    public static char w(int mark, char value) {
        w(mark, (int) value);
        return value;
    }

    public static String w(int mark, String value) {
        evaluations.add("w" + mark + (value == null ? " none" : " \"" + value + "\""));
        return value;
    }

    public static <E extends Enum<E>> E w(int mark, E value) {
        evaluations.add("w" + mark + " " + (value == null ? "none" : value.name()));
        return value;
    }

    public static void method(String name) {
        flush();
        method = name;
    }

    public static void result(Object value) {
        hash = hash * 31 + String.valueOf(value).hashCode();
    }

    public static void thrown(Throwable e) {
        result(e.getClass().getName() + e.getMessage());
    }

    private static void flush() {
        if (method != null) {
            System.out.println("result " + method + " " + hash);
        }
        hash = 0;
    }

    private static void print(String of) {
        StringBuilder all = new StringBuilder("met ").append(of);
        for (int i = 0; i < met.length; i++) {
            if (met[i]) {
                all.append('\t').append(i / 2).append(i % 2 == 1 ? '+' : '-');
            }
        }
        for (String one : evaluations) {
            all.append('\t').append(one);
        }
        System.out.println(all);
        met = new boolean[2 * MOST];
        open = new long[MOST];
        last = new long[MOST];
        evaluations = new TreeSet<>();
    }

    /** At the end of all calls of a class. */
    public static void done(String of) {
        flush();
        method = null;
        print(of);
    }

    /** Runs tests, each with classes of its own: a directory, and then names of test classes. */
    public static void main(String[] args) throws Exception {
        URL[] path = {new File(args[0]).toURI().toURL()};
        for (int i = 1; i < args.length; i++) {
            List<String> names = new ArrayList<>();
            for (Method test : Class.forName(args[i], false, new URLClassLoader(path)).getDeclaredMethods()) {
                if (!test.isSynthetic() && test.getReturnType() == void.class && test.getParameterCount() == 0) {
                    names.add(test.getName());
                }
            }
            for (String name : names) {
                Class<?> type = Class.forName(args[i], true, new URLClassLoader(path));
                Method test = type.getDeclaredMethod(name);
                java.lang.reflect.Constructor<?> made = type.getDeclaredConstructor();
                test.setAccessible(true);
                made.setAccessible(true);
                String end = "";
                try {
                    test.invoke(made.newInstance());
                } catch (InvocationTargetException e) {
                    end = " failed " + e.getCause();
                }
                System.out.println("test " + name + end);
                print(name);
            }
        }
    }
}
