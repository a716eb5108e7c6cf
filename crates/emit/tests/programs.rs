//! Tests of whole programs: they receive the requested inputs, and exit status and output are compared.

mod common;

use common::{Bench, disagreed, error, int};
use touchstone_criteria::{EnvironmentInput, Outcome, Replay, TestCase, TestKind};
use touchstone_ir::{ErrorKind, InputSource};

const SOURCE: &str = "\
#include <assert.h>
#include <stdio.h>
void klee_make_symbolic(void *address, unsigned long size, const char *name);
void klee_assume(unsigned long condition);
int klee_range(int low, int high, const char *name);
void touchstone_symbolic(void *address, unsigned long size, const char *name);
int main(int argc, char **argv) {
    int x;
    char s[3];
    klee_make_symbolic(&x, sizeof x, \"x\");
    klee_assume(x > 0);
    touchstone_symbolic(s, sizeof s, \"s\");
    int r = klee_range(0, 10, \"r\");
    printf(\"%d %c %d %d\\n\", x, s[0], r, argc);
    assert(r != 9);
    if (x == 5) return r;
}
";

fn program_test(bench: &Bench, id: &str, x: i32, r: i32) -> TestCase {
    let mut test = bench.test(id, "main", Vec::new(), Vec::new());
    let made = |name: &str, bytes: &[u8]| EnvironmentInput::of_bytes(InputSource::Request, name, bytes.to_vec());
    test.kind = TestKind::Program;
    test.answers = vec![made("x", &x.to_le_bytes()), made("s", b"ab\0"), made("r", &r.to_le_bytes())];
    test.expected.output = Some(format!("{x} a {r} 1\n").into_bytes());
    test
}

fn bench() -> Bench {
    let mut bench = Bench::new(SOURCE);
    let pointer = bench.pointer(bench.char);
    let arguments = bench.pointer(pointer);
    bench.function("main", &[("argc", bench.int), ("argv", arguments)], bench.int);
    bench
}

#[test]
fn a_program_runs_with_its_inputs_and_is_compared_by_status_and_output() {
    let bench = bench();
    let mut returned = program_test(&bench, "main_1", 5, 3);
    returned.expected.result = Some(int(3));
    // Reaching the end of main returns 0.
    let mut at_end = program_test(&bench, "main_2", 6, 3);
    at_end.outcome = Outcome::Exited(0);
    let text = bench.text(std::slice::from_ref(&returned));
    for line in [
        "INPUT(\"x\", 5, 0, 0, 0); /* 5 */",
        "INPUT(\"s\", 97, 98, 0); /* \"ab\" */",
        "EXPECT_OUTPUT(\"5 a 3 1\\n\");",
        "EXPECT_EXIT(3);",
        "RUN_PROGRAM(1, touchstone_arguments);",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    bench.agrees(&[returned, at_end]);
}

#[test]
fn wrong_status_output_inputs_and_assumptions_disagree() {
    let bench = bench();
    let mut status = program_test(&bench, "main_1", 5, 3);
    status.outcome = Outcome::Exited(4);
    let mut output = program_test(&bench, "main_2", 5, 3);
    output.outcome = Outcome::Exited(3);
    output.expected.output = Some(b"5 a 3\n".to_vec());
    let mut missing = program_test(&bench, "main_3", 5, 3);
    missing.outcome = Outcome::Exited(3);
    let mut size = missing.clone();
    size.id = "main_4".into();
    missing.answers.pop();
    size.answers[0].bytes.pop();
    let mut assumption = program_test(&bench, "main_5", 0, 3);
    assumption.outcome = Outcome::Exited(3);
    let expected = [
        "expected exit status 4, got exit 3",
        "output: expected \"5 a 3\\n\", got \"5 a 3 1\\n\"",
        "input 3: the program asks for `r`, the test has no more inputs",
        "input 1: the program asks for 4 bytes of `x`, the test has 3 bytes of `x`",
        "an assumption of the program doesn't hold for these inputs",
    ];
    let verdicts = bench.replay(&[status, output, missing, size, assumption]);
    assert_eq!(verdicts, expected.map(disagreed));
}

#[test]
fn an_error_of_a_program_is_checked_like_one_of_a_function() {
    let bench = bench();
    let mut test = program_test(&bench, "main_1", 5, 9);
    test.expected.output = None;
    test.outcome = error(ErrorKind::Assert, 15);
    bench.agrees(&[test]);
}

#[test]
fn runs_that_leave_nothing_behind_share_a_process_and_each_has_its_verdict() {
    let mut bench = Bench::new(
        "void klee_make_symbolic(void *address, unsigned long size, const char *name);\n\
         int main(void) { int x; klee_make_symbolic(&x, sizeof x, \"x\"); if (x == 150) __builtin_trap(); return 2 * x; }\n",
    );
    bench.function("main", &[], bench.int);
    let make = |number: i64| {
        let mut test = bench.test(&format!("main_{number}"), "main", Vec::new(), Vec::new());
        let made =
            |name: &str| EnvironmentInput::of_bytes(InputSource::Request, name, (number as i32).to_le_bytes().to_vec());
        test.kind = TestKind::Program;
        test.answers = vec![made("x")];
        // One input more than it requests, and none at all.
        match number {
            170 => test.answers.push(made("y")),
            190 => test.answers.clear(),
            _ => {}
        }
        test.expected.result = Some(int(if number == 120 { 7 } else { 2 * number }));
        test
    };
    let tests: Vec<TestCase> = (1..=400).map(make).collect();
    let verdicts = bench.replay(&tests);
    let text = std::fs::read_to_string(bench.dir.path().join("out/test_main.c")).expect("a file");
    assert!(text.contains("\nTABLE_TOGETHER(main, shape_1, 1)"), "{text}");
    for (test, verdict) in tests.iter().zip(&verdicts) {
        match test.id.as_str() {
            "main_120" => assert_eq!(*verdict, disagreed("exit status: expected 7, got 240")),
            "main_150" => assert!(matches!(verdict, Replay::Disagreed(_)), "{verdict:?}"),
            "main_170" => assert_eq!(*verdict, disagreed("after input 1: the program didn't ask for `y`")),
            "main_190" => {
                assert_eq!(*verdict, disagreed("input 1: the program asks for `x`, the test has no more inputs"));
            }
            id => assert_eq!(*verdict, Replay::Agreed, "{id}"),
        }
    }
}
