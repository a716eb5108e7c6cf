import java.util.*;
/** Switches over numbers, strings and enumerations; loops and labels. */
public class Switches {
    enum Day { MON, TUE, WED, SAT, SUN } sealed interface Expr permits Num, Add, Mul { } record Num(int v) implements Expr { } record Add(Expr a, Expr b) implements Expr { } record Mul(Expr a, Expr b) implements Expr { }
    static int eval(Expr e) { if (e instanceof Num n) return n.v(); if (e instanceof Add a) return eval(a.a()) + eval(a.b()); if (e instanceof Mul m && m.a() != null) return eval(m.a()) * eval(m.b()); throw new IllegalStateException(); }
    static String dense(int i) { switch (i) { case 1: return "one"; case 2: case 3: return "few"; case 4: i += 10; default: return "many" + i; } }
    static int sparse(int i) { return switch (i) { case -1000000 -> 1; case 0 -> 2; case 7, 8, 9 -> { int x = i; x *= 2; yield x; } case Integer.MAX_VALUE -> 4; default -> -1; }; }
    static boolean weekend(Day d) { return switch (d) { case SAT, SUN -> true; default -> false; }; }
    static String text(String s) { switch (s) { case "Aa": return "first"; case "BB": return "same hash"; case "x": return "ex"; default: return "other"; } }
    static String chars(char c) { return switch (c) { case 'a', 'e', 'i' -> "vowel"; case 'z' -> "last"; default -> c >= '0' && c <= '9' ? "digit" : "?"; }; }
    public static void main(String[] args) {
        for (int i = 0; i < 6; i++) System.out.print(dense(i) + " "); for (int i : new int[] {-1000000, 0, 8, 9, Integer.MAX_VALUE, 5}) System.out.print(sparse(i) + " "); for (Day d : Day.values()) System.out.print(d + ":" + weekend(d) + d.ordinal() + " "); for (String s : new String[] {"Aa", "BB", "x", "C"}) System.out.print(text(s) + " "); for (char c : "aez5-".toCharArray()) System.out.print(chars(c) + " "); System.out.println();
        System.out.println(eval(new Add(new Num(2), new Mul(new Num(3), new Num(4))))); outer: for (int i = 0; i < 5; i++) { for (int j = 0; j < 5; j++) { if (j == 3) continue outer; if (i == 3) break outer; System.out.print(i * j + " "); } } System.out.println(); int n = 27, steps = 0; while (n != 1) { n = (n & 1) == 0 ? n / 2 : 3 * n + 1; steps++; } System.out.println(steps); int k = 0; do { k += 3; } while (k < 10); System.out.println(k); boolean a = true, b = false; System.out.println((a && b) + " " + (a || b) + (a ^ b) + (!a | b) + (a & !b)); int t = a ? b ? 1 : 2 : 3; System.out.println(t); Map<Day, Integer> m = new EnumMap<>(Day.class); for (Day d : Day.values()) m.put(d, d.name().length()); System.out.println(m); var list = new ArrayList<String>(); for (var x : new int[] {1, 2}) list.add("v" + x); System.out.println(list); try { System.out.println(weekend(null)); } catch (NullPointerException e) { System.out.println("null"); } assert k < 0 : "not enabled"; System.out.println(Day.valueOf("WED").compareTo(Day.MON)); long big = 0; for (long l = 1; l < 1L << 40; l *= 7) big += l; System.out.println(big);
    }
}
