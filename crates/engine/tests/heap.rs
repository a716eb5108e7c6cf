//! Inputs on the heap with a symbolic class, length or size, and exceptions: random heaps are run; every path that they
//! take was found, and nothing that they reach is reported as infeasible.

// Tests may read files and the environment.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::collections::BTreeSet;
use std::path::Path;
use touchstone_criteria::{
    CriteriaOptions, GoalId, GoalIndex, NamedValue, ObjectInput, ObjectOrigin, Objectives, Outcome, REGISTRY, TestCase,
    TestKind, objectives,
};
use touchstone_engine::{
    CallInputs, Config, Goals, RunObservation, SearchEvent, SearchTarget, Sink, explore, explore_goals, explore_turns,
    prove_infeasible, watch_function,
};
use touchstone_interp::{End, Limits, Value};
use touchstone_ir::{
    DataType, DataTypeId, DataValue, FuncId, Module, PointerTarget, StructKind, filetest, mask, parse, verify,
};

#[derive(Default)]
struct Tests(Vec<TestCase>);

impl Sink for Tests {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.0.push(test.clone());
        }
    }
}

fn module(text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let errors = verify(&module);
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    module
}

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir").join(name);
    std::fs::read_to_string(path).expect("the file test is there")
}

fn everything(module: &Module) -> Objectives {
    let functions: Vec<FuncId> = module.functions.ids().filter(|id| module.functions[*id].is_defined()).collect();
    objectives(module, &functions, REGISTRY, &CriteriaOptions::default())
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % count
    }
}

/// Creates random values for parameters, with their pointees.
struct Heap<'m> {
    module: &'m Module,
    rng: Rng,
    objects: Vec<ObjectInput>,
    longest: u64,
}

impl Heap<'_> {
    fn number(&mut self, bits: u8) -> DataValue {
        const NUMBERS: [i64; 14] = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, 100, i64::MIN];
        let number = NUMBERS[self.rng.below(NUMBERS.len())];
        DataValue::Int(mask(if number == i64::MIN { 1 << (bits - 1) } else { number as u64 }, bits))
    }

    fn value(&mut self, data: DataTypeId) -> DataValue {
        let module = self.module;
        match &module.types[data] {
            DataType::Int { bits, .. } | DataType::Enum { bits, .. } => self.number(*bits),
            DataType::Bits { width, .. } => self.number(*width),
            DataType::Pointer { pointee, .. } => DataValue::Pointer(self.pointer(*pointee)),
            DataType::Struct { fields, .. } => {
                DataValue::Struct(fields.iter().map(|field| self.value(field.ty)).collect())
            }
            DataType::Array { element, length } => {
                DataValue::Array((0..*length).map(|_| self.value(*element)).collect())
            }
            _ => DataValue::Int(self.rng.below(9) as u64),
        }
    }

    fn pointer(&mut self, pointee: DataTypeId) -> PointerTarget {
        let module = self.module;
        let fitting: Vec<(Option<u64>, DataTypeId)> = match &module.types[pointee] {
            DataType::OneOf { variants, .. } => variants.iter().map(|known| (Some(known.tag), known.ty)).collect(),
            _ => vec![(None, pointee)],
        };
        let fits = |object: &ObjectInput| fitting.iter().any(|(_, ty)| *ty == object.element);
        let known: Vec<usize> = (0..self.objects.len()).filter(|index| fits(&self.objects[*index])).collect();
        match self.rng.below(4) {
            0 => PointerTarget::Null,
            1 if !known.is_empty() => PointerTarget::Object { object: known[self.rng.below(known.len())], offset: 0 },
            // The engine creates as many objects.
            _ if self.objects.len() < 4 => {
                let (tag, element) = fitting[self.rng.below(fitting.len())];
                self.object(tag, element)
            }
            _ => PointerTarget::Null,
        }
    }

    fn object(&mut self, tag: Option<u64>, element: DataTypeId) -> PointerTarget {
        let module = self.module;
        let object = self.objects.len();
        let name = format!("o{object}");
        self.objects.push(ObjectInput {
            name,
            element,
            values: Vec::new(),
            is_array: false,
            on_heap: false,
            origin: ObjectOrigin::Values,
        });
        let mut value = self.value(element);
        if let (DataType::Struct { fields, kind, .. }, DataValue::Struct(values)) = (&module.types[element], &mut value)
        {
            // Every type with variants has its tag in the first field here.
            let known = module.types.values().find_map(|data| match data {
                DataType::OneOf { variants, .. } => variants.iter().find(|variant| variant.ty == element),
                _ => None,
            });
            if let Some(tag) = tag.or(known.map(|variant| variant.tag)) {
                values[0] = DataValue::Int(tag);
            }
            if let (StructKind::Counted { by }, Some(field)) = (*kind, fields.last()) {
                let length = self.rng.below(self.longest as usize + 1) as u64;
                let DataType::Array { element, .. } = module.types[field.ty] else { panic!("it ends in an array") };
                values[by] = DataValue::Int(length);
                let elements = (0..length).map(|_| self.value(element)).collect();
                values.pop();
                values.push(DataValue::Array(elements));
            }
        }
        self.objects[object].values = vec![value];
        PointerTarget::Object { object, offset: 0 }
    }
}

