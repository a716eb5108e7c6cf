//! Emitted tests meet what users' programs bring: macros, odd types, odd names, flags, files. None loses the report, and
//! what can't be tested is named.

use std::path::{Path, PathBuf};
use std::process::Command;

struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Project {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a directory");
            std::fs::write(path, text).expect("a written file");
        }
        Project { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.current_dir(self.dir.path()).arg("generate").args(words);
        command
    }

    /// Returns the output of `generate`, on both streams.
    fn says(&self, words: &[&str]) -> String {
        let output = self.command(words).output().expect("touchstone runs");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    /// The same, where all tests must agree.
    fn agrees(&self, words: &[&str]) -> String {
        let said = self.says(words);
        assert!(said.contains(" agreed") && !said.contains("disagree"), "{said}");
        assert!(!said.contains("not checkable"), "{said}");
        said
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a readable file")
    }
}

#[test]
fn functions_may_be_called_like_what_the_runner_calls() {
    let text = "int poll(int x) { return x > 3 ? 1 : 2; }\nint read(int x) { return x == 9; }\nint write(int x) { return x < 0; }\n\
                int fork(void) { return 5; }\nint pipe(int x) { return -x; }\nint waitpid(int x) { return x + 1 > 3; }\n\
                int close(int x) { return x; }\nint open(int x) { return x; }\nint dup2(int x) { return x; }\n";
    Project::new(&[("a.c", text)]).agrees(&["a.c", "-c", "branch,stmt"]);
}

#[test]
fn macros_of_the_program_reach_no_text_of_a_test() {
    let project = Project::new(&[(
        "a.c",
        "#define unused\n#define result 3 +\n#define expected x\n#define name(x) y\n#define size 4\n#define TEST 1\n\
         #define CHECK_INT 2\n#define text \"foo\"\n#define row 5\n#define value {\n#define count )\n#define run 1\n\
         #define min(a, b) ((a) < (b) ? (a) : (b))\n\
         int (min)(int a, int b) { if (a < b) return a; return b; }\n\
         int SET(int a) { if (a == 3) return 1; return 0; }\n\
         struct s { int len; struct s *next; };\n\
         int outside(int measured);\n\
         int g(struct s *p) { if (p && p->len == 3 && p->next && p->next->len == outside(7)) return 1; return 0; }\n\
         #define len 5\n#define p_next 7\n#define p ]\n#define measured (\n",
    )]);
    project.agrees(&["a.c", "-c", "branch", "--externals", "inputs"]);
    project.agrees(&["a.c", "-c", "paths"]);
}

#[test]
fn what_a_function_frees_or_resizes_is_a_block_of_the_heap() {
    let project = Project::new(&[(
        "a.c",
        "#include <stdlib.h>\nstruct node { int n; struct node *next; };\n\
         int drop(struct node *p) { int sevens = 0; while (p) { struct node *next = p->next; if (p->n == 7) sevens++; free(p); p = next; }\n\
             if (sevens == 2) return 1; return 0; }\n\
         char *longer(char *s, unsigned char n) { if (!s || n < 3) return s; s = realloc(s, n); if (s[0] == 'x') return s; s[n - 1] = 0; return s; }\n",
    )]);
    let said = project.agrees(&["a.c", "-c", "branch", "--assume", "allocation"]);
    assert!(!said.contains("invalid free") && !said.contains(" unknown\n"), "{said}");
    let text = project.text("touchstone-out/test_drop.c");
    assert!(text.contains("struct node *p = __builtin_malloc(sizeof *p);\n    SET(*p, {"), "{text}");
}

#[test]
fn what_only_an_error_covers_is_counted_apart() {
    let text = "#include <stdlib.h>\nint f(int x) { if (x == 5) abort(); if (x == 6) return 1; return 0; }\n";
    let project = Project::new(&[("a.c", text)]);
    let said = project.says(&["a.c", "-c", "branch"]);
    assert!(said.contains("covered by an error\n  1 objective has no test that returns: f 1\n"), "{said}");
    let json = project.says(&["a.c", "-c", "branch", "--format", "json"]);
    assert_eq!(json.matches("\"by_error\": true").count(), 1, "{json}");
    assert!(json.contains("\"by_error\": 1"), "{json}");
    // With `rte` alone, only errors are requested.
    let said = project.says(&["a.c", "-c", "rte"]);
    assert!(!said.contains("covered by an error"), "{said}");
}

#[test]
fn a_torn_file_of_ours_is_ours() {
    let project = Project::new(&[("a.c", "int f(int x) { if (x) return 1; return 0; }\n")]);
    let place = project.path("touchstone-out/test_f.c");
    for torn in ["", "/* Te", "/* Tests of f in", "/* No tests of f: they do not compile: a.c: x */\n"] {
        std::fs::create_dir_all(project.path("touchstone-out")).expect("a directory");
        std::fs::write(&place, torn).expect("a written file");
        project.agrees(&["a.c", "-c", "branch"]);
    }
    std::fs::write(&place, "/* my tests */\n").expect("a written file");
    let said = project.says(&["a.c", "-c", "branch"]);
    assert!(said.contains("was not written by Touchstone"), "{said}");
}

