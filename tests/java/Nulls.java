/** Null pointers, with the JVM's helpful messages. */
public class Nulls {
    int field; Nulls next; int[] numbers; static Nulls shared; static String text; Nulls self() { return next; } static Nulls make() { return null; }
    static void attempt(Runnable r) { try { r.run(); } catch (NullPointerException e) { System.out.println(e.getMessage()); } }
    static void local(Nulls parameter) { Nulls variable = parameter.next; System.out.println(variable.field); }
    public static void main(String[] args) {
        attempt(() -> System.out.println(shared.field)); attempt(() -> shared.field = 1); attempt(() -> text.length()); attempt(() -> make().self());
        attempt(() -> local(new Nulls())); attempt(() -> local(null)); attempt(() -> System.out.println(new Nulls().numbers[2])); attempt(() -> new Nulls().numbers[0] = 1);
        attempt(() -> System.out.println(new Nulls().numbers.length)); attempt(() -> System.out.println(new Nulls().next.next.field)); attempt(() -> { throw null; }); attempt(() -> { synchronized (shared) { } });
        attempt(() -> { Integer boxed = null; int i = boxed; }); attempt(() -> { throw new NullPointerException("own"); }); attempt(() -> { throw new NullPointerException(); });
        attempt(() -> { Nulls[] many = new Nulls[2]; many[1].field++; }); attempt(() -> { int[][] grid = new int[2][]; int i = 1; grid[i][0] = 2; });
        String s = null; System.out.println("concat " + s); s.trim();
    }
}
