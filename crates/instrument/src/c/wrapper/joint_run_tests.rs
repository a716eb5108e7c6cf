//! A joint run of clang for a source and its preprocessed text has the same result as two runs: the same objectives,
//! records and instrumented text.

use super::*;
use touchstone_criteria::{CriteriaOptions, REGISTRY, criterion_named};

/// The number of runs that clang is expected to need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reads {
    Once,
    Twice,
}

/// The tracing of state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Followed,
    Ignored,
}

/// Compares both kinds of run for a source with these flags.
#[track_caller]
fn compare(flags: &[&str], source: &Path, state: State, expected: Reads) {
    let include = tempfile::tempdir().expect("a directory");
    touchstone_front_c::write_headers(include.path()).expect("headers");
    let source = source.to_string_lossy().into_owned();
    let words: Vec<String> = flags.iter().copied().chain(["-c", &source, "-o", "unit.o"]).map(str::to_string).collect();
    let some = || ["stmt", "mcdc"].iter().filter_map(|name| criterion_named(name)).collect();
    let criteria = if state == State::Followed { some() } else { REGISTRY.to_vec() };
    let directory = tempfile::tempdir().expect("a directory");
    let probing = ProbingOptions {
        directory: directory.path().to_path_buf(),
        cache: None,
        criteria: &criteria,
        options: CriteriaOptions::default(),
        include_dir: Some(include.path().to_path_buf()),
        state: state == State::Followed,
        suggest: false,
        path: None,
        keeps: ProbeStorage::Hits,
    };
    let job = |small: usize| InstrumentedCompile {
        toolchain: CompilerToolchain::new("gcc", &probing),
        command: CompileCommand::new("gcc", &words),
        probing: &probing,
        small,
    };
    let made = |small: usize| {
        let (job, scratch) = (job(small), tempfile::tempdir().expect("a directory"));
        let PreprocessorOutput { status, text, with_macros, .. } = job.preprocess(&source).expect("a preprocessor");
        assert!(status.success(), "{source} {flags:?}");
        let unit = PreprocessedText { text: &text, with_macros: with_macros.as_deref() };
        let both = job.both(&source, unit, scratch.path()).expect("texts");
        let reads = if both.dumps.0.is_some() && both.dumps.1.is_some() { Reads::Once } else { Reads::Twice };
        let made = job.with_probes(job.command.sources[0], unit, &RejectedProbes::default(), scratch.path());
        (reads, made.unwrap_or_else(|why| panic!("{source} {flags:?}: {why}")))
    };
    let ((together, one), (apart, two)) = (made(MAX_JOINT_TEXT_BYTES), made(0));
    assert_eq!((together, apart), (expected, Reads::Twice), "{source} {flags:?}");
    assert_eq!(one.1, two.1, "{source} {flags:?}");
    assert_eq!(one.0, two.0, "{source} {flags:?}");
    let measured = one.1.objectives.iter().filter(|objective| !objective.probes.is_empty()).count();
    assert!(measured > 0, "{source} {flags:?}: nothing is measured: {:?}", one.1.objectives);
    assert_eq!(one.1.untouched, [], "{source} {flags:?}");
}

/// Does the same for a source `main.c` with some headers.
#[track_caller]
fn check(flags: &[&str], source: &str, headers: &[(&str, &str)], expected: Reads) {
    let folder = tempfile::tempdir().expect("a directory");
    for (name, text) in headers.iter().chain(&[("main.c", source)]) {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let directory = format!("-I{}", folder.path().display());
    let flags: Vec<&str> = std::iter::once(directory.as_str()).chain(flags.iter().copied()).collect();
    for state in [State::Ignored, State::Followed] {
        compare(&flags, &folder.path().join("main.c"), state, expected);
    }
}

#[test]
fn examples_are_read_alike_in_one_run_and_in_two() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("examples").flatten() {
        let path = entry.path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // clang finds the headers of this project, the compiler does not.
        let own = ["touchstone.h", "klee/klee.h"].iter().any(|header| text.contains(header));
        if path.extension().is_some_and(|extension| extension == "c") && !own {
            compare(&[], &path, State::Ignored, Reads::Once);
            seen += 1;
        }
    }
    assert!(seen >= 15, "only {seen} examples");
}

