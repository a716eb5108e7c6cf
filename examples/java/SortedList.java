/** A doubly linked list in ascending order. */
public class SortedList {
    private static final class Node {
        final int value;
        Node before;
        Node behind;

        Node(int value) {
            this.value = value;
        }
    }

    private Node first;
    private Node last;
    private int size;

    void add(int value) {
        Node node = new Node(value);
        if (first == null) {
            first = node;
            last = node;
        } else if (value <= first.value) {
            node.behind = first;
            first.before = node;
            first = node;
        } else if (value >= last.value) {
            node.before = last;
            last.behind = node;
            last = node;
        } else {
            Node next = first;
            while (next.value < value) {
                next = next.behind;
            }
            node.behind = next;
            node.before = next.before;
            next.before.behind = node;
            next.before = node;
        }
        size++;
    }

    boolean remove(int value) {
        Node node = first;
        while (node != null && node.value < value) {
            node = node.behind;
        }
        if (node == null || node.value != value) {
            return false;
        }
        if (node.before == null) {
            first = node.behind;
        } else {
            node.before.behind = node.behind;
        }
        if (node.behind == null) {
            last = node.before;
        } else {
            node.behind.before = node.before;
        }
        size--;
        return true;
    }

    boolean isPalindromeOfSigns() {
        Node left = first;
        Node right = last;
        while (left != right && right.behind != left) {
            if (left.value < 0 != right.value < 0) {
                return false;
            }
            left = left.behind;
            right = right.before;
        }
        return true;
    }

    int size() {
        return size;
    }
}
