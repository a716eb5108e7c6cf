//! Tests of paths that end in an error: the sanitized build must report the predicted kind of error at the predicted
//! line.

mod common;

use common::{Bench, chars, error, int, ints, null, object, to};
use touchstone_criteria::{NotCheckable, Outcome, Replay, TestCase};
use touchstone_ir::ErrorKind;

/// Every error has its own value of `what`; the access is in the line after its `case`.
const SOURCE: &str = "\
#include <assert.h>
#include <stdlib.h>
static int *keep(void) { int local = 5; int *volatile p = &local; return p; }
int go_wrong(int what, int *p) {
    int *volatile q;
    static const int fixed = 3;
    switch (what) {
    case 0:
        return p[3];
    case 1:
        return *p;
    case 2:
        return 7 / p[0];
    case 3:
        assert(p[0] > 0);
        return 1;
    case 4:
        abort();
    case 5:
        q = malloc(4); *q = 1; free(q);
        return *q;
    case 6:
        q = keep();
        return *q;
    case 7:
        *(int *)&fixed = 4;
        return fixed;
    case 8:
        q = malloc(4); free(q);
        free(q);
        return 0;
    case 9:
        __builtin_unreachable();
    case 10:
        return 7 % p[0];
    case 11:
        return 1 << p[0];
    }
    return 2147483647 + p[0];
}
";

struct Errors {
    bench: Bench,
    tests: Vec<TestCase>,
}

impl Errors {
    fn new() -> Errors {
        let mut bench = Bench::new(SOURCE);
        let pointer = bench.pointer(bench.int);
        bench.function("go_wrong", &[("what", bench.int), ("p", pointer)], bench.int);
        Errors { bench, tests: Vec::new() }
    }

    /// Adds a call in which `p` points to three zeros, or is null.
    fn add(&mut self, what: i64, with_object: bool, outcome: Outcome) {
        let objects = if with_object { vec![object("p", self.bench.int, ints(&[0, 0, 0]))] } else { Vec::new() };
        let id = format!("go_wrong_{}", self.tests.len() + 1);
        let params = vec![int(what), if with_object { to(0) } else { null() }];
        let mut test = self.bench.test(&id, "go_wrong", params, objects);
        test.outcome = outcome;
        self.tests.push(test);
    }
}

#[test]
fn errors_of_every_kind_agree_when_kind_and_line_are_right() {
    let mut errors = Errors::new();
    for (what, with_object, kind, line) in [
        (0, true, ErrorKind::OutOfBounds, 9),
        (1, false, ErrorKind::NullPointer, 11),
        (2, true, ErrorKind::DivisionByZero, 13),
        (3, true, ErrorKind::Assert, 15),
        (4, true, ErrorKind::Abort, 18),
        (5, true, ErrorKind::Dangling, 21),
        (6, true, ErrorKind::Dangling, 24),
        (7, true, ErrorKind::ReadOnly, 26),
        (8, true, ErrorKind::InvalidFree, 30),
        (9, true, ErrorKind::Unreachable, 33),
        (10, true, ErrorKind::DivisionByZero, 35),
    ] {
        errors.add(what, with_object, error(kind, line));
    }
    errors.bench.agrees(&errors.tests);
}

#[test]
fn a_wrong_line_or_kind_or_no_error_at_all_disagrees() {
    let mut errors = Errors::new();
    errors.add(0, true, error(ErrorKind::OutOfBounds, 11));
    errors.add(2, true, error(ErrorKind::NullPointer, 13));
    errors.add(3, true, error(ErrorKind::Abort, 15));
    errors.add(12, true, error(ErrorKind::DivisionByZero, 39));
    errors.add(4, true, error(ErrorKind::Assert, 18));
    let file = &errors.bench.module.files.values().next().expect("a file").clone();
    let expected = [
        format!("expected out of bounds at {file}:11:1, but it happened in line 9"),
        format!("expected null pointer at {file}:13:1, but got division by zero at code.c:13"),
        format!("expected abort at {file}:15:1, but got a failed assertion at code.c:15"),
        format!("expected division by zero at {file}:39:1, but the run ended with: returned"),
        format!("expected assertion failed at {file}:18:1, but the run ended with: signal 6 (Aborted)"),
    ];
    let verdicts = errors.bench.replay(&errors.tests);
    let said = |verdict: &Replay| match verdict {
        Replay::Disagreed(why) => (why.to_string(), why.word()),
        other => panic!("{other:?}"),
    };
    let words = ["other_line", "other_error", "other_error", "other_end", "other_end"];
    let expected: Vec<(String, &str)> = expected.into_iter().zip(words).collect();
    assert_eq!(verdicts.iter().map(said).collect::<Vec<_>>(), expected);
}

#[test]
fn what_the_model_allows_is_no_error_for_the_sanitizers() {
    let mut errors = Errors::new();
    // Overflow and shifts continue to the end, where no error was predicted.
    errors.add(12, true, error(ErrorKind::Abort, 39));
    errors.add(11, true, error(ErrorKind::Abort, 37));
    for verdict in errors.bench.replay(&errors.tests) {
        assert!(matches!(&verdict, Replay::Disagreed(why) if why.to_string().ends_with("returned")), "{verdict:?}");
    }
}

#[test]
fn uninitialised_reads_are_not_checkable() {
    let mut errors = Errors::new();
    errors.add(12, true, error(ErrorKind::Uninitialised, 39));
    let verdicts = errors.bench.replay(&errors.tests);
    assert_eq!(verdicts, [Replay::NotCheckable(NotCheckable::Uninitialised)]);
}

#[test]
fn error_tests_and_others_share_a_file() {
    let mut errors = Errors::new();
    errors.add(2, true, error(ErrorKind::DivisionByZero, 13));
    errors.add(12, true, Outcome::Returned);
    errors.tests[1].expected.result = Some(int(i64::from(i32::MAX)));
    let text = errors.bench.text(&errors.tests);
    assert!(text.contains("ERROR_TEST(go_wrong_1,"), "{text}");
    assert!(
        text.contains("    EXPECT_ERROR(\"division by zero\", \"code.c\", 13);\n    go_wrong(what, p);\n}"),
        "{text}"
    );
    errors.bench.agrees(&errors.tests);
}

#[test]
fn an_index_past_a_declared_array_is_seen_even_where_it_hits_other_memory() {
    let mut bench = Bench::new("char pad[4096];\nint t[4];\nchar more[4096];\nint get(int i) {\n    return t[i];\n}\n");
    bench.function("get", &[("i", bench.int)], bench.int);
    let mut test = bench.test("get_1", "get", vec![int(300)], Vec::new());
    test.outcome = error(ErrorKind::OutOfBounds, 5);
    bench.agrees(&[test]);
}

#[test]
fn an_error_in_the_library_is_no_matter_of_lines() {
    let mut bench = Bench::new("#include <string.h>\nint len(char *s) {\n    return (int)strlen(s);\n}\n");
    let text = bench.pointer(bench.char);
    bench.function("len", &[("s", text)], bench.int);
    let model = bench.module.files.push("models/string.c".into());
    let mut test = bench.test("len_1", "len", vec![to(0)], vec![object("s", bench.char, chars(b"abc"))]);
    test.outcome = Outcome::Error { kind: ErrorKind::OutOfBounds, span: touchstone_base::Span::at(model, 12, 3) };
    bench.agrees(&[test]);
}
