//! Symbolic heaps: objects that are inputs instead of being constructed by calls. Which parameters select them, and
//! which tests use them.

use super::java_program::JavaProgram;
use touchstone_criteria::{HeapOrigin as Reached, TestCase, TestKind, Untestable};
use touchstone_engine::ExcludedChoice;
use touchstone_fixture_java::{Fixture, FixtureValue, HeapTyping, SYMBOLIC_HEAP_CHOICE, SymbolicHeap};
use touchstone_ir::{DataType, DataValue, FuncId, Module, PointerTarget};

impl JavaProgram {
    fn fixture(&self, entry: FuncId) -> Option<&Fixture> {
        self.methods.iter().find(|method| method.entry == entry)?.fixture.as_deref()
    }

    /// Returns the choices that are excluded while objects are constructed by calls.
    pub fn not_taken(&self, entry: FuncId) -> Vec<ExcludedChoice> {
        self.fixture(entry).map_or_else(Vec::new, not_taken)
    }

    /// Returns the rounds in which objects of a function are symbolic: first those of program classes only, then also
    /// others.
    pub fn symbolic_heap_rounds(&self, entry: FuncId) -> Vec<SymbolicHeapRound> {
        let Some(fixture) = self.fixture(entry) else { return Vec::new() };
        let turn = |are: &[HeapTyping]| {
            let (inputs, others): (Vec<&SymbolicHeap>, Vec<&SymbolicHeap>) =
                fixture.heaps.iter().partition(|heap| are.contains(&heap.typing));
            let inputs = inputs.into_iter().map(|heap| way(fixture, heap)).collect();
            SymbolicHeapRound { inputs, not_taken: others.into_iter().map(|heap| way(fixture, heap)).collect() }
        };
        let mut turns =
            vec![turn(&[HeapTyping::ProgramClass]), turn(&[HeapTyping::ProgramClass, HeapTyping::WiderType])];
        turns.dedup_by_key(|turn| turn.inputs.len());
        turns.retain(|turn| !turn.inputs.is_empty());
        turns
    }

    /// Returns the parameters that are symbolic objects.
    pub fn heap_params(&self, entry: FuncId) -> Vec<usize> {
        self.fixture(entry).map_or_else(Vec::new, |fixture| fixture.heaps.iter().map(|heap| heap.param).collect())
    }

    /// Returns the parameters of an entry point that the tested method receives unchanged: its receiver, and its
    /// arguments. Returns `None` if the method receives anything else.
    pub fn inputs_of_method(&self, entry: FuncId) -> Option<(Option<usize>, Vec<usize>)> {
        let fixture = self.fixture(entry)?;
        let [call] = fixture.tested.calls.as_slice() else { return None };
        let input = |making: &FixtureValue| match making {
            FixtureValue::Parameter(at) => Some(*at),
            FixtureValue::Object(object) => {
                fixture.heaps.iter().find(|heap| heap.object == object.number).map(|heap| heap.param)
            }
        };
        let receiver = fixture.receiver.as_ref().map(input);
        let arguments: Option<Vec<usize>> = call.arguments.iter().map(input).collect();
        match receiver {
            Some(receiver) => Some((Some(receiver?), arguments?)),
            None => Some((None, arguments?)),
        }
    }

    /// Returns the origin of a test's objects.
    pub fn heap_of(&self, entry: FuncId, test: &TestCase) -> Reached {
        let TestKind::Function { params, .. } = &test.kind else { return Reached::Made };
        let number = |at: usize| match params.get(at).map(|param| &param.value) {
            Some(DataValue::Int(number)) => *number,
            _ => 0,
        };
        let leads_somewhere = |at: usize| {
            let value = params.get(at).map(|param| &param.value);
            matches!(value, Some(DataValue::Pointer(PointerTarget::Object { .. })))
        };
        let is_any = |fixture: &Fixture| {
            let called = fixture.tested.selector.map_or(0, number) as usize;
            let arguments = fixture.tested.calls.get(called).map_or(&[][..], |call| &call.arguments);
            let is_used = |heap: &SymbolicHeap| {
                let is_it = |making: &FixtureValue| matches!(making, FixtureValue::Object(object) if object.number == heap.object);
                fixture.receiver.iter().chain(arguments).any(is_it)
            };
            let is_any = |heap: &SymbolicHeap| {
                number(heap.selector) == SYMBOLIC_HEAP_CHOICE && leads_somewhere(heap.param) && is_used(heap)
            };
            fixture.heaps.iter().any(is_any)
        };
        match self.fixture(entry).is_some_and(is_any) {
            true => Reached::NotShownReachable,
            false => Reached::Made,
        }
    }
}

/// One round with symbolic objects.
pub(crate) struct SymbolicHeapRound {
    /// The choices that make objects symbolic.
    pub inputs: Vec<ExcludedChoice>,
    /// The excluded choices.
    pub not_taken: Vec<ExcludedChoice>,
}

/// Returns the choices that are excluded while objects are constructed by calls.
pub(super) fn not_taken(fixture: &Fixture) -> Vec<ExcludedChoice> {
    fixture.heaps.iter().map(|heap| way(fixture, heap)).collect()
}

fn way(fixture: &Fixture, heap: &SymbolicHeap) -> ExcludedChoice {
    let name = |at: usize| fixture.parameter_name(at).to_string();
    ExcludedChoice { choice: name(heap.selector), value: SYMBOLIC_HEAP_CHOICE, unused: name(heap.param) }
}

/// Returns the reason why a test cannot be constructed: a string without its bytes does not exist.
pub(crate) fn unmakeable(module: &Module, test: &TestCase) -> Option<Untestable> {
    const STRING: &str = "java.lang.String";
    let TestKind::Function { objects, .. } = &test.kind else { return None };
    let is_broken = |element, values: &[DataValue]| match (&module.types[element], values) {
        (DataType::Struct { name, fields, .. }, [DataValue::Struct(values)]) if name == STRING => {
            let bytes = fields.iter().position(|field| field.name == "value").and_then(|at| values.get(at));
            !matches!(bytes, Some(DataValue::Pointer(PointerTarget::Object { .. })))
        }
        _ => false,
    };
    let mut broken = objects.iter().filter(|object| is_broken(object.element, &object.values));
    broken.next().map(|_| Untestable::LibrarysOwn(STRING.to_string()))
}
