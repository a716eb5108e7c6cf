//! Java: objects as inputs. Tests make them as a caller would, and nothing is impossible only because of that.

use super::java_generate::{count, example, generated, source, touchstone};

#[test]
fn boxes_of_small_numbers_are_one_object_and_others_are_not() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Boxed.java",
        "import java.util.*;
class Boxed {
    static int same(int x, int y) { Integer a = x, b = y; if (a == b) return 1; if (a.equals(b)) return 2; return 0; }
    static int small(long x) { Long a = x, b = x; if (x < -128 && a == b) return 1; return a == b ? 2 : 3; }
    static int map(int x, int y) {
        Map<Integer, Integer> m = new HashMap<>();
        m.put(x, 1);
        m.put(y, 2);
        if (m.size() == 1) return 1;
        return m.get(x) == 1 ? 2 : 0;
    }
}
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    for objective in report["objectives"].as_array().expect("objectives") {
        let text = objective["text"].as_str().expect("a text");
        let never = ["x < -128 && a == b is true", "m.get(x) == 1 is false"].contains(&text);
        let expected = if never { "infeasible" } else { "covered" };
        assert_eq!(objective["status"], expected, "{objective:#}");
    }
    assert_eq!(count(&report, "infeasible"), 2, "{report:#}");
}

/// The statuses of objectives whose text begins so.
fn statuses<'r>(report: &'r serde_json::Value, text: &str) -> Vec<&'r str> {
    let objectives = report["objectives"].as_array().expect("objectives").iter();
    let wanted = objectives.filter(|objective| objective["text"].as_str().is_some_and(|own| own.starts_with(text)));
    wanted.filter_map(|objective| objective["status"].as_str()).collect()
}

fn tests_of(scratch: &tempfile::TempDir, class: &str) -> String {
    let file = scratch.path().join(format!("{class}TouchstoneTest.java"));
    std::fs::read_to_string(file).expect("tests")
}

#[test]
fn objects_boxes_enumerations_and_arrays_of_them_are_made_as_a_caller_would() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Made.java",
        "class Made {
    enum Colour { RED, GREEN, BLUE }
    static class Node { final int v; final Node next; Node(int v, Node next) { this.v = v; this.next = next; } }
    static int chain(Node n) {
        if (n == null) return 0;
        return n.next != null && n.next.next != null && n.next.next.v == n.v + 7 ? 1 : 2;
    }
    static int same(Node a, Node b) { if (a == b && a != null) return 1; return 0; }
    static int colour(Colour c) { if (c == Colour.GREEN) return 1; return c == null ? 2 : c.ordinal() > 2 ? 4 : 5; }
    static int box(Integer a, Integer b) {
        if (a == null || b == null) return 0;
        if (a == b) return 1;
        if (a > 0 && a < 100 && a.equals(b)) return 2;
        return 3;
    }
    static int words(String[] w) { int n = 0; for (String s : w) if (s != null && s.equals(\"ab\")) n++; return n > 1 ? 1 : 0; }
    static int any(Object o) {
        if (o instanceof String) return ((String) o).length() > 2 ? 1 : 2;
        return o instanceof Integer && (Integer) o == 42 ? 3 : 4;
    }
}
",
    );
    let report = generated(&["-c", "branch,mcdc"], &file, scratch.path());
    for objective in report["objectives"].as_array().expect("objectives") {
        let text = objective["text"].as_str().expect("a text");
        let never = text.starts_with("c.ordinal() > 2 is true");
        let expected = if never { "infeasible" } else { "covered" };
        assert_eq!(objective["status"], expected, "{objective:#}");
    }
    let tests = tests_of(&scratch, "Made");
    for part in [
        "new Made.Node(",
        "Made.Colour.GREEN",
        "Made.box(null, null)",
        "new Integer(",
        "new String[] {",
        "assertEquals(3, Made.any(42));",
        "Made.same(a, a)",
    ] {
        assert!(tests.contains(part), "{part} in\n{tests}");
    }
}

#[test]
fn collections_are_filled_and_lambdas_and_stubs_answer() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Held.java",
        "import java.util.*;
