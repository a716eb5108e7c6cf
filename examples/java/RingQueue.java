/** A queue in a ring. */
public class RingQueue {
    private final Object[] items;
    private int head;
    private int count;

    RingQueue(int capacity) {
        if (capacity <= 0 || capacity > 64) {
            throw new IllegalArgumentException("capacity: " + capacity);
        }
        items = new Object[capacity];
    }

    boolean offer(Object item) {
        if (item == null || count == items.length) {
            return false;
        }
        items[(head + count) % items.length] = item;
        count++;
        return true;
    }

    Object poll() {
        if (count == 0) {
            return null;
        }
        Object item = items[head];
        items[head] = null;
        head = head + 1 == items.length ? 0 : head + 1;
        count--;
        return item;
    }

    boolean contains(Object item) {
        for (int i = 0; i < count; i++) {
            if (items[(head + i) % items.length].equals(item)) {
                return true;
            }
        }
        return false;
    }

    int size() {
        return count;
    }
}
