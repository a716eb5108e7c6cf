//! Objects that are inputs instead of being made by calls: by which parameters they become so, and which tests have some.

use crate::java::JavaProgram;
use touchstone_criteria::{Heap as Reached, TestCase, TestKind, Unmakeable};
use touchstone_engine::NotTaken;
use touchstone_front_java::{ANY_HEAP, Heap, Making, Scenario, Typed};
use touchstone_ir::{DataType, DataValue, FuncId, Module, PointerTarget};

impl JavaProgram {
    fn scenario(&self, entry: FuncId) -> Option<&Scenario> {
        self.methods.iter().find(|method| method.entry == entry)?.scenario.as_deref()
    }

    /// What tests of a function don't do as long as calls make their objects.
    pub fn not_taken(&self, entry: FuncId) -> Vec<NotTaken> {
        self.scenario(entry).map_or_else(Vec::new, not_taken)
    }

    /// Which objects of a function become inputs, turn by turn: those that may be nothing else, then also others.
    pub fn any_heap(&self, entry: FuncId) -> Vec<AnyHeap> {
        let Some(scenario) = self.scenario(entry) else { return Vec::new() };
        let turn = |are: &[Typed]| {
            let (inputs, others): (Vec<&Heap>, Vec<&Heap>) =
                scenario.heaps.iter().partition(|heap| are.contains(&heap.typed));
            let inputs = inputs.into_iter().map(|heap| way(scenario, heap)).collect();
            AnyHeap { inputs, not_taken: others.into_iter().map(|heap| way(scenario, heap)).collect() }
        };
        let mut turns = vec![turn(&[Typed::OfProgram]), turn(&[Typed::OfProgram, Typed::Wider])];
        turns.dedup_by_key(|turn| turn.inputs.len());
        turns.retain(|turn| !turn.inputs.is_empty());
        turns
    }

    /// The parameters that are objects which no calls make.
    pub fn heap_params(&self, entry: FuncId) -> Vec<usize> {
        self.scenario(entry).map_or_else(Vec::new, |scenario| scenario.heaps.iter().map(|heap| heap.param).collect())
    }

    /// The parameters of what tests call that the tested method may have as they are: the object that it is called on, and its arguments. `None` if it takes
    /// something else.
    pub fn inputs_of_method(&self, entry: FuncId) -> Option<(Option<usize>, Vec<usize>)> {
        let scenario = self.scenario(entry)?;
        let [call] = scenario.tested.calls.as_slice() else { return None };
        let input = |making: &Making| match making {
            Making::Given(at) => Some(*at),
            Making::Object(object) => {
                scenario.heaps.iter().find(|heap| heap.object == object.number).map(|heap| heap.param)
            }
        };
        let receiver = scenario.receiver.as_ref().map(input);
        let arguments: Option<Vec<usize>> = call.arguments.iter().map(input).collect();
        match receiver {
            Some(receiver) => Some((Some(receiver?), arguments?)),
            None => Some((None, arguments?)),
        }
    }

    /// How the objects of a test came to be.
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
        let is_any = |scenario: &Scenario| {
            let called = scenario.tested.selector.map_or(0, number) as usize;
            let arguments = scenario.tested.calls.get(called).map_or(&[][..], |call| &call.arguments);
            let is_used = |heap: &Heap| {
                let is_it = |making: &Making| matches!(making, Making::Object(object) if object.number == heap.object);
                scenario.receiver.iter().chain(arguments).any(is_it)
            };
            let is_any =
                |heap: &Heap| number(heap.selector) == ANY_HEAP && leads_somewhere(heap.param) && is_used(heap);
            scenario.heaps.iter().any(is_any)
        };
        match self.scenario(entry).is_some_and(is_any) {
            true => Reached::NotShownReachable,
            false => Reached::Made,
        }
    }
}

/// Objects that are inputs.
pub(crate) struct AnyHeap {
    /// How they become inputs.
    pub inputs: Vec<NotTaken>,
    /// How others would.
    pub not_taken: Vec<NotTaken>,
}

/// What tests don't do as long as calls make their objects.
pub(super) fn not_taken(scenario: &Scenario) -> Vec<NotTaken> {
    scenario.heaps.iter().map(|heap| way(scenario, heap)).collect()
}

fn way(scenario: &Scenario, heap: &Heap) -> NotTaken {
    let name = |at: usize| scenario.param_name(at).to_string();
    NotTaken { choice: name(heap.selector), value: ANY_HEAP, unused: name(heap.param) }
}

/// Why a test can't be made: a text without its bytes is none.
pub(crate) fn unmakeable(module: &Module, test: &TestCase) -> Option<Unmakeable> {
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
    broken.next().map(|_| Unmakeable::LibrarysOwn(STRING.to_string()))
}
