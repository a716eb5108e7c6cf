//! Java: `measure` says what a program covered, whatever it does, with the objectives of `objectives`; the program sees nothing of it.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

const GATE: &str = r#"package plant;
import java.util.List;
public class Gate {
    final int width;
    Gate(int width) { this.width = width; }
    static int open(int a, boolean b, long c) {
        if (a > 0 && (b || !(c < 5L))) {
            return 1;
        }
        boolean both = b && a == -3; if (both) if (c == 7) return 2;
        return b ? 3 : 4;
    }
    static String kind(Object o, int k) {
        if (o instanceof String s && s.length() > 2 || k == 9) {
            return "long";
        }
        switch (k) {
            case 1: return "one";
            case 2: case 3: return "few";
            default: break;
        }
        try {
            int x = 10 / k; k = x;
        } catch (ArithmeticException e) {
            return "zero";
        } finally {
            if (k > 3 || k < -3) k = 0;
        }
        synchronized (o) { do { k++; } while (k < 5 && k != 3); }
        return List.of(1, 2, 3).stream().filter(x -> x > 1 && x < 3).count() + "";
    }
    public static void main(String[] args) {
        System.out.println(open(1, true, 0) + open(1, false, 0) + open(0, false, 9));
        System.out.println(kind("abc", 1) + kind("a", 1) + kind(7, 0) + kind("", 5));
        System.out.println(Gate.class.getDeclaredFields().length + " " + Gate.class.getDeclaredMethods().length);
        if (args.length > 0 && args[0].equals("halt")) Runtime.getRuntime().halt(3);
        if (args.length > 0 && args[0].equals("kill")) {
            try { new ProcessBuilder("kill", "-9", "" + ProcessHandle.current().pid()).start(); Thread.sleep(20_000); }
            catch (Exception e) { throw new RuntimeException(e); }
        }
    }
}
"#;

/// A directory with the class and its source.
fn compiled() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a directory");
    let package = scratch.path().join("src/plant");
    std::fs::create_dir_all(&package).expect("writable");
    std::fs::write(package.join("Gate.java"), GATE).expect("writable");
    let status =
        crate::support::javac().args(["-d", "classes", "src/plant/Gate.java"]).current_dir(scratch.path()).status();
    assert!(status.expect("javac runs").success());
    scratch
}

fn touchstone(within: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(words).current_dir(within).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The report of the last measurement.
fn report(within: &Path) -> Value {
    let output = touchstone(within, &["report", "--format", "json"]);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {}", text(&output.stderr)))
}

/// Texts of a function's objectives of a criterion that are covered, and of the others.
fn by_status(report: &Value, criterion: &str, function: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let objectives = report["objectives"].as_array().expect("objectives").iter();
    let own = objectives.filter(|one| one["criterion"] == criterion && one["function"] == function);
    let (covered, others): (Vec<&Value>, Vec<&Value>) = own.partition(|one| one["status"] == "covered");
    let texts =
        |of: Vec<&Value>| of.into_iter().map(|one| one["text"].as_str().unwrap_or_default().to_string()).collect();
    (texts(covered), texts(others))
}

/// The compiler threads jumps to jumps and removes unreachable ones; so must the mapping of jumps to conditions.
#[test]
fn jumps_that_join_others_are_known_by_their_source() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = r#"public class Joins {
    static int a(int k, int n) {
        while (k < n) {
            if (n == 3) { k++; }
            if (k == 5) { n--; break; } else if (n > 9) { k += 2; }
            if (k > 7) { n++; }
            break;
        }
        switch (k) { case 1: if (n > 2) { n = 3; } break; case 2: if (n > 2) n = 4; else n = 5; break; default: n = 2; }
        do { if (n > 4) { n--; continue; } if (n < 0) { n++; } { continue; } } while (n > 6);
        for (int i = 0; i < n; i++) { switch (i) { case 1: k++; break; } continue; }
        try { if (k > 3) { k--; } } finally { if (n == 1) { n = 7; } }
        return k + n;
    }
    public static void main(String[] args) { System.out.println(a(1, 2)); }
}
"#;
    std::fs::create_dir(scratch.path().join("src")).expect("writable");
    std::fs::write(scratch.path().join("src/Joins.java"), code).expect("writable");
    let compiled =
        crate::support::javac().args(["-d", "classes", "src/Joins.java"]).current_dir(scratch.path()).status();
    assert!(compiled.expect("javac runs").success());
    let run = ["measure", "-c", "stmt,branch,condition", "-q", "--", "java", "-cp", "classes", "Joins"];
    assert!(touchstone(scratch.path(), &run).status.success());
    let measured = report(scratch.path());
    let ids = |report: &Value| -> BTreeSet<String> {
        let all = report["objectives"].as_array().expect("objectives").iter();
        all.map(|one| format!("{} {}", one["id"], one["text"])).collect()
    };
    let listed = touchstone(
        scratch.path(),
        &["objectives", "src/Joins.java", "-c", "stmt,branch,condition", "--format", "json"],
    );
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    assert_eq!(ids(&measured), ids(&listed));
    let (covered, others) = by_status(&measured, "condition", "Joins.a");
    assert!(covered.contains("k < n is true") && others.contains("k < n is false"), "{covered:?} {others:?}");
    assert!(covered.contains("n > 4 is false") && others.contains("n > 4 is true"), "{covered:?} {others:?}");
}

