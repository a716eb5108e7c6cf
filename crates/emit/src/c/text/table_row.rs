//! Tests as rows of a table.
//!
//! Most tests of a large suite differ only in numbers. Such tests share one function, their *shape*, which takes the
//! numbers from a structure; a test is then an initialiser of that structure. A test can be a row if its fixture and
//! checks consist of numbers and its requested inputs of bytes. Pointers to whole objects are part of the shape.

use crate::c::syntax::limitation::EmitLimitation;
use crate::c::syntax::literal;
use crate::c::syntax::subobject::member;
use crate::c::text::shared_process::leaves_no_state;
use crate::c::text::test_body::{FunctionTest, exit_status, expectation_lines, is_void, program_call};
use crate::c::text::test_environment::{self, as_nameable_type};
use crate::c::text::tested_program::TestedProgram;
use crate::c::text::varargs::{is_created_by_call, takes_list};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::{InputContent, NamedValue, ObjectInput, Outcome, Replay, TestCase, TestKind};
use touchstone_ir::{DataType, DataTypeId, DataValue, InputSource};

/// A test as a row.
pub(crate) struct TestRow {
    /// The structure and the function of its shape, or empty if the file already contains them.
    pub(crate) shape_text: String,
    /// The declarations that must precede them.
    pub(crate) declarations: BTreeSet<String>,
    /// The table that the row belongs to.
    pub(crate) table: RowTable,
    /// The row, with a comment before it.
    pub(crate) text: String,
}

/// The common properties of the rows of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RowTable {
    /// The prefix of the tests' names; the number of the row follows.
    function: String,
    shape: usize,
    kind: RowIsolation,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RowIsolation {
    /// The rows have no side effects, so they can share a process.
    SharedProcess,
    /// Each row needs its own process.
    OwnProcess,
    /// The rows end in an error.
    Error,
}

impl RowTable {
    /// Returns the lines before the first row.
    pub(crate) fn begin(&self, number: usize) -> String {
        let RowTable { function, shape, kind } = self;
        let guard = if *kind == RowIsolation::Error { "" } else { "#ifndef TOUCHSTONE_ERRORS_ONLY\n" };
        format!("\n{guard}ROWS({function}, shape_{shape}, {number}) = {{\n")
    }

    /// Returns the lines after the last row.
    pub(crate) fn end(&self, number: usize) -> String {
        let RowTable { function, shape, kind } = self;
        let (macro_name, guard) = match kind {
            RowIsolation::SharedProcess => ("TABLE_TOGETHER", "#endif\n"),
            RowIsolation::OwnProcess => ("TABLE", "#endif\n"),
            RowIsolation::Error => ("TABLE", ""),
        };
        format!("}};\n{macro_name}({function}, shape_{shape}, {number})\n{guard}")
    }
}

/// Returns the test as a row, or `None` if it cannot be one.
pub(crate) fn table_row(
    program: &TestedProgram,
    test: &TestCase,
    shapes: &mut BTreeMap<String, usize>,
) -> Option<TestRow> {
    let (function, number) = test.id.rsplit_once('_')?;
    number.parse::<u32>().ok().filter(|_| !number.starts_with('0'))?;
    if matches!(test.replayed, Replay::NotCheckable(_)) {
        return None;
    }
    let row = match &test.kind {
        TestKind::Function { earlier, params, globals, objects } if earlier.is_empty() => {
            function_row(program, test, params, globals, objects)?
        }
        TestKind::Function { .. } => return None,
        TestKind::Program => program_row(program, test)?,
    };
    let lines: Vec<String> = row.test.lines.iter().map(|line| format!("    {line}\n")).collect();
    let key = format!("{}}};\u{0}{}", row.fields, lines.concat());
    let (known, next) = (shapes.get(&key).copied(), shapes.len() + 1);
    let shape = known.unwrap_or(next);
    let mut shape_text = String::new();
    if known.is_none() {
        let fields = &row.fields;
        shape_text = format!("\nstruct shape_{shape} {{\n{fields}}};\nSHAPE(shape_{shape}) {{\n{}}}\n", lines.concat());
        shapes.insert(key, shape);
    }
    let kind = match test.outcome {
        Outcome::Error { .. } => RowIsolation::Error,
        // A program that exits without other expectations returns from `main`.
        Outcome::Returned | Outcome::Exited(_) if row.quiet && leaves_no_state(program, test) => {
            RowIsolation::SharedProcess
        }
        _ => RowIsolation::OwnProcess,
    };
    let values = row.initialisers.join(", ");
    let told = test.full_description();
    let text = match told.is_empty() {
        true => format!("    {{{number}, {{{values}}}}},\n"),
        false => {
            format!("    /* {} */\n    {{{number}, {{{values}}}}},\n", crate::c::syntax::comment::comment_text(&told))
        }
    };
    let table = RowTable { function: function.to_string(), shape, kind };
    Some(TestRow { shape_text, declarations: row.test.values.declarations, table, text })
}

