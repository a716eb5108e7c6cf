//! External functions: emitted tests of every form define the results of their calls and check their arguments. A
//! program that passes other arguments fails these tests, in every form.

use crate::support::forms::{FORMS, ends};
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "typedef double (*scale)(double, float, const int *, unsigned char, _Bool);
struct pair { int a, b; };
struct ops { scale s; void (*done)(struct ops *self, long n); };
int measure(int channel, unsigned long mask);
void store(struct pair by_value, int n);
int known;
int f(struct ops *o, int *x, int n) {
    if (n > 5 && measure(n + (SHIFT & 1), ~0ul) > 3) { store((struct pair){1, 2}, n); return 3; }
    if (!o || !o->s || !x) return 0;
    double r = o->s(0.25, 0.5f, x, 200, 1);
    if (o->done) o->done(o, -3 + (SHIFT & 2));
    if (r > 2.0) { o->s(r, 1.5f, (SHIFT & 4) ? x : &known, 7, 0); return 1; }
    return 2;
}
";

/// Side effects of external functions: numbers, structures with pointers, bytes, globals, returned objects.
const LEAVING: &str = "struct node { int n; struct node *next; };
struct node *find(int key);
int fetch(struct node *to, short *code);
int get(struct node **out);
void receive(int from, char *to, unsigned long size);
int mode;
int f(int k) {
    struct node here = {1 + SHIFT, 0};
    short code;
    char text[4] = \"\";
    struct node *other = 0;
    if (fetch(&here, &code) && code == -7 && here.n == 12 && here.next && here.next->n == k) return 1;
    if (get(&other) == 3 && other && other->n == 9) return 2;
    receive(k, text, sizeof text);
    if (text[0] == 'o' && text[1] == 'k') return 3;
    if (mode) return 4;
    struct node *found = find(k);
    if (mode == 5 && found && found->next == found) return 5;
    return 0;
}
";

