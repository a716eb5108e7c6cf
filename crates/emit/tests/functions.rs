//! Tests of functions: written, compiled, replayed.

// Tests may run processes and read files.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod common;

use common::{Bench, chars, disagreed, int, ints, null, object, span, to};
use touchstone_criteria::{Disagreement, NamedValue, NotCheckable, Outcome, Replay, TestCase, TestKind, Untestable};
use touchstone_emit::CTestForm;
use touchstone_ir::{DataType, DataValue, EnumItem, IntKind, Linkage, PointerTarget};

const MAX: &str = "int max(int a, int b) {\n    return a > b ? a : b;\n}\n";

fn max_test(bench: &Bench, id: &str, a: i64, b: i64, result: i64) -> TestCase {
    let mut test = bench.test(id, "max", vec![int(a), int(b)], Vec::new());
    test.expected.result = Some(int(result));
    test
}

fn max_bench(source: &str) -> Bench {
    let mut bench = Bench::new(source);
    bench.function("max", &[("a", bench.int), ("b", bench.int)], bench.int);
    bench
}

fn globals_of(test: &mut TestCase) -> &mut Vec<NamedValue> {
    match &mut test.kind {
        TestKind::Function { globals, .. } => globals,
        TestKind::Program => panic!("a test of a function"),
    }
}

#[test]
fn a_test_reads_like_one_written_by_hand() {
    let bench = max_bench(MAX);
    let mut test = max_test(&bench, "max_1", -5, i64::from(i32::MIN), -5);
    test.description = "a > b".to_string();
    let text = bench.text(&[test]);
    let expected = "\nTEST(max_1, \"a > b\") {\n    int a = -5;\n    int b = INT_MIN;\n    int result = max(a, b);\n    \
                    CHECK_INT(-5, result);\n}\n";
    assert!(text.ends_with(expected), "{text}");
    assert!(text.contains("#include \"../code.c\"\n#include \"touchstone_test.h\"\n"), "{text}");
}

#[test]
fn right_predictions_agree_and_wrong_ones_say_what_came_out() {
    let bench = max_bench(MAX);
    let tests = [max_test(&bench, "max_1", 3, 2, 3), max_test(&bench, "max_2", 3, 7, 3)];
    let verdicts = bench.replay(&tests);
    assert_eq!(verdicts, [Replay::Agreed, disagreed("result: expected 3, got 7")]);
}

#[test]
fn a_test_that_ends_by_a_throw_is_refused_by_name_in_every_form() {
    let bench = max_bench(MAX);
    let mut thrown = max_test(&bench, "max_1", 3, 2, 3);
    thrown.outcome = Outcome::Threw { class: "Early".into() };
    let tests = [thrown.clone(), max_test(&bench, "max_2", 3, 7, 7)];
    let why = Untestable::Thrown("Early".into());
    assert_eq!(touchstone_emit::construction_obstacle(&bench.module, &thrown), Some(why.clone()));
    assert_eq!(touchstone_emit::construction_obstacle(&bench.module, &tests[1]), None);
    for form in [CTestForm::Touchstone, CTestForm::Unity, CTestForm::Cmocka, CTestForm::Gtest] {
        let path = bench.write_as(&tests, form);
        let text = std::fs::read_to_string(&path).expect("a readable suite");
        assert!(text.contains("Early") && !text.contains("max(a, b);\n    CHECK_INT(3"), "{form:?}\n{text}");
        std::fs::remove_dir_all(path.parent().expect("a folder")).expect("removable");
    }
    // The other tests are run.
    assert_eq!(bench.replay(&tests), [Replay::NotCheckable(NotCheckable::NotWritten(why.to_string())), Replay::Agreed]);
}

