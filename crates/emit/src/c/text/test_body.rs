//! The body of a test: a C function with fixture, call and assertions.

use crate::c::syntax::comment::comment_text;
use crate::c::syntax::declarations::CTypes;
use crate::c::syntax::limitation::EmitLimitation;
use crate::c::syntax::literal;
use crate::c::syntax::names::Locals;
use crate::c::text::flexible_array;
use crate::c::text::form::CTestForm;
use crate::c::text::frame_condition::{ArrayChange, ValueChange, is_aggregate};
use crate::c::text::library_types::{library_type, thrown};
use crate::c::text::stubs;
use crate::c::text::test_environment;
use crate::c::text::test_values::{LocalObject, ValueWriter};
use crate::c::text::tested_program::TestedProgram;
use crate::c::text::varargs::{ListArgument, callable_name, is_created_by_call};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::{NamedValue, ObjectCreation, ObjectInput, ObjectOrigin, Outcome, Replay, TestCase, TestKind};
use touchstone_ir::{DataType, DataValue, Function, Linkage, PointerTarget};

/// The source of a test and the declarations that must precede it.
pub(crate) struct TestText {
    pub(crate) text: String,
    pub(crate) declarations: BTreeSet<String>,
    /// The reason for which the test is skipped, if it is.
    pub(crate) skipped: Option<String>,
}

