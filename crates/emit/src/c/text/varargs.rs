//! Variadic arguments of the function under test: in the call if the function is variadic itself, through a variadic
//! wrapper if it takes a `va_list`, because `va_start` is the only portable way to create one.

use crate::c::syntax::limitation::EmitLimitation;
use crate::c::text::library_types::VA_LIST;
use crate::c::text::test_body::FunctionTest;
use crate::c::text::test_macros::is_test_macro;
use crate::c::text::tested_program::TestedProgram;
use std::collections::BTreeSet;
use touchstone_criteria::{NamedValue, ObjectInput, Untestable};
use touchstone_ir::{DataType, DataTypeId, DataValue, Module, PointeeShape, PointerTarget};

/// The argument of a call that is a list of variadic arguments.
pub(crate) struct ListArgument {
    /// Its position among the arguments.
    index: usize,
    /// True if `&list` is passed.
    by_address: bool,
}

/// Returns true if the call creates the object: variadic arguments, or a `va_list`.
pub(crate) fn is_created_by_call(module: &Module, element: DataTypeId) -> bool {
    module.pointee(element).stands == PointeeShape::Arguments || is_list(module, element)
}

/// Returns true if the type is `va_list`, an array of one structure.
fn is_list(module: &Module, data: DataTypeId) -> bool {
    match module.types[data] {
        DataType::Array { element, length: 1 } => is_list(module, element),
        _ => module.pointee(data).stands == PointeeShape::Cursor,
    }
}

/// Returns true if the function under test takes variadic arguments, directly or as a list.
pub(crate) fn takes_list(program: &TestedProgram) -> bool {
    let module = program.module;
    let points_there = |data: DataTypeId| passed_pointee(module, data).is_some_and(|it| is_created_by_call(module, it));
    program.function.params.iter().any(|param| points_there(param.data))
}

/// Returns the pointee of a parameter; an array is passed by its address.
fn passed_pointee(module: &Module, data: DataTypeId) -> Option<DataTypeId> {
    match module.types[data] {
        DataType::Pointer { pointee: it, .. } | DataType::Array { element: it, .. } => Some(it),
        _ => None,
    }
}

/// Returns true if an object that only a call can create is needed elsewhere than in its arguments.
pub(crate) fn has_list_outside_arguments(module: &Module, params: &[NamedValue], objects: &[ObjectInput]) -> bool {
    let mut made: BTreeSet<usize> = params.iter().filter_map(|param| first_object(&param.value)).collect();
    let lists: Vec<usize> =
        made.iter().copied().filter(|at| objects.get(*at).is_some_and(|it| is_list(module, it.element))).collect();
    made.extend(lists.into_iter().filter_map(|at| objects[at].values.iter().find_map(first_object)));
    let all = objects.iter().enumerate();
    all.filter(|(_, object)| is_created_by_call(module, object.element)).any(|(at, _)| !made.contains(&at))
}

/// Returns the first object that a value points to.
fn first_object(value: &DataValue) -> Option<usize> {
    match value {
        DataValue::Pointer(PointerTarget::Object { object, .. }) => Some(*object),
        DataValue::Array(values) | DataValue::Struct(values) => values.iter().find_map(first_object),
        DataValue::Member(_, value) => first_object(value),
        _ => None,
    }
}