const FILES: [&str; 6] = ["narrowing.ir", "variants.ir", "counted.ir", "allocate.ir", "throwing.ir", "roles.ir"];

/// Returns the functions of a file test that have an expected number of paths.
fn functions(module: &Module, text: &str) -> Vec<FuncId> {
    let expectations = filetest::expectations(text).expect("well-formed expectations");
    let paths = expectations.iter().filter(|expectation| expectation.command == "paths");
    paths.filter_map(|expectation| module.function_named(&expectation.function().expect("a name"))).collect()
}

#[test]
fn random_heaps_take_paths_that_were_found_and_reach_nothing_that_is_infeasible() {
    let (mut runs, mut compared, mut proofs, mut excluded) = (0, 0, 0, 0);
    for name in FILES {
        let text = file(name);
        let module = module(&text);
        let wanted = everything(&module);
        for func in functions(&module, &text) {
            let function = &module.functions[func];
            if function.params.iter().any(|param| param.aggregate) {
                continue;
            }
            let place = format!("{name} @{}", function.name);
            let config = Config::default();
            let mut tests = Tests::default();
            let result = explore(&module, func, &config, &mut tests);
            let only_length = result.incomplete.iter().all(|given_up| given_up.why.to_string() == "bound: --len");
            let paths: BTreeSet<u64> = tests.0.iter().map(|test| test.path).collect();
            let watch = GoalIndex::new(&module, wanted.goals.clone());
            let open: Vec<GoalId> = wanted.goals.ids().collect();
            let proved = prove_infeasible(&module, func, &watch, &open, &config);
            let goals = Goals { watch: watch.clone().into(), closed: Vec::new() };
            let found = explore_goals(&module, func, goals, &config, &mut Tests::default());
            proofs += proved.len();
            excluded += found.excluded.len();
            for seed in 0..400 {
                // Lengths beyond the bound as well: they must not be infeasible, either.
                let longest = if seed % 4 == 0 { 7 } else { config.array_length };
                let mut heap = Heap { module: &module, rng: Rng(seed), objects: Vec::new(), longest };
                let params: Vec<NamedValue> = (function.params.iter())
                    .map(|param| NamedValue {
                        name: param.name.clone(),
                        data: param.data,
                        value: heap.value(param.data),
                    })
                    .collect();
                let call =
                    CallInputs { earlier: &[], params: &params, globals: &[], objects: &heap.objects, answers: &[] };
                let limits = Limits { steps: 10_000, ..Limits::default() };
                let run = watch_function(
                    &module,
                    func,
                    call,
                    RunObservation { watch: Some(&watch), limits, ..RunObservation::default() },
                );
                if matches!(run.end, End::Assumed | End::Limit(_) | End::Unsupported { .. }) {
                    continue;
                }
                runs += 1;
                for goal in &run.hits {
                    let text = &wanted.list[*goal].text;
                    assert!(!proved.contains_key(goal), "{place}: {text} is proved, seed {seed}");
                    assert!(!found.excluded.contains(goal), "{place}: {text} is excluded, seed {seed}");
                }
                // The size of an allocation has a bound of its own.
                if longest == config.array_length && only_length && function.name != "too_large" {
                    compared += 1;
                    assert!(
                        paths.contains(&run.path),
                        "{place}: seed {seed}: {:?}\n{params:?}\n{:?}",
                        run.end,
                        heap.objects
                    );
                }
            }
        }
    }
    println!("{runs} runs, {compared} compared, {proofs} proved, {excluded} excluded");
    assert!(
        compared > 2000 && proofs > 0 && excluded > 0,
        "{runs} runs, {compared} compared, {proofs} proved, {excluded} excluded"
    );
}