/// Returns the test as C. A test that cannot be expressed becomes a skipped test with the reason.
pub(crate) fn test_text(program: &TestedProgram, test: &TestCase) -> TestText {
    let (lines, declarations, skipped) = match body(program, test) {
        Ok((lines, declarations)) => (lines, declarations, why_skipped(program, test)),
        Err(why) => (vec![program.form.skip(&why.to_string())], BTreeSet::new(), Some(why.to_string())),
    };
    let mut text = format!("\n{}", program.form.begin(test));
    for line in lines {
        text.push_str("    ");
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("}\n");
    TestText { text, declarations, skipped }
}

type Body = (Vec<String>, BTreeSet<String>);

fn body(program: &TestedProgram, test: &TestCase) -> Result<Body, EmitLimitation> {
    if let Some(why) = thrown(test) {
        return Err(EmitLimitation::Unmakeable(why));
    }
    match &test.kind {
        TestKind::Program => Ok((program_body(program, test)?, BTreeSet::new())),
        TestKind::Function { earlier, params, globals, objects } => {
            let mut writer = FunctionTest::new(program, objects);
            writer.use_string_literals(test);
            writer.lines.extend(test.heap.remark().map(|remark| format!("/* {remark} */")));
            writer.lines.extend(reset_errno(program));
            writer.declare_objects(objects)?;
            let around = test_environment::lines(program, test, Some(&mut writer.values))?;
            writer.lines.extend(around);
            if earlier.is_empty() {
                writer.declare_params(params, objects)?;
            }
            writer.set_globals(globals)?;
            writer.lines.extend(expectation_lines(program, test));
            writer.lines.extend(skip(program, test));
            writer.copy_before_call(test, globals, objects);
            if !earlier.is_empty() {
                writer.write_earlier_calls(earlier, objects)?;
                writer.declare_params(params, objects)?;
            }
            writer.call(test)?;
            writer.lines.extend(test.output_fails().then(|| "WORKING_OUTPUT();".to_string()));
            writer.check(test, globals, objects)?;
            writer.release(test, objects)?;
            writer.drop_unused_copies();
            Ok((writer.lines, writer.values.declarations))
        }
    }
}

/// Returns a line that resets `errno`, which must be zero before a test. Our runner resets it; in other frameworks it
/// keeps the value of the preceding test.
fn reset_errno(program: &TestedProgram) -> Option<String> {
    const NUMBER: &str = "__errno_location";
    let asks = program.form != CTestForm::Touchstone && program.module.function_named(NUMBER).is_some();
    (asks && program.visibility.declares(NUMBER)).then(|| format!("*{NUMBER}() = 0; /* errno */"))
}

/// Returns a line that skips a test that is known not to be checkable, before it does any harm.
fn skip(program: &TestedProgram, test: &TestCase) -> Option<String> {
    why_skipped(program, test).map(|why| program.form.skip(&why))
}

fn why_skipped(program: &TestedProgram, test: &TestCase) -> Option<String> {
    match &test.replayed {
        Replay::NotCheckable(why) => Some(why.to_string()),
        Replay::NotRun | Replay::Agreed | Replay::Disagreed(_) => {
            program.form.refuses(test, || file_name(program, &test.outcome)).map(|why| why.to_string())
        }
    }
}

/// Returns the name of the file in which the error occurs.
fn file_name(program: &TestedProgram, outcome: &Outcome) -> String {
    let Outcome::Error { span, .. } = outcome else { return String::new() };
    let path = program.module.files.get(span.file).map_or("", String::as_str);
    path.rsplit('/').next().unwrap_or(path).to_string()
}

/// Returns the expectations that must precede the call: output, error, exit status.
pub(crate) fn expectation_lines(program: &TestedProgram, test: &TestCase) -> Vec<String> {
    let error = matches!(test.outcome, Outcome::Error { .. });
    // Output before an error may still be in a buffer.
    let output = test.expected.output.as_ref().filter(|_| !error);
    if program.form != CTestForm::Touchstone {
        let output = output.filter(|output| !output.is_empty()).map(|output| literal::string(output));
        return output
            .map(|text| comment_text(&text))
            .map(|text| format!("/* Writes {text}, which isn't checked here. */"))
            .into_iter()
            .collect();
    }
    let mut lines = Vec::new();
    match output {
        _ if error => {}
        None => lines.push("ANY_OUTPUT();".to_string()),
        Some(output) if output.is_empty() => {}
        Some(output) => lines.push(format!("EXPECT_OUTPUT({});", literal::string(output))),
    }
    match &test.outcome {
        Outcome::Error { kind, span } => {
            let file = literal::text(&file_name(program, &test.outcome));
            lines.push(format!("EXPECT_ERROR(\"{kind}\", {file}, {});", span.line));
        }
        Outcome::Exited(status) => lines.push(format!("EXPECT_EXIT({});", status & 255)),
        Outcome::Hung => lines.push("EXPECT_HANG();".to_string()),
        // A test that throws is not written.
        Outcome::Returned | Outcome::OracleRejected | Outcome::Threw { .. } => {}
    }
    lines
}

fn program_body(program: &TestedProgram, test: &TestCase) -> Result<Vec<String>, EmitLimitation> {
    let mut lines = test_environment::lines(program, test, None)?;
    lines.extend(expectation_lines(program, test));
    lines.extend(skip(program, test));
    let (status, call) = program_call(program, test);
    lines.extend(status.map(|status| format!("EXPECT_EXIT({status});")));
    lines.extend(call);
    Ok(lines)
}

/// Returns the exit status of a program that returns, and the lines that run it.
pub(crate) fn program_call(program: &TestedProgram, test: &TestCase) -> (Option<u64>, Vec<String>) {
    let arguments = test_environment::arguments(program, test);
    let call = match program.name.as_str() {
        name if is_void(program) => vec![format!("{name}({arguments});"), "touchstone_exit(0);".to_string()],
        "main" => vec![format!("RUN_PROGRAM({arguments});")],
        name => vec![format!("touchstone_exit({name}({arguments}));")],
    };
    (exit_status(program, test), call)
}

/// Returns true if the program's `main` has no result.
pub(crate) fn is_void(program: &TestedProgram) -> bool {
    matches!(program.module.types[program.function.result_data], DataType::Void)
}

/// Returns the exit status of a program that returns from `main`, which is the result of `main`.
pub(crate) fn exit_status(program: &TestedProgram, test: &TestCase) -> Option<u64> {
    match (&test.outcome, &test.expected.result) {
        (Outcome::Returned | Outcome::OracleRejected, Some(DataValue::Int(status))) => Some(status & 255),
        (Outcome::Returned | Outcome::OracleRejected, _) if is_void(program) => Some(0),
        _ => None,
    }
}

/// A test that calls the function directly, under construction.
pub(crate) struct FunctionTest<'a> {
    pub(crate) program: &'a TestedProgram<'a>,
    pub(crate) values: ValueWriter<'a>,
    pub(crate) locals: Locals<'a>,
    pub(crate) lines: Vec<String>,
    pub(crate) arguments: Vec<String>,
    /// The variadic arguments.
    pub(crate) rest: Vec<String>,
    /// The argument that is a `va_list` of them.
    pub(crate) list: Option<ListArgument>,
    pub(crate) result: Option<String>,
    /// Maps a place to the variable that holds its value from before the call.
    copies: BTreeMap<String, String>,
}

