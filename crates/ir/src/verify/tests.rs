use crate::{BinOp, Expr, ExprKind, FuncId, Ty, parse, verify};
use touchstone_base::Id;

fn check(text: &str, expected: &[&str]) {
    let module = parse(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let found: Vec<String> = verify(&module).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected, "{text}");
}

/// One block of a function with an i32 parameter, a pointer, an i8, an i1 and an i64.
fn check_block(block: &str, expected: &[&str]) {
    let text = format!(
        "type ty0 = void global @g: ty0 size 4 func @h(%0: i32) -> i32\n\
         func @f(%0: i32, %1: ptr) -> i32 {{ reg %2: i8 reg %3: i1 reg %4: i64 reg %5: ptr\n\
         slot s0: size 4 decision d0 if \"x\" = c0 {{ c0 \"x\" }} b0: {block} b1: return 0 }}"
    );
    check(&text, expected);
}

#[test]
fn well_typed_code_is_accepted() {
    check_block(
        "%3 = cmp slt %0, 3 %0 = add %0, 1 %4 = sext %0 %2 = trunc %4 %1 = ptr_add %1, -4 %0 = load %1 \
         store %1, %2 %1 = slot_addr s0 %5 = global_addr @g mem_copy %1, null, %4 mem_set %1, 3, 4 slot_begin s0 \
         %0 = call @h(%0) call @h(i32 1) builtin abort() %0 = builtin printf(%1, %4, %0) %5 = builtin malloc(%4) \
         %4 = ptr_diff %1, %5 %4 = ptr_to_int %1 %1 = int_to_ptr %4 %3 = builtin fresh_int(%1) \
         branch %3, b0, b1 [d0.c0]",
        &[],
    );
    check_block("switch %0 { -5..-1 => b0, 0 => b1, 7..9 => b1, else => b0 }", &[]);
}

#[test]
fn wrong_operands_are_named_with_their_place() {
    check_block("%0 = add %0, i64 1 jump b1", &["fn1 b0 instruction 0: expected i32, found i64"]);
    check_block("%0 = copy %0 %1 = copy %0 jump b1", &["fn1 b0 instruction 1: expected ptr, found i32"]);
    check_block("%0 = copy %77 jump b1", &["fn1 b0 instruction 0: %77 is no register"]);
    check_block("%5 = add %1, %1 jump b1", &["fn1 b0 instruction 0: Add of pointers"]);
    check_block("%2 = copy 300 jump b1", &["fn1 b0 instruction 0: the constant 300 is no i8"]);
    check_block("%3 = cmp eq %0, %4 jump b1", &["fn1 b0 instruction 0: expected i32, found i64"]);
    check_block("%0 = cmp eq %0, %0 jump b1", &["fn1 b0 instruction 0: expected i1, found i32"]);
    check_block("%3 = load %1 jump b1", &["fn1 b0 instruction 0: an i1 is never in memory"]);
    check_block("store %1, %3 jump b1", &["fn1 b0 instruction 0: an i1 is never in memory"]);
    check_block("store %4, %0 jump b1", &["fn1 b0 instruction 0: expected ptr, found i64"]);
    check_block("%4 = trunc %0 jump b1", &["fn1 b0 instruction 0: Trunc from i32 to i64"]);
    check_block("%2 = sext %2 jump b1", &["fn1 b0 instruction 0: Sext from i8 to i8"]);
    check_block("%5 = int_to_ptr %0 jump b1", &["fn1 b0 instruction 0: IntToPtr from i32 to ptr"]);
    check_block("%5 = slot_addr s1 jump b1", &["fn1 b0 instruction 0: s1 is no slot"]);
    check_block("%5 = global_addr g3 jump b1", &["fn1 b0 instruction 0: g3 is no global"]);
}

/// One point of a function with registers of every type.
fn check_point(point: &str, expected: &[&str]) {
    let text = format!(
        "file f0 \"a.c\" type ty0 = void global @g: ty0 size 4\n\
         func @f(%0: i32, %1: ptr) {{ reg %2: i8 reg %3: i1 reg %4: i64 slot s0: size 4\n\
         decision d0 if \"x\" = c0 {{ c0 \"x\" }} point p0 {point} \"x\" b0: point p0 return }}"
    );
    check(&text, expected);
}

#[test]
fn well_typed_points_are_accepted() {
    check_point("statement", &[]);
    for ty in ["i1 %3", "i8 %2", "i32 unsigned %0", "i64 %4", "ptr %1", "ptr s0", "ptr @g", "ptr 0", "i8 -1", "i1 1"] {
        check_point(&format!("value ({ty})"), &[]);
    }
    check_point("value (add i32 (i32 %0) (load i32 (ptr_add ptr (ptr s0) (sext i64 (i8 %2)))))", &[]);
    check_point("value (xor i1 (i1 %3) (ule i1 (ptr %1) (ptr @g)))", &[]);
    check_point("value (ite ptr (i1 %3) (int_to_ptr ptr (ptr_to_int i64 (ptr %1))) (ptr 0))", &[]);
    check_point("condition d0.c0 (or_else i1 (not i1 (i1 %3)) (and_then i1 (i1 %3) (eq i1 (i8 %2) (i8 3))))", &[]);
    check_point("label \"L\" (trunc i1 (i8 %2))", &[]);
}