#[test]
fn an_endless_loop_and_a_crash_disagree_and_stop_no_other_test() {
    let bench = max_bench(
        "int max(int a, int b) {\n    while (a == 1) {}\n    if (a == 2) *(volatile int *)0 = 1;\n    \
         if (a == 3) __builtin_trap();\n    return b;\n}\n",
    );
    let tests: Vec<TestCase> = (1..=4).map(|a| max_test(&bench, &format!("max_{a}"), a, 9, 9)).collect();
    let verdicts = bench.replay(&tests);
    assert_eq!(verdicts[0], disagreed("no end within 2 s"));
    assert_eq!(verdicts[1], disagreed("expected it to return, got signal 11 (Segmentation fault)"));
    assert!(matches!(&verdicts[2], Replay::Disagreed(why) if why.to_string().contains("signal")), "{verdicts:?}");
    assert_eq!(verdicts[3], Replay::Agreed);
}

#[test]
fn signed_overflow_wraps() {
    let bench = max_bench("int max(int a, int b) { return a + b > a; }\n");
    bench.agrees(&[max_test(&bench, "max_1", i64::from(i32::MAX), 1, 0)]);
}

#[test]
fn a_program_that_does_not_compile_shows_the_compilers_words() {
    let bench = max_bench("int max(int a, int b) { return a +; }\n");
    let tests = [max_test(&bench, "max_1", 1, 2, 3)];
    let suite = bench.write(&tests);
    let replayed = touchstone_emit::replay(&suite, &bench.module, &bench.target, &tests, &mut |_| {});
    let replayed = replayed.expect("a report all the same");
    let why = replayed.given_up.expect("no test compiles");
    assert!(why.contains("expected expression"), "{why}");
    assert_eq!(replayed.verdicts, [Replay::NotCheckable(NotCheckable::TestDoesNotCompile(why.clone()))]);
}

