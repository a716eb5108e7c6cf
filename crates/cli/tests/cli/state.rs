//! State coverage: small programs whose every figure was worked out by hand.

use std::path::Path;
use std::process::{Command, Output};

/// Runs `touchstone measure -c state` over files that a command builds and runs.
fn measure(files: &[(&str, &str)], options: &[&str], command: &str) -> (serde_json::Value, Output) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    for (name, text) in files {
        std::fs::write(scratch.path().join(name), text).expect("writable");
    }
    measure_in(scratch.path(), options, command)
}

fn measure_in(folder: &Path, options: &[&str], command: &str) -> (serde_json::Value, Output) {
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-o", "out", "--format", "json"])
        .args(options)
        .args(["--", "sh", "-c", command])
        .current_dir(folder)
        .output()
        .expect("touchstone runs");
    let report = serde_json::from_slice(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&run.stderr)));
    (report, run)
}

/// Returns the state that every test modifies: `test: +name line` if an assertion depends on it, else `test: -name
/// line`.
fn lines(report: &serde_json::Value) -> Vec<String> {
    let mut found = Vec::new();
    for test in report["state"].as_array().map_or(&[][..], Vec::as_slice) {
        for update in test["updates"].as_array().expect("updates") {
            let sign = if update["checked"] == true { '+' } else { '-' };
            let (test, what) = (test["test"].as_str().expect("a name"), update["what"].as_str().expect("what"));
            found.push(format!("{test}: {sign}{what} {}", update["line"]));
        }
    }
    found.sort();
    found
}

/// A program that gets `<assert.h>` and a main which is its only test, called `program`.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    check_with(text, &["-c", "state"], expected);
}

/// The compilers differ in the order of evaluation, and in what they make of it.
const BUILDS: [&str; 3] = ["cc -O0", "cc -O2", "clang-19 -O2"];

#[track_caller]
fn check_with(text: &str, options: &[&str], expected: &[&str]) {
    check_builds(text, options, &BUILDS[1..2], expected);
}

#[track_caller]
fn check_builds(text: &str, options: &[&str], builds: &[&str], expected: &[&str]) {
    for build in builds {
        let files = [("program.c", format!("#include <assert.h>\n{text}"))];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let (report, run) =
            measure(&files, options, &format!("{build} -Wall -Werror -o program program.c && ./program"));
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(0), "{said}");
        assert!(!said.contains("not followed"), "{said}");
        let mut expected: Vec<String> = expected.iter().map(|line| format!("program: {line}")).collect();
        expected.sort();
        assert_eq!(lines(&report), expected, "{build}\n{text}\n{said}");
    }
}

#[test]
fn variables_of_one_declaration_depend_on_their_own_initialisers() {
    check(
        "struct pair { int x, y; };\nstatic int a, b, c;\nstatic struct pair p, q;\nint one(int by) { return by + 1; }\n\
         int main(void) {\n  a = 1;\n  b = 2;\n  c = 3;\n  p.x = 4;\n  q.x = 5;\n\
         int first = a, none, second = one(b), list[2] = {c, 0};\n  struct pair r = p, s = q;\n\
         none = 0;\n  assert(first == 1 && s.x == 5);\n  return second + r.x + list[0] + none == 99;\n}\n",
        &["+a 7", "-b 8", "-c 9", "-pair.x (p) 10", "+pair.x (q) 11"],
    );
}

#[test]
fn a_global_that_is_asserted_is_checked_and_another_is_not() {
    check(
        "static int a, b;\nint main(void) {\n  a = 1;\n  b = 2;\n  assert(a == 1);\n  return b == 7;\n}\n",
        &["+a 4", "-b 5"],
    );
}

#[test]
fn influence_goes_through_variables_parameters_and_results() {
    check_builds(
        "static int a, b, c;\n\
         static int twice(int x) { int y = x; y += x; return y; }\n\
         static int seen(int x, int ignored) { (void)ignored; return x; }\n\
         int main(void) {\n  a = 1;\n  b = 2;\n  c = 3;\n  int t = twice(a);\n  assert(seen(t, b) == 2);\n  return c == 0;\n}\n",
        &["-c", "state"],
        &BUILDS,
        &["+a 6", "-b 7", "-c 8"],
    );
}

