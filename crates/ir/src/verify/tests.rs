use crate::{parse, verify};

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

#[test]
fn wrong_calls_are_found() {
    check_block("call fn9() jump b1", &["fn1 b0 instruction 0: fn9 is no function"]);
    check_block("call @h() jump b1", &["fn1 b0 instruction 0: `h` takes 1 arguments, not 0"]);
    check_block("call @h(%4) jump b1", &["fn1 b0 instruction 0: expected i32, found i64"]);
    check_block("%4 = call @h(%0) jump b1", &["fn1 b0 instruction 0: expected i32, found i64"]);
    check_block("%0 = builtin free(%1) jump b1", &["fn1 b0 instruction 0: Free has no result"]);
    check_block("builtin fresh_int(%1) jump b1", &["fn1 b0 instruction 0: FreshInt needs a result"]);
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
