//! Java: tests of JUnit 3, 4, 5 and TestNG are told apart by name, whatever ends them.
//!
//! The frameworks are stand-ins of the same names: they say that tests begin and end as the real ones do, and CI needs no jars.

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
const STANDINS: [(&str, &str); 8] = [
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
             final Object[] parameters; public int status; final String method;
             public ITestResult(String method, Object... parameters) { this.method = method; this.parameters = parameters; }
             public ITestNGMethod getMethod() { return new ITestNGMethod(method); }
             public int getStatus() { return status; }
             public Object[] getParameters() { return parameters; }
         }
         class ITestNGMethod {
             final String name; ITestNGMethod(String name) { this.name = name; }
             public Class<?> getRealClass() { return acme.Main.class; }
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
        TestDescriptor[] tests = {
            new TestDescriptor(all, "acme.FiveTest", "plain", "shown otherwise", true),
            new TestDescriptor(template, "acme.FiveTest", "sign", "[1] -7, \"x\"", true),
            new TestDescriptor(template, null, null, "[2] \ud83d\ude00", true)
        };
        five.executionStarted(all); five.executionStarted(template);
        for (TestDescriptor one : tests) { five.executionStarted(one); Sign.of(one == tests[1] ? -7 : 7); five.executionFinished(one, null); }
        Sign.isBig(5);
        five.executionFinished(template, null); five.executionFinished(all, null);

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

#[test]
fn tests_of_java_frameworks_are_told_apart() {
    let scratch = tempfile::tempdir().expect("a directory");
    let write = |path: &str, text: &str| {
        let path = scratch.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    };
    write("src/main/java/acme/Sign.java", SIGN);
    write("src/test/java/acme/Main.java", MAIN);
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
    let mut covers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for test in report["tests"].as_array().expect("tests") {
        covers.insert(test["id"].as_str().expect("a name"), BTreeSet::new());
    }
    for objective in report["objectives"].as_array().expect("objectives") {
        for test in objective["tests"].as_array().expect("tests") {
            let text = objective["text"].as_str().expect("a text");
            covers.entry(test.as_str().expect("a name")).or_default().insert(text);
        }
    }
    let (positive, negative) = (["a > 0 is true"].as_slice(), ["a < 0 is true", "a > 0 is false"].as_slice());
    let both = ["a < 0 is false", "a < 0 is true", "a > 0 is false"].as_slice();
    let expected: [(&str, &[&str]); 11] = [
        ("acme.AtOnce.one", positive),
        ("acme.FiveTest.plain", positive),
        ("acme.FiveTest.sign [1] -7, \"x\"", negative),
        ("acme.FiveTest.sign [2] 😀", positive),
        ("acme.FourTest.last", &["a > 1000 is true"]),
        ("acme.FourTest.many[1]", both),
        ("acme.FourTest.plain", both),
        ("acme.Main$Three.testThree", positive),
        ("acme.Main.ng [3, a, acme.Main$Three]", positive),
        ("java acme.Main", &["a > 1000 is false"]),
        ("java acme.Main: tests at the same time", negative),
    ];
    let expected: BTreeMap<&str, BTreeSet<&str>> =
        expected.into_iter().map(|(test, texts)| (test, texts.iter().copied().collect())).collect();
    assert_eq!(covers, expected);
}