impl<'a> FunctionTest<'a> {
    pub(crate) fn new(program: &'a TestedProgram<'a>, objects: &[ObjectInput]) -> Self {
        let mut locals = Locals::new(&program.facts.names);
        let objects = objects
            .iter()
            .map(|object| LocalObject {
                name: match object.origin {
                    // The variable that receives its address has the name.
                    ObjectOrigin::Constructed { creation: ObjectCreation::Stored { .. }, .. } => String::new(),
                    _ => locals.fresh(&object.name),
                },
                element: object.element,
                length: object.values.len() as u64,
                is_array: object.is_array
                    || object.values.len() != 1
                    || object.on_heap
                    || object.origin.creating_call().is_some(),
                tail: flexible_array::tail_of(program.module, object),
                declared: false,
                literal: None,
            })
            .collect();
        let expected = match program.form {
            CTestForm::Touchstone => String::new(),
            CTestForm::Unity | CTestForm::Cmocka | CTestForm::Gtest => locals.fresh("expected"),
        };
        let values = ValueWriter {
            form: program.form,
            expected,
            module: program.module,
            ctypes: &program.ctypes,
            objects,
            late: Vec::new(),
            visibility: &program.visibility,
            declarations: BTreeSet::new(),
        };
        FunctionTest {
            program,
            values,
            locals,
            lines: Vec::new(),
            arguments: Vec::new(),
            rest: Vec::new(),
            list: None,
            result: None,
            copies: BTreeMap::new(),
        }
    }

    /// Declares pointees before pointers to them. A cycle is closed by assignments.
    fn declare_objects(&mut self, objects: &[ObjectInput]) -> Result<(), EmitLimitation> {
        for index in declaration_order(objects) {
            let (object, local) = (&objects[index], &mut self.values.objects[index]);
            if object.origin.creating_call().is_some() {
                continue;
            }
            local.declared = true;
            if local.literal.is_some() {
                continue;
            }
            let (name, is_array) = (local.name.clone(), local.is_array);
            if is_created_by_call(self.program.module, object.element) {
                continue;
            }
            if library_type(self.program.module, object.element) == Some("FILE") {
                self.lines.push(format!("FILE *{name} = STREAM();"));
                self.values.objects[index].is_array = true;
                continue;
            }
            let has_no_size = self.program.module.types[object.element].size(&self.program.module.types) == 0;
            if has_no_size && object.on_heap {
                self.lines.push(format!("void *{name} = __builtin_malloc(64);"));
                continue;
            }
            if has_no_size && !is_array {
                // An incomplete type of another file: the object exists, but its contents are never accessed.
                self.lines.push(format!("static long {name}[64];"));
                self.values.objects[index].is_array = true;
                continue;
            }
            if object.on_heap && self.values.objects[index].tail.is_none() {
                self.declare_on_heap(object, &name)?;
                continue;
            }
            if let Some(length) = self.values.objects[index].tail {
                self.declare_flexible(object, &name, length)?;
                continue;
            }
            let line = if object.origin.is_constructed() {
                format!("{} = {{0}};", self.program.ctypes.declare(object.element, &name)?)
            } else if is_array {
                let declarator = format!("{name}[{}]", object.values.len());
                let declaration = self.program.ctypes.declare(object.element, &declarator)?;
                format!("{declaration} = {};", self.values.elements(object.element, &object.values, &name)?)
            } else {
                let declaration = self.program.ctypes.declare(object.element, &name)?;
                let value = &object.values[0];
                format!("{declaration} = {};", self.values.initialiser(object.element, value, &name)?)
            };
            self.lines.push(line);
        }
        for late in std::mem::take(&mut self.values.late) {
            let target = self.values.pointer(&late.target, late.pointee)?;
            self.lines.push(format!("{} = {target};", late.place));
        }
        Ok(())
    }

