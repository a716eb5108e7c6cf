//! Java: tests of JUnit 3, 4, 5 and TestNG are attributed by name, however they end.
//!
//! The frameworks are replacements with the same names. They report the start and end of tests as the real ones do, and
//! CI needs no jars.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

const SIGN: &str = "package acme;
public class Sign {
    public static int of(int a) { if (a > 0) return 1; if (a < 0) return -1; return 0; }
    public static boolean isBig(int a) { if (a > 1000) return true; return false; }
}
";

/// Files of stand-ins.
const STANDINS: [(&str, &str); 9] = [
    ("junit/framework/Test", "package junit.framework; public interface Test { String getName(); }"),
    (
        "junit/framework/TestResult",
        "package junit.framework; public class TestResult {
             public void startTest(Test test) { for (int i = 0; i < 2; i++) if (test == null) throw new Error(); }
             public void endTest(Test test) { }
         }",
    ),
    (
        "org/junit/runner/Description",
        "package org.junit.runner; public class Description {
             final String shown; public Description(String shown) { this.shown = shown; }
             public String getDisplayName() { return shown; }
         }",
    ),
    (
        "org/junit/runner/notification/RunNotifier",
        "package org.junit.runner.notification; import org.junit.runner.Description; public class RunNotifier {
             int state;
             public void fireTestStarted(Description test) {
                 // A switch is padded, and a handler has places.
                 try { switch (state) { case 0: state = 1; break; case 1: state = 2; break; default: state = 0; } }
                 catch (RuntimeException e) { state = 7; }
             }
             public void fireTestFinished(Description test) { }
         }",
    ),
    (
        "org/junit/platform/engine/TestDescriptor",
        "package org.junit.platform.engine; import java.util.Optional; public class TestDescriptor {
             public static class Source {
                 final String type, method; Source(String type, String method) { this.type = type; this.method = method; }
                 public String getClassName() { return type; }
                 public String getMethodName() { return method; }
             }
             final TestDescriptor parent; final Object source; final String shown; final boolean test;
             public TestDescriptor(TestDescriptor parent, String type, String method, String shown, boolean test) {
                 this.parent = parent; this.shown = shown; this.test = test;
                 source = method == null ? null : new Source(type, method);
             }
             public boolean isTest() { return test; }
             public String getDisplayName() { return shown; }
             public Optional<TestDescriptor> getParent() { return Optional.ofNullable(parent); }
             public Optional<Object> getSource() { return Optional.ofNullable(source); }
             public UniqueId getUniqueId() { return new UniqueId((parent == null ? \"\" : parent.getUniqueId()) + \"[\" + shown + \"]\"); }
         }",
    ),
    (
        "org/junit/platform/engine/UniqueId",
        "package org.junit.platform.engine; public class UniqueId {
             final String text; UniqueId(String text) { this.text = text; }
             public String toString() { return text; }
         }",
    ),
    (
        "org/junit/platform/launcher/core/ExecutionListenerAdapter",
        "package org.junit.platform.launcher.core; import org.junit.platform.engine.TestDescriptor;
         public class ExecutionListenerAdapter {
             public void executionStarted(TestDescriptor test) { }
             public void executionFinished(TestDescriptor test, Object result) { }
         }",
    ),
    (
        "org/testng/ITestResult",
        "package org.testng; public class ITestResult {
             public static Class<?> of;
             final Object[] parameters; public int status; final String method;
             public ITestResult(String method, Object... parameters) { this.method = method; this.parameters = parameters; }
             public ITestNGMethod getMethod() { return new ITestNGMethod(method); }
             public int getStatus() { return status; }
             public Object[] getParameters() { return parameters; }
         }
         class ITestNGMethod {
             final String name; ITestNGMethod(String name) { this.name = name; }
             public Class<?> getRealClass() { return ITestResult.of; }
             public String getMethodName() { return name; }
         }",
    ),
    (
        "org/testng/internal/TestListenerHelper",
        "package org.testng.internal; import org.testng.ITestResult; import java.util.List; public class TestListenerHelper {
             public static void runTestListeners(ITestResult result, List<?> listeners) { }
         }",
    ),
];