#[test]
fn macros_of_the_command_mean_the_same_in_one_run_and_in_two() {
    let plain = "int f(int a, int b) { if (a > LIMIT && b) return KIND; return LIMIT(a) ? b : 0; }\n";
    // A name in its own expansion stays in the text, where no other macro of the command may apply to it.
    check(&["-DLIMIT=a", "-DKIND=LIMIT"], &plain.replace("LIMIT(a)", "LIMIT"), &[], Reads::Once);
    check(
        &["-DLIMIT(x)=((x)>3)", "-DKIND=7", "-DLIMIT=3", "-DKIND=a"],
        &plain.replace("LIMIT(a)", "a"),
        &[],
        Reads::Once,
    );
    let own = "int x = 4;\nint f(int a) { if (a > x || a == y) return b(a); return x; }\n";
    let before = "static int y;\nstatic int b(int n) { return n && y; }\n";
    check(&["-Dx=x", "-Dy=y", "-D", "b=(b)"], &format!("{before}{own}"), &[], Reads::Once);
    check(
        &["-Dif=if", "-Dint=int", "-D", "f(n)=f(n, 0)"],
        "int (f)(int a, int b) { if (a && b) return f(a); return 1; }\n",
        &[],
        Reads::Once,
    );
    let swapped = "int f(int a, int b) { if (a && !b) return a; return b; }\n";
    check(&["-Da=b", "-Db=a"], swapped, &[], Reads::Once);
    check(
        &["-Dlong=int", "-D_Float32=double"],
        "long f(_Float32 a) { return a > 1 && a < 9 ? sizeof(long) : 0; }\n",
        &[],
        Reads::Once,
    );
    check(
        &["-DX=1", "-UX", "-DX=2", "-U", "X"],
        "#ifdef X\nint g;\n#endif\nint f(int X) { return X ? 3 : 4; }\n",
        &[],
        Reads::Once,
    );
    let taken_back = "#undef A\n#define A(n) ((n) && b)\nint f(int a, int b) { if (A(a)) return 1;\n#undef A\n#define A b\nif (A || a) return 2;\n#undef A\nint A = a; return A ? 1 : 2; }\n";
    check(&["-DA=1"], taken_back, &[], Reads::Once);
    check(
        &["-O2", "-D_FORTIFY_SOURCE=2", "-D_GNU_SOURCE"],
        "#include <string.h>\n#include <stdio.h>\nint f(const char *s) { char b[8]; if (s && strlen(s) < 8) strcpy(b, s); else return puts(s ? s : \"\"); return b[0]; }\n",
        &[],
        Reads::Once,
    );
}

#[test]
fn names_that_compilers_define_are_free_once_they_are_undefined() {
    let source = "int linux, unix;\nint f(int a) { if (a > linux && unix) return 1; return 0; }\n";
    check(&["-Ulinux", "-Uunix"], source, &[], Reads::Once);
    check(&["-std=c99"], source, &[], Reads::Once);
    check(&["-Dlinux=linux", "-Dunix=unix"], source, &[], Reads::Once);
    check(&[], &format!("#undef linux\n#undef unix\n{source}"), &[], Reads::Once);
}

