//! Minimisation of test inputs: a solver returns 2147479561 where 0 does as well. Arbitrary numbers of a test become
//! round ones, and long objects short ones, as long as the run stays on its path.
//!
//! This affects readability only, never verdicts: the reference interpreter runs the modified test, which replaces the
//! original only if it takes the same path and covers as much. Other restrictions of inputs (preconditions, ranges) are
//! unknown here: the caller guarantees that there are none.

use crate::confirm::concrete_run::watch_test;
use crate::confirm::run_record::RunObservation;
use crate::exec::executor::machine_templates::MachineTemplates;
use touchstone_base::float::Format;
use touchstone_criteria::{EnvironmentInput, GoalIndex, NamedValue, ObjectInput, Outcome, TestCase, TestKind};
use touchstone_interp::Limits;
use touchstone_ir::{
    DataType, DataTypeId, DataTypes, DataValue, FuncId, InputSource, IntKind, Module, PointerTarget, StructKind, mask,
};

/// Smaller numbers are left alone.
const MIN_ROUNDED_NUMBER: u128 = 100;
/// The maximum number of steps of a run that is repeated.
const MAX_STEPS_PER_RUN: u64 = 20_000;
/// The number of numbers that take as long to copy and set up as one run.
const NUMBERS_PER_RUN: usize = 4096;

/// Rounds the numbers of a test and removes unneeded changes, as long as runs are left.
pub fn round_numbers(module: &Module, func: FuncId, test: &mut TestCase, watch: &GoalIndex, runs: &mut u32) {
    if !matches!(test.outcome, Outcome::Returned | Outcome::Exited(_)) || test.oracle.is_some() {
        return;
    }
    let mut rounding = Minimisation::of(module, func, test, watch, runs);
    rounding.drop_unneeded_changes(test);
    // Unprintable characters become zero; among other numbers zero is the roundest.
    let zero_first = |kind: Kind<'_>| matches!(kind, Kind::Character | Kind::Int { .. } | Kind::Float(_));
    let zeroed = odd(module, test, |kind, _| zero_first(kind).then_some(()));
    let places: Vec<usize> = zeroed.into_iter().map(|(at, ())| at).collect();
    rounding.set_to_zero(test, &places);
    for (place, candidates) in odd(module, test, |kind, number| Some(candidates(kind, number))) {
        if rounding.is_over() {
            return;
        }
        // Zero was already tried.
        let mut others =
            candidates.into_iter().filter(|candidate| *candidate != 0 || places.binary_search(&place).is_err());
        while others.next().is_some_and(|candidate| !rounding.put(test, &[place], candidate)) {}
    }
}

/// Returns the positions of unrounded numbers for which `wanted` returns something.
fn odd<T>(module: &Module, test: &mut TestCase, wanted: impl Fn(Kind<'_>, u64) -> Option<T>) -> Vec<(usize, T)> {
    let mut found = Vec::new();
    let mut at = 0;
    visit(module, test, &mut |kind, number| {
        if is_unrounded(kind, *number) {
            found.extend(wanted(kind, *number).map(|wanted| (at, wanted)));
        }
        at += 1;
    });
    found
}

/// Shortens objects to the first of 1, 2, 4, … elements with which the run stays on its path. Objects of a function
/// that declares lengths (`int v[4]`) are kept.
pub fn shorten_objects(module: &Module, func: FuncId, test: &mut TestCase, watch: &GoalIndex, runs: &mut u32) {
    let TestKind::Function { objects, earlier, .. } = &test.kind else { return };
    let declares = |func: FuncId| {
        let params = &module.functions[func].params;
        params.iter().any(|param| matches!(module.types[param.data], DataType::Array { .. }))
    };
    let mut before = earlier.iter().filter_map(|call| module.function_named(&call.function));
    if declares(func) || before.any(declares) {
        return;
    }
    if module.has_classes() || !matches!(test.outcome, Outcome::Returned | Outcome::Exited(_)) || test.oracle.is_some()
    {
        return;
    }
    let length = |object: &ObjectInput| if object.origin.is_constructed() { 1 } else { object.values.len() };
    let lengths: Vec<usize> = objects.iter().map(length).collect();
    let mut rounding = Minimisation::of(module, func, test, watch, runs);
    for (index, length) in lengths.into_iter().enumerate() {
        let mut shorter = 1;
        while shorter < length && !rounding.is_over() {
            let mut other = test.clone();
            if let TestKind::Function { objects, .. } = &mut other.kind {
                objects[index].values.truncate(shorter);
                objects[index].is_array &= shorter > 1;
            }
            if !points_beyond(module, &other, index) && rounding.take(test, other) {
                break;
            }
            shorter *= 2;
        }
    }
}

/// Returns true if a pointer of a test points behind the end of an object.
fn points_beyond(module: &Module, test: &TestCase, index: usize) -> bool {
    let TestKind::Function { earlier, params, globals, objects } = &test.kind else { return false };
    let (element, elements) = (&module.types[objects[index].element], objects[index].values.len() as u64);
    let end = element.size(&module.types).saturating_mul(elements);
    let beyond = |target: &PointerTarget| match target {
        PointerTarget::Object { object, offset } => *object == index && u64::try_from(*offset).is_ok_and(|at| at > end),
        _ => false,
    };
    let calls = earlier.iter().flat_map(|call| &call.params);
    let named = calls.chain(params).chain(globals).map(|named| &named.value);
    let mut values = named.chain(objects.iter().flat_map(|object| &object.values));
    let mut answers = test.answers.iter().flat_map(|answer| &answer.pointers);
    values.any(|value| has_pointer(value, &beyond)) || answers.any(|(_, target)| beyond(target))
}

fn has_pointer(value: &DataValue, wanted: &dyn Fn(&PointerTarget) -> bool) -> bool {
    match value {
        DataValue::Pointer(target) => wanted(target),
        DataValue::Array(values) | DataValue::Struct(values) => values.iter().any(|value| has_pointer(value, wanted)),
        DataValue::Member(_, value) => has_pointer(value, wanted),
        DataValue::Int(_) | DataValue::Undefined => false,
    }
}

/// Tries modified inputs of a test.
struct Minimisation<'a> {
    machines: MachineTemplates<'a>,
    module: &'a Module,
    func: FuncId,
    watch: &'a GoalIndex,
    /// The number of runs left.
    runs: &'a mut u32,
    /// The number of runs that one attempt costs.
    cost: u32,
}

