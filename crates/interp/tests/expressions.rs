//! Compares pure expressions, evaluated at a point, with the same computation by instructions right after it.

use touchstone_base::Id;
use touchstone_interp::{End, Event, Limits, Machine, NullObserver, ObjectKind, Observer, StateView, Value};
use touchstone_ir::{Expr, FuncId, Module, PointId, PointKind, parse, verify};

fn module(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    let errors: Vec<String> = verify(&module).iter().map(ToString::to_string).collect();
    assert!(errors.is_empty(), "{errors:?} in\n{text}");
    module
}

fn value_at(module: &Module, func: FuncId, point: PointId) -> &Expr {
    match &module.functions[func].points[point].kind {
        PointKind::Value(value) => value,
        kind => panic!("{kind:?} has no value"),
    }
}

/// Evaluates every value point that a run passes.
struct Evaluator<'m> {
    module: &'m Module,
    seen: Vec<(PointId, Option<Value>)>,
}

impl Observer for Evaluator<'_> {
    fn event(&mut self, _: &Event) {}
    fn output(&mut self, _: &[u8]) {}
    fn point(&mut self, point: PointId, at: &StateView<'_>) {
        self.seen.push((point, at.eval(value_at(self.module, at.func(), point))));
    }
}

/// The expected presence of values of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Has {
    /// Always a value.
    Value,
    /// Sometimes a value, sometimes none.
    Both,
    /// Never a value.
    None,
}

/// Checks that the code, which ends the function with a result of type `ty`, and the expression agree for all
/// arguments. Registers: `%0 %1` i32, `%2` ptr, `%3` i1, `%4 %5` i8, `%6 %7` i64, `%8` ptr to `s0`, `%9` an undefined
/// i32.
fn check(ty: &str, expr: &str, code: &str, expected: Has) {
    let text = format!(
        "global @g: size 8 constant = {{ 0: i32 10, 4: i32 -20 }}
         global @pointers: size 16 = {{ 0: @g + 4 }}
         global @external: size 4 undefined
         func @f(%0 \"a\": i32, %1 \"b\": i32, %2 \"p\": ptr) -> {ty} {{
           reg %9: i32
           slot s0: size 8
           point p0 value {expr} \"e\"
         b0:
           %8: ptr = slot_addr s0
           store %8, %0
           %3: i1 = cmp slt %0, %1
           %4: i8 = trunc %0
           %5: i8 = trunc %1
           %6: i64 = sext %0
           %7: i64 = sext %1
           point p0
           {code}
         }}"
    );
    let module = module(&text);
    let func = module.function_named("f").expect("it is there");
    let global = module.global_named("g").expect("it is there");
    let numbers = [0u64, 1, 2, 7, 33, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
    let (mut values, mut nones) = (0, 0);
    for a in numbers {
        for b in numbers {
            for pointer in 0..6 {
                let mut machine = Machine::new(&module, Limits::default());
                let input = machine.alloc(8, "input", ObjectKind::Input);
                let object = machine.global_object(global);
                let pointer = match pointer {
                    0 => Value::NULL,
                    1 => Value::Int(5000),
                    2 => Value::ptr(input, 0),
                    offset => Value::ptr(object, (offset - 3) * 4),
                };
                let mut evaluator = Evaluator { module: &module, seen: Vec::new() };
                let end = machine.call(func, &[Value::Int(a), Value::Int(b), pointer], &mut evaluator);
                let by_code = match end {
                    End::Returned(Some(Value::Undefined)) | End::Error { .. } | End::Unsupported { .. } => None,
                    End::Returned(Some(value)) => Some(value),
                    end => panic!("{end:?} in\n{text}"),
                };
                assert_eq!(evaluator.seen, [(PointId::new(0), by_code)], "{expr} for {a}, {b}, {pointer:?}");
                *(if by_code.is_some() { &mut values } else { &mut nones }) += 1;
            }
        }
    }
    let found = match (values, nones) {
        (_, 0) => Has::Value,
        (0, _) => Has::None,
        _ => Has::Both,
    };
    assert_eq!(found, expected, "{expr}");
}

#[test]
fn leaves_are_what_operands_are() {
    check("i32", "(i32 -7)", "return -7", Has::Value);
    check("i1", "(i1 1)", "return 1", Has::Value);
    check("ptr", "(ptr 0)", "return null", Has::Value);
    check("i32", "(i32 %1)", "return %1", Has::Value);
    check("ptr", "(ptr %2)", "return %2", Has::Value);
    check("i32", "(i32 %9)", "return %9", Has::None);
    check("ptr", "(ptr s0)", "return %8", Has::Value);
    check("ptr", "(ptr @g)", "%10: ptr = global_addr @g return %10", Has::Value);
}