const MAIN: &str = r#"package acme;
import java.util.List;
import junit.framework.*;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.launcher.core.ExecutionListenerAdapter;
import org.junit.runner.Description;
import org.junit.runner.notification.RunNotifier;
import org.testng.ITestResult;
import org.testng.internal.TestListenerHelper;
public class Main {
    static class Three implements Test { public String getName() { return "testThree"; } }
    public static void main(String[] args) throws Exception {
        TestResult three = new TestResult(); Three test = new Three();
        three.startTest(test); Sign.of(5); three.endTest(test);

        RunNotifier four = new RunNotifier();
        for (String shown : new String[] {"plain(acme.FourTest)", "many[1](acme.FourTest)"}) {
            Description one = new Description(shown);
            four.fireTestStarted(one); three.startTest(test); Sign.of(0); three.endTest(test);
            // A helper of the test.
            Thread helper = new Thread(() -> Sign.of(-3)); helper.start(); helper.join();
            four.fireTestFinished(one);
        }

        ExecutionListenerAdapter five = new ExecutionListenerAdapter();
        TestDescriptor all = new TestDescriptor(null, "acme.FiveTest", null, "FiveTest", false);
        TestDescriptor template = new TestDescriptor(all, "acme.FiveTest", "sign", "sign(int)", false);
        TestDescriptor nested = new TestDescriptor(all, "acme.FiveTest$Inner", null, "Inner", false);
        TestDescriptor factory = new TestDescriptor(all, "acme.FiveTest", "made", "made()", false);
        TestDescriptor some = new TestDescriptor(factory, "acme.FiveTest", "made", "some", false);
        TestDescriptor[] tests = {
            new TestDescriptor(all, "acme.FiveTest", "plain", "shown otherwise", true),
            new TestDescriptor(template, "acme.FiveTest", "sign", "[1] -7, \"x\"", true),
            new TestDescriptor(template, null, null, "[2] \ud83d\ude00", true),
            new TestDescriptor(nested, "acme.FiveTest$Inner", "inside", "inside()", true),
            new TestDescriptor(some, "acme.FiveTest", "made", "leaf", true)
        };
        five.executionStarted(all); five.executionStarted(template);
        for (TestDescriptor one : tests) { five.executionStarted(one); Sign.of(one == tests[1] ? -7 : 7); five.executionFinished(one, null); }
        Sign.isBig(5);
        five.executionFinished(template, null); five.executionFinished(all, null);

        ITestResult.of = Main.class;
        ITestResult ng = new ITestResult("ng", 3, "a", new Three());
        ng.status = 16; TestListenerHelper.runTestListeners(ng, List.of()); TestListenerHelper.runTestListeners(ng, List.of());
        Sign.of(3);
        ng.status = 1; TestListenerHelper.runTestListeners(ng, List.of()); TestListenerHelper.runTestListeners(ng, List.of());

        Description one = new Description("one(acme.AtOnce)"), other = new Description("other(acme.AtOnce)");
        four.fireTestStarted(one);
        Thread beside = new Thread(() -> { four.fireTestStarted(other); Sign.of(-1); four.fireTestFinished(other); });
        beside.start(); beside.join();
        Sign.of(9);
        four.fireTestFinished(one);

        four.fireTestStarted(new Description("last(acme.FourTest)")); Sign.isBig(5000);
        Runtime.getRuntime().halt(0);
    }
}
"#;

fn touchstone(within: &Path, words: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_touchstone")).args(words).current_dir(within).output().expect("it runs")
}

/// Compiles a program, measures it, and says what each test covers: texts of outcomes.
fn covers(main: &str) -> BTreeMap<String, BTreeSet<String>> {
    let scratch = tempfile::tempdir().expect("a directory");
    let write = |path: &str, text: &str| {
        let path = scratch.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    };
    write("src/main/java/acme/Sign.java", SIGN);
    write("src/test/java/acme/Main.java", main);
    STANDINS.iter().for_each(|(name, text)| write(&format!("src/test/java/{name}.java"), text));
    let script = "javac -d classes src/main/java/acme/Sign.java && \
        javac -encoding UTF-8 -cp classes -d target/test-classes $(find src/test -name '*.java')";
    let compiled = Command::new("sh").args(["-c", script]).current_dir(scratch.path()).status();
    assert!(compiled.expect("javac runs").success());
    let command = ["measure", "-c", "branch", "-q", "--", "java", "-Xverify:all", "-cp"];
    let measured = touchstone(scratch.path(), &[&command[..], &["classes:target/test-classes", "acme.Main"]].concat());
    let said = String::from_utf8_lossy(&measured.stderr).into_owned();
    assert_eq!(measured.status.code(), Some(0), "{said}");
    let printed = String::from_utf8_lossy(&measured.stdout).into_owned();
    assert!(!printed.contains("warning"), "{printed}");

    let report = touchstone(scratch.path(), &["report", "--format", "json"]);
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let mut covers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    for test in report["tests"].as_array().expect("tests") {
        covers.insert(text(&test["id"]), BTreeSet::new());
    }
    for objective in report["objectives"].as_array().expect("objectives") {
        for test in objective["tests"].as_array().expect("tests") {
            covers.entry(text(test)).or_default().insert(text(&objective["text"]));
        }
    }
    covers
}

fn expected(tests: &[(&str, &[&str])]) -> BTreeMap<String, BTreeSet<String>> {
    let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
    tests.iter().map(|(test, of)| (test.to_string(), texts(of))).collect()
}

const POSITIVE: &[&str] = &["a > 0 is true"];
const NEGATIVE: &[&str] = &["a < 0 is true", "a > 0 is false"];