impl<'a> Minimisation<'a> {
    fn of(
        module: &'a Module,
        func: FuncId,
        test: &mut TestCase,
        watch: &'a GoalIndex,
        runs: &'a mut u32,
    ) -> Minimisation<'a> {
        let mut numbers = 0;
        visit(module, test, &mut |_, _| numbers += 1);
        let cost = 1 + u32::try_from(numbers / NUMBERS_PER_RUN).unwrap_or(u32::MAX - 1);
        Minimisation { machines: MachineTemplates::of(module), module, func, watch, runs, cost }
    }

    /// Returns true if no run is left. Checked before a test is copied: large tests would be copied very often.
    fn is_over(&self) -> bool {
        *self.runs == 0
    }

    /// Removes changes by external functions that the path does not need.
    fn drop_unneeded_changes(&mut self, test: &mut TestCase) {
        for index in (0..test.answers.len()).rev() {
            if test.answers[index].source == InputSource::Changed && !self.is_over() {
                let mut other = test.clone();
                other.answers.remove(index);
                self.take(test, other);
            }
        }
    }

    /// Sets numbers to zero, as many as possible in one attempt: most of a large object is usually unused.
    fn set_to_zero(&mut self, test: &mut TestCase, places: &[usize]) {
        if places.is_empty() || self.is_over() || self.put(test, places, 0) || places.len() == 1 {
            return;
        }
        let (first, second) = places.split_at(places.len() / 2);
        self.set_to_zero(test, first);
        self.set_to_zero(test, second);
    }

    /// Sets numbers to a value if the test stays equivalent.
    fn put(&mut self, test: &mut TestCase, places: &[usize], candidate: u64) -> bool {
        if self.is_over() {
            return false;
        }
        let mut other = test.clone();
        let mut at = 0;
        visit(self.module, &mut other, &mut |_, number| {
            if places.binary_search(&at).is_ok() {
                *number = candidate;
            }
            at += 1;
        });
        self.take(test, other)
    }

    /// Replaces the test if the other one is equivalent.
    fn take(&mut self, test: &mut TestCase, other: TestCase) -> bool {
        *self.runs = self.runs.saturating_sub(self.cost);
        let taken = equivalent_test(&self.machines, self.func, test, other, self.watch);
        let is_taken = taken.is_some();
        taken.into_iter().for_each(|other| *test = other);
        is_taken
    }
}

/// Returns the other test with its expected values, if it takes the same path and covers as much.
fn equivalent_test(
    machines: &MachineTemplates<'_>,
    func: FuncId,
    test: &TestCase,
    mut other: TestCase,
    watch: &GoalIndex,
) -> Option<TestCase> {
    let limits = Limits { steps: MAX_STEPS_PER_RUN, ..Limits::default() };
    let run =
        watch_test(machines, func, &other, RunObservation { watch: Some(watch), limits, ..RunObservation::default() });
    let covers = test.covers.iter().all(|goal| run.hits.contains(goal));
    if run.path != test.path || !covers || run.traps || run.shows_addresses {
        return None;
    }
    other.set_observed_before(run.earlier, run.constructed, &run.releasable);
    other.expected = run.expected;
    Some(other)
}