#[test]
fn arrays_matrices_and_strings_are_made_and_checked() {
    let mut bench = Bench::new(
        "void f(int a[3], int m[2][2], char *s, char raw[2]) { a[1] += m[1][0]; s[0] = 'X'; raw[1] = raw[0]; }\n",
    );
    let (row, text) = (bench.array(bench.int, 2), bench.pointer(bench.char));
    let (a, m) = (bench.array(bench.int, 3), bench.array(row, 2));
    let raw = bench.array(bench.char, 2);
    bench.function("f", &[("a", a), ("m", m), ("s", text), ("raw", raw)], bench.void);
    let rows = |rows: [[i64; 2]; 2]| rows.iter().map(|row| DataValue::Array(ints(row))).collect::<Vec<_>>();
    let objects = vec![
        object("a", bench.int, ints(&[1, 2, 3])),
        object("m", row, rows([[1, 2], [-3, 4]])),
        object("s", bench.char, chars(b"ab\0\0")),
        object("raw", bench.char, chars(b"\xff\x01")),
    ];
    let mut test = bench.test("f_1", "f", vec![to(0), to(1), to(2), to(3)], objects);
    test.expected.objects = vec![ints(&[1, -1, 3]), rows([[1, 2], [-3, 4]]), chars(b"Xb\0\0"), chars(b"\xff\xff")];
    let text = bench.text(std::slice::from_ref(&test));
    for line in [
        "int a[3] = {1, 2, 3};",
        "int m[2][2] = {{1, 2}, {-3, 4}};",
        "char s[4] = \"ab\";",
        "char raw[2] = {-1, 1};",
        "f(a, m, s, raw);",
        "CHECK_ARRAY(int, a, {1, -1, 3});",
        "UNCHANGED(m_before, m);",
        "CHECK_ARRAY(char, s, {\"Xb\"});",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let mut wrong = test.clone();
    wrong.id = "f_2".into();
    wrong.expected.objects[1] = rows([[1, 2], [-3, 5]]);
    let verdicts = bench.replay(&[test, wrong]);
    assert_eq!(verdicts, [Replay::Agreed, disagreed("m[1]: element 1: expected 5, got 4")]);
}

#[test]
fn a_list_with_a_cycle_is_closed_by_an_assignment() {
    let mut bench = Bench::new(
        "#include <stddef.h>\nstruct node { int value; struct node *next; };\n\
         struct node *second(struct node *list) { list->value++; return list->next; }\n",
    );
    let node_ptr = bench.pointer(bench.int);
    let node = bench.structure("struct node", &[("value", 0, bench.int), ("next", 8, node_ptr)], 16);
    // The pointer type is created before the structure that it points to.
    let pointers: touchstone_ir::DataTypes = bench
        .module
        .types
        .iter()
        .map(|(id, ty)| if id == node_ptr { DataType::Pointer { pointee: node, to_const: false } } else { ty.clone() })
        .collect();
    bench.module.types = pointers;
    bench.function("second", &[("list", node_ptr)], node_ptr);
    let value = |number, next| DataValue::Struct(vec![int(number), next]);
    let objects = vec![object("list", node, vec![value(5, to(1))]), object("list_next", node, vec![value(6, to(0))])];
    let mut test = bench.test("second_1", "second", vec![to(0)], objects);
    test.expected.result = Some(to(1));
    test.expected.objects = vec![vec![value(6, to(1))], vec![value(6, to(0))]];
    let text = bench.text(std::slice::from_ref(&test));
    for line in [
        "struct node list_next = {6, NULL};",
        "struct node list = {5, &list_next};",
        "list_next.next = &list;",
        "struct node *result = second(&list);",
        "CHECK_PTR(&list_next, result);",
        "CHECK_PTR(&list, list_next.next);",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let mut own = bench.test("second_2", "second", vec![to(0)], vec![object("list", node, vec![value(1, to(0))])]);
    own.expected.result = Some(to(0));
    let mut wrong = own.clone();
    wrong.id = "second_3".into();
    wrong.expected.result = Some(null());
    let verdicts = bench.replay(&[test, own, wrong]);
    assert_eq!(verdicts, [Replay::Agreed, Replay::Agreed, disagreed("result: expected NULL, got another address")]);
}

#[test]
fn pointers_into_the_middle_of_objects_are_elements_and_members() {
    let mut bench = Bench::new(
        "struct pair { char tag; int two[2]; };\n\
         int *f(int *p, int *q, int *end, void *any) { (void)any; return p < end ? q : p; }\n",
    );
    let two = bench.array(bench.int, 2);
    let pair = bench.structure("struct pair", &[("tag", 0, bench.char), ("two", 4, two)], 12);
    let (pointer, any) = (bench.pointer(bench.int), bench.pointer(bench.void));
    bench.function("f", &[("p", pointer), ("q", pointer), ("end", pointer), ("any", any)], pointer);
    let at = |object, offset| DataValue::Pointer(PointerTarget::Object { object, offset });
    let objects = vec![
        object("a", bench.int, ints(&[1, 2, 3])),
        object("b", pair, vec![DataValue::Struct(vec![DataValue::Int(97), DataValue::Array(ints(&[4, 5]))])]),
    ];
    let mut test = bench.test("f_1", "f", vec![at(0, 4), at(1, 8), at(0, 12), at(1, 3)], objects);
    test.expected.result = Some(at(1, 8));
    let text = bench.text(std::slice::from_ref(&test));
    assert!(text.contains("f(&a[1], &b.two[1], a + 3, (void *)((char *)&b + 3));"), "{text}");
    assert!(text.contains("struct pair b = {'a', {4, 5}};"), "{text}");
    bench.agrees(&[test]);
}

#[test]
fn structures_by_value_enums_and_unnamed_types_work() {
    let mut bench = Bench::new(
        "enum color { RED, GREEN = 5 };\nstruct point { const int x; enum color c; float f; };\n\
         static struct { int n; char s[4]; } state;\n\
         struct point move(struct point p, enum color c) { struct point q = {p.x + state.n, c, 0}; state.s[0] = 'z'; return q; }\n",
    );
    let items = vec![EnumItem { name: "RED".into(), value: 0 }, EnumItem { name: "GREEN".into(), value: 5 }];
    let color = bench.module.types.push(DataType::Enum { name: "enum color".into(), bits: 32, signed: false, items });
    let float = bench.module.types.push(DataType::Opaque { name: "float".into(), size: 4, align: 4 });
    let point = bench.structure("struct point", &[("x", 0, bench.int), ("c", 4, color), ("f", 8, float)], 12);
    let four = bench.array(bench.char, 4);
    let state = bench.structure("struct (unnamed at code.c:3:8)", &[("n", 0, bench.int), ("s", 4, four)], 8);
    bench.global("state", state, Linkage::Internal, 0);
    bench.function("move", &[("p", point), ("c", color)], point);
    let value = |x, c| DataValue::Struct(vec![int(x), int(c), DataValue::Undefined]);
    let state_value = |n, s: &[u8]| NamedValue {
        name: "state".into(),
        data: state,
        value: DataValue::Struct(vec![int(n), DataValue::Array(chars(s))]),
    };
    let mut test = bench.test("move_1", "move", vec![value(1, 0), int(5)], Vec::new());
    globals_of(&mut test).push(state_value(10, b"abc\0"));
    test.expected.result = Some(value(11, 5));
    test.expected.globals = vec![state_value(10, b"zbc\0")];
    let text = bench.text(std::slice::from_ref(&test));
    for line in [
        "struct point p = {.x = 1, .c = RED};",
        "enum color c = GREEN;",
        "SET(state, {10, \"abc\"});",
        "struct point result = move(p, c);",
        "CHECK_INT(11, result.x);",
        "CHECK_INT(GREEN, result.c);",
        "CHECK_ARRAY(char, state.s, {\"zbc\"});",
        "UNCHANGED(state_before, state);",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let mut wrong = test.clone();
    wrong.id = "move_2".into();
    wrong.expected.globals = vec![state_value(11, b"abc\0")];
    let verdicts = bench.replay(&[test, wrong]);
    let why = "state.n: expected 11, got 10; state, byte 4, which must not change: expected 97, got 122";
    assert_eq!(verdicts, [Replay::Agreed, disagreed(why)]);
}

#[test]
fn a_parameter_does_not_hide_the_global_of_the_same_name() {
    let mut bench = Bench::new("int count;\nint add(int count_by, int *p) { count += count_by; return count + *p; }\n");
    let pointer = bench.pointer(bench.int);
    bench.global("count", bench.int, Linkage::External, 0);
    bench.function("add", &[("count", bench.int), ("p", pointer)], bench.int);
    let target = DataValue::Pointer(PointerTarget::Global { name: "count".into(), offset: 0 });
    let mut test = bench.test("add_1", "add", vec![int(2), target], Vec::new());
    let global = |value| NamedValue { name: "count".into(), data: bench.int, value: int(value) };
    globals_of(&mut test).push(global(40));
    test.expected.result = Some(int(84));
    test.expected.globals = vec![global(42)];
    bench.agrees(&[test]);
}

#[test]
fn the_oracle_is_asked_and_a_predicted_rejection_agrees() {
    let source = format!("{MAX}int max_post(int a, int b, int result) {{ return result >= a && result != 7; }}\n");
    let mut bench = max_bench(&source);
    let int = bench.int;
    bench.function("max_post", &[("a", int), ("b", int), ("result", int)], int);
    let with = |id, a, b, result, outcome| {
        let mut test = max_test(&bench, id, a, b, result);
        test.oracle = Some("max_post".into());
        test.outcome = outcome;
        test
    };
    let verdicts = bench.replay(&[
        with("max_1", 3, 2, 3, Outcome::Returned),
        with("max_2", 3, 7, 7, Outcome::OracleRejected),
        with("max_3", 3, 7, 7, Outcome::Returned),
        with("max_4", 3, 2, 3, Outcome::OracleRejected),
        with("max_5", 3, 7, 8, Outcome::OracleRejected),
    ]);
    assert_eq!(
        verdicts,
        [
            Replay::Agreed,
            Replay::Agreed,
            disagreed("oracle rejected"),
            Replay::Disagreed(Disagreement::OracleAccepted),
            disagreed("result: expected 8, got 7"),
        ]
    );
}

#[test]
fn other_files_are_linked_and_their_globals_declared() {
    let mut bench =
        Bench::new("int helper(int);\nint f(int x) { return helper(x); }\nint main(void) { return f(1); }\n");
    bench.file("other.c", "int offset = 1;\nstatic int calls;\nint helper(int x) { calls++; return x + offset; }\n");
    let int_type = bench.int;
    bench.function("main", &[], int_type);
    bench.function("f", &[("x", int_type)], int_type);
    bench.global("offset", int_type, Linkage::External, 1);
    bench.global("calls", int_type, Linkage::Internal, 1);
    let global = |name: &str, value| NamedValue { name: name.into(), data: int_type, value: int(value) };
    let mut test = bench.test("f_1", "f", vec![int(2)], Vec::new());
    globals_of(&mut test).push(global("offset", 40));
    test.expected.result = Some(int(42));
    test.expected.globals = vec![global("offset", 40)];
    let mut second = test.clone();
    second.id = "f_2".into();
    globals_of(&mut second).push(global("calls", 3));
    let verdicts = bench.replay(&[test, second]);
    let why = "`calls` is private to another file or function";
    assert_eq!(verdicts, [Replay::Agreed, Replay::NotCheckable(NotCheckable::NotWritten(why.into()))]);
}

#[test]
fn what_the_program_only_declares_gets_a_stand_in() {
    let mut bench = Bench::new(
        "extern int gauge;\nvoid send_byte(int);\nint f(int x) { if (x > 9) send_byte(x); return x + gauge; }\n",
    );
    let int_type = bench.int;
    bench.function("f", &[("x", int_type)], int_type);
    bench.global("gauge", int_type, Linkage::Undefined, 0);
    let with = |id, x| {
        let mut test = bench.test(id, "f", vec![int(x)], Vec::new());
        globals_of(&mut test).push(NamedValue { name: "gauge".into(), data: int_type, value: int(5) });
        test.expected.result = Some(int(x + 5));
        test
    };
    let verdicts = bench.replay(&[with("f_1", 1), with("f_2", 10)]);
    assert_eq!(verdicts[0], Replay::Agreed);
    let why = "expected it to return, got exit 99 (standard error: `send_byte` is called, but defined nowhere)";
    assert_eq!(verdicts[1], disagreed(why));
}

#[test]
fn literals_are_compared_as_text_and_output_is_compared() {
    let mut bench = Bench::new(
        "#include <stdio.h>\nconst char *f(int x) { printf(\"x=%d\\n\", x); return x ? \"yes\" : \"no\"; }\n",
    );
    let text = bench.pointer(bench.char);
    let bytes = bench.array(bench.char, 4);
    bench.global(".str0", bytes, Linkage::Literal, 0);
    let literal = touchstone_ir::Init::Bytes { offset: 0, bytes: b"yes\0".to_vec() };
    bench.module.globals.values_mut().for_each(|global| global.init = Some(vec![literal.clone()]));
    bench.function("f", &[("x", bench.int)], text);
    let with = |id, x, output: &[u8]| {
        let mut test = bench.test(id, "f", vec![int(x)], Vec::new());
        test.expected.result = Some(DataValue::Pointer(PointerTarget::Global { name: ".str0".into(), offset: 0 }));
        test.expected.output = Some(output.to_vec());
        test
    };
    let verdicts = bench.replay(&[with("f_1", 1, b"x=1\n"), with("f_2", 0, b"x=0\n"), with("f_3", 1, b"x=2\n")]);
    assert_eq!(
        verdicts,
        [
            Replay::Agreed,
            disagreed("result: expected \"yes\", got \"no\""),
            disagreed("output: expected \"x=2\\n\", got \"x=1\\n\""),
        ]
    );
}

#[test]
fn a_function_that_exits_is_compared_by_its_status() {
    let bench = max_bench("#include <stdlib.h>\nint max(int a, int b) { if (a) exit(b); return 0; }\n");
    let with = |id, a, b, status| {
        let mut test = max_test(&bench, id, a, b, 0);
        test.outcome = Outcome::Exited(status);
        test
    };
    let verdicts = bench.replay(&[with("max_1", 1, 3, 3), with("max_2", 1, 4, 3), with("max_3", 0, 3, 3)]);
    assert_eq!(
        verdicts,
        [
            Replay::Agreed,
            disagreed("expected exit status 3, got exit 4"),
            disagreed("expected exit status 3, got returned"),
        ]
    );
}

#[test]
fn every_prefix_of_a_growing_suite_compiles() {
    let bench = max_bench(MAX);
    let function = bench.module.function_named("max").expect("max");
    let out = bench.dir.path().join("out");
    let mut suite = touchstone_emit::CSuite::create(
        &out,
        &bench.module,
        function,
        &bench.target,
        touchstone_emit::CTestForm::Touchstone,
    )
    .expect("a suite");
    let mut tests = Vec::new();
    for number in 1..=2 {
        let test = max_test(&bench, &format!("max_{number}"), number, 0, number);
        suite.add(&test, &[]).expect("a written test");
        tests.push(test);
        let verdicts = touchstone_emit::replay(suite.path(), &bench.module, &bench.target, &tests, &mut |_| {});
        assert!(verdicts.expect("a replay").verdicts.iter().all(|verdict| *verdict == Replay::Agreed));
    }
}

#[test]
fn a_large_suite_is_split_and_a_smaller_one_later_leaves_nothing_behind() {
    let bench = max_bench(MAX);
    let tests: Vec<TestCase> = (0..9_201).map(|n| max_test(&bench, &format!("max_{n}"), n, 5, n.max(5))).collect();
    bench.agrees(&tests);
    assert!(bench.dir.path().join("out/test_max.002.c").exists());
    bench.agrees(&tests[..2]);
    assert!(!bench.dir.path().join("out/test_max.002.c").exists());
}

#[test]
fn the_same_tests_give_the_same_text() {
    let bench = max_bench(MAX);
    let tests = [max_test(&bench, "max_1", 1, 2, 2), max_test(&bench, "max_2", 2, 1, 2)];
    assert_eq!(bench.text(&tests), bench.text(&tests));
    assert_eq!(span(3).line, 3);
}

#[test]
fn the_parameters_of_a_function_can_be_written_as_its_definition_has_them() {
    let mut bench = Bench::new("");
    let (array, text) = (bench.array(bench.int, 3), bench.pointer(bench.char));
    bench.function("f", &[("a", array), ("", text)], bench.void);
    bench.function("g", &[], bench.void);
    let check = |name: &str, expected: &str| {
        let function = bench.module.function_named(name).expect("a function");
        assert_eq!(touchstone_emit::parameter_list(&bench.module, function).expect("a list"), expected);
    };
    check("f", "int a[3], char *argument2");
    check("g", "void");
}

#[test]
fn beyond_a_hundred_tests_that_differ_in_numbers_are_rows_and_judged_alike() {
    let mut bench = Bench::new(
        "unsigned long total; struct pair { int low; char tag[2]; } last;\nint f(int row[2], char *s, int x) { total += x; last.low = x; row[0] = x; s[0]++; return x / row[1]; }\n\
         int f_post(int row[2], char *s, int x, int result) { return s[0] && result != 77; }\n",
    );
    let long = DataType::Int { name: "unsigned long".into(), bits: 64, signed: false, kind: IntKind::Number };
    let long = bench.module.types.push(long);
    let (row, text) = (bench.array(bench.int, 2), bench.pointer(bench.char));
    let tag = bench.array(bench.char, 2);
    let pair = bench.structure("struct pair", &[("low", 0, bench.int), ("tag", 4, tag)], 8);
    bench.global("last", pair, Linkage::External, 0);
    bench.global("total", long, Linkage::External, 0);
    bench.function("f", &[("row", row), ("s", text), ("x", bench.int)], bench.int);
    bench.function("f_post", &[("row", row), ("s", text), ("x", bench.int), ("result", bench.int)], bench.int);
    let make = |number: i64| {
        let objects = vec![object("row", bench.int, ints(&[9, -1])), object("s", bench.char, chars(b"a"))];
        let mut test = bench.test(&format!("f_{number}"), "f", vec![to(0), to(1), int(number)], objects);
        let total = |value| NamedValue { name: "total".into(), data: long, value: DataValue::Int(value) };
        let last = |low| NamedValue {
            name: "last".into(),
            data: pair,
            value: DataValue::Struct(vec![int(low), DataValue::Array(chars(b"xy"))]),
        };
        globals_of(&mut test).extend([total(u64::MAX), last(0)]);
        test.oracle = Some("f_post".into());
        test.expected.result = Some(int(-number));
        test.expected.objects = vec![ints(&[number, -1]), chars(b"b")];
        test.expected.globals = vec![total(u64::MAX.wrapping_add(number as u64)), last(number)];
        test
    };
    let mut tests: Vec<TestCase> = (1..=110).map(make).collect();
    tests[100].expected.result = Some(int(5));
    tests[101].expected.objects[0] = ints(&[102, 1]);
    tests[102].expected.objects[1] = chars(b"c");
    tests[103].expected.globals[0].value = DataValue::Int(u64::MAX);
    if let TestKind::Function { params, objects, .. } = &mut tests[104].kind {
        params[2].value = int(-77);
        objects[0].values = ints(&[0, -1]);
    }
    tests[104].expected.result = Some(int(77));
    tests[104].expected.objects[0] = ints(&[-77, -1]);
    tests[104].expected.globals[0].value = DataValue::Int(u64::MAX - 77);
    if let DataValue::Struct(parts) = &mut tests[104].expected.globals[1].value {
        parts[0] = int(-77);
    }
    if let DataValue::Struct(parts) = &mut tests[107].expected.globals[1].value {
        parts[1] = DataValue::Array(chars(b"xz"));
    }
    tests[104].outcome = Outcome::OracleRejected;
    if let TestKind::Function { objects, .. } = &mut tests[105].kind {
        objects[0].values = ints(&[9, 0]);
    }
    tests[105].outcome = common::error(touchstone_ir::ErrorKind::DivisionByZero, 2);
    tests[106].expected.output = None;
    let verdicts = bench.replay(&tests);
    let rows = std::fs::read_to_string(bench.dir.path().join("out/test_f.c")).expect("a file");
    assert_eq!(rows.matches("\nSHAPE(").count(), 3, "{rows}");
    assert_eq!(rows.matches("\nTEST(").count(), 100, "{rows}");
    assert_eq!(rows.matches("\nROWS(f, shape_").count(), 4, "{rows}");
    assert!(verdicts[..100].iter().all(|verdict| *verdict == Replay::Agreed));
    assert_eq!(
        verdicts[100..108],
        [
            disagreed("result: expected 5, got -101"),
            disagreed("row_2: element 1: expected 1, got -1"),
            disagreed("s: expected 99, got 98"),
            disagreed("total: expected 18446744073709551615, got 103"),
            Replay::Agreed,
            Replay::Agreed,
            Replay::Agreed,
            disagreed("last.tag: element 1: expected 122, got 121"),
        ],
        "{rows}"
    );
    assert!(verdicts[108..].iter().all(|verdict| *verdict == Replay::Agreed));
}

#[test]
fn rows_that_leave_nothing_behind_run_together_and_each_has_its_verdict() {
    let mut bench = Bench::new("int f(int x) { if (x == 150) __builtin_trap(); return 2 * x; }\n");
    bench.function("f", &[("x", bench.int)], bench.int);
    let make = |number: i64| {
        let mut test = bench.test(&format!("f_{number}"), "f", vec![int(number)], Vec::new());
        test.expected.result = Some(int(if number == 120 { 7 } else { 2 * number }));
        test
    };
    let tests: Vec<TestCase> = (1..=400).map(make).collect();
    let verdicts = bench.replay(&tests);
    let text = std::fs::read_to_string(bench.dir.path().join("out/test_f.c")).expect("a file");
    assert!(text.contains("\nTABLE_TOGETHER(f, shape_1, 1)"), "{text}");
    for (test, verdict) in tests.iter().zip(&verdicts) {
        match test.id.as_str() {
            "f_120" => assert_eq!(*verdict, disagreed("result: expected 7, got 240")),
            "f_150" => assert!(matches!(verdict, Replay::Disagreed(_)), "{verdict:?}"),
            id => assert_eq!(*verdict, Replay::Agreed, "{id}"),
        }
    }
}
