//! The world around a function, modelled: unions, allocations that fail, variables of other files, registers, runs that hang.
//! Every objective of these programs is covered by a test that the real program agrees with, or proved to be infeasible; the
//! tests are readable, and run in every form.

use crate::support::forms::{ends, tried};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) struct Generated {
    pub(crate) out: PathBuf,
    objectives: Vec<Value>,
    pub(crate) shown: String,
    _scratch: tempfile::TempDir,
}

impl Generated {
    pub(crate) fn suite(&self, function: &str) -> String {
        std::fs::read_to_string(self.out.join(format!("test_{function}.c"))).expect("a readable suite")
    }

    pub(crate) fn status(&self, objective: &str) -> Vec<&str> {
        let ours = self.objectives.iter().filter(|one| one["text"] == objective);
        ours.filter_map(|one| one["status"].as_str()).collect()
    }
}

/// Runs `generate` on a program, with replay.
pub(crate) fn generate(program: &str, options: &[&str]) -> Generated {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let (file, out, report) =
        (scratch.path().join("program.c"), scratch.path().join("out"), scratch.path().join("report.json"));
    std::fs::write(&file, program).expect("a writable directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.arg("generate").arg(&file).args(options).arg("-o").arg(&out).arg("--json").arg(&report);
    let output = command.current_dir(scratch.path()).output().expect("touchstone runs");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!shown.contains("disagreed"), "{shown}");
    let text = std::fs::read_to_string(report).unwrap_or_else(|error| panic!("{error}\n{shown}"));
    let json: Value = serde_json::from_str(&text).expect("a report");
    let objectives = json["objectives"].as_array().expect("objectives").clone();
    Generated { out, objectives, shown, _scratch: scratch }
}

