//! Program points of single constructs: their subjects, spans and formulas.

// Tests may access the environment.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use touchstone_base::Id;
use touchstone_front_c::{Options, lower_files, write_headers};
use touchstone_ir::{Expr, ExprKind, Function, InstKind, Module, Point, PointId, PointKind, TermKind};

fn lower_texts(texts: &[&str]) -> Module {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let headers = directory.path().join("headers");
    write_headers(&headers).expect("headers");
    let options = Options { include_dir: Some(headers), ..Options::default() };
    let file = |(index, text): (usize, &&str)| {
        let path = directory.path().join(format!("file{index}.c"));
        std::fs::write(&path, text).expect("a file is written");
        path
    };
    let files: Vec<PathBuf> = texts.iter().enumerate().map(file).collect();
    let module = lower_files(&files, &options).unwrap_or_else(|error| panic!("{error}"));
    let errors = touchstone_ir::verify(&module);
    assert!(errors.is_empty(), "{errors:?}\n{}", touchstone_ir::print(&module));
    let text = touchstone_ir::print(&module);
    let parsed = touchstone_ir::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(parsed == module, "the text form is another module:\n{text}");
    for function in module.functions.values().filter(|function| function.is_defined()) {
        let places = places(function);
        assert!(function.points.ids().all(|id| places.contains_key(&id)), "every point is somewhere\n{text}");
    }
    module
}
fn lower(text: &str) -> Module {
    lower_texts(&[text])
}

fn function<'m>(module: &'m Module, name: &str) -> &'m Function {
    &module.functions[module.function_named(name).unwrap_or_else(|| panic!("no function {name}"))]
}

/// Counts the instructions of every point.
fn places(function: &Function) -> BTreeMap<PointId, usize> {
    let mut places = BTreeMap::new();
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        if let InstKind::Point { point } = inst.kind {
            *places.entry(point).or_default() += 1;
        }
    }
    places
}

/// Prints a formula: registers, slots and globals by name, `s` and `u` for signed and unsigned numbers.
fn formula(module: &Module, function: &Function, expr: &Expr) -> String {
    let of = |expr: &Expr| formula(module, function, expr);
    match &expr.kind {
        ExprKind::Const(value) => value.to_string(),
        ExprKind::Reg(reg) => function.regs[*reg].name.clone().unwrap_or_else(|| reg.to_string()),
        ExprKind::Slot(slot) => format!("&{}", function.slots[*slot].name.as_deref().unwrap_or("?")),
        ExprKind::Global(global) => format!("&{}", module.globals[*global].name),
        ExprKind::Load(a) => format!("*{}:{}", of(a), expr.ty),
        ExprKind::Bin(op, a, b) => format!("{op:?}({}, {})", of(a), of(b)),
        ExprKind::Cmp(op, a, b) => format!("{op:?}({}, {})", of(a), of(b)),
        ExprKind::Cast(op, a) => format!("{op:?}{}({})", expr.ty.bits(), of(a)),
        ExprKind::Float(op, format, args) => {
            let args: Vec<String> = args.iter().map(of).collect();
            format!("{op:?}.{format}({})", args.join(", "))
        }
        ExprKind::AsFloat(format, a) => match a.kind {
            ExprKind::Const(bits) => format!("{:?}", format.value(bits)),
            _ => of(a),
        },
        ExprKind::PtrAdd(a, b) => format!("{} + {}", of(a), of(b)),
        ExprKind::Not(a) => format!("!{}", of(a)),
        ExprKind::And(a, b) => format!("({} && {})", of(a), of(b)),
        ExprKind::Or(a, b) => format!("({} || {})", of(a), of(b)),
        ExprKind::Ite(c, a, b) => format!("({} ? {} : {})", of(c), of(a), of(b)),
    }
}

fn expression(point: &Point) -> Option<&Expr> {
    match &point.kind {
        PointKind::Statement | PointKind::TooDeep => None,
        PointKind::Value(expr) | PointKind::Decision(expr) | PointKind::Store { address: expr, .. } => Some(expr),
        PointKind::Condition { value, .. } => Some(value),
        PointKind::Label { predicate, .. } | PointKind::Hazard(predicate) => Some(predicate),
    }
}

const PRELUDE: &str = "#include <stdbool.h>\n#include <assert.h>\n#include <limits.h>\n#include <touchstone.h>\n\
    #define SWAP(x, y) do { int t = x; x = y; y = t; } while (0)\n#define LESS(x, y) x < y\n#define WHEN if (a)\n\
    struct s { int x; char c[4]; struct s *next; union { int u; } n; int bits : 3; };\n\
    int g(int); int h(int, const char *, int); int gv; int ga[8]; struct s gs;\n";