impl FunctionTest<'_> {
    /// Takes a parameter that is passed as variadic arguments. Returns false if it is an ordinary one.
    pub(crate) fn take_variadic(
        &mut self,
        param: &NamedValue,
        objects: &[ObjectInput],
    ) -> Result<bool, EmitLimitation> {
        let module = self.program.module;
        let Some(pointee) = passed_pointee(module, param.data) else { return Ok(false) };
        let object = first_object(&param.value).and_then(|at| objects.get(at));
        if module.pointee(pointee).stands == PointeeShape::Arguments {
            self.rest = object.map_or(Ok(Vec::new()), |object| self.variadic_arguments(object))?;
            return Ok(true);
        }
        let by_address = matches!(module.types[pointee], DataType::Array { .. });
        if !is_list(module, pointee) || (by_address && object.is_none()) {
            return Ok(false);
        }
        if self.list.is_some() {
            return Err(EmitLimitation::Unmakeable(Untestable::LibrarysOwn(VA_LIST.to_string())));
        }
        self.list = Some(ListArgument { index: self.arguments.len(), by_address });
        let packed =
            object.and_then(|object| object.values.iter().find_map(first_object)).and_then(|at| objects.get(at));
        self.rest = packed.map_or(Ok(Vec::new()), |object| self.variadic_arguments(object))?;
        Ok(true)
    }

    /// Returns the variadic arguments, up to the last one that the program reads.
    fn variadic_arguments(&mut self, object: &ObjectInput) -> Result<Vec<String>, EmitLimitation> {
        let module = self.program.module;
        let DataType::Union { members, .. } = &module.types[object.element] else { return Ok(Vec::new()) };
        let used = object.values.iter().rposition(|value| *value != DataValue::Undefined).map_or(0, |last| last + 1);
        let mut all = Vec::new();
        for value in &object.values[..used] {
            all.push(match value {
                DataValue::Member(member, value) => self.of_exact_type(members[*member].ty, value)?,
                _ => "0".to_string(),
            });
        }
        Ok(all)
    }

    /// Returns an expression of exactly this type: variadic arguments are not converted.
    fn of_exact_type(&mut self, data: DataTypeId, value: &DataValue) -> Result<String, EmitLimitation> {
        let text = self.values.initialiser(data, value, "")?;
        let plain = match (&self.program.module.types[data], value) {
            (DataType::Pointer { .. }, value) => *value != DataValue::Pointer(PointerTarget::Null),
            (DataType::Int { name, .. }, _) => name == "int",
            _ => false,
        };
        if plain {
            return Ok(text);
        }
        Ok(format!("({}){text}", self.program.ctypes.declare(data, "")?))
    }

    /// Returns the call with all arguments.
    pub(crate) fn call_text(&mut self, name: &str) -> Result<String, EmitLimitation> {
        let Some(list) = self.list.take() else {
            let all: Vec<String> = self.arguments.iter().chain(&self.rest).cloned().collect();
            return Ok(format!("{name}({})", all.join(", ")));
        };
        let declaration = self.list_wrapper(name, &list)?;
        self.values.declarations.insert(declaration);
        let count = self.rest.len().to_string();
        let all: Vec<String> = self.arguments.iter().chain([&count]).chain(&self.rest).cloned().collect();
        Ok(format!("call_{}({})", self.program.name, all.join(", ")))
    }

    /// Returns the definition of `static int call_vlog(char *to, int count, ...)`, which creates the list.
    fn list_wrapper(&self, name: &str, list: &ListArgument) -> Result<String, EmitLimitation> {
        let (module, function, types) = (self.program.module, self.program.function, &self.program.ctypes);
        let (mut params, mut args) = (Vec::new(), Vec::new());
        for (index, param) in function.own_params().iter().enumerate() {
            if index == list.index {
                args.push(if list.by_address { "&list" } else { "list" }.to_string());
                continue;
            }
            let own = format!("argument{}", index + 1);
            params.push(types.declare(param.data, &own)?);
            args.push(own);
        }
        params.push("int count".to_string());
        let head =
            types.declare(function.result_data, &format!("call_{}({}, ...)", self.program.name, params.join(", ")))?;
        let call = format!("{name}({})", args.join(", "));
        let begin = "    __builtin_va_list list;\n    __builtin_va_start(list, count);\n";
        let (kept, given) = match module.types[function.result_data] {
            DataType::Void => (call, String::new()),
            _ => {
                let result = types.declare(function.result_data, "result")?;
                (format!("{result} = {call}"), "    return result;\n".to_string())
            }
        };
        Ok(format!("static {head}\n{{\n{begin}    {kept};\n    __builtin_va_end(list);\n{given}}}"))
    }
}

/// Returns the function's name for a call, in parentheses if it is a macro of the harness.
pub(crate) fn callable_name(name: &str) -> String {
    if is_test_macro(name) { format!("({name})") } else { name.to_string() }
}
