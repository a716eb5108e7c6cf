package program;

import static org.junit.jupiter.api.Assertions.*;

import java.util.*;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The state that a test changes, and the part that its assertions depend on. The comment before a test says what is expected: checked / changed, and
 * what is not checked.
 */
class TableTest {
    Counter counted;

    @BeforeEach
    void setUp() {
        counted = new Counter();
    }

    // 4/6 not: Table.position, Tables.source
    @Test void tablelize() {
        Tables tables = new Tables();
        tables.read("people:name,age");
        assertEquals("people", tables.get(0).getName());
        assertEquals(2, tables.get(0).countColumns());
        assertEquals(1, tables.getLines());
    }

    // 1/2 not: Color.rgb
    @Test void comparedByIdentity() {
        Color color = new Color("green", 0x00ff00);
        assertTrue(color.getName() == "green");
    }

    // 0/2 not: Color.name, Color.rgb
    @Test void nothingAsserted() {
        Color color = new Color("green", 0x00ff00);
        color.getName();
    }

    // 1/3 not: Color.rgb, Log.last
    @Test void readingIsNoInfluence() {
        Color color = new Color("green", 0x00ff00);
        assertEquals("green", color.getNameLoudly());
    }

    // 1/4 not: Color.name (Color 1), Color.name (Color 2), Color.rgb (Color 2)
    @Test void anotherObject() {
        Color a = new Color("a", 1);
        Color b = new Color("b", 2);
        b.setRgb(7);
        assertEquals(1, a.getRgb());
    }

    // 1/1
    @Test void inheritedFieldByInterface() {
        Named named = new Dog("Rex");
        assertEquals("Rex", named.getName());
    }

    // 1/2 not: Counter.value
    @Test void staticField() {
        new Counter().up();
        assertTrue(Counter.total > 0);
    }

    // 1/2 not: Counter.total
    @Test void stateOfSetUp() {
        counted.up();
        assertEquals(1, counted.get());
    }

    // 2/3 not: Pos.y
    @Test void fieldBehindField() {
        Robot robot = new Robot();
        robot.go(3, 4);
        assertEquals(3, robot.getX());
    }

    // 1/2 not: HumanName.isCelebrity
    @Test void humanName() {
        assertEquals("Ann", new HumanName("Ann", true).getName());
    }

    // 1/1
    @Test void mapInAField() {
        Phones phones = new Phones();
        phones.put("Ann", 7);
        assertEquals(1, phones.size());
    }

    // n/a
    @Test void mapOfTheTest() {
        Map<String, Integer> map = new HashMap<>();
        map.put("Ann", 7);
        int[] counts = {1, 2};
        counts[0] = 3;
        assertEquals(1, map.size());
    }

    // 1/1
    @Test void entryOfAMap() {
        Phones phones = new Phones();
        phones.put("Ann", 7);
        assertEquals(7, phones.get("Ann"));
    }

    // 0/1 not: Phones.numbers
    @Test void anotherEntryOfAMap() {
        Phones phones = new Phones();
        phones.put("Ann", 7);
        assertEquals(0, phones.get("Bob"));
    }

    // 0/1 not: Notes.map
    @Test void entryThatWasReplacedAfterTheAssertion() {
        Map<Integer, String> map = new Notes().map;
        map.put(1, "a");
        assertEquals("a", map.get(1));
        map.put(1, "b");
    }

    // 0/1 not: Shelf.list
    @Test void anotherElementOfAList() {
        List<String> list = new Shelf().list;
        list.set(0, "x");
        assertEquals("b", list.get(1));
    }

    // 1/1
    @Test void elementOfAListThatALoopSet() {
        List<String> list = new Shelf().list;
        for (int i = 0; i < 2; i++) list.set(i, "x");
        assertEquals("x", list.get(1));
    }

    // 1/1
    @Test void allEntriesByTheTextOfAMap() {
        Map<Integer, String> map = new Notes().map;
        map.put(7, "Ann");
        assertEquals("{7=Ann}", map.toString());
    }

    // 1/1
    @Test void whatWasAddedMayBeAnywhere() {
        List<String> list = new Shelf().list;
        list.add("a");
        assertEquals("a", list.get(0));
    }

    // 1/1
    @Test void objectInAMap() {
        Map<String, Counter> map = new HashMap<>();
        map.put("a", counted);
        counted.value = 5;
        assertEquals(5, map.get("a").value);
    }

    // 1/2 not: Account.lastError
    @org.junit.Test(expected = IllegalStateException.class) void expectedException() {
        Account account = new Account();
        account.balance = 5;
        account.take(9);
    }

    // 1/2 not: Account.lastError
    @org.testng.annotations.Test(expectedExceptions = IllegalStateException.class) void expectedExceptions() {
        Account account = new Account();
        account.balance = 5;
        account.take(9);
    }

    // 2/3 not: Range.step
    @Test void comparisonOfTwoFields() {
        assertFalse(new Range(1, 5, 2).isEmpty());
    }

    // 1/2 not: Box.value (Box 2)
    @Test void swapped() {
        Box a = new Box(1), b = new Box(2);
        Box.swap(a, b);
        assertEquals(2, a.value);
    }

    // 0/1 not: Row.cells[]
    @Test void elementOfAnotherPlace() {
        Row row = new Row();
        row.set(0, 5);
        assertEquals(0, row.get(1));
    }

    // 1/1
    @Test void elementOfAnArray() {
        Row row = new Row();
        row.set(0, 5);
        assertEquals(5, row.get(0));
    }