#[test]
fn wrong_points_are_found() {
    check_block("point p0 jump b1", &["fn1 b0 instruction 0: p0 is no point"]);
    check_point("condition d0.c1 (i1 %3)", &["fn0 p0: d0.c1 is no condition"]);
    check_point("condition d1.c0 (i1 %3)", &["fn0 p0: d1.c0 is no condition"]);
    check_point("condition d0.c0 (i8 %2)", &["fn0 p0: expected i1, found i8"]);
    check_point("label \"L\" (ptr %1)", &["fn0 p0: expected i1, found ptr"]);
    check("type ty0 = void func @f() { point p0 statement \"x\" @f3:1:1 }", &["fn0 p0: f3 is no file"]);
}

#[test]
fn wrong_expressions_are_found() {
    let check = |value: &str, expected: &[&str]| {
        let expected: Vec<String> = expected.iter().map(|what| format!("fn0 p0: {what}")).collect();
        check_point(&format!("value {value}"), &expected.iter().map(String::as_str).collect::<Vec<_>>());
    };
    check("(i32 %9)", &["%9 is no register"]);
    check("(i32 %2)", &["expected i32, found i8"]);
    check("(i8 256)", &["the constant 256 is no i8"]);
    check("(ptr s1)", &["s1 is no slot"]);
    check("(i64 s0)", &["expected ptr, found i64"]);
    check("(ptr g1)", &["g1 is no global"]);
    check("(i64 @g)", &["expected ptr, found i64"]);
    check("(load i1 (ptr s0))", &["an i1 is never in memory"]);
    check("(load i32 (i64 %4))", &["expected ptr, found i64"]);
    check("(add ptr (ptr s0) (ptr s0))", &["Add of pointers"]);
    check("(add i32 (i32 %0) (i8 %2))", &["expected i32, found i8"]);
    check("(add i64 (i32 %0) (i64 %4))", &["expected i64, found i32"]);
    check("(slt i32 (i32 %0) (i32 1))", &["expected i1, found i32"]);
    check("(eq i1 (i32 %0) (i64 %4))", &["expected i32, found i64"]);
    check("(sext i8 (i32 %0))", &["Sext from i32 to i8"]);
    check("(trunc i32 (i32 %0))", &["Trunc from i32 to i32"]);
    check("(int_to_ptr ptr (i32 %0))", &["IntToPtr from i32 to ptr"]);
    check("(ptr_to_int i1 (ptr %1))", &["PtrToInt from ptr to i1"]);
    check(
        "(ptr_add i64 (i64 %4) (i32 %0))",
        &["expected ptr, found i64", "expected ptr, found i64", "expected i64, found i32"],
    );
    check("(not i8 (i8 %2))", &["expected i1, found i8", "expected i1, found i8"]);
    check("(and_then i1 (i8 %2) (i1 %3))", &["expected i1, found i8"]);
    check("(or_else i1 (i1 %3) (i8 %2))", &["expected i1, found i8"]);
    check("(ite i32 (i8 %2) (i32 1) (i32 2))", &["expected i1, found i8"]);
    check("(ite i32 (i1 %3) (i8 1) (i64 2))", &["expected i32, found i8", "expected i32, found i64"]);
    // Every node is checked, from left to right.
    check(
        "(add i32 (load i32 (ptr s7)) (mul i32 (i32 %8) (i8 1)))",
        &["s7 is no slot", "expected i32, found i8", "%8 is no register"],
    );
}

#[test]
fn an_expression_can_be_verified_by_itself() {
    let module = parse("type ty0 = void func @f(%0: i32)").expect("well-formed");
    let sum = |ty| Expr {
        kind: ExprKind::Bin(BinOp::Add, Box::new(Expr::constant(Ty::I32, 1)), Box::new(Expr::constant(ty, 2))),
        ..Expr::constant(Ty::I32, 0)
    };
    assert_eq!(sum(Ty::I32).verify(&module, FuncId::new(0)), []);
    let errors = sum(Ty::I8).verify(&module, FuncId::new(0));
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), ["fn0 expected i32, found i8"]);
    assert_eq!(sum(Ty::I32).verify(&module, FuncId::new(1)).len(), 1);
    let deep = (0..Expr::MAX_DEPTH).fold(Expr::constant(Ty::I1, 1), |inner, _| Expr {
        kind: ExprKind::Not(Box::new(inner)),
        ..Expr::constant(Ty::I1, 0)
    });
    assert_eq!(deep.depth(), Expr::MAX_DEPTH + 1);
    assert_eq!(deep.verify(&module, FuncId::new(0)).len(), 1);
}