#[test]
fn reading_is_not_enough() {
    // As in the paper: what is only printed does not influence the result.
    check(
        "#include <stdio.h>\nstatic int name, rgb;\n\
         static int get_name(void) { fprintf(stderr, \"%d\\n\", rgb); return name; }\n\
         int main(void) { name = 1;\n rgb = 2;\n assert(get_name() == 1);\n return 0; }\n",
        &["+name 5", "-rgb 6"],
    );
}

#[test]
fn conditions_influence_what_they_control() {
    let main = |body: &str| {
        format!(
            "static int a, b, c;\nstatic int pick(void) {{ {body} }}\nint main(void) {{\n  a = 1;\n  b = 2;\n  c = 3;\n  assert(pick() > 0);\n  return 0;\n}}\n"
        )
    };
    // The condition and the side that was taken.
    check(&main("if (a) return b; return c;"), &["+a 5", "+b 6", "-c 7"]);
    check(&main("return a ? b : c;"), &["+a 5", "+b 6", "-c 7"]);
    check(&main("return a && b;"), &["+a 5", "+b 6", "-c 7"]);
    check(&main("return a || b;"), &["+a 5", "-b 6", "-c 7"]);
    // A function that was not left by a jump goes on because of its condition.
    check(&main("if (c == 0) return 1; return b;"), &["-a 5", "+b 6", "+c 7"]);
    // What a condition controls is over where its statement is.
    check(&main("int x = 0; if (a) x = 1; (void)x; return b;"), &["-a 5", "+b 6", "-c 7"]);
    check(&main("int n = 0; for (int i = 0; i < c; i++) n += b; return n;"), &["-a 5", "+b 6", "+c 7"]);
    check(&main("int n = 0; while (n < c) { n++; if (n == b) break; } return n;"), &["-a 5", "+b 6", "+c 7"]);
    check(&main("switch (b) { case 2: return a; default: return c; }"), &["+a 5", "+b 6", "-c 7"]);
    check(&main("int x = 5; if (a) goto out; x = c; out: return x;"), &["+a 5", "-b 6", "-c 7"]);
    // A null pointer stays one.
    check(&main("for (char *p = 0; p;) return 3; int *q = a ? &b : 0; return q != 0;"), &["+a 5", "-b 6", "-c 7"]);
    // A value depends also on what could have changed it and did not.
    check(&main("int x = 1; if (a == 0) x = c; return x;"), &["+a 5", "-b 6", "-c 7"]);
    check(&main("int x = 1, *p = &x; if (a == 0) *p = c; return x;"), &["+a 5", "-b 6", "-c 7"]);
    check(&main("int x = 1, *p = &x; if (a == 0) { p = &c; *p = 4; } return x;"), &["-a 5", "-b 6", "-c 7"]);
    // What a loop was left by says that the function was not left in it.
    check(
        &main("for (int i = 0; i < 3; i++) { if (b == 2) break; if (i) return 4; } return c;"),
        &["-a 5", "+b 6", "+c 7"],
    );
    check(&main("int x; do { x = b; } while (0); return x;"), &["-a 5", "+b 6", "-c 7"]);
}

#[test]
fn what_was_read_for_another_variable_decides_nothing() {
    check(
        "static int a, b;\nstatic int two(int x) { return x + 2; }\nint main(int n, char **v) {\n (void)v;\n a = 1;\n\
         b = 2;\n int x = a;\n int y = 0;\n y = n > 0 ? two(b) : 4;\n assert(y == 4);\n return x > 3; }\n",
        &["-a 6", "+b 7"],
    );
}

#[test]
fn the_last_update_counts() {
    // Written over before the assertion: one state, last written on line 5, and that is seen.
    check("static int a;\nint main(void) {\n a = 1;\n a = 2;\n assert(a == 2);\n return 0; }\n", &["+a 5"]);
    // It is asserted first and modified afterwards, so the last value is never checked.
    check("static int a;\nint main(void) {\n a = 1;\n assert(a == 1);\n a = 2;\n return 0; }\n", &["-a 6"]);
    // What it was has influence on what it is: the update is seen.
    // A copy of an earlier value is not that value.
    check(
        "static int a;\nint main(void) {\n a = 1;\n int x = a;\n a = 2;\n assert(x == 1);\n return 0; }\n",
        &["-a 6"],
    );
    check("static int a;\nint main(void) {\n a = 1;\n a += 1;\n assert(a == 2);\n return 0; }\n", &["+a 5"]);
}

