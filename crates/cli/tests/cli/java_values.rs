//! Java: `measure` asks for values where criteria do: exceptions that the language throws, labels, and domains of parameters. The program
//! does what it always did, to the message of each exception.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

const VALUES: &str = r#"import touchstone.Label;
public class Values {
    int f; Values next; long w;
    Values(int a) { this.f = 10 / a; }
    Values() { this(3); }
    class In { int g; In(int k) { g = k / f; } }
    int get(int a, char c, long l, double d, float g, boolean b, String s, byte y) {
        Label.label(1, a > 3); Label.label("b", b); Label.label(3, a == 77);
        return f + s.length() + 10 / a + next.f;
    }
    static int cast(int a, Object o, int[] x) { int[] n = new int[a]; String s = (String) o; return x[a] + n.length + s.length(); }
    static void store(Object[] z, Object o, int i) { z[i] = o; }
    static long div(long a, long b) { return a / b + a % (b + 1); }
    static int multi(int a, int b) { return new int[a][b].length; }
    static void wide(Values v, long x) { v.w = x; v.many(1, 2L, "a", 3.0, new int[0]); }
    void many(int a, long b, String c, double d, int[] e) { e[a] = 1; }
    static void longs(long[] a, int i, double[] d) { a[i] = 5; d[i] = 2.0; }
    static int caught(String s) { try { return s.length(); } catch (NullPointerException e) { return 0; } }
    static void sync(Object o) { synchronized (o) { throw (RuntimeException) o; } }
    static void run(Runnable r) { try { r.run(); } catch (RuntimeException e) { System.out.println(e); } }
    public static void main(String[] args) {
        Values v = new Values();
        run(() -> new Values(0));
        run(() -> v.get(4, '\uffff', Long.MIN_VALUE, Double.NaN, -1f, true, null, Byte.MIN_VALUE));
        run(() -> v.get(0, '\0', Long.MAX_VALUE, 0.0, Float.NaN, false, "", Byte.MAX_VALUE));
        run(() -> v.get(Integer.MAX_VALUE, 'a', 0, 5.0, 0f, false, "", (byte) 0));
        run(() -> cast(-1, "a", null)); run(() -> cast(1, 1, null)); run(() -> cast(0, null, new int[0]));
        run(() -> store(null, 1, 0)); run(() -> store(new Integer[1], "s", 0)); run(() -> store(new String[1], "s", 0));
        run(() -> div(1, 0)); run(() -> div(1, -1)); run(() -> multi(0, -1));
        run(() -> wide(v, 1)); run(() -> wide(null, 1));
        run(() -> longs(new long[1], -1, null)); run(() -> longs(new long[1], 0, null)); run(() -> longs(new long[2], 1, new double[1]));
        run(() -> caught(null)); run(() -> sync(null)); run(() -> sync("x"));
        run(() -> v.new In(0)); v.f = 0; run(() -> v.new In(0));
    }
}
"#;

