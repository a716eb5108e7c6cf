package org.mockito;

public interface InOrder { <T> T verify(T mock); }