#[test]
fn out_parameters_and_fields_through_pointers_are_state() {
    check(
        "struct point { int x, y; };\n\
         static void divide(int a, int b, int *q, int *r) {\n  *q = a / b;\n  *r = a % b;\n}\n\
         static void move(struct point *p) {\n  p->x = 3;\n  p->y = 4;\n}\n\
         int main(void) {\n  int q, r;\n  struct point p = {0, 0};\n  divide(7, 2, &q, &r);\n  move(&p);\n\
         \x20 assert(q == 3);\n  assert(p.y == 4);\n  return 0;\n}\n",
        &[
            "+*q of divide (q of main) 4",
            "-*r of divide (r of main) 5",
            "-point.x (p of main) 8",
            "+point.y (p of main) 9",
        ],
    );
}

#[test]
fn a_function_s_own_variables_are_no_state() {
    check(
        "static int f(void) { int a[3] = {1, 2, 3}; int *p = a; *p++ = 4; *p = 5; return 0; }\n\
         int main(void) { struct { int x; } s; s.x = 1; s.x++; return f() + s.x - 2; }\n",
        &[],
    );
}

#[test]
fn two_objects_of_one_type_are_told_apart() {
    let text = "#include <stdlib.h>\nstruct box { int v; };\n\
         static void set(struct box *b, int v) {\n  b->v = v;\n}\n\
         static struct box global; static void *(*allocate)(size_t) = malloc;\n\
         int main(void) {\n  struct box here;\n  struct box *one = malloc(sizeof *one);\n  struct box *two = allocate(sizeof *two);\n\
         \x20 set(&here, 1); set(&global, 2); set(one, 3); set(two, 4);\n  assert(one->v + here.v == 4);\n  free(one);\n  free(two);\n  return 0;\n}\n";
    check(
        text,
        &[
            "+box.v (here of main) 5",
            "+box.v (object 1 from program.c:10) 5",
            "-box.v (global) 5",
            "-box.v (object 1 from program.c:11) 5",
        ],
    );
}