#[test]
fn what_a_java_program_covers_is_measured_and_the_program_sees_nothing_of_it() {
    let scratch = compiled();
    let plain = Command::new("java").args(["-cp", "classes", "plant.Gate"]).current_dir(scratch.path()).output();
    let plain = plain.expect("java runs");
    let command = [
        "measure",
        "-c",
        "stmt,branch,condition,mcdc",
        "-q",
        "--",
        "java",
        "-Xverify:all",
        "-cp",
        "classes",
        "plant.Gate",
    ];
    let measured = touchstone(scratch.path(), &command);
    assert_eq!(measured.status.code(), Some(0), "{}", text(&measured.stderr));
    assert!(text(&measured.stdout).starts_with(&text(&plain.stdout)), "{}", text(&measured.stdout));
    let report = report(scratch.path());

    let (covered, others) = by_status(&report, "condition", "plant.Gate.open");
    let has = |of: &BTreeSet<String>, wanted: &str| of.iter().any(|text| text == wanted);
    for wanted in ["a > 0 is true", "a > 0 is false", "b is true", "b is false", "c < 5L is true"] {
        assert!(has(&covered, wanted), "{wanted}: {covered:?}");
    }
    for wanted in ["c < 5L is false", "a == -3 is true", "c == 7 is true", "c == 7 is false"] {
        assert!(has(&others, wanted), "{wanted}: {others:?}");
    }
    let (covered, others) = by_status(&report, "branch", "plant.Gate.kind");
    for wanted in ["switch: case 1", "switch: default"] {
        assert!(has(&covered, wanted), "{wanted}: {covered:?}");
    }
    assert!(has(&others, "switch: case 2 ... 3"), "{others:?}");
    let (covered, others) = by_status(&report, "stmt", "plant.Gate.kind");
    for wanted in ["int x = 10 / k;", "return \"zero\";", "return \"long\";", "k++;"] {
        assert!(has(&covered, wanted), "{wanted}: {covered:?}");
    }
    assert!(has(&others, "return \"few\";"), "{others:?}");
    let status = |text: &str| {
        let found = report["objectives"].as_array().into_iter().flatten().find(|one| one["text"] == text);
        found.map(|one| one["status"].as_str().unwrap_or_default().to_string())
    };
    // Behind a division by zero, and before it.
    assert_eq!(status("k = x;").as_deref(), Some("covered"));

    let listed = touchstone(
        scratch.path(),
        &["objectives", "-c", "stmt,branch,condition,mcdc", "--format", "json", "src/plant/Gate.java"],
    );
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let ids = |of: &Value| -> BTreeSet<String> {
        of["objectives"].as_array().into_iter().flatten().map(|one| one["id"].to_string()).collect()
    };
    assert_eq!(ids(&report), ids(&listed));
    let unknown = report["objectives"].as_array().into_iter().flatten().find(|one| one["status"] == "unknown");
    assert_eq!(unknown, None);
}