#[test]
fn tests_of_java_frameworks_are_told_apart() {
    let both = ["a < 0 is false", "a < 0 is true", "a > 0 is false"].as_slice();
    let expected = expected(&[
        ("acme.AtOnce.one", POSITIVE),
        ("acme.AtOnce.other", NEGATIVE),
        ("acme.FiveTest$Inner.inside", POSITIVE),
        ("acme.FiveTest.made some leaf", POSITIVE),
        ("acme.FiveTest.plain", POSITIVE),
        ("acme.FiveTest.sign [1] -7, \"x\"", NEGATIVE),
        ("acme.FiveTest.sign [2] 😀", POSITIVE),
        ("acme.FourTest.last", &["a > 1000 is true"]),
        ("acme.FourTest.many[1]", both),
        ("acme.FourTest.plain", both),
        ("acme.Main$Three.testThree", POSITIVE),
        ("acme.Main.ng [3, a, acme.Main$Three]", POSITIVE),
        ("java acme.Main", &["a > 1000 is false"]),
    ]);
    assert_eq!(covers(MAIN), expected);
}

/// Tests that run beside each other for certain: each waits for what the other does.
const BESIDE: &str = r#"package acme;
import java.util.concurrent.*;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.launcher.core.ExecutionListenerAdapter;
public class Main {
    static final ExecutionListenerAdapter five = new ExecutionListenerAdapter();
    static final TestDescriptor all = new TestDescriptor(null, null, null, "engine", false);
    static final ExecutorService shared = Executors.newFixedThreadPool(1);
    static TestDescriptor group(String type) { return new TestDescriptor(all, null, null, type, false); }
    static TestDescriptor test(TestDescriptor in, String method) { return new TestDescriptor(in, "acme.Beside", method, method, true); }
    interface Body { void run() throws Exception; }
    static void run(TestDescriptor test, Body body) {
        five.executionStarted(test);
        try { body.run(); } catch (Exception e) { throw new Error(e); } finally { five.executionFinished(test, null); }
    }
    static Thread beside(Body body) {
        Thread thread = new Thread(() -> { try { body.run(); } catch (Exception e) { throw new Error(e); } });
        thread.start(); return thread;
    }
    static void join(CyclicBarrier barrier) throws Exception { barrier.await(20, TimeUnit.SECONDS); }

    public static void main(String[] args) throws Exception {
        five.executionStarted(all);
        TestDescriptor first = group("First"), second = group("Second");
        CountDownLatch groupIsThere = new CountDownLatch(1), alone = new CountDownLatch(1);
        CyclicBarrier barrier = new CyclicBarrier(2);
        Thread other = beside(() -> {
            alone.await();
            // The other group sets up its tests while the first group's test runs.
            five.executionStarted(second);
            Sign.isBig(5);
            groupIsThere.countDown();
            run(test(second, "negative"), () -> {
                for (int step = 0; step < 1000; step++) { Sign.of(-3); if (step % 500 == 0) join(barrier); }
                // A thread that is not its own works for it.
                shared.submit(() -> Sign.of(0)).get();
            });
            run(test(second, "nothing"), () -> join(barrier));
            five.executionFinished(second, null);
        });
        Thread idle = beside(() -> { groupIsThere.await(); Sign.isBig(5000); });
        five.executionStarted(first);
        run(test(first, "positive"), () -> {
            shared.submit(() -> { }).get();
            alone.countDown(); groupIsThere.await();
            for (int step = 0; step < 1000; step++) { Sign.of(3); if (step % 500 == 0) join(barrier); }
            idle.join();
        });
        run(test(first, "helped"), () -> {
            Thread helper = beside(() -> beside(() -> Sign.of(-1)).join());
            helper.join();
            ExecutorService own = Executors.newFixedThreadPool(2);
            own.submit(() -> Sign.isBig(5000)).get();
            own.shutdown();
            own.awaitTermination(20, TimeUnit.SECONDS);
            join(barrier);
        });
        five.executionFinished(first, null);
        other.join();
        shared.shutdown();
        Sign.of(7);
        five.executionFinished(all, null);
    }
}
"#;

#[test]
fn java_tests_that_run_beside_each_other_have_their_own_hits_and_those_of_their_own_threads() {
    let helped = [NEGATIVE, &["a > 1000 is true"]].concat();
    let expected = expected(&[
        ("acme.Beside.helped", &helped),
        ("acme.Beside.negative", NEGATIVE),
        ("acme.Beside.nothing", &[]),
        ("acme.Beside.positive", POSITIVE),
        ("java acme.Main", POSITIVE),
        // Set-up code, threads that work for several tests, and threads without a test.
        (
            "java acme.Main: tests at the same time",
            &["a < 0 is false", "a > 0 is false", "a > 1000 is false", "a > 1000 is true"],
        ),
    ]);
    assert_eq!(covers(BESIDE), expected);
}
