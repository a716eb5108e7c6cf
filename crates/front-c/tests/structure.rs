//! Lowering of single constructs: decisions, tags, spans, types, unsupported constructs, errors.

// Tests may access the environment.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

#[path = "structure/pages.rs"]
mod pages;

use std::collections::BTreeSet;
use std::path::PathBuf;
use touchstone_front_c::{FrontError, Options, lower_files, write_headers};
use touchstone_ir::{
    BlockId, BoolTree, Builtin, CondTag, DataType, DataTypeId, Function, InputSource, InstKind, Linkage, Module,
    Operand, TermKind, Ty,
};

struct Project {
    directory: tempfile::TempDir,
    options: Options,
}

impl Project {
    fn new() -> Project {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let headers = directory.path().join("headers");
        write_headers(&headers).expect("headers");
        let options = Options { include_dir: Some(headers), ..Options::default() };
        Project { directory, options }
    }
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, text).expect("a file is written");
        path
    }
    fn lower(&self, files: &[PathBuf]) -> Result<Module, FrontError> {
        let module = lower_files(files, &self.options)?;
        let errors = touchstone_ir::verify(&module);
        assert!(errors.is_empty(), "{errors:?}\n{}", touchstone_ir::print(&module));
        Ok(module)
    }
}

fn lower(text: &str) -> Module {
    let project = Project::new();
    let file = project.file("main.c", text);
    project.lower(&[file]).unwrap_or_else(|error| panic!("{error}"))
}

fn function<'m>(module: &'m Module, name: &str) -> &'m Function {
    &module.functions[module.function_named(name).unwrap_or_else(|| panic!("no function {name}"))]
}

fn tree(tree: &BoolTree) -> String {
    match tree {
        BoolTree::Cond(id) => id.to_string(),
        BoolTree::Const(value) => u8::from(*value).to_string(),
        BoolTree::Not(a) => format!("!{}", self::tree(a)),
        BoolTree::And(a, b) => format!("({} & {})", self::tree(a), self::tree(b)),
        BoolTree::Or(a, b) => format!("({} | {})", self::tree(a), self::tree(b)),
        BoolTree::Xor(a, b) => format!("({} ^ {})", self::tree(a), self::tree(b)),
        BoolTree::Iff(a, b) => format!("({} = {})", self::tree(a), self::tree(b)),
        BoolTree::Ite(c, a, b) => format!("({} ? {} : {})", self::tree(c), self::tree(a), self::tree(b)),
    }
}

/// Returns the tags of all branches; every branch must have one.
fn tags(function: &Function) -> Vec<CondTag> {
    let tag = |kind: &TermKind| match kind {
        TermKind::Branch { tag, .. } => Some(tag.expect("a branch has its tag")),
        _ => None,
    };
    function.blocks.values().filter_map(|block| tag(&block.terminator.kind)).collect()
}

/// Checks the decisions of `f`: `kind: tree: condition; condition`. Every condition must have a branch.
#[track_caller]
fn check_decisions(body: &str, expected: &[&str]) {
    let module = lower(&format!(
        "#include <stdbool.h>\n#define BOTH(x, y) ((x) && (y))\n#define POSITIVE(x) (x > 0)\n#define likely(x) \
         __builtin_expect(!!(x), 1)\nint g(int);\nint f(int a, int b, int c, bool p, bool q, int *v) {{ {body} }}"
    ));
    let f = function(&module, "f");
    let decisions: Vec<String> = f
        .decisions
        .values()
        .map(|decision| {
            let texts: Vec<&str> = decision.conditions.values().map(|condition| condition.text.as_str()).collect();
            format!("{:?}: {}: {}", decision.kind, tree(&decision.tree), texts.join("; "))
        })
        .collect();
    assert_eq!(decisions, expected);
    let tagged: BTreeSet<CondTag> = tags(f).into_iter().collect();
    let all: BTreeSet<CondTag> = f
        .decisions
        .iter()
        .flat_map(|(decision, info)| info.conditions.ids().map(move |condition| CondTag { decision, condition }))
        .collect();
    assert_eq!(tagged, all, "conditions with a branch");
}

