//! Java: the agent beside others: agents that change classes as they are loaded and while they run, loaders that come and go, a small heap, and
//! threads that hit one probe at the same time. The program prints what it always did.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

/// An agent like those of hot-swap tools and mocks: it inspects every class, replaces the code of one, and retransforms
/// one.
const OTHER: &str = r#"package tool;
import java.lang.instrument.*;
import java.nio.file.*;
import java.security.ProtectionDomain;
public class Other {
    static Instrumentation tools;
    static int seen, unlikeCompiled;
    public static void premain(String arguments, Instrumentation given) {
        tools = given;
        // Like a coverage tool: it identifies classes by their bytes, and inserts code.
        given.addTransformer(new ClassFileTransformer() {
            public byte[] transform(ClassLoader loader, String name, Class<?> before, ProtectionDomain domain, byte[] bytes) {
                inspect(name, before, bytes);
                return "acme/Probed".equals(name) ? read("probed/acme/Probed.class") : null;
            }
        });
        given.addTransformer(new ClassFileTransformer() {
            public byte[] transform(ClassLoader loader, String name, Class<?> before, ProtectionDomain domain, byte[] bytes) {
                if (name != null && name.startsWith("acme/")) seen++;
                if (!"acme/Probed".equals(name)) inspect(name, before, bytes);
                // The same code, given back as if it were another.
                return "acme/Sign".equals(name) ? bytes.clone() : null;
            }
        }, true);
    }
    public static void swap(Class<?> type, String file) throws Exception {
        tools.redefineClasses(new ClassDefinition(type, Files.readAllBytes(Paths.get(file))));
    }
    public static void again(Class<?> type) throws Exception { tools.retransformClasses(type); }
    public static boolean looked() { return seen > 3; }
    public static int unlikeCompiled() { return unlikeCompiled; }
    static void inspect(String name, Class<?> before, byte[] bytes) {
        Path file = Paths.get("classes/" + name + ".class");
        if (before == null && Files.exists(file) && !java.util.Arrays.equals(bytes, read(file.toString()))) unlikeCompiled++;
    }
    static byte[] read(String file) {
        try { return Files.readAllBytes(Paths.get(file)); } catch (java.io.IOException e) { return new byte[0]; }
    }
}
"#;

const SIGN: &str = "package acme; public class Sign { public static int of(int a) { if (a > 0) return 1; if (a < 0) return -1; return 0; } }";

/// The version that is swapped in gives twice as much.
const SWAPPED: &str = "package acme; public class Swapped { public static int of(int a) { if (a > 7) return FACTOR * 2; return FACTOR; } }";

/// A class, and what a coverage tool makes of it: the same jumps, with more code.
const PROBED: &str = "package acme; public class Probed { FIELD public static int of(int a, boolean b) { if (a > 3 && b) { HIT return 1; } HIT return a == 2 ? 2 : 3; } }";

const MAIN: &str = r#"package acme;
import java.lang.ref.WeakReference;
import java.net.*;
import java.nio.file.*;
import java.util.*;
import tool.Other;
public class Main {
    static WeakReference<ClassLoader> passing() throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {Paths.get("passing/").toUri().toURL()}, null)) {
            Object told = loader.loadClass("acme.Passing").getMethod("of", int.class).invoke(null, 3);
            if (!told.equals(6)) throw new Error("" + told);
            return new WeakReference<>(loader);
        }
    }
    public static void main(String[] args) throws Exception {
        System.out.println(Swapped.of(9) + " " + Swapped.of(1));
        Other.swap(Swapped.class, "swapped/acme/Swapped.class");
        System.out.println(Swapped.of(9) + " " + Swapped.of(1));
        Other.again(Sign.class);
        System.out.println(Sign.of(3) + " " + Other.looked());
        System.out.println(Probed.of(4, true) + Probed.of(2, false) + " " + Other.unlikeCompiled());

        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int i = 0; i < 200; i++) loaders.add(passing());
        for (int i = 0; i < 50 && loaders.stream().anyMatch(one -> one.get() != null); i++) { System.gc(); Thread.sleep(20); }
        System.out.println("loaders left: " + loaders.stream().filter(one -> one.get() != null).count());

        int[] sums = new int[64];
        Thread[] threads = new Thread[sums.length];
        for (int t = 0; t < sums.length; t++) {
            int own = t;
            threads[t] = new Thread(() -> { for (int i = 0; i < 100_000; i++) sums[own] += Sign.of(i); });
            threads[t].start();
        }
        for (Thread thread : threads) thread.join();
        System.out.println(Arrays.stream(sums).sum());
        List<byte[]> kept = new ArrayList<>();
        try { while (true) kept.add(new byte[1 << 16]); } catch (OutOfMemoryError full) { kept = null; }
        System.out.println(Sign.of(-3));
    }
}
"#;