#[test]
fn arithmetic_is_that_of_the_instructions() {
    let types = [("i1", "%3", "%3"), ("i8", "%4", "%5"), ("i32", "%0", "%1"), ("i64", "%6", "%7")];
    for (ty, a, b) in types {
        for op in ["add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "and", "or", "xor", "shl", "lshr", "ashr"] {
            let divides = op.contains("div") || op.contains("rem");
            let expected = if divides { Has::Both } else { Has::Value };
            let code = format!("%10: {ty} = {op} {a}, {b} return %10");
            check(ty, &format!("({op} {ty} ({ty} {a}) ({ty} {b}))"), &code, expected);
        }
    }
    check("i32", "(add i32 (i32 %9) (i32 1))", "%10: i32 = add %9, 1 return %10", Has::None);
    check("i32", "(mul i32 (i32 0) (i32 %9))", "%10: i32 = mul 0, %9 return %10", Has::None);
}

#[test]
fn relations_are_those_of_the_instructions() {
    let pairs = [
        ("i1", "%3", "%3"),
        ("i8", "%4", "%5"),
        ("i32", "%0", "%1"),
        ("i64", "%6", "%7"),
        ("ptr", "%2", "%8"),
        ("ptr", "%8", "%8"),
    ];
    for (ty, a, b) in pairs {
        for op in ["eq", "ne", "ult", "ule", "slt", "sle"] {
            let code = format!("%10: i1 = cmp {op} {a}, {b} return %10");
            check("i1", &format!("({op} i1 ({ty} {a}) ({ty} {b}))"), &code, Has::Value);
        }
    }
    check("i1", "(eq i1 (ptr %2) (ptr 0))", "%10: i1 = cmp eq %2, null return %10", Has::Value);
    check(
        "i1",
        "(ule i1 (ptr %2) (ptr_add ptr (ptr @g) (i64 4)))",
        "%10: ptr = global_addr @g %10 = ptr_add %10, 4 %11: i1 = cmp ule %2, %10 return %11",
        Has::Value,
    );
    check("i1", "(eq i1 (i32 %9) (i32 %9))", "%10: i1 = cmp eq %9, %9 return %10", Has::None);
}

#[test]
fn casts_are_those_of_the_instructions() {
    for (op, to, from, source) in [
        ("zext", "i64", "i32", "%0"),
        ("sext", "i64", "i32", "%0"),
        ("zext", "i32", "i8", "%4"),
        ("sext", "i32", "i8", "%4"),
        ("zext", "i16", "i1", "%3"),
        ("sext", "i16", "i1", "%3"),
        ("trunc", "i16", "i32", "%0"),
        ("trunc", "i1", "i8", "%4"),
        ("ptr_to_int", "i64", "ptr", "%2"),
        ("ptr_to_int", "i8", "ptr", "%8"),
        ("int_to_ptr", "ptr", "i64", "%6"),
    ] {
        let code = format!("%10: {to} = {op} {source} return %10");
        check(to, &format!("({op} {to} ({from} {source}))"), &code, Has::Value);
    }
    // A round trip gives the same pointer.
    check(
        "ptr",
        "(int_to_ptr ptr (ptr_to_int i64 (ptr %8)))",
        "%10: i64 = ptr_to_int %8 %11: ptr = int_to_ptr %10 return %11",
        Has::Value,
    );
    check("i64", "(sext i64 (i32 %9))", "%10: i64 = sext %9 return %10", Has::None);
}

