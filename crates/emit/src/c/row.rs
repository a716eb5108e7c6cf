//! A test as a row of a table.
//!
//! Tests of a large suite mostly differ in numbers only. Such tests share one function, their *shape*, that takes the
//! numbers from a structure; a test is then one initialiser of that structure. A test is a row if everything that it
//! makes and checks is made of integers, and it writes nothing and asks for nothing. Pointers to whole
//! objects are part of the shape.

use crate::c::body::{FunctionTest, TestText, TestedProgram, announcements};
use crate::c::literal;
use crate::c::place::member;
use crate::c::unwritable::Unwritable;
use std::collections::BTreeMap;
use touchstone_criteria::{NamedValue, ObjectInput, Outcome, Replay, TestCase, TestKind};
use touchstone_ir::{DataType, DataTypeId, DataValue};

/// The test as a row, with its shape before it if the file doesn't have it yet. `None` if it can't be a row.
pub(crate) fn row_text(
    program: &TestedProgram,
    test: &TestCase,
    shapes: &mut BTreeMap<String, usize>,
) -> Option<TestText> {
    let TestKind::Function { earlier, params, globals, objects } = &test.kind else { return None };
    if matches!(test.replayed, Replay::NotCheckable(_))
        || !test.answers.is_empty()
        || !earlier.is_empty()
        || objects.iter().any(|object| object.on_heap)
        || test.expected.calls.as_ref().is_some_and(|calls| !calls.is_empty())
        || !test.expected.reached.is_empty()
    {
        return None;
    }
    if test.outcome == Outcome::Hung {
        return None;
    }
    let error = matches!(test.outcome, Outcome::Error { .. });
    if !error && test.expected.output.as_ref().is_some_and(|output| !output.is_empty()) {
        return None;
    }
    let mut row = RowTest::new(program, objects);
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

struct RowTest<'a> {
    test: FunctionTest<'a>,
    /// The fields of the structure, one a line.
    fields: String,
    initialisers: Vec<String>,
}

impl<'a> RowTest<'a> {
    fn new(program: &'a TestedProgram<'a>, objects: &[ObjectInput]) -> Self {
        let mut test = FunctionTest::new(program, objects);
        test.values.objects.iter_mut().for_each(|object| object.declared = true);
        RowTest { test, fields: String::new(), initialisers: Vec::new() }
    }

    /// Adds a field that holds `value` and gives its name.
    fn field(&mut self, wanted: &str, ty: DataTypeId, value: &DataValue) -> Result<String, Unwritable> {
        self.all_numbers(ty, value)?;
        let name = self.test.locals.fresh(wanted);
        let text = self.test.values.initialiser(ty, value, "")?;
        self.add(ty, &name, text)?;
        Ok(name)
    }

    /// The same for an object: an array, or its only element.
    fn object_field(
        &mut self,
        wanted: &str,
        object: usize,
        element: DataTypeId,
        values: &[DataValue],
    ) -> Result<String, Unwritable> {
        if !self.test.values.objects[object].is_array {
            let value = values.first().ok_or(Unwritable::NoValue)?;
            return self.field(wanted, element, value);
        }
        values.iter().try_for_each(|value| self.all_numbers(element, value))?;
        let name = self.test.locals.fresh(wanted);
        let text = self.test.values.elements(element, values, "")?;
        self.add(element, &format!("{name}[{}]", values.len()), text)?;
        Ok(name)
    }