fn function_row<'a>(
    program: &'a TestedProgram<'a>,
    test: &TestCase,
    params: &[NamedValue],
    globals: &[NamedValue],
    objects: &[ObjectInput],
) -> Option<RowTest<'a>> {
    if !test.answers.is_empty()
        || objects.iter().any(|object| object.on_heap || is_created_by_call(program.module, object.element))
        || takes_list(program)
        || test.expected.calls.as_ref().is_some_and(|calls| !calls.is_empty())
        || !test.expected.reached.is_empty()
    {
        return None;
    }
    if test.outcome == Outcome::Hung {
        return None;
    }
    let mut row = RowTest::new(program, objects);
    row.inputs(params, globals, objects).ok()?;
    row.announce(test);
    row.test.call(test).ok()?;
    row.checks(test, objects).ok()?;
    Some(row)
}

/// Returns the row of a program's run: requested inputs, output, exit status.
fn program_row<'a>(program: &'a TestedProgram<'a>, test: &TestCase) -> Option<RowTest<'a>> {
    let mut row = RowTest::new(program, &[]);
    for input in &test.answers {
        let (InputContent::Answer(bytes), InputSource::Request, []) =
            (input.given(), input.source, input.pointers.as_slice())
        else {
            return None;
        };
        let name = row.test.locals.fresh("input");
        match as_nameable_type(program, input) {
            Some((data, value)) => {
                let text = row.test.values.initialiser(data, &value, "").ok()?;
                row.add(data, &name, text).ok()?;
            }
            None => {
                let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
                row.fields.push_str(&format!("    unsigned char {name}[{}];\n", bytes.len()));
                row.initialisers.push(format!("{{{}}}", bytes.join(", ")));
            }
        }
        let title = literal::text(&input.title());
        let line = format!("touchstone_input({title}, (const unsigned char *)&row->{name}, sizeof row->{name});");
        row.test.lines.push(line);
    }
    let writes_nothing = test.expected.output.as_ref().is_some_and(Vec::is_empty);
    if let Some((status, call)) = program_result(program, test).filter(|_| writes_nothing) {
        row.number("int", "status", &status.to_string(), |field| format!("PROGRAM_RETURNS(row->{field}, {call});"));
        return Some(row);
    }
    row.announce(test);
    let (status, call) = program_call(program, test);
    if let Some(status) = status {
        row.number("int", "status", &status.to_string(), |field| format!("EXPECT_EXIT(row->{field});"));
    }
    row.test.lines.extend(call);
    Some(row)
}

/// Returns the exit status of a program without side effects, and the expression that runs it in a shared process.
fn program_result(program: &TestedProgram, test: &TestCase) -> Option<(u64, String)> {
    let status = match test.outcome {
        // A program without external calls does not call `exit`, so this is the result of its `main`.
        Outcome::Exited(status) => (status & 255) as u64,
        _ => exit_status(program, test)?,
    };
    let (name, arguments) = (&program.name, test_environment::arguments(program, test));
    let nothing = if is_void(program) { ", 0" } else { "" };
    leaves_no_state(program, test).then(|| (status, format!("({name}({arguments}){nothing})")))
}

struct RowTest<'a> {
    test: FunctionTest<'a>,
    /// The fields of the structure, one per line.
    fields: String,
    initialisers: Vec<String>,
    /// True if the test expects nothing but that the call returns.
    quiet: bool,
}

impl<'a> RowTest<'a> {
    fn new(program: &'a TestedProgram<'a>, objects: &[ObjectInput]) -> Self {
        let mut test = FunctionTest::new(program, objects);
        test.values.objects.iter_mut().for_each(|object| object.declared = true);
        RowTest { test, fields: String::new(), initialisers: Vec::new(), quiet: true }
    }