const SIGNATURE: &str = "int f(int a, int b, unsigned u, char c, long l, bool p, int *v, struct s *q) ";

#[track_caller]
fn points_of(body: &str) -> (Module, Vec<Point>) {
    let module = lower(&format!("{PRELUDE}{SIGNATURE}{{ {body}\n}}"));
    let points = function(&module, "f").points.values().cloned().collect();
    (module, points)
}

/// Checks the statements of `f` by their source texts.
#[track_caller]
fn check_statements(body: &str, expected: &[&str]) {
    let (_, points) = points_of(body);
    let statements = points.iter().filter(|point| point.kind == PointKind::Statement);
    assert_eq!(statements.map(|point| point.text.as_str()).collect::<Vec<_>>(), expected, "{body}");
}

/// Checks the values of `f`: source text and formula.
#[track_caller]
fn check_values(body: &str, expected: &[(&str, &str)]) {
    check_formulas(body, expected, |kind| matches!(kind, PointKind::Value(_)));
}
#[track_caller]
fn check_conditions(body: &str, expected: &[(&str, &str)]) {
    check_formulas(body, expected, |kind| matches!(kind, PointKind::Condition { .. }));
}
#[track_caller]
fn check_formulas(body: &str, expected: &[(&str, &str)], wanted: impl Fn(&PointKind) -> bool) {
    let (module, points) = points_of(body);
    let f = function(&module, "f");
    let found: Vec<(String, String)> = points
        .iter()
        .filter(|point| wanted(&point.kind))
        .map(|point| (point.text.clone(), formula(&module, f, expression(point).expect("a formula"))))
        .collect();
    let expected: Vec<(String, String)> = expected.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    assert_eq!(found, expected, "{body}");
}

#[test]
fn every_executable_statement_has_a_point() {
    check_statements("a = 1; g(a); a++; return a;", &["a = 1", "g(a)", "a++", "return a"]);
    check_statements("int x = 1, y; int z; static int k = 3; x = 2;", &["int x = 1, y", "x = 2"]);
    check_statements("{ ; } here: ; struct t { int m; }; typedef int number; goto here;", &["goto here"]);
    check_statements("if (a < b) a = 1; else b = 2;", &["if (a < b)", "a = 1", "b = 2"]);
    check_statements("if /* why ( */ ( a /* don't ) */\n < b) ;", &["if ( a < b)"]);
    check_statements(
        "while (a) { a--; if (b) break; else continue; }",
        &["while (a)", "a--", "if (b)", "break", "continue"],
    );
    check_statements("for (int i = 0; i < 3; i++) g(i);", &["for (int i = 0; i < 3; i++)", "g(i)"]);
    check_statements("for (;;) return 1;", &["for (;;)", "return 1"]);
    check_statements("do a--; while (a > 0);", &["do … while (a > 0)", "a--"]);
    check_statements(
        "switch (a) { case 1: b = 1; case 2: case 3: break; default: ; }",
        &["switch (a)", "b = 1", "break"],
    );
    check_statements("return ({ int x = a; x + 1; });", &["return ({ int x = a; x + 1; })", "int x = a", "x + 1"]);
}

#[test]
fn unreachable_statements_keep_their_points() {
    check_statements("return 1; a = 2; while (a) a--;", &["return 1", "a = 2", "while (a)", "a--"]);
    check_statements("goto out; a = 2; out: return 3;", &["goto out", "a = 2", "return 3"]);
    check_statements(
        "if (0) a = 2; __builtin_unreachable(); a = 3;",
        &["if (0)", "a = 2", "__builtin_unreachable()", "a = 3"],
    );
    check_statements("double d; d = a / 2.0; a = 3;", &["d = a / 2.0", "a = 3"]);
}

#[test]
fn points_behind_what_can_not_be_linked_stay() {
    let module = lower_texts(&["int f(int x) { x++; g(x, 1); x = 2; return x; }", "int g(char c) { return c; }"]);
    let f = function(&module, "f");
    assert_eq!(f.points.values().filter(|point| point.kind == PointKind::Statement).count(), 4);
}

#[test]
fn statements_of_a_macro_stand_where_it_is_used() {
    check_statements("SWAP(a, b);", &["SWAP(a, b)"; 4]);
    check_statements("WHEN b = 1;", &["WHEN", "b = 1"]);
}

