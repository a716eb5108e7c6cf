//! Impact analysis and semantic diff of a change: `generate --old` and `--since`.

mod existing_tests;
mod java_objects;
mod java_pairs;
mod opaque_code;
mod random_pairs;
mod state_pairs;
mod version_pairs;
mod versions;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory with two versions.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// The old version in `v1`, the new one beside it.
    fn new(name: &str, old: &str, new: &str) -> Project {
        let project = Project { folder: tempfile::tempdir().expect("a directory") };
        project.write(&format!("v1/{name}"), old);
        project.write(name, new);
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, text).expect("written");
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.args(words).args(["-o", "out"]).current_dir(self.path()).output().expect("it starts")
    }

    fn document(&self, words: &[&str]) -> Value {
        let output = self.run(&[words, &["--format", "json"]].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words:?}: {told}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    fn git(&self, words: &[&str]) {
        let own = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
        let output = Command::new("git").args(own).args(words).current_dir(self.path()).output().expect("git");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Returns the behaviour that is reported for a function.
fn behaviour(document: &Value, function: &str) -> String {
    let change = &document["change"];
    let names = change["unaffected"].as_array().expect("a list");
    if names.iter().any(|name| name == function) {
        return "unaffected".to_string();
    }
    let known = change["functions"].as_array().expect("a list").iter().find(|known| known["name"] == function);
    known.unwrap_or_else(|| panic!("{function} in {change}"))["behaviour"].as_str().expect("a word").to_string()
}

/// The texts of what is asked of a function.
fn touched<'d>(document: &'d Value, function: &str) -> Vec<&'d str> {
    let all = document["objectives"].as_array().expect("objectives").iter();
    let own = all.filter(|objective| objective["function"] == function && objective["status"] != "unaffected");
    own.filter_map(|objective| objective["text"].as_str()).collect()
}

const OLD: &str = "#include \"limits.h\"
struct point { int x, y; };
struct node { struct node *next; int value; };
int count;
static int doubled(int a) { return a * 2; }
int clamp(int x) { if (x < LOW) return LOW; if (x > HIGH) return HIGH; return x; }
int early(int a, int b) { if (a > 3) b = b + 1; if (a == 7) return a; return b; }
int calls(int a, int b) { if (a > b) return doubled(a); return b; }
void move(struct point *p, int by) { p->x += by; if (p->x > 10) p->x = 10; }
void tick(int by) { count = count + by; if (count > 100) count = 0; }
int length(const struct node *n) { int k = 0; while (n) { k++; n = n->next; } return k; }
static int last;
void keep(int x) { last = x; }
int kept(int x) { if (last == x) return 1; return 0; }
int alone(int a) { if (a > 5 && a < 9) return 1; return 0; }
";

const LIMITS: &str = "#define LOW 0\n#define HIGH 10\n";

fn c_project(new: &str) -> Project {
    let project = Project::new("a.c", OLD, new);
    project.write("v1/limits.h", LIMITS);
    project.write("limits.h", LIMITS);
    project
}

