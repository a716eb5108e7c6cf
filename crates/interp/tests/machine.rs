//! The machine as its users drive it: objects allocated from outside, consecutive calls, limits, paths.

use std::collections::BTreeSet;
use touchstone_interp::{End, LimitKind, Limits, Machine, NullObserver, ObjectKind, PathHash, PathRecorder, Value};
use touchstone_ir::{ErrorKind, FuncId, Module, Ty, parse, verify};

fn module(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify(&module), []);
    module
}

fn function(module: &Module, name: &str) -> FuncId {
    module.function_named(name).expect("a function of the module")
}

const COUNTER: &str = "
    global @count: size 4
    func @bump(%0 \"by\": ptr) -> i32 {
    b0:
      %1: i32 = load %0
      %2: ptr = global_addr @count
      %3: i32 = load %2
      %3 = add %3, %1
      store %2, %3
      store %0, i32 0
      return %3
    }";

#[test]
fn memory_lives_on_between_calls() {
    let module = module(COUNTER);
    let bump = function(&module, "bump");
    let mut machine = Machine::new(&module, Limits::default());
    let input = machine.alloc(4, "by", ObjectKind::Input);
    for (by, expected) in [(5, 5), (7, 12)] {
        machine.write_value(input, 0, Ty::I32, Value::Int(by)).expect("in bounds");
        let end = machine.call(bump, &[Value::ptr(input, 0)], &mut NullObserver);
        assert_eq!(end, End::Returned(Some(Value::Int(expected))));
        assert_eq!(machine.read_value(input, 0, Ty::I32), Ok(Value::Int(0)));
    }
    let count = machine.global_object(module.global_named("count").expect("a global"));
    assert_eq!(machine.read_bytes(count, 0, 4), Ok(vec![12, 0, 0, 0]));
    assert_eq!(machine.read_bytes(count, 0, 5), Err(ErrorKind::OutOfBounds));
    assert_eq!(machine.object(count).name, "count");
}

#[test]
fn a_clone_is_a_separate_run_from_the_same_state() {
    let module = module(COUNTER);
    let bump = function(&module, "bump");
    let mut prepared = Machine::new(&module, Limits::default());
    let input = prepared.alloc(4, "by", ObjectKind::Input);
    prepared.write_bytes(input, 0, &[9, 0, 0, 0]).expect("in bounds");
    for _ in 0..2 {
        let mut machine = prepared.clone();
        let end = machine.call(bump, &[Value::ptr(input, 0)], &mut NullObserver);
        assert_eq!(end, End::Returned(Some(Value::Int(9))));
    }
}

#[test]
fn an_object_from_outside_begins_undefined() {
    let module = module(COUNTER);
    let mut machine = Machine::new(&module, Limits::default());
    let input = machine.alloc(4, "by", ObjectKind::Input);
    machine.write_bytes(input, 1, &[1]).expect("in bounds");
    assert_eq!(machine.peek_bytes(input, 0, 3), Ok(vec![None, Some(1), None]));
    assert_eq!(machine.read_bytes(input, 0, 3), Err(ErrorKind::Uninitialised));
    let end = machine.call(function(&module, "bump"), &[Value::ptr(input, 0)], &mut NullObserver);
    assert!(matches!(end, End::Error { kind: ErrorKind::Uninitialised, .. }));
}

#[test]
fn what_does_not_fit_into_memory_is_a_limit_and_no_crash() {
    let module = module("global @huge: size 0xffffffffffffffff = { 0: \"a\" } func @f() -> i32 { b0: return 1 }");
    let mut machine = Machine::new(&module, Limits::default());
    assert_eq!(machine.call(function(&module, "f"), &[], &mut NullObserver), End::Limit(LimitKind::Memory));
}

#[test]
fn a_step_limit_is_exact_and_for_each_call() {
    let module = module("func @f() -> i32 { b0: %0: i32 = copy 1 return %0 }");
    for (steps, expected) in [(2, End::Returned(Some(Value::Int(1)))), (1, End::Limit(LimitKind::Steps))] {
        let mut machine = Machine::new(&module, Limits { steps, ..Limits::default() });
        for _ in 0..2 {
            assert_eq!(machine.call(function(&module, "f"), &[], &mut NullObserver), expected);
        }
    }
}