#[test]
fn an_assertion_is_one_statement() {
    check_statements("assert(a > 0); a = 1;", &["assert(a > 0)", "a = 1"]);
    check_statements("if (a) assert(a > 0 && b); return 1;", &["if (a)", "assert(a > 0 && b)", "return 1"]);
    check_values("assert(a > 0);", &[]);
    check_conditions("assert(a > 0);", &[("a > 0", "Slt(0, a)")]);
}

#[test]
fn a_loop_is_reached_once_and_a_condition_every_time() {
    let (module, _) = points_of("while (a) a--;");
    let f = function(&module, "f");
    let (head, condition) = (PointId::new(0), PointId::new(1));
    let block_of = |wanted: PointId| {
        let holds = |(_, block): &(_, &touchstone_ir::Block)| {
            block.insts.iter().any(|inst| inst.kind == InstKind::Point { point: wanted })
        };
        f.blocks.iter().find(holds).expect("a block").0
    };
    assert_eq!(f.points[head].kind, PointKind::Statement);
    assert!(matches!(f.points[condition].kind, PointKind::Condition { .. }));
    assert_ne!(block_of(head), block_of(condition));
    assert!(matches!(f.blocks[block_of(condition)].terminator.kind, TermKind::Branch { .. }));
}

#[test]
fn long_texts_are_cut() {
    let terms = vec!["a"; 100].join(" + ");
    let (_, points) = points_of(&format!("return {terms};"));
    assert!(points.iter().all(|point| point.text.chars().count() <= 80), "{points:?}");
    assert!(points[0].text.starts_with("return a + a") && points[0].text.ends_with('…'));
}

#[test]
fn spans_are_those_of_the_whole_head_or_value() {
    let module = lower("int f(int a) {\n  if (a\n      < 3) return a +\n 1;\n  return 2;\n}\n");
    let f = function(&module, "f");
    let spans: Vec<String> = f
        .points
        .values()
        .map(|point| {
            let span = point.span;
            format!("{}:{}-{}:{} {}", span.line, span.column, span.end_line, span.end_column, point.text)
        })
        .collect();
    assert_eq!(
        spans,
        [
            "2:3-3:11 if (a < 3)",
            "2:7-3:10 a < 3",
            "3:12-4:3 return a + 1",
            "3:19-4:3 a + 1",
            "5:3-5:11 return 2",
            "5:10-5:11 2",
        ]
    );
}

#[test]
fn what_is_kept_or_used_has_a_value_point() {
    check_values("a = b + 1;", &[("b + 1", "Add(b, 1)")]);
    check_values("int x = -b, y = ~b; x = y = 3;", &[("-b", "Sub(0, b)"), ("~b", "Xor(b, 4294967295)"), ("3", "3")]);
    check_values("return a * b;", &[("a * b", "Mul(a, b)")]);
    check_values("g(a + 1);", &[("a + 1", "Add(a, 1)")]);
    check_values("return g(a) + h(b, \"text\", a << 1);", &[("a", "a"), ("b", "b"), ("a << 1", "Shl(a, 1)")]);
    check_values("switch (a & 3) { case 1: ; }", &[("a & 3", "And(a, 3)")]);
    check_values("a += b;", &[("a += b", "Add(a, b)")]);
    check_values("v[a] = b;", &[("a", "a"), ("b", "b")]);
    check_values("ga[a + 1]++;", &[("a + 1", "Add(a, 1)")]);
    check_values("q->c[a] = 'x';", &[("a", "a"), ("'x'", "Trunc8(120)")]);
    check_values("struct s arr[2]; arr[a].c[b] = 1;", &[("a", "a"), ("b", "b"), ("1", "Trunc8(1)")]);
    check_values("int t[3] = {a, 7, b + 1};", &[("a", "a"), ("b + 1", "Add(b, 1)")]);
    check_values("a = INT_MAX; a = sizeof(int);", &[("INT_MAX", "2147483647"), ("sizeof(int)", "Trunc32(4)")]);
}

#[test]
fn what_has_effects_has_no_value_point() {
    check_values("a = g(b) + 1;", &[("b", "b")]);
    check_values("a = b++; a = (b = 3) + 1; a = (b, 1);", &[("3", "3")]);
    check_values("a = ({ b; });", &[]);
    check_values("v[g(0)] += 3; v[a++] = 1;", &[("0", "0"), ("1", "1")]);
    check_conditions("if (a++ > 0 || g(b)) ; while (a = b) ;", &[]);
    check_conditions("if (a++ > 0 || b) ;", &[("b", "Ne(b, 0)")]);
}