#[test]
fn a_change_touches_what_depends_on_it_and_is_run_on_both_versions() {
    let new = OLD
        .replace("b = b + 1;", "b = b + 2;")
        .replace("a * 2", "a + a")
        .replace("p->x = 10", "p->x = 9")
        .replace("count > 100", "count >= 100")
        .replace("k++; n = n->next;", "n = n->next; k = k + 1;")
        .replace("last = x;", "last = x & 7;")
        .replace("int alone", "/* moved */\n\nint alone");
    let project = c_project(&new);
    let document = project.document(&["generate", "a.c", "--old", "v1", "-c", "stmt,mcdc", "--budget", "2"]);
    for (function, expected) in [
        ("clamp", "unaffected"),
        ("alone", "unaffected"),
        ("doubled", "equivalent"),
        ("calls", "equivalent"),
        ("early", "differs"),
        ("move", "differs"),
        ("tick", "differs"),
        ("length", "equivalent"),
    ] {
        let said = behaviour(&document, function);
        // Lists of any length: whether the search ends is not what this is about.
        assert!(said == expected || (function == "length" && said == "unknown"), "{function} is {said}");
    }
    assert_eq!(touched(&document, "early"), ["b = b + 2", "return b"]);
    assert_eq!(touched(&document, "alone"), [""; 0]);
    // What another function leaves behind is something else now.
    assert!(
        touched(&document, "kept").contains(&"last == x is true and independently affects the outcome"),
        "{:?}",
        touched(&document, "kept")
    );
    assert!(touched(&document, "tick").contains(&"count >= 100 is true and independently affects the outcome"));
    // The test contains both results, and passes on the new version.
    let text = std::fs::read_to_string(project.path().join("out/test_tick.c")).expect("tests");
    assert!(text.contains("fails on v1: count: expected 0, got 100"), "{text}");
    let tests = document["tests"].as_array().expect("tests");
    assert!(tests.iter().all(|test| test["replay"] == "agreed"), "{tests:?}");
    assert!(!project.path().join("out/test_clamp.c").exists(), "nothing is asked of it");
    let text =
        String::from_utf8(project.run(&["generate", "a.c", "--old", "v1", "--budget", "2"]).stdout).expect("text");
    assert!(text.contains("change since v1") && text.contains("including all objectives of 2 functions"), "{text}");
}

#[test]
fn what_pointers_led_to_in_one_version_may_differ() {
    let old = "static void set(int *p, int k) { *p = k; }
int local(int k) { int x = 1; set(&x, k); if (x > 3) return 1; return 0; }
static int *here(void) { static int kept = 2; return &kept; }
int shared(int k) { static int own = 1; int *p = &own; if (k > 5) p = here(); *p = k; if (own > 3) return 1; return 0; }
int plain(int k) { int x = 1; if (k > 3) return x; return 0; }
";
    let new = old
        .replace("set(&x, k); if (x", "set(&k, 2); x += 0; if (x")
        .replace("int *p = &own; if (k > 5) p = here(); *p = k; if (own", "int *p = here(); *p = k; if (own");
    let project = Project::new("p.c", old, &new);
    let document = project.document(&["generate", "p.c", "--old", "v1", "--no-replay"]);
    for (function, condition) in [
        ("local", "x > 3 is true and independently affects the outcome"),
        ("shared", "own > 3 is true and independently affects the outcome"),
    ] {
        assert!(touched(&document, function).contains(&condition), "{function}: {:?}", touched(&document, function));
    }
    assert_eq!(behaviour(&document, "plain"), "unaffected");
}

/// A structure with a large table, a hidden type and a check at the beginning, as libraries have them.
const STREAM: &str = "struct hidden; struct stream { struct hidden *state; unsigned n; const unsigned char *in; };
struct state { struct stream *back; int mode; unsigned long hold; unsigned bits; short table[400]; };
int sync(struct stream *s) {
    if (s == 0 || s->state == 0) return -2;
    struct state *st = (struct state *)s->state;
    if (st->back != s || st->mode < 3) return -2;
    if (st->mode != 9) { st->mode = 9; st->hold SHIFT (st->bits & 7); st->bits -= st->bits & 7; if (st->bits > 8) return 1; }
    return 0;
}
";

#[test]
fn what_structures_with_pointers_hold_tells_versions_apart() {
    let project = Project::new("sync.c", &STREAM.replace("SHIFT", "<<="), &STREAM.replace("SHIFT", ">>="));
    let document = project.document(&["generate", "sync.c", "--old", "v1", "-c", "mcdc", "--timeout", "20"]);
    assert_eq!(behaviour(&document, "sync"), "differs");
    let tests = document["tests"].as_array().expect("tests");
    let differ: Vec<&Value> = tests.iter().filter(|test| test["older"].is_string()).collect();
    assert!(!differ.is_empty() && differ.iter().all(|test| test["replay"] == "agreed"), "{document}");
    assert!(differ.iter().any(|test| test["older"].as_str().is_some_and(|why| why.contains("hold"))), "{differ:?}");
    // A purely syntactic change is not reported.
    let project = Project::new("sync.c", &STREAM.replace("SHIFT", ">>="), &STREAM.replace("SHIFT", ">>= 0 +"));
    let document = project.document(&["generate", "sync.c", "--old", "v1", "-c", "mcdc", "--timeout", "2"]);
    assert_ne!(behaviour(&document, "sync"), "differs");
}