/// Returns the length field and the number of elements of the array in a test.
fn array_of(module: &Module, test: &TestCase) -> (u64, usize) {
    let TestKind::Function { objects, .. } = &test.kind else { panic!("a function's test") };
    let [object] = objects.as_slice() else { panic!("one object, not {objects:?}") };
    assert!(module.types[object.element].has_intrinsic_size());
    match object.values.as_slice() {
        [DataValue::Struct(fields)] => match fields.as_slice() {
            [_, DataValue::Int(length), DataValue::Array(elements)] => (*length, elements.len()),
            other => panic!("class, length and elements, not {other:?}"),
        },
        other => panic!("one value, not {other:?}"),
    }
}

#[test]
fn a_test_has_as_many_elements_as_its_array_says() {
    let module = module(&file("counted.ir"));
    let func = module.function_named("lengths").expect("the function");
    let mut lengths: Vec<u64> = Vec::new();
    for (most, expected) in [(None, 0..=4), (Some(2), 0..=2), (Some(7), 0..=7)] {
        let mut config = Config::default();
        config.lengths.extend(most.map(|most| ("a".to_string(), most)));
        let mut tests = Tests::default();
        explore(&module, func, &config, &mut tests);
        for test in &tests.0 {
            let (length, elements) = array_of(&module, test);
            assert_eq!(length, elements as u64);
            lengths.push(length);
        }
        lengths.sort_unstable();
        lengths.dedup();
        // Lengths above 4 are one arm of the switch.
        assert!(expected.clone().take(5).all(|length| lengths.contains(&length)), "{lengths:?}");
        assert!(lengths.drain(..).all(|length| expected.contains(&length)));
    }
}

#[test]
fn a_length_that_is_said_is_the_length() {
    let module = module(&file("counted.ir"));
    let func = module.function_named("lengths").expect("the function");
    for (said, expected) in [(0, Some(0)), (3, Some(3)), (4, Some(4)), (9, None)] {
        let mut config = Config::default();
        config.ranges.insert("a.length".to_string(), (said, said));
        let mut tests = Tests::default();
        let result = explore(&module, func, &config, &mut tests);
        let found: Vec<(u64, usize)> = tests.0.iter().map(|test| array_of(&module, test)).collect();
        assert_eq!(found, expected.map(|length| (length, length as usize)).into_iter().collect::<Vec<_>>());
        // A longer array than the bound is neither covered nor infeasible.
        assert!(!result.exhaustive);
    }
}

/// Returns a module with classes 1 to `count`, each with a field of its own; those from 10 to 20 also have a `left`.
fn many_classes(count: usize) -> String {
    let mut text = String::from("type ty0 = void\ntype ty1 = int \"int\" 32 signed\ntype ty2 = pointer ty3\n");
    let variants: Vec<String> = (1..=count).map(|class| format!("{class}: ty{}", class + 3)).collect();
    text += &format!("type ty3 = one_of \"Object\" tag 0 32 {{ {} }}\n", variants.join(", "));
    for class in 1..=count {
        let left = if (10..=20).contains(&class) { "\"left\": ty2 at 8, " } else { "" };
        let (own, size) = (16 + 8 * class, 24 + 8 * class);
        text += &format!(
            "type ty{} = struct \"C{class}\" size {size} align 8 {{ \"class\": ty1 at 0, {left}\"own\": ty1 at {own} }}\n",
            class + 3
        );
    }
    text + r#"
func @f(%0 "o": ptr ty2) -> i32 ty1 {
b0:
  %1: i1 = cmp ne %0, null
  builtin assume(%1)
  %2: i32 = load %0
  switch %2 { 10..20 => b1, else => b2 }
b1:
  %3: ptr = ptr_add %0, 8
  %4: ptr = load %3
  return 1
b2:
  return 2
}
"#
}

#[test]
fn a_cast_over_a_hundred_classes_takes_as_many_turns_as_one_over_thirty() {
    let turns = |count: usize| {
        let module = module(&many_classes(count));
        let func = module.function_named("f").expect("the function");
        let is_over = |turns: &u64| {
            explore_turns(&module, func, SearchTarget::Paths, &Config::default(), &mut Tests::default(), *turns)
                .1
                .is_empty()
        };
        (1..1000).find(is_over).expect("an end")
    };
    assert_eq!((turns(30), turns(100)), (6, 6));
}