    /// Adds a field of a plain type, and a line that uses it.
    fn number(&mut self, ty: &str, wanted: &str, value: &str, line: impl Fn(&str) -> String) {
        let name = self.test.locals.fresh(wanted);
        self.fields.push_str(&format!("    {ty} {name};\n"));
        self.initialisers.push(value.to_string());
        self.test.lines.push(line(&name));
    }

    /// Adds the expectations that precede the call. Outputs and exit statuses differ from row to row, so they become
    /// fields.
    fn announce(&mut self, test: &TestCase) {
        let lines = expectation_lines(self.test.program, test);
        self.quiet &= lines.is_empty();
        let error = matches!(test.outcome, Outcome::Error { .. });
        if let Some(output) = test.expected.output.as_ref().filter(|output| !error && !output.is_empty()) {
            let size = self.test.locals.fresh("output_size");
            self.fields.push_str(&format!("    unsigned long {size};\n"));
            self.initialisers.push(output.len().to_string());
            self.number("const char *", "output", &literal::string(output), |field| {
                format!("touchstone_expect_output(row->{field}, row->{size});")
            });
        }
        if let Outcome::Exited(status) = test.outcome {
            self.number("int", "status", &(status & 255).to_string(), |field| format!("EXPECT_EXIT(row->{field});"));
        }
        let own = |line: &String| line.starts_with("EXPECT_OUTPUT(") || line.starts_with("EXPECT_EXIT(");
        self.test.lines.extend(lines.into_iter().filter(|line| !own(line)));
    }

    /// Adds a field with the value, and returns its name.
    fn field(&mut self, wanted: &str, ty: DataTypeId, value: &DataValue) -> Result<String, EmitLimitation> {
        self.all_numbers(ty, value)?;
        let name = self.test.locals.fresh(wanted);
        let text = self.test.values.initialiser(ty, value, "")?;
        self.add(ty, &name, text)?;
        Ok(name)
    }

    /// Adds a field with the values of an object, as an array or as its only element.
    fn object_field(
        &mut self,
        wanted: &str,
        object: usize,
        element: DataTypeId,
        values: &[DataValue],
    ) -> Result<String, EmitLimitation> {
        if !self.test.values.objects[object].is_array {
            let value = values.first().ok_or(EmitLimitation::NoValue)?;
            return self.field(wanted, element, value);
        }
        values.iter().try_for_each(|value| self.all_numbers(element, value))?;
        let name = self.test.locals.fresh(wanted);
        let text = self.test.values.elements(element, values, "")?;
        self.add(element, &format!("{name}[{}]", values.len()), text)?;
        Ok(name)
    }

    /// Fails unless the value consists of numbers: pointers and undefined parts cannot be in a table.
    fn all_numbers(&self, ty: DataTypeId, value: &DataValue) -> Result<(), EmitLimitation> {
        match (&self.test.program.module.types[ty], value) {
            (
                DataType::Int { .. } | DataType::Float { .. } | DataType::Bool { .. } | DataType::Enum { .. },
                DataValue::Int(_),
            ) => Ok(()),
            (DataType::Array { element, .. }, DataValue::Array(values)) => {
                values.iter().try_for_each(|value| self.all_numbers(*element, value))
            }
            (data, _) if data.has_halves() => Err(EmitLimitation::TooWideForTable),
            (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
                fields.iter().zip(values).try_for_each(|(field, value)| self.all_numbers(field.ty, value))
            }
            _ => Err(EmitLimitation::NotOnlyNumbers),
        }
    }

    fn add(&mut self, ty: DataTypeId, declarator: &str, initialiser: String) -> Result<(), EmitLimitation> {
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
    ) -> Result<(), EmitLimitation> {
        if self.test.values.objects.iter().any(|object| object.tail.is_some()) {
            return Err(EmitLimitation::LongerThanType);
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

    fn checks(&mut self, test: &TestCase, objects: &[ObjectInput]) -> Result<(), EmitLimitation> {
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

    /// Compares a place with a field of the row, member by member.
    fn check(&mut self, ty: DataTypeId, value: &DataValue, field: &str, place: &str) -> Result<(), EmitLimitation> {
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
    ) -> Result<(), EmitLimitation> {
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
