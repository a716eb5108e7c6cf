package org.mockito;

import java.lang.reflect.Proxy;

/** The few methods of Mockito that our tests use: mocks of interfaces that accept all calls. */
public class Mockito {
    public static <T> T mock(Class<T> type) {
        Object made = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (mock, method, arguments) -> {
            if (method.getName().equals("hashCode")) return System.identityHashCode(mock);
            return method.getReturnType() == int.class ? (Object) 0 : null;
        });
        return type.cast(made);
    }

    public static InOrder inOrder(Object... mocks) {
        return new InOrder() {
            public <T> T verify(T mock) { return mock; }
        };
    }
}
