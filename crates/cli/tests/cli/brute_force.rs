//! Brute force: for every example with a small domain, all inputs go through the interpreter; the set of paths that they
//! take must be exactly the set of paths that the engine found. And the engine on constants must take the same path, with
//! the same result, as the interpreter: third side of the three-way oracle (the compiled program is the replay's part).

use crate::support::domain::Domain;
use crate::support::lowering::lower_once;
use crate::support::{Expectation, examples, long};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::{Replay, TestCase, TestKind};
use touchstone_engine::{Aliases, Config, Entry, SearchEvent, Sink, explore, run_function, run_program};
use touchstone_interp::{End, Limits, Value};
use touchstone_ir::{DataType, DataTypeId, DataValue, FuncId, Module};

/// Points that a domain may have in the fast run and in the long one.
const POINTS: (u64, u64) = (120_000, 20_000_000);

#[derive(Default)]
struct Collect(Vec<TestCase>);

impl Sink for Collect {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.0.push(test.clone());
        }
    }
}

fn config(module: &Module, expectation: &Expectation) -> Config {
    let named = |suffix: &str| {
        let name = format!("{}{suffix}", expectation.function);
        module.function_named(&name).map(|_| name)
    };
    Config {
        entry: if expectation.has("--entry") { Entry::Program } else { Entry::Function },
        aliases: if expectation.has("eager") { Aliases::Eager } else { Aliases::Late },
        precondition: named("_pre"),
        ..Config::default()
    }
}

#[test]
fn the_engine_finds_exactly_the_paths_that_all_inputs_take() {
    let mut checked = 0;
    for example in examples() {
        for expectation in &example.expectations {
            let late = !expectation.has("eager");
            if expectation.domains.is_empty() || !late {
                continue;
            }
            let module = lower_once(&example.files, expectation.defines());
            let func = module.function_named(&expectation.function).expect("the function");
            let config = config(&module, expectation);
            let Some(brute) = brute_force(&module, func, &config, expectation) else { continue };
            let mut tests = Collect::default();
            let result = explore(&module, func, &config, &mut tests);
            let name = format!("{} {} {:?}", example.name, expectation.function, expectation.options);
            let found: BTreeSet<u64> = tests.0.iter().map(|test| test.path).collect();
            assert_eq!(found.len(), tests.0.len(), "{name}: a path has two tests");
            assert_eq!(found.len() as u64, expectation.tests, "{name}: number of tests; {:?}", result.incomplete);
            assert_eq!(brute.len() as u64, expectation.tests, "{name}: number of paths by brute force");
            assert!(found == brute, "{name}: engine and brute force found different paths");
            assert!(result.exhaustive, "{name}: not exhaustive");
            for test in &tests.0 {
                assert!(!matches!(test.replayed, Replay::Disagreed(_)), "{name} {}: {:?}", test.id, test.replayed);
            }
            checked += 1;
        }
    }
    assert!(checked >= 20, "only {checked} expectations have a small enough domain");
}

#[test]
fn the_engine_on_constants_does_what_the_interpreter_does() {
    let mut checked = 0;
    for example in examples() {
        for expectation in example.expectations.iter().filter(|expectation| !expectation.has("eager")) {
            let module = lower_once(&example.files, expectation.defines());
            let func = module.function_named(&expectation.function).expect("the function");
            let config = config(&module, expectation);
            let mut tests = Collect::default();
            explore(&module, func, &Config { max_paths: Some(8), ..config.clone() }, &mut tests);
            for test in &tests.0 {
                let Some(ranges) = pinned(&module, test) else { continue };
                let mut again = Collect::default();
                explore(&module, func, &Config { ranges, ..config.clone() }, &mut again);
                let [same] = again.0.as_slice() else {
                    panic!("{} {}: {} paths on constants", example.name, test.id, again.0.len());
                };
                assert_eq!(same.path, test.path, "{} {}", example.name, test.id);
                assert_eq!(same.outcome, test.outcome, "{} {}", example.name, test.id);
                assert_eq!(same.expected, test.expected, "{} {}", example.name, test.id);
                checked += 1;
            }
        }
    }
    assert!(checked >= 50, "only {checked} tests could be run on constants");
}