#[test]
fn what_the_program_made_is_told_with_all_its_elements() {
    let module = module(&file("counted.ir"));
    let func = module.function_named("made").expect("the function");
    let mut tests = Tests::default();
    explore(&module, func, &Config::default(), &mut tests);
    let [test] = tests.0.as_slice() else { panic!("one test, not {}", tests.0.len()) };
    let TestKind::Function { params, .. } = &test.kind else { panic!("a function's test") };
    let DataValue::Int(length) = params[0].value else { panic!("a number") };
    let zeros = DataValue::Array(vec![DataValue::Int(0); length as usize]);
    let [made] = test.expected.reached.as_slice() else { panic!("one object: {:?}", test.expected.reached) };
    assert_eq!(made.value, DataValue::Struct(vec![DataValue::Int(2), DataValue::Int(length), zeros]));
}

/// A precondition that reads objects with a symbolic class and length: it must refer to the same objects as the
/// function.
const WITH_PRECONDITION: &str = r#"
type ty0 = void
type ty1 = int "int" 32 signed
type ty2 = struct "A" size 8 align 4 { "class": ty1 at 0, "x": ty1 at 4 }
type ty3 = struct "B" size 12 align 4 { "class": ty1 at 0, "x": ty1 at 4, "y": ty1 at 8 }
type ty4 = struct "C" size 16 align 8 { "class": ty1 at 0, "x": ty1 at 4, "z": ty5 at 8 }
type ty5 = pointer ty1
type ty6 = one_of "O" tag 0 32 { 1: ty2, 2: ty3, 3: ty4 }
type ty7 = pointer ty6
type ty8 = array ty1 length 0
type ty9 = struct "int[]" size 8 align 4 counted 1 { "class": ty1 at 0, "length": ty1 at 4, "data": ty8 at 8 }
type ty10 = pointer ty9

; Both are there; what has a `y` has a 7 there; the array has two elements or more, and its second is the object's `x`.
func @f_pre(%0 "o": ptr ty7, %1 "a": ptr ty10) -> i32 ty1 {
b0:
  %2: i1 = cmp ne %0, null
  branch %2, b1, b7
b1:
  %2 = cmp ne %1, null
  branch %2, b2, b7
b2:
  %3: i32 = load %0
  %2 = cmp eq %3, 2
  branch %2, b3, b4
b3:
  %4: ptr = ptr_add %0, 8
  %3 = load %4
  %2 = cmp eq %3, 7
  branch %2, b4, b7
b4:
  %4 = ptr_add %1, 4
  %3 = load %4
  %2 = cmp slt %3, 2
  branch %2, b7, b5
b5:
  %4 = ptr_add %1, 12
  %3 = load %4
  %4 = ptr_add %0, 4
  %5: i32 = load %4
  %2 = cmp eq %3, %5
  branch %2, b6, b7
b6:
  return 1
b7:
  return 0
}

func @f(%0 "o": ptr ty7, %1 "a": ptr ty10) -> i32 ty1 {
  decision d0 if "x < 0" = c0 { c0 "x < 0" }
  decision d1 if "a.length < 2" = c0 { c0 "a.length < 2" }
  decision d2 if "y == 7" = c0 { c0 "y == 7" }
  decision d3 if "a[1] == x" = c0 { c0 "a[1] == x" }
b0:
  %2: ptr = ptr_add %0, 4
  %3: i32 = load %2
  %4: i1 = cmp slt %3, 0
  branch %4, b1, b1 [d0.c0]
b1:
  %2 = ptr_add %1, 4
  %5: i32 = load %2
  %4 = cmp slt %5, 2
  branch %4, b2, b2 [d1.c0]
b2:
  %2 = ptr_add %1, 12
  %5 = load %2
  %4 = cmp eq %5, %3
  branch %4, b3, b3 [d3.c0]
b3:
  %5 = load %0
  %4 = cmp eq %5, 2
  branch dispatch %4, b4, b5
b4:
  %2 = ptr_add %0, 8
  %5 = load %2
  %4 = cmp eq %5, 7
  branch %4, b5, b5 [d2.c0]
b5:
  return 0
}
"#;