#[test]
fn memory_is_read_as_by_the_instructions() {
    // Null, an invalid address, undefined bytes, two valid places, and the end of the object.
    check("i32", "(load i32 (ptr %2))", "%10: i32 = load %2 return %10", Has::Both);
    check("i32", "(load i32 (ptr s0))", "%10: i32 = load %8 return %10", Has::Value);
    check(
        "i8",
        "(load i8 (ptr_add ptr (ptr s0) (i64 3)))",
        "%10: ptr = ptr_add %8, 3 %11: i8 = load %10 return %11",
        Has::Value,
    );
    // The second half of the slot was never written.
    check("i64", "(load i64 (ptr s0))", "%10: i64 = load %8 return %10", Has::None);
    check(
        "i32",
        "(load i32 (ptr_add ptr (ptr @g) (shl i64 (i64 %6) (i64 2))))",
        "%10: ptr = global_addr @g %11: i64 = shl %6, 2 %10 = ptr_add %10, %11 %12: i32 = load %10 return %12",
        Has::Both,
    );
    check(
        "i32",
        "(load i32 (load ptr (ptr @pointers)))",
        "%10: ptr = global_addr @pointers %11: ptr = load %10 %12: i32 = load %11 return %12",
        Has::Value,
    );
    check(
        "ptr",
        "(load ptr (ptr_add ptr (ptr @pointers) (i64 8)))",
        "%10: ptr = global_addr @pointers %10 = ptr_add %10, 8 %11: ptr = load %10 return %11",
        Has::Value,
    );
    check(
        "i32",
        "(load i32 (ptr @external))",
        "%10: ptr = global_addr @external %11: i32 = load %10 return %11",
        Has::None,
    );
    check("ptr", "(ptr_add ptr (ptr %2) (i64 %6))", "%10: ptr = ptr_add %2, %6 return %10", Has::Value);
    check("ptr", "(ptr_add ptr (ptr 0) (i64 -1))", "%10: ptr = ptr_add null, -1 return %10", Has::Value);
    check(
        "ptr",
        "(ptr_add ptr (ptr %8) (sext i64 (i32 %9)))",
        "%10: i64 = sext %9 %11: ptr = ptr_add %8, %10 return %11",
        Has::None,
    );
}

#[test]
fn logic_evaluates_only_what_is_needed() {
    const DIVIDES: &str = "(slt i1 (sdiv i32 (i32 %0) (i32 %1)) (i32 3))";
    const IS_ZERO: &str = "(eq i1 (i32 %1) (i32 0))";
    let code = |word: &str, then_block: &str, else_block: &str, known: u8| {
        format!(
            "%10: i1 = cmp {word} %1, 0 branch %10, {then_block}, {else_block}
             b1: return {known}
             b2: %11: i32 = sdiv %0, %1 %12: i1 = cmp slt %11, 3 return %12"
        )
    };
    check("i1", &format!("(not i1 {IS_ZERO})"), "%10: i1 = cmp ne %1, 0 return %10", Has::Value);
    check("i1", "(not i1 (i1 %3))", "%10: i1 = xor %3, 1 return %10", Has::Value);
    check("i1", &format!("(or_else i1 {IS_ZERO} {DIVIDES})"), &code("eq", "b1", "b2", 1), Has::Value);
    check("i1", &format!("(and_then i1 (not i1 {IS_ZERO}) {DIVIDES})"), &code("ne", "b2", "b1", 0), Has::Value);
    check("i1", &format!("(or_else i1 (not i1 {IS_ZERO}) {DIVIDES})"), &code("ne", "b1", "b2", 1), Has::Both);
    check("i1", &format!("(and_then i1 {IS_ZERO} {DIVIDES})"), &code("eq", "b2", "b1", 0), Has::Both);
    check("i1", &format!("(and_then i1 {DIVIDES} (i1 0))"), "%10: i32 = sdiv %0, %1 return 0", Has::Both);
    check("i1", &format!("(or_else i1 {DIVIDES} (i1 1))"), "%10: i32 = sdiv %0, %1 return 1", Has::Both);
    check("i1", &format!("(ite i1 {IS_ZERO} (i1 0) {DIVIDES})"), &code("eq", "b1", "b2", 0), Has::Value);
    check("i1", &format!("(ite i1 {IS_ZERO} {DIVIDES} (i1 0))"), &code("eq", "b2", "b1", 0), Has::Both);
    check("ptr", "(ite ptr (i1 %3) (ptr %2) (ptr %8))", "branch %3, b1, b2 b1: return %2 b2: return %8", Has::Value);
    check("i32", "(ite i32 (eq i1 (i32 %9) (i32 0)) (i32 1) (i32 1))", "%10: i1 = cmp eq %9, 0 return 1", Has::None);
}

#[test]
fn a_slot_has_no_address_before_its_life_begins() {
    let module = module(
        "func @f() {
           slot s0: size 4
           point p0 value (ne i1 (ptr s0) (ptr 0)) \"&x != 0\"
           point p1 value (load i32 (ptr s0)) \"x\"
         b0:
           point p0
           slot_begin s0
           point p0
           point p1
           %0: ptr = slot_addr s0
           store %0, i32 5
           point p1
           slot_begin s0
           point p1
           return
         }",
    );
    let mut evaluator = Evaluator { module: &module, seen: Vec::new() };
    let end = Machine::new(&module, Limits::default()).call(FuncId::new(0), &[], &mut evaluator);
    assert_eq!(end, End::Returned(None));
    let values: Vec<Option<Value>> = evaluator.seen.iter().map(|&(_, value)| value).collect();
    assert_eq!(values, [None, Some(Value::Int(1)), None, Some(Value::Int(5)), None]);
}