#[test]
fn hits_survive_whatever_ends_a_java_program() {
    let scratch = compiled();
    for (word, code) in [("halt", Some(3)), ("kill", None)] {
        let script = format!("java -cp classes plant.Gate {word}; test $? -ge 3");
        let measured = touchstone(scratch.path(), &["measure", "-c", "branch", "-q", "--", "sh", "-c", &script]);
        assert_eq!(measured.status.code(), Some(0), "{code:?}: {}", text(&measured.stderr));
        let (covered, _) = by_status(&report(scratch.path()), "branch", "plant.Gate.main");
        let asked = format!("args.length > 0 && args[0].equals(\"{word}\") is true");
        assert!(covered.contains(&asked), "{covered:?}");
    }
}

#[test]
fn tests_are_generated_on_top_of_a_measured_java_suite() {
    let scratch = compiled();
    touchstone(scratch.path(), &["measure", "-c", "branch,mcdc", "-q", "--", "java", "-cp", "classes", "plant.Gate"]);
    let words = [
        "generate",
        "src/plant/Gate.java",
        "-f",
        "Gate.open",
        "-c",
        "branch",
        "--on-top-of",
        "touchstone-out",
        "-o",
        "new",
        "--format",
        "json",
    ];
    let made = touchstone(scratch.path(), &words);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap_or_else(|_| panic!("{}", text(&made.stderr)));
    let tests_of = |wanted: &str| -> Vec<String> {
        let one = made["objectives"].as_array().into_iter().flatten().find(|one| one["text"] == wanted);
        let tests = one.and_then(|one| one["tests"].as_array()).into_iter().flatten();
        tests.map(|test| test.as_str().unwrap_or_default().to_string()).collect()
    };
    assert_eq!(tests_of("a > 0 && (b || !(c < 5L)) is true"), ["java plant.Gate"]);
    let new = tests_of("both is true");
    assert!(!new.is_empty() && !new.contains(&"java plant.Gate".to_string()), "{new:?}");
}

const THROWS: &str = r#"public class Throws {
    static boolean check(int b) { if (b < 0) throw new IllegalArgumentException(); return b > 3; }
    static int inside(int a, int b) {
        int n = 0;
        if (a > 0 || a == -9) {
            if (check(b)) n++;
        }
        return n;
    }
    static int both(int a, int b) { if (a > 0 && check(b)) return 1; return 0; }
    public static void main(String[] args) {
        for (int a : new int[] {1, -9}) try { inside(a, -1); } catch (IllegalArgumentException e) { }
        try { both(1, -1); } catch (IllegalArgumentException e) { }
    }
}
"#;

#[test]
fn what_was_decided_before_something_is_thrown_counts() {
    let scratch = tempfile::tempdir().expect("a directory");
    std::fs::write(scratch.path().join("Throws.java"), THROWS).expect("writable");
    let measured = touchstone(
        scratch.path(),
        &["measure", "-c", "branch,mcdc", "-q", "--", "java", "-Xverify:all", "Throws.java"],
    );
    assert_eq!(measured.status.code(), Some(0), "{}", text(&measured.stderr));
    let report = report(scratch.path());
    let (covered, others) = by_status(&report, "branch", "Throws.inside");
    assert_eq!(covered.into_iter().collect::<Vec<_>>(), ["a > 0 || a == -9 is true"]);
    assert!(others.contains("check(b) is true") && others.contains("a > 0 || a == -9 is false"), "{others:?}");
    let (covered, _) = by_status(&report, "mcdc", "Throws.inside");
    assert_eq!(covered.len(), 2, "both conditions decided once: {covered:?}");
    // It never came to a result.
    assert_eq!(by_status(&report, "branch", "Throws.both").0, BTreeSet::new());
}

/// Calls the methods of test classes that are named, as JUnit does.
const RUNNER: &str = r#"public class Runner {
    public static void main(String[] args) throws Exception {
        int tests = 0;
        for (String name : args) for (java.lang.reflect.Method method : Class.forName(name).getDeclaredMethods()) {
            if (!method.isAnnotationPresent(org.junit.jupiter.api.Test.class)) continue;
            java.lang.reflect.Constructor<?> make = Class.forName(name).getDeclaredConstructor();
            make.setAccessible(true); method.setAccessible(true);
            method.invoke(make.newInstance());
            tests++;
        }
        System.out.println(tests + " tests");
    }
}
"#;