#[test]
fn the_c_library_moves_influence() {
    check(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         struct s { char name[8]; char other[8]; int n, m; };\n\
         static struct s g, h;\n\
         int main(void) {\n  strcpy(g.name, \"ab\");\n  strcpy(g.other, \"cd\");\n  memset(&g.n, 1, sizeof g.n);\n  g.m = 5;\n\
         \x20 memcpy(&h, &g, sizeof g);\n  char text[16];\n  snprintf(text, sizeof text, \"%s\", h.name);\n\
         \x20 assert(strlen(text) == 2);\n  assert(h.m == 5);\n  return 0;\n}\n",
        &["+h 12", "+s.name[] (g) 8", "-s.other[] (g) 9", "-s.n (g) 10", "+s.m (g) 11"],
    );
}

#[test]
fn objects_are_copied_field_by_field() {
    check(
        "struct p { int x, y; };\nstatic struct p a, b;\n\
         int main(void) {\n  a.x = 1;\n  a.y = 2;\n  struct p c = a;\n  b = c;\n  assert(b.x == 1);\n  return 0;\n}\n",
        &["+p.x (a) 5", "-p.y (a) 6", "+b 8"],
    );
}

#[test]
fn expressions_with_side_effects_are_evaluated_once() {
    check_builds(
        "static int buffer[4], calls;\nstatic int *next(int *p) {\n  calls++;\n  return p + 1;\n}\n\
         struct bits { unsigned a : 3, b : 5; };\nstatic struct bits flags;\n\
         int main(void) {\n  int *p = buffer, i = 0;\n  *p++ = 1;\n  *next(buffer) = 2;\n  buffer[2 + i++] = 3;\n\
         \x20 (*next(buffer + 2))++;\n  flags.a = 1;\n  flags.b = 2;\n  int x, y;\n  x = y = buffer[1];\n\
         \x20 assert(p == buffer + 1 && i == 1 && x + y == 4 && calls == 2);\n\
         \x20 assert(buffer[0] == 1 && buffer[2] == 3 && buffer[3] == 1 && flags.b == 2);\n  return 0;\n}\n",
        &["-c", "state"],
        &BUILDS,
        &[
            "+*next() (buffer) 14",
            "+*p of main (buffer) 11",
            "+bits.b (flags) 16",
            "+buffer[] 13",
            "+calls 4",
            "-bits.a (flags) 15",
        ],
    );
}

#[test]
fn containers_are_one_state_by_the_method_list() {
    let text = "#include <stdlib.h>\n\
         struct list { int *items; int size, room; };\n\
         static void list_add(struct list *l, int v) {\n  if (l->size == l->room) {\n    l->room = l->room * 2 + 1;\n    l->items = realloc(l->items, (size_t)l->room * sizeof *l->items);\n  }\n  l->items[l->size++] = v;\n}\n\
         static int list_size(const struct list *l) { return l->size; }\n\
         static struct list seen, unseen;\n\
         int main(void) {\n  list_add(&seen, 1);\n  list_add(&unseen, 2);\n  assert(list_size(&seen) == 1);\n  free(seen.items);\n  free(unseen.items);\n  return 0;\n}\n";
    // As it is: every field of the container.
    let (report, _) = measure(
        &[("program.c", &format!("#include <assert.h>\n{text}"))],
        &["-c", "state"],
        "cc -o program program.c && ./program",
    );
    assert!(lines(&report).contains(&"program: +list.size (seen) 9".to_string()), "{:?}", lines(&report));
    assert!(lines(&report).contains(&"program: -list.room (seen) 6".to_string()), "{:?}", lines(&report));
    let options = ["-c", "state", "--modifies", "list_add", "--queries", "list_s*"];
    check_with(text, &options, &["+seen 14", "-unseen 15"]);
}

#[test]
fn users_name_their_own_assertions() {
    let text = "#include <stdio.h>\nstatic int failures, a, b, c;\n\
         #define EXPECT(x) do { if (!(x)) { failures++; fprintf(stderr, \"%s\\n\", #x); } } while (0)\n\
         static void verify(const int *p) { if (*p != 2) failures++; }\n\
         int main(void) {\n  a = 1;\n  b = 2;\n  c = 3;\n  EXPECT(a == 1);\n  verify(&b);\n  return failures;\n}\n";
    check(text, &["-a 7", "-b 8", "-c 9"]);
    check_with(text, &["-c", "state", "--assertion", "EXPECT"], &["+a 7", "-b 8", "-c 9"]);
    check_with(text, &["-c", "state", "--assertion", "ver*", "--assertion", "EXPECT"], &["+a 7", "+b 8", "-c 9"]);
    // What main returns: nothing failed, and that depends on both.
    check_with(text, &["-c", "state", "--assertion", "main"], &["+a 7", "+b 8", "-c 9"]);
}

#[test]
fn a_file_that_tests_include_is_one_file_and_not_one_of_theirs() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let write = |name: &str, text: &str| std::fs::write(scratch.path().join(name), text).expect("writable");
    std::fs::create_dir(scratch.path().join("tests")).expect("writable");
    write("lib.c", "int level;\nvoid raise(void) { level = 1; }\n");
    write(
        "tests/test.c",
        "#include <assert.h>\n#include \"../lib.c\"\nint main(void) { raise(); assert(level); return 0; }\n",
    );
    let build = "cc -o test tests/test.c && ./test";
    let (report, _) = measure_in(scratch.path(), &["-c", "state", "--exclude", "tests"], build);
    assert_eq!(lines(&report), ["test: +level 2"]);
    assert_eq!(report["objectives"][0]["file"], "lib.c");
}

#[test]
fn state_belongs_to_the_variant_of_the_function_that_changes_it() {
    let count = "int total;\nvoid add(int n) { total += n * STEP; }\n";
    let main = "#include <assert.h>\nextern int total; void add(int);\n\
        int main(void) { add(2);\n#if STEP == 1\n  assert(total == 2);\n#else\n  assert(STEP == 3);\n#endif\n  return 0; }\n";
    let files = [("count.c", count), ("main.c", main)];
    let build = "for n in 1 3; do cc -DSTEP=$n -o p$n count.c main.c && ./p$n || exit 1; done";
    let (report, _) = measure(&files, &["-c", "state,stmt"], build);
    let objectives = report["objectives"].as_array().expect("objectives");
    let of_state = objectives.iter().filter(|objective| objective["criterion"] == "state");
    let mut found: Vec<String> = of_state
        .map(|objective| format!("{} {} {}", objective["text"], objective["variant"], objective["status"]))
        .collect();
    found.sort();
    let expected = ["\"total is checked\" \"-DSTEP=1\" \"covered\"", "\"total is checked\" \"-DSTEP=3\" \"uncovered\""];
    assert_eq!(found, expected);
}

#[test]
fn other_rules_need_no_new_run() {
    let text = "static int a, b;\n\
         static void verify(const int *p) { if (*p != 2) a = 0; }\n\
         int main(void) {\n  a = 1;\n  b = 2;\n  verify(&b);\n  return 0;\n}\n";
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("program.c"), text).expect("writable");
    let (report, _) = measure_in(scratch.path(), &["-c", "state"], "cc -o program program.c && ./program");
    assert_eq!(lines(&report), ["program: -a 4", "program: -b 5"]);
    // Neither the program nor its source is needed any more.
    std::fs::remove_file(scratch.path().join("program")).expect("it is there");
    let merge = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        let run = command.args(["merge", "--format", "json"]).args(words).current_dir(scratch.path());
        run.output().expect("touchstone runs")
    };
    for words in
        [&["out", "-o", "other", "--assertion", "verify"][..], &["other", "-o", "third", "--assertion", "ver*"]]
    {
        let run = merge(words);
        let report = serde_json::from_slice(&run.stdout).expect("JSON");
        assert_eq!(lines(&report), ["program: +b 5", "program: -a 4"], "{words:?}");
    }
    // A second merge to the same place is not one on top of the first.
    let again = merge(&["out", "-o", "other"]);
    assert_eq!(lines(&serde_json::from_slice(&again.stdout).expect("JSON")), ["program: -a 4", "program: -b 5"]);
    // Hits, a trace, and what marks the directory as ours.
    assert_eq!(std::fs::read_dir(scratch.path().join("other/hits")).expect("a directory").count(), 3);
    let onto_itself = merge(&["out", "-o", "out"]);
    let said = String::from_utf8_lossy(&onto_itself.stderr);
    assert!(!onto_itself.status.success() && said.contains("out is read and written; say by -o"), "{said}");
}