fn run(within: &Path, program: &str, words: &[&str]) -> Output {
    Command::new(program).args(words).current_dir(within).output().expect("it runs")
}

#[test]
fn other_agents_swapped_code_loaders_that_go_and_a_small_heap_are_no_obstacle() {
    if !crate::support::long() {
        return;
    }
    let scratch = tempfile::tempdir().expect("a directory");
    let write = |path: &str, text: &str| {
        let path = scratch.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    };
    write("Other.java", OTHER);
    write("manifest", "Premain-Class: tool.Other\nCan-Redefine-Classes: true\nCan-Retransform-Classes: true\n");
    write("src/acme/Sign.java", SIGN);
    write("src/acme/Swapped.java", &SWAPPED.replace("FACTOR", "5"));
    write("src/acme/Main.java", MAIN);
    write("src/acme/Probed.java", &PROBED.replace("FIELD", "").replace("HIT", ""));
    write("later/acme/Probed.java", &PROBED.replace("FIELD", "static int hits;").replace("HIT", "hits++;"));
    write("later/acme/Swapped.java", &SWAPPED.replace("FACTOR", "10"));
    write(
        "src/acme/Passing.java",
        "package acme; public class Passing { public static int of(int a) { return a > 0 ? 2 * a : 0; } }",
    );
    let script = "javac -d other Other.java && jar cfm other.jar manifest -C other . && javac -cp other.jar -d classes src/acme/*.java && \
        javac -d swapped later/acme/Swapped.java && javac -d probed later/acme/Probed.java && mkdir -p passing/acme && mv classes/acme/Passing.class passing/acme && rm -r later";
    assert!(run(scratch.path(), "sh", &["-c", script]).status.success());
    let java = ["-Xmx24m", "-Xverify:all", "-javaagent:other.jar", "-cp", "classes:other.jar", "acme.Main"];
    let plain = run(scratch.path(), "java", &java);
    let printed = String::from_utf8_lossy(&plain.stdout).into_owned();
    assert_eq!(
        printed,
        "10 5\n20 10\n1 true\n3 0\nloaders left: 0\n6399936\n-1\n",
        "{}",
        String::from_utf8_lossy(&plain.stderr)
    );
    let touchstone = env!("CARGO_BIN_EXE_touchstone");
    let command = [&["measure", "-c", "branch,rte", "-q", "--", "java"][..], &java].concat();
    let measured = run(scratch.path(), touchstone, &command);
    let said = String::from_utf8_lossy(&measured.stdout).into_owned();
    assert!(
        measured.status.success() && said.starts_with(&printed),
        "{said}{}",
        String::from_utf8_lossy(&measured.stderr)
    );
    let report = run(scratch.path(), touchstone, &["report", "--format", "json"]);
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let objectives = report["objectives"].as_array().expect("objectives");
    let covered = |function: &str| -> BTreeSet<&str> {
        let of =
            |one: &&Value| one["criterion"] == "branch" && one["function"] == function && one["status"] == "covered";
        objectives.iter().filter(of).filter_map(|one| one["text"].as_str()).collect()
    };
    let all = BTreeSet::from(["a < 0 is false", "a < 0 is true", "a > 0 is false", "a > 0 is true"]);
    assert_eq!(covered("acme.Sign.of"), all);
    // Other agents inserted code; the decisions are still those of the source.
    let probed = ["a == 2 is true", "a > 3 && b is false", "a > 3 && b is true"];
    assert_eq!(covered("acme.Probed.of"), BTreeSet::from(probed));
    // The version that was swapped in is not what the source became: it is described by its code.
    let jumps = ["line 1, jump 1: not taken is false", "line 1, jump 1: not taken is true"];
    assert_eq!(
        covered("acme.Swapped.of"),
        BTreeSet::from_iter(["a > 7 is false", "a > 7 is true"].into_iter().chain(jumps))
    );
}