/// Writes the program, generates suites of all forms, and gives the folder.
fn generate(scratch: &Path, program: &str) -> PathBuf {
    let (file, out) = (scratch.join("program.c"), scratch.join("out"));
    std::fs::write(&file, format!("#ifndef SHIFT\n#define SHIFT 0\n#endif\n{program}")).expect("a writable directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.arg("generate").arg(&file).args(["-c", "branch", "-f", "f"]);
    let output =
        command.args(["--emit", "c,json,unity,cmocka,gtest", "-o"]).arg(&out).output().expect("touchstone runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}");
    assert!(shown.contains(" agreed") && !shown.contains("disagreed"), "{shown}");
    out
}

#[test]
fn tests_of_every_form_check_what_stubs_were_called_with() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let out = generate(scratch.path(), PROGRAM);
    let text = std::fs::read_to_string(out.join("test_f.c")).expect("a readable suite");
    for line in [
        "STUB(measure, int, (int a1, unsigned long a2), a1, a2)",
        "STUB_OF_NOTHING(store, (void))",
        "CALLED(measure, ",
        ", 18446744073709551615",
        "CALLED(store);",
        "CALLED(touchstone_callback_1, REAL(0.25), REAL(0.5f), ADDRESS(&x), 200, 1);",
        "REAL(1.5f), ADDRESS(&known), 7, 0);",
        "CALLED(touchstone_callback_2, ADDRESS(&o), -3);",
        "NO_MORE_CALLS();",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let json = std::fs::read_to_string(out.join("tests_f.jsonl")).expect("readable lines");
    assert!(
        json.contains(r#"{"function":"touchstone_callback_2","arguments":[{"object":"o","offset":0},-3]}"#),
        "{json}"
    );
    for form in FORMS {
        let right = ends(&out, form, "f", "SHIFT=0");
        assert!(!right.contains("failed") && !right.contains("not ok") && !right.contains("skip"), "{form}:\n{right}");
        assert!(right.lines().filter(|line| line.starts_with("ok")).count() >= 4, "{form}:\n{right}");
        for (shift, what) in [
            (1, "argument 1 of measure: expected "),
            (2, "argument 2 of touchstone_callback_2: expected -3, got -1"),
            (4, "argument 3 of touchstone_callback_1: expected "),
        ] {
            let wrong = ends(&out, form, "f", &format!("SHIFT={shift}"));
            assert!(wrong.contains(what), "{what} is not in what {form} says:\n{wrong}");
        }
    }
}

#[test]
fn tests_of_every_form_leave_what_stubs_are_said_to_leave() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let out = generate(scratch.path(), LEAVING);
    let text = std::fs::read_to_string(out.join("test_f.c")).expect("a readable suite");
    for line in [
        "WRITES(struct node, fetch, to, {12, &fetch_to_next});",
        "WRITES(short, fetch, code, -7);",
        "WRITES(struct node *, get, out, &get_out);",
        "WRITES(char[4], receive, to, \"ok\");",
        "CHANGES(find, mode, 5);",
        "RETURNS(struct node *, find, &find_result);",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    for form in FORMS {
        let right = ends(&out, form, "f", "SHIFT=0");
        assert!(!right.contains("failed") && !right.contains("not ok") && !right.contains("skip"), "{form}:\n{right}");
        assert!(right.lines().filter(|line| line.starts_with("ok")).count() >= 6, "{form}:\n{right}");
    }
}

/// Functions that the test runner itself calls, or that the sandbox intercepts: in the tests of one file they belong to
/// the program alone.
const DESCRIPTORS: &str =
    "#include <errno.h>\n#include <fcntl.h>\n#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>
int f(const char *name) {
    sigset_t all;
    char text[4];
    if (sigfillset(&all) != 0) return -3;
    int file = open(name, O_RDONLY);
    if (file < 0) return errno == ENOENT ? -1 : -2;
    long size = read(file, text, sizeof text);
    if (close(file) != 0 && errno == EIO) return 3;
    if (size == 4 && text[0] == 'o' && text[3] == 'k') return unlink(name) == -1 && errno == EACCES ? 1 : 2;
    return SHIFT;
}
";

#[test]
fn what_the_runner_needs_itself_has_stubs_too() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let out = generate(scratch.path(), DESCRIPTORS);
    let text = std::fs::read_to_string(out.join("test_f.c")).expect("a readable suite");
    for line in [
        "#pragma redefine_extname read touchstone_stub_of_read",
        "SETS_ERRNO(close, 5); /* EIO */",
        "SETS_ERRNO(unlink, 13); /* EACCES */",
        "RETURNS(int, open, -1);",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    for form in FORMS {
        let right = ends(&out, form, "f", "SHIFT=0");
        assert!(!right.contains("failed") && !right.contains("not ok") && !right.contains("skip"), "{form}:\n{right}");
        assert!(right.lines().filter(|line| line.starts_with("ok")).count() >= 7, "{form}:\n{right}");
    }
    // In several files they would be shared, so they are reported there.
    std::fs::write(scratch.path().join("other.c"), "int other(void) { return 1; }\n").expect("a writable directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(scratch.path()).args(["generate", "program.c", "other.c", "-c", "branch", "-f", "f"]);
    let shown = command.output().expect("touchstone runs").stdout;
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("unsupported: external function open"), "{shown}");
}

/// Another library may call in another order, or from elsewhere: nothing is said of those calls.
#[test]
fn calls_that_the_library_makes_are_not_compared() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("sorts.c");
    let text = "#include <stdlib.h>\nint f(int *a, int (*compare)(const void *, const void *)) {
        if (!a || !compare) return 0; qsort(a, 2, sizeof *a, compare); return a[0] == 3; }\n";
    std::fs::write(&file, text).expect("a writable directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.arg("generate").arg(&file).args(["-c", "branch", "-f", "f", "--len", "a=2", "-o"]);
    let output = command.arg(scratch.path().join("out")).output().expect("touchstone runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && shown.contains("replay: 2 agreed"), "{shown}");
    let written = std::fs::read_to_string(scratch.path().join("out/test_f.c")).expect("a readable suite");
    assert!(!written.contains("CALLED(") && written.contains("RETURNS(int, touchstone_callback_1, "), "{written}");
}
