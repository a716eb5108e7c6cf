//! Every conditional jump of javac is a condition of the source, or has a reason for which it is none.
//!
//! By default one source with every construct is compiled; `TOUCHSTONE_SOURCES=DIR` selects the sources in a directory
//! instead, and `TOUCHSTONE_MODULE=NAME` the module of the JDK that they belong to.

use std::path::{Path, PathBuf};
use touchstone_front_java::classfile::ClassFile;
use touchstone_front_java::{CompileOptions, Jdk, JumpCounts};

/// Constructs for which javac emits jumps.
const SOURCE: &str = "
import java.io.*;
import java.util.*;
@Deprecated
public final class Jumps {
    static int[] numbers() { return new int[2]; }
    static Runnable kept(int n) { return (Runnable & Serializable) () -> { if (n > 2) numbers(); }; }
    static int chosen(boolean flag, int[] a, Map<String, String> m) {
        int n = 0;
        for (int x : numbers()) n += x;
        for (int x : flag ? a : numbers()) n -= x;
        for (Map.Entry<String, String> e : m.entrySet()) n += e.hashCode();
        return n;
    }
    static Reader opened(String s) { return s == null ? null : new StringReader(s); }
    static int closed(String s) throws IOException {
        try (Reader r = opened(s); Reader q = opened(s)) { return r == q ? 1 : 2; } finally { numbers(); }
    }
    enum Colour { RED, GREEN }
    static int all(int[] a, List<String> l, String s, Colour c, Object o, boolean b) throws IOException {
        int n = 0;
        for (int x : a) n += x;
        for (String t : l) if (t.isEmpty() || b && !t.equals(s)) n++;
        assert n > 0 && b : s;
        switch (s) { case \"a\": n++; break; case \"b\": n--; break; default: }
        switch (c) { case RED: n = 2; break; default: n = 3; }
        try (Reader r = new StringReader(s)) { n = r.read(); } finally { if (b) n++; }
        boolean less = n < 3;
        boolean is = o instanceof String t && t.length() > 2;
        while (n < 100) { if (n == 50) break; n *= 2; }
        Runnable later = () -> { if (b) System.exit(1); };
        later.run();
        return less == is ? n > 4 ? 1 : 2 : b ^ less ? 3 : 4;
    }
}
";

fn counted(jdk: &Jdk, sources: &[PathBuf], how: &CompileOptions<'_>, to: &Path) -> JumpCounts {
    let compiled = jdk.compile(sources, &[], how, to).expect("javac takes the sources");
    let mut jumps = JumpCounts::default();
    // Classes that the compiler found on the source path are not counted.
    let is_given = |class: &String| {
        let outermost = format!("{}.java", class.split('$').next().unwrap_or(class));
        sources.iter().any(|source| source.ends_with(&outermost))
    };
    for class in compiled.classes.iter().filter(|class| is_given(class)) {
        let bytes = std::fs::read(to.join(format!("{class}.class"))).expect("a class");
        compiled.marks.count(&ClassFile::read(&bytes).expect("a class file"), &mut jumps);
    }
    jumps
}

#[test]
fn every_jump_of_a_source_is_a_condition_or_has_a_reason() {
    let scratch = tempfile::tempdir().expect("a directory");
    let jdk = Jdk::find().expect("a JDK");
    let file = scratch.path().join("Jumps.java");
    std::fs::write(&file, SOURCE).expect("a source");
    let mut sources = vec![file];
    let mut how = CompileOptions::default();
    let (given, module) = (std::env::var("TOUCHSTONE_SOURCES").ok(), std::env::var("TOUCHSTONE_MODULE").ok());
    if let Some(given) = &given {
        sources.clear();
        collect(Path::new(given), &mut sources);
        how.module = module.as_deref().map(|module| (module, Path::new(given)));
    }
    let jumps = counted(&jdk, &sources, &how, &scratch.path().join("classes"));
    println!("{jumps:?}");
    assert!(jumps.unexplained.is_empty(), "{jumps:#?}");
    if given.is_some() {
        return;
    }
    assert_eq!(jumps.others.get("enhanced for"), Some(&5), "{jumps:#?}");
    let reasons: Vec<&str> = jumps.others.keys().map(String::as_str).collect();
    assert!(
        ["assert", "deserialised lambda", "switch", "try with resources"].iter().all(|reason| reasons.contains(reason)),
        "{jumps:#?}"
    );
    assert!(jumps.conditions >= 12, "{jumps:#?}");
}

fn collect(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        match entry.path() {
            path if path.is_dir() => collect(&path, found),
            path if path.extension().is_some_and(|extension| extension == "java") => found.push(path),
            _ => {}
        }
    }
}