#[test]
fn points_and_their_observers_change_nothing() {
    let text = |declaration: &str, point: &str| {
        module(&format!(
            "func @f(%0: i32) -> i64 {{
               slot s0: size 4
               slot s1: size 4
               {declaration}
             b0:
               {point}
               %1: ptr = slot_addr s1
               {point}
               %2: i64 = ptr_to_int %1
               %3: i1 = cmp eq %0, 0
               {point}
               branch %3, b1, b2
             b1:
               {point}
               return %2
             b2:
               {point}
               %0 = sub %0, 1
               %4: i64 = call @f(%0)
               {point}
               return %4
             }}"
        ))
    };
    let bare = text("", "");
    let marked = text("point p0 value (load i32 (ptr s0)) \"x\"", "point p0");
    for steps in [0, 1, 2, 5, 17, 1000] {
        let limits = Limits { steps, ..Limits::default() };
        let run = |module: &Module, observer: &mut dyn FnMut(&mut Machine) -> End| {
            let mut machine = Machine::new(module, limits);
            let end = observer(&mut machine);
            (end, machine.steps_taken())
        };
        let args = [Value::Int(3)];
        let plain = run(&bare, &mut |machine| machine.call(FuncId::new(0), &args, &mut NullObserver));
        let unwatched = run(&marked, &mut |machine| machine.call(FuncId::new(0), &args, &mut NullObserver));
        let mut evaluator = Evaluator { module: &marked, seen: Vec::new() };
        let watched = run(&marked, &mut |machine| machine.call(FuncId::new(0), &args, &mut evaluator));
        assert_eq!(plain, unwatched, "{steps} steps");
        assert_eq!(plain, watched, "{steps} steps");
        assert!(steps < 1000 || evaluator.seen.len() == 4 * 3 + 1 + 3 * 2, "{}", evaluator.seen.len());
    }
}

/// Records the state at entries and points.
struct Diary<'m> {
    module: &'m Module,
    lines: Vec<String>,
}

impl Observer for Diary<'_> {
    fn event(&mut self, event: &Event) {
        if let Event::Call(func) = event {
            self.lines.push(format!("call {func}"));
        }
    }
    fn output(&mut self, _: &[u8]) {}
    fn enter(&mut self, at: &StateView<'_>) {
        let value = value_at(self.module, at.func(), PointId::new(0));
        self.lines.push(format!("enter {} at depth {}: {:?}", at.func(), at.depth(), at.eval(value)));
    }
    fn point(&mut self, point: PointId, at: &StateView<'_>) {
        let PointKind::Label { predicate, .. } = &self.module.functions[at.func()].points[point].kind else { return };
        self.lines.push(format!("{}.{point}: {}", at.func(), at.holds(predicate)));
    }
}

#[test]
fn an_entry_shows_the_arguments_and_a_label_holds_or_not() {
    let module = module(
        "global @g: size 4 = { 0: i32 9 }
         func @f(%0: i32) -> i32 {
           point p0 value (add i32 (i32 %0) (load i32 (ptr @g))) \"a + g\"
           point p1 label \"L1\" (slt i1 (i32 %0) (i32 0)) \"a < 0\"
           point p2 label \"L2\" (eq i1 (sdiv i32 (i32 1) (i32 %0)) (i32 0)) \"1 / a == 0\"
         b0:
           point p1
           point p2
           %0 = call @h(%0)
           point p1
           point p2
           return %0
         }
         func @h(%0: i32) -> i32 {
           point p0 value (i32 %1) \"x\"
         b0:
           %1: i32 = sub %0, 1
           return %1
         }",
    );
    let mut diary = Diary { module: &module, lines: Vec::new() };
    Machine::new(&module, Limits::default()).call(FuncId::new(0), &[Value::Int(0)], &mut diary);
    assert_eq!(
        diary.lines,
        [
            "call fn0",
            "enter fn0 at depth 1: Some(Int(9))",
            "fn0.p1: false",
            "fn0.p2: false",
            "call fn1",
            "enter fn1 at depth 2: None",
            "fn0.p1: true",
            "fn0.p2: false",
        ]
    );
}
