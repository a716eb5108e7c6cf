import java.util.*;
/** Switches over patterns, records in patterns: from Java 21 on. */
public class Patterns21 {
    sealed interface Shape permits Circle, Box, Group { } record Circle(double r) implements Shape { } record Box(int w, int h) implements Shape { } record Group(List<Shape> parts, String name) implements Shape { }
    enum Level { LOW, MID, HIGH }
    static double area(Shape s) { return switch (s) { case Circle c when c.r() > 10 -> -1; case Circle(double r) -> 3 * r * r; case Box(int w, int h) when w == h -> w * w + 0.5; case Box b -> b.w() * b.h(); case Group(var parts, String name) -> { double sum = name.length(); for (Shape p : parts) sum += area(p); yield sum; } }; }
    static String classify(Object o) { return switch (o) { case null -> "null"; case Integer i when i > 100 -> "big " + i; case Integer i -> "int " + i; case String s when s.isEmpty() -> "empty"; case String s -> "text " + s.length(); case Level l -> "level " + l.ordinal(); case int[] a -> "ints " + a.length; case List<?> l when l.size() > 1 -> "list"; default -> o.getClass().getSimpleName(); }; }
    static int words(String s) { return switch (s) { case "a" -> 1; case "b", "c" -> 2; case String t when t.length() > 5 -> 3; default -> 0; }; }
    static String levels(Level l) { return switch (l) { case LOW -> "low"; case Level x when x.ordinal() == 1 -> "middle"; case HIGH -> "high"; default -> "?"; }; }
    record Pair<A, B>(A a, B b) { } static String pairs(Object o) { if (o instanceof Pair<?, ?>(Integer x, Pair<?, ?>(String y, var z))) return x + y + z; if (o instanceof Pair<?, ?>(var x, var y) && x.equals(y)) return "same"; return "other"; }
    public static void main(String[] args) {
        for (Shape s : List.of(new Circle(2), new Circle(11), new Box(2, 3), new Box(4, 4), new Group(List.of(new Box(1, 2), new Circle(1)), "grp"))) System.out.println(area(s) + " " + s);
        for (Object o : new Object[] {1, 1000, "", "abc", Level.HIGH, new int[3], List.of(1, 2), List.of(), 'c', 2.5}) System.out.println(classify(o)); System.out.println(classify(null));
        for (String s : "a b c dddddd e".split(" ")) System.out.print(words(s)); System.out.println(); for (Level l : Level.values()) System.out.print(levels(l) + " "); System.out.println(pairs(new Pair<>(1, new Pair<>("x", 2.0))) + pairs(new Pair<>(1, 1)) + pairs("no"));
        List<Integer> list = new ArrayList<>(List.of(3, 1, 2)); System.out.println(list.reversed() + " " + list.getFirst() + list.removeLast() + new TreeSet<>(list).first()); var map = new LinkedHashMap<String, Integer>(); map.put("a", 1); map.putFirst("b", 2); System.out.println(map + " " + "x".repeat(3).indexOf("x", 1, 3) + Math.clamp(15L, 0, 10) + new StringBuilder().repeat("ab", 2));
        try { Object o = null; String r = switch (o) { case String s -> s; default -> "default"; }; System.out.println(r); } catch (NullPointerException e) { System.out.println("null again"); }
    }
}