/// By id: whether an objective is covered.
fn covered_by_id(report: &Value) -> std::collections::BTreeMap<String, bool> {
    let objectives = report["objectives"].as_array().expect("objectives").iter();
    objectives.map(|one| (one["id"].as_str().unwrap_or_default().to_string(), one["status"] == "covered")).collect()
}

/// Generates tests for the sources in `src`, measures them, and returns both reports.
fn generated_and_measured(scratch: &tempfile::TempDir, criteria: &str, timeout: &str) -> (Value, Value) {
    let names = std::fs::read_dir(scratch.path().join("src")).expect("sources").count();
    std::fs::write(scratch.path().join("Runner.java"), RUNNER).expect("writable");
    let options = ["-c", criteria, "--timeout", timeout, "-o", "made", "--format", "json"];
    let generated = touchstone(scratch.path(), &[&["generate", "src"][..], &options].concat());
    let generated: Value =
        serde_json::from_slice(&generated.stdout).unwrap_or_else(|_| panic!("{}", text(&generated.stderr)));

    let shim = Path::new(env!("CARGO_MANIFEST_DIR")).join("../front-java/helper/shim");
    let script = format!(
        "javac -g -d classes src/*.java && \
         javac -nowarn -cp classes -d target/test-classes Runner.java $(find made -name '*Test.java') \
         $(find '{}/touchstone' '{}/org/junit/jupiter' -name '*.java')",
        shim.display(),
        shim.display()
    );
    let compiled = Command::new("sh").args(["-c", &script]).current_dir(scratch.path()).output().expect("javac runs");
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    let tests = std::fs::read_dir(scratch.path().join("target/test-classes")).expect("tests");
    let tests = tests.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let tests: Vec<String> =
        tests.filter_map(|name| Some(name.strip_suffix("Test.class")?.to_string() + "Test")).collect();
    assert!(tests.len() >= names, "{tests:?}");
    let mut command = vec!["measure", "-c", criteria, "-o", "measured", "-q", "--", "java", "-Xverify:all"];
    command.extend(["-cp", "classes:target/test-classes", "Runner"]);
    command.extend(tests.iter().map(String::as_str));
    let measured = touchstone(scratch.path(), &command);
    assert_eq!(measured.status.code(), Some(0), "{}{}", text(&measured.stdout), text(&measured.stderr));
    let measured = touchstone(scratch.path(), &["report", "measured", "--format", "json"]);
    (generated, serde_json::from_slice(&measured.stdout).expect("JSON"))
}

fn example(scratch: &tempfile::TempDir, name: &str) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/java");
    std::fs::create_dir_all(scratch.path().join("src")).expect("writable");
    let file = format!("{name}.java");
    std::fs::copy(examples.join(&file), scratch.path().join("src").join(file)).expect("an example");
}

/// Values of most kinds: locals, fields, values that left the stack, old values of variables, floats, copies.
const MUTANTS: &str = r#"public class Mutants {
    int lo, hi; String name;
    Mutants(int lo, int hi) { this.lo = lo; this.hi = hi; }
    boolean in(int x) { return lo <= x && x < hi; }
    boolean named(Mutants o) { return name == null || o == this; }
    static long mix(long a, int s, double d, float f) { long r = a << s; r += (long) (d * 2.5) - (int) (f / 3f); return r % 7; }
    static int post(int[] v, int i) { int k = i++ + v[i - 1]; v[k % v.length] = k; return k - i; }
    static char up(char c, boolean flag, byte y) { if (flag && c >= 'a') c -= 32; return (char) (c + y); }
    static int fin(int a) { int r = 0; try { r = 10 / a; } catch (ArithmeticException e) { r = -1; } finally { r += a * 2; } return r; }
    static int two(int a, int b) { return (a > b ? a : b) * 2; }
    static int null_(String s, int a) { return s.indexOf(a + 1); }
}
"#;

