/** A priority queue: a binary heap in an array that grows. */
public class IntHeap {
    private int[] items = new int[2];
    private int size;

    void offer(int value) {
        if (size == items.length) {
            items = java.util.Arrays.copyOf(items, 2 * size);
        }
        int at = size++;
        while (at > 0 && items[(at - 1) / 2] > value) {
            items[at] = items[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        items[at] = value;
    }

    int poll() {
        if (size == 0) {
            throw new java.util.NoSuchElementException();
        }
        int least = items[0];
        int moved = items[--size];
        int at = 0;
        while (2 * at + 1 < size) {
            int child = 2 * at + 1;
            if (child + 1 < size && items[child + 1] < items[child]) {
                child++;
            }
            if (moved <= items[child]) {
                break;
            }
            items[at] = items[child];
            at = child;
        }
        items[at] = moved;
        return least;
    }

    int size() {
        return size;
    }
}
