package org.junit.platform.launcher.core;

import org.junit.platform.engine.TestDescriptor;

public class ExecutionListenerAdapter {
    public void executionStarted(TestDescriptor test) { }

    public void executionFinished(TestDescriptor test, Object result) { }
}
