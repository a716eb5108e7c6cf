//! The objectives of single criteria: mutants by operator, run-time errors by kind, labels in all their forms. Ids
//! survive edits elsewhere, and tests and objectives name each other.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};

/// A file of a scratch directory.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new(source: &str) -> Case {
        let folder = tempfile::tempdir().expect("a scratch directory");
        let file = folder.path().join("case.c");
        std::fs::write(&file, source).expect("writable");
        Case { folder }
    }

    fn run(&self, verb: &str, options: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.current_dir(self.folder.path()).env("NO_COLOR", "1").arg(verb).arg("case.c").args(options);
        command.output().expect("touchstone runs")
    }

    fn report(&self, verb: &str, options: &[&str]) -> Value {
        let mut all = vec!["--format", "json", "-q"];
        all.extend(options);
        let output = self.run(verb, &all);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }
}

fn list<'v>(report: &'v Value, key: &str) -> &'v [Value] {
    report[key].as_array().expect("a list")
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("no {key} in {value}"))
}

/// The objectives, as `TEXT STATUS`.
fn verdicts(report: &Value) -> Vec<String> {
    let sign = |objective: &Value| match word(objective, "status") {
        "covered" => '+',
        "infeasible" => '-',
        _ => '?',
    };
    list(report, "objectives").iter().map(|one| format!("{} {}", sign(one), word(one, "text"))).collect()
}

/// A source with a function `f` has these verdicts for a criterion.
#[track_caller]
fn check(criterion: &str, options: &[&str], source: &str, expected: &[&str]) {
    let mut all = vec!["-f", "f", "-c", criterion];
    all.extend(options);
    assert_eq!(verdicts(&Case::new(source).report("prove", &all)), expected, "{source}");
}

#[track_caller]
fn check_mutants(mutator: &str, source: &str, expected: &[&str]) {
    check("wm", &["--mutators", mutator], source, expected);
}

#[test]
fn absolute_values() {
    let expected = ["+ ABS a -> abs(a)", "+ ABS a -> -abs(a)"];
    check_mutants("ABS", "int f(int a) { return a; }", &expected);
    check_mutants("ABS", "unsigned f(unsigned a) { return a; }", &[]);
    let source = "int f(int a) { return a; } int f_pre(int a) { return a > 0; }";
    check_mutants("ABS", source, &["- ABS a -> abs(a)", "+ ABS a -> -abs(a)"]);
}

#[test]
fn arithmetic_operators() {
    let expected = ["+ AOR a + b -> a - b", "+ AOR a + b -> a * b", "+ AOR a + b -> a / b", "+ AOR a + b -> a % b"];
    check_mutants("AOR", "int f(int a, int b) { return a + b; }", &expected);
    // Operands that are converted are read as they are written, and keep their parentheses.
    let expected = [
        "+ AOR (a + c) * 2 -> (a + c) + 2",
        "+ AOR (a + c) * 2 -> (a + c) - 2",
        "+ AOR (a + c) * 2 -> (a + c) / 2",
        "+ AOR (a + c) * 2 -> (a + c) % 2",
        "+ AOR a + c -> a - c",
        "+ AOR a + c -> a * c",
        "+ AOR a + c -> a / c",
        "+ AOR a + c -> a % c",
    ];
    check_mutants("AOR", "int f(int a, char c) { return (a + c) * 2; }", &expected);
    check_mutants("AOR", "int f(int a) { return -a; }", &[]);
    // Both give 0 for all that is allowed.
    let same = ["+ AOR a * 0 -> a + 0", "+ AOR a * 0 -> a - 0", "- AOR a * 0 -> a / 0", "- AOR a * 0 -> a % 0"];
    check_mutants("AOR", "int f(int a) { return a * 0; }", &same);
}

#[test]
fn relations_are_shown_as_they_are_written() {
    let expected = [
        "+ ROR a > b -> a == b",
        "+ ROR a > b -> a != b",
        "+ ROR a > b -> a >= b",
        "+ ROR a > b -> a < b",
        "+ ROR a > b -> a <= b",
        "+ ROR a > b -> true",
        "+ ROR a > b -> false",
    ];
    check_mutants("ROR", "int f(int a, int b) { if (a > b) return 1; return 0; }", &expected);
    check_mutants("ROR", "int f(int a, int b) { return a > b; }", &expected);
    let expected = [
        "+ ROR c + 1 <= 3 -> c + 1 == 3",
        "+ ROR c + 1 <= 3 -> c + 1 != 3",
        "+ ROR c + 1 <= 3 -> c + 1 < 3",
        "+ ROR c + 1 <= 3 -> c + 1 > 3",
        "+ ROR c + 1 <= 3 -> c + 1 >= 3",
        "+ ROR c + 1 <= 3 -> true",
        "+ ROR c + 1 <= 3 -> false",
    ];
    check_mutants("ROR", "int f(char c) { if (c + 1 <= 3) return 1; return 0; }", &expected);
}