/// The kind of a number.
#[derive(Clone, Copy)]
enum Kind<'t> {
    Int { bits: u8, signed: bool },
    Character,
    Float(Format),
    Enum(&'t DataType),
}

/// Visits every number of a test's inputs that may be changed, in order.
fn visit<'t>(module: &'t Module, test: &mut TestCase, see: &mut dyn FnMut(Kind<'t>, &mut u64)) {
    let types = &module.types;
    if let TestKind::Function { earlier, params, globals, objects } = &mut test.kind {
        let calls = earlier.iter_mut().flat_map(|call| &mut call.params);
        for NamedValue { data, value, .. } in calls.chain(params).chain(globals) {
            visit_value(types, *data, value, see);
        }
        for object in objects.iter_mut().filter(|object| !object.origin.is_constructed()) {
            match module.has_classes() {
                true => visit_fields(types, object, see),
                false => object.values.iter_mut().for_each(|value| visit_value(types, object.element, value, see)),
            }
        }
    }
    test.answers.iter_mut().for_each(|answer| visit_answer(module, answer, see));
}

/// Visits the fields of an object with a class, except the class itself; arrays and strings are skipped.
fn visit_fields<'t>(types: &'t DataTypes, object: &mut ObjectInput, see: &mut dyn FnMut(Kind<'t>, &mut u64)) {
    let DataType::Struct { fields, kind: StructKind::Record, .. } = &types[object.element] else { return };
    let [DataValue::Struct(values)] = object.values.as_mut_slice() else { return };
    for (field, value) in fields.iter().zip(values).skip(1) {
        visit_value(types, field.ty, value, see);
    }
}

fn visit_value<'t>(
    types: &'t DataTypes,
    data: DataTypeId,
    value: &mut DataValue,
    see: &mut dyn FnMut(Kind<'t>, &mut u64),
) {
    match (&types[data], value) {
        (DataType::Array { element, .. }, DataValue::Array(values)) => {
            values.iter_mut().for_each(|value| visit_value(types, *element, value, see));
        }
        (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
            let fields = fields.iter().zip(values);
            fields.for_each(|(field, value)| visit_value(types, field.ty, value, see));
        }
        (DataType::Union { members, .. }, DataValue::Member(index, value)) => {
            if let Some(member) = members.get(*index) {
                visit_value(types, member.ty, value, see);
            }
        }
        (scalar, DataValue::Int(number)) => {
            if let Some(kind) = kind_of(scalar) {
                see(kind, number);
            }
        }
        _ => {}
    }
}

/// Visits an answer that is one number.
fn visit_answer<'t>(module: &'t Module, answer: &mut EnvironmentInput, see: &mut dyn FnMut(Kind<'t>, &mut u64)) {
    let types = &module.types;
    let asked = matches!(
        answer.source,
        InputSource::Request
            | InputSource::External
            | InputSource::Written
            | InputSource::Changed
            | InputSource::Register
    );
    let size = answer.bytes.len();
    if !asked || !answer.pointers.is_empty() || !matches!(size, 1 | 2 | 4 | 8) {
        return;
    }
    let kind = match answer.data.or_else(|| type_of(module, answer)).map(|data| &types[data]) {
        None => Some(Kind::Int { bits: 8 * size as u8, signed: false }),
        Some(data) => kind_of(data).filter(|_| data.size(types) == size as u64),
    };
    let Some(kind) = kind else { return };
    let mut number = answer.bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    see(kind, &mut number);
    answer.bytes.copy_from_slice(&number.to_le_bytes()[..size]);
}

/// Returns the type of an answer in the program.
fn type_of(module: &Module, answer: &EnvironmentInput) -> Option<DataTypeId> {
    match answer.source {
        InputSource::External => Some(module.functions[module.function_named(&answer.name)?].result_data),
        InputSource::Changed => {
            let (_, global) = answer.name.split_once('.')?;
            Some(module.globals[module.global_displayed_as(global)?].data)
        }
        _ => None,
    }
}

fn kind_of(data: &DataType) -> Option<Kind<'_>> {
    match data {
        DataType::Int { bits, signed, kind: IntKind::Number, .. } => Some(Kind::Int { bits: *bits, signed: *signed }),
        DataType::Int { bits: 8, kind: IntKind::Character, .. } => Some(Kind::Character),
        DataType::Float { format, .. } => Some(Kind::Float(*format)),
        DataType::Enum { items, .. } if !items.is_empty() => Some(Kind::Enum(data)),
        _ => None,
    }
}