    // 1/2 not: Color.rgb
    @Test void writtenAgainAfterTheAssertion() {
        Color color = new Color("red", 1);
        assertEquals(1, color.getRgb());
        assertEquals("red", color.getName());
        color.setRgb(2);
    }

    // 1/2 not: Color.name
    @Test void statementAssert() {
        Color color = new Color("red", 1);
        assert color.getRgb() == 1;
    }

    // 1/2 not: Color.name
    @Test void conditionThatFails() {
        Color color = new Color("red", 1);
        if (color.getRgb() != 1) fail();
    }

    // 1/2 not: Color.rgb
    @Test void notNull() {
        Color color = new Color("red", 1);
        assertNotNull(color.getName());
    }

    // 1/2 not: Color.name
    @Test void onOneLine() { Color color = new Color("red", 1); color.setRgb(3); assertEquals(3, color.getRgb()); }

    // n/a
    @Test void nothingChanged() {
        assertEquals(3, Math.max(2, 3));
    }

    // 1/2 not: Door.opened
    @Test void underACondition() {
        Door door = new Door();
        door.push(false);
        assertTrue(door.open);
    }

    // 1/2 not: Account.lastError
    @Test void exceptions() {
        Account account = new Account();
        account.balance = 5;
        assertThrows(IllegalStateException.class, () -> account.take(9));
    }

    // 0/1 not: Memory.last
    @Test void resultButNotState() {
        assertEquals(5, new Memory().add(2, 3));
    }

    // 2/2
    @Test void lambdas() {
        List<Color> colors = new ArrayList<>();
        colors.add(new Color("red", 1));
        assertEquals(1, colors.stream().filter(color -> color.getRgb() == 1 && color.getName() != null).count());
    }

    // 2/2
    @Test void leftAloneWhereSomethingWasCaught() {
        Reader reader = new Reader(false);
        reader.read("x");
        assertEquals(1, reader.getValue());
    }

    // 2/2
    @Test void inATextOfAll() {
        Color color = new Color("red", 1);
        assertEquals("red1", color.getName() + color.getRgb());
    }

    // 1/2 not: Color.rgb
    @Test void throughALocalAndACall() {
        Color color = new Color("red", 1);
        String name = color.getName();
        String kept = upper(name);
        assertEquals("RED", kept);
    }

    // 1/3 not: Gate.onOpen, Gate.second
    @Test void functionsAreOnlyCalled() {
        Gate gate = new Gate(value -> value > 3, String::isEmpty);
        gate.onOpen = () -> {};
        assertTrue(gate.opens(5));
    }

    // 2/3 not: Gate.onOpen
    @Test void theFunctionThatIsCalled() {
        Gate gate = new Gate(value -> true, text -> true);
        gate.onOpen = () -> {};
        assertTrue(gate.opens(5) && gate.named("x"));
    }

    // 1/1
    @Test void readWithoutAResult() {
        Shelf shelf = new Shelf();
        shelf.list.forEach(text -> {});
        ((ArrayList<String>) shelf.list).ensureCapacity(9);
        assertEquals(2, shelf.countByLambda());
    }

    // 2/2
    @Test void methodReferences() {
        Shelf from = new Shelf(), to = new Shelf();
        from.copyTo(to.list);
        assertEquals(4, to.list.size());
    }

    // 1/1
    @Test void methodReferenceThatReads() {
        Shelf shelf = new Shelf();
        java.util.function.IntSupplier size = shelf.list::size;
        shelf.list.add("c");
        assertEquals(3, size.getAsInt());
    }

    // 1/2 not: Grid.high
    @Test void fieldsOfAClone() {
        Grid grid = new Grid();
        grid.wide = 3;
        grid.high = 4;
        Grid copy = grid.clone();
        assertEquals(3, copy.wide);
    }

    // 1/2 not: Grid.wide
    @Test void whatIsClonedWasReadBefore() {
        Grid grid = new Grid();
        grid.high = 4;
        Grid copy = grid.clone();
        grid.wide = 5;
        assertEquals(4, copy.high + copy.wide);
    }

    // 0/1 not: Row.cells[]
    @Test void anotherElementOfAClonedArray() {
        Row row = new Row();
        row.set(0, 5);
        assertEquals(0, row.cells.clone()[1]);
    }

    // 1/1
    @Test void theClassThatIsCalled() {
        Depot depot = new Depot();
        depot.store = new Four();
        assertEquals(4, depot.load());
    }

    // 1/2 not: Depot.name
    @Test void caughtWhereItMustFail() {
        Depot depot = new Depot();
        depot.name = "north";
        depot.store = null;
        try {
            depot.need();
            fail();
        } catch (IllegalStateException expected) {
        }
    }

    // 1/2 not: Depot.name
    @Test void thrownByTheClassThatIsCalled() {
        Depot depot = new Depot();
        depot.name = "north";
        depot.store = new Four();
        assertThrows(UnsupportedOperationException.class, depot::drop);
    }

    // 1/2 not: Depot.total
    @Test void mocksThatAreVerified() {
        Store store = org.mockito.Mockito.mock(Store.class);
        Depot depot = new Depot();
        depot.store = store;
        depot.total = 3;
        depot.save();
        org.mockito.Mockito.inOrder(store).verify(store).keep(3);
        depot.total = 4;
    }

    private static String upper(String text) { return text.toUpperCase(); }
}