/// Files of a small project: a library with a stack, and a header of a framework in the style of a real one.
const STACK_H: &str = "struct stack { int size, peak, items[4]; };\n\
    void stack_init(struct stack *s);\nvoid stack_push(struct stack *s, int v);\nint stack_pop(struct stack *s);\n";
const STACK_C: &str = "#include \"stack.h\"\n\
    void stack_init(struct stack *s) {\n  s->size = 0;\n  s->peak = 0;\n}\n\
    void stack_push(struct stack *s, int v) {\n  s->items[s->size] = v;\n  s->size++;\n  if (s->size > s->peak)\n    s->peak = s->size;\n}\n\
    int stack_pop(struct stack *s) {\n  s->size--;\n  return s->items[s->size];\n}\n";

/// The state coverage of two tests of the stack: one asserts what it pops, the other the size.
const EXPECTED: [&str; 6] = [
    "pops: +stack.items[] (s of NAME) 7",
    "pops: +stack.size (s of NAME) 13",
    "pops: -stack.peak (s of NAME) 10",
    "pushes: -stack.items[] (s of NAME) 7",
    "pushes: +stack.size (s of NAME) 8",
    "pushes: -stack.peak (s of NAME) 10",
];

fn framework(header: (&str, &str), tests: &str, prefix: &str, suffix: &str) {
    let files = [("stack.h", STACK_H), ("stack.c", STACK_C), header, ("tests.c", tests)];
    let (report, run) = measure(&files, &["-c", "state,branch"], "cc -O1 -o tests tests.c stack.c && ./tests");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(0), "{said}");
    let mut expected: Vec<String> = EXPECTED
        .iter()
        .map(|line| {
            let (test, rest) = line.split_once(": ").expect("a test");
            format!("{prefix}{test}: {}", rest.replace("NAME", &format!("{prefix}{test}{suffix}")))
        })
        .collect();
    expected.sort();
    assert_eq!(lines(&report), expected, "{said}");
    // The suite: what a test covers is covered.
    let of_state = |status: &str| {
        let objectives = report["objectives"].as_array().expect("objectives").iter();
        let found = objectives.filter(|o| o["criterion"] == "state" && o["status"] == status);
        found
            .map(|o| format!("{} {}", o["function"].as_str().expect("text"), o["text"].as_str().expect("text")))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of_state("covered"),
        ["stack_pop stack.size is checked", "stack_push stack.items[] is checked", "stack_push stack.size is checked"]
    );
    assert_eq!(of_state("uncovered"), ["stack_push stack.peak is checked"]);
}