    /// Declares a block of the heap, because the function under test frees or reallocates it.
    fn declare_on_heap(&mut self, object: &ObjectInput, name: &str) -> Result<(), EmitLimitation> {
        let declaration = self.program.ctypes.declare(object.element, &format!("*{name}"))?;
        match object.values.as_slice() {
            [value] => {
                self.lines.push(format!("{declaration} = __builtin_malloc(sizeof *{name});"));
                let value = self.values.initialiser(object.element, value, &format!("{name}[0]"))?;
                self.lines.push(format!("SET(*{name}, {value});"));
            }
            values => {
                let array = self.program.ctypes.declare(object.element, &format!("[{}]", values.len()))?;
                self.lines.push(format!("{declaration} = __builtin_malloc(sizeof({array}));"));
                let text = self.values.elements(object.element, values, name)?;
                self.lines.push(format!("SET(*(__typeof__({array}) *){name}, {text});"));
            }
        }
        Ok(())
    }

    /// Declares parameters: pointers are passed directly, all other values in a variable with the parameter's name.
    fn declare_params(&mut self, params: &[NamedValue], objects: &[ObjectInput]) -> Result<(), EmitLimitation> {
        let types = &self.program.module.types;
        for (index, param) in params.iter().enumerate() {
            if self.take_variadic(param, objects)? {
                continue;
            }
            if let DataValue::Pointer(target) = &param.value {
                let pointee = match types[param.data] {
                    DataType::Pointer { pointee, .. } => pointee,
                    DataType::Array { element, .. } => element,
                    _ => return Err(EmitLimitation::NoPointerType(param.name.clone())),
                };
                let argument = self.values.pointer(target, pointee)?;
                self.arguments.push(argument);
                continue;
            }
            let wanted = if param.name.is_empty() { format!("argument{}", index + 1) } else { param.name.clone() };
            let name = self.locals.fresh(&wanted);
            let declaration = self.program.ctypes.declare(param.data, &name)?;
            let value = self.values.initialiser(param.data, &param.value, &name)?;
            self.lines.push(format!("{declaration} = {value};"));
            self.arguments.push(name);
        }
        Ok(())
    }

    fn set_globals(&mut self, globals: &[NamedValue]) -> Result<(), EmitLimitation> {
        for global in globals.iter().filter(|global| global.value != DataValue::Undefined) {
            let name = self.values.global(&global.name)?;
            let value = self.values.initialiser(global.data, &global.value, &name)?;
            let constant = self.global_is_constant(&global.name);
            let whole = constant
                || matches!(
                    self.program.module.types[global.data],
                    DataType::Array { .. } | DataType::Struct { .. } | DataType::Union { .. }
                );
            self.lines.push(if whole { format!("SET({name}, {value});") } else { format!("{name} = {value};") });
        }
        Ok(())
    }

    fn global_is_constant(&self, name: &str) -> bool {
        self.program.module.global_named(name).is_some_and(|id| self.program.module.globals[id].constant)
    }

    pub(crate) fn call(&mut self, test: &TestCase) -> Result<(), EmitLimitation> {
        // Parentheses prevent the expansion of a macro of the harness with the function's name.
        let call = self.call_text(&callable_name(&self.program.name))?;
        let result = self.program.function.result_data;
        let void = matches!(self.program.module.types[result], DataType::Void);
        let wanted = test.expected.result.is_some() || test.oracle.is_some();
        if void || !wanted || matches!(test.outcome, Outcome::Error { .. } | Outcome::Exited(_) | Outcome::Hung) {
            self.lines.push(format!("{call};"));
            return Ok(());
        }
        let name = self.locals.fresh("result");
        let declaration = self.program.ctypes.declare(result, &name);
        self.lines.push(format!("{} = {call};", declaration.unwrap_or_else(|_| format!("__auto_type {name}"))));
        self.result = Some(name);
        Ok(())
    }

