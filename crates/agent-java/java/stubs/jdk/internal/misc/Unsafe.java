package jdk.internal.misc;

/** The part of the JDK's class that the sources use: {@code javac --release} hides the JDK's own. */
public final class Unsafe {
    public static native Unsafe getUnsafe();

    public native long getLong(long address);

    public native void putLong(long address, long value);

    public native long getAndAddLong(Object object, long offset, long delta);
}