#[test]
fn mutants_that_generate_covers_are_covered_where_its_tests_are_measured_and_no_others() {
    // Other criteria are compared by default, and mutants of Java are judged by `java_mutants.rs`.
    if !crate::support::long() {
        return;
    }
    let scratch = tempfile::tempdir().expect("a directory");
    example(&scratch, "Triangle");
    std::fs::write(scratch.path().join("src/Mutants.java"), MUTANTS).expect("writable");
    let (generated, measured) = generated_and_measured(&scratch, "wm", "2");
    let (made, seen) = (covered_by_id(&generated), covered_by_id(&measured));
    assert_eq!(made.keys().collect::<Vec<_>>(), seen.keys().collect::<Vec<_>>());
    let not_measured: BTreeSet<&str> = measured["objectives"]
        .as_array()
        .expect("objectives")
        .iter()
        .filter(|one| one["status"] == "unknown")
        .map(|one| one["id"].as_str().unwrap_or_default())
        .collect();
    // Of what both ways of `?:` leave on the stack nothing is said.
    assert!((1..20).contains(&not_measured.len()), "{not_measured:?}");
    assert!(not_measured.iter().all(|id| id.starts_with("Mutants.two.")), "{not_measured:?}");
    let said = made.iter().filter(|(id, _)| !not_measured.contains(id.as_str()));
    let differs: Vec<_> = said.filter(|(id, covered)| seen.get(*id) != Some(covered)).collect();
    assert_eq!(differs, []);
    assert!(made.values().filter(|covered| **covered).count() > 300, "{}", made.len());

    let words = ["instrument", "classes", "-o", "probed", "--measurement", "found", "-c", "wm"];
    let offline = touchstone(scratch.path(), &words);
    assert_eq!(offline.status.code(), Some(0), "{}", text(&offline.stderr));
    let tests = ["TriangleTouchstoneTest", "MutantsTouchstoneTest"];
    let mut java = Command::new("java");
    java.args(["-Xverify:all", "-cp", "probed:target/test-classes", "Runner"]).args(tests);
    let ran = java.current_dir(scratch.path()).output().expect("java runs");
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    touchstone(scratch.path(), &["merge", "found", "-o", "merged", "-q"]);
    let merged = touchstone(scratch.path(), &["report", "merged", "--format", "json"]);
    assert_eq!(covered_by_id(&serde_json::from_slice(&merged.stdout).expect("JSON")), seen);
}

#[test]
fn what_generate_says_of_its_java_tests_measure_says_too() {
    let scratch = tempfile::tempdir().expect("a directory");
    let examples = ["Triangle", "Tcas", "BoundedStack"];
    examples.iter().take(if crate::support::long() { 3 } else { 2 }).for_each(|name| example(&scratch, name));
    let (generated, measured) = generated_and_measured(&scratch, "stmt,branch,mcdc,rte,idc", "10");
    let (made, seen) = (covered_by_id(&generated), covered_by_id(&measured));
    assert!(made.len() > 100 && made.values().filter(|covered| **covered).count() > 90, "{}", made.len());
    let differs: Vec<_> = made
        .iter()
        .filter(|(id, covered)| seen.get(*id) != Some(covered))
        .map(|(id, c)| (id, c, seen.get(id)))
        .collect();
    assert_eq!(differs, []);
}

/// Loads classes of javac from a copy in a directory, and lets the JVM verify them.
const LOADING: &str = r#"import java.net.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
public class Loading {
    public static void main(String[] args) throws Exception {
        Path all = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/jdk.compiler");
        Path copy = Paths.get(args[0]).toAbsolutePath();
        List<String> names = new ArrayList<>();
        for (String part : new String[] {"comp", "parser", "code", "jvm"}) {
            Path folder = all.resolve("com/sun/tools/javac/" + part);
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.class")) {
                for (Path file : files) {
                    Path to = copy.resolve(all.relativize(file).toString());
                    Files.createDirectories(to.getParent());
                    Files.copy(file, to);
                    names.add(all.relativize(file).toString().replace(".class", "").replace('/', '.'));
                }
            }
        }
        int loaded = 0;
        try (URLClassLoader loader = new URLClassLoader(new URL[] {copy.toUri().toURL()}, null) {
            protected Class<?> findClass(String name) throws ClassNotFoundException {
                try { return super.findClass(name); }
                catch (ClassNotFoundException e) { return ClassLoader.getSystemClassLoader().loadClass(name); }
            }
        }) {
            for (String name : names) {
                try { Class.forName(name, true, loader); loaded++; }
                catch (VerifyError | ClassFormatError e) { System.out.println("refused: " + e); }
                // What an initialiser needs may not be open to this copy.
                catch (LinkageError e) { }
            }
        }
        System.out.println("loaded: " + loaded);
    }
}
"#;