    /// Copies aggregates that the call may change or must not change.
    fn copy_before_call(&mut self, test: &TestCase, globals: &[NamedValue], objects: &[ObjectInput]) {
        if matches!(test.outcome, Outcome::Error { .. } | Outcome::Exited(_)) {
            return;
        }
        let module = self.program.module;
        let mut places = Vec::new();
        for (index, object) in objects.iter().enumerate().take(test.expected.objects.len()) {
            let local = &self.values.objects[index];
            let given = library_type(module, object.element).is_some() || is_created_by_call(module, object.element);
            let is_variable = local.literal.is_none() && local.tail.is_none();
            let plain = !given && !object.on_heap && is_variable && object.origin == ObjectOrigin::Values;
            let sized = module.types[object.element].size(&module.types) > 0;
            if plain && sized && (local.is_array || is_aggregate(&module.types, object.element)) {
                places.push(local.name.clone());
            }
        }
        for global in &test.expected.globals {
            let known = globals.iter().any(|before| before.name == global.name);
            if known && is_aggregate(&module.types, global.data) {
                places.extend(self.values.global(&global.name));
            }
        }
        for place in places {
            let copy = self.locals.fresh(&format!("{place}_before"));
            self.lines.push(format!("BEFORE({copy}, {place});"));
            self.copies.insert(place, copy);
        }
    }

    /// Drops copies that no assertion uses, because everything changed or nothing is known.
    fn drop_unused_copies(&mut self) {
        for (place, copy) in std::mem::take(&mut self.copies) {
            let line = format!("BEFORE({copy}, {place});");
            let uses = |text: &String| text.contains(&copy) && *text != line;
            if !self.lines.iter().any(uses) {
                self.lines.retain(|text| *text != line);
            }
        }
    }

    fn check(
        &mut self,
        test: &TestCase,
        globals: &[NamedValue],
        objects: &[ObjectInput],
    ) -> Result<(), EmitLimitation> {
        if test.outcome == Outcome::Hung {
            // Other forms skip the test.
            self.lines.extend((self.program.form == CTestForm::Touchstone).then(|| "MUST_HANG();".to_string()));
            return Ok(());
        }
        if matches!(test.outcome, Outcome::Error { .. } | Outcome::Exited(_)) {
            return Ok(());
        }
        let mut lines = Vec::new();
        if let (Some(value), Some(name)) = (&test.expected.result, self.result.clone()) {
            self.values.check(self.program.function.result_data, value, &name, &mut lines);
            for reached in &test.expected.reached {
                self.values.check_reached(reached, &name, &mut lines);
            }
        }
        for (index, (object, values)) in objects.iter().zip(&test.expected.objects).enumerate() {
            // Nothing is left of an object that the function has freed.
            let made = is_created_by_call(self.program.module, object.element);
            let unnamed = self.values.objects[index].literal.is_some() || object.origin == ObjectOrigin::Receiver;
            if library_type(self.program.module, object.element).is_some() || made || object.on_heap || unnamed {
                continue;
            }
            let name = self.values.objects[index].name.clone();
            if object.origin.is_constructed() {
                self.check_constructed(object, values, &name, &mut lines);
            } else if self.values.objects[index].tail.is_some() {
                self.check_flexible(object, values, &name, &mut lines);
            } else {
                self.check_object(object, index, values, &name, &mut lines);
            }
        }
        for global in &test.expected.globals {
            let id = self.program.module.global_named(&global.name);
            let local = id.is_none_or(|id| self.program.module.globals[id].linkage == Linkage::Local);
            match self.values.global(&global.name) {
                Ok(name) => {
                    let before = globals.iter().find(|before| before.name == global.name);
                    match (before, self.copies.get(&name).cloned()) {
                        (Some(before), Some(copy)) => {
                            let step = ValueChange { ty: global.data, before: &before.value, after: &global.value };
                            self.check_change(&step, &name, &copy, &mut lines);
                        }
                        _ => self.values.check(global.data, &global.value, &name, &mut lines),
                    }
                }
                Err(_) if local => {}
                Err(why) => lines.push(format!("/* not checked: {} */", comment_text(&why.to_string()))),
            }
        }
        if let Some(name) = &test.oracle {
            lines.push(self.oracle(name)?);
        }
        lines.extend(stubs::calls(self.program, &mut self.values, test));
        self.lines.extend(lines);
        Ok(())
    }