#[test]
fn wrong_calls_are_found() {
    check_block("call fn9() jump b1", &["fn1 b0 instruction 0: fn9 is no function"]);
    check_block("call @h() jump b1", &["fn1 b0 instruction 0: `h` takes 1 arguments, not 0"]);
    check_block("call @h(%4) jump b1", &["fn1 b0 instruction 0: expected i32, found i64"]);
    check_block("%4 = call @h(%0) jump b1", &["fn1 b0 instruction 0: expected i32, found i64"]);
    check_block("%0 = builtin free(%1) jump b1", &["fn1 b0 instruction 0: Free has no result"]);
    check_block("builtin fresh_int(%1) jump b1", &["fn1 b0 instruction 0: FreshInt needs a result"]);
    check_block(
        "%0 = builtin fresh_int_argument(%1) jump b1",
        &["fn1 b0 instruction 0: no instruction asks for a word of the command line, or for an allocation that fails"],
    );
    check_block("builtin assume(%0) jump b1", &["fn1 b0 instruction 0: expected i1, found i32"]);
    check_block(
        "builtin printf(%1, %2) jump b1",
        &["fn1 b0 instruction 0: a variable argument must be i32, i64 or ptr"],
    );
    check_block("builtin calloc(%4) jump b1", &["fn1 b0 instruction 0: Calloc takes 2 arguments, not 1"]);
}

#[test]
fn wrong_terminators_are_found() {
    check_block("jump b2", &["fn1 b0 instruction 0: b2 is no block"]);
    check_block("branch %0, b0, b1", &["fn1 b0 instruction 0: expected i1, found i32"]);
    check_block("branch %3, b0, b1 [d0.c1]", &["fn1 b0 instruction 0: d0.c1 is no condition"]);
    check_block("branch %3, b0, b1 [d1.c0]", &["fn1 b0 instruction 0: d1.c0 is no condition"]);
    check_block("branch check %3, b0, b1 [d0.c0]", &["fn1 b0 instruction 0: Check with the tag of a condition"]);
    check_block("throw %0", &["fn1 b0 instruction 0: expected ptr, found i32"]);
    check_block(
        "catch %0 => b7, else => b1",
        &[
            "fn1 b0 instruction 0: expected ptr, found i32",
            "fn1 b0 instruction 0: b7 is no block",
            "fn1 b0 instruction 0: a catch that does not follow a call",
        ],
    );
    check_block("return %4", &["fn1 b0 instruction 0: expected i32, found i64"]);
    check_block("switch %1 { else => b0 }", &["fn1 b0 instruction 0: a switch over a pointer"]);
    check_block(
        "switch %2 { 300 => b0, else => b0 }",
        &["fn1 b0 instruction 0: the range 300..300 is not 8 bits wide"],
    );
    check_block("switch %2 { 3..1 => b0, else => b0 }", &["fn1 b0 instruction 0: the range 3..1 is empty"]);
    let overlap = "fn1 b0 instruction 0: the ranges of the switch overlap";
    check_block("switch %2 { 1..3 => b0, 3 => b1, else => b0 }", &[overlap]);
    check_block("switch %2 { -3..3 => b0, unsigned 254 => b1, else => b0 }", &[overlap]);
    check(
        "type ty0 = void func @f() { b0: return i32 1 }",
        &["fn0 b0 instruction 0: a value is returned from a function without result"],
    );
}