#[test]
fn logical_operators_are_mutated_in_control_and_in_values() {
    let expected = [
        "+ COR a && b > 1 -> a || b > 1",
        "+ COR a && b > 1 -> a",
        "+ COR a && b > 1 -> b > 1",
        "+ COR a && b > 1 -> true",
        "+ COR a && b > 1 -> false",
    ];
    check_mutants("COR", "int f(int a, int b) { if (a && b > 1) return 1; return 0; }", &expected);
    check_mutants("LCR", "int f(int a, int b) { return a && b > 1; }", &expected);
    check_mutants("COR", "int f(int a, int b) { while (a && b > 1) { a--; b--; } return 0; }", &expected);
    // `*p` has no value if `p` is null, so no test distinguishes the third mutant from the original.
    let expected = [
        "+ COR p && *p -> p || *p",
        "+ COR p && *p -> p",
        "- COR p && *p -> *p",
        "+ COR p && *p -> true",
        "+ COR p && *p -> false",
    ];
    check_mutants("COR", "int f(int *p) { if (p && *p) return 1; return 0; }", &expected);
}

#[test]
fn unary_operators() {
    check_mutants("UOI", "int f(int a) { return a; }", &["+ UOI a -> -(a)"]);
    check_mutants(
        "aoiu",
        "int f(int a) { if (a < 3) return 1; return 0; }",
        &["+ UOI a < 3 -> !(a < 3)", "+ UOI a -> -(a)"],
    );
}

#[test]
fn constants() {
    let source = "int f(int a) { return a + 5; }";
    let expected = ["+ CRP 5 -> 0", "+ CRP 5 -> 1", "+ CRP 5 -> -1", "+ CRP 5 -> 6", "+ CRP 5 -> 4", "+ CRP 5 -> -5"];
    check_mutants("CRP", source, &expected);
    check_mutants("CRP", "int f(void) { return 1; }", &["+ CRP 1 -> 0", "+ CRP 1 -> -1", "+ CRP 1 -> 2"]);
}

#[test]
fn variables() {
    let source = "int f(int a, int b, char c) { return a + c - b; }";
    check_mutants("VRP", source, &["+ VRP a -> b", "+ VRP b -> a"]);
}

#[test]
fn left_sides_must_land_elsewhere_where_it_shows() {
    let source = "void f(int t[2], int i, int j) { t[i] = j; } int f_pre(int t[2], int i, int j)\
        { return i >= 0 && i < 2 && j >= 0 && j < 2; }";
    check_mutants("VRP", source, &["+ VRP j -> i", "+ VRP left side t[i]: i -> j"]);
    // The same place, or the value that is there already: not to be told apart.
    let same = "void f(int t[2], int i, int j) { t[i] = j; } int f_pre(int t[2], int i, int j)\
        { return i >= 0 && i < 2 && j >= 0 && j < 2 && (i == j || (t[0] == j && t[1] == j)); }";
    check_mutants("VRP", same, &["+ VRP j -> i", "- VRP left side t[i]: i -> j"]);
    let source = "void f(int *p, int *q) { if (p && q) { *p = 1; *q = 2; } }";
    check_mutants("VRP", source, &["+ VRP left side *p: p -> q", "+ VRP left side *q: q -> p"]);
    let source = "void f(int t[3]) { t[1] = 7; }";
    let expected = [
        "+ CRP 7 -> 0",
        "+ CRP 7 -> 1",
        "+ CRP 7 -> -1",
        "+ CRP 7 -> 8",
        "+ CRP 7 -> 6",
        "+ CRP 7 -> -7",
        "+ CRP left side t[1]: 1 -> 0",
        "+ CRP left side t[1]: 1 -> -1",
        "+ CRP left side t[1]: 1 -> 2",
    ];
    check_mutants("CRP", source, &expected);
}

