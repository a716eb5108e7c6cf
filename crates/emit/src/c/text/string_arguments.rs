//! String literals as arguments: `table_put(&t, "key", 1)` instead of an array with a copy and a check that the call left
//! it unchanged.
//!
//! An object is a literal if it is a readable string, arguments of type `const char *` point to its start, nothing else
//! points to it, and the call leaves it as it is. Compilers merge equal literals, as the object is one.

use crate::c::syntax::literal;
use crate::c::text::test_body::FunctionTest;
use touchstone_criteria::{NamedValue, ObjectInput, ObjectOrigin, TestCase, TestKind};
use touchstone_ir::{DataType, DataValue, IntKind, PointerTarget};

/// The maximum number of characters of a literal argument.
const MAX_CHARACTERS: usize = 60;

impl FunctionTest<'_> {
    /// Selects the objects that are literals.
    pub(crate) fn use_string_literals(&mut self, test: &TestCase) {
        let TestKind::Function { earlier, params, globals, objects } = &test.kind else { return };
        // Compilers warn about literal formats that do not match their arguments.
        if self.program.function.variadic {
            return;
        }
        let arguments: Vec<&NamedValue> = earlier.iter().flat_map(|call| &call.params).chain(params).collect();
        let mut uses = vec![0; objects.len()];
        let mut see = |value: &DataValue| count_uses(value, &mut uses);
        arguments.iter().for_each(|input| see(&input.value));
        globals.iter().for_each(|input| see(&input.value));
        objects.iter().flat_map(|object| &object.values).for_each(&mut see);
        test.answers.iter().flat_map(|answer| &answer.pointers).for_each(|(_, target)| see(&pointer(target)));
        // A pointer that is compared with the object's address needs the name of the object.
        let expected = &test.expected;
        expected.result.iter().for_each(&mut see);
        earlier.iter().flat_map(|call| &call.result).for_each(&mut see);
        expected.objects.iter().flatten().for_each(&mut see);
        expected.globals.iter().chain(&expected.reached).for_each(|value| see(&value.value));
        expected.calls.iter().flatten().flat_map(|call| &call.arguments).for_each(&mut see);
        let effects = expected.left.iter().flat_map(|left| &left.input.pointers);
        effects.for_each(|(_, target)| see(&pointer(target)));
        let types = &self.program.module.types;
        let constant_arguments = |index: usize| {
            let at = DataValue::Pointer(PointerTarget::Object { object: index, offset: 0 });
            let is_constant = |input: &&&NamedValue| {
                input.value == at && matches!(types[input.data], DataType::Pointer { to_const: true, .. })
            };
            arguments.iter().filter(is_constant).count()
        };
        for (index, object) in objects.iter().enumerate() {
            let unchanged = expected.objects.get(index).is_none_or(|after| *after == object.values);
            if uses[index] > 0 && unchanged && constant_arguments(index) == uses[index] {
                self.values.objects[index].literal = self.string_literal(object);
            }
        }
    }

    fn string_literal(&self, object: &ObjectInput) -> Option<String> {
        let types = &self.program.module.types;
        let is_text = matches!(types[object.element], DataType::Int { kind: IntKind::Character, bits: 8, .. });
        if !is_text || object.on_heap || object.origin != ObjectOrigin::Values {
            return None;
        }
        let byte = |value: &DataValue| if let DataValue::Int(bits) = value { u8::try_from(*bits).ok() } else { None };
        let bytes: Vec<u8> = object.values.iter().map(byte).collect::<Option<_>>()?;
        let (last, text) = bytes.split_last()?;
        // A literal has one terminator.
        let fits = *last == 0 && !text.contains(&0) && text.len() <= MAX_CHARACTERS;
        match (fits, text.is_empty()) {
            (false, _) => None,
            (true, true) => Some("\"\"".to_string()),
            (true, false) => literal::readable_string(&bytes),
        }
    }
}

fn pointer(target: &PointerTarget) -> DataValue {
    DataValue::Pointer(target.clone())
}

fn count_uses(value: &DataValue, uses: &mut [usize]) {
    match value {
        DataValue::Pointer(PointerTarget::Object { object, .. }) => {
            if let Some(count) = uses.get_mut(*object) {
                *count += 1;
            }
        }
        DataValue::Array(values) | DataValue::Struct(values) => {
            values.iter().for_each(|value| count_uses(value, uses));
        }
        DataValue::Member(_, value) => count_uses(value, uses),
        DataValue::Pointer(_) | DataValue::Int(_) | DataValue::Undefined => {}
    }
}
