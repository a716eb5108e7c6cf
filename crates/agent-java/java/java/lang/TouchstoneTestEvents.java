package java.lang;

/** Receives the events of test frameworks: the agent inserts calls of these methods into their classes. */
public final class TouchstoneTestEvents {
    private TouchstoneTestEvents() {}

    public static native void junit3Started(Object test);

    public static native void junit3Finished(Object test);

    public static native void junit4Started(Object description);

    public static native void junit4Finished(Object description);

    public static native void platformStarted(Object descriptor);

    public static native void platformFinished(Object descriptor);

    public static native void testngStatus(Object result);
}