#[test]
fn no_mutant_is_made_twice_and_none_is_unreadable() {
    let source = "int g(int); int f(int a, int b, char c, int t[4], unsigned u) {\n\
        int x = a < b && c;\n if ((a > b || !(b >= 3)) && u > 2u) x = a + c;\n if ((a > 0) == (b > 0)) t[a & 3] = b;\n\
        x += a / b;\n for (int i = 0; i < 4 && t[i]; i++) x = c ? x : -x;\n return x > 0 ? g(x) : !c;\n}";
    let report = Case::new(source).report("objectives", &["-f", "f", "-c", "wm"]);
    let mut seen = BTreeSet::new();
    for objective in list(&report, "objectives") {
        let text = word(objective, "text");
        let (from, to) = text.split_once(" -> ").expect("a mutant");
        let blank = |side: &str| side.trim() != side || side.is_empty() || side.contains("  ");
        assert!(!blank(from) && !blank(to) && from.split_once(' ').is_some_and(|(_, from)| from != to), "{text}");
        assert!(seen.insert((objective["line"].as_u64(), objective["column"].as_u64(), text)), "twice: {text}");
    }
    assert!(seen.len() > 100, "{}", seen.len());
}

#[test]
fn an_unknown_mutation_operator_is_an_error_that_names_the_known_ones() {
    let output = Case::new("int f(int a) { return a; }").run("generate", &["-c", "wm", "--mutators", "ABS,XYZ"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("unknown mutation operator `XYZ`; available: ABS, AOR, ROR, COR, UOI, CRP, VRP"),
        "{message}"
    );
    let help = Case::new("").run("generate", &["--help"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("ABS AOR ROR COR UOI CRP VRP"));
}

#[test]
fn every_kind_of_run_time_error_has_its_objective() {
    let rte = |source: &str, expected: &[&str]| check("rte", &[], source, expected);
    rte("int f(int a, int b) { return a + b; }", &["+ a + b overflows"]);
    rte("int f(int a, int b) { return a - b; }", &["+ a - b overflows"]);
    rte("int f(int a, int b) { return a * b; }", &["+ a * b overflows"]);
    rte("long f(long a, long b) { return a + b; }", &["+ a + b overflows"]);
    rte("long f(long a, long b) { return a - b; }", &["+ a - b overflows"]);
    rte("long f(long a) { return a * 3; }", &["+ a * 3 overflows"]);
    rte("int f(int a) { return -a; }", &["+ -a overflows"]);
    rte("int f(int a) { a += 7; return a; }", &["+ a += 7 overflows"]);
    rte("unsigned f(unsigned a, unsigned b) { return a + b * 2u - 1u; }", &[]);
    rte("int f(int a, int b) { return a / b; }", &["+ division by zero", "+ a / b overflows"]);
    rte("int f(int a, int b) { return a % b; }", &["+ division by zero", "+ a % b overflows"]);
    rte("int f(int a) { return a / 3; }", &["- a / 3 overflows"]);
    rte("int f(int a) { return a / -1; }", &["+ a / -1 overflows"]);
    rte("long f(long a, long b) { return a / b; }", &["+ division by zero", "+ a / b overflows"]);
    rte("unsigned f(unsigned a, unsigned b) { return a / b; }", &["+ division by zero"]);
    rte(
        "int f(int a, int b) { if (b == 0 || b == -1) return 0; return a / b; }",
        &["- division by zero", "- a / b overflows"],
    );
    rte("int f(int a, int n) { return a << n; }", &["+ a << n overflows", "+ a << n shifts too far"]);
    rte("int f(int a) { return (a & 7) << 2; }", &["- (a & 7) << 2 overflows", "- (a & 7) << 2 shifts too far"]);
    rte("int f(int n) { n++; return n; }", &["+ n++ overflows"]);
    rte("int f(int n) { if (n < 0) return 0; return n--; }", &["- n-- overflows"]);
    rte("unsigned f(unsigned n, short s) { n++; ++s; return n + s; }", &[]);
    rte("int f(unsigned a) { return __builtin_clz(a); }", &["+ __builtin_clz(a) has no value for 0"]);
    rte("int f(long a) { return a ? __builtin_ctzl(a) : 64; }", &["- __builtin_ctzl(a) has no value for 0"]);
    rte("int f(int a) { int y; if (a > 0) y = 1; return y; }", &["+ uninitialised read"]);
    rte("int f(int a) { int y; if (a > 0) y = 1; int z = y; return a; }", &["+ uninitialised read"]);
    rte("int f(int a) { int y; if (a > 0) y = 1; if (a > 3) return y; return 0; }", &["- uninitialised read"]);
    rte("unsigned f(unsigned a, int n) { return a >> (n & 31); }", &["- a >> (n & 31) shifts too far"]);
    rte("signed char f(int a) { return a; }", &["+ a does not fit in 8 bits"]);
    rte("short f(int a) { short s = (short)(a & 7); return s; }", &["- (short)(a & 7) does not fit in 16 bits"]);
    rte("unsigned char f(int a) { return a; }", &[]);
    rte("int t[4]; int f(int i) { return t[i]; }", &["+ out of bounds", "- uninitialised read"]);
    rte(
        "int f(int *p) { return *p; }",
        &["+ null pointer", "- out of bounds", "- dangling pointer", "- uninitialised read"],
    );
    rte(
        "static int *g(int a) { int x = a; return &x; } int f(int a) { return *g(a); }",
        &["- null pointer", "- out of bounds", "+ dangling pointer", "- uninitialised read"],
    );
    rte("int f(int a) { int t[2]; t[0] = 1; return t[a & 1]; }", &["- out of bounds", "+ uninitialised read"]);
}

#[test]
fn of_two_faults_of_a_copy_interpreter_and_engine_name_the_same() {
    let case = Case::new(
        "#include <string.h>\nchar g[4];\n\
         int f(unsigned n) { char *p = 0; if (n > 8) return 0; memcpy(p, g, n); return 1; }\n\
         int h(int n) { char d[4]; if (n < 0 || n > 8) return 0; memcpy(d, (char *)0, n); return 1; }\n",
    );
    let report = case.report("generate", &["-c", "paths", "--no-replay", "-o", "out"]);
    let tests = list(&report, "tests");
    assert_eq!(tests.len(), 8, "{report}");
    assert!(tests.iter().all(|test| test["replay"] != "disagreed"), "{report}");
}

#[test]
fn a_pointer_that_was_stored_among_numbers_is_read_back() {
    let case = Case::new(
        "#include <touchstone.h>\n\
         int f(unsigned i) { int *a[3]; int x = 5; touchstone_symbolic(a, sizeof a, \"a\"); if (i >= 3) return 0;\n\
         a[i] = &x; if (*a[i] == 5) return 1; return 2; }\n",
    );
    let report = case.report("generate", &["-c", "paths", "--no-replay", "-o", "out"]);
    let results: Vec<_> = list(&report, "tests").iter().map(|test| test["outcome"].to_string()).collect();
    assert!(results.iter().all(|outcome| !outcome.contains("error")), "{results:?}");
    assert_eq!(results.len(), 2, "{report}");
}

#[test]
fn a_structure_with_an_anonymous_member_that_is_partly_unknown_is_replayed() {
    let case = Case::new(
        "struct s { int tag; union { struct { int a; char b; }; double d; }; struct { int k; }; };\n\
         int f(struct s *p) { if (p && p->tag == 1 && p->k == 3) return 1; return 0; }\n",
    );
    let report = case.report("generate", &["-o", "out"]);
    let tests = list(&report, "tests");
    assert!(!tests.is_empty() && tests.iter().all(|test| test["replayed"] == true), "{report}");
}

#[test]
fn a_test_that_would_trap_skips_itself() {
    let case = Case::new("int f(int a, int b) { return b == 0 ? 0 : a / b; }\n");
    let report = case.report("generate", &["-c", "rte", "-o", "out"]);
    let [test] = list(&report, "tests") else { panic!("{report}") };
    assert_eq!((&test["inputs"]["a"], &test["inputs"]["b"]), (&i64::from(i32::MIN).into(), &(-1).into()));
    assert_eq!((&test["replay"], &test["replayed"]), (&"not_checkable".into(), &false.into()));
    assert!(word(test, "replay_why").contains("least number divided by -1"), "{test}");
    // The others replay.
    let report = case.report("generate", &["-c", "paths,mcc", "-o", "out"]);
    assert!(list(&report, "tests").iter().all(|test| test["replayed"] == true), "{report}");
}

#[test]
fn labels_have_both_forms_and_stand_anywhere() {
    let head = "#include <touchstone.h>\nvoid pc_label(int, ...);\n";
    let labels = |source: &str, expected: &[&str]| check("labels", &[], &format!("{head}{source}"), expected);
    labels("int f(int a) { touchstone_label(7, a > 3); return a; }", &["+ 7: a > 3"]);
    labels("int f(int a) { pc_label(a > 3, 7); pc_label(a < 0); return a; }", &["+ 7: a > 3", "+ 2: a < 0"]);
    labels("int f(int a) { if (a > 5) pc_label(a < 0, 1); return a; }", &["- 1: a < 0"]);
    // The same id twice: two objectives.
    labels(
        "int f(int a) { pc_label(a == 1, 1); a++; pc_label(a == 1, 1); return a; }",
        &["+ 1: a == 1", "+ 1: a == 1"],
    );
    labels(
        "int f(int n) { int s = 0; for (int i = 0; i < n && i < 4; i++) { s += i; pc_label(s == 3, 1); pc_label(s == 4, 2); } return s; }",
        &["+ 1: s == 3", "- 2: s == 4"],
    );
    labels("#define MARK(e) pc_label(e, 12)\nint f(int a) { MARK(a != 2); return a; }", &["+ 12: a != 2"]);
    let callee = format!(
        "{head}static int g(int a) {{ pc_label(a == 4, 1); pc_label(a == 5, 2); return a; }}\nint f(int a) {{ return g(2 * a); }}"
    );
    check("labels", &["--scope", "callees"], &callee, &["+ 1: a == 4", "- 2: a == 5"]);
    check("labels", &[], &callee, &[]);
}

/// Ids of the objectives of a function, by text.
fn ids(source: &str, function: &str) -> Vec<(String, String)> {
    let criteria = "stmt,branch,decision,condition,dcc,mcc,mcdc,wm,idc,rte,labels";
    let report = Case::new(source).report("objectives", &["-c", criteria]);
    let own = list(&report, "objectives").iter().filter(|one| word(one, "function") == function);
    own.map(|one| (word(one, "id").to_string(), word(one, "text").to_string())).collect()
}

#[test]
fn an_edit_elsewhere_changes_no_id() {
    let plain = "#define SMALL(x) ((x) < 9)\nint g(int a) { return a; }\nint f(int a, int *p) {\n    if (a > 0 && SMALL(*p))\n        *p = a / 3;\n    return a + 1;\n}\n";
    let edits = [
        plain.replace("int g(int a) { return a; }", "int g(int a, int b) { if (a && b) return b / a; return a > 1; }"),
        plain.replace("int g(int a) { return a; }\n", ""),
        plain.replace("    if (a", "\n\n    /* a comment */\n    if (a"),
        plain.replace("a > 0 && ", "a > 0 /* not too small */\n        && "),
        format!("#include <limits.h>\n// another line\nint h(int x) {{ return x ? 1 : 2; }}\n{plain}"),
        plain.replace("return a + 1;", "return a  +  1; // the next one"),
        plain.replace("    if", "\tif"),
    ];
    let expected = ids(plain, "f");
    assert!(expected.len() > 60, "{}", expected.len());
    for edited in edits {
        assert_eq!(ids(&edited, "f"), expected, "{edited}");
    }
    let unique: BTreeSet<&String> = expected.iter().map(|(id, _)| id).collect();
    assert_eq!(unique.len(), expected.len());
}

#[test]
fn a_condition_of_a_macro_stands_where_it_is_used() {
    let source = "#define BETWEEN(x, lo, hi) ((x) >= (lo) && (x) <= (hi))\n#define WHEN(c) if (c)\n\
        int f(int a, int b) {\n    if (b || BETWEEN(a, 1, 5))\n        return 1;\n    WHEN(a == 7) return 2;\n    return 0;\n}\n";
    let report = Case::new(source).report("objectives", &["-c", "condition"]);
    let places: Vec<String> = list(&report, "objectives")
        .iter()
        .filter(|one| word(one, "text").ends_with("is true"))
        .map(|one| format!("{}:{} {}", one["line"], one["column"], word(one, "text")))
        .collect();
    assert_eq!(
        places,
        ["4:9 b is true", "4:14 BETWEEN(a, 1, 5) is true", "4:14 BETWEEN(a, 1, 5) is true", "6:10 a == 7 is true"]
    );
}

#[test]
fn tests_and_objectives_name_each_other() {
    let case = Case::new(
        "int f(int a, int b, int c) { if ((a > 0 && b > 0) || c == 3) return a / 2; return 0; }\nint g(int a) { return a + 1; }\n",
    );
    let report = case.report("generate", &["-c", "mcdc,stmt", "-o", "out", "--emit", "c", "--emit", "json"]);
    let mut by_test: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut alone: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for objective in list(&report, "objectives") {
        let tests = list(objective, "tests");
        for test in tests {
            by_test.entry(test.as_str().expect("an id")).or_default().insert(word(objective, "id"));
            if tests.len() == 1 {
                alone.entry(test.as_str().expect("an id")).or_default().insert(word(objective, "id"));
            }
        }
    }
    let files: String = ["f", "g"]
        .map(|name| std::fs::read_to_string(case.folder.path().join(format!("out/test_{name}.c"))).expect("tests"))
        .concat();
    let lines: String = ["f", "g"]
        .map(|name| std::fs::read_to_string(case.folder.path().join(format!("out/tests_{name}.jsonl"))).expect("tests"))
        .concat();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let tests = list(&report, "tests");
    assert_eq!(lines.len(), tests.len());
    for (test, line) in tests.iter().zip(&lines) {
        let id = word(test, "id");
        let own = |key: &str| list(test, key).iter().map(|id| id.as_str().expect("an id")).collect::<BTreeSet<_>>();
        assert_eq!(own("covers"), by_test.remove(id).expect("each test covers something"), "{id}");
        assert_eq!(own("covers_alone"), alone.remove(id).unwrap_or_default(), "{id}");
        assert_eq!((&test["id"], &test["covers"]), (&line["id"], &line["covers"]));
        // The comment above the test in C.
        let at = files.find(&format!("TEST({id},")).expect("the test");
        let comment = &files[files[..at].rfind("/* Covers").expect("a comment")..at];
        let lines = comment.matches("mcdc: ").count() + comment.matches("stmt: ").count();
        assert_eq!(lines, own("covers").len(), "{comment}");
        assert_eq!(comment.matches("(only this test)").count(), own("covers_alone").len(), "{comment}");
    }
    assert!(by_test.is_empty(), "{by_test:?}");
    assert!(files.contains("mcdc: a > 0 is true and independently affects the outcome, at 1:35"), "{files}");
}

#[test]
fn straight_line_code_gets_a_test_that_calls_it() {
    let case = Case::new(
        "int twice(int a) { return 2 * a; }\nint first(int *p) { return *p; }\nint never(int a) { if (0 && a) return 1; return 0; }\n",
    );
    let report = case.report("generate", &["-o", "out"]);
    for function in list(&report, "functions") {
        assert_eq!((&function["criterion"], &function["tests"]), (&"mcdc".into(), &1.into()), "{function}");
        assert_eq!(function["objectives"]["covered"], 0);
    }
    for test in list(&report, "tests") {
        assert_eq!((&test["outcome"], &test["replayed"]), (&"returned".into(), &true.into()), "{test}");
    }
    let text = String::from_utf8_lossy(&case.run("generate", &["-o", "out", "-q"]).stdout).into_owned();
    assert!(text.contains("nothing to cover"), "{text}");
    // No error and no label is what one hopes for, and needs no test.
    for criterion in ["rte", "labels"] {
        let report = case.report("generate", &["-f", "never", "-c", criterion, "-o", "out"]);
        assert_eq!(list(&report, "tests").len(), 0, "{criterion}");
    }
    // Where nothing is allowed there is nothing to call with.
    let report = case.report("generate", &["-f", "twice", "--pre", "a > 0 && a < 0", "-o", "out"]);
    assert_eq!(list(&report, "tests").len(), 0);
}

#[test]
fn constants_in_conditions_are_no_conditions() {
    let check = |condition: &str, conditions: usize| {
        let source = format!(
            "#define NULL ((void *)0)\nint f(int *p, int *q, double x) {{ if ({condition}) return 1; return 0; }}\n"
        );
        let found = list(&Case::new(&source).report("objectives", &["-f", "f", "-c", "mcdc"]), "objectives").len();
        assert_eq!(found, 2 * conditions, "{condition}");
    };
    check("p ? q : NULL", 2);
    check("p ? q : 0", 2);
    check("p ? (char *)q : (char *)(void *)NULL", 2);
    check("p && !NULL", 1);
    check("p || x != 0 && 0.5", 2);
    check("p || (x != 0 ? -0.0f : *q)", 3);
    check("p ? q : (int *)16", 3);
}

#[test]
fn every_function_with_a_result_returns_zero_and_non_zero() {
    let both = ["+ returns zero", "+ returns non-zero"];
    check("returns", &[], "int f(int a) { if (a > 3) return 0; return a; }", &both);
    check("returns", &[], "double f(double a) { return a * 2; }", &both);
    // The value is converted to the type of the function.
    check("returns", &[], "unsigned char f(int a) { if (a > 0) return 256; return 1; }", &both);
    check("returns", &[], "_Bool f(int a) { return a; }", &["+ returns false", "+ returns true"]);
    check("returns", &[], "int *f(int *a, int n) { return n ? a : 0; }", &["+ returns null", "+ returns non-null"]);
    check("returns", &[], "int f(int a) { return a * 0; }", &["+ returns zero", "- returns non-zero"]);
    check("returns", &[], "unsigned f(unsigned a) { return a % 7 + 1; }", &["- returns zero", "+ returns non-zero"]);
    check("returns", &[], "void f(int *a) { *a = 1; }", &[]);
    let source = "static int g(int a) { return a > 0; } int f(int a) { return g(a) ? 5 : 7; }";
    let expected = ["+ returns zero", "+ returns non-zero", "- returns zero", "+ returns non-zero"];
    check("returns", &["--scope", "callees"], source, &expected);
}

#[test]
fn tests_for_results_are_replayed_and_measured() {
    let source = "\
int sign(int a) { if (a < 0) return -1; return a > 0; }
char *tail(char *s) { while (s && *s && *s != '/') s++; return s && *s ? s + 1 : 0; }
";
    let case = Case::new(source);
    let report = case.report("generate", &["-c", "returns", "-o", "out"]);
    let expected = ["+ returns zero", "+ returns non-zero", "+ returns null", "+ returns non-null"];
    assert_eq!(verdicts(&report), expected);
    assert!(list(&report, "tests").iter().all(|test| word(test, "replay") == "agreed"), "{report:#}");

    let main = "\
int sign(int a);
char *tail(char *s);
static int calls;
static int next(void) { return ++calls; }
static double half(int a) { return a / 2.0; }
static _Bool truth(int a) { return a; }
static int same(void) { return next(); }
int main(void) {
    sign(0);
    char text[] = \"a/b\";
    if (!tail(text) || tail(0)) return 1;
    half(0);
    truth(256);
    same();
}
";
    std::fs::write(case.folder.path().join("main.c"), main).expect("writable");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(case.folder.path()).env("NO_COLOR", "1");
    let build = "cc -Wall -Werror -c case.c && cc -Wall -Werror -c main.c && cc case.o main.o -o suite && ./suite";
    command.args(["measure", "--format", "json", "-c", "returns", "--", "sh", "-c", build]);
    let output = command.output().expect("touchstone runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found: BTreeMap<String, String> = list(&report, "objectives")
        .iter()
        .map(|one| (format!("{} {}", word(one, "function"), word(one, "text")), word(one, "status").to_string()))
        .collect();
    let covered = [
        "half returns zero",
        "main returns zero",
        "next returns non-zero",
        "same returns non-zero",
        "sign returns zero",
        "tail returns non-null",
        "tail returns null",
        "truth returns true",
    ];
    let is_covered = |(name, status): (&String, &String)| (status == "covered").then(|| name.clone());
    assert_eq!(found.iter().filter_map(is_covered).collect::<Vec<_>>(), covered, "{found:#?}");
    assert_eq!(found.len(), 14, "{found:#?}");
}

#[test]
fn results_are_labels_where_returned_expressions_have_no_effects() {
    let case = Case::new("int g(int); int f(int a) { if (a > 3) return 0; return a; } int h(int a) { return g(a); }");
    let output = case.run("annotate", &["-c", "returns"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("TOUCHSTONE_LABEL(!(signed int)(").count(), 2, "{text}");
    assert_eq!(text.matches("TOUCHSTONE_LABEL(!!(signed int)(").count(), 2, "{text}");
    assert_eq!(text.matches("not placed: h.returns").count(), 2, "{text}");
}