#[test]
fn what_is_not_supported_has_no_value_point() {
    check_values("long double d = a * 2.5; return d > 1.0;", &[]);
    check_values("return q->n.u + q->bits;", &[]);
    check_values("return v - ga;", &[]);
    check_values(&format!("return {}a;", "a + ".repeat(400)), &[]);
}

#[test]
fn formulas_of_floats_say_in_which_format_they_compute() {
    check_values(
        "double d = a * 2.5; return d > 1.0;",
        &[("a * 2.5", "Mul.f64(FromSigned(32).f64(a), 2.5)"), ("d > 1.0", "Zext32(Lt.f64(1.0, d))")],
    );
    check_values(
        "float d = u; a = -d;",
        &[("u", "FromUnsigned(32).f32(u)"), ("-d", "ToSigned(32).f32(Xor(d, 2147483648))")],
    );
    check_values(
        "float d; d += 0.1; p = d;",
        &[("d += 0.1", "Convert(F32).f64(Add.f64(Convert(F64).f32(d), 0.1))"), ("d", "Zext8(!Eq.f32(d, 0.0))")],
    );
    check_conditions(
        "double d = g(a); if (d && d != 1 || !(d <= b)) ;",
        &[
            ("d", "!Eq.f64(d, 0.0)"),
            ("d != 1", "!Eq.f64(d, FromSigned(32).f64(1))"),
            ("d <= b", "Le.f64(d, FromSigned(32).f64(b))"),
        ],
    );
}

#[test]
fn formulas_have_the_types_of_the_source() {
    check_values("c = a;", &[("a", "Trunc8(a)")]);
    check_values("l = a + c;", &[("a + c", "Sext64(Add(a, Sext32(c)))")]);
    check_values("l = u;", &[("u", "Zext64(u)")]);
    check_values("l = a < b;", &[("a < b", "Sext64(Zext32(Slt(a, b)))")]);
    check_values("a = u > 3;", &[("u > 3", "Zext32(Ult(3, u))")]);
    check_values("a = a < u;", &[("a < u", "Zext32(Ult(a, u))")]);
    check_values("a = l >= c;", &[("l >= c", "Zext32(Sle(Sext64(c), l))")]);
    check_values("p = a; p = !v;", &[("a", "Zext8(Ne(a, 0))"), ("!v", "Zext8(!Ne(v, 0))")]);
    check_values("a = b / 2 + u % 3;", &[("b / 2 + u % 3", "Add(SDiv(b, 2), URem(u, 3))")]);
    check_values("a = b >> 1; u = u >> l;", &[("b >> 1", "AShr(b, 1)"), ("u >> l", "LShr(u, Trunc32(l))")]);
    check_values(
        "c += 1; p |= a;",
        &[("c += 1", "Trunc8(Add(Sext32(c), 1))"), ("p |= a", "Zext8(Ne(Or(Zext32(p), a), 0))")],
    );
    check_values(
        "l = (char)a; a = (unsigned short)b;",
        &[("(char)a", "Sext64(Trunc8(a))"), ("(unsigned short)b", "Zext32(Trunc16(b))")],
    );
}

#[test]
fn formulas_read_memory_as_the_program_does() {
    check_values("a = gv; a = *v;", &[("gv", "*&gv:i32"), ("*v", "*v:i32")]);
    check_values("a = v[b];", &[("v[b]", "*v + Mul(Sext64(b), 4):i32")]);
    check_values("a = ga[2];", &[("ga[2]", "*&ga + Mul(Sext64(2), 4):i32")]);
    check_values("a = q->next->c[1];", &[("q->next->c[1]", "Sext32(**q + 8:ptr + 4 + Sext64(1):i8)")]);
    check_values("a = gs.x;", &[("gs.x", "*&gs:i32")]);
    check_values("int x = a; v = &x; a = x;", &[("a", "a"), ("&x", "&x"), ("x", "*&x:i32")]);
    check_values(
        "v = v + a; v = ga; v -= a;",
        &[("v + a", "v + Mul(Sext64(a), 4)"), ("ga", "&ga"), ("v -= a", "v + Sub(0, Mul(Sext64(a), 4))")],
    );
    check_values("v = 0; a = v == 0 || q;", &[("0", "0"), ("v == 0 || q", "Zext32((Eq(v, 0) || Ne(q, 0)))")]);
    check_values("static int k; a = k;", &[("k", "*&f.k:i32")]);
    check_values("enum { ONE = 1 }; a = ONE; a = *\"x\";", &[("ONE", "1"), ("*\"x\"", "Sext32(*&.str0:i8)")]);
}

