//! Minimisation of test inputs: as many numbers as possible per run, and no work if no run is left.

use touchstone_base::IndexMap;
use touchstone_criteria::{GoalIndex, TestCase, TestKind};
use touchstone_engine::{Config, SearchEvent, Sink, explore, round_numbers};
use touchstone_ir::{DataValue, Module, parse, verify};

/// A function that reads one element of many.
const PROGRAM: &str = "
type ty0 = int \"int\" 32 signed
type ty1 = pointer ty0

func @look(%0 \"p\": ptr ty1) -> i32 ty0 {
b0:
  %1: ptr = ptr_add %0, 40
  %2: i32 = load %1
  %3: i1 = cmp slt 5000, %2
  branch %3, b1, b2
b1:
  return 1
b2:
  return 0
}
";

const ELEMENTS: usize = 20_000;
const LOOKED_AT: usize = 10;
const ODD: u64 = 123_457;

#[derive(Default)]
struct Tests(Vec<TestCase>);

impl Sink for Tests {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.0.push(test.clone());
        }
    }
}

/// Returns a test with many elements, all of them unrounded numbers.
fn odd_test(module: &Module) -> TestCase {
    let func = module.function_named("look").expect("a function");
    let config = Config { lengths: [("p".to_string(), ELEMENTS as u64)].into(), ..Config::default() };
    let mut tests = Tests::default();
    explore(module, func, &config, &mut tests);
    let more = |test: &&mut TestCase| values(test).get(LOOKED_AT).is_some_and(is_more);
    let test = tests.0.iter_mut().find(more).expect("a path on which the number is great");
    let mut test = test.clone();
    values_mut(&mut test).fill(DataValue::Int(ODD));
    test
}

fn is_more(value: &DataValue) -> bool {
    matches!(value, DataValue::Int(number) if (5001..1 << 31).contains(number))
}

fn values(test: &TestCase) -> &[DataValue] {
    match &test.kind {
        TestKind::Function { objects, .. } => objects.first().map_or(&[], |object| &object.values),
        _ => &[],
    }
}

fn values_mut(test: &mut TestCase) -> &mut [DataValue] {
    match &mut test.kind {
        TestKind::Function { objects, .. } => &mut objects[0].values,
        _ => panic!("a test of a function"),
    }
}

fn program() -> Module {
    let module = parse(PROGRAM).unwrap_or_else(|error| panic!("{error}"));
    assert!(verify(&module).is_empty());
    module
}

#[test]
fn unread_inputs_are_zero_after_few_runs() {
    let module = program();
    let func = module.function_named("look").expect("a function");
    let watch = GoalIndex::new(&module, IndexMap::default());
    let mut test = odd_test(&module);
    let mut runs = 400;
    round_numbers(&module, func, &mut test, &watch, &mut runs);
    let other: Vec<usize> = (0..ELEMENTS).filter(|at| values(&test)[*at] != DataValue::Int(0)).collect();
    assert_eq!(other, [LOOKED_AT]);
    assert_eq!(values(&test)[LOOKED_AT], DataValue::Int(10_000), "the first round number on the path");
    assert!(runs > 0);
}

#[test]
fn without_runs_a_test_stays_as_it_is() {
    let module = program();
    let func = module.function_named("look").expect("a function");
    let watch = GoalIndex::new(&module, IndexMap::default());
    let mut test = odd_test(&module);
    let before = test.clone();
    let mut runs = 0;
    // A copy for each candidate would take minutes.
    round_numbers(&module, func, &mut test, &watch, &mut runs);
    assert!(values(&test) == values(&before));
}