import java.util.function.*;
class Held {
    interface Clock { long now(); boolean set(int to); }
    static int list(List<Integer> l) { if (l.size() == 3 && l.get(2) == 9) return 1; return l.contains(7) ? 2 : 3; }
    static int map(Map<Integer, String> m, int k) { if (m.containsKey(k) && m.size() == 2) return 1; return 0; }
    static int deque(Deque<Character> d) { if (d.size() > 1 && d.peekLast() == ')') return 1; return 0; }
    static int clock(Clock c, int x) { if (c.now() > 1000L && c.set(x)) return 1; return 0; }
    static int pred(IntPredicate p, int x) { if (p.test(x) && !p.test(x + 1)) return 1; return 0; }
    static int fun(Function<Integer, String> f) { String s = f.apply(3); return s != null && s.isEmpty() ? 1 : 2; }
}
",
    );
    let report = generated(&["-c", "branch,mcdc"], &file, scratch.path());
    let total = report["objectives"].as_array().expect("objectives").len();
    assert_eq!(count(&report, "covered"), total, "{report:#}");
    let tests = tests_of(&scratch, "Held");
    for part in [
        "import java.util.*;",
        "new ArrayList<>(Arrays.asList(",
        "Map<Integer, String> m = new TreeMap<>();",
        "IntPredicate p = arg1 -> ",
        "calls++ == 0 ? true : false",
        "new Held.Clock() { public long now() { return ",
    ] {
        assert!(tests.contains(part), "{part} in\n{tests}");
    }
}

#[test]
fn calls_that_fit_together_comparators_of_sorted_sets_and_subclasses_are_found() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Ring.java",
        "import java.util.*;
class Ring {
    static class Name { final int length; Name(int length) { this.length = length; } }
    private final int[] at = new int[4];
    private int head, tail;
    void first(int x) { head = (head + 3) % 4; at[head] = x; }
    void last(int x) { at[tail] = x; tail = (tail + 1) % 4; }
    int wrapped(int x) { return head == 2 && tail == 1 && at[3] == x && at[2] != x ? 1 : 0; }
    static int ordered(SortedSet<Integer> s) { if (s.comparator() != null && s.size() == 2) return s.first(); return 0; }
    static int plain(Name n) { if (n.getClass() != Name.class) return n.length; return -1; }
}
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    let total = report["objectives"].as_array().expect("objectives").len();
    assert_eq!(count(&report, "covered"), total, "{report:#}");
    let tests = tests_of(&scratch, "Ring");
    for part in ["new TreeSet<>(Collections.reverseOrder())", "new Ring.Name(", "{ }"] {
        assert!(tests.contains(part), "{part} in\n{tests}");
    }
}

#[test]
fn abstract_classes_enumerations_and_private_constructors_are_no_obstacle_and_state_is_checked() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Kinds.java",
        "abstract class Kinds {
    protected int spent;
    abstract int cost(int x);
    boolean spend(int x) { if (spent + cost(x) > 10) return false; spent += cost(x); return true; }
}
class Cheap extends Kinds { int cost(int x) { return x; } }
abstract class Plug { abstract int weight(); int twice() { return weight() > 10 ? 1 : 0; } }
final class Money {
    private final long cents;
    private Money(long cents) { this.cents = cents; }
    static Money of(long cents) { if (cents < 0) throw new IllegalArgumentException(); return new Money(cents); }
    Money plus(Money other) { if (other == null) return this; return new Money(cents + other.cents); }
    long cents() { return cents; }
}
enum Op {
    PLUS { int apply(int a) { return a + a; } }, TIMES { int apply(int a) { return a * a; } };
    abstract int apply(int a);
    Op other() { if (this == PLUS) return TIMES; return PLUS; }
}
class Pile<T extends Comparable<T>> {
    private T best;
    private int size;
    void add(T t) { if (best == null || t.compareTo(best) > 0) best = t; size++; }
    T best() { if (best == null) throw new IllegalStateException(); return best; }
    int size() { return size; }
}
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    let total = report["objectives"].as_array().expect("objectives").len();
    assert_eq!(count(&report, "covered"), total, "{report:#}");
    let has = |class: &str, parts: &[&str]| {
        let tests = tests_of(&scratch, class);
        parts.iter().for_each(|part| assert!(tests.contains(part), "{part} in\n{tests}"));
    };
    has("Kinds", &["Kinds kinds = new Cheap();", "assertTrue(kinds.spend("]);
    has("Plug", &["Plug plug = new Plug() { public int weight() { return "]);
    has(
        "Money",
        &["Money money = Money.of(", "assertSame(money, money.plus(null));", "assertEquals(0L, result.cents());"],
    );
    has("Op", &["Op op = Op.PLUS;", "assertSame(Op.TIMES, op.other());"]);
    has(
        "Pile",
        &[
            "Pile<Integer> pile = new Pile<>();",
            "assertEquals(Integer.valueOf(",
            "pile.size());",
            "assertThrows(IllegalState",
        ],
    );
}

#[test]
fn what_only_other_objects_could_do_is_unknown_and_never_infeasible() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Open.java",
        "import java.util.*;
