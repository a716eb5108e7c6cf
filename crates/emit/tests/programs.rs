//! Tests of whole programs: their requests for inputs are answered, status and output compared.

mod common;

use common::{Bench, disagreed, error, int};
use touchstone_criteria::{MadeInput, Outcome, TestCase, TestKind};
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
    let made = |name: &str, bytes: &[u8]| MadeInput::of_bytes(InputSource::Request, name, bytes.to_vec());
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