#[test]
fn every_decision_has_its_tree_and_its_conditions() {
    check_decisions("if (a) return 1; return 0;", &["If: c0: a"]);
    check_decisions("while (a && b) a--; return 0;", &["While: (c0 & c1): a; b"]);
    check_decisions("for (; !(a || b);) a++; return 0;", &["For: !(c0 | c1): a; b"]);
    check_decisions("do a--; while (a > 0 || b); return 0;", &["DoWhile: (c0 | c1): a > 0; b"]);
    check_decisions("return a ? b : c;", &["Ternary: c0: a"]);
    check_decisions("int x = a && !b; return x;", &["Value: (c0 & !c1): a; b"]);
    check_decisions("return !a;", &["Value: !c0: a"]);
    check_decisions("if (a ? b : c > 1) return 1; return 0;", &["If: (c0 ? c1 : c2): a; b; c > 1"]);
    check_decisions("if ((a++, b && c)) return 1; return 0;", &["If: (c0 & c1): b; c"]);
    check_decisions("if (likely(a > b)) return 1; return 0;", &["If: !!c0: a > b"]);
}

#[test]
fn equivalences_between_truth_values_are_part_of_the_tree() {
    check_decisions("if ((a > 0) == (b > 0)) return 1; return 0;", &["If: (c0 = c1): a > 0; b > 0"]);
    check_decisions("if ((a > 0) != p) return 1; return 0;", &["If: (c0 ^ c1): a > 0; p"]);
    check_decisions("if (p ^ q ^ (a < b)) return 1; return 0;", &["If: ((c0 ^ c1) ^ c2): p; q; a < b"]);
    check_decisions("if ((a && b) != 0) return 1; return 0;", &["If: (c0 & c1): a; b"]);
    check_decisions("if ((a && b) == 0) return 1; return 0;", &["If: !(c0 & c1): a; b"]);
    check_decisions("if (p == true) return 1; return 0;", &["If: c0: p"]);
    check_decisions("if (a == b) return 1; return 0;", &["If: c0: a == b"]);
    check_decisions("if (a ^ b) return 1; return 0;", &["If: c0: a ^ b"]);
}

#[test]
fn constants_have_no_branch() {
    check_decisions("while (1) if (a--) return 1;", &["While: 1: ", "If: c0: a--"]);
    check_decisions("if (sizeof(int) == 4 && a) return 1; return 0;", &["If: (1 & c0): a"]);
    check_decisions("enum { OFF }; if (OFF || a) return 1; return 0;", &["If: (0 | c0): a"]);
    check_decisions("return !0;", &["Value: !0: "]);
}

#[test]
fn nested_decisions_have_their_own_entry() {
    check_decisions(
        "if (g(a && b) > 0 || v[!c]) return 1; return 0;",
        &["If: (c0 | c1): g(a && b) > 0; v[!c]", "Value: (c0 & c1): a; b", "Value: !c0: c"],
    );
    check_decisions(
        "if ((a > 0) == (g(b && c) > 0)) return 1; return 0;",
        &["If: (c0 = c1): a > 0; g(b && c) > 0", "Value: (c0 & c1): b; c"],
    );
}

#[test]
fn the_first_operand_of_a_short_ternary_is_evaluated_once() {
    check_decisions("return a ?: b;", &["Ternary: c0: a"]);
    check_decisions("return a && b ?: c;", &["Value: (c0 & c1): a; b", "Ternary: c0: a && b"]);
    check_decisions("if (a ?: b) return 1; return 0;", &["If: (c0 | c1): a; b"]);
}

#[test]
fn a_comparison_that_is_only_stored_is_no_branch() {
    check_decisions("int x = a < b; p = a == c; return x + p;", &[]);
}

#[test]
fn macro_arguments_are_shown_where_they_are_written() {
    check_decisions("if (BOTH(a > 1, b)) return 1; return 0;", &["If: (c0 & c1): a > 1; b"]);
    check_decisions(
        "if (POSITIVE(a) && POSITIVE(b)) return 1; return 0;",
        &["If: (c0 & c1): POSITIVE(a); POSITIVE(b)"],
    );
}

