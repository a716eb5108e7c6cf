//! Visitor of the parts of a test that only its module can interpret: numbers of data types, source positions, names of
//! literals. A test that is stored for another module has them replaced.
//!
//! Every field is matched by name, so that a new one is not forgotten.

use crate::{
    EarlierCall, EnvironmentInput, Expected, ExpectedCall, NamedValue, ObjectInput, Observation, ObservationPoint,
    ObservedValue, ObserverArgument, Outcome, StubEffect, TestCase, TestKind,
};
use touchstone_base::Span;
use touchstone_ir::{DataTypeId, DataValue, PointerTarget};

/// Puts others in the place of what only a module knows.
pub trait Renumber {
    /// A data type.
    fn data(&mut self, id: &mut DataTypeId);
    /// A place.
    fn place(&mut self, span: &mut Span);
    /// Visits the target of a pointer.
    fn target(&mut self, target: &mut PointerTarget);
}

impl TestCase {
    /// Puts others in the place of all that only its module knows.
    pub fn renumber(&mut self, to: &mut dyn Renumber) {
        let TestCase {
            id: _,
            function: _,
            kind,
            answers,
            outcome,
            expected,
            oracle: _,
            description: _,
            path: _,
            covers: _,
            heap: _,
            needs_initial_state: _,
            older: _,
            replayed: _,
        } = self;
        match kind {
            TestKind::Function { earlier, params, globals, objects } => {
                for EarlierCall { function: _, params, result } in earlier {
                    named(params, to);
                    values(result.iter_mut(), to);
                }
                named(params, to);
                named(globals, to);
                for ObjectInput { name: _, element, values: elements, is_array: _, on_heap: _, origin: _ } in objects {
                    to.data(element);
                    values(elements.iter_mut(), to);
                }
            }
            TestKind::Program => {}
        }
        answers.iter_mut().for_each(|answer| made(answer, to));
        match outcome {
            Outcome::Error { kind: _, span } => to.place(span),
            Outcome::Returned
            | Outcome::Threw { class: _ }
            | Outcome::Exited(_)
            | Outcome::Hung
            | Outcome::OracleRejected => {}
        }
        let Expected { result, reached, objects, globals, calls, left, output: _, noticed } = expected;
        values(result.iter_mut(), to);
        named(reached, to);
        values(objects.iter_mut().flatten(), to);
        named(globals, to);
        for ExpectedCall { function: _, arguments } in calls.iter_mut().flatten() {
            values(arguments.iter_mut(), to);
        }
        left.iter_mut().for_each(|StubEffect { after: _, input }| made(input, to));
        noticed.iter_mut().for_each(|noticed| notice(noticed, to));
    }
}

fn made(
    EnvironmentInput { source: _, name: _, bytes: _, pointers, data }: &mut EnvironmentInput,
    to: &mut dyn Renumber,
) {
    data.iter_mut().for_each(|id| to.data(id));
    pointers.iter_mut().for_each(|(_, target)| to.target(target));
}

fn named(all: &mut [NamedValue], to: &mut dyn Renumber) {
    for NamedValue { name: _, data, value } in all {
        to.data(data);
        values([value].into_iter(), to);
    }
}

fn values<'v>(all: impl Iterator<Item = &'v mut DataValue>, to: &mut dyn Renumber) {
    let mut pending: Vec<&mut DataValue> = all.collect();
    while let Some(value) = pending.pop() {
        match value {
            DataValue::Int(_) | DataValue::Undefined => {}
            DataValue::Pointer(target) => to.target(target),
            DataValue::Array(parts) | DataValue::Struct(parts) => pending.extend(parts),
            DataValue::Member(_, part) => pending.push(part),
        }
    }
}

fn notice(noticed: &mut Observation, to: &mut dyn Renumber) {
    let Observation { at, seen } = noticed;
    match at {
        ObservationPoint::Before(_) | ObservationPoint::Result => {}
        ObservationPoint::After { object: _, member: _, arguments } => {
            for again in arguments.iter_mut().flatten() {
                match again {
                    ObserverArgument::Param(_) | ObserverArgument::Object(_) => {}
                    ObserverArgument::Number(data, value) => {
                        to.data(data);
                        values([value].into_iter(), to);
                    }
                }
            }
        }
    }
    match seen {
        ObservedValue::Value(data, value) | ObservedValue::Boxed(_, data, value) => {
            to.data(data);
            values([value].into_iter(), to);
        }
        ObservedValue::Built(parts) => named(parts, to),
        ObservedValue::Given(_)
        | ObservedValue::Null
        | ObservedValue::Object
        | ObservedValue::Same(_)
        | ObservedValue::Constant(_) => {}
    }
}
