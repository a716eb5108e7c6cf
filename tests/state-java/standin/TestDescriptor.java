package org.junit.platform.engine;

import java.util.Optional;

public class TestDescriptor {
    public static class Source {
        final String type, method;

        Source(String type, String method) { this.type = type; this.method = method; }

        public String getClassName() { return type; }

        public String getMethodName() { return method; }
    }

    final Source source;

    public TestDescriptor(String type, String method) { source = new Source(type, method); }

    public boolean isTest() { return true; }

    public String getDisplayName() { return source.method; }

    public Optional<TestDescriptor> getParent() { return Optional.empty(); }

    public Optional<Source> getSource() { return Optional.of(source); }
}