#[test]
fn assertions_in_the_style_of_unity_are_known() {
    let header = "void UnityAssertEqualNumber(long expected, long actual, const char *msg, unsigned line);\n\
        void UnityFail(const char *msg, unsigned line);\n\
        #define UNITY_TEST_ASSERT_EQUAL_INT(e, a, line, msg) UnityAssertEqualNumber((long)(e), (long)(a), (msg), (line))\n\
        #define TEST_ASSERT_EQUAL_INT(expected, actual) UNITY_TEST_ASSERT_EQUAL_INT((expected), (actual), __LINE__, 0)\n\
        #define TEST_ASSERT(condition) do { if (condition) {} else { UnityFail(#condition, __LINE__); } } while (0)\n\
        #define RUN_TEST(f) f()\n";
    let tests = "#include \"unity.h\"\n#include \"stack.h\"\n#include <stdlib.h>\n\
        void UnityAssertEqualNumber(long e, long a, const char *m, unsigned l) { if (e != a) exit(1); (void)m; (void)l; }\n\
        void UnityFail(const char *m, unsigned l) { (void)m; (void)l; exit(1); }\n\
        static void test_pops(void) { struct stack s; stack_init(&s); stack_push(&s, 5); TEST_ASSERT_EQUAL_INT(5, stack_pop(&s)); }\n\
        static void test_pushes(void) { struct stack s; stack_init(&s); stack_push(&s, 5); TEST_ASSERT(s.size == 1); }\n\
        int main(void) { RUN_TEST(test_pops); RUN_TEST(test_pushes); return 0; }\n";
    framework(("unity.h", header), tests, "test_", "");
}

#[test]
fn assertions_in_the_style_of_cmocka_are_known() {
    let header = "#include <stdio.h>\n#include <stdlib.h>\n\
        static inline void _assert_int_equal(unsigned long a, unsigned long b, const char *file, int line) {\n\
        \x20 if (a != b) { fprintf(stderr, \"%s:%d\\n\", file, line); abort(); }\n}\n\
        static inline void _assert_true(unsigned long result, const char *text, const char *file, int line) {\n\
        \x20 if (!result) { fprintf(stderr, \"%s:%d %s\\n\", file, line, text); abort(); }\n}\n\
        #define assert_int_equal(a, b) _assert_int_equal((unsigned long)(a), (unsigned long)(b), __FILE__, __LINE__)\n\
        #define assert_true(c) _assert_true((unsigned long)(c), #c, __FILE__, __LINE__)\n";
    let tests = "#include \"cmocka.h\"\n#include \"stack.h\"\n\
        static void test_pops(void **state) { struct stack s; (void)state; stack_init(&s); stack_push(&s, 5); assert_int_equal(stack_pop(&s), 5); }\n\
        static void test_pushes(void **state) { struct stack s; (void)state; stack_init(&s); stack_push(&s, 5); assert_true(s.size == 1); }\n\
        int main(void) { test_pops(0); test_pushes(0); return 0; }\n";
    framework(("cmocka.h", header), tests, "test_", "");
}