/// Checks that everything is covered, that the real program agrees, and that the suite of `f` contains the lines.
#[track_caller]
pub(crate) fn check(program: &str, options: &[&str], lines: &[&str]) -> Generated {
    let made = generate(program, options);
    let open: Vec<&Value> = made.objectives.iter().filter(|one| one["status"] != "covered").collect();
    assert!(open.is_empty() && made.shown.contains(" agreed"), "{open:?}\n{}", made.shown);
    let text = made.suite("f");
    for line in lines {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    made
}

/// Tests of every form pass.
#[track_caller]
pub(crate) fn check_forms(out: &Path, least: usize) {
    for form in tried() {
        let said = ends(out, form, "f", "FORM=1");
        assert!(!said.contains("failed") && !said.contains("not ok") && !said.contains("skip"), "{form}:\n{said}");
        assert!(said.lines().filter(|line| line.starts_with("ok")).count() >= least, "{form}:\n{said}");
    }
}

const TAGGED: &str = "#include <stddef.h>
enum kind { NONE, TEXT, REAL, CHILD, COUNT };
struct v { int tag; union { char *s; double d; struct v *child; long n; } u; };
int f(const struct v *v) {
    if (!v) return -1;
    switch (v->tag) {
    case TEXT: if (v->u.s == NULL) return -2; return v->u.s[0] == 'x' ? 1 : 2;
    case REAL: return v->u.d > 2.5 ? 3 : 4;
    case CHILD: if (v->u.child && v->u.child->tag == COUNT && v->u.child->u.n == 77) return 5; return 6;
    case COUNT: if (v->u.n < 0 && v->u.n > -10) return 7; return 8;
    }
    return 0;
}
";

#[test]
fn a_tagged_union_is_of_the_member_that_the_program_looks_at() {
    let lines = ["{.s = &v_u_s}}", "{.d = ", "{.child = &v_u_child}}", "{.n = 77}}", "CHECK_PTR(&v_u_s, v.u.s);"];
    let made = check(TAGGED, &["-c", "mcdc,branch", "--emit", &tried().join(",")], &lines);
    check_forms(&made.out, 10);
}

#[test]
fn members_that_begin_alike_are_told_apart_by_what_they_do_not_share() {
    let program = "struct key { int type; int code; };
struct mouse { int type; int x, y; char *name; };
union event { int type; struct key key; struct mouse m; };
int f(const union event *e) {
    if (!e) return -1;
    if (e->type == 1 && e->key.code == 13) return 1;
    if (e->type == 2) {
        if (e->m.x > 10 && e->m.y < 5) return 2;
        if (e->m.name && e->m.name[0] == 'q') return 3;
    }
    return 0;
}
";
    check(program, &["-c", "mcdc"], &["{.key = {1, 13}}", "{.m = {.type = 2, .x = "]);
}

#[test]
fn unions_are_inputs_by_value_in_globals_and_in_copies() {
    let program =
        "struct anon { char kind; union { const char *text; int number; struct { short lo, hi; void *p; }; }; };
static struct anon table[3];
static int by_value(struct anon a) {
    if (a.kind == 't') return a.text && *a.text == 'z';
    if (a.kind == 'n') return a.number == 4242;
    if (a.kind == 'p') return a.lo == 3 && a.hi == 9 && a.p != 0;
    return 7;
}
int f(unsigned i, struct anon *p, struct anon v) {
    struct anon c;
    if (i >= 3 || !p) return -1;
    if (table[i].kind == 'n' && table[i].number == 5) return 1;
    if (table[i].kind == 't' && table[i].text && table[i].text[0] == 'a') return 2;
    c = *p;
    if (c.kind == 'n') return c.number > 100 ? 4 : 5;
    if (c.kind == 't') return c.text ? (c.text[0] == 'b' ? 6 : 7) : 9;
    return by_value(v);
}
";
    check(program, &["-c", "mcdc"], &[".kind = 'n', .number = 5", ".text = &"]);
}

#[test]
fn what_a_function_writes_into_a_union_is_checked() {
    let program = "struct v { int tag; union { char *s; long n; double d; } u; };
int f(struct v *v, long n) {
    if (!v) return 0;
    if (n > 5) { v->tag = 1; v->u.n = n + 1; return 1; }
    v->u.s = 0;
    return 2;
}
";
    check(program, &["-c", "branch"], &["v.u.n);", "CHECK_PTR(NULL, v.u.s);"]);
}

/// A union whose bytes another pointer may write is not taken for unchanged.
#[test]
fn a_union_may_change_under_a_write_through_another_pointer() {
    let program = "union u { int *p; long n; };
int f(union u *a, union u *b) {
    if (!a || !b) return 0;
    if (a->n != 1) return 1;
    b->n = 2;
    if (a->n == 2) return 2;
    return 3;
}
";
    let made = check(program, &["-c", "branch"], &[]);
    assert_eq!(made.status("a->n == 2 is true"), ["covered"], "{}", made.shown);
}

const ALLOCATING: &str = "#include <stdlib.h>
#include <string.h>
#include <errno.h>
struct list { char *name; int *items; };
int f(struct list *l, const char *name, int n) {
    if (!l || !name) return -1;
    l->name = strdup(name);
    if (!l->name) return -2;
    if (n > 3) n = 3;
    l->items = calloc(4, sizeof(int));
    if (!l->items) {
        if (errno == ENOMEM) { free(l->name); l->name = 0; return -3; }
        return -4;
    }
    l->items[0] = n;
    int *more = realloc(l->items, 8 * sizeof(int));
    if (!more && n > 1) return -5;
    if (more) l->items = more;
    return l->items[0];
}
";

#[test]
fn the_allocation_that_an_objective_needs_to_fail_fails() {
    let options = ["-c", "branch", "--timeout", "3", "--emit", &tried().join(",")];
    let made = generate(ALLOCATING, &options);
    for (objective, status) in [
        ("!l->name is true", "covered"),
        ("!l->items is true", "covered"),
        ("errno == ENOMEM is true", "covered"),
        ("!more && n > 1 is true", "covered"),
        ("more is false", "covered"),
    ] {
        assert_eq!(made.status(objective), [status], "{objective}\n{}", made.shown);
    }
    let text = made.suite("f");
    for line in ["FAIL_ALLOCATION(1);", "FAIL_ALLOCATION(2);", "FAIL_ALLOCATION(3);"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    check_forms(&made.out, 6);
}

#[test]
fn no_allocation_fails_where_that_is_said() {
    let program = "#include <stdlib.h>\nint f(int n) { int *p = malloc(4); if (!p) return 1; *p = n; n = *p + 1; free(p); return n; }\n";
    let may = generate(program, &["-c", "branch"]);
    assert_eq!(may.status("!p is true"), ["covered"], "{}", may.shown);
    let never = generate(program, &["-c", "branch", "--malloc", "never-fails"]);
    assert_eq!(never.status("!p is true"), ["infeasible"], "{}", never.shown);
    assert!(never.shown.contains("no allocation fails"), "{}", never.shown);
}

/// Only what asks whether memory is there has a path more.
#[test]
fn allocations_multiply_paths_only_where_the_program_asks() {
    let paths = |program: &str, options: &[&str]| {
        let made = generate(program, &[&["-c", "paths"], options].concat());
        made.suite("f").matches("\nTEST(").count()
    };
    let program = "#include <stdlib.h>\nint f(int n) {
        int *p = malloc(4), *q = malloc(4);
        if (!p) { free(q); return 1; }
        if (!q) { free(p); return 2; }
        free(p); free(q);
        return n > 3;
    }\n";
    assert_eq!(paths(program, &[]), 3);
    assert_eq!(paths(program, &["--malloc", "never-fails"]), 1);
}

#[test]
fn variables_of_other_files_are_set_also_constant_ones() {
    let program = "extern unsigned level;
extern const unsigned limit;
extern const struct cfg { int lo, hi; } cfg;
extern const int table[4];
int f(unsigned x) {
    if (level > 3) x++;
    if (x > limit) return 1;
    if (cfg.lo < cfg.hi && table[2] == 7) return 2;
    return 0;
}
";
    let lines = ["SET(limit, ", "SET(cfg, {", "SET(table, {0, 0, 7, 0});"];
    let made = check(program, &["-c", "mcdc", "--emit", &tried().join(",")], &lines);
    check_forms(&made.out, 4);
}

const REGISTERS: &str = "typedef unsigned int uint32_t;
typedef struct { volatile uint32_t CR, SR; volatile unsigned short DR; } ADC;
#define ADC1 ((ADC *)0x40012400)
#define GPIO (*(volatile uint32_t *)0x40010808)
#define ID (*(const uint32_t *)0x1ffff7e8)
static int shift(ADC *adc, unsigned by) { adc->CR |= by; return adc->SR & 4 ? 1 : 0; }
int f(unsigned n) {
    if (n > 9) { GPIO = n; return -1; }
    ADC1->CR = 1;
    while (!(ADC1->SR & 2));
    if (ADC1->DR > 0x800) return 1;
    if (GPIO == 5 && GPIO == 6) return 2;
    if (ID == 7 && ID != 7) return 3;
    return shift(ADC1, n) + 4;
}
";

#[test]
fn registers_answer_volatile_reads_one_by_one_and_keep_the_others() {
    let made = generate(REGISTERS, &["-c", "branch", "--timeout", "3", "--emit", &tried().join(",")]);
    for (objective, status) in [
        ("!(ADC1->SR & 2) is true", "covered"),
        ("!(ADC1->SR & 2) is false", "covered"),
        ("ADC1->DR > 0x800 is true", "covered"),
        ("GPIO == 5 && GPIO == 6 is true", "covered"),
        ("adc->SR & 4 is true", "covered"),
    ] {
        assert_eq!(made.status(objective), [status], "{objective}\n{}", made.shown);
    }
    assert_ne!(made.status("ID == 7 && ID != 7 is true"), ["covered"], "{}", made.shown);
    assert!(made.shown.contains(" agreed"), "{}", made.shown);
    let text = made.suite("f");
    for line in ["REGISTERS();", "READS(0x40012404, unsigned int, 0);", "READS(0x40012408, unsigned short, "] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    check_forms(&made.out, text.matches("\nTEST(").count());
}

#[test]
fn a_loop_that_has_no_end_and_does_nothing_is_an_end_of_its_own() {
    let program = "static void check(int ok) { if (!ok) for (;;); }
int f(int n) {
    check(n != 7);
    if (n > 100) { if (n == 200) while (1) { } return 1; }
    return 2;
}
";
    let made = check(program, &["-c", "branch"], &["EXPECT_HANG();", "MUST_HANG();"]);
    assert_eq!(made.status("n == 200 is true"), ["covered"], "{}", made.shown);
    let complete = generate(program, &["-c", "paths"]);
    assert!(!complete.shown.contains("\nincomplete\n"), "{}", complete.shown);
    assert_eq!(complete.suite("f").matches("\nTEST(").count(), 4, "{}", complete.suite("f"));
}

const FILES: &str = "#include <stdio.h>
int f(const char *name, FILE *log, int keep) {
    char line[8];
    int marked = 0;
    FILE *in = fopen(name, keep ? \"a\" : \"r\");
    if (!in)
        return -1;
    if (keep) {
        fprintf(in, \"%d\", keep);
        return fclose(in) == 0 ? -2 : -3;
    }
    while (fgets(line, sizeof line, in))
        if (line[0] == '#' && line[1] != '!')
            marked++;
    if (feof(in) && log)
        fputs(\"end\", log);
    fseek(in, 0, SEEK_END);
    if (ftell(in) > 2 && ungetc(fgetc(in), in) == EOF)
        marked += 10;
    fclose(in);
    return marked;
}
int g(FILE *in) {
    int c = getc(in);
    if (c == 'x')
        return 1;
    return ferror(in) ? 2 : 3;
}
";

#[test]
fn files_are_made_in_memory_in_every_form() {
    let made = generate(FILES, &["-c", "mcdc", "--timeout", "10", "--emit", &tried().join(",")]);
    for (objective, status) in [
        ("in is true and independently affects the outcome", "covered"),
        ("in is false and independently affects the outcome", "covered"),
        ("line[0] == '#' is true and independently affects the outcome", "covered"),
        ("line[1] != '!' is false and independently affects the outcome", "covered"),
        ("ftell(in) > 2 is true and independently affects the outcome", "covered"),
        ("c == 'x' is true and independently affects the outcome", "covered"),
        ("fclose(in) == 0 is false and independently affects the outcome", "covered"),
        ("ferror(in) is true and independently affects the outcome", "covered"),
    ] {
        assert_eq!(made.status(objective), [status], "{objective}\n{}", made.shown);
    }
    assert!(made.shown.contains(" agreed") && !made.shown.contains("disagree"), "{}", made.shown);
    let text = made.suite("f");
    for line in ["= STREAM();", "FILE_WITH(\"#", "NO_FILE();"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("MOST_STREAMS"), "titles tell the program's conditions:\n{text}");
    check_forms(&made.out, text.matches("\nTEST(").count());
}

#[test]
fn a_stream_behind_a_void_pointer_is_one_and_proofs_follow_it() {
    let program = "#include <stdio.h>
struct source { int (*get)(struct source *); void *stream; };
int f(struct source *s) { int c = fgetc(s->stream); if (c == 'x') return 1; return 0; }
int g(FILE *in) { int c = fgetc(in); if (c > 300) return 2; return 0; }
int h(void *out, const char *what) { if (fwrite(what, 1, 3, out) == 3) return 1; return 0; }
";
    let made = generate(program, &["-c", "mcdc", "--assume", "initial-state,separate-objects"]);
    assert!(made.suite("f").contains("STREAM()"), "{}", made.suite("f"));
    for row in ["f         mcdc           2/2", "g         mcdc           1/2           1        0"] {
        assert!(made.shown.contains(row), "{}", made.shown);
    }
    // Written output is compared.
    assert!(!made.shown.contains("disagreed"), "{}", made.shown);
}

const FAILING: &str = "#include <errno.h>
#include <stdio.h>
int f(const char *name, const char *text) {
    FILE *out = fopen(name, \"w\");
    int failed = 0;
    if (!out)
        return -1;
    if (fputs(text, out) == EOF)
        failed = 1;
    if (fflush(out))
        failed |= 2;
    if (ferror(out))
        failed |= 4;
    if (fclose(out) == EOF)
        failed |= 8;
    return failed;
}
int g(FILE *in, FILE *out) {
    char bytes[4];
    size_t n = fread(bytes, 1, sizeof bytes, in);
    if (ferror(in))
        return n == 0 ? 1 : 2;
    if (fwrite(bytes, 1, n, out) != n || fprintf(out, \"%d\", (int)n) < 0 || fputc('x', out) == EOF)
        return 3;
    return 4;
}
int h(FILE *in) {
    char line[8];
    if (fseek(in, 0, SEEK_END))
        return -errno;
    rewind(in);
    if (!fgets(line, sizeof line, in))
        return ferror(in) ? -3 : -4;
    return feof(in) ? 1 : 2;
}
";

#[test]
fn streams_fail_as_those_of_the_library_do_in_every_form() {
    let made = generate(FAILING, &["-c", "mcdc", "--timeout", "10", "--emit", &tried().join(",")]);
    for row in ["f         mcdc         10/10", "g         mcdc         10/10", "h         mcdc           8/8"] {
        assert!(made.shown.contains(row), "{row} is not in\n{}", made.shown);
    }
    assert!(made.shown.contains(" agreed"), "{}", made.shown);
    let text = made.suite("f") + &made.suite("g") + &made.suite("h");
    for line in ["\"flush", "close\"", "\"read", "write\"", "write2\"", "\"seek\"", "CHECK_INT(-29, result);"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    check_forms(&made.out, made.suite("f").matches("\nTEST(").count());
}

/// A failure of a file that did not open does not carry over to another stream.
#[test]
fn a_file_that_does_not_open_leaves_nothing_to_the_next_stream() {
    let program = "#include <stdio.h>
int f(const char *name, FILE *other) {
    FILE *own = fopen(name, \"w\");
    if (own)
        return fclose(own);
    fputs(\"x\", other);
    return fflush(other) ? 1 : 2;
}
";
    let made = generate(program, &["-c", "branch", "--timeout", "3"]);
    assert!(made.shown.contains("replay: 2 agreed\n"), "{}", made.shown);
}

/// A failing operation sets an error number; that no test produces it is no proof.
#[test]
fn output_that_fails_may_leave_any_error_number() {
    let program = "#include <errno.h>
#include <stdio.h>
int f(FILE *log) { errno = 0; fputs(\"a\", log); return errno == ENOSPC ? 1 : 0; }
int g(int n) { errno = 0; printf(\"%d\", n); return errno == ENOSPC ? 1 : 0; }
int h(int n) { errno = 0; do putchar('a'); while (n-- > 0); return errno == ENOSPC ? 1 : 0; }
";
    // The loop of `h` is short, so that the search is exhaustive.
    let options = ["-c", "mcdc", "--assume", "initial-state,separate-objects", "--range", "n=0..2"];
    let made = generate(program, &options);
    assert_eq!(
        made.status("errno == ENOSPC is true and independently affects the outcome"),
        ["unknown"; 3],
        "{}",
        made.shown
    );
}

#[test]
fn variables_of_the_environment_are_inputs_of_functions_in_every_form() {
    let program = "#include <stdlib.h>
int f(int n) {
    const char *home = getenv(\"TOUCHSTONE_HOME\");
    if (!home)
        return 1;
    if (home[0] == '/' && n > 2)
        return 2;
    return getenv(\"TOUCHSTONE_HOME\") == home ? 3 : 4;
}
";
    let made = generate(program, &["-c", "branch", "--emit", &tried().join(",")]);
    assert_eq!(made.status("!home is true"), ["covered"], "{}", made.shown);
    assert_eq!(made.status("home[0] == '/' && n > 2 is true"), ["covered"], "{}", made.shown);
    let text = made.suite("f");
    for line in ["ENVIRONMENT(\"TOUCHSTONE_HOME\", NULL);", "ENVIRONMENT(\"TOUCHSTONE_HOME\", \"/"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    check_forms(&made.out, 3);
}

#[test]
fn a_callback_may_take_a_list_of_variable_arguments() {
    let program = "#include <stdarg.h>
typedef int (*printer)(void *out, const char *format, va_list *list);
int f(printer print, const char *format, ...) {
    va_list list;
    int n = -1;
    va_start(list, format);
    if (print)
        n = print(0, format, &list);
    va_end(list);
    return n > 3 ? 1 : n;
}
";
    let made = check(program, &["-c", "mcdc"], &["__builtin_va_list *"]);
    assert!(!made.shown.contains("not checkable"), "{}", made.shown);
}

#[test]
fn pointers_into_objects_name_the_part() {
    let program = "struct list { struct list *next; void *end; char tag[8]; struct { short a; int b; } in; };
void *f(struct list *l, int n) {
    if (!l) return 0;
    if (n == 1) return &l->end;
    if (n == 2) return &l->tag[3];
    if (n == 3) return &l->in.b;
    return l->end = &l->in;
}
";
    let made =
        check(program, &["-c", "mcdc"], &["&l.end, result", "&l.tag[3], result", "&l.in.b, result", "&l.in, result"]);
    assert!(!made.suite("f").contains("(char *)"), "{}", made.suite("f"));
}

#[test]
fn inline_functions_of_a_header_are_tested_once_unless_files_make_others_of_them() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let write = |name: &str, text: &str| std::fs::write(scratch.path().join(name), text).expect("a writable directory");
    write(
        "h.h",
        "static inline int top(int a) { return a > 9 ? 9 : a; }
static inline int limited(int a) { return a > LIMIT && a < 10; }
static int own(int a);
static inline int asks(int a) { return own(a) ? 1 : 2; }
",
    );
    for (file, limit) in [("a", 300), ("b", 3)] {
        let text = format!(
            "#define LIMIT {limit}\n#include \"h.h\"\nstatic int own(int a) {{ return a > LIMIT; }}\n\
             int f{file}(int x) {{ return top(x) + limited(x) + asks(x); }}\n"
        );
        write(&format!("{file}.c"), &text);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(["generate", "a.c", "b.c", "-c", "branch", "-o", "out"]).current_dir(scratch.path());
    let output = command.output().expect("touchstone runs");
    let shown = String::from_utf8_lossy(&output.stdout);
    let of = |name: &str| shown.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!((of("top "), of("own"), of("fa "), of("fb ")), (1, 2, 1, 1), "{shown}");
    assert_eq!((of("limited"), of("asks")), (2, 2), "{shown}");
    // Each is tested in its own file.
    assert!(shown.contains(" agreed") && !shown.contains("disagree"), "{shown}");
}

#[test]
fn memcmp_accesses_all_bytes_also_behind_the_first_difference() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let run = |size: u32| {
        let text = format!(
            "#include <string.h>\nint main(void) {{ char a[2], b[2]; a[0] = 1; b[0] = 2; return memcmp(a, b, {size}) > 0; }}"
        );
        let file = scratch.path().join("compare.c");
        std::fs::write(&file, text).expect("a writable directory");
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        let output = command.arg("run").arg(&file).output().expect("touchstone runs");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    // The second byte has no value, but it exists.
    assert!(!run(2).contains("out of bounds") && !run(2).contains("uninitialised"), "{}", run(2));
    assert!(run(4).contains("out of bounds"), "{}", run(4));
}

#[test]
fn functions_of_byte_order_are_modelled_and_linked() {
    let program = "#include <arpa/inet.h>\nint f(unsigned n) { if (htonl(ntohl(n)) != n) return 2; \
                   return ntohs((unsigned short)n) == 0x1234; }";
    let made = generate(program, &["-f", "f", "-c", "branch"]);
    assert_eq!(made.status("htonl(ntohl(n)) != n is true"), ["infeasible"], "{}", made.shown);
}