#[test]
fn a_precondition_looks_at_the_objects_that_the_function_finds() {
    let module = module(WITH_PRECONDITION);
    let func = module.function_named("f").expect("the function");
    let pre = module.function_named("f_pre").expect("its precondition");
    let config = Config { precondition: Some("f_pre".to_string()), ..Config::default() };
    let mut tests = Tests::default();
    explore(&module, func, &config, &mut tests);
    // The sign of `x`, with or without `y`; the precondition determines everything else.
    assert_eq!(tests.0.len(), 4);
    for test in &tests.0 {
        assert_eq!(test.outcome, Outcome::Returned);
        let TestKind::Function { params, objects, .. } = &test.kind else { panic!("a function's test") };
        let call = CallInputs { earlier: &[], params, globals: &[], objects, answers: &[] };
        let run = watch_function(&module, pre, call, RunObservation::default());
        assert_eq!(run.end, End::Returned(Some(Value::Int(1))), "{objects:?}");
    }
}

/// Returns the decisions of `@f` that are proved infeasible, and those that a search excludes.
fn ruled_out(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let module = module(text);
    let func = module.function_named("f").expect("the function");
    let wanted = everything(&module);
    let watch = GoalIndex::new(&module, wanted.goals.clone());
    let open: Vec<GoalId> = wanted.goals.ids().collect();
    let texts = |goals: Vec<GoalId>| {
        let decisions = goals.iter().map(|goal| &wanted.list[*goal]).filter(|found| found.criterion == "decision");
        decisions.map(|found| found.text.clone()).collect::<BTreeSet<String>>()
    };
    let config = Config::default();
    let proved = prove_infeasible(&module, func, &watch, &open, &config);
    let goals = Goals { watch: watch.into(), closed: Vec::new() };
    let found = explore_goals(&module, func, goals, &config, &mut Tests::default());
    (texts(proved.into_keys().collect()), texts(found.excluded.into_iter().collect()))
}

/// Returns a module in which `@thrower` throws if its argument is greater than 5, and is called under a condition.
fn with_handler(condition: &str) -> String {
    format!(
        r#"
type ty0 = void
type ty1 = int "int" 32 signed
type ty2 = struct "Early" size 4 align 4 {{ "class": ty1 at 0 }}
type ty3 = struct "Late" size 4 align 4 {{ "class": ty1 at 0 }}
type ty4 = one_of "Thrown" tag 0 32 {{ 1: ty2, 2: ty3 }}
thrown ty4

func @thrower(%0 "x": i32 ty1) -> i32 ty1 {{
b0:
  %1: i1 = cmp slt 5, %0
  branch check %1, b1, b2
b1:
  %2: ptr = builtin allocate(i64 4)
  store %2, i32 1
  throw %2
b2:
  return 0
}}

func @f(%0 "x": i32 ty1) -> i32 ty1 {{
  decision d0 if "early" = c0 {{ c0 "early" }}
  decision d1 if "{condition}" = c0 {{ c0 "{condition}" }}
  decision d2 if "x < 10 behind" = c0 {{ c0 "x < 10 behind" }}
b0:
  %1: i1 = cmp slt %0, 10
  %2: i1 = cmp slt %0, 3
  branch {condition}, b1, b4 [d1.c0]
b1:
  %3: i32 = call @thrower(%0)
  catch %4: ptr => b2, else => b3
b2:
  %5: i32 = load %4
  %6: i1 = cmp eq %5, 1
  branch %6, b4, b4 [d0.c0]
b3:
  %6 = cmp slt %0, 10
  branch %6, b4, b4 [d2.c0]
b4:
  return 0
}}
"#
    )
}

#[test]
fn what_is_behind_a_handler_is_infeasible_only_if_nothing_is_caught() {
    // Less than 3: nothing is thrown, so the handler's decision has no outcome.
    let (proved, excluded) = ruled_out(&with_handler("%2"));
    let none: BTreeSet<String> = ["early is false", "early is true", "x < 10 behind is false"].map(String::from).into();
    assert_eq!(excluded, none);
    assert!(proved.is_subset(&none), "{proved:?}");
    assert!(proved.contains("x < 10 behind is false"), "what is behind a call that returned: {proved:?}");
    // Less than 10: some calls throw. A caught exception is always early, which the search derives; the return edge is
    // feasible, too.
    let (proved, excluded) = ruled_out(&with_handler("%1"));
    assert_eq!(excluded, ["early is false", "x < 10 behind is false"].map(String::from).into());
    assert!(!proved.contains("early is true") && proved.is_subset(&excluded), "{proved:?}");
}
