//! `touchstone run` of Java programs does what `java` does, on every JDK of the machine: same output, same status, same
//! exception. The programs are in `tests/java`; those whose name ends in a number need a JDK of that release.

mod class_structures;
mod generator;
use crate::support;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Every JDK with its release; CI has at least 17.
pub fn jdks() -> Vec<(PathBuf, u32)> {
    let release = |home: &Path| -> Option<u32> {
        let text = std::fs::read_to_string(home.join("release")).ok()?;
        let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?.to_string();
        version.split(['.', '"']).next()?.parse().ok()
    };
    let homes = std::fs::read_dir("/usr/lib/jvm").expect("JDKs are installed under /usr/lib/jvm").flatten();
    let homes = homes.filter_map(|entry| entry.path().canonicalize().ok());
    let mut found: Vec<(PathBuf, u32)> = homes
        .filter(|home| home.join("lib/modules").is_file() && home.join("bin/javac").is_file())
        .filter_map(|home| release(&home).map(|release| (home, release)))
        .collect();
    found.sort();
    found.dedup();
    assert!(found.iter().any(|(_, release)| *release >= 17), "no JDK from 17 on: {found:?}");
    found
}

fn with_input(command: &mut Command, input: &str) -> Output {
    let command = command.env("LC_ALL", "C.UTF-8").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // A program that does not read closes the pipe.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

fn javac(home: &Path, to: &Path, files: &[PathBuf]) {
    let javac = crate::support::javac_of(&home.join("bin/javac"))
        .args(["-g", "-nowarn", "-proc:none", "-encoding", "UTF-8", "-d"])
        .arg(to)
        .args(files)
        .output()
        .expect("javac runs");
    assert!(javac.status.success(), "{}", String::from_utf8_lossy(&javac.stderr));
}

fn touchstone(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.env("JAVA_HOME", home).arg("run");
    command
}

/// The first line of what a program says on standard error.
fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_string()
}

/// The programs of a release with what they need.
fn programs(release: u32) -> Vec<PathBuf> {
    let all = std::fs::read_dir(support::root().join("tests/java")).expect("programs").flatten();
    let needs = |path: &Path| -> u32 {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0)
    };
    let all = all.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|own| own == "java"));
    let mut found: Vec<PathBuf> = all.filter(|path| needs(path) <= release).collect();
    found.sort();
    assert!(found.len() >= 10);
    found
}

#[test]
fn programs_print_what_java_prints_on_every_jdk() {
    let mut wrong = String::new();
    // By default, random programs alone run on every JDK.
    for (home, release) in jdks().into_iter().take(if support::long() { usize::MAX } else { 1 }) {
        let scratch = tempfile::tempdir().expect("a directory");
        let programs = programs(release);
        javac(&home, scratch.path(), &programs);
        for program in programs {
            let name = program.file_stem().expect("a name").to_string_lossy().into_owned();
            let input = "one\nstop\nmore\n";
            let mut java = Command::new(home.join("bin/java"));
            java.arg("-cp").arg(scratch.path()).arg(&name).args(["a", "b c"]);
            let expected = with_input(&mut java, input);
            let class = scratch.path().join(format!("{name}.class"));
            let ours = with_input(touchstone(&home).arg(class).args(["--", "a", "b c"]), input);
            let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
            if text(&ours) != text(&expected)
                || ours.status.code() != expected.status.code()
                || complaint(&ours) != complaint(&expected)
            {
                let lines = text(&expected).lines().zip(text(&ours).lines()).position(|(a, b)| a != b);
                let status = (expected.status.code(), ours.status.code());
                let said = (complaint(&expected), complaint(&ours));
                wrong += &format!("{name} on {release}: line {lines:?}, status {status:?}, says {said:?}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn source_class_files_and_jars_are_programs() {
    let (home, _) = jdks().remove(0);
    let scratch = tempfile::tempdir().expect("a directory");
    let source = scratch.path().join("Main.java");
    let text = "package some.where;\nclass Helper { static int twice(int x) { return 2 * x; } }\npublic class Main { public static void main(String[] a) { System.out.println(Helper.twice(21) + a.length); } }\n";
    std::fs::write(&source, text).expect("written");
    javac(&home, scratch.path(), std::slice::from_ref(&source));
    let jar = Command::new(home.join("bin/jar"))
        .args(["cfe", "app.jar", "some.where.Main", "some"])
        .current_dir(scratch.path())
        .status();
    assert!(jar.expect("jar runs").success());
    for file in ["Main.java", "some/where/Main.class", "app.jar"] {
        let ours = touchstone(&home).arg(scratch.path().join(file)).args(["--", "x"]).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&ours.stdout), "43\n", "{file}: {}", complaint(&ours));
        assert!(ours.status.success());
    }
}

#[test]
fn other_sources_of_the_package_are_found() {
    let (home, _) = jdks().remove(0);
    let scratch = tempfile::tempdir().expect("a directory");
    let folder = scratch.path().join("shop/model");
    std::fs::create_dir_all(&folder).expect("made");
    let put = |path: &str, text: &str| std::fs::write(scratch.path().join(path), text).expect("written");
    put("shop/model/Item.java", "package shop.model; public record Item(String name, int cents) { }");
    put(
        "shop/Main.java",
        "package shop; import shop.model.Item; class Main { public static void main(String[] a) { System.out.println(new Item(\"tea\", 350)); } }",
    );
    let ours = touchstone(&home).arg(scratch.path().join("shop/Main.java")).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&ours.stdout), "Item[name=tea, cents=350]\n", "{}", complaint(&ours));
}