#[test]
fn logical_operators_are_part_of_a_formula() {
    check_values("a = b && !u;", &[("b && !u", "Zext32((Ne(b, 0) && !Ne(u, 0)))")]);
    check_values("a = b ? u > 1 : c;", &[("b ? u > 1 : c", "(Ne(b, 0) ? Zext32(Ult(1, u)) : Sext32(c))")]);
    check_values("a = b ?: 3;", &[("b ?: 3", "(Ne(b, 0) ? b : 3)")]);
    check_values(
        "a = __builtin_expect(!!(b > 1), 1);",
        &[("__builtin_expect(!!(b > 1), 1)", "Trunc32(Sext64(Zext32(!!Slt(1, b))))")],
    );
}

#[test]
fn signs_and_texts_are_those_of_the_source() {
    let (_, points) = points_of("a = (b) < (int)u + c;");
    let relation = match expression(&points[1]).map(|expr| &expr.kind) {
        Some(ExprKind::Cast(_, relation)) => relation,
        other => panic!("{other:?}"),
    };
    let mut found = Vec::new();
    let mut pending = vec![&**relation];
    while let Some(expr) = pending.pop() {
        found.push((expr.text.as_str(), expr.signed));
        pending.extend(expr.parts().into_iter().rev());
    }
    assert_eq!(
        found,
        [("(b) < (int)u + c", true), ("b", true), ("(int)u + c", true), ("u", true), ("", true), ("c", true),]
    );
}

#[test]
fn every_condition_without_effects_has_a_point() {
    check_conditions(
        "if (a < b && v[a] > 3) ;",
        &[("a < b", "Slt(a, b)"), ("v[a] > 3", "Slt(3, *v + Mul(Sext64(a), 4):i32)")],
    );
    check_conditions("while (!(p || v)) a--;", &[("p", "Ne(p, 0)"), ("v", "Ne(v, 0)")]);
    check_conditions("return a ? b && u : 0;", &[("a", "Ne(a, 0)"), ("b", "Ne(b, 0)"), ("u", "Ne(u, 0)")]);
    check_conditions("return a ?: 3;", &[("a", "Ne(a, 0)")]);
    check_conditions(
        "if (v[!a]) ;",
        &[("v[!a]", "Ne(*v + Mul(Sext64(Zext32(!Ne(a, 0))), 4):i32, 0)"), ("a", "Ne(a, 0)")],
    );
    check_conditions("if (LESS(a, b)) ;", &[("LESS(a, b)", "Slt(a, b)")]);
}

#[test]
fn a_condition_that_is_lowered_twice_is_one_point() {
    let (module, points) = points_of("if ((a > 0) == (b > 0)) ;");
    let places = places(function(&module, "f"));
    let counts: Vec<(&str, usize)> =
        points.iter().zip(places.values()).map(|(point, count)| (point.text.as_str(), *count)).collect();
    assert_eq!(counts, [("if ((a > 0) == (b > 0))", 1), ("(a > 0) == (b > 0)", 1), ("a > 0", 1), ("b > 0", 2)]);
}

#[test]
fn a_decision_of_several_conditions_has_a_point_if_control_asks_for_it() {
    let check = |body: &str, expected: &[(&str, &str)]| {
        check_formulas(body, expected, |kind| matches!(kind, PointKind::Decision(_)));
    };
    check("if (a && b > 1) ;", &[("a && b > 1", "(Ne(a, 0) && Slt(1, b))")]);
    check("while (!(a || b)) a++;", &[("!(a || b)", "!(Ne(a, 0) || Ne(b, 0))")]);
    check("if (a) ;", &[]);
    check("if (a && g(b)) ;", &[]);
    check("p = a && b;", &[]);
}

#[test]
fn a_store_at_a_computed_place_has_a_point_if_neither_side_has_an_effect() {
    let check = |body: &str, expected: &[(&str, &str)]| {
        check_formulas(body, expected, |kind| matches!(kind, PointKind::Store { .. }));
    };
    check("v[a] = b;", &[("v[a]", "v + Mul(Sext64(a), 4)")]);
    check("*v = b; *(v + 1) = 2;", &[("*v", "v"), ("*(v + 1)", "v + Mul(Sext64(1), 4)")]);
    check("q->x = b;", &[("q->x", "q")]);
    check("ga[a & 7] = 1;", &[("ga[a & 7]", "&ga + Mul(Sext64(And(a, 7)), 4)")]);
    check("a = 1; gv = 2; v[a++] = 3; v[a] = g(b); v[a] += 1; v[0]++;", &[]);
}