class Level { static int level = 0; static final Level ONE = new Level(); int x = 3; }
class Open {
    enum Mode { A, B; int level; }
    static class Counter { private int n; void up() { n++; } boolean many() { if (n > 100) return true; return false; } }
    interface Shape { int area(); }
    static class Square implements Shape { public int area() { return 4; } }
    static int fields(int a) { if (Level.level > 5) return 1; return 0; }
    static int behind(int a) { if (Level.ONE.x > 5) return 1; return 0; }
    static int mode(Mode m) { if (m.level > 5) return 1; return 0; }
    static int shape(Shape s) { if (s.area() > 5) return 1; return 0; }
    static int longer(List<Integer> l) { if (l.size() > 40) return 1; return 0; }
    static int other(Object o) { if (o instanceof Thread) return 1; return 0; }
    static int box(Integer a) { if (a > 5 && a < 3) return 1; return 0; }
}
",
    );
    let arguments = ["prove", "--format", "json", "-c", "branch", "--heaps", "calls"];
    let output = touchstone(&arguments, &[&file], scratch.path());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for text in ["n > 100 is true", "Level.ONE.x > 5 is true", "m.level > 5 is true", "s.area() > 5 is true"] {
        assert_eq!(statuses(&report, text), ["unknown"], "{text}: {report:#}");
    }
    for text in ["l.size() > 40 is true", "o instanceof Thread is true"] {
        assert_eq!(statuses(&report, text), ["unknown"], "{text}: {report:#}");
    }
    assert_ne!(statuses(&report, "Level.level > 5 is true"), ["infeasible"], "{report:#}");
    // All boxes are known.
    assert_eq!(statuses(&report, "a > 5 && a < 3 is true"), ["infeasible"], "{report:#}");
    assert_eq!(count(&report, "infeasible"), 1, "{report:#}");
}

#[test]
fn containers_are_covered_by_short_sequences() {
    let scratch = tempfile::tempdir().expect("a directory");
    let report = generated(&["-c", "branch,mcdc"], &example("SearchTree.java"), scratch.path());
    let total = report["objectives"].as_array().expect("objectives").len();
    assert_eq!(count(&report, "covered"), total, "{report:#}");
    let tests = tests_of(&scratch, "SearchTree");
    assert!(tests.contains("assertEquals(3, searchTree.size());"), "{tests}");
}

#[test]
fn objects_inside_of_others_are_made_inside_of_them_and_local_classes_are_reached_through_who_makes_them() {
    let scratch = tempfile::tempdir().expect("a directory");
    let text = "import java.util.function.IntUnaryOperator;
public class In<T> {
    int base;
    In(int b) { base = b; }
    class Inner {
        int k;
        Inner(int k) { this.k = k; }
        T pass(T t) { if (k > base) return t; return null; }
        class Deep { int g(int x) { if (x == base && k == 3) return 1; return 2; } }
    }
    int takes(Inner i) { if (i != null && i.k > 4) return 1; return 0; }
    int local(int a) { class L { int q(int z) { if (z > a) return 1; return 2; } } return new L().q(base); }
    int nameless(int a) { return new IntUnaryOperator() { public int applyAsInt(int y) { if (y > a) return 5; return 6; } }.applyAsInt(base); }
    int lambda(int a) { IntUnaryOperator f = y -> y > a ? 1 : 2; return f.applyAsInt(base); }
}
";
    let file = source(scratch.path(), "In.java", text);
    let report = generated(&["-c", "branch"], &file, scratch.path());
    assert_eq!((count(&report, "covered"), count(&report, "unknown")), (12, 0), "{report:#}");
    let tests = std::fs::read_to_string(scratch.path().join("In_Inner_DeepTouchstoneTest.java")).expect("tests");
    assert!(tests.contains("In<Integer>.Inner inner = in.new Inner(3);"), "{tests}");
    assert!(tests.contains("= inner.new Deep();"), "{tests}");
}

#[test]
fn one_call_may_prepare_an_object_for_many_of_another_method() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "public class Gate {
    private boolean open;
    private int pushes;
    public void code(int number) { if (number == 4711) open = true; }
    public void push() { pushes = open ? pushes + 1 : 0; }
    public boolean isWorn() { if (pushes >= 12) return true; return false; }
}
";
    let file = source(scratch.path(), "Gate.java", code);
    let report = generated(&["-c", "branch", "--heaps", "calls"], &file, scratch.path());
    assert_eq!(count(&report, "unknown"), 0, "{report:#}");
    let tests = tests_of(&scratch, "Gate");
    let prepared = "gate.code(4711);\n        for (int i = 0; i < 12; i++) {\n            gate.push();\n        }\n";
    assert!(tests.contains(prepared), "{tests}");
}

#[test]
fn a_function_may_change_the_object_when_it_is_called_again() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "import java.util.function.IntUnaryOperator;
public class Tray {
    private int size;
    public void clear() { size = 0; }
    public void add() { size++; }
    public int twice(IntUnaryOperator operator) {
        operator.applyAsInt(1);
        if (size == 0) return 0;
        operator.applyAsInt(2);
        if (size == 0) return 1;
        return 2;
    }
}
";
    let file = source(scratch.path(), "Tray.java", code);
    let report = generated(&["-c", "branch", "--heaps", "calls"], &file, scratch.path());
    assert_eq!(count(&report, "unknown"), 0, "{report:#}");
    let tests = tests_of(&scratch, "Tray");
    assert!(tests.contains("if (before++ > 0) { tray.clear(); }"), "{tests}");
}