#[test]
fn a_list_of_variable_arguments_is_passed_where_none_is_read() {
    let project = Project::new(&[(
        "a.c",
        "#include <stdarg.h>\nint f(int x, va_list ap) { if (x > 3) return 1; return 0; }\n\
         int h(int x) { if (x) return 1; return 2; }\n",
    )]);
    project.agrees(&["a.c", "-c", "branch"]);
}

#[test]
fn inline_functions_and_code_that_asks_for_sanitizers_agree() {
    let project = Project::new(&[(
        "a.c",
        "#if defined(__SANITIZE_ADDRESS__)\n#define N 3\n#else\n#define N 4\n#endif\n\
         inline int limit(int x) { if (x > 3) return 3; return x; }\n\
         int use(int x) { if (x == 2) return limit(x); return limit(x) + 1; }\n\
         int errs(int x) { int a[N] = {0}; if (x < 0) return 0; return a[x] / (x - 3); }\n",
    )]);
    std::fs::write(
        project.path("b.c"),
        "#include \"inl.h\"\ninline int twice(int x) { return 2 * x; }\nint b(int x) { return twice(x) + shared(x); }\n",
    )
    .expect("a written file");
    let header = "inline int shared(int x) { return x == 4 ? 9 : 1; }\n";
    std::fs::write(project.path("inl.h"), header).expect("a written file");
    let other = "#include \"inl.h\"\nextern int shared(int);\nint b(int);\nint top(int x) { if (b(x) == 17) return 1; return shared(x); }\n";
    std::fs::write(project.path("c.c"), other).expect("a written file");
    project.agrees(&["a.c", "b.c", "c.c", "-c", "branch"]);
    project.agrees(&["a.c", "-f", "errs", "-c", "rte"]);
}

#[test]
fn results_that_are_null_or_lead_to_the_heap_are_checked() {
    let source = "#include <stdlib.h>\n#include <string.h>\nstruct n { int v; struct n *next; const char *s; };\n\
        struct n *one(int v) { struct n *p = malloc(sizeof *p); if (!p) abort(); p->v = v WRONG; p->next = 0; p->s = \"end\"; return p; }\n\
        struct n *make(int v) { if (v < 0) return NULLED; struct n *p = one(v); if (v == 7) p->next = one(8); return p; }\n\
        char *text(int x) { char *r = malloc(8); if (!r) abort(); strcpy(r, x == 5 ? \"five\" : \"a\\\"b\"); return r; }\n";
    let project = Project::new(&[("a.c", source)]);
    project.agrees(&["a.c", "-f", "make", "-f", "text", "-c", "branch", "-o", "out", "--", "-DWRONG=", "-DNULLED=0"]);
    let make = project.text("out/test_make.c");
    for line in ["CHECK_PTR(NULL, result);", "CHECK_NOT_NULL(result);", "CHECK_INT(8, (*(*result).next).v);"] {
        assert!(make.contains(line), "{line} is not in\n{make}");
    }
    assert!(make.contains("CHECK_STRING(\"end\", (*result).s);"), "{make}");
    assert!(project.text("out/test_text.c").contains("CHECK_STRING(\"a\\\"b\", result);"));
    let built = |flags: &[&str]| {
        let mut command = Command::new("cc");
        command.current_dir(project.dir.path()).args(flags).args([
            "out/test_make.c",
            "out/touchstone_test.c",
            "-o",
            "t",
        ]);
        assert!(command.status().expect("a compiler").success());
        Command::new(project.path("t")).status().expect("a program").success()
    };
    assert!(built(&["-DWRONG=", "-DNULLED=0"]));
    assert!(!built(&["-DWRONG=+1", "-DNULLED=0"]), "a wrong value on the heap is seen");
    assert!(!built(&["-DWRONG=", "-DNULLED=one(v)"]), "an address instead of null is seen");
}

#[test]
fn what_only_the_library_makes_is_no_input() {
    let project = Project::new(&[(
        "a.c",
        "#include <regex.h>\nint f(regex_t *f, int x) { if (!f) return -1; if (x > 3) return f->re_nsub > 2; return 0; }\n",
    )]);
    let said = project.agrees(&["a.c", "-c", "branch"]);
    assert!(said.contains("a `regex_t` that the library did not make as an input"), "{said}");
    assert!(said.contains("1/4           0        3"), "what it guards is unknown, not covered: {said}");
}

