//! Suites for other frameworks: they compile, correct predictions pass, wrong ones fail, and tests that cannot be run
//! are skipped with the reason.
//!
//! The frameworks themselves are not needed: `standins/` contains replacement headers with the same interface, which
//! report the end of each test. The real frameworks are tested by hand (docs/forms.md names the versions).

// Tests may run processes and read files.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod common;

use common::{Bench, chars, error, int, ints, null, object, to};
use std::path::Path;
use std::process::Command;
use touchstone_base::float::Format;
use touchstone_criteria::{NamedValue, Outcome, TestCase, TestKind};
use touchstone_emit::CTestForm;
use touchstone_ir::{DataType, DataValue, ErrorKind, IntKind, Linkage};

const FORMS: [CTestForm; 3] = [CTestForm::Unity, CTestForm::Cmocka, CTestForm::Gtest];

fn run(command: &mut Command, text: &str) -> String {
    let output = command.output().expect("the command runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some(), "{stderr}\n{text}");
    assert!(stderr.is_empty(), "{command:?}\n{stderr}\n{text}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Writes the tests, compiles them without a warning and runs them; returns one line per test.
fn ends(bench: &Bench, tests: &[TestCase], form: CTestForm) -> Vec<String> {
    let suite = bench.write_as(tests, form);
    let text = std::fs::read_to_string(&suite).expect("a readable suite");
    let standins = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/standins");
    let (program, object) = (bench.dir.path().join("tests"), bench.dir.path().join("tests.o"));
    let compile = |compiler: &str| {
        let mut command = Command::new(compiler);
        command.arg("-I").arg(&standins).args(["-Wall", "-Wno-unused"]);
        command
    };
    run(compile(&bench.target.cc).arg("-c").arg(&suite).arg("-o").arg(&object), &text);
    if form == CTestForm::Gtest {
        let glue = suite.with_file_name("touchstone_gtest.cc");
        let mut link = compile("c++");
        link.arg("-DGTEST_STAND_IN_MAIN").arg(suite.with_extension("cc")).arg("-o").arg(&program).arg(&object);
        let glue_object = bench.dir.path().join("glue.o");
        run(compile("c++").arg("-c").arg(&glue).arg("-o").arg(&glue_object), &text);
        run(link.arg(&glue_object), &text);
    } else {
        run(compile(&bench.target.cc).arg(&object).arg("-lm").arg("-o").arg(&program), &text);
    }
    let output = run(&mut Command::new(&program), &text);
    tests
        .iter()
        .map(|test| {
            let name = format!(" test_{}", test.id);
            let line = output
                .lines()
                .find(|line| line.split_once(&name).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with(':')));
            line.unwrap_or_else(|| panic!("no {name} in\n{output}\n{text}")).trim_end_matches([':', ' ']).to_string()
        })
        .collect()
}

/// Checks that the test passes, and fails with each of the other predictions.
fn check(bench: &Bench, right: &TestCase, wrong: &[TestCase]) {
    let mut tests = vec![right.clone()];
    tests.extend(wrong.iter().cloned());
    for (index, test) in tests.iter_mut().enumerate() {
        test.id = format!("{}_{}", test.function, index + 1);
    }
    for form in FORMS {
        let ends = ends(bench, &tests, form);
        assert_eq!(ends[0], format!("ok test_{}", tests[0].id), "{form:?}");
        for end in &ends[1..] {
            assert!(end.starts_with("failed "), "{form:?}: {end}");
        }
    }
}

fn with_result(test: &TestCase, result: DataValue) -> TestCase {
    let mut test = test.clone();
    test.expected.result = Some(result);
    test
}

#[test]
fn integers_are_compared() {
    let mut bench = Bench::new("int twice(int x) { return 2 * x; }\n");
    bench.function("twice", &[("x", bench.int)], bench.int);
    let test = with_result(&bench.test("t", "twice", vec![int(-4)], vec![]), int(-8));
    check(&bench, &test, &[with_result(&test, int(8)), with_result(&test, int(-7))]);
}

#[test]
fn wide_unsigned_integers_are_compared_to_their_last_bit() {
    let mut bench = Bench::new("unsigned long same(unsigned long x) { return x; }\n");
    let wide = bench.module.types.push(DataType::Int {
        name: "unsigned long".into(),
        bits: 64,
        signed: false,
        kind: IntKind::Number,
    });
    bench.function("same", &[("x", wide)], wide);
    let most = DataValue::Int(u64::MAX);
    let test = with_result(&bench.test("t", "same", vec![most.clone()], vec![]), most);
    check(&bench, &test, &[with_result(&test, DataValue::Int(u64::MAX - 1)), with_result(&test, DataValue::Int(0))]);
}

#[test]
fn floats_are_compared_exactly_with_the_sign_of_zero_and_none_is_none() {
    let mut bench = Bench::new("double same(double x) { return x; }\n");
    let double = bench.module.types.push(DataType::Float { name: "double".into(), format: Format::F64 });
    bench.function("same", &[("x", double)], double);
    let bits = |value: f64| DataValue::Int(value.to_bits());
    for (value, others) in [
        (0.1, [0.1 + 1e-17 * 2.0, f64::NAN]),
        (0.0, [-0.0, 5e-324]),
        (-0.0, [0.0, 1.0]),
        (f64::INFINITY, [f64::MAX, f64::NEG_INFINITY]),
        (f64::NAN, [0.0, f64::INFINITY]),
    ] {
        let test = with_result(&bench.test("t", "same", vec![bits(value)], vec![]), bits(value));
        let wrong = others.map(|other| with_result(&test, bits(other)));
        check(&bench, &test, &wrong);
    }
}

#[test]
fn memory_behind_pointers_and_pointers_in_it_are_compared() {
    let source = "struct node { int value; struct node *next; };\n\
                  void link_up(struct node *a, struct node *b, int *numbers) {\n    a->next = b; b->next = 0; numbers[1] = 7;\n}\n";
    let mut bench = Bench::new(source);
    let node_pointer = bench.pointer(bench.int);
    let node = bench.structure("struct node", &[("value", 0, bench.int), ("next", 8, node_pointer)], 16);
    bench.module.types[node_pointer] = DataType::Pointer { pointee: node, to_const: false };
    let int_pointer = bench.pointer(bench.int);
    bench.function("link_up", &[("a", node_pointer), ("b", node_pointer), ("numbers", int_pointer)], bench.void);
    let one = |value, next| vec![DataValue::Struct(vec![int(value), next])];
    let objects = vec![
        object("a", node, one(1, null())),
        object("b", node, one(2, to(0))),
        object("numbers", bench.int, ints(&[4, 5, 6])),
    ];
    let mut test = bench.test("t", "link_up", vec![to(0), to(1), to(2)], objects);
    test.expected.objects = vec![one(1, to(1)), one(2, null()), ints(&[4, 7, 6])];
    let mut wrong = vec![test.clone(), test.clone(), test.clone()];
    wrong[0].expected.objects[0] = one(1, null());
    wrong[1].expected.objects[1] = one(2, to(0));
    wrong[2].expected.objects[2] = ints(&[4, 7, 5]);
    check(&bench, &test, &wrong);
}

#[test]
fn globals_are_set_and_compared_and_a_static_function_is_in_reach() {
    let mut bench = Bench::new("int table[3];\nstatic int shift(void) { table[2] = table[1]; return table[0]; }\n");
    let array = bench.array(bench.int, 3);
    bench.global("table", array, Linkage::External, 0);
    bench.function("shift", &[], bench.int);
    let mut test = with_result(&bench.test("t", "shift", vec![], vec![]), int(1));
    let table =
        |values: &[i64]| NamedValue { name: "table".into(), data: array, value: DataValue::Array(ints(values)) };
    if let TestKind::Function { globals, .. } = &mut test.kind {
        globals.push(table(&[1, 2, 3]));
    }
    test.expected.globals = vec![table(&[1, 2, 2])];
    let mut wrong = test.clone();
    wrong.expected.globals = vec![table(&[1, 2, 3])];
    check(&bench, &test, &[wrong]);
}

#[test]
fn texts_of_characters_are_compared() {
    let mut bench = Bench::new("void first(char *text) { text[0] = 'x'; }\n");
    let text = bench.pointer(bench.char);
    bench.function("first", &[("text", text)], bench.void);
    let mut test = bench.test("t", "first", vec![to(0)], vec![object("text", bench.char, chars(b"ab\0"))]);
    test.expected.objects = vec![chars(b"xb\0")];
    let mut wrong = test.clone();
    wrong.expected.objects = vec![chars(b"xc\0")];
    check(&bench, &test, &[wrong]);
}

#[test]
fn a_test_that_ends_the_process_is_skipped_and_says_why_where_the_framework_has_no_way_to_run_it() {
    let source = "#include <stdlib.h>\nint quit(int x) {\n    if (x == 3) exit(x);\n    return 6 / x;\n}\n\
                  int main(void) { return quit(1); }\n";
    let mut bench = Bench::new(source);
    bench.function("quit", &[("x", bench.int)], bench.int);
    bench.function("main", &[], bench.int);
    let mut exits = bench.test("quit_1", "quit", vec![int(3)], vec![]);
    exits.outcome = Outcome::Exited(3);
    let mut wrong = exits.clone();
    wrong.id = "quit_2".into();
    wrong.outcome = Outcome::Exited(4);
    let mut crash = bench.test("quit_3", "quit", vec![int(0)], vec![]);
    crash.outcome = error(ErrorKind::DivisionByZero, 4);
    let mut fine = with_result(&bench.test("quit_4", "quit", vec![int(2)], vec![]), int(3));
    fine.description = "x == 2 /* or so */".into();
    let tests = [exits, wrong, crash, fine];
    for form in FORMS {
        let ends = ends(&bench, &tests, form);
        if form == CTestForm::Gtest {
            assert_eq!(ends[0], "ok test_quit_1");
            assert!(ends[1].starts_with("failed test_quit_2"), "{ends:?}");
        } else {
            assert_eq!(ends[0], "skipped test_quit_1: the call ends the process with exit status 3", "{form:?}");
        }
        assert!(ends[2].starts_with("skipped test_quit_3: "), "{form:?}: {ends:?}");
        assert!(ends[2].ends_with("the call ends in an error: division by zero at code.c:4"), "{form:?}: {ends:?}");
        assert_eq!(ends[3], "ok test_quit_4", "{form:?}");
    }
}
