/** Classes, interfaces, inheritance, initialisation order, inner classes. */
public class Classes {
    interface Shape { double area(); default String describe() { return name() + " with area " + area(); } String name(); static Shape unit() { return new Square(1); } }
    static abstract class Base implements Shape { static int made; final int id; Base() { id = ++made; init(); } void init() { System.out.println("Base.init " + id); } public String toString() { return describe() + " #" + id; } }
    static class Square extends Base { final double side; Square(double side) { this.side = side; } public double area() { return side * side; } public String name() { return "square"; } @Override void init() { System.out.println("Square.init " + side); } }
    static class Circle extends Base { final double r; Circle(double r) { super(); this.r = r; } public double area() { return 3 * r * r; } public String name() { return "circle"; } @Override public String describe() { return "round " + super.describe(); } }
    static class Order { static { System.out.println("Order is initialised"); } static final int CONSTANT = 5; static int variable = compute(); static int compute() { System.out.println("computing"); return 7; } }
    static class Child extends Order { static { System.out.println("Child is initialised"); } static void touch() { } }
    class Inner { int v = outer * 2; int up() { return v + outer++; } }
    int outer = 21;
    static class Node<T extends Comparable<T>> { T value; Node<T> left, right; Node(T v) { value = v; }
        void insert(T v) { if (v.compareTo(value) < 0) { if (left == null) left = new Node<>(v); else left.insert(v); } else { if (right == null) right = new Node<>(v); else right.insert(v); } }
        void walk(StringBuilder out) { if (left != null) left.walk(out); out.append(value).append(' '); if (right != null) right.walk(out); } }
    static class Failing { static int x = 1 / zero(); static int zero() { return 0; } }
    private int secret = 3; static int peek(Classes o) { return o.secret; }
    @Override public boolean equals(Object o) { return o instanceof Classes other && other.outer == outer; }
    @Override public int hashCode() { return outer; }
    public static void main(String[] args) {
        Shape[] shapes = {new Square(2), new Circle(1.5), Shape.unit()};
        double sum = 0; for (Shape s : shapes) { System.out.println(s); sum += s.area(); } System.out.println(sum);
        System.out.println(Order.CONSTANT); Child.touch(); System.out.println(Order.variable);
        Classes o = new Classes(); Inner in = o.new Inner(); System.out.println(in.up() + " " + in.up() + " " + o.outer + " " + peek(o));
        Node<String> root = new Node<>("m"); for (String s : "q w e r t y u i o p".split(" ")) root.insert(s); StringBuilder b = new StringBuilder(); root.walk(b); System.out.println(b);
        System.out.println(o.equals(new Classes()) + " " + new Classes().equals(new Classes()) + " " + o.equals("x") + " " + o.hashCode());
        try { System.out.println(Failing.x); } catch (ExceptionInInitializerError e) { System.out.println("failed: " + e.getCause()); }
        try { System.out.println(Failing.x); } catch (NoClassDefFoundError e) { System.out.println(e.getMessage()); }
        Runnable r = new Runnable() { int n = 3; public void run() { while (n-- > 0) System.out.print(n + sumName()); System.out.println(); } String sumName() { return getClass().getName(); } }; r.run();
        Object[] things = {1, 2L, 'c', "s", 1.5f, new int[0], new String[2][3], shapes, null, o.getClass()};
        for (Object t : things) System.out.println(t == null ? "null" : t.getClass().getName() + " " + t.getClass().getSimpleName() + " " + (t instanceof Number) + (t instanceof Comparable<?>) + (t instanceof Object[]) + (t instanceof Cloneable));
        int[][] grid = new int[3][4]; grid[1][2] = 5; int[] copy = grid[1].clone(); copy[2]++; System.out.println(grid[1][2] + " " + copy[2] + " " + grid.length + grid[0].length);
        long[] longs = new long[4]; longs[1]--; longs[2] += 1L << 35; short[] shorts = {1, -2}; shorts[0] -= 3; boolean[] flags = new boolean[2]; flags[1] ^= true; char[] chars = {'x', 'y'}; chars[0]++; System.out.println(longs[1] + longs[2] + shorts[0] + " " + flags[0] + flags[1] + chars[0] + chars.length);
    }
}
