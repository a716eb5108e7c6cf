//! The library's own state around a function: standard output that fails, error numbers that others set, names for people; and what
//! lies before a pointer.

use crate::library_models::{check, check_forms, generate};
use crate::support::forms::tried;

/// Standard output fails only while the function runs, so that a framework can say what it found.
#[test]
fn standard_output_fails_in_every_form() {
    let program = "#include <stdio.h>
int f(int x) {
    if (printf(\"%d\\n\", x) < 0) return 1;
    if (puts(\"ok\") == EOF) return 2;
    if (putchar('a') == EOF) return 3;
    return fflush(stdout) ? 4 : 0;
}
int g(int x) {
    if (fwrite(\"abc\", 1, 3, stdout) != 3) return 1;
    return fputs(\"x\", stdout) < 0 && ferror(stdout) ? x : 0;
}
";
    let lines = ["FAILING_OUTPUT(\"write\");", "\"write4\"", "\"flush\"", "WORKING_OUTPUT();", "ANY_OUTPUT();"];
    let made = check(program, &["-c", "branch", "--timeout", "10", "--emit", &tried().join(",")], &lines);
    check_forms(&made.out, 5);
}

/// A printed result that is never used is not counted: nothing depends on the number of writes.
#[test]
fn standard_output_fails_beside_calls_whose_result_is_ignored() {
    let program = "#include <stdio.h>
int f(int x) { printf(\"value %d\\n\", x); puts(\"\"); if (ferror(stdout)) return 1; return fflush(stdout) ? 2 : 3; }
";
    check(program, &["-c", "branch", "--timeout", "10"], &["FAILING_OUTPUT(\"write\");", "FAILING_OUTPUT(\"flush\");"]);
}

/// A standard stream may have failed before the call.
#[test]
fn no_proof_rests_on_standard_streams_that_never_failed() {
    let program = "#include <stdio.h>
int f(void) { if (ferror(stdin)) return 1; if (ferror(stderr)) return 2; return 0; }
";
    let made = generate(program, &["-c", "branch", "--timeout", "2"]);
    assert_eq!(made.status("ferror(stdin) is true"), ["unknown"], "{}", made.shown);
    assert_eq!(made.status("ferror(stderr) is true"), ["unknown"], "{}", made.shown);
}

#[test]
fn an_external_function_sets_the_error_number_in_every_form() {
    let program = "#include <errno.h>
int read_port(void);
int f(int *tries) {
    int r = read_port();
    if (r < 0 && errno == EAGAIN) { ++*tries; return 1; }
    errno = 0;
    if (read_port() < 0 && errno == EINTR && read_port() < 0 && errno != EINTR) return 2;
    return errno ? 3 : 0;
}
";
    let lines = [
        "SETS_ERRNO(read_port, 11); /* EAGAIN */",
        "SETS_ERRNO(read_port, 4); /* EINTR */",
        "RETURNS(int, read_port, -1);",
    ];
    let made = check(program, &["-c", "mcdc", "--emit", &tried().join(",")], &lines);
    assert!(!made.suite("f").contains("#undef EAGAIN"), "{}", made.suite("f"));
    check_forms(&made.out, 4);
}

/// People know the library's parts, not the variables of its models.
#[test]
fn nothing_names_a_variable_of_a_model() {
    let program = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int f(FILE *file, char *s) {
    if (fgetc(file) == 'x' || feof(file)) return 1;
    if (strtok(s, \",\") && strtok(0, \",\")) return 2;
    if (getchar() == 'y') return 3;
    if (getenv(\"HOME\") && time(0) > rand()) return 4;
    return file == stdout;
}
";
    let made = generate(program, &["-c", "branch", "--timeout", "1", "--stdin", "4"]);
    assert!(!made.shown.contains("touchstone_"), "{}", made.shown);
    let report = std::fs::read_to_string(made.out.join("campaign.json")).expect("a report");
    for said in ["the library's streams", "what `strtok` keeps", "standard input", "the environment"] {
        assert!(report.contains(said), "{said} is not in\n{report}");
    }
    let ours = report.lines().filter(|line| line.contains("changed") && line.contains("touchstone_"));
    assert_eq!(ours.collect::<Vec<_>>(), Vec::<&str>::new());
}

/// A given length counts the elements after the pointer's target.
#[test]
fn there_is_room_before_a_pointer_of_a_given_length() {
    let program = "int f(const char *s) { if (s[-1] == ' ' && s[-2] == 'a') return 1; return s[7] == 'x' ? 2 : 0; }\n";
    check(program, &["-c", "mcdc", "--len", "s=8"], &["char s[10] = ", "f(&s[2])"]);
}

/// The library reads a set of characters even if there is nothing to search.
#[test]
fn an_empty_text_excuses_no_set_that_is_null() {
    let program = "#include <string.h>
int f(const char *s, const char *set) { return strcspn(s, set) > 1 || strspn(s, set) > 1; }
";
    let made = generate(program, &["-c", "branch"]);
    assert!(made.shown.contains(" agreed"), "{}", made.shown);
}