#[test]
fn the_jvm_refuses_no_class_with_probes() {
    let scratch = tempfile::tempdir().expect("a directory");
    std::fs::write(scratch.path().join("Loading.java"), LOADING).expect("writable");
    let words =
        ["measure", "-c", "stmt,mcdc,rte,idc,labels", "-q", "--", "java", "-Xverify:all", "Loading.java", "copy"];
    let measured = touchstone(scratch.path(), &words);
    let said = text(&measured.stdout);
    let loaded = said.lines().find_map(|line| line.strip_prefix("loaded: ")?.parse::<usize>().ok());
    assert!(
        !said.lines().any(|line| line.starts_with("refused")) && loaded.is_some_and(|loaded| loaded > 300),
        "{said}{}",
        text(&measured.stderr)
    );
    let units = std::fs::read_dir(scratch.path().join("touchstone-out/units")).expect("units");
    let classes =
        units.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().extension().is_some_and(|e| e == "class")));
    assert!(classes.count() > 300);
}

#[test]
fn a_source_that_does_not_compile_any_more_affects_no_others_and_is_named() {
    let scratch = compiled();
    let package = scratch.path().join("src/plant");
    std::fs::write(
        package.join("Other.java"),
        "package plant; class Other { static int n(int a) { return a > 0 ? 1 : 2; } }",
    )
    .expect("writable");
    let started = "package plant; public class Start { public static void main(String[] a) { Other.n(1); Gate.open(1, true, 1); } }";
    std::fs::write(package.join("Start.java"), started).expect("writable");
    let script = "javac -d classes src/plant/*.java && echo 'package plant; class Other { static int n() { } }' > src/plant/Other.java \
        && java -cp classes plant.Start";
    let measured = touchstone(scratch.path(), &["measure", "-c", "branch", "--counts", "--", "sh", "-c", script]);
    let said = text(&measured.stderr);
    assert_eq!(measured.status.code(), Some(0), "{said}");
    assert!(said.contains("Other.java: javac refuses it: missing return statement"), "{said}");
    assert!(said.contains("not counted: how often 2 files of Java ran"), "{said}");
    let report = report(scratch.path());
    let (covered, _) = by_status(&report, "branch", "plant.Gate.open");
    assert!(covered.contains("a > 0 && (b || !(c < 5L)) is true"), "{covered:?}");
    // Its decisions are those of the bytecode.
    assert!(said.contains("measured from bytecode: "), "{said}");
    let (covered, others) = by_status(&report, "branch", "plant.Other.n");
    assert_eq!((covered.len(), others.len()), (1, 1), "{covered:?} {others:?}");
}

/// An annotation processor that writes a class, which the program needs.
const PROCESSOR: &str = r#"package tool;
import java.io.Writer;
import java.util.Set;
import javax.annotation.processing.*;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.TypeElement;
@SupportedAnnotationTypes("*")
public class Maker extends AbstractProcessor {
    private boolean made;
    @Override public SourceVersion getSupportedSourceVersion() { return SourceVersion.latest(); }
    @Override public boolean process(Set<? extends TypeElement> annotations, RoundEnvironment round) {
        if (!made) {
            made = true;
            try (Writer out = processingEnv.getFiler().createSourceFile("acme.Made").openWriter()) {
                out.write("package acme; class Made { static int limit() { return 3; } }");
            } catch (java.io.IOException e) { throw new IllegalStateException(e); }
        }
        return false;
    }
}
"#;