#[test]
fn assertions_in_the_style_of_check_are_known() {
    let header = "#include <stdint.h>\n#include <stdlib.h>\n\
        #define START_TEST(name) static void name##_fn(int _i) { (void)_i;\n#define END_TEST }\n\
        static inline void _ck_assert_failed(const char *file, int line, const char *text) { (void)file; (void)line; (void)text; abort(); }\n\
        static inline void _mark_point(const char *file, int line) { (void)file; (void)line; }\n\
        #define _ck_assert_int(X, OP, Y) do { intmax_t _ck_x = (X); intmax_t _ck_y = (Y); \\\n\
        \x20 (_ck_x OP _ck_y) ? _mark_point(__FILE__, __LINE__) : _ck_assert_failed(__FILE__, __LINE__, #X); } while (0)\n\
        #define ck_assert_int_eq(X, Y) _ck_assert_int(X, ==, Y)\n\
        #define ck_assert(e) ((e) ? _mark_point(__FILE__, __LINE__) : _ck_assert_failed(__FILE__, __LINE__, #e))\n";
    let tests = "#include \"check.h\"\n#include \"stack.h\"\n\
        START_TEST(pops) struct stack s; stack_init(&s); stack_push(&s, 5); ck_assert_int_eq(stack_pop(&s), 5); END_TEST\n\
        START_TEST(pushes) struct stack s; stack_init(&s); stack_push(&s, 5); ck_assert(s.size == 1); END_TEST\n\
        int main(void) { pops_fn(0); pushes_fn(0); return 0; }\n";
    framework(("check.h", header), tests, "", "_fn");
}

