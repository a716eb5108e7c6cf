//! Java: synthetic code has no objectives in any command; class initialisers are measured like other code.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

const FILES: [(&str, &str); 3] = [
    (
        "src/main/java/shop/Shop.java",
        r#"package shop;
public class Shop {
    @interface Generated { }
    @java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME)
    @interface ByToolGenerated { String value(); Deep[] more() default { }; }
    @interface Deep { int[] numbers(); Class<?> type(); Thread.State state(); }
    @interface Handmade { }
    static final int[] SIZES = {1, 2, 3};
    static int limit;
    static { if (SIZES.length > 2) { limit = 4; } else { limit = 5; } }
    enum Color { RED, GREEN; boolean red() { return this == RED; } }
    record Point(int x, int y) { int sum() { return x + y; } }
    @Generated boolean made(int a) { return a > 1; }
    @Generated boolean madeWithLambdas(int a) { java.util.function.IntPredicate p = b -> b > 5 || java.util.stream.IntStream.of(b).anyMatch(c -> c > 6); return p.test(a); }
    @ByToolGenerated(value = "x", more = @Deep(numbers = {1, 2}, type = Shop.class, state = Thread.State.NEW))
    int alsoMade(int a) { if (a > 2) return 1; return 2; }
    @Handmade int written(int a) { if (a > 3) return 1; return 2; }
    @Generated static class Whole { int all(int a) { return a > 4 ? 1 : 2; } }
    interface Named<T> { T name(); }
    static class Thing implements Named<String> { public String name() { return "thing"; } }
    public static void main(String[] args) {
        Named<?> thing = new Thing();
        System.out.println(limit + " " + new Point(1, 2).sum() + new Point(1, 2) + Color.valueOf("RED").red() + thing.name());
        new Shop().made(1); new Shop().alsoMade(1); new Shop().written(1); new Whole().all(1); shop.Built.run(3);
    }
}
"#,
    ),
    (
        "target/generated-sources/annotations/shop/Built.java",
        "package shop; public class Built { public static int run(int a) { return a > 1 ? 1 : 2; } }\n",
    ),
    ("readme.txt", "nothing\n"),
];

fn touchstone(within: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(words).current_dir(within).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn synthetic_code_is_left_out_and_initialisers_of_classes_are_measured() {
    let scratch = tempfile::tempdir().expect("a directory");
    for (name, text) in FILES {
        let path = scratch.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        std::fs::write(path, text).expect("writable");
    }
    let javac = crate::support::javac()
        .args(["-g", "-d", "target/classes", FILES[0].0, FILES[1].0])
        .current_dir(scratch.path())
        .output()
        .expect("javac runs");
    assert!(javac.status.success(), "{}", text(&javac.stderr));
    let criteria = ["-c", "stmt,branch,rte,idc"];
    let run = ["-q", "--", "java", "-Xverify:all", "-cp", "target/classes", "shop.Shop"];
    let measured = touchstone(scratch.path(), &[&["measure"][..], &criteria, &run].concat());
    assert_eq!(measured.status.code(), Some(0), "{}", text(&measured.stderr));
    let report = touchstone(scratch.path(), &["report", "--format", "json"]);
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let words = ["objectives", "--format", "json", FILES[0].0, "--class-path", "target/classes"];
    let listed = touchstone(scratch.path(), &[&words[..], &criteria].concat());
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap_or_else(|_| panic!("{}", text(&listed.stderr)));
    let all = |of: &Value, key: &str| -> BTreeSet<String> {
        let list = of["objectives"].as_array().expect("objectives").iter();
        list.map(|one| one[key].as_str().unwrap_or_default().to_string()).collect()
    };
    let functions = all(&report, "function");
    let wanted = [
        "shop.Shop.Color.Color",
        "shop.Shop.Color.red",
        "shop.Shop.Color.static",
        "shop.Shop.Point.Point",
        "shop.Shop.Point.sum",
        "shop.Shop.Thing.name",
        "shop.Shop.main",
        "shop.Shop.static",
        "shop.Shop.written",
    ];
    assert_eq!(functions.iter().map(String::as_str).collect::<Vec<_>>(), wanted);
    let loaded = |id: &String| !id.contains("Whole");
    assert_eq!(all(&report, "id"), all(&listed, "id").into_iter().filter(loaded).collect());
    let status = |wanted: &str| {
        let list = report["objectives"].as_array().into_iter().flatten();
        let found = list.into_iter().find(|one| one["function"] == "shop.Shop.static" && one["text"] == wanted);
        found.map(|one| one["status"].as_str().unwrap_or_default().to_string())
    };
    assert_eq!(status("SIZES.length > 2 is true").as_deref(), Some("covered"));
    assert_eq!(status("SIZES.length > 2 is false").as_deref(), Some("uncovered"));
    assert_eq!(status("limit = 4;").as_deref(), Some("covered"));
    touchstone(scratch.path(), &["report", "-q", "--jacoco", "jacoco.xml"]);
    let jacoco = std::fs::read_to_string(scratch.path().join("jacoco.xml")).expect("JaCoCo's XML");
    assert!(jacoco.contains("<method name=\"&lt;clinit&gt;\" desc=\"()V\""), "{jacoco}");
    let words = ["generate", FILES[0].0, "--class-path", "target/classes", "-f", "Shop.static"];
    let refused = touchstone(scratch.path(), &words);
    assert!(text(&refused.stderr).contains("the JVM calls it once"), "{}", text(&refused.stderr));
}