#[test]
fn wrong_modules_are_found() {
    check("func @f() func @f() type ty0 = void", &["two functions are named `f`"]);
    check("global @x: ty7 size 1", &["ty7 is no data type"]);
    check(
        "type ty0 = void type ty1 = one_of \"a\" tag 0 8 { 1: ty0, 1: ty2, 256: ty2 } type ty2 = struct \"s\" size 1 align 1 { \"t\": ty3 at 0 } type ty3 = int \"b\" 8 unsigned",
        &[
            "ty0 is no structure with the tag of ty1",
            "two variants of ty1 have the tag 1",
            "the tag 256 of ty1 is not 8 bits wide",
        ],
    );
    check(
        "type ty0 = one_of \"a\" tag 0 8 {} type ty1 = array ty0 length 2",
        &["ty1 contains ty0, which has variants"],
    );
    let counted = |struct_: &str, more: &str| {
        format!("type ty0 = int \"i\" 32 signed type ty1 = array ty0 length 0 type ty2 = struct \"a\" {struct_} {more}")
    };
    check(&counted("size 4 align 4 counted 0 { \"n\": ty0 at 0, \"a\": ty1 at 4 }", ""), &[]);
    check(
        &counted("size 4 align 4 counted 0 { \"n\": ty0 at 0, \"a\": ty1 at 4 }", "type ty3 = array ty2 length 1"),
        &["ty3 contains ty2, whose objects say how large they are"],
    );
    let no_count = |by| format!("ty2 is counted by field {by}, which is no integer before its array");
    // It is the array itself, it isn't there, it is a pointer.
    for (fields, by) in [
        ("{ \"n\": ty0 at 0, \"a\": ty1 at 4 }", 1),
        ("{ \"n\": ty0 at 0, \"a\": ty1 at 4 }", 7),
        ("{ \"n\": ty3 at 0, \"a\": ty1 at 4 }", 0),
    ] {
        let text = counted(&format!("size 4 align 4 counted {by} {fields}"), "type ty3 = float \"f\" f32");
        check(&text, &[&no_count(by)]);
    }
    // Nothing, something of another kind, an array with elements of its own, room behind it.
    let no_array = "ty2 is counted and does not end in an array without elements";
    check(&counted("size 4 align 4 counted 0 {}", ""), &[no_array, &no_count(0)]);
    check(&counted("size 8 align 4 counted 0 { \"n\": ty0 at 0, \"m\": ty0 at 4 }", ""), &[no_array]);
    check(
        &counted("size 8 align 4 counted 0 { \"n\": ty0 at 0, \"a\": ty3 at 4 }", "type ty3 = array ty0 length 1"),
        &[no_array],
    );
    check(&counted("size 8 align 4 counted 0 { \"n\": ty0 at 0, \"a\": ty1 at 4 }", ""), &[no_array]);
    check(
        "type ty0 = void start @f start fn9 func @f(%0: i32) { b0: return }",
        &["fn0 can't run at start", "fn9 can't run at start"],
    );
    check("type ty0 = void global @x: ty0 size 1 heap", &["`x` is on the heap and not local"]);
    check("thrown ty0 type ty0 = void", &["what is thrown is ty0, which has no variants"]);
    check("type ty0 = pointer ty9", &["ty9 is no data type"]);
    check("type ty0 = pointer ty0", &[]);
    check("type ty0 = array ty0 length 3", &["ty0 contains itself"]);
    check(
        "type ty0 = struct \"s\" size 8 align 8 { \"a\": ty1 at 0 } type ty1 = array ty0 length 2",
        &["ty0 contains itself", "ty1 contains itself"],
    );
    check(
        "type ty0 = int \"long\" 64 signed type ty1 = array ty0 length 0xffffffffffffffff",
        &["the size of ty1 does not fit into 64 bits"],
    );
    check(
        "type ty0 = int \"int\" 32 signed type ty1 = struct \"s\" size 4 align 4 { \"a\": ty0 at 2 }",
        &["field `a` does not lie inside ty1"],
    );
    check("type ty0 = int \"odd\" 7 signed", &["ty0 is 7 bits wide"]);
    let global = |rest: &str| format!("type ty0 = void global @x: ty0 size 8 {rest}");
    check(&global("= { 0: i32 1, 2: i32 1 }"), &["contents of `x` overlap at 2"]);
    check(&global("= { 6: i32 1 }"), &["contents at 6 do not lie inside `x`"]);
    check(&global("= { 0: g4 }"), &["g4 in `x` is no global"]);
    check(&global("undefined = { }"), &["`x` is undefined and has contents"]);
    check(&global("@f0:1:1"), &["f0 is no file"]);
}

#[test]
fn wrong_functions_are_found() {
    let types = "type ty0 = void ";
    let check = |text: &str, expected: &[&str]| check(&format!("{types}{text}"), expected);
    check("func @f(%1: i32, %0: i32)", &["fn0 parameter 0 is in %1", "fn0 parameter 1 is in %0"]);
    check("func @f(%0: i32 aggregate)", &["fn0 %0 must be a pointer to an aggregate"]);
    check("func @f(%0: i32) aggregate_result", &["fn0 %0 must be a pointer to an aggregate"]);
    let needs_hidden = "fn0 an aggregate result needs a hidden parameter and no other result";
    check("func @f(%0: ptr) -> i32 aggregate_result", &[needs_hidden]);
    check("func @f() aggregate_result", &[needs_hidden]);
    let decision = |tree: &str| format!("func @f() {{ decision d0 if \"x\" = {tree} {{ c0 \"a\" c1 \"b\" }} }}");
    let disorder = "fn0 the tree of d0 does not list its conditions in order";
    check(&decision("and(c0, not(c1))"), &[]);
    check(&decision("and(c1, c0)"), &[disorder]);
    check(&decision("c0"), &[disorder]);
    check(&decision("ite(c0, true, c1)"), &[]);
    check(&decision("ite(c0, c0, c1)"), &[disorder]);
}