#[test]
fn processes_that_fork_crash_or_are_killed_keep_their_state() {
    let text = "#include <assert.h>\n#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
        static int before, child, parent, never;\n\
        int main(int argc, char **argv) {\n  before = 1;\n\
        \x20 if (argc > 1 && strcmp(argv[1], \"fork\") == 0) {\n    pid_t pid = fork();\n\
        \x20   if (pid == 0) {\n      child = before + 1;\n      assert(child == 2);\n      _exit(0);\n    }\n\
        \x20   parent = 3;\n    waitpid(pid, 0, 0);\n    assert(parent == 3);\n    return 0;\n  }\n\
        \x20 never = before + 1;\n  if (argc > 1 && strcmp(argv[1], \"kill\") == 0) raise(SIGKILL);\n\
        \x20 if (argc > 1) abort();\n  return 0;\n}\n";
    let command = "cc -o program program.c; ./program; ./program fork; ./program crash; ./program kill; true";
    let (report, run) = measure(&[("program.c", text)], &["-c", "state"], command);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(
        lines(&report),
        [
            "program crash: -before 9",
            "program crash: -never 22",
            "program fork: +before 9",
            "program fork: +child 13",
            "program fork: +parent 17",
            "program kill: -before 9",
            "program kill: -never 22",
            "program: -before 9",
            "program: -never 22",
        ],
        "{said}"
    );
}

#[test]
fn threads_share_memory_and_keep_their_own_calls() {
    let text = "#include <assert.h>\n#include <pthread.h>\n\
        static int seen[4], unseen;\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
        static int work(int n) { int sum = 0; for (int i = 0; i < 200; i++) sum += n; return sum; }\n\
        static void *run(void *at) {\n  int *p = at;\n  *p = work(1);\n  pthread_mutex_lock(&lock);\n  unseen++;\n  pthread_mutex_unlock(&lock);\n  return 0;\n}\n\
        int main(void) {\n  pthread_t t[4];\n  for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, run, &seen[i]);\n\
        \x20 for (int i = 0; i < 4; i++) pthread_join(t[i], 0);\n  for (int i = 0; i < 4; i++) assert(seen[i] == 200);\n  return 0;\n}\n";
    let (report, run) =
        measure(&[("program.c", text)], &["-c", "state"], "cc -pthread -o program program.c && ./program");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(lines(&report), ["program: +*p of run (seen) 8", "program: -unseen 10"], "{said}");
}

#[test]
fn a_bound_that_is_hit_is_reported_and_nothing_is_called_uncovered() {
    let text = "#include <assert.h>\nstatic int a;\nint main(void) { a = 1; for (volatile int i = 0; i < 1000; i++) {} assert(a == 1); return 0; }\n";
    let command = "cc -o program program.c && TOUCHSTONE_STATE_EVENTS=500 ./program";
    let (report, _) = measure(&[("program.c", text)], &["-c", "state"], command);
    let objective = &report["objectives"][0];
    assert_eq!((objective["status"].as_str(), objective["text"].as_str()), (Some("unknown"), Some("a is checked")));
    assert_eq!(objective["why"], "bound: TOUCHSTONE_STATE_EVENTS in test program");
}

/// Functions of every kind that can and that can't be there twice; `go` calls them all.
const OF_EVERY_KIND: &str = r#"#include <stdarg.h>
#include <stdio.h>
#include <string.h>
struct pair { int a, b; };
static int plain(int n, struct pair p) { p.a += n; n = p.a * 2; return n > 10 && p.b ? n : p.b; }
static void nothing(int *to) { *to += 1; if (*to % 3) return; *to += 2; }
static int counts(void) { static int calls; return ++calls; }
static int jumps(const char *s) {
    int n = 0;
again:
    if (!*s) goto done;
    n += *s++ == 'a';
    goto again;
done: return n;
}
static int falls(int n) {
    switch (n) {
    case 0: return 1;
    case 1: n = 5; /* through */
    default: unused: n += 3;
    }
    return n > 7 ? n > 8 ? n : 8 : n;
}
static int sum(int count, ...) {
    va_list list;
    int all = 0;
    va_start(list, count);
    while (count--) all += va_arg(list, int);
    va_end(list);
    return all;
}
static int old(a, b) int a; char b; { return a - b; }
static int sized(int n, int (*rows)[n]) { int copy[n]; memcpy(copy, rows[1], sizeof copy); return copy[n - 1]; }
static const char *name(register int n) { register int twice = n + n, more = twice, most; most = more; return most > 2 ? __func__ : "one"; }
static int one(int x) {return x ? x : 7;}
static int go(int i) {
    int to = i, rows[2][3] = {{1, 2, 3}, {4, 5, i}};
    struct pair p = {i, i & 1};
    nothing(&to);
    printf("%d %d %d %d %d %d %d %d %s %d\n", plain(i, p), to, counts(), jumps("banana"), falls(i), sum(3, i, 2, 3),
           old(i, 'a'), sized(3, rows), name(i), one(i));
    return to;
}
int main(void) {
    int i, all = 0;
    for (i = 0; i < 12; i++) all += go(i);
    return all == 98 ? 0 : 1;
}
"#;

#[test]
fn a_program_does_the_same_once_no_more_events_are_told_and_other_criteria_go_on() {
    let run = |build: &str, events: &str| {
        let command = format!(
            "{build} -w -o program program.c && TOUCHSTONE_STATE_EVENTS={events} ./program > said; echo $? >> said"
        );
        let scratch = tempfile::tempdir().expect("a scratch directory");
        std::fs::write(scratch.path().join("program.c"), OF_EVERY_KIND).expect("writable");
        let (report, run) = measure_in(scratch.path(), &["-c", "branch,mcdc,state"], &command);
        let stderr = String::from_utf8_lossy(&run.stderr);
        assert!(!stderr.contains("refuses") && !stderr.contains("not followed"), "{run:?}");
        let said = std::fs::read_to_string(scratch.path().join("said")).expect("it ran");
        let objectives = report["objectives"].as_array().expect("objectives").iter();
        let of_control = objectives.filter(|objective| objective["criterion"] != "state");
        let covered: Vec<String> =
            of_control.map(|objective| format!("{} {}", objective["id"], objective["status"])).collect();
        (said, covered)
    };
    let (builds, limits) = if super::support::long() { (3, 3) } else { (2, 1) };
    for build in &["cc -O2", "clang-19 -O2", "cc -O0 -std=gnu89"][..builds] {
        let whole = run(build, "100000");
        assert!(whole.0.lines().count() == 13 && whole.1.len() > 20, "{whole:?}");
        for events in &["60", "10", "700"][..limits] {
            assert_eq!(run(build, events), whole, "{build}, {events} events");
        }
    }
}

#[test]
fn a_threshold_on_state_decides_the_exit_code() {
    let text =
        "#include <assert.h>\nstatic int a, b;\nint main(void) { a = 1; b = 2; assert(a == 1); return b - 2; }\n";
    let check = |threshold: &str, code: i32| {
        let files = [("program.c", text)];
        let (_, run) =
            measure(&files, &["-c", "mcdc,state", "--fail-under", threshold], "cc -o program program.c && ./program");
        assert_eq!(run.status.code(), Some(code), "{threshold}: {}", String::from_utf8_lossy(&run.stderr));
    };
    check("state=50", 0);
    check("state=60", 2);
}