/// Returns true if a person would hardly write this number.
fn is_unrounded(kind: Kind<'_>, number: u64) -> bool {
    match kind {
        Kind::Int { bits, signed } => {
            let size = value(bits, signed, number).unsigned_abs();
            size >= MIN_ROUNDED_NUMBER && significant(size) > 1
        }
        Kind::Character => number != 0 && !matches!(number as u8, b'\t' | b'\n' | b'\r' | b' '..=b'~'),
        Kind::Float(format) => {
            let real = real(format, number);
            !(real.fract() == 0.0 && real.abs() < MIN_ROUNDED_NUMBER as f64) && real.to_string().len() > 4
        }
        Kind::Enum(data) => !items(data).contains(&number),
    }
}

/// Returns better numbers than this one, the best first.
fn candidates(kind: Kind<'_>, number: u64) -> Vec<u64> {
    match kind {
        Kind::Int { bits, signed } => {
            let given = value(bits, signed, number);
            let fits = |candidate: &i128| value(bits, signed, mask(*candidate as u64, bits)) == *candidate;
            let better = round_candidates(given).into_iter().filter(fits);
            better.map(|candidate| mask(candidate as u64, bits)).collect()
        }
        Kind::Character => b"a x0-".iter().map(|character| u64::from(*character)).collect(),
        Kind::Float(format) => {
            const REALS: [f64; 14] =
                [0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 10.0, -10.0, 100.0, -100.0, 1000.0, -1000.0, 1e6, -1e6];
            REALS.iter().map(|real| pattern(format, *real)).collect()
        }
        Kind::Enum(data) => items(data),
    }
}

/// Returns round numbers: small ones, powers of ten, then those next to the number itself.
fn round_candidates(number: i128) -> Vec<i128> {
    let mut found = vec![0, 1, -1, 2];
    let mut power: i128 = 10;
    while power <= number.abs() * 10 {
        found.extend([power, -power]);
        power *= 10;
    }
    let digits = number.unsigned_abs().to_string().len() as u32;
    for kept in 1..=2 {
        let unit = 10i128.pow(digits.saturating_sub(kept));
        let (down, up) = (number / unit * unit, (number / unit + number.signum()) * unit);
        found.extend([down, up]);
    }
    let mut known = std::collections::BTreeSet::from([number]);
    found.retain(|candidate| known.insert(*candidate));
    found
}

/// Returns the number of digits without trailing zeros.
fn significant(number: u128) -> usize {
    number.to_string().trim_end_matches('0').len()
}

fn value(bits: u8, signed: bool, number: u64) -> i128 {
    match signed && bits < 64 && number >> (bits - 1) & 1 == 1 {
        true => i128::from(number) - (1i128 << bits),
        false if signed && bits == 64 => i128::from(number as i64),
        false => i128::from(number),
    }
}

fn items(data: &DataType) -> Vec<u64> {
    match data {
        DataType::Enum { items, bits, .. } => items.iter().map(|item| mask(item.value as u64, *bits)).collect(),
        _ => Vec::new(),
    }
}

fn real(format: Format, bits: u64) -> f64 {
    match format {
        Format::F32 => f64::from(f32::from_bits(bits as u32)),
        Format::F64 => f64::from_bits(bits),
    }
}

fn pattern(format: Format, real: f64) -> u64 {
    match format {
        Format::F32 => u64::from((real as f32).to_bits()),
        Format::F64 => real.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INT: Kind<'static> = Kind::Int { bits: 32, signed: true };

    #[test]
    fn small_and_round_numbers_stay() {
        for number in [0, 1, 7, 99, 100, 5000, u64::from(u32::MAX)] {
            assert!(!is_unrounded(INT, number), "{number}");
        }
        for number in [101, 4096, 2_147_479_561, u64::from(i32::MIN as u32)] {
            assert!(is_unrounded(INT, number), "{number}");
        }
    }

    #[test]
    fn candidates_fit_the_type_and_end_next_to_the_number() {
        let candidates = candidates(INT, 4097);
        assert_eq!(candidates[..4], [0, 1, u64::from(u32::MAX), 2]);
        for near in [4000, 5000, 4100] {
            assert!(candidates.contains(&near), "{near} in {candidates:?}");
        }
        let byte = super::candidates(Kind::Int { bits: 8, signed: false }, 171);
        assert!(byte.iter().all(|number| *number <= 255) && byte.contains(&200) && byte.contains(&170), "{byte:?}");
    }
}