    /// Whether the value is made of numbers only; pointers and undefined parts are no part of a table.
    fn all_numbers(&self, ty: DataTypeId, value: &DataValue) -> Result<(), Unwritable> {
        match (&self.test.program.module.types[ty], value) {
            (
                DataType::Int { .. } | DataType::Float { .. } | DataType::Bool { .. } | DataType::Enum { .. },
                DataValue::Int(_),
            ) => Ok(()),
            (DataType::Array { element, .. }, DataValue::Array(values)) => {
                values.iter().try_for_each(|value| self.all_numbers(*element, value))
            }
            (data, _) if data.has_halves() => Err(Unwritable::TooWideForTable),
            (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
                fields.iter().zip(values).try_for_each(|(field, value)| self.all_numbers(field.ty, value))
            }
            _ => Err(Unwritable::NotOnlyNumbers),
        }
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
        if self.test.values.objects.iter().any(|object| object.tail.is_some()) {
            return Err(Unwritable::LongerThanType);
        }
        for (index, object) in objects.iter().enumerate() {
            let local = self.test.values.objects[index].name.clone();
            let field = self.object_field(&format!("{local}_before"), index, object.element, &object.values)?;
            let is_array = self.test.values.objects[index].is_array;
            let declarator = if is_array { format!("{local}[{}]", object.values.len()) } else { local.clone() };
            let declaration = self.test.program.ctypes.declare(object.element, &declarator)?;
            self.test.lines.push(format!("{declaration};"));
            self.test.lines.push(format!("touchstone_copy((void *)&{local}, &row->{field}, sizeof {local});"));
        }
        for param in params {
            let argument = match (&param.value, &self.test.program.module.types[param.data]) {
                (
                    DataValue::Pointer(target),
                    DataType::Pointer { pointee: to, .. } | DataType::Array { element: to, .. },
                ) => self.test.values.pointer(target, *to)?,
                _ => format!("row->{}", self.field(&param.name, param.data, &param.value)?),
            };
            self.test.arguments.push(argument);
        }
        for global in globals.iter().filter(|global| global.value != DataValue::Undefined) {
            let place = self.test.values.global(&global.name)?;
            let field = self.field(&format!("{place}_before"), global.data, &global.value)?;
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
            self.check(ty, value, &field, &result)?;
        }
        for (index, (object, values)) in objects.iter().zip(&test.expected.objects).enumerate() {
            let local = self.test.values.objects[index].name.clone();
            let field = self.object_field(&format!("{local}_after"), index, object.element, values)?;
            if self.test.values.objects[index].is_array {
                self.check_elements(object.element, values, &field, &local)?;
            } else if let Some(value) = values.first() {
                self.check(object.element, value, &field, &local)?;
            }
        }
        for global in &test.expected.globals {
            let place = self.test.values.global(&global.name)?;
            let field = self.field(&format!("{place}_after"), global.data, &global.value)?;
            self.check(global.data, &global.value, &field, &place)?;
        }
        if let Some(oracle) = &test.oracle {
            let line = self.test.oracle(oracle)?;
            self.test.lines.push(line);
        }
        Ok(())
    }

    /// Compares a place with a field of the row, part by part.
    fn check(&mut self, ty: DataTypeId, value: &DataValue, field: &str, place: &str) -> Result<(), Unwritable> {
        match (&self.test.program.module.types[ty], value) {
            (DataType::Array { element, .. }, DataValue::Array(values)) => {
                self.check_elements(*element, values, field, place)
            }
            (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
                fields.iter().zip(values).try_for_each(|(part, value)| {
                    let step = member(&part.name);
                    self.check(part.ty, value, &format!("{field}{step}"), &format!("{place}{step}"))
                })
            }
            (DataType::Float { .. }, _) => {
                self.test.lines.push(format!("CHECK_FLOAT(row->{field}, {place});"));
                Ok(())
            }
            (DataType::Int { bits: 64, signed: false, .. }, _) => {
                self.test.lines.push(format!("CHECK_UINT(row->{field}, {place});"));
                Ok(())
            }
            _ => {
                self.test.lines.push(format!("CHECK_INT(row->{field}, {place});"));
                Ok(())
            }
        }
    }

    fn check_elements(
        &mut self,
        element: DataTypeId,
        values: &[DataValue],
        field: &str,
        place: &str,
    ) -> Result<(), Unwritable> {
        if let Some(integers) = self.test.values.integers(element, values) {
            let name = self.test.program.ctypes.declare(integers, "")?;
            self.test.lines.push(format!("CHECK_ELEMENTS({name}, row->{field}, {place});"));
            return Ok(());
        }
        values.iter().enumerate().try_for_each(|(index, value)| {
            self.check(element, value, &format!("{field}[{index}]"), &format!("{place}[{index}]"))
        })
    }
}
