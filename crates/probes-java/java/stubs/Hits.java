/** Represents the class with the hit array, whose name is not known before probes are woven. */
final class Hits {
    static native void hit(int probe);
}