#[test]
fn a_revision_of_git_is_an_older_version_and_its_headers_count() {
    let project = c_project(OLD);
    project.git(&["init", "-q"]);
    project.git(&["add", "a.c", "limits.h"]);
    project.git(&["commit", "-qm", "one"]);
    project.write("limits.h", &LIMITS.replace("10", "11"));
    let document = project.document(&["generate", "a.c", "--since", "main", "--html", "site"]);
    assert_eq!(document["change"]["since"], "main");
    assert_eq!(behaviour(&document, "clamp"), "differs");
    assert_eq!(behaviour(&document, "early"), "unaffected");
    let page = std::fs::read_to_string(project.path().join("site/index.html")).expect("a page");
    assert!(page.contains("Since main") && page.contains("fails on main: result: expected 11, got 10"), "{page}");
    // What git knows is as it was.
    let status =
        Command::new("git").args(["status", "--short", "a.c", "limits.h"]).current_dir(project.path()).output();
    assert_eq!(String::from_utf8_lossy(&status.expect("git").stdout).trim(), "M limits.h");
    // Nothing changed since.
    project.git(&["commit", "-qam", "two"]);
    let document = project.document(&["prove", "a.c", "--since", "HEAD"]);
    assert_eq!(document["change"]["functions"], serde_json::json!([]));
}

#[test]
fn an_older_version_that_is_not_there_is_an_error_that_says_so() {
    let project = c_project(OLD);
    project.write("empty/b.c", "int f(void) { return 1; }\n");
    project.write("broken/a.c", "int f( { return 1; }\n");
    let refused = |words: &[&str]| {
        let output = project.run(words);
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&["generate", "a.c", "--old", "nowhere"]).contains("--old nowhere: no directory is there"));
    assert!(refused(&["generate", "a.c", "--old", "empty"]).contains("empty has no a.c"));
    let told = refused(&["generate", "a.c", "--old", "broken"]);
    assert!(told.contains("the older version, broken, can't be read") && told.contains("broken/a.c:1"), "{told}");
    project.git(&["init", "-q"]);
    assert!(refused(&["generate", "a.c", "--since", "nobody"]).contains("`nobody` is no revision"));
    assert!(refused(&["generate", "a.c", "--since=--help"]).contains("not a revision"));
}

#[test]
fn data_that_is_laid_out_otherwise_has_no_inputs_in_common() {
    let new = OLD.replace("int x, y;", "int y, x;").replace("int early(int a, int b)", "int early(int a, long b)");
    let document = c_project(&new).document(&["generate", "a.c", "--old", "v1", "--no-replay"]);
    let why = |function: &str| {
        let known = document["change"]["functions"].as_array().expect("a list").iter();
        let known: Vec<&Value> = known.filter(|known| known["name"] == function).collect();
        known[0]["why"].as_str().unwrap_or_default().to_string()
    };
    assert!(why("move").contains("no inputs in common") && why("early").contains("no inputs in common"));
    assert_eq!(behaviour(&document, "tick"), "unaffected");
    assert_eq!(touched(&document, "early").len(), 4);
}

const BANK: &str = "package bank;
public class Account {
    private int balance;
    static int fee(int amount) { return amount > 1000 ? 5 : 1; }
    static int charged(int amount, boolean member) { if (member && amount < 50) return 0; return fee(amount); }
    static int checked(int amount) { if (amount < 0) throw new IllegalArgumentException(); return amount; }
    static int other(int a, int b) { if (a > b && b != 3) return 1; return 0; }
    void pay(int amount) { if (amount > 0) balance += amount; }
    int balance() { return balance; }
}
";