#[test]
fn what_a_null_pointer_covers_is_covered_though_a_made_up_object_came_first() {
    let text = "#include <regex.h>\nint f(regex_t *f, int x) { int r = 0; if (f) r = 1; if (x > 3) return r + 1; return r; }\n";
    let project = Project::new(&[("a.c", text)]);
    let said = project.agrees(&["a.c", "-c", "branch"]);
    assert!(said.contains("3/4           0        1"), "only `f` is not null has no test, and is unknown: {said}");
}

#[test]
fn anonymous_members_are_initialised_and_checked() {
    let project = Project::new(&[(
        "a.c",
        "struct v { int kind; union { int i; float f; struct { short a, b; }; }; struct { char c; int d; }; };\n\
         int take(struct v *x) { if (x->kind == 1 && x->i == 77) return 1; if (x->kind == 2 && x->b == 5) { x->d = 4; return 2; }\n\
         if (x->c == 'z' && x->d == 9) return 3; return 0; }\n\
         struct v v; int glob(void) { if (v.kind == 4 && v.i == 9 && v.d == 8) return 1; return 0; }\n\
         struct w { char pad; union { struct { double z; int *p; }; char t[3]; }; };\n\
         int part(struct w w) { if (w.pad == 1 && w.p && *w.p == 3) return 1; return 0; }\n",
    )]);
    project.agrees(&["a.c", "-c", "branch"]);
}

