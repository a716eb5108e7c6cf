package program;

import static org.junit.jupiter.api.Assertions.*;

import java.util.*;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What a test changes, and what of it its assertions depend on. The comment before a test says what is expected: checked / changed, and
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

    // 1/1
    @Test void mapOfTheTest() {
        Map<String, Integer> map = new HashMap<>();
        map.put("Ann", 7);
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

    // 0/1 not: map
    @Test void entryThatWasReplacedAfterTheAssertion() {
        Map<Integer, String> map = new HashMap<>();
        map.put(1, "a");
        assertEquals("a", map.get(1));
        map.put(1, "b");
    }

    // 0/1 not: list
    @Test void anotherElementOfAList() {
        List<String> list = new ArrayList<>(Arrays.asList("a", "b"));
        list.set(0, "x");
        assertEquals("b", list.get(1));
    }

    // 1/1
    @Test void elementOfAListThatALoopSet() {
        List<String> list = new ArrayList<>(Arrays.asList("a", "b"));
        for (int i = 0; i < 2; i++) list.set(i, "x");
        assertEquals("x", list.get(1));
    }

    // 1/1
    @Test void allEntriesByTheTextOfAMap() {
        Map<String, Integer> map = new TreeMap<>();
        map.put("Ann", 7);
        assertEquals("{Ann=7}", map.toString());
    }

    // 1/1
    @Test void whatWasAddedMayBeAnywhere() {
        List<String> list = new ArrayList<>();
        list.add("a");
        assertEquals("a", list.get(0));
    }

    // 2/2
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

    // 3/3
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

    private static String upper(String text) { return text.toUpperCase(); }
}
