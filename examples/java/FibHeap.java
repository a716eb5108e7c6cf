/** A heap of trees whose sizes grow like Fibonacci's numbers. */
public class FibHeap {
    static final class Node {
        final int key;
        int degree;
        Node parent;
        Node child;
        Node left = this;
        Node right = this;

        Node(int key) {
            this.key = key;
        }
    }

    private Node least;
    private int size;

    void insert(int key) {
        Node node = new Node(key);
        if (least == null) {
            least = node;
        } else {
            join(least, node);
            if (key < least.key) {
                least = node;
            }
        }
        size++;
    }

    /** Puts a ring into another. */
    private static void join(Node one, Node other) {
        Node behind = one.right;
        one.right = other;
        Node end = other.left;
        other.left = one;
        end.right = behind;
        behind.left = end;
    }

    int removeLeast() {
        if (least == null) {
            throw new IllegalStateException("empty");
        }
        Node gone = least;
        if (gone.child != null) {
            Node child = gone.child;
            do {
                child.parent = null;
                child = child.right;
            } while (child != gone.child);
            join(gone, gone.child);
        }
        if (gone.right == gone) {
            least = null;
        } else {
            gone.left.right = gone.right;
            gone.right.left = gone.left;
            least = gone.right;
            consolidate();
        }
        size--;
        return gone.key;
    }

    private void consolidate() {
        Node[] byDegree = new Node[8];
        Node end = least.left;
        Node node = least;
        boolean more = true;
        while (more) {
            more = node != end;
            Node next = node.right;
            Node tree = node;
            tree.left = tree;
            tree.right = tree;
            while (byDegree[tree.degree] != null) {
                Node other = byDegree[tree.degree];
                byDegree[tree.degree] = null;
                tree = link(tree, other);
            }
            byDegree[tree.degree] = tree;
            node = next;
        }
        least = null;
        for (Node tree : byDegree) {
            if (tree != null) {
                if (least == null) {
                    least = tree;
                } else {
                    join(least, tree);
                    if (tree.key < least.key) {
                        least = tree;
                    }
                }
            }
        }
    }

    private static Node link(Node one, Node other) {
        if (other.key < one.key) {
            return link(other, one);
        }
        other.parent = one;
        if (one.child == null) {
            one.child = other;
        } else {
            join(one.child, other);
        }
        one.degree++;
        return one;
    }

    int size() {
        return size;
    }
}