#[test]
fn annotation_processors_that_only_the_build_names_run_again() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let within = scratch.path();
    let write = |name: &str, text: &str| {
        let path = within.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a writable scratch directory");
        std::fs::write(path, text).expect("a writable scratch directory");
    };
    // A library: it is no part of the project, and on no class path.
    let library = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(library.path().join("Maker.java"), PROCESSOR).expect("a writable scratch directory");
    let packed = "mkdir -p made/META-INF/services && echo tool.Maker > made/META-INF/services/javax.annotation.processing.Processor \
        && javac -proc:none -d made Maker.java && jar --create --file maker.jar -C made .";
    let packed = Command::new("sh").args(["-c", packed]).current_dir(library.path()).output().expect("a shell");
    assert!(packed.status.success(), "{}", text(&packed.stderr));
    let jar = library.path().join("maker.jar").display().to_string();
    write(
        "src/acme/Main.java",
        "package acme; public class Main { public static void main(String[] a) { int n = a.length; if (n > 0 || n == Made.limit()) System.out.println(n); } }",
    );
    let build = format!(
        "javac -g -processorpath {jar} -d classes src/acme/Main.java && java -cp classes acme.Main 1 && rm classes/acme/Made.*"
    );
    let measured = touchstone(within, &["measure", "-c", "branch", "--", "sh", "-c", &build]);
    let said = text(&measured.stderr) + &text(&measured.stdout);
    assert!(measured.status.success() && !said.contains("bytecode"), "{said}");
    let (covered, _) = by_status(&report(within), "branch", "acme.Main.main");
    assert_eq!(covered, BTreeSet::from(["n > 0 || n == Made.limit() is true".to_string()]), "{said}");
}

#[test]
fn modules_classes_that_are_never_loaded_and_other_languages_count() {
    let scratch = tempfile::tempdir().expect("a directory");
    let write = |path: &str, text: &str| {
        let path = scratch.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    };
    write("lib/module-info.java", "module lib { exports lib; }");
    write("lib/lib/One.java", "package lib; public class One { public static int one() { return 1; } }");
    write("src/module-info.java", "module acme { requires lib; }");
    let main = "package acme; public class Main { static int f(int a, boolean b) { if (a > 3 && b) return lib.One.one(); return 2; }
        static int g(int k, boolean r) { if (switch (k) { case 1 -> true; default -> false; } && r) return 1; return 0; }
        public static void main(String[] a) { System.out.println(f(1, true) + g(1, true) + Kotlin.k(3)); } }";
    write("src/acme/Main.java", main);
    write(
        "src/acme/Never.java",
        "package acme; class Never { static int h(int a) { return a > 2 && lib.One.one() > 0 ? 1 : 0; } }",
    );
    write("src/acme/Kotlin.java", "package acme; class Kotlin { static int k(int a) { return a > 2 ? 1 : 0; } }");
    // There may be no Kotlin compiler: the class file names another source file.
    let script = "javac -d out $(find lib -name '*.java') && jar cf mods.jar -C out . && mkdir mods && mv mods.jar mods/lib.jar && rm -r lib out && \
        javac -p mods -d classes $(find src -name '*.java') && LC_ALL=C sed -i 's/Kotlin[.]java/KotlinKt.kt/' classes/acme/Kotlin.class && \
        mv src/acme/Kotlin.java src/acme/KotlinKt.kt";
    let built = Command::new("sh").args(["-c", script]).current_dir(scratch.path()).output().expect("javac runs");
    assert!(built.status.success(), "{}", text(&built.stderr));
    let words = ["measure", "-c", "branch", "--", "java", "-p", "mods:classes", "-m", "acme/acme.Main"];
    let measured = touchstone(scratch.path(), &words);
    let said = text(&measured.stderr);
    assert_eq!(measured.status.code(), Some(0), "{said}");
    assert!(said.contains("KotlinKt.kt: only Java sources are read"), "{said}");
    assert!(said.contains("`switch (k) { case 1 -> true; default -> false; } && r` has no objectives"), "{said}");
    let report = report(scratch.path());
    let of = |function: &str| {
        let (covered, others) = by_status(&report, "branch", function);
        (Vec::from_iter(covered).join(", "), Vec::from_iter(others).join(", "))
    };
    assert_eq!(of("acme.Main.f"), ("a > 3 && b is false".to_string(), "a > 3 && b is true".to_string()));
    assert_eq!(of("acme.Never.h").0, "");
    assert!(of("acme.Never.h").1.contains("a > 2 && lib.One.one() > 0 is true"), "{:?}", of("acme.Never.h"));
    assert!(of("acme.Kotlin.k").0.starts_with("line 1, jump 1"), "{:?}", of("acme.Kotlin.k"));

    let words = ["objectives", "src/module-info.java", "src/acme/Never.java", "--cp", "mods/lib.jar", "-c", "branch"];
    assert!(text(&touchstone(scratch.path(), &words).stdout).contains("a > 2 && lib.One.one() > 0 is true"));

    // Tests are added to the measured ones only where something is missing.
    write(
        "src/acme/Full.java",
        "package acme; public class Full { public static int get(int a) { if (a > 2) return 1; return 0; }
        public static int name() { return 3; } public static int half(int a) { if (a > 2) return 1; return 0; }
        public static void main(String[] a) { get(1); get(3); half(1); } }",
    );
    let words = ["measure", "-c", "branch", "-q", "--", "java", "-cp", "full:mods/lib.jar", "acme.Full"];
    let script = ["sh", "-c", "javac -d full src/acme/Full.java"];
    let built = Command::new(script[0]).args(&script[1..]).current_dir(scratch.path()).status().expect("javac runs");
    assert!(built.success() && touchstone(scratch.path(), &words).status.success());
    let words = ["generate", "src/acme/Full.java", "--on-top-of", "touchstone-out", "-o", "more", "--format", "json"];
    let generated = touchstone(scratch.path(), &words);
    let said = text(&generated.stderr);
    assert!(!said.contains("was not measured"), "{said}");
    let generated: Value = serde_json::from_slice(&generated.stdout).unwrap_or_else(|_| panic!("{said}"));
    let made = generated["tests"].as_array().expect("tests").iter().filter(|test| test["outcome"] != "measured");
    let made: Vec<&str> = made.filter_map(|test| test["function"].as_str()).collect();
    assert_eq!(made, ["acme.Full.half"]);
    assert!(generated["objectives"].as_array().expect("objectives").iter().all(|one| one["criterion"] == "branch"));
}

