/** Thrown objects, their handlers, `finally`, and the exceptions of the language itself. */
public class Exceptions {
    static class Own extends Exception { final int code; Own(String m, int code) { super(m); this.code = code; } }
    static class Resource implements AutoCloseable { final String n; Resource(String n) { this.n = n; System.out.println("open " + n); } public void close() throws Own { System.out.println("close " + n); if (n.equals("bad")) throw new Own("close failed", 2); } }
    static int order(int n) { try { if (n == 0) return 1; if (n == 1) throw new IllegalStateException("one"); return 2; } catch (IllegalStateException e) { return 3; } finally { System.out.print("[finally " + n + "]"); if (n == 5) return 9; } }
    static int nested(int n) throws Own { int r = 0; try { try { if (n > 2) throw new Own("big", n); r += 1; } finally { r += 10; } } catch (Own e) { r += e.code * 100; if (n > 3) throw e; } return r; }
    static void attempt(String what, Runnable r) { try { r.run(); System.out.println(what + ": fine"); } catch (RuntimeException | Error e) { System.out.println(what + ": " + e.getClass().getName() + ": " + e.getMessage()); } }
    static int depth(int n) { if (n == 0) throw new UnsupportedOperationException("deep"); try { return depth(n - 1); } finally { count++; } }
    static int count; static Object nothing; static int zero = 0; static int[] none; static Object text = "text";
    public static void main(String[] args) throws Exception {
        for (int i : new int[] {0, 1, 2, 5}) System.out.println(order(i));
        for (int i = 1; i < 5; i++) try { System.out.println(nested(i)); } catch (Own e) { System.out.println("own " + e.code + e.getMessage()); }
        attempt("divide", () -> System.out.println(1 / zero)); attempt("remainder", () -> System.out.println(1L % zero));
        attempt("index", () -> { int[] a = new int[3]; System.out.println(a[zero + 5]); }); attempt("index", () -> { int[] a = new int[2]; a[-1 + zero] = 2; });
        attempt("index", () -> { byte[] a = new byte[0]; a[zero]++; }); attempt("size", () -> System.out.println(new int[zero - 5].length));
        attempt("store", () -> { Object[] a = new String[1]; a[0] = 1; }); attempt("cast", () -> System.out.println((Integer) text)); attempt("cast", () -> System.out.println(((int[]) (Object) new long[1]).length));
        attempt("parse", () -> Integer.parseInt("12x")); attempt("char", () -> "abc".charAt(5)); attempt("substring", () -> "abc".substring(2, 1));
        attempt("list", () -> new java.util.ArrayList<>(java.util.List.of(1, 2)).get(2)); attempt("immutable", () -> java.util.List.of(1).add(2));
        attempt("next", () -> new java.util.ArrayList<Integer>().iterator().next()); attempt("enum", () -> Thread.State.valueOf("NONE"));
        attempt("copy", () -> System.arraycopy(new int[3], 1, new int[2], 0, 3)); attempt("deep", () -> depth(10)); System.out.println(count);
        attempt("require", () -> java.util.Objects.requireNonNull(null, "must be there")); attempt("null message", () -> { throw new RuntimeException(); });
        attempt("concurrent", () -> { var l = new java.util.ArrayList<>(java.util.List.of(1, 2, 3)); for (int x : l) l.remove(0); });
        try (Resource a = new Resource("a"); Resource b = new Resource("bad")) { System.out.println("body"); throw new IllegalArgumentException("in body"); } catch (IllegalArgumentException e) { System.out.println(e.getMessage() + " suppressed " + e.getSuppressed().length + e.getSuppressed()[0].getMessage()); }
        try { throw new IllegalStateException("outer", new Own("cause", 1)); } catch (IllegalStateException e) { System.out.println(e + " by " + e.getCause()); }
        try { try { throw new Own("a", 1); } finally { System.out.println("inner finally"); } } catch (Own e) { System.out.println("caught " + e.getMessage()); }
        label: for (int i = 0; i < 3; i++) { try { if (i == 1) continue label; System.out.println("loop " + i); } finally { System.out.println("end " + i); } }
        throw new Own("nobody catches this", 3);
    }
}
