//! A test as a row of a table.
//!
//! Tests of a large suite mostly differ in numbers only. Such tests share one function, their *shape*, that takes the
//! numbers from a structure; a test is then one initialiser of that structure. A test is a row if everything that it
//! makes and checks is an integer or an array of integers, and it writes nothing. Pointers to whole
//! objects are part of the shape.

use crate::body::{FunctionTest, Program, TestText, announcements};
use crate::ctype::Unwritable;
use crate::literal;
use std::collections::BTreeMap;
use touchstone_criteria::{NamedValue, ObjectInput, Outcome, TestCase, TestKind};
use touchstone_ir::{DataType, DataTypeId, DataValue};

/// The test as a row, with its shape before it if the file doesn't have it yet. `None` if it can't be a row.
pub(crate) fn row_text(program: &Program, test: &TestCase, shapes: &mut BTreeMap<String, usize>) -> Option<TestText> {
    let TestKind::Function { params, globals, objects } = &test.kind else { return None };
    let error = matches!(test.outcome, Outcome::Error { .. });
    if !error && !test.expected.output.as_ref().is_some_and(Vec::is_empty) {
        return None;
    }
    let mut row = Row::new(program, objects);
    row.inputs(params, globals, objects).ok()?;
    row.test.lines.extend(announcements(program, test));
    row.test.call(test).ok()?;
    row.checks(test, objects).ok()?;
    let lines: Vec<String> = row.test.lines.iter().map(|line| format!("    {line}\n")).collect();
    let shape = format!("{}}};\u{0}{}", row.fields, lines.concat());
    let next = shapes.len() + 1;
    let known = shapes.get(&shape).copied();
    let number = known.unwrap_or(next);
    let mut text = String::new();
    if known.is_none() {
        let fields = &row.fields;
        text = format!("\nstruct shape_{number} {{\n{fields}}};\nSHAPE(shape_{number}) {{\n{}}}\n", lines.concat());
        shapes.insert(shape, number);
    }
    let (description, values) = (literal::text(&test.description), row.initialisers.join(", "));
    let kind = if error { "ERROR_ROW" } else { "ROW" };
    text.push_str(&format!("\n{kind}({}, shape_{number}, {description},\n    {{{values}}})\n", test.id));
    Some(TestText { text, declarations: row.test.values.declarations })
}

struct Row<'a> {
    test: FunctionTest<'a>,
    /// The fields of the structure, one a line.
    fields: String,
    initialisers: Vec<String>,
}

/// A field and, for an array, the type of its integers.
struct RowField {
    name: String,
    integers: Option<DataTypeId>,
}

impl<'a> Row<'a> {
    fn new(program: &'a Program<'a>, objects: &[ObjectInput]) -> Self {
        let mut test = FunctionTest::new(program, objects);
        test.values.objects.iter_mut().for_each(|object| object.declared = true);
        Row { test, fields: String::new(), initialisers: Vec::new() }
    }

    /// Adds a field that holds `value`, an integer or integers of an array.
    fn field(&mut self, wanted: &str, ty: DataTypeId, value: &DataValue) -> Result<RowField, Unwritable> {
        if let (DataType::Array { element, .. }, DataValue::Array(values)) =
            (&self.test.program.module.types[ty], value)
        {
            return self.array_field(wanted, *element, values);
        }
        let DataValue::Int(_) = value else { return Err(Unwritable("not a number".to_string())) };
        let name = self.test.locals.fresh(wanted);
        let text = self.test.values.initialiser(ty, value, "")?;
        self.add(ty, &name, text)?;
        Ok(RowField { name, integers: None })
    }

    fn array_field(&mut self, wanted: &str, element: DataTypeId, values: &[DataValue]) -> Result<RowField, Unwritable> {
        let integers = self.test.values.integers(element, values);
        let integers = integers.ok_or_else(|| Unwritable("not an array of numbers".to_string()))?;
        let name = self.test.locals.fresh(wanted);
        let text = self.test.values.elements(element, values, "")?;
        self.add(element, &format!("{name}[{}]", values.len()), text)?;
        Ok(RowField { name, integers: Some(integers) })
    }

