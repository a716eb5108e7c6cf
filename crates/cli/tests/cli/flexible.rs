//! Structures that end in an array without length: as inputs they have as many elements as `--len` says, a path that needs
//! more meets that bound, and tests of every form build them.

use crate::support::forms::{FORMS, ends};
use crate::support::verdicts::{check, check_unknown};
use std::process::Command;

const TYPES: &str = "#include <stddef.h>
struct message { int n; unsigned char data[]; };
struct zero { long n; char kind; short data[0]; };
struct old { int n; int data[1]; };
struct node { struct node *next; int n; int data[]; };
struct table { int n; struct { int key; const char *name; } rows[]; };
";

fn f(params: &str, body: &str) -> String {
    format!("{TYPES}int f({params}) {{ {body} return 0; }}\n")
}

#[test]
fn the_elements_are_inputs() {
    let sum = "int s = 0; if (!m || m->n < 0 || m->n > 3) return 9; for (int i = 0; i < m->n; i++) s += m->data[i];
        if (s == 600) return 1;";
    check(&f("const struct message *m", sum), &["--len", "m.data=3"], [6, 0, 0]);
    check(&f("const struct zero *m", sum), &["--len", "m.data=3"], [6, 0, 0]);
    check(&f("const struct old *m", sum), &["--len", "m.data=3"], [6, 0, 0]);
    // One, if nothing is said.
    check(&f("struct message *m", "if (m && m->data[0] == 7) { m->data[0] = 8; return 1; }"), &[], [2, 0, 0]);
    check(&f("struct old *m", "if (m && m->data[0] == 7) { m->data[0]++; return 1; }"), &[], [2, 0, 0]);
}

#[test]
fn what_needs_more_elements_meets_the_bound() {
    let beyond = "if (m && m->n > 2 && m->data[2] == 5) return 1;";
    check_unknown(&f("struct message *m", beyond), &["--grow", "1"], [1, 0, 1], "--len");
    check_unknown(&f("struct message *m", beyond), &["--len", "m.data=2"], [1, 0, 1], "--len");
    check_unknown(&f("struct old *m", beyond), &["--grow", "1"], [1, 0, 1], "--len");
    // The array grows while something is open.
    check(&f("struct message *m", beyond), &[], [2, 0, 0]);
    check(&f("struct old *m", beyond), &[], [2, 0, 0]);
    check(&f("struct message *m", beyond), &["--len", "m.data=3"], [2, 0, 0]);
    check_unknown(
        &f("struct message *m, unsigned i", "if (m && m->data[i] == 5 && i > 4) return 1;"),
        &["--grow", "1"],
        [1, 0, 1],
        "--len",
    );
}

#[test]
fn what_the_structure_is_padded_with_belongs_to_the_array() {
    let text = "struct padded { int n; short data[1]; };\nint f(struct padded *m) { if (m && m->data[1] == 5) return 1; return 0; }";
    check(text, &[], [2, 0, 0]);
    check(&f("struct zero *m", "if (m && m->data[2] == 5) return 1;"), &[], [2, 0, 0]);
}

#[test]
fn they_are_reached_through_linked_structures() {
    let text = f(
        "struct node *m",
        "if (m && m->next && m->next->data[1] == 5 && m->data[1] == 3) { m->data[0] = 1; return 1; }",
    );
    check(&text, &["--len", "m.data=2"], [2, 0, 0]);
    check_unknown(&text, &["--len", "m.data=2", "--len", "m.next.data=1"], [1, 0, 1], "--len");
    let text = f("struct node **m", "if (m && *m && (*m)->data[1] == 5) return 1;");
    check_unknown(&text, &["--grow", "1"], [1, 0, 1], "--len");
    check(&text, &[], [2, 0, 0]);
}

#[test]
fn elements_may_be_structures_with_pointers() {
    let text = f(
        "struct table *t",
        "if (t && t->n == 2 && t->rows[1].name && t->rows[1].name[0] == 'x' && t->rows[0].key == 4)
        { t->rows[0].key = 5; t->rows[0].name = t->rows[1].name; return 1; }",
    );
    check(&text, &["--len", "t.rows=2"], [2, 0, 0]);
}

#[test]
fn a_variable_of_such_a_type_has_no_elements() {
    let text = format!(
        "{TYPES}struct message g; int f(struct message m) {{ if (m.n == 3 && g.n == 4) {{ g.n = 5; return 1; }} return 0; }}"
    );
    check(&text, &[], [2, 0, 0]);
}

/// The suites of all forms build the object, set its elements, and check them.
#[test]
fn tests_of_every_form_build_the_object() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("flexible.c");
    let body = "if (m && m->n == 2 && m->data[0] == 7 && m->data[1] == 9) { m->data[1] = 1; return 1; }";
    std::fs::write(&file, f("struct message *m", body)).expect("a writable scratch directory");
    let out = scratch.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.arg("generate").arg(&file).args(["-c", "branch", "-f", "f", "--len", "m.data=2"]);
    command.args(["--emit", "c,json,unity,cmocka,gtest", "-o"]).arg(&out);
    let output = command.output().expect("touchstone runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    for name in ["test_f.c", "unity/test_f.c", "cmocka/test_f.c", "gtest/test_f.c"] {
        let text = read(name);
        for line in [
            "struct message *m = __builtin_alloca(sizeof *m + 2 * sizeof m->data[0]);",
            "SET(*m, {2});",
            "m->data[0] = 7;",
            "m->data[1] = 9;",
            "int result = f(m);",
        ] {
            assert!(text.contains(line), "{line} not in {name}:\n{text}");
        }
    }
    for form in FORMS {
        let said = ends(&out, form, "f", "NDEBUG");
        assert!(!said.contains("failed") && !said.contains("not ok"), "{form}:\n{said}");
        assert!(said.lines().filter(|line| line.starts_with("ok")).count() >= 2, "{form}:\n{said}");
    }
    assert!(read("test_f.c").contains("CHECK_INT(1, m->data[1]);"), "{}", read("test_f.c"));
    assert!(read("tests_f.jsonl").contains("\"data\":[7,9]"), "{}", read("tests_f.jsonl"));
}