#[test]
fn included_files_and_lines_are_the_same_in_one_run_and_in_two() {
    let guarded = "#ifndef H\n#define H\n#define BOTH(a, b) ((a) && (b))\nstatic inline int h(int a) { return a > 2 ? a : -a; }\n#endif\n";
    let list = "#ifndef X\n#define X(n) n,\n#endif\nX(one) X(two)\n#undef X\n";
    let source = "#include \"h.h\"\n#include \"h.h\"\nenum e {\n#include \"list.h\"\n};\n#define X(n) case n:\nint f(int a, int b) {\n  switch (a) {\n#include \"list.h\"\n    return 1; }\n  if (BOTH(a, b)) return h(b);\n  return 0;\n}\n";
    check(&[], source, &[("h.h", guarded), ("list.h", list)], Reads::Once);
    check(&["-DH"], "#include \"h.h\"\nint f(int a) { return a ? 1 : 2; }\n", &[("h.h", guarded)], Reads::Once);
    // A header of the user has the name of the generated one.
    check(&[], "#include \"u.h\"\nint f(int a, int b) { return BOTH(a, b); }\n", &[("u.h", guarded)], Reads::Once);
    check(
        &[],
        "#pragma once\n#include \"p.h\"\n#include \"p.h\"\nint f(int a) { return p(a) || a; }\n",
        &[("p.h", "#pragma once\nstatic int p(int a) { return a > 1 && a < 7; }\n")],
        Reads::Once,
    );
    let lines = "#line 40 \"grammar.y\"\nint f(int a) {\n#line 7\n  if (a > 1 && a < 5)\n# 90 \"other.y\"\n    return 1;\n  return 0;\n}\n";
    check(&[], lines, &[], Reads::Once);
    check(&["-g3"], lines, &[], Reads::Once);
}

#[test]
fn files_that_the_command_puts_before_a_source_are_read_in_two_runs() {
    let source = "int f(int a) { if (a > LIMIT && before(a)) return 1; return 0; }\n";
    let header = "#define LIMIT 4\nstatic int before(int a) { return a ? 2 : 0; }\n";
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("before.h");
    std::fs::write(&path, header).expect("a file");
    let path = path.to_string_lossy();
    check(&["-include", &path], source, &[], Reads::Twice);
    check(&[&format!("-include{path}")], source, &[], Reads::Twice);
    let macros = "int before(int a);\nint f(int a) { if (a > LIMIT && before(a)) return 1; return 0; }\n";
    std::fs::write(folder.path().join("before.h"), "#define LIMIT 4\n").expect("a file");
    check(&["-imacros", &path], macros, &[], Reads::Twice);
}

#[test]
fn dialects_are_the_same_in_one_run_and_in_two() {
    let sources: &[(&[&str], &str)] = &[
        (&[], "int f(int a, int b) { int c = a ?: b; return ({ int d = c > 2; d && b; }) ? c : 0; }\n"),
        (
            &[],
            "int f(int a) { switch (a) { case 1 ... 5: return 1; case 9: { __label__ out; if (a) goto out; out: return 2; } } return __builtin_expect(a > 100, 0) && a; }\n",
        ),
        (
            &[],
            "#define max(a, b) ({ __typeof__(a) x_ = (a); __typeof__(b) y_ = (b); x_ > y_ ? x_ : y_; })\nint f(int a, int b) { return max(a, max(b, 3)) && a; }\n",
        ),
        (
            &["-std=c99"],
            "inline int g(int a) { return a > 1 ? a : 0; }\nextern int g(int a);\nstatic inline int h(int a) { return a && g(a); }\nint f(int a) { return h(a) || a; }\n",
        ),
        (
            &["-std=gnu89"],
            "extern __inline__ int g(int a) { return a > 1 ? a : 0; }\nint f(a) int a; { return g(a) || a; }\n",
        ),
        (&["-fgnu89-inline"], "inline int g(int a) { return a > 1 ? a : 0; }\nint f(int a) { return g(a) || a; }\n"),
        (
            &["-std=gnu99"],
            "int f(a, b, s) char a; float b; short *s; { if (a && b > 1) return *s; return s ? 1 : 0; }\ng(x) { return x && 1; }\n",
        ),
        (
            &[],
            "#include <stddef.h>\nstruct s { int a; struct { char b[4]; } c[3]; };\nint f(unsigned long n, int i) { if (n == offsetof(struct s, c) && i) return 1; return n > __builtin_offsetof(struct s, c[1].b) ? 2 : __builtin_offsetof(struct s, c[i].b[2]) == n; }\n",
        ),
        (
            &["-D__builtin_offsetof(t, m)=3"],
            "struct s { int a, b; };\nint f(unsigned long n) { return n > __builtin_offsetof(struct s, b) && n; }\n",
        ),
        (
            &[],
            "#include <stddef.h>\n#define container_of(p, t, m) ((t *)((char *)(p) - offsetof(t, m)))\nstruct n { struct n *next; }; struct s { int a; struct n n; };\nint f(struct n *p) { return p && container_of(p, struct s, n)->a; }\n",
        ),
        (
            &[],
            "#pragma pack(push, 1)\nstruct s { char c; int i; };\n#pragma pack(pop)\n#pragma GCC diagnostic push\n#pragma GCC diagnostic error \"-Wall\"\nint f(struct s *p) { int unused; return p && p->i > (int)sizeof *p; }\n#pragma GCC diagnostic pop\n",
        ),
        (
            &[],
            "#pragma push_macro(\"A\")\n#define A 1\nint f(int a) { return a > A ? 1 : __COUNTER__ + __LINE__; }\n#pragma pop_macro(\"A\")\nint g(int A) { return A && __COUNTER__; }\n",
        ),
        (
            &[],
            "#include <ctype.h>\n#include <stdlib.h>\n#include <math.h>\nint f(char c, double d) { if (isalpha(c) && isdigit(c)) return abs(c); return isnan(d) || d > 1; }\n",
        ),
        (
            &["-funsigned-char", "-fshort-enums"],
            "enum e { A, B };\nint f(char c, enum e e) { return c >= 0 && sizeof e == 1 ? e : A; }\n",
        ),
        (&[], "int (f)(int a) { return a > 1 && a < 9; }\n"),
        (
            &[],
            "static int g(int a) { return a ? 1 : 2; }\nint (*f(int a))(int) { if (a > 1 && a < 9) return g; return 0; }\nstatic int b[3];\nint (*((h)(int a)))[3] { return a && b[1] ? &b : 0; }\n",
        ),
        (&[], "long f(long a) { return __builtin_imaxabs(a) > 2 && a < 9; }\n"),
        (
            &[],
            "#ifdef __clang__\n#define UNUSED(a) (void)(a);\n#else\n#define UNUSED(a) if (0) (void)(a);\n#endif\nint f(int a, int b) { UNUSED(b) return a > 1 && a < 9; }\n",
        ),
    ];
    for (flags, source) in sources {
        check(flags, source, &[], Reads::Once);
    }
}