#[test]
fn a_test_that_does_not_compile_is_named_and_left_out_and_the_report_stays() {
    let project = Project::new(&[
        (
            "a.c",
            "int f(int x) { if (x == 3) return 42; if (x == 4) return 43; return 0; }\nint g(int x) { if (x) return 99; return 1; }\n",
        ),
        (
            "cc.sh",
            "#!/bin/sh\nfor word; do case \"$word\" in *.c)\n\
             if grep -q 'CHECK_INT(99' \"$word\" && [ -n \"$WHOLE\" ]; then echo \"$word:2:1: error: no good file\" >&2; exit 1; fi\n\
             line=$(grep -n 'CHECK_INT(42' \"$word\" | cut -d: -f1)\n\
             if [ -n \"$line\" ]; then echo \"$word:$line:5: error: no good */ test\" >&2; exit 1; fi;;\n\
             esac; done\nexec cc \"$@\"\n",
        ),
    ]);
    let mut script = Command::new("chmod");
    assert!(script.arg("+x").arg(project.path("cc.sh")).status().expect("chmod").success());
    let cc = project.path("cc.sh").display().to_string();
    let output = project
        .command(&["a.c", "-c", "branch", "-o", "out", "--emit", "c,unity"])
        .env("CC", &cc)
        .env("WHOLE", "1")
        .output();
    let output = output.expect("touchstone runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("not checkable: it does not compile: no good */ test"), "{said}");
    assert!(said.contains("not checkable: it does not compile: no good file"), "{said}");
    assert!(said.contains("objectives should be covered, but no replay confirmed them"), "{said}");
    assert!(project.path("out/campaign.json").exists());
    for file in ["out/test_f.c", "out/unity/test_f.c"] {
        let text = project.text(file);
        assert!(text.contains("is left out, it does not compile: no good * / test */"), "{text}");
        assert!(!text.contains("42, result"), "{text}");
    }
    for name in ["f", "g"] {
        let mut command = Command::new("cc");
        let file = format!("out/test_{name}.c");
        command.current_dir(project.dir.path()).args([&file, "out/touchstone_test.c", "-o", "t"]);
        assert!(command.status().expect("a compiler").success(), "{file} compiles alone");
    }
}

#[test]
fn stubs_of_other_files_need_none_of_their_headers() {
    let project = Project::new(&[
        (
            "h.h",
            "typedef unsigned short port_t; typedef struct hidden hidden; struct pair { int a, b; };\n\
                 port_t read_port(int n); hidden *open_it(const char *s); double level(void); enum mode { ON, OFF }; enum mode mode_of(void);\n",
        ),
        (
            "a.c",
            "#include \"h.h\"\nint top(int x) { if (x && read_port(x) == 7) return 1; if (open_it(\"x\")) return 3; if (level() > 2 || mode_of() == OFF) return 2; return 0; }\n",
        ),
        (
            "b.c",
            "struct other { int read_port; };\nint top(int x);\nint low(struct other *o) { if (o && o->read_port == 3 && top(o->read_port)) return 1; return 0; }\n",
        ),
    ]);
    let said = project.says(&["a.c", "b.c", "-c", "branch", "--externals", "inputs"]);
    assert!(said.contains(" agreed") && !said.contains("disagree") && !said.contains("compile"), "{said}");
}

#[test]
fn sanitizers_and_coverage_in_the_users_flags_do_no_harm() {
    let project = Project::new(&[
        ("a.c", "int other(int);\nint f(int x, int *p) { if (x == 3) return *p; if (other(x)) return 2; return 1; }\n"),
        ("b.c", "int other(int x) { return x > 7 ? 1 : 0; }\n"),
    ]);
    for flags in
        [&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"][..], &["-fsanitize=thread"], &["--coverage"]]
    {
        let mut words = vec!["a.c", "b.c", "-f", "f", "-c", "paths", "--"];
        words.extend(flags);
        project.agrees(&words);
    }
    assert!(!project.path("a.gcda").exists());
}

#[test]
fn odd_names_of_files_work_or_are_refused() {
    const SOURCE: &str = "#include \"h h.h\"\nint f(int x) { if (x == 3) return shared(x); return 1 / x; }\n";
    const HEADER: &str = "static int shared(int y) { if (y == 2) return 9; return y; }\n";
    let names = ["x*/a b.c", "tab\tname.c", "back\\slash.c", "50%d's.c", "ümlaut.c"];
    for name in names.into_iter().take(if crate::support::long() { 5 } else { 3 }) {
        let folder = Path::new(name).parent().unwrap_or(Path::new("")).join("h h.h").display().to_string();
        let project = Project::new(&[(name, SOURCE), (&folder, HEADER)]);
        project.agrees(&[name, "-c", "branch,rte", "-o", "o u*/t"]);
    }
    for name in ["a\"b.c", "a\nb.c"] {
        let project = Project::new(&[(name, SOURCE), ("h h.h", HEADER)]);
        std::fs::write(project.path("good.c"), "int good(int x) { return x ? 2 : 1; }\n").expect("a written file");
        let said = project.says(&[name, "good.c", "-c", "branch", "-o", "out"]);
        assert!(said.contains("no #include line can contain its name") && said.contains("rename the file"), "{said}");
        assert!(said.contains("replay: 2 agreed, "), "the other file's tests are there: {said}");
    }
}

#[test]
fn sources_with_a_mark_at_the_beginning_or_in_latin_1_work() {
    let project = Project::new(&[("bom.c", "\u{feff}int f(int x) { if (x == 3) return 1; return 0; }\n")]);
    project.agrees(&["bom.c", "-c", "branch"]);
    let mut latin = b"/* gr\xfc\xdfe */\nint f(const char *s) { if (s && s[0] == '\xe4') return 1; return 0; }\nconst char *g(int x) { return x == 3 ? \"\xf6\" : \"o\"; }\n".to_vec();
    latin.extend(b"int h(int \x78) { if (x == 2 /* \xe9 */) return 1; return 0; }\n");
    std::fs::write(project.path("latin.c"), latin).expect("a written file");
    project.agrees(&["latin.c", "-c", "branch"]);
}

#[test]
fn a_function_without_objectives_has_a_call_or_a_reason() {
    let project = Project::new(&[(
        "a.c",
        "#include <stdio.h>\nint plain(void) { return 3; }\nvoid not_here(int);\nvoid calls(int a) { not_here(a); }\n\
         int closes(FILE *f) { return fclose(f); }\n",
    )]);
    let said = project.says(&["a.c", "-c", "mcdc", "--externals", "named"]);
    assert!(said.contains("1 agreed"), "{said}");
    assert!(said.contains("calls: unsupported: ") && said.contains("not_here"), "{said}");
    assert!(said.contains("closes: unsupported: "), "{said}");
}

#[test]
fn replay_leaves_the_users_files_alone_unless_told_otherwise() {
    let source = "#include <stdio.h>\nint f(int x) { if (x == 3) { remove(\"precious\"); return 1; } return 0; }\n";
    let project = Project::new(&[("a.c", source), ("precious", "x")]);
    // A stub removes nothing; without stubs it is the library's function.
    let stubbed = project.says(&["a.c", "-c", "branch", "--unsafe-replay"]);
    assert!(project.path("precious").exists(), "{stubbed}");
    let said = project.says(&["a.c", "-c", "branch", "--externals", "named"]);
    assert!(project.path("precious").exists(), "{said}");
    assert!(!said.contains("without a sandbox"), "{said}");
    let said = project.says(&["a.c", "-c", "branch", "--externals", "named", "--unsafe-replay"]);
    assert!(!project.path("precious").exists(), "{said}");
    assert!(said.contains("tests were replayed without a sandbox (--unsafe-replay)"), "{said}");
    assert!(
        project
            .text("touchstone-out/campaign.json")
            .contains("\"unprotected_replay\": \"tests were replayed without a sandbox")
    );
}

#[test]
fn every_standard_of_c_will_do() {
    let source = "int outside(int a); struct s { int a; struct s *n; };\n\
        int f(struct s *s, int x) { if (s && s->a == 3 && outside(x) == 4) return 1; return 10 / x; }\n";
    let project = Project::new(&[("a.c", source)]);
    for standard in ["-ansi", "-std=c89", "-std=gnu89", "-std=c99", "-std=c11", "-std=c2x"] {
        let words = ["a.c", "-c", "branch,rte", "--externals", "inputs", "--", standard, "-pedantic-errors", "-Werror"];
        project.agrees(&words);
    }
}

/// Builds the suite of a function by the command that its file prints, and runs it: what it says.
fn run_suite(project: &Project, file: &str) -> String {
    let text = project.text(file);
    let build = text.lines().find_map(|line| line.strip_prefix(" *     ")).expect("how to build it");
    let run = Command::new("sh").args(["-c", build]).current_dir(project.dir.path()).output().expect("sh runs");
    String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr)
}

const RECORD: &str = "\
struct pad { char c; int n; };
struct record { int id; struct pad pads[40]; unsigned char bytes[4096]; double gain; int count; };
struct record other;
int touch(struct record *r, int n) {
    if (n > 3 && r->bytes[7] == 9) { r->count = n; return 1; }
    if (other.id == 5) return 2;
    return 0;
}
";

#[test]
fn what_a_call_leaves_alone_is_checked_in_few_lines_and_as_strictly_as_field_by_field() {
    let project = Project::new(&[("a.c", RECORD)]);
    project.agrees(&["a.c", "-c", "mcdc", "--pre", "r != 0"]);
    let file = "touchstone-out/test_touch.c";
    let text = project.text(file);
    assert!(text.len() < 8000 && text.contains("CHECK_INT(") && text.contains("UNCHANGED("), "{}\n{text}", text.len());
    assert!(run_suite(&project, file).contains("\nok 1 - "));
    // A function that changes anything else fails, wherever that is.
    for other in
        ["r->id++", "r->pads[39].n = 7", "r->pads[0].c = 1", "r->bytes[4095] = 1", "r->gain = 2", "other.count = 3"]
    {
        let changed = RECORD.replace("return 0", &format!("{{ {other}; return 0; }}"));
        std::fs::write(project.path("a.c"), changed).expect("writable");
        let said = run_suite(&project, file);
        assert!(said.contains("not ok"), "{other}: {said}");
    }
    // Padding bytes are not compared.
    let padding = RECORD.replace("return 0", "{ struct pad p; __builtin_memset(&p, 255, sizeof p); p.c = r->pads[3].c; p.n = r->pads[3].n; r->pads[3] = p; return 0; }");
    std::fs::write(project.path("a.c"), padding).expect("writable");
    let said = run_suite(&project, file);
    assert!(!said.contains("not ok"), "{said}");
}

#[test]
fn an_object_that_changes_as_a_whole_is_shown_as_a_whole() {
    let project = Project::new(&[(
        "a.c",
        "struct pair { int a, b; };\nint swap(struct pair *p) { if (p->a < p->b) { int t = p->a; p->a = p->b + 1; p->b = t - 1; return 1; } return 0; }\n\
         int fill(int v[4], int x) { if (x > 0) { v[2] = x; return 1; } return 0; }\n",
    )]);
    project.agrees(&["a.c", "-c", "branch"]);
    let swap = project.text("touchstone-out/test_swap.c");
    assert_eq!(swap.matches("BEFORE(").count(), 1, "{swap}");
    assert!(swap.contains(", p.a);") && swap.contains(", p.b);"), "{swap}");
    let fill = project.text("touchstone-out/test_fill.c");
    assert!(fill.contains("CHECK_ARRAY(int, v, {0, 0, ") && fill.contains("UNCHANGED(v_before, v);"), "{fill}");
}

/// Returns true if a tool is installed; in CI it must be.
fn has(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    let ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false" && value != "0");
    assert!(found || !ci, "no {tool}: run setup.sh");
    if !found {
        eprintln!("skipped: {tool} is not installed (setup.sh installs it)");
    }
    found
}

/// Two files with a `main` and flags, in folders whose names need care.
fn two_units() -> Project {
    let project = Project::new(&[
        (
            "src dir/a.c",
            "#include \"lib.h\"\n#include <math.h>\n#ifndef LIMIT\n#error no limit\n#endif\n\
             int scale(int x) { if (x > LIMIT && helper(x) > 3) return helper(x); return 0; }\n\
             double both(double d) { if (d > 1.5) return floor(d) / 2; return d; }\n",
        ),
        (
            "src dir/b.c",
            "#include \"lib.h\"\nint helper(int x) { return x / 2; }\nint main(void) { return helper(3); }\n",
        ),
        ("inc/lib.h", "int helper(int x);\n"),
        ("unity/unity.c", ""),
        ("cmocka/lib/nothing.c", "int nothing;\n"),
    ]);
    let standins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../emit/tests/standins");
    std::fs::copy(standins.join("unity.h"), project.path("unity/unity.h")).expect("a stand-in");
    std::fs::create_dir_all(project.path("cmocka/include")).expect("a directory");
    std::fs::copy(standins.join("cmocka.h"), project.path("cmocka/include/cmocka.h")).expect("a stand-in");
    project.sh("cd cmocka/lib && cc -c nothing.c && ar rcs libcmocka.a nothing.o");
    let said = project.says(&[
        "src dir/a.c",
        "src dir/b.c",
        "--emit",
        "c,unity,cmocka,gtest",
        "-o",
        "out",
        "-Iinc",
        "-DLIMIT=(4 + 3)",
    ]);
    assert!(said.contains("replay: ") && !said.contains("disagree"), "{said}");
    project
}

impl Project {
    /// Runs a line of a shell, which must work.
    #[track_caller]
    fn sh(&self, line: &str) -> String {
        let run = Command::new("sh").args(["-c", line]).current_dir(self.dir.path()).env("UNITY_DIR", "unity").output();
        let run = run.expect("sh runs");
        let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{line}\n{said}");
        said
    }
}

#[test]
fn printed_build_commands_work_as_printed() {
    let project = two_units();
    for folder in ["out", "out/unity"] {
        for file in ["test_scale.c", "test_both.c", "test_helper.c"] {
            let text = project.text(&format!("{folder}/{file}"));
            let build =
                text.lines().find_map(|line| line.strip_prefix(" *     ")).expect("how to build it").to_string();
            let said = project.sh(&build);
            assert!(said.contains("ok "), "{said}");
        }
    }
}

#[test]
fn suites_for_frameworks_come_with_files_that_build_and_run_them() {
    let project = two_units();
    let own = project.dir.path().display().to_string();
    let mut forms = vec!["unity", "cmocka"];
    if crate::support::long() && Path::new("/usr/include/gtest/gtest.h").exists() {
        forms.push("gtest");
    }
    for form in forms {
        project.sh(&format!(
            "make -f out/{form}/touchstone.mk UNITY_DIR=unity CMOCKA_CFLAGS=-I{own}/cmocka/include \
             CMOCKA_LIBS='-L{own}/cmocka/lib -lcmocka' TOUCHSTONE_BUILD={own}/make-{form}"
        ));
        if !has("cmake") || !(crate::support::long() || form == "unity") {
            continue;
        }
        let said = project.sh(&format!(
            "cd out/{form} && cmake -B build -DUNITY_DIR={own}/unity -DCMOCKA_DIR={own}/cmocka && cmake --build build && \
             ctest --test-dir build"
        ));
        assert!(said.contains("100% tests passed, 0 tests failed out of 3"), "{said}");
    }
    // A file of the user's stays, and so does one that was edited.
    std::fs::write(project.path("out/unity/CMakeLists.txt"), "# mine\n").expect("writable");
    let said = project.says(&[
        "src dir/a.c",
        "src dir/b.c",
        "--emit",
        "c,unity",
        "-o",
        "out",
        "-Iinc",
        "-DLIMIT=7",
        "--no-replay",
    ]);
    assert!(said.contains("out/unity/CMakeLists.txt was edited, or was not written by Touchstone"), "{said}");
    assert_eq!(project.text("out/unity/CMakeLists.txt"), "# mine\n");
}
const HARNESS: &str = "#include <klee/klee.h>\n#include <stdlib.h>\n\
    struct in { int speed; unsigned char gear; double load; struct { short x, y; } pos[2]; unsigned on:1, mode:3; };\n\
    static int f(struct in *i) { if (i->speed > 105 && i->gear == 3) { if (i->load > 2.5) return 1; if (i->pos[1].y == 7) return 2; }\n\
    return i->on && i->mode == 5; }\n";

#[test]
fn inputs_of_a_harness_are_shown_by_their_type() {
    let main = "int main(void) { struct in i; klee_make_symbolic(&i, sizeof i, \"i\"); klee_assume(i.speed >= 0 & i.speed < 200); return f(&i); }\n";
    let project = Project::new(&[("a.c", &format!("{HARNESS}{main}"))]);
    let said = project.agrees(&["a.c", "--entry", "main", "-o", "out"]);
    assert!(said.contains("12/12"), "{said}");
    let tests = project.text("out/test_main.c");
    assert!(tests.contains("INPUT_OF(struct in, \"i\", {.speed = 106, .gear = 3"), "{tests}");
    assert!(!tests.contains("INPUT(\"i\""), "{tests}");
    let report = project.text("out/campaign.json");
    assert!(report.contains(r#""i":{"speed":106,"gear":3"#), "{report}");

    // A block of the heap has the type of the pointer.
    let main = "int main(void) { struct in *i = malloc(sizeof *i); if (!i) return 9; klee_make_symbolic(i, sizeof *i, \"i\"); return f(i); }\n";
    let project = Project::new(&[("a.c", &format!("{HARNESS}{main}"))]);
    project.agrees(&["a.c", "--entry", "main", "-o", "out"]);
    let tests = project.text("out/test_main.c");
    assert!(tests.contains(".speed = 106, .gear = 3"), "{tests}");
}

#[test]
fn inputs_of_a_harness_that_no_initialiser_says_stay_bytes_with_their_meaning() {
    // A type of `main`'s own has no name in tests; what lies between fields, and pointers, are inputs, too.
    let text = "#include <klee/klee.h>\nstruct node { int n; struct node *next; };\n\
        int main(void) { struct own { int q; char t[6]; } l; klee_make_symbolic(&l, sizeof l, \"l\");\n\
        if (l.q == 7) return 1; unsigned char *b = (unsigned char *)&l; if (b[10] == 200) return 2;\n\
        struct node a[2]; klee_make_symbolic(&a[1], sizeof a[1], \"a\"); if (a[1].n == 5) return 3;\n\
        if (a[1].next) return 4; return 0; }\n";
    let project = Project::new(&[("a.c", text)]);
    let said = project.agrees(&["a.c", "--entry", "main", "-o", "out", "-c", "branch"]);
    assert!(said.contains("8/8"), "{said}");
    let tests = project.text("out/test_main.c");
    assert!(
        tests.contains("/* a.next = 0x")
            && tests.contains("/* l.q = 7 */")
            && tests.contains("INPUT_OF(struct node, \"a\", {5, NULL});"),
        "{tests}"
    );
}

#[test]
fn an_assumption_that_joins_others_is_as_good_as_several() {
    let program = "#define N 6\nint getOrder(const int p[N]) { int i, order = 1, isId, power[N], tmp[N];\n\
        for (i = 0; i < N; i++) power[i] = p[i];\n\
        while (1) { for (i = 0, isId = 1; i < N && isId; i++) if (power[i] != i) isId = 0;\n\
        if (isId) return order; for (i = 0; i < N; i++) tmp[i] = power[i];\n\
        for (i = 0; i < N; i++) power[i] = tmp[p[i]]; order++; } }\n";
    let questions = |assumed: &str| {
        let main = format!(
            "#include <klee/klee.h>\n{program}int main(void) {{ int p[N]; klee_make_symbolic(p, sizeof p, \"p\");\n\
             for (int i = 0; i < N; i++) {{ {assumed} for (int j = 0; j < i; j++) klee_assume(p[i] != p[j]); }}\n\
             return getOrder(p); }}\n"
        );
        let project = Project::new(&[("a.c", &main)]);
        let said = project.says(&["a.c", "--entry", "main", "-o", "out", "-c", "paths", "--no-replay"]);
        assert!(said.contains("30     30         196       0"), "{assumed}: {said}");
        let report: serde_json::Value =
            serde_json::from_str(&project.text("out/campaign.json")).expect("a JSON document");
        report["functions"][0]["solver"]["queries"].as_u64().expect("a number")
    };
    let apart = questions("klee_assume(p[i] >= 0); klee_assume(p[i] < N);");
    for joined in [
        "klee_assume((p[i] >= 0) & (p[i] < N));",
        "int ok = (p[i] >= 0) & (p[i] < N); klee_assume(ok);",
        "klee_assume(p[i] >= 0 && p[i] < N);",
        "klee_assume(!((p[i] < 0) | (p[i] >= N)));",
        "klee_assume(!(p[i] < 0) & !(p[i] >= N));",
        "klee_assume((p[i] >= 0) * (p[i] < N));",
    ] {
        let together = questions(joined);
        assert!(together <= apart + apart / 4 + 20, "{joined}: {together} questions instead of {apart}");
    }
}

/// Runs the tool on the firmware of the examples.
fn firmware() -> Project {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/firmware/src");
    let files = std::fs::read_dir(sources).expect("the example").map(|entry| entry.expect("an entry").path());
    let text = |path: &Path| std::fs::read_to_string(path).expect("a readable file");
    let name = |path: &Path| format!("src/{}", path.file_name().unwrap_or_default().to_string_lossy());
    let files: Vec<(String, String)> = files.map(|path| (name(&path), text(&path))).collect();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("unity/unity.c", "\n"));
    let project = Project::new(&files);
    let standins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../emit/tests/standins");
    std::fs::copy(standins.join("unity.h"), project.path("unity/unity.h")).expect("a stand-in");
    project
}

#[test]
fn a_first_run_decides_all_of_the_firmware_and_its_suite_measures_the_same() {
    let project = firmware();
    // Time is only for machines that do much else: a quiet one needs some ten seconds.
    let words = ["src/can.c", "src/motor.c", "src/pid.c", "--emit", "c,unity", "-o", "out", "--timeout", "300"];
    let said = project.agrees(&words);
    assert!(!said.contains("\nunknown\n"), "{said}");
    let covered = covered_mcdc(&json(&project, "out/campaign.json"));
    assert!(covered.len() > 100, "{covered:?}");
    if !crate::support::long() {
        return;
    }
    assert!(has("cmake"), "cmake builds the suite");
    let build = "cd out/unity && cmake -B build && cmake --build build && ctest --test-dir build";
    let tool = env!("CARGO_BIN_EXE_touchstone");
    let own = project.dir.path().display();
    let said = project.sh(&format!(
        "UNITY_DIR={own}/unity {tool} measure -c mcdc --exclude unity --json measured.json -- sh -c '{build}'"
    ));
    assert!(said.contains("100% tests passed, 0 tests failed out of 19"), "{said}");
    assert!(said.contains("test files that Touchstone wrote"), "{said}");
    let measured = covered_mcdc(&json(&project, "measured.json"));
    assert_eq!(measured.symmetric_difference(&covered).collect::<Vec<_>>(), Vec::<&String>::new());
}

fn json(project: &Project, path: &str) -> serde_json::Value {
    serde_json::from_str(&project.text(path)).expect("JSON")
}

/// Returns the positions and texts of the covered objectives.
fn covered_mcdc(report: &serde_json::Value) -> std::collections::BTreeSet<String> {
    let all = report["objectives"].as_array().expect("objectives").iter();
    let covered = all.filter(|one| one["status"] == "covered");
    covered.map(|one| format!("{}:{} {}", one["line"], one["column"], one["text"])).collect()
}

/// Some of its tests can't be run by frameworks that have one process: one that exits, one that hangs, one that goes wrong.
const ENDS: &str = "#include <stdlib.h>
static int table[4] = {3, 1, 4, 1};
int pick(int i, int strict) {
    if (strict > 1)
        exit(3);
    if (strict && i < 0)
        for (;;);
    if (strict == -5)
        return table[i + 100];
    return i == 2 ? table[2] : 0;
}
";

#[test]
fn the_figure_of_each_form_is_what_its_suite_gives() {
    let project =
        Project::new(&[("src/a.c", ENDS), ("other/unity.c", "\n"), ("other/cmocka/lib/nothing.c", "int nothing;\n")]);
    let standins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../emit/tests/standins");
    std::fs::copy(standins.join("unity.h"), project.path("other/unity.h")).expect("a stand-in");
    std::fs::copy(standins.join("cmocka.h"), project.path("other/cmocka/cmocka.h")).expect("a stand-in");
    project.sh("cd other/cmocka/lib && cc -c nothing.c && ar rcs libcmocka.a nothing.o");
    let said = project.agrees(&["src/a.c", "--emit", "c,unity,cmocka,gtest", "-o", "out"]);
    assert!(said.contains("\ntests that a framework cannot run\n  unity   3 tests skipped; without: mcdc "), "{said}");
    assert!(said.contains("1: the call ends the process with exit status 3\n"), "{said}");
    let report = json(&project, "out/campaign.json");
    let all = covered_mcdc(&report).len();
    let (own, tool) = (project.dir.path().display(), env!("CARGO_BIN_EXE_touchstone"));
    let mut forms = vec!["unity", "cmocka"];
    if crate::support::long() && Path::new("/usr/include/gtest/gtest.h").exists() {
        forms.push("gtest");
    }
    for form in forms {
        let make = format!(
            "make -f out/{form}/touchstone.mk UNITY_DIR=other CMOCKA_CFLAGS=-I{own}/other/cmocka \
             CMOCKA_LIBS=\"-L{own}/other/cmocka/lib -lcmocka\" TOUCHSTONE_BUILD={own}/make-{form}"
        );
        project.sh(&format!("{tool} measure -c mcdc --root src -o {form} --json {form}.json -- sh -c '{make}'"));
        let measured = covered_mcdc(&json(&project, &format!("{form}.json"))).len();
        let entry = report["forms"].as_array().expect("forms").iter().find(|entry| entry["form"] == form);
        let said = entry.map_or(all, |entry| entry["covered"]["mcdc"].as_u64().unwrap_or_default() as usize);
        assert_eq!(measured, said, "{form}");
        assert!(said < all, "{form}: {said} of {all}");
    }
}

/// Users build emitted suites with sanitizers and with coverage.
#[test]
fn emitted_suites_leak_nothing_and_leave_coverage() {
    let text = "int other(int x);\nint f(int a, int b) { if (a > 5 && b < 3) return other(a); if (a == b) return 2; return 0; }\n";
    let project = Project::new(&[("a.c", text)]);
    project.agrees(&["a.c", "-c", "decision", "-o", "out"]);
    let run = |program: &str, words: &[&str]| {
        let mut command = Command::new(program);
        let output = command.args(words).current_dir(project.dir.path()).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {words:?}: {said}");
        said
    };
    let sources = ["-w", "-I", "out", "-I", ".", "out/test_f.c", "out/touchstone_test.c", "-o"];
    run("gcc", &[&sources[..], &["leaks", "-fsanitize=address"]].concat());
    for words in [&[][..], &["--list"], &["f_1"]] {
        run("./leaks", words);
    }
    run("gcc", &[&sources[..], &["counts", "--coverage"]].concat());
    run("./counts", &[]);
    let counted = run("gcov", &["-o", ".", "counts-test_f.gcda"]);
    assert!(counted.contains("File 'a.c'\nLines executed:100.00% of 1"), "{counted}");
}
