//! Runs that convert pointers to integers: they are repeated with other addresses, and only common results count.

use crate::confirm::run_record::ConcreteRun;
use touchstone_base::Span;
use touchstone_criteria::{Expected, ExpectedCall, NamedValue};
use touchstone_interp::{AddressLayout, End, UnsupportedOperation};
use touchstone_ir::DataValue;

/// Runs inputs; if the run converts pointers to integers, repeats it with other addresses and keeps the common results.
pub(super) fn run_in_two_layouts(run: impl Fn(AddressLayout) -> ConcreteRun) -> ConcreteRun {
    let mut first = run(AddressLayout::Compact);
    if !first.shows_addresses {
        return first;
    }
    let second = run(AddressLayout::Spread);
    first.expected = common(first.expected, &second.expected);
    let ends_alike = match (&first.end, &second.end) {
        // The result is compared as a part of the expected values.
        (End::Returned(_), End::Returned(_)) => true,
        (first, second) => first == second,
    };
    let expected = common(second.expected, &first.expected);
    let alike = ConcreteRun { end: first.end.clone(), expected, ..second } == first;
    let differs = !ends_alike || !alike;
    if differs && !matches!(first.end, End::Unsupported { .. }) {
        first.end = End::Unsupported { what: UnsupportedOperation::AddressAsNumber, span: Span::none() };
    }
    first
}

/// Returns the common part of two runs; values that differ become undefined.
fn common(first: Expected, second: &Expected) -> Expected {
    let named =
        |first: NamedValue, second: &NamedValue| NamedValue { value: same(first.value, &second.value), ..first };
    let call = |first: ExpectedCall, second: &ExpectedCall| ExpectedCall {
        arguments: all_same(first.arguments, &second.arguments),
        ..first
    };
    Expected {
        result: first.result.zip(second.result.as_ref()).map(|(first, second)| same(first, second)),
        reached: match first.reached.iter().map(|part| &part.name).eq(second.reached.iter().map(|part| &part.name)) {
            true => {
                first.reached.into_iter().zip(&second.reached).map(|(first, second)| named(first, second)).collect()
            }
            false => Vec::new(),
        },
        objects: first
            .objects
            .into_iter()
            .zip(&second.objects)
            .map(|(first, second)| all_same(first, second))
            .collect(),
        globals: first.globals.into_iter().zip(&second.globals).map(|(first, second)| named(first, second)).collect(),
        calls: first
            .calls
            .zip(second.calls.as_ref())
            .map(|(first, second)| first.into_iter().zip(second).map(|(first, second)| call(first, second)).collect()),
        left: first.left,
        output: first.output,
        noticed: first.noticed,
    }
}

fn all_same(first: Vec<DataValue>, second: &[DataValue]) -> Vec<DataValue> {
    first.into_iter().zip(second).map(|(first, second)| same(first, second)).collect()
}

fn same(first: DataValue, second: &DataValue) -> DataValue {
    match (first, second) {
        (DataValue::Array(first), DataValue::Array(second)) => DataValue::Array(all_same(first, second)),
        (DataValue::Struct(first), DataValue::Struct(second)) => DataValue::Struct(all_same(first, second)),
        (DataValue::Member(member, first), DataValue::Member(other, second)) if member == *other => {
            DataValue::Member(member, Box::new(same(*first, second)))
        }
        (first, second) if first == *second => first,
        _ => DataValue::Undefined,
    }
}
