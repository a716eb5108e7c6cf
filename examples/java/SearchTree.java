/** A search tree of numbers: tests of it are sequences of calls. */
public class SearchTree {
    private static final class Node {
        int key;
        Node left;
        Node right;

        Node(int key) {
            this.key = key;
        }
    }

    private Node root;
    private int size;

    /** Adds a number; false if it is there. */
    public boolean insert(int key) {
        Node parent = null;
        Node node = root;
        while (node != null) {
            if (key == node.key) {
                return false;
            }
            parent = node;
            node = key < node.key ? node.left : node.right;
        }
        if (parent == null) {
            root = new Node(key);
        } else if (key < parent.key) {
            parent.left = new Node(key);
        } else {
            parent.right = new Node(key);
        }
        size++;
        return true;
    }

    /** Takes a number away; false if it is not there. */
    public boolean remove(int key) {
        Node parent = null;
        Node node = root;
        while (node != null && node.key != key) {
            parent = node;
            node = key < node.key ? node.left : node.right;
        }
        if (node == null) {
            return false;
        }
        if (node.left != null && node.right != null) {
            Node next = node.right;
            parent = node;
            while (next.left != null) {
                parent = next;
                next = next.left;
            }
            node.key = next.key;
            node = next;
        }
        Node child = node.left != null ? node.left : node.right;
        if (parent == null) {
            root = child;
        } else if (parent.left == node) {
            parent.left = child;
        } else {
            parent.right = child;
        }
        size--;
        return true;
    }

    /** Returns the number of numbers. */
    public int size() {
        return size;
    }
}