#[test]
fn headers_of_the_system_are_the_same_as_they_are_and_as_they_are_used() {
    let source = "#include <stdio.h>\n#include \"own.h\"\n#include <ctype.h>\n#include <errno.h>\n#include <limits.h>\n\
        #include <stdarg.h>\n#include <stdint.h>\n#include <sys/types.h>\n#undef NDEBUG\n#include <assert.h>\n\
        int sum(int n, ...) {\n  va_list all; int made = 0;\n  va_start(all, n);\n  while (n-- > 0) { made += va_arg(all, int); }\n\
          va_end(all);\n  return made; }\n\
        int f(const char *s, uint32_t n) {\n  assert(s && n < UINT32_MAX);\n\
          if (isdigit(*s) && n != INT_MAX && !feof(stdin)) return getc(stdin) == EOF;\n\
          if (errno == EINTR || own(s) > SIZE_MAX / 2) return toupper(*s);\n  return 0; }\n\
        #define NDEBUG\n#include <assert.h>\nint g(int a) { assert(a); return a > 2 ? a : 0; }\n";
    let own = "#include <stddef.h>\n#include <string.h>\n#include <stdint.h>\n\
        static inline size_t own(const char *s) { return s != NULL ? strlen(s) : sizeof(wchar_t); }\n";
    for flags in [&[][..], &["-O2"], &["-O2", "-D_GNU_SOURCE"], &["-std=c99"], &["-ansi", "-Wno-error"], &["-m32"]] {
        if flags.contains(&"-m32") && !Path::new("/usr/include/gnu/stubs-32.h").exists() {
            continue;
        }
        let source = if flags.contains(&"-ansi") { source.replace("inline", "__inline__") } else { source.to_string() };
        let own = if flags.contains(&"-ansi") { own.replace("inline", "__inline__") } else { own.to_string() };
        check(flags, &source, &[("own.h", &own)], Reads::Once);
    }
}
