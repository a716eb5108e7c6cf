//! API sequences: the calls that precede the tested call, as a programmer would write them: `reset();`, `CHECK_INT(0,
//! feed('a'));`, `struct queue *q = queue_create(4);`; and the calls at the end of a test that release its objects.

use crate::c::syntax::limitation::EmitLimitation;
use crate::c::text::test_body::FunctionTest;
use crate::c::text::test_macros::is_test_macro;
use touchstone_criteria::{EarlierCall, NamedValue, ObjectCreation, ObjectInput, ObjectOrigin, Outcome, TestCase};
use touchstone_ir::{DataType, DataValue, Function, PointerTarget};

impl FunctionTest<'_> {
    /// Writes the calls, and checks their results.
    pub(crate) fn write_earlier_calls(
        &mut self,
        earlier: &[EarlierCall],
        objects: &[ObjectInput],
    ) -> Result<(), EmitLimitation> {
        for (turn, call) in earlier.iter().enumerate() {
            let own = self.values.function(&call.function)?;
            let module = self.program.module;
            let function = module.function_named(&call.function).map(|id| &module.functions[id]);
            let function = function.ok_or_else(|| EmitLimitation::NoFunction(call.function.clone()))?;
            let own = if is_test_macro(&own) { format!("({own})") } else { own };
            let mut arguments = Vec::new();
            for (index, param) in call.params.iter().enumerate() {
                arguments.push(self.earlier_argument(index, param)?);
            }
            let text = format!("{own}({})", arguments.join(", "));
            let created = objects.iter().position(|object| object.origin.creating_call() == Some(turn));
            if let Some(index) = created {
                self.values.objects[index].declared = true;
                if let ObjectOrigin::Constructed { creation: ObjectCreation::Stored { param, .. }, .. } =
                    &objects[index].origin
                {
                    // The variable that receives the address is the name of the object.
                    if let Some(DataValue::Pointer(PointerTarget::Object { object, .. })) =
                        call.params.get(*param).map(|param| &param.value)
                    {
                        self.values.objects[index].name = self.values.objects[*object].name.clone();
                    }
                } else {
                    let name = self.values.objects[index].name.clone();
                    let declaration = self.program.ctypes.declare(function.result_data, &name)?;
                    self.lines.push(format!("{declaration} = {text};"));
                    continue;
                }
            }
            self.earlier_call(function, &text, call.result.as_ref());
        }
        Ok(())
    }

    /// Writes the calls that release the objects of a test that returns, the last object first.
    pub(crate) fn release(&mut self, test: &TestCase, objects: &[ObjectInput]) -> Result<(), EmitLimitation> {
        for (index, object) in objects.iter().enumerate().rev() {
            let ObjectOrigin::Constructed { released_by: Some(release), .. } = &object.origin else { continue };
            if test.outcome == Outcome::Returned {
                let own = self.values.function(release)?;
                let target = PointerTarget::Object { object: index, offset: 0 };
                let address = self.values.pointer(&target, object.element)?;
                self.lines.push(format!("{own}({address});"));
            }
        }
        Ok(())
    }

    /// Returns an argument of a call: a number or a pointer as an expression, a structure as a variable.
    fn earlier_argument(&mut self, index: usize, param: &NamedValue) -> Result<String, EmitLimitation> {
        let data = &self.program.module.types[param.data];
        match (&param.value, data) {
            (
                DataValue::Pointer(target),
                DataType::Pointer { pointee: to, .. } | DataType::Array { element: to, .. },
            ) => self.values.pointer(target, *to),
            (DataValue::Int(_), DataType::Struct { .. } | DataType::Array { .. }) => Err(EmitLimitation::Misfit),
            (DataValue::Int(_), _) => self.values.initialiser(param.data, &param.value, ""),
            _ => {
                let wanted = if param.name.is_empty() { format!("argument{}", index + 1) } else { param.name.clone() };
                let name = self.locals.fresh(&wanted);
                let declaration = self.program.ctypes.declare(param.data, &name)?;
                let value = self.values.initialiser(param.data, &param.value, &name)?;
                self.lines.push(format!("{declaration} = {value};"));
                Ok(name)
            }
        }
    }

    /// Writes a call. An integer is checked where it is returned; a result that is used twice gets a variable.
    fn earlier_call(&mut self, function: &Function, call: &str, result: Option<&DataValue>) {
        let data = &self.program.module.types[function.result_data];
        let scalar = matches!(data, DataType::Int { .. } | DataType::Bool { .. } | DataType::Enum { .. });
        let mut lines = Vec::new();
        match result {
            Some(value @ DataValue::Int(_)) if scalar => {
                self.values.check(function.result_data, value, call, &mut lines);
            }
            Some(value) if !matches!(value, DataValue::Undefined) => {
                let name = self.locals.fresh("result");
                if let Ok(declaration) = self.program.ctypes.declare(function.result_data, &name) {
                    self.values.check(function.result_data, value, &name, &mut lines);
                    if !lines.is_empty() {
                        lines.insert(0, format!("{declaration} = {call};"));
                    }
                }
            }
            _ => {}
        }
        match lines.is_empty() {
            true => self.lines.push(format!("{call};")),
            false => self.lines.extend(lines),
        }
    }
}