#[test]
fn what_grows_is_filled_in_a_loop_and_collections_are_those_that_the_method_asks_for() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Grows.java",
        "import java.util.*;
class Grows {
    private int[] items = new int[16];
    private int size;
    void put(int item) {
        if (size == items.length) items = Arrays.copyOf(items, 2 * size);
        items[size++] = item;
    }
    boolean has(int item) {
        for (int i = 0; i < size; i++) if (items[i] == item) return i > 17;
        return false;
    }
    static int kind(Collection<Integer> c) {
        if (c instanceof SortedSet) return 1;
        return c.getClass() == ArrayList.class ? 2 : 3;
    }
}
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    assert_eq!(count(&report, "covered"), report["objectives"].as_array().map_or(0, Vec::len), "{report:#}");
    let tests = tests_of(&scratch, "Grows");
    for expected in ["for (int i = 0; i < ", "    grows.put(i", "new TreeSet<>(", "new LinkedList<>("] {
        assert!(tests.contains(expected), "{expected}: {tests}");
    }
}

#[test]
fn tests_assert_what_preparing_calls_return_and_show_private_state_by_further_calls() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Slots.java",
        "class Slots {
    private final int[] items = new int[2];
    private int used;
    boolean put(int item) {
        if (used == items.length) return false;
        items[used++] = item + 1;
        return true;
    }
    int take() { return used == 0 ? -1 : items[--used]; }
    boolean has(int item) {
        for (int i = 0; i < used; i++) if (items[i] == item) return true;
        return false;
    }
    public String toString() { return \"Slots\" + used; }
}
class Plain { private int calls; void call() { if (calls == 1) calls = 5; calls++; } }
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    assert_eq!(count(&report, "covered"), report["objectives"].as_array().map_or(0, Vec::len), "{report:#}");
    let tests = tests_of(&scratch, "Slots");
    let of = |method: &str| {
        let begin = tests.find(&format!("// ---- Slots#{method}\n")).unwrap_or_else(|| panic!("{method}: {tests}"));
        tests[begin + 1..].split("// ---- ").next().unwrap_or_default().to_string()
    };
    let put = of("put");
    // A full object was filled by calls that say so, and what is inside shows only when it is taken out.
    assert!(put.contains("assertTrue(slots.put("), "{put}");
    assert!(put.contains("assertFalse(slots.put("), "{put}");
    assert!(put.contains("slots.take());") || put.contains("slots.has("), "{put}");
    assert!(of("take").contains("assertEquals(\"Slots0\", slots.toString());"), "{tests}");
    // An object that says nothing of itself has no text that a test could expect.
    assert!(!tests_of(&scratch, "Plain").contains("toString"), "{tests}");
    assert!(!tests.contains("hashCode"), "{tests}");
}

#[test]
fn where_mutants_are_asked_for_a_test_shows_what_differs_for_a_moment_only() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = crate::support::root().join("examples/java/SortedList.java");
    let _ = generated(&["-f", "SortedList.add", "-c", "wm", "--timeout", "5"], &file, scratch.path());
    let tests = tests_of(&scratch, "SortedList");
    let number = |line: &str| line.split_once(".add(")?.1.split_once(')')?.0.parse().ok();
    // With `value < first.value` instead of `<=`, the first value is still inserted before the first element, unless
    // the last is another one: no element precedes the first.
    let told = |values: Vec<i64>| {
        (2..values.len()).any(|at| {
            let (before, value) = (&values[..at], values[at]);
            before.iter().min() == Some(&value) && before.iter().max() != Some(&value)
        })
    };
    let alone = tests.split("@Test").filter(|test| !test.contains(".remove("));
    let mut sequences = alone.map(|test| test.lines().filter_map(number).collect::<Vec<i64>>());
    assert!(sequences.any(told), "{tests}");
}

#[test]
fn arrays_become_longer_while_something_is_open() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Sums.java",
        "class Sums {
    static int sum(int[] all) {
        if (all == null || all.length < 7) return 0;
        int sum = 0;
        for (int i = 0; i < all.length; i++) {
            if (all[i] <= i * 100 + 17) return 1;
            sum ^= all[i] * 31;
        }
        return sum == 77 ? 2 : 3;
    }
}
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    assert_eq!(count(&report, "covered"), 8, "{report:#}");
    // What is said is not exceeded.
    let report = generated(&["-c", "branch", "--len", "all=4"], &file, scratch.path());
    assert_eq!(count(&report, "covered"), 1, "{report:#}");
}