#[test]
fn a_change_of_java_is_told_by_tests_that_fail_on_the_older_classes() {
    let new = BANK
        .replace("amount > 1000", "amount >= 1000")
        .replace("amount < 0", "amount <= 0")
        .replace("package bank;", "package bank;\n// reformatted");
    let project = Project::new("bank/Account.java", BANK, &new);
    let document = project.document(&["generate", "bank/Account.java", "--old", "v1"]);
    for (function, expected) in [
        ("bank.Account.fee", "differs"),
        ("bank.Account.charged", "differs"),
        ("bank.Account.checked", "differs"),
        ("bank.Account.other", "unaffected"),
        ("bank.Account#balance", "unaffected"),
    ] {
        assert_eq!(behaviour(&document, function), expected, "{function}");
    }
    // Of what calls the leaf, only what depends on its result: no condition does.
    assert_eq!(touched(&document, "bank.Account.charged"), [""; 0]);
    let tests: Vec<PathBuf> =
        std::fs::read_dir(project.path().join("out/bank")).expect("tests").flatten().map(|it| it.path()).collect();
    let text: String = tests.iter().map(|file| std::fs::read_to_string(file).expect("a test")).collect();
    assert!(text.contains("// fails on v1: ") && text.contains("assertEquals(5, Account.fee(1000)"), "{text}");
    assert!(document["tests"].as_array().expect("tests").iter().all(|test| test["replay"] == "agreed"));
}

const SHELF: &str = "public class Shelf {
    private int size;
    private int[] cells = new int[2];
    void most(int x) { if (x > size) { size = x; } }
    void clear() { cells = new int[2]; size = 0; }
    int size() { return size; }
    static void set(int[] a, int x) { if (a.length > 1) { a[1] = x; } }
    static int[] pair(int a, int b) { int[] made = new int[2]; made[0] = a; made[1] = b; return made; }
    static int[] both(int a, int b) { int[] made = new int[2]; made[0] = a; made[1] = b; return made; }
    static int[] given(int[] a) { if (a.length == 2) { int[] made = {a[0], a[1]}; return made; } return a; }
    static String word(int a) { return a > 3 ? \"big\" : \"small\"; }
}
";

#[test]
fn what_objects_and_arrays_of_java_hold_is_compared() {
    let new = SHELF
        .replace("if (x > size) { size = x; }", "size = x > size ? x : size;")
        .replace("cells = new int[2]; size = 0;", "size = 0; cells = new int[2];")
        .replace("{ a[1] = x; }", "{ a[1] = x == 77 ? 78 : x; }")
        .replacen("made[0] = a; made[1] = b;", "made[1] = b; made[0] = a;", 1)
        .replace(
            "{ int[] made = new int[2]; made[0] = a; made[1] = b; return made; }",
            "{ int[] made = {a, a == 9 ? 9 : b}; return made; }",
        )
        .replace("return made; } return a; }", "return a; } return a; }")
        .replace("a > 3 ?", "a >= 4 ?");
    let project = Project::new("Shelf.java", SHELF, &new);
    let document = project.document(&["generate", "Shelf.java", "--old", "v1"]);
    for (function, expected) in [
        ("Shelf#most", "equivalent"),
        ("Shelf#clear", "equivalent"),
        ("Shelf.set", "differs"),
        ("Shelf.pair", "equivalent"),
        ("Shelf.both", "differs"),
        // The same contents, and another array.
        ("Shelf.given", "differs"),
        ("Shelf.word", "equivalent"),
    ] {
        assert_eq!(behaviour(&document, function), expected, "{function}: {}", document["change"]);
    }
    assert!(document["tests"].as_array().expect("tests").iter().all(|test| test["replay"] == "agreed"));
}