#[test]
fn classes_that_got_probes_before_they_are_loaded_leave_the_same_hits() {
    let scratch = compiled();
    std::fs::write(scratch.path().join("classes/notes.txt"), "kept").expect("writable");
    let asked = ["-c", "stmt,branch,condition,mcdc"];
    let instrument = |tree: &str, to: &str| {
        touchstone(scratch.path(), &[&["instrument", tree, "-o", to, "--measurement", "found"][..], &asked].concat())
    };
    let made = instrument("classes", "probed");
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert_eq!(std::fs::read_to_string(scratch.path().join("probed/notes.txt")).expect("copied"), "kept");
    let java = |words: &[&str]| {
        Command::new("java")
            .args(["-Xverify:all", "-cp"])
            .args(words)
            .current_dir(scratch.path())
            .output()
            .expect("java")
    };
    let (plain, run) = (java(&["classes", "plant.Gate"]), java(&["probed", "plant.Gate", "halt"]));
    assert_eq!((text(&run.stdout), run.status.code()), (text(&plain.stdout), Some(3)), "{}", text(&run.stderr));
    let merged = touchstone(scratch.path(), &["merge", "found", "-o", "touchstone-out", "-q"]);
    assert_eq!(merged.status.code(), Some(0), "{}", text(&merged.stderr));
    let offline = covered_by_id(&report(scratch.path()));
    touchstone(
        scratch.path(),
        &[&["measure", "-q"][..], &asked, &["--", "java", "-cp", "classes", "plant.Gate", "halt"]].concat(),
    );
    let loaded = report(scratch.path());
    assert!(offline.values().any(|covered| *covered) && offline.values().any(|covered| !*covered));
    assert_eq!(offline, covered_by_id(&loaded));

    for (tree, to, why) in [("probed", "twice", "have probes already"), ("classes", "probed", "is not empty")] {
        let refused = instrument(tree, to);
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains(why), "{}", text(&refused.stderr));
    }
    let jar = Command::new("jar").args(["cf", "gate.jar", "-C", "classes", "."]).current_dir(scratch.path()).status();
    assert!(jar.expect("jar runs").success());
    let made = instrument("gate.jar", "unpacked");
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert_eq!(text(&java(&["unpacked", "plant.Gate"]).stdout), text(&plain.stdout));
}