#[test]
fn spans_are_where_the_user_sees_the_code() {
    let project = Project::new();
    let header = "#define BIG(x) ((x) > 10)\nstatic inline int h(int x)\n{\n    return x && 1;\n}\n";
    project.file("h.h", header);
    let file = project.file("main.c", "#include <string.h>\n#include \"h.h\"\nint f(int a)\n{\n    if (BIG(a) ||\n        h(a))\n        return 1;\n    return 0;\n}\n");
    let module = project.lower(std::slice::from_ref(&file)).expect("a module");
    let place = |span: touchstone_base::Span| {
        let file = module.files[span.file].rsplit('/').next().unwrap_or_default().to_string();
        format!("{file}:{}:{}-{}:{}", span.line, span.column, span.end_line, span.end_column)
    };
    assert_eq!(module.files.values().next().map(String::as_str), file.to_str(), "the main file as it was given");
    let f = function(&module, "f");
    assert_eq!(place(f.span), "main.c:3:5-3:6");
    let decision = f.decisions.values().next().expect("a decision");
    assert_eq!(place(decision.span), "main.c:5:9-6:13");
    assert_eq!(decision.text, "BIG(a) || h(a)");
    let conditions: Vec<String> = decision.conditions.values().map(|condition| place(condition.span)).collect();
    assert_eq!(conditions, ["main.c:5:9-5:15", "main.c:6:9-6:13"]);
    let h = function(&module, "h");
    assert_eq!(place(h.decisions.values().next().expect("a decision").span), "h.h:4:12-4:18");
}