#[test]
fn a_local_is_dead_after_the_call_also_after_an_error() {
    let module = module(
        "global @leak: size 8
         func @f(%0: i32) -> i32 {
           slot s0 \"x\": size 4
         b0:
           %1: ptr = slot_addr s0
           %2: ptr = global_addr @leak
           store %2, %1
           store %1, i32 1
           %3: i32 = sdiv 1, %0
           return %3
         }",
    );
    for arg in [1, 0] {
        let mut machine = Machine::new(&module, Limits::default());
        machine.call(function(&module, "f"), &[Value::Int(arg)], &mut NullObserver);
        let leak = machine.global_object(module.global_named("leak").expect("a global"));
        let Ok(Value::Ptr(pointer)) = machine.read_value(leak, 0, Ty::Ptr) else { panic!("a pointer was stored") };
        assert!(!machine.object(pointer.object).alive);
        assert_eq!(machine.read_value(pointer.object, 0, Ty::I32), Err(ErrorKind::Dangling));
    }
}

#[test]
fn the_program_is_given_its_inputs_in_order_and_then_zeros() {
    let module = module(
        "global @a: size 2 = { 0: \"a\\0\" } global @b: size 2 = { 0: \"b\\0\" }
         func @f() -> i32 {
         b0:
           %0: ptr = global_addr @a
           %1: ptr = global_addr @b
           %2: i8 = builtin fresh_int(%0)
           %3: i8 = builtin fresh_int(%1)
           %4: i8 = builtin fresh_int(%0)
           %2 = shl %2, 1
           %2 = add %2, %3
           %2 = add %2, %4
           %5: i32 = zext %2
           return %5
         }",
    );
    let mut machine = Machine::new(&module, Limits::default());
    let provided = |name: &str, bytes: Vec<u8>| touchstone_interp::Provided {
        source: touchstone_ir::InputSource::Request,
        name: name.to_string(),
        bytes,
        pointers: Vec::new(),
    };
    machine.provide_inputs(vec![provided("a", vec![3]), provided("b", vec![5, 99])]);
    let end = machine.call(function(&module, "f"), &[], &mut NullObserver);
    assert_eq!(end, End::Returned(Some(Value::Int(11))));
    let asked: Vec<(&str, u64)> =
        machine.requested_inputs().iter().map(|request| (request.name.as_str(), request.size)).collect();
    assert_eq!(asked, [("a", 1), ("b", 1), ("a", 1)]);
}

/// Returns all paths of a function of two parameters, by brute force.
fn paths(module: &Module, name: &str) -> BTreeSet<PathHash> {
    let mut found = BTreeSet::new();
    for a in 0..8 {
        for b in 0..8 {
            let mut recorder = PathRecorder::default();
            let mut machine = Machine::new(module, Limits::default());
            let end = machine.call(function(module, name), &[Value::Int(a), Value::Int(b)], &mut recorder);
            found.insert(recorder.finish(&end));
        }
    }
    found
}

#[test]
fn paths_are_counted_by_their_outcomes() {
    let module = module(
        "func @loop(%0: i32, %1: i32) -> i32 {
         b0:
           %2: i1 = cmp ult 0, %0
           branch %2, b1, b2
         b1:
           %0 = sub %0, 1
           jump b0
         b2:
           return %1
         }
         func @divide(%0: i32, %1: i32) -> i32 {
         b0:
           %2: i32 = udiv %0, %1
           %3: i1 = cmp eq %2, 1
           branch %3, b1, b1
         b1:
           return %2
         }",
    );
    // 0 to 7 iterations; the other parameter makes no difference.
    assert_eq!(paths(&module, "loop").len(), 8);
    // Two outcomes of the branch, and the error before it.
    assert_eq!(paths(&module, "divide").len(), 3);
}