#[test]
fn what_is_no_program_is_refused_with_a_reason() {
    let (home, _) = jdks().remove(0);
    let scratch = tempfile::tempdir().expect("a directory");
    let put = |name: &str, bytes: &[u8]| {
        std::fs::write(scratch.path().join(name), bytes).expect("written");
    };
    put("Broken.java", b"class Broken { int }");
    put("NoMain.java", b"public class NoMain { }");
    put("Bad.class", b"\xca\xfe\xba\xbe\0\0\0\x40\0\x02\x01");
    put("Newer.class", b"\xca\xfe\xba\xbe\0\0\0\x50\0\x02");
    put("bad.jar", b"no zip");
    for (file, reason) in [
        ("Broken.java", "javac refuses the program"),
        ("NoMain.java", "the class NoMain has no method `main`"),
        ("Missing.java", "no such file"),
        ("Bad.class", "bytes expected"),
        ("Newer.class", "class file version 80.0; known are 45 to 69"),
        ("bad.jar", "no jar: it has no zip directory"),
        ("missing.jar", "can't read"),
    ] {
        let ours = touchstone(&home).arg(scratch.path().join(file)).output().expect("it runs");
        let said = String::from_utf8_lossy(&ours.stderr).into_owned();
        assert!(said.contains(reason), "{file}: {said}");
        assert_eq!(ours.status.code(), Some(1), "{file}: {said}");
    }
}

#[test]
fn a_missing_class_endless_recursion_and_threads_end_with_a_clear_word() {
    let (home, _) = jdks().remove(0);
    let scratch = tempfile::tempdir().expect("a directory");
    let source = scratch.path().join("Ends.java");
    let text = "public class Ends { static class Gone { } static int deep(int n) { return deep(n + 1) + 1; }
        public static void main(String[] a) { System.out.println(a[0]);
            switch (a[0]) { case \"gone\": new Gone(); break; case \"deep\": deep(0); break; case \"thread\": new Thread(() -> { }).start(); break; default: } } }";
    std::fs::write(&source, text).expect("written");
    javac(&home, scratch.path(), &[source]);
    std::fs::remove_file(scratch.path().join("Ends$Gone.class")).expect("removed");
    for (word, status, said) in [
        ("gone", 1, "Exception in thread \"main\" java.lang.NoClassDefFoundError: Ends$Gone"),
        ("deep", 1, "unsupported: a call stack of more than 30000 frames"),
        ("thread", 1, "unsupported: a thread"),
        ("fine", 0, ""),
    ] {
        let ours =
            touchstone(&home).arg(scratch.path().join("Ends.class")).args(["--", word]).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&ours.stdout), format!("{word}\n"));
        assert!(complaint(&ours).contains(said), "{word}: {}", complaint(&ours));
        assert_eq!(ours.status.code(), Some(status), "{word}");
    }
}

#[test]
fn random_hierarchies_and_initialisers_behave_as_on_the_jvm() {
    let (home, _) = jdks().remove(0);
    for seed in 0..if support::long() { 100 } else { 2 } {
        let scratch = tempfile::tempdir().expect("a directory");
        let mut files = Vec::new();
        for (name, text) in class_structures::program(seed) {
            let file = scratch.path().join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
            std::fs::write(&file, text).expect("written");
            files.push(file);
        }
        javac(&home, scratch.path(), &files);
        let expected = with_input(Command::new(home.join("bin/java")).arg("-cp").arg(scratch.path()).arg("Main"), "");
        let ours = with_input(touchstone(&home).arg(scratch.path().join("Main.class")), "");
        let expected = String::from_utf8_lossy(&expected.stdout).into_owned();
        assert!(expected.lines().count() > 60, "seed {seed} prints little: {expected}");
        assert_eq!(String::from_utf8_lossy(&ours.stdout), expected, "seed {seed}: {}", complaint(&ours));
    }
}

#[test]
fn random_programs_print_what_java_prints() {
    let count = if support::long() { 300 } else { 8 };
    let jdks = jdks();
    for (index, (home, release)) in jdks.iter().enumerate() {
        let scratch = tempfile::tempdir().expect("a directory");
        // Each JDK has programs of its own.
        let first = index * count;
        let names: Vec<String> = (first..first + count).map(|seed| format!("R{seed}")).collect();
        let mut files: Vec<PathBuf> = Vec::new();
        for (name, seed) in names.iter().zip(first..) {
            files.push(scratch.path().join(format!("{name}.java")));
            std::fs::write(&files[files.len() - 1], generator::program(seed as u64, name)).expect("written");
        }
        let calls: String =
            names.iter().map(|name| format!("System.out.println(\"== {name}\"); {name}.main(a);\n")).collect();
        files.push(scratch.path().join("All.java"));
        let all = format!("public class All {{ public static void main(String[] a) {{ {calls} }} }}");
        std::fs::write(&files[files.len() - 1], all).expect("written");
        javac(home, scratch.path(), &files);
        let mut java = Command::new(home.join("bin/java"));
        let expected = with_input(java.arg("-cp").arg(scratch.path()).arg("All"), "");
        let ours = with_input(touchstone(home).arg(scratch.path().join("All.class")), "");
        let (expected, said) = (String::from_utf8_lossy(&expected.stdout).into_owned(), complaint(&ours));
        let ours = String::from_utf8_lossy(&ours.stdout).into_owned();
        assert!(expected.lines().count() > 10 * count, "they print little: {}", expected.lines().count());
        let mut program = "";
        for (wanted, got) in expected.lines().zip(ours.lines().chain(std::iter::repeat("<nothing>"))) {
            program = wanted.strip_prefix("== ").unwrap_or(program);
            assert_eq!(got, wanted, "{program} on {release}; {said}");
        }
        assert_eq!(ours, expected);
    }
}