fn touchstone(within: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(words).current_dir(within).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// By id: what an objective asks, and whether it is covered.
fn objectives(report: &[u8]) -> BTreeMap<String, (String, bool)> {
    let report: Value = serde_json::from_slice(report).expect("JSON");
    let word = |one: &Value, name: &str| one[name].as_str().unwrap_or_default().to_string();
    let list = report["objectives"].as_array().expect("objectives").iter();
    list.map(|one| {
        let what = format!("{} {}", word(one, "function"), word(one, "text"));
        (word(one, "id"), (what, one["status"] == "covered"))
    })
    .collect()
}

#[test]
fn exceptions_labels_and_domains_are_measured_and_the_program_throws_what_it_always_did() {
    let scratch = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(scratch.path().join("src")).expect("writable");
    std::fs::write(scratch.path().join("src/Values.java"), VALUES).expect("writable");
    let label = Path::new(env!("CARGO_MANIFEST_DIR")).join("../front-java/helper/label/touchstone/Label.java");
    let run = |mut program: Command, words: &[&str]| {
        program.args(words).current_dir(scratch.path()).output().expect("it runs")
    };
    let compiled = run(crate::support::javac(), &["-g", "-d", "classes", "src/Values.java", &label.to_string_lossy()]);
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    let plain = run(Command::new("java"), &["-cp", "classes", "Values"]);
    let criteria = ["-c", "rte,idc,labels"];
    let command = ["-q", "--", "java", "-Xverify:all", "-cp", "classes", "Values"];
    let measured = touchstone(scratch.path(), &[&["measure"][..], &criteria, &command].concat());
    assert_eq!(measured.status.code(), Some(0), "{}", text(&measured.stderr));
    assert!(text(&measured.stdout).starts_with(&text(&plain.stdout)), "{}", text(&measured.stdout));
    let report = objectives(&touchstone(scratch.path(), &["report", "--format", "json"]).stdout);
    let listed =
        touchstone(scratch.path(), &[&["objectives", "--format", "json", "src/Values.java"][..], &criteria].concat());
    assert_eq!(
        report.keys().collect::<BTreeSet<_>>(),
        objectives(&listed.stdout).keys().collect::<BTreeSet<_>>(),
        "{}",
        text(&listed.stderr)
    );
    let all: BTreeMap<&str, bool> = report.values().map(|(what, covered)| (what.as_str(), *covered)).collect();
    for what in [
        "Values.Values(int) ArithmeticException: / by zero",
        "Values.In.In ArithmeticException: / by zero",
        r#"Values.get NullPointerException: Cannot invoke "String.length()" because "s" is null"#,
        r#"Values.get NullPointerException: Cannot read field "f" because "this.next" is null"#,
        "Values.get 1: a > 3",
        "Values.get b: b",
        "Values.get a is greatest",
        "Values.get c == 0",
        "Values.get c is greatest",
        "Values.get l is least",
        "Values.get d is no number",
        "Values.get g is no number",
        "Values.get g < 0",
        "Values.get b == 1",
        "Values.get s == null",
        "Values.get y is least",
        "Values.get y is greatest",
        "Values.cast NegativeArraySizeException",
        "Values.cast ClassCastException: to java.lang.String",
        "Values.cast ArrayIndexOutOfBoundsException: x[a]",
        r#"Values.store NullPointerException: Cannot store to object array because "z" is null"#,
        "Values.store ArrayStoreException: z[i]",
        "Values.multi NegativeArraySizeException",
        r#"Values.wide NullPointerException: Cannot assign field "w" because "v" is null"#,
        "Values.many ArrayIndexOutOfBoundsException: e[a]",
        "Values.longs ArrayIndexOutOfBoundsException: a[i]",
        r#"Values.longs NullPointerException: Cannot store to double array because "d" is null"#,
        r#"Values.sync NullPointerException: Cannot enter synchronized block because "o" is null"#,
        "Values.sync ClassCastException: to java.lang.RuntimeException",
    ] {
        assert_eq!(all.get(what), Some(&true), "{what}: {all:#?}");
    }
    for what in [
        "Values.get 3: a == 77",
        "Values.get a is least",
        "Values.get d < 0",
        "Values.store ArrayIndexOutOfBoundsException: z[i]",
        r#"Values.longs NullPointerException: Cannot store to long array because "a" is null"#,
        r#"Values.many NullPointerException: Cannot store to int array because "e" is null"#,
        "Values.many a is greatest",
    ] {
        assert_eq!(all.get(what), Some(&false), "{what}: {all:#?}");
    }
    // What is caught leaves no method.
    assert!(!all.keys().any(|what| what.starts_with("Values.caught Null")), "{all:#?}");

    let words = ["instrument", "classes", "-o", "probed", "--measurement", "found"];
    let made = touchstone(scratch.path(), &[&words[..], &criteria].concat());
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let offline = run(Command::new("java"), &["-Xverify:all", "-cp", "probed", "Values"]);
    assert_eq!(text(&offline.stdout), text(&plain.stdout), "{}", text(&offline.stderr));
    touchstone(scratch.path(), &["merge", "found", "-o", "merged", "-q"]);
    let merged = objectives(&touchstone(scratch.path(), &["report", "merged", "--format", "json"]).stdout);
    assert_eq!(merged, report);
}
