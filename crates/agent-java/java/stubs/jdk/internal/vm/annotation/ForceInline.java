package jdk.internal.vm.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** The JDK's annotation, which HotSpot obeys in classes of the boot loader. */
@Retention(RetentionPolicy.RUNTIME)
public @interface ForceInline {}
