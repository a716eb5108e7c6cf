package program;

import java.util.*;

/** Small programs, each with some state, for TableTest. */
class Color {
    String name;
    int rgb;

    Color(String name, int rgb) { this.name = name; this.rgb = rgb; }

    String getName() { return name; }

    /** Reads a field that has no influence on what it returns. */
    String getNameLoudly() { Log.last = "rgb " + rgb; return name; }

    int getRgb() { return rgb; }

    void setRgb(int rgb) { this.rgb = rgb; }
}

class Log { static String last; }

class Counter {
    static int total;
    int value;

    void up() { value++; total++; }

    int get() { return value; }
}

interface Named { String getName(); }

class Animal implements Named {
    protected String name;

    public String getName() { return name; }
}

class Dog extends Animal { Dog(String name) { this.name = name; } }

class Pos {
    int x;
    int y;

    int getX() { return x; }
}

class Robot {
    Pos pos;

    void go(int x, int y) { pos = new Pos(); pos.x = x; pos.y = y; }

    int getX() { return pos.getX(); }
}

class HumanName {
    private final String name;
    private final boolean isCelebrity;

    HumanName(String name, boolean isCelebrity) { this.name = name; this.isCelebrity = isCelebrity; }

    String getName() { return name; }

    boolean isCelebrity() { return isCelebrity; }
}

class Phones {
    private final Map<String, Integer> numbers = new HashMap<>();

    void put(String who, int number) { numbers.put(who, number); }

    int size() { return numbers.size(); }

    int get(String who) { return numbers.getOrDefault(who, 0); }
}

class Range {
    int low;
    int high;
    int step;

    Range(int low, int high, int step) { this.low = low; this.high = high; this.step = step; }

    boolean isEmpty() { return low > high; }
}

class Box {
    int value;

    Box(int value) { this.value = value; }

    static void swap(Box a, Box b) { int kept = a.value; a.value = b.value; b.value = kept; }
}

class Row {
    final int[] cells = new int[3];

    void set(int at, int value) { cells[at] = value; }

    int get(int at) { return cells[at]; }
}

class Door {
    boolean open;
    int opened;

    void push(boolean locked) {
        if (!locked) { open = true; opened++; }
    }
}

class Account {
    int balance;
    String lastError;

    void take(int amount) {
        if (amount > balance) { lastError = "no funds"; throw new IllegalStateException(lastError); }
        balance -= amount;
    }
}

class Memory {
    private int last;

    int add(int a, int b) { last = a + b; return a + b; }
}

/** The shape of the paper's own program: tables in a text, found one after the other. */
class Table {
    private final String name;
    private int position;
    private final List<String> columns = new ArrayList<>();

    Table(String name) { this.name = name; }

    void setPosition(int position) { this.position = position; }

    void addColumn(String column) { columns.add(column); }

    String getName() { return name; }

    int countColumns() { return columns.size(); }
}

class Tables {
    private final List<Table> tables = new ArrayList<>();
    private int lines;
    private String source;

    void read(String source) {
        this.source = source;
        for (String line : source.split("\n")) {
            Table table = new Table(line.substring(0, line.indexOf(':')));
            table.setPosition(lines);
            for (String column : line.substring(line.indexOf(':') + 1).split(",")) {
                table.addColumn(column);
            }
            tables.add(table);
            lines++;
        }
    }

    Table get(int index) { return tables.get(index); }

    int getLines() { return lines; }
}

class Reader {
    private boolean lenient;
    private int value = 1;

    Reader(boolean lenient) { this.lenient = lenient; }

    void read(String text) {
        try {
            value = Integer.parseInt(text);
        } catch (NumberFormatException wrong) {
            if (lenient) value = 3;
        }
    }

    int getValue() { return value; }
}

class Notes { final Map<Integer, String> map = new HashMap<>(); }

class Shelf {
    final List<String> list = new ArrayList<>(Arrays.asList("a", "b"));

    void copyTo(List<String> other) { list.forEach(other::add); }

    /** The list is local to the method, also inside of the lambda expression. */
    int countByLambda() {
        List<String> found = new ArrayList<>();
        list.forEach(text -> found.add(text));
        return found.size();
    }
}

interface Rule { boolean fits(String text); }

class Gate {
    private final java.util.function.IntPredicate first;
    private final Rule second;
    Runnable onOpen;

    Gate(java.util.function.IntPredicate first, Rule second) { this.first = first; this.second = second; }

    boolean opens(int value) {
        if (onOpen != null) onOpen.run();
        return first.test(value);
    }

    boolean named(String text) { return second.fits(text); }
}

class Grid implements Cloneable {
    int wide;
    int high;

    @Override public Grid clone() {
        try {
            return (Grid) super.clone();
        } catch (CloneNotSupportedException impossible) {
            throw new AssertionError(impossible);
        }
    }
}

interface Store {
    int load();

    void keep(int value);

    default void drop() { throw new UnsupportedOperationException(); }
}

class Four implements Store {
    public int load() { return 4; }

    public void keep(int value) {}
}

class Depot {
    Store store;
    String name;
    int total;

    int load() { return store.load(); }

    void need() { if (store == null) throw new IllegalStateException(); }

    void drop() { store.drop(); }

    void save() { store.keep(total); }
}