    fn add(&mut self, ty: DataTypeId, declarator: &str, initialiser: String) -> Result<(), Unwritable> {
        let declaration = self.test.program.ctypes.declare(ty, declarator)?;
        self.fields.push_str(&format!("    {declaration};\n"));
        self.initialisers.push(initialiser);
        Ok(())
    }

    fn inputs(
        &mut self,
        params: &[NamedValue],
        globals: &[NamedValue],
        objects: &[ObjectInput],
    ) -> Result<(), Unwritable> {
        for (index, object) in objects.iter().enumerate() {
            let local = self.test.values.objects[index].name.clone();
            let wanted = format!("{local}_before");
            let (field, declarator) = if self.test.values.objects[index].is_array {
                let field = self.array_field(&wanted, object.element, &object.values)?;
                (field.name, format!("{local}[{}]", object.values.len()))
            } else {
                (self.field(&wanted, object.element, &object.values[0])?.name, local.clone())
            };
            let declaration = self.test.program.ctypes.declare(object.element, &declarator)?;
            self.test.lines.push(format!("{declaration};"));
            self.test.lines.push(format!("touchstone_copy(&{local}, &row->{field}, sizeof {local});"));
        }
        for param in params {
            let argument = match (&param.value, &self.test.program.module.types[param.data]) {
                (
                    DataValue::Pointer(target),
                    DataType::Pointer { pointee: to, .. } | DataType::Array { element: to, .. },
                ) => self.test.values.pointer(target, *to)?,
                _ => format!("row->{}", self.field(&param.name, param.data, &param.value)?.name),
            };
            self.test.arguments.push(argument);
        }
        for global in globals.iter().filter(|global| global.value != DataValue::Undefined) {
            let place = self.test.values.global(&global.name)?;
            let field = self.field(&format!("{place}_before"), global.data, &global.value)?.name;
            self.test.lines.push(format!("touchstone_copy((void *)&{place}, &row->{field}, sizeof {place});"));
        }
        Ok(())
    }

    fn checks(&mut self, test: &TestCase, objects: &[ObjectInput]) -> Result<(), Unwritable> {
        if matches!(test.outcome, Outcome::Error { .. } | Outcome::Exited(_)) {
            return Ok(());
        }
        if let (Some(value), Some(result)) = (&test.expected.result, self.test.result.clone()) {
            let ty = self.test.program.function.result_data;
            let field = self.field("result_after", ty, value)?;
            self.check(ty, field, &result)?;
        }
        for (index, (object, values)) in objects.iter().zip(&test.expected.objects).enumerate() {
            let local = self.test.values.objects[index].name.clone();
            let wanted = format!("{local}_after");
            let field = match (self.test.values.objects[index].is_array, values.as_slice()) {
                (true, values) => self.array_field(&wanted, object.element, values)?,
                (false, [value]) => self.field(&wanted, object.element, value)?,
                (false, _) => return Err(Unwritable("an object without its value".to_string())),
            };
            self.check(object.element, field, &local)?;
        }
        for global in &test.expected.globals {
            let place = self.test.values.global(&global.name)?;
            let field = self.field(&format!("{place}_after"), global.data, &global.value)?;
            self.check(global.data, field, &place)?;
        }
        if let Some(oracle) = &test.oracle {
            let line = self.test.oracle(oracle)?;
            self.test.lines.push(line);
        }
        Ok(())
    }

    fn check(&mut self, ty: DataTypeId, field: RowField, place: &str) -> Result<(), Unwritable> {
        let expected = format!("row->{}", field.name);
        let wide = matches!(self.test.program.module.types[ty], DataType::Int { bits: 64, signed: false, .. });
        self.test.lines.push(match field.integers {
            Some(integers) => {
                let name = self.test.program.ctypes.declare(integers, "")?;
                format!("CHECK_ELEMENTS({name}, {expected}, {place});")
            }
            None if wide => format!("CHECK_UINT({expected}, {place});"),
            None => format!("CHECK_INT({expected}, {place});"),
        });
        Ok(())
    }
}