#[track_caller]
fn check_labels(text: &str, expected: &[(&str, &str)]) {
    let module = lower(&format!("{PRELUDE}{text}"));
    let f = function(&module, "f");
    let labels: Vec<(String, String)> = f
        .points
        .values()
        .filter_map(|point| match &point.kind {
            PointKind::Label { name, predicate } => Some((name.clone(), formula(&module, f, predicate))),
            _ => None,
        })
        .collect();
    let expected: Vec<(String, String)> = expected.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    assert_eq!(labels, expected, "{text}");
    let calls = |inst: &touchstone_ir::Inst| matches!(inst.kind, InstKind::Call { .. });
    assert!(!f.blocks.values().any(|block| block.insts.iter().any(calls)), "a label is no call");
    let statements = f.points.values().filter(|point| point.kind == PointKind::Statement);
    assert_eq!(statements.count(), 0, "a label is no statement");
}

#[test]
fn labels_of_both_kinds_are_read() {
    check_labels("void f(int a, int *v) { touchstone_label(7, a > 3); }", &[("7", "Slt(3, a)")]);
    check_labels(
        "enum { HERE }; void f(int a, int *v) { touchstone_label(HERE, a && v); }",
        &[("HERE", "(Ne(a, 0) && Ne(v, 0))")],
    );
    check_labels(
        "void f(int a, int *v) { pc_label(a == 1); pc_label(v[a], 4); pc_label(1, 5, \"cc\"); }",
        &[("1", "Eq(a, 1)"), ("4", "Ne(*v + Mul(Sext64(a), 4):i32, 0)"), ("5", "Ne(1, 0)")],
    );
    check_labels("int pc_label(int, ...); void f(int a) { (void)pc_label(a, 2); }", &[("2", "Ne(a, 0)")]);
    check_labels(
        "static void pc_label(int c, int id) { } void f(int a) { pc_label(a < 0, 9); }",
        &[("9", "Slt(a, 0)")],
    );
    check_labels(
        "int pc_label(int, int); void f(int a) { pc_label(a < 0, 9); } int pc_label(int c, int id) { return 0; }",
        &[("9", "Slt(a, 0)")],
    );
    check_labels("#define MARK(e) touchstone_label(12, e)\nvoid f(int a) { MARK(a != 2); }", &[("12", "Ne(a, 2)")]);
}

#[test]
fn a_label_without_a_condition_is_refused_by_name() {
    let check = |text: &str, expected: &str| {
        let module = lower(&format!("{PRELUDE}void f(int a, long double d) {{ {text} }}"));
        let blocks = function(&module, "f").blocks.values();
        let stops: Vec<String> = blocks
            .filter_map(|block| match &block.terminator.kind {
                TermKind::Unsupported(what) => Some(what.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(stops, [expected], "{text}");
    };
    check("pc_label();", "label without a condition");
}

#[test]
fn the_condition_of_a_label_is_evaluated_as_code_if_it_has_no_formula() {
    for text in ["touchstone_label(1, a++);", "pc_label(g(a), 2);"] {
        let module = lower(&format!("{PRELUDE}void f(int a, long double d) {{ {text} }}"));
        let f = function(&module, "f");
        let stops = f.blocks.values().any(|block| matches!(block.terminator.kind, TermKind::Unsupported(_)));
        let is_label = |point: &Point| matches!(point.kind, PointKind::Label { .. });
        assert!(!stops && f.points.values().any(is_label), "{text}");
    }
}

#[test]
fn a_global_that_can_not_be_read_is_in_no_formula() {
    let module = lower("int bad = sizeof(int) + (int)1.5L; int f(int a) { a = bad + 1; return a; }");
    let f = function(&module, "f");
    let texts: Vec<&str> = f.points.values().map(|point| point.text.as_str()).collect();
    let stopped = f.blocks.values().any(|block| matches!(block.terminator.kind, TermKind::Unsupported(_)));
    assert!(stopped);
    assert_eq!(texts, ["a = bad + 1", "return a", "a"]);
}

#[test]
fn library_models_have_no_points() {
    let module = lower("#include <string.h>\nint f(const char *s) { return strlen(s) > 3; }");
    assert!(function(&module, "strlen").points.is_empty());
    assert!(!function(&module, "f").points.is_empty());
}