/// Checks the unsupported constructs of `f`: `what line:column` for every reachable one.
#[track_caller]
fn check_unsupported(text: &str, expected: &[&str]) {
    let module = lower(text);
    let f = function(&module, "f");
    let mut reached: Vec<BlockId> = vec![<BlockId as touchstone_base::Id>::new(0)];
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(&block) = reached.get(at) {
        at += 1;
        let block = &f.blocks[block];
        for next in touchstone_ir::successors(&block.terminator.kind) {
            if !reached.contains(&next) {
                reached.push(next);
            }
        }
        if let TermKind::Unsupported(what) = &block.terminator.kind {
            let span = block.terminator.span;
            found.push(format!("{what} {}:{}", span.line, span.column));
        }
    }
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn what_is_not_supported_is_named_where_it_stands() {
    check_unsupported("int f(int x) { long double y = x; return y > 1; }", &[]);
    check_unsupported(
        "int f(int x, long double y) { return x && y * (__int128)2 > 1; }",
        &["128-bit integer as a long double 1:47"],
    );
    check_unsupported("int f(int x) { _Complex double y = x; return y == 2.0; }", &[]);
    check_unsupported("int f(int x) { __float128 y = x; return 1; }", &["__float128 1:31"]);
    check_unsupported("int f(double d) { return 1; }", &[]);
    check_unsupported("struct s { int a; float b; }; int f(struct s *p) { return p->a; }", &[]);
    check_unsupported("int f(int n) { int a[n][n]; a[0][0] = 1; return 2; }", &[]);
    check_unsupported("int f(int n) { int a[n ? 1 : 2]; return 2; }", &["variable-length array 1:16"]);
    check_unsupported("int f(int n) { __asm__(\"nop\"); return n; }", &["inline assembly 1:16"]);
    check_unsupported("__int128 w; int f(int n) { w = n; return 1; }", &[]);
    check_unsupported(
        "int f(__int128 w) { switch (w) { case (__int128)1 << 70: return 2; } return 1; }",
        &["case label that is no constant of 64 bits 1:34"],
    );
    check_unsupported(
        "struct s { __int128 b : 70; }; int f(struct s s) { return s.b > 1; }",
        &["128-bit bit-field 1:59"],
    );
    check_unsupported("_Thread_local int t; int f(int n) { static _Thread_local int s; return t + s++; }", &[]);
    check_unsupported("_Atomic int t; int f(int n) { return t + 1; }", &[]);
    check_unsupported(
        "#include <stdarg.h>\nint f(int n, ...) { va_list a; va_start(a, n); return n; }",
        &["variable arguments of a function under test 2:32"],
    );
    check_unsupported("#include <setjmp.h>\nstatic jmp_buf b; int f(int n) { return setjmp(b); }", &[]);
    check_unsupported(
        "struct s { unsigned long b : 40; }; int f(struct s s) { return s.b + 1 > 3; }",
        &["overflow of a bit-field of more than 32 bits, where compilers differ 1:64"],
    );
    check_unsupported(
        "struct s { unsigned long b : 40; }; int f(struct s s, long l) { return s.b < l; }",
        &["overflow of a bit-field of more than 32 bits, where compilers differ 1:72"],
    );
    check_unsupported(
        "struct s { unsigned long b : 40; }; int f(struct s s) { return (s.b & 7) / 2 > 3 && s.b + 1ul > 3; }",
        &[],
    );
    check_unsupported("__float128 g; int *h; int f(int n) { return h[(int)g]; }", &["__float128 1:52"]);
    check_unsupported(
        "_Pragma(\"pack(1)\")\nstruct s { char c; int i; };\nint f(struct s *p) { return p->i; }",
        &["#pragma pack 3:29"],
    );
}

#[test]
fn what_clang_does_not_tell_is_named_too() {
    check_unsupported("int a; extern int b __attribute__((alias(\"a\"))); int f(void) { return b; }", &[]);
    check_unsupported("int f(int i, int a[i++]) { return i; }", &[]);
    check_unsupported(
        "#define N i++\nint f(int i, int a[N]) { return i; }",
        &["array length with an effect in a parameter 2:5"],
    );
    check_unsupported(
        "int f(int n, int *p) { (void)(int (*)[n++])p; return n; }",
        &["array length with an effect in a cast 1:30"],
    );
    check_unsupported("int f(int i, int a[i += 2]) { return i; }", &["array length with an effect in a parameter 1:5"]);
    check_unsupported(
        "int f(char *p) { return __alignof__(*(int *)p) + __alignof__(*p); }",
        &["alignof of this expression 1:25"],
    );
}

#[test]
fn hooks_of_functions_are_named_where_the_program_has_them() {
    let named = |text: &str| {
        let project = Project::new();
        let file = project.file("main.c", text);
        let options = Options { flags: vec!["-finstrument-functions".to_string()], ..Options::default() };
        let module = touchstone_front_c::lower_files(&[file], &options).expect("it lowers");
        let entry = &function(&module, "main").blocks[<BlockId as touchstone_base::Id>::new(0)];
        matches!(&entry.terminator.kind, TermKind::Unsupported(what) if what == "-finstrument-functions")
    };
    assert!(named("int n; void __cyg_profile_func_enter(void *f, void *at) { n++; } int main(void) { return n; }"));
    assert!(!named("int n; int main(void) { return n; }"));
}

#[test]
fn what_clang_does_not_know_of_gnu_c_is_named() {
    for (text, named) in [
        ("int f(int x) { int g(int y) { return x + y; } return g(1); }", "unsupported: nested function"),
        (
            "int f(int n) { struct s { int a[n]; } s; return sizeof s; }",
            "unsupported: variable-length array in a structure",
        ),
    ] {
        let project = Project::new();
        let error = project.lower(&[project.file("main.c", text)]).expect_err("clang refuses it");
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[test]
fn only_the_paths_that_need_it_stop() {
    let module = lower("int f(int a, long double x) { if (a > 3 && x > 1) return 1; if (a) return 2; return 3; }");
    let f = function(&module, "f");
    assert_eq!(f.decisions.len(), 2);
    let returns = |value: u64| {
        f.blocks.values().any(|block| block.terminator.kind == TermKind::Return(Some(Operand::Const(Ty::I32, value))))
    };
    assert!(returns(1) && returns(2) && returns(3));
    let TermKind::Branch { else_block, .. } = f.blocks[<BlockId as touchstone_base::Id>::new(0)].terminator.kind else {
        panic!("the first condition is a branch")
    };
    assert!(matches!(f.blocks[else_block].terminator.kind, TermKind::Branch { .. }), "a <= 3 goes on");
}

fn spell(module: &Module, id: DataTypeId) -> String {
    match &module.types[id] {
        DataType::Array { element, length } => format!("{}[{length}]", spell(module, *element)),
        DataType::Pointer { pointee, to_const } => {
            format!("{}{}*", if *to_const { "const " } else { "" }, spell(module, *pointee))
        }
        DataType::Void => "void".to_string(),
        DataType::Bits { width, .. } => format!(":{width}"),
        DataType::Int { name, .. }
        | DataType::Float { name, .. }
        | DataType::Bool { name }
        | DataType::Enum { name, .. }
        | DataType::Struct { name, .. }
        | DataType::Union { name, .. }
        | DataType::OneOf { name, .. }
        | DataType::Opaque { name, .. } => name.clone(),
    }
}

#[track_caller]
fn check_parameters(text: &str, expected: &str) {
    let module = lower(text);
    let params = &function(&module, "f").params;
    let spelled: Vec<String> = params.iter().map(|param| spell(&module, param.data)).collect();
    assert_eq!(spelled.join(", "), expected);
}

#[test]
fn array_parameters_keep_their_declared_length() {
    check_parameters("int f(int a[3]) { return a[0]; }", "int[3]");
    check_parameters("#define N 4\nint f(int a[N], int b[2 * N + 1]) { return a[0]; }", "int[4], int[9]");
    check_parameters("typedef int perm[3]; int f(perm p, perm *q) { return p[0]; }", "int[3], int[3]*");
    check_parameters("int f(int m[3][4], int q[][4]) { return 0; }", "int[4][3], int[4]*");
    check_parameters("int f(int s[static 3], char *t, const char u[]) { return 0; }", "int[3], char*, const char*");
    check_parameters(
        "enum { K = 7 }; struct s { char c[6]; }; int f(int a[K], int b[sizeof(struct s)]) { return 0; }",
        "int[7], int[6]",
    );
    check_parameters("int f(int n, int a[n]) { return 0; }", "int, int*");
    check_parameters("struct s { int x[9]; }; struct s f(int a[3]) { struct s r; return r; }", "struct s*, int[3]");
}

#[test]
fn types_have_the_names_that_the_user_wrote() {
    check_parameters(
        "#include <stdint.h>\nint f(uint8_t a, int64_t *b, unsigned c) { return 0; }",
        "uint8_t, int64_t*, unsigned int",
    );
    check_parameters("typedef struct { int x; } point; int f(point a, point *b) { return 0; }", "point, point*");
    check_parameters(
        "typedef struct node node; struct node { node *next; }; int f(node *a) { return 0; }",
        "struct node*",
    );
    check_parameters(
        "typedef enum { A, B } color; enum other { C }; int f(color a, enum other b) { return 0; }",
        "color, enum other",
    );
    check_parameters(
        "int f(_Bool a, float b, void *c, int (*d)(int)) { return 0; }",
        "_Bool, float, void*, int (int)*",
    );
}

#[test]
fn case_labels_that_follow_each_other_share_an_arm() {
    let module = lower(
        "int f(int x) { switch (x) { case 5: return 1; case -1: case 1: return 2; case 7 ... 9: default: return 3; } }",
    );
    let f = function(&module, "f");
    let switch = f.blocks.values().find_map(|block| match &block.terminator.kind {
        TermKind::Switch { arms, default, .. } => Some((arms.clone(), *default)),
        _ => None,
    });
    let (arms, default) = switch.expect("a switch");
    let lows: Vec<i64> = arms.iter().map(|arm| touchstone_ir::sign_extend(arm.low, 32)).collect();
    assert_eq!(lows, [-1, 1, 5, 7]);
    assert_eq!(arms[0].target, arms[1].target);
    assert_ne!(arms[1].target, arms[2].target);
    assert_eq!(arms[3].target, default);
}

fn builtins(function: &Function) -> Vec<Builtin> {
    let of = |kind: &InstKind| match kind {
        InstKind::Builtin { builtin, .. } => Some(*builtin),
        _ => None,
    };
    function.blocks.values().flat_map(|block| block.insts.iter().filter_map(|inst| of(&inst.kind))).collect()
}

#[test]
fn harnesses_of_both_headers_are_understood() {
    let module = lower(
        "#include <klee/klee.h>\n#include <touchstone.h>\nint f(void) { int x, a[3]; klee_make_symbolic(&x, sizeof x, \"x\");\n\
         touchstone_symbolic(a, sizeof a, \"a\"); klee_assume(x > 0 && x < 10 || !(x == a[2]));\n\
         touchstone_assume(a[0] < a[1]); x += klee_range(0, 5, \"r\") + klee_int(\"i\"); touchstone_label(1, x > 2);\n\
         touchstone_assert(x > 0); return x; }",
    );
    let f = function(&module, "f");
    assert_eq!(
        builtins(f),
        [
            Builtin::MakeSymbolic(InputSource::Request),
            Builtin::MakeSymbolic(InputSource::Request),
            Builtin::Assume,
            Builtin::Assume,
            Builtin::FreshInt(InputSource::Request),
            Builtin::Assume,
            Builtin::FreshInt(InputSource::Request),
            Builtin::Assert,
        ]
    );
    assert_eq!(tags(f), [], "assumptions are no branches");
}

#[test]
fn an_assumption_that_can_go_wrong_is_a_decision() {
    let module = lower("#include <klee/klee.h>\nvoid f(int *p) { klee_assume(p && *p > 0); }");
    assert_eq!(tags(function(&module, "f")).len(), 2);
}

#[test]
fn assert_is_a_decision_with_an_error_behind_it() {
    let module = lower("#include <assert.h>\nint f(int x) { assert(x > 0 && x < 9); return x; }");
    let f = function(&module, "f");
    let texts: Vec<&str> = f.decisions.values().map(|decision| decision.text.as_str()).collect();
    assert_eq!(texts, ["x > 0 && x < 9"]);
    assert_eq!(builtins(f), [Builtin::Assert]);
}

#[test]
fn scalars_are_registers_unless_their_address_is_taken() {
    let module =
        lower("int g(int *); int f(int a, int b) { int c = a, d = b, e[2]; e[0] = g(&b) + g(&d); return c + e[0]; }");
    let f = function(&module, "f");
    let slots: Vec<&str> = f.slots.values().filter_map(|slot| slot.name.as_deref()).collect();
    assert_eq!(slots, ["b", "d", "e"]);
    assert!(f.regs.values().any(|reg| reg.name.as_deref() == Some("c")));
}

#[test]
fn globals_have_linkage_constness_and_data() {
    let module = lower(
        "const int limit = 3; static int state; extern int other; int *p = &state; const char *const names[] = {\"x\"};\n\
         int f(void) { static long calls = 1; return limit + state + other + *p + names[0][0] + calls; }",
    );
    let summary: Vec<String> = module
        .globals
        .values()
        .map(|global| {
            let constant = if global.constant { " const" } else { "" };
            format!("{} {:?}{constant} {}", global.name, global.linkage, global.init.is_some())
        })
        .collect();
    assert_eq!(
        summary,
        [
            "limit External const true",
            "state Internal false",
            "p External true",
            "names External const true",
            ".str0 Literal const true",
            "f.calls Local true",
            "other Undefined false",
        ]
    );
    assert!(module.globals.values().all(|global| global.linkage != Linkage::Undefined || global.init.is_none()));
}

#[test]
fn internal_names_that_clash_get_their_file() {
    let project = Project::new();
    let a = project.file("a.c", "static int n(void) { return 1; } static int v; int fa(void) { return n() + v; }");
    let b = project.file("b.c", "static int n(void) { return 2; } static int v = 2; int fb(void) { return n() + v; }");
    let module = project.lower(&[a, b]).expect("a module");
    let names: Vec<&str> = module.functions.values().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["n", "fa", "n@b.c", "fb"]);
    let globals: Vec<&str> = module.globals.values().map(|global| global.name.as_str()).collect();
    assert_eq!(globals, ["v", "v@b.c"]);
}

#[test]
fn one_structure_of_two_files_is_one_data_type() {
    let project = Project::new();
    project.file("s.h", "struct s; struct t { struct s *s; }; struct s { struct t t; int x; };");
    let a = project.file("a.c", "#include \"s.h\"\nint fa(struct s *p) { return p->x; }");
    let b = project.file(
        "b.c",
        "struct s; int fc(struct s *p) { return p != 0; }\n#include \"s.h\"\nint fb(struct s *p) { return p->x; }",
    );
    let c = project.file("c.c", "struct s; int fd(struct s *p) { return p == 0; }");
    let module = project.lower(&[a, b, c]).expect("a module");
    let types: BTreeSet<DataTypeId> = module.functions.values().map(|function| function.params[0].data).collect();
    assert_eq!(types.len(), 1);
}

#[test]
fn library_functions_come_from_models_only_when_needed() {
    let module = lower("#include <string.h>\nint f(const char *s) { return strspn(s, \"ab\"); }");
    let names: Vec<(&str, bool)> =
        module.functions.values().map(|function| (function.name.as_str(), function.is_library())).collect();
    assert_eq!(names, [("f", false), ("strspn", true), ("is_in", true)]);
    let own = lower("unsigned long strlen(const char *s) { return 7; } int f(const char *s) { return strlen(s); }");
    assert!(own.functions.values().all(|function| !function.is_library()));
}

#[test]
fn an_undefined_function_stays_declared() {
    let module = lower("int missing(int a, char *b); int f(int x) { return missing(x, 0); }");
    let missing = function(&module, "missing");
    assert!(!missing.is_defined());
    assert_eq!(missing.params.len(), 2);
}

#[test]
fn a_call_that_does_not_fit_the_definition_stops_there() {
    let project = Project::new();
    let a = project.file("a.c", "int g(); int f(int x) { return x + g(); }");
    let b = project.file("b.c", "int g(int a) { return a; }");
    let module = project.lower(&[a, b]).expect("a module");
    let stops = function(&module, "f")
        .blocks
        .values()
        .any(|block| matches!(&block.terminator.kind, TermKind::Unsupported(what) if what.contains("`g`")));
    assert!(stops);
}

#[test]
fn deep_expressions_do_not_exhaust_the_stack() {
    let sum = vec!["x"; 1000].join(" + ");
    let chain: String = (0..300).map(|i| format!("if (x == {i}) return {i}; else ")).collect();
    let module = lower(&format!("int f(int x) {{ {chain} return {sum}; }}"));
    assert_eq!(function(&module, "f").decisions.len(), 300);
}

#[test]
fn what_is_nested_a_thousand_times_does_not_crash_clang() {
    let choice = (0..1000).fold("0".to_string(), |inner, i| format!("(x == {i} ? {} : {inner})", i * 3));
    let module = lower(&format!("int f(int x) {{ return {choice}; }}"));
    assert_eq!(function(&module, "f").decisions.len(), 1000);
}

#[test]
fn an_empty_file_is_a_module_without_functions() {
    let module = lower("");
    assert!(module.functions.is_empty() && module.globals.is_empty());
}

#[test]
fn lowering_twice_gives_the_same_module() {
    let project = Project::new();
    let text =
        "#include <stdio.h>\n#include <string.h>\nint f(const char *s) { printf(\"%s\", s); return strcmp(s, \"x\"); }";
    let file = project.file("main.c", text);
    let print = || touchstone_ir::print(&project.lower(std::slice::from_ref(&file)).expect("a module"));
    assert_eq!(print(), print());
}

#[test]
fn bad_input_is_a_clear_error() {
    let project = Project::new();
    let missing = project.lower(&["no/such/file.c".into()]);
    assert!(matches!(missing, Err(FrontError::NotReadable { .. })), "{missing:?}");
    let directory = project.lower(&[project.directory.path().to_path_buf()]);
    assert!(matches!(directory, Err(FrontError::IsDirectory { .. })), "{directory:?}");
    let wrong = project.file("wrong.c", "int f(void) { return 1 +; }\n");
    match project.lower(&[wrong]) {
        Err(FrontError::DoesNotCompile { stderr, .. }) => {
            assert!(stderr.contains("wrong.c:1:25: error: expected expression"), "{stderr}");
        }
        other => panic!("{other:?}"),
    }
    let a = project.file("a.c", "int twice(void) { return 1; }");
    let b = project.file("b.c", "int twice(void) { return 2; }");
    match project.lower(&[a, b]) {
        Err(FrontError::DuplicateDefinition { name, first, second }) => {
            assert!(name == "twice" && first.ends_with("a.c:1:5") && second.ends_with("b.c:1:5"));
        }
        other => panic!("{other:?}"),
    }
    let mut without = Project::new();
    let file = without.file("main.c", "");
    without.options.clang = Some("no-such-clang".into());
    let error = without.lower(&[file]).expect_err("no clang");
    assert!(error.to_string().contains("TOUCHSTONE_CLANG"), "{error}");
}

#[test]
fn compile_commands_give_the_flags_of_a_file() {
    let mut project = Project::new();
    std::fs::create_dir_all(project.directory.path().join("inc")).expect("a directory");
    project.file("inc/size.h", "#define SIZE 5\n");
    let file = project.file("main.c", "#include \"size.h\"\nint f(int a[SIZE]) { return TWO; }");
    let database = project.file(
        "compile_commands.json",
        &format!(
            r#"[{{"directory": "{}", "file": "main.c", "command": "cc -Iinc '-DTWO=2' -c main.c -o main.o"}}]"#,
            project.directory.path().display()
        ),
    );
    project.options.compile_commands = Some(database);
    let module = project.lower(std::slice::from_ref(&file)).expect("a module");
    assert_eq!(spell(&module, function(&module, "f").params[0].data), "int[5]");
    project.options.compile_commands = Some(project.file("bad.json", "{"));
    assert!(matches!(project.lower(&[file]), Err(FrontError::BadCompileCommands { .. })));
}