/// Ranges of one value for every input of a test; `None` if it has pointers to choose or asks for inputs itself.
fn pinned(module: &Module, test: &TestCase) -> Option<BTreeMap<String, (i128, i128)>> {
    let TestKind::Function { params, globals, objects, .. } = &test.kind else { return None };
    let mut ranges = BTreeMap::new();
    for input in params.iter().chain(globals) {
        match (&module.types[input.data], &input.value) {
            (DataType::Array { .. }, DataValue::Pointer(_)) => {}
            (_, value) => pin(module, input.data, value, &input.name, &mut ranges)?,
        }
    }
    for object in objects {
        if !object.is_array {
            return None;
        }
        for (index, value) in object.values.iter().enumerate() {
            pin(module, object.element, value, &format!("{}[{index}]", object.name), &mut ranges)?;
        }
    }
    Some(ranges)
}

fn pin(
    module: &Module,
    data: DataTypeId,
    value: &DataValue,
    name: &str,
    ranges: &mut BTreeMap<String, (i128, i128)>,
) -> Option<()> {
    match (&module.types[data], value) {
        (DataType::Array { element, .. }, DataValue::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                pin(module, *element, item, &format!("{name}[{index}]"), ranges)?;
            }
        }
        (DataType::Struct { fields, .. }, DataValue::Struct(items)) => {
            for (field, item) in fields.iter().zip(items) {
                pin(module, field.ty, item, &format!("{name}.{}", field.name), ranges)?;
            }
        }
        (DataType::Int { bits, signed, .. } | DataType::Enum { bits, signed, .. }, DataValue::Int(value)) => {
            let number =
                if *signed { i128::from(touchstone_ir::sign_extend(*value, *bits)) } else { i128::from(*value) };
            ranges.insert(name.to_string(), (number, number));
        }
        _ => return None,
    }
    Some(())
}

/// The paths that all inputs of the domain take; `None` if there are too many points or an input has no domain.
fn brute_force(module: &Module, func: FuncId, config: &Config, expectation: &Expectation) -> Option<BTreeSet<u64>> {
    let limit = if long() { POINTS.1 } else { POINTS.0 };
    match config.entry {
        Entry::Function => brute_function(module, func, config, expectation, limit),
        Entry::Program => brute_program(module, func, expectation, limit),
    }
}

fn brute_function(
    module: &Module,
    func: FuncId,
    config: &Config,
    expectation: &Expectation,
    limit: u64,
) -> Option<BTreeSet<u64>> {
    let values =
        |name: &str| expectation.domains.iter().find(|(known, _)| known == name).map(|(_, values)| values.clone());
    let domain = Domain::new(module, func, &values, limit)?;
    let precondition = config.precondition.as_ref().and_then(|name| module.function_named(name));
    let mut paths = BTreeSet::new();
    for point in 0..domain.points {
        let input = domain.at(point);
        if let Some(precondition) = precondition {
            let allowed = run_function(module, precondition, input.call(), Limits::default());
            if !matches!(allowed.end, End::Returned(Some(Value::Int(value))) if value != 0) {
                continue;
            }
        }
        paths.insert(run_function(module, func, input.call(), Limits::default()).path);
    }
    Some(paths)
}

/// A program's inputs are 32-bit numbers named in the domain lines, in the order of its requests.
fn brute_program(module: &Module, func: FuncId, expectation: &Expectation, limit: u64) -> Option<BTreeSet<u64>> {
    let mut tests = Collect::default();
    let entry = Config { entry: Entry::Program, max_paths: Some(1), ..Config::default() };
    explore(module, func, &entry, &mut tests);
    let inputs = &tests.0.first()?.answers;
    // Every request, with as many 4-byte elements as its size has.
    let mut scalars: Vec<&[i128]> = Vec::new();
    for input in inputs {
        let values = &expectation.domains.iter().find(|(name, _)| *name == input.name)?.1;
        if input.bytes.len() % 4 != 0 {
            return None;
        }
        scalars.extend((0..input.bytes.len() / 4).map(|_| values.as_slice()));
    }
    let points: u64 = scalars.iter().map(|values| values.len() as u64).product();
    if points > limit {
        return None;
    }
    let mut paths = BTreeSet::new();
    for point in 0..points {
        let mut rest = point;
        let mut bytes = scalars.iter().flat_map(|values| {
            let count = values.len() as u64;
            let value = values[(rest % count) as usize];
            rest /= count;
            (value as i32).to_le_bytes()
        });
        let answers: Vec<_> = inputs
            .iter()
            .map(|input| touchstone_criteria::EnvironmentInput {
                source: input.source,
                name: input.name.clone(),
                bytes: bytes.by_ref().take(input.bytes.len()).collect(),
                pointers: Vec::new(),
                data: input.data,
            })
            .collect();
        let run = run_program(module, func, &answers, Limits::default());
        if !matches!(run.end, End::Assumed) {
            paths.insert(run.path);
        }
    }
    Some(paths)
}