    /// Checks an object of the test after the call.
    fn check_object(
        &mut self,
        object: &ObjectInput,
        index: usize,
        values: &[DataValue],
        name: &str,
        lines: &mut Vec<String>,
    ) {
        let is_array = self.values.objects[index].is_array;
        match (self.copies.get(name).cloned(), values) {
            (Some(copy), values) if is_array => {
                let elements = ArrayChange { element: object.element, before: &object.values, after: values };
                self.check_array_object(&elements, name, &copy, lines);
            }
            (None, values) if is_array => self.values.check_elements(object.element, values, name, lines),
            (Some(copy), [after, ..]) if !object.values.is_empty() => {
                let step = ValueChange { ty: object.element, before: &object.values[0], after };
                self.check_change(&step, name, &copy, lines);
            }
            (_, [value, ..]) => self.values.check(object.element, value, name, lines),
            (_, []) => {}
        }
    }

    /// Returns the check of the oracle: `CHECK_ORACLE(max3_post(a, b, c, result));`
    pub(crate) fn oracle(&mut self, name: &str) -> Result<String, EmitLimitation> {
        let own = self.values.function(name)?;
        let module = self.program.module;
        let takes = module.function_named(name).map_or(0, |id| module.functions[id].params.len());
        let mut arguments = self.arguments.clone();
        if let Some(result) = &self.result
            && takes > arguments.len()
        {
            arguments.push(result.clone());
        }
        Ok(self.program.form.oracle(&format!("{own}({})", arguments.join(", "))))
    }
}

/// Returns a topological order of the objects in which pointees come before pointers to them; cycles are broken
/// anywhere.
fn declaration_order(objects: &[ObjectInput]) -> Vec<usize> {
    let targets: Vec<Vec<usize>> = objects
        .iter()
        .map(|object| {
            let mut found = Vec::new();
            object.values.iter().for_each(|value| collect_targets(value, &mut found));
            found.retain(|&index| index < objects.len());
            found
        })
        .collect();
    let mut order = Vec::new();
    let mut seen = vec![false; objects.len()];
    for start in 0..objects.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        // Depth-first on an explicit stack: a linked list of inputs can be long.
        let mut stack = vec![(start, 0)];
        while let Some((object, next)) = stack.pop() {
            match targets[object].get(next) {
                Some(&target) => {
                    stack.push((object, next + 1));
                    if !std::mem::replace(&mut seen[target], true) {
                        stack.push((target, 0));
                    }
                }
                None => order.push(object),
            }
        }
    }
    order
}

fn collect_targets(value: &DataValue, found: &mut Vec<usize>) {
    match value {
        DataValue::Pointer(PointerTarget::Object { object, .. }) => found.push(*object),
        DataValue::Array(values) | DataValue::Struct(values) => {
            values.iter().for_each(|value| collect_targets(value, found));
        }
        DataValue::Member(_, value) => collect_targets(value, found),
        DataValue::Pointer(_) | DataValue::Int(_) | DataValue::Undefined => {}
    }
}

/// Returns the prototype that gives the program's `main` another symbol, so that it can coexist with the runner's. The
/// function is still called `main`, so that reaching its end returns 0.
pub(crate) fn main_prototype(ctypes: &CTypes, main: &Function, flags: &[String], void: bool) -> String {
    let result = if void { "void" } else { "int" };
    let modern = flags.iter().any(|flag| {
        flag.strip_prefix("-std=").is_some_and(|standard| standard.ends_with("23") || standard.ends_with("2x"))
    });
    // Before C23, empty parentheses are compatible with all parameter lists.
    let params = if modern {
        let params: Vec<String> =
            main.params.iter().map(|param| ctypes.declare(param.data, "").unwrap_or_default()).collect();
        params.join(", ")
    } else {
        String::new()
    };
    format!("{result} main({params}) __asm__(\"touchstone_program_main\");")
}
