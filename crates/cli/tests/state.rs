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

/// What every test changed: `test: +name line` if an assertion depends on it, else `test: -name line`.
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

#[track_caller]
fn check_with(text: &str, options: &[&str], expected: &[&str]) {
    for flags in ["-O0", "-O2"] {
        let files = [("program.c", format!("#include <assert.h>\n{text}"))];
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let (report, run) =
            measure(&files, options, &format!("cc {flags} -Wall -Werror -o program program.c && ./program"));
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(0), "{said}");
        assert!(!said.contains("not followed"), "{said}");
        let mut expected: Vec<String> = expected.iter().map(|line| format!("program: {line}")).collect();
        expected.sort();
        assert_eq!(lines(&report), expected, "{flags}\n{text}\n{said}");
    }
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
    check(
        "static int a, b, c;\n\
         static int twice(int x) { int y = x; y += x; return y; }\n\
         static int seen(int x, int ignored) { (void)ignored; return x; }\n\
         int main(void) {\n  a = 1;\n  b = 2;\n  c = 3;\n  int t = twice(a);\n  assert(seen(t, b) == 2);\n  return c == 0;\n}\n",
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
    // A value depends also on what could have changed it and did not.
    check(&main("int x = 1; if (a == 0) x = c; return x;"), &["+a 5", "-b 6", "-c 7"]);
    check(&main("int x; do { x = b; } while (0); return x;"), &["-a 5", "+b 6", "-c 7"]);
}

#[test]
fn the_last_update_counts() {
    // Written over before the assertion: one state, last written on line 5, and that is seen.
    check("static int a;\nint main(void) {\n a = 1;\n a = 2;\n assert(a == 2);\n return 0; }\n", &["+a 5"]);
    // Asserted first, changed afterwards: nobody looks at what it is in the end.
    check("static int a;\nint main(void) {\n a = 1;\n assert(a == 1);\n a = 2;\n return 0; }\n", &["-a 6"]);
    // What it was has influence on what it is: the update is seen.
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
         static struct box global;\n\
         int main(void) {\n  struct box here;\n  struct box *one = malloc(sizeof *one);\n  struct box *two = malloc(sizeof *two);\n\
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
    check(
        "static int buffer[4], calls;\nstatic int *next(int *p) {\n  calls++;\n  return p + 1;\n}\n\
         struct bits { unsigned a : 3, b : 5; };\nstatic struct bits flags;\n\
         int main(void) {\n  int *p = buffer, i = 0;\n  *p++ = 1;\n  *next(buffer) = 2;\n  buffer[2 + i++] = 3;\n\
         \x20 flags.a = 1;\n  flags.b = 2;\n  int x, y;\n  x = y = buffer[1];\n  assert(p == buffer + 1 && i == 1 && x + y == 4 && calls == 1);\n\
         \x20 assert(buffer[0] == 1 && buffer[2] == 3 && flags.b == 2);\n  return 0;\n}\n",
        &[
            "+*next() (buffer) 12",
            "+*p of main (buffer) 11",
            "+buffer[] 13",
            "+bits.b (flags) 15",
            "+calls 4",
            "-bits.a (flags) 14",
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
