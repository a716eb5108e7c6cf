//! The call of a test in one line.

use crate::conversion::value_text::{Shown, brief_elements};
use touchstone_criteria::{
    EarlierCall, EnvironmentInput, InputContent, NamedValue, ObjectInput, Outcome, TestCase, TestKind,
};
use touchstone_ir::{DataType, DataTypes, DataValue, Module};

/// Returns the call of a test that ends in an error or that the oracle rejects, with its result in the latter case.
pub(crate) fn brief(test: &TestCase, module: &Module) -> Option<String> {
    match test.outcome {
        Outcome::Error { .. } => Some(inputs(test, module)),
        Outcome::OracleRejected => {
            let function = module.function_named(&test.function).zip(test.expected.result.as_ref());
            let result = function.map_or(String::new(), |(function, value)| {
                let ty = module.functions[function].result_data;
                format!(" -> {}", Shown { types: &module.types, objects: &[], ty, value }.brief())
            });
            Some(inputs(test, module) + &result)
        }
        Outcome::Returned | Outcome::Exited(_) | Outcome::Hung | Outcome::Threw { .. } => None,
    }
}

/// Returns the inputs of a test in short: `a = 3, list = &list {5, NULL}`.
fn inputs(test: &TestCase, module: &Module) -> String {
    let types = &module.types;
    let mut parts = Vec::new();
    match &test.kind {
        TestKind::Program => {}
        TestKind::Function { earlier, params, globals, objects } => {
            parts.extend(earlier.iter().map(|call| called(call, objects, module)));
            let mut shown = vec![false; objects.len()];
            for named in params.iter().chain(globals) {
                let value = match &named.value {
                    // The pointee is shown instead of the address.
                    DataValue::Pointer(touchstone_ir::PointerTarget::Object { object, offset: 0 })
                        if objects.get(*object).is_some_and(|_| !shown[*object]) =>
                    {
                        shown[*object] = true;
                        let object = &objects[*object];
                        match (object.is_array, object.values.as_slice()) {
                            (false, [value]) => {
                                let brief = Shown { types, objects, ty: object.element, value }.brief();
                                let plain = !matches!(types[object.element], DataType::Struct { .. });
                                if plain { format!("&{brief}") } else { brief }
                            }
                            (_, values) => brief_elements(types, objects, object.element, values),
                        }
                    }
                    value => Shown { types, objects, ty: named.data, value }.brief(),
                };
                let name = if named.name.is_empty() { "_" } else { &named.name };
                parts.push(format!("{name} = {value}"));
            }
            for (object, _) in objects.iter().zip(&shown).filter(|(_, shown)| !**shown) {
                parts.push(format!(
                    "{} = {}",
                    object.name,
                    brief_elements(types, objects, object.element, &object.values)
                ));
            }
        }
    }
    parts.extend(test.answers.iter().map(|input| answer(input, types)));
    parts.join(", ")
}

/// Returns a call before the call under test: `feed('a')`.
pub(crate) fn called(call: &EarlierCall, objects: &[ObjectInput], module: &Module) -> String {
    let value =
        |named: &NamedValue| Shown { types: &module.types, objects, ty: named.data, value: &named.value }.brief();
    let values: Vec<String> = call.params.iter().map(value).collect();
    format!("{}({})", call.function, values.join(", "))
}

/// Returns an input of the environment: `argv[1] = "-x"`, `sensor = 5`.
fn answer(input: &EnvironmentInput, types: &DataTypes) -> String {
    let text = |text: &[u8]| format!("\"{}\"", text.escape_ascii());
    match input.given() {
        InputContent::Argument(word) => format!("argv[{}] = {}", input.name, text(word)),
        InputContent::Stdin(all) => format!("stdin = {}", text(all)),
        InputContent::File(None) => "no file".to_string(),
        InputContent::File(Some(file)) => {
            let failing: String = file.failures().iter().map(|what| format!(", {what} fails")).collect();
            format!("file = {}{failing}", text(file.text))
        }
        InputContent::Output(_) if !input.is_failing_output() => "stdout".to_string(),
        InputContent::Output(output) => format!("stdout fails: {}", output.failures().join(", ")),
        InputContent::Variable(name, value) => format!("{name} = {}", value.map_or("not set".to_string(), text)),
        InputContent::FailingAllocation(number) => format!("allocation {number} fails"),
        InputContent::Answer(given) => {
            typed(input, types).unwrap_or_else(|| format!("{} = {}", input.title(), bytes(given)))
        }
    }
}

/// Returns an input by its members, or as a whole: `i.speed = 106, i.gear = 3`.
fn typed(input: &EnvironmentInput, types: &DataTypes) -> Option<String> {
    const MAX_PARTS: usize = 12;
    if let Some((ty, value)) = input.typed(types)
        && !matches!(types[ty], DataType::Struct { .. })
    {
        return Some(format!("{} = {}", input.title(), Shown { types, objects: &[], ty, value: &value }.brief()));
    }
    let parts = input.parts(types);
    let mut shown: Vec<String> = parts
        .iter()
        .take(MAX_PARTS)
        .map(|(name, ty, number)| {
            let value = &DataValue::Int(*number);
            format!("{name} = {}", Shown { types, objects: &[], ty: *ty, value }.brief())
        })
        .collect();
    shown.extend((parts.len() > MAX_PARTS).then(|| "…".to_string()));
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// Returns the bytes of an input: as an integer if they have its size, otherwise as a list.
fn bytes(bytes: &[u8]) -> String {
    match *bytes {
        [a] => a.to_string(),
        [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).to_string(),
        [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]).to_string(),
        _ => format!("{{{}}}", bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")),
    }
}
