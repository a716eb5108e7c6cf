//! The environment of a test: program arguments, standard input, environment variables, files, device registers, and
//! the results of external functions (`stubs.rs`).

use crate::c::syntax::errno;
use crate::c::syntax::limitation::EmitLimitation;
use crate::c::syntax::literal;
use crate::c::syntax::names::source_name;
use crate::c::text::form::CTestForm;
use crate::c::text::stubs::{parameter_name, spelled_type, stubs_and_callbacks};
use crate::c::text::test_body::FunctionTest;
use crate::c::text::test_values::ValueWriter;
use crate::c::text::tested_program::TestedProgram;
use touchstone_criteria::{EnvironmentInput, FileInput, InputContent, TestCase};
use touchstone_ir::{DataType, DataTypeId, DataValue, Function, GlobalRole, InputSource, PointerTarget};

/// Returns the lines that set up the environment. Results of stubs may point to objects of the test, which must be
/// declared before.
pub(crate) fn lines(
    program: &TestedProgram,
    test: &TestCase,
    mut values: Option<&mut ValueWriter>,
) -> Result<Vec<String>, EmitLimitation> {
    let (mut lines, mut rest) = (Vec::new(), Vec::new());
    let played = test.stub_script();
    if program.form != CTestForm::Touchstone {
        let written = |input: &EnvironmentInput| {
            let ours = matches!(
                input.given(),
                InputContent::FailingAllocation(_)
                    | InputContent::File(_)
                    | InputContent::Output(_)
                    | InputContent::Variable(..)
            ) || input.source == InputSource::Register;
            ours || stub_of(program, input).is_some()
        };
        if !played.iter().all(|input| written(input)) {
            return Err(EmitLimitation::InputsFromOutside);
        }
        lines.extend(program.has_stubs.then(|| "FORGET_CALLS();".to_string()));
    }
    // Failing allocations come last, so that allocations of the test itself are not counted.
    let (mut words, mut failing) = (Vec::new(), Vec::new());
    for (index, &input) in played.iter().enumerate() {
        match input.given() {
            InputContent::Argument(_) => {
                let word = format!("argument_{}", words.len() + 1);
                lines.push(format!("char {word}[{}] = {};", input.bytes.len(), array_text(&input.bytes)));
                words.push(word);
            }
            InputContent::FailingAllocation(_) if !program.facts.allocates => {
                return Err(EmitLimitation::InputsFromOutside);
            }
            InputContent::FailingAllocation(number) => failing.push(format!("FAIL_ALLOCATION({number});")),
            InputContent::File(None) => rest.push("NO_FILE();".to_string()),
            InputContent::File(Some(file)) if file.is_plain() && index >= explicit_file_count(&played) => {}
            InputContent::File(Some(file)) => rest.push(file_line(&file)),
            InputContent::Output(_) if !input.is_failing_output() => {}
            InputContent::Output(output) => {
                failing.push(format!("FAILING_OUTPUT(\"{}\");", output.failures().join(" ")))
            }
            InputContent::Stdin(text) => rest.push(format!("STANDARD_INPUT({});", literal::string(text))),
            InputContent::Variable(name, text) => {
                let text = text.map_or("NULL".to_string(), literal::string);
                rest.push(format!("ENVIRONMENT({}, {text});", literal::text(name)));
            }
            InputContent::Answer([]) if input.source == InputSource::Register => rest.push("REGISTERS();".to_string()),
            InputContent::Answer(bytes) if input.source == InputSource::Register => rest.push(read(&input.name, bytes)),
            InputContent::Answer([]) if input.source == InputSource::Written => {
                rest.extend(keeps(input, &played[index + 1..]));
            }
            InputContent::Answer(_) => rest.push(request(program, input, values.as_deref_mut())?),
        }
    }
    if !words.is_empty() {
        lines.push(format!("char *arguments[] = {{\"program\", {}, NULL}};", words.join(", ")));
    }
    lines.extend(rest);
    lines.extend(failing);
    Ok(lines)
}

/// Returns the line that provides a file: `FILE_WITH("a\n");`, `FAILING_FILE("", "write close");`
fn file_line(file: &FileInput) -> String {
    let (text, failing) = (literal::string(file.text), file.failures());
    match failing.is_empty() {
        true => format!("FILE_WITH({text});"),
        false => format!("FAILING_FILE({text}, {});", literal::text(&failing.join(" "))),
    }
}

/// Returns the index after the last answer that opens a file which the test must describe. Files that are opened later
/// are empty by default.
fn explicit_file_count(answers: &[&EnvironmentInput]) -> usize {
    let said = |input: &EnvironmentInput| match input.given() {
        InputContent::File(file) => file.is_none_or(|file| !file.is_plain()),
        _ => false,
    };
    answers.iter().rposition(|input| said(input)).map_or(0, |last| last + 1)
}

/// Returns the line that provides a read of a device register: `READS(0x40012400, unsigned int, 2);`
fn read(address: &str, bytes: &[u8]) -> String {
    let (word, ty) = match bytes.len() {
        1 => (8, "unsigned char"),
        2 => (16, "unsigned short"),
        4 => (32, "unsigned int"),
        _ => (64, "unsigned long"),
    };
    let number = bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    format!("READS({address}, {ty}, {});", literal::integer(word, false, number))
}

/// Returns a line for a call that leaves the pointee unchanged, or `None` if a later write of the same stub cannot be
/// mistaken for one of this call.
fn keeps(input: &EnvironmentInput, later: &[&EnvironmentInput]) -> Option<String> {
    let same = |other: &EnvironmentInput| other.source == input.source && other.name == input.name;
    let next = *later.iter().find(|other| !same(other) || !other.bytes.is_empty())?;
    let (function, parameter) = input.name.split_once('.')?;
    same(next).then(|| format!("KEEPS({function}, {parameter});"))
}

/// Returns the arguments of `main`.
pub(crate) fn arguments(program: &TestedProgram, test: &TestCase) -> String {
    let words = test.answers.iter().filter(|input| input.is_argument()).count();
    let list = if words == 0 { "touchstone_arguments" } else { "arguments" };
    let all = [format!("{}", words + 1), list.to_string(), format!("{list} + {}", words + 1)];
    all[..program.function.params.len().min(3)].join(", ")
}

/// Returns an initialiser of an array that has exactly as many elements as there are bytes.
fn array_text(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    literal::string(&bytes[..end])
}

/// Returns the line that provides an input: `RETURNS(int, sensor, 5);` for a call of a stub, `INPUT("x", 5, 0, 0, 0);
/// /* 5 */` for others.
fn request(
    program: &TestedProgram,
    input: &EnvironmentInput,
    values: Option<&mut ValueWriter>,
) -> Result<String, EmitLimitation> {
    let Some(function) = stub_of(program, input) else {
        return Ok(typed_line(program, input).unwrap_or_else(|| input_line(program, input)));
    };
    match (input.source, values) {
        (InputSource::External, None) => {
            Ok(returned_scalar(program, function, input).unwrap_or_else(|| input_line(program, input)))
        }
        (InputSource::External, Some(values)) => match returned(program, function, input, values) {
            Err(_) if input.pointers.is_empty() && program.form == CTestForm::Touchstone => {
                Ok(input_line(program, input))
            }
            line => line,
        },
        (InputSource::Written, Some(values)) => written(program, function, input, values),
        (InputSource::Changed, Some(values)) => changed(input, values),
        (_, _) => Err(EmitLimitation::InputsFromOutside),
    }
}

/// Returns the stub that requests an input.
fn stub_of<'m>(program: &TestedProgram<'m>, input: &EnvironmentInput) -> Option<&'m Function> {
    let name = match input.source {
        InputSource::External => input.name.as_str(),
        InputSource::Written | InputSource::Changed => input.name.split_once('.')?.0,
        _ => return None,
    };
    stubs_and_callbacks(program.module).find(|function| source_name(&function.name) == name)
}

fn returned_scalar(program: &TestedProgram, function: &Function, input: &EnvironmentInput) -> Option<String> {
    let (types, data) = (&program.module.types, function.result_data);
    let name = spelled_type(program, data).ok()?;
    let value = match (&types[data], input.value(types, data, 0)) {
        (DataType::Pointer { .. }, _) => "NULL".to_string(),
        (scalar, DataValue::Int(bits)) => literal::scalar(scalar, bits)?,
        _ => return None,
    };
    (types[data].size(types) == input.bytes.len() as u64).then(|| format!("RETURNS({name}, {}, {value});", input.name))
}

fn returned(
    program: &TestedProgram,
    function: &Function,
    input: &EnvironmentInput,
    values: &mut ValueWriter,
) -> Result<String, EmitLimitation> {
    let (types, data) = (&program.module.types, function.result_data);
    let name = spelled_type(program, data)?;
    if types[data].size(types) != input.bytes.len() as u64 {
        return Err(EmitLimitation::Misfit);
    }
    let value = values.initialiser(data, &input.value(types, data, 0), "")?;
    Ok(format!("RETURNS({name}, {}, {value});", input.name))
}

/// Returns the line for a write to the pointee of a parameter: `WRITES(int, fetch, to, 5);`, `WRITES(char[4],
/// read_line, to, "ok\n");`
fn written(
    program: &TestedProgram,
    function: &Function,
    input: &EnvironmentInput,
    values: &mut ValueWriter,
) -> Result<String, EmitLimitation> {
    let types = &program.module.types;
    let parameter = input.name.split_once('.').map_or("", |(_, parameter)| parameter);
    if parameter == "!" {
        return Ok(format!("FAILS({});", source_name(&function.name)));
    }
    let mut params = function.own_params().iter().enumerate();
    let param = params.find(|(index, param)| parameter_name(*index, param) == parameter);
    let to = match param.map(|(_, param)| &types[param.data]) {
        Some(DataType::Pointer { pointee, .. }) => *pointee,
        Some(DataType::Array { element, .. }) => *element,
        _ => return Err(EmitLimitation::NoPointerType(input.name.clone())),
    };
    let to = match types[to] {
        DataType::Array { element, .. } => element,
        _ => to,
    };
    let (size, given) = (types[to].size(types) as usize, input.bytes.len());
    let name = if size == 0 { None } else { spelled_type(program, to).ok() };
    let (Some(name), 0) = (name, given.checked_rem(size).unwrap_or(1)) else {
        return untyped_write(source_name(&function.name), parameter, input, values);
    };
    let function = source_name(&function.name);
    if given == size {
        let value = values.initialiser(to, &input.value(types, to, 0), "")?;
        return Ok(format!("WRITES({name}, {function}, {parameter}, {value});"));
    }
    let elements: Vec<DataValue> = (0..given / size).map(|at| input.value(types, to, at * size)).collect();
    let value = values.elements(to, &elements, "")?;
    Ok(format!("WRITES({name}[{}], {function}, {parameter}, {value});", elements.len()))
}

/// Returns the line for a write of unknown type: an integer if the size is that of an integer, words if there are
/// pointers, bytes otherwise.
fn untyped_write(
    function: &str,
    parameter: &str,
    input: &EnvironmentInput,
    values: &mut ValueWriter,
) -> Result<String, EmitLimitation> {
    if !input.pointers.is_empty() {
        let words = pointer_words(input, values)?;
        let (count, words) = (words.len(), words.join(", "));
        return Ok(format!("WRITES(void *[{count}], {function}, {parameter}, {{{words}}});"));
    }
    Ok(match *input.bytes.as_slice() {
        [a, b, c, d] => {
            format!(
                "WRITES(int, {function}, {parameter}, {});",
                literal::integer(32, true, u32::from_le_bytes([a, b, c, d]).into())
            )
        }
        [a, b] => format!("WRITES(short, {function}, {parameter}, {});", i16::from_le_bytes([a, b])),
        [a] => format!("WRITES(unsigned char, {function}, {parameter}, {a});"),
        ref bytes => {
            let used = bytes.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
            let shown: Vec<String> = bytes[..used].iter().map(u8::to_string).collect();
            format!("WRITES(unsigned char[{}], {function}, {parameter}, {{{}}});", bytes.len(), shown.join(", "))
        }
    })
}

/// Returns bytes that contain pointers as words: `(void *)5`, `&next`.
fn pointer_words(input: &EnvironmentInput, values: &mut ValueWriter) -> Result<Vec<String>, EmitLimitation> {
    let fits = input.bytes.len().is_multiple_of(8) && input.pointers.iter().all(|(at, _)| at % 8 == 0);
    if !fits {
        return Err(EmitLimitation::UnnamedType);
    }
    let mut words = Vec::new();
    for (index, bytes) in input.bytes.chunks(8).enumerate() {
        let pointer = input.pointers.iter().find(|(at, _)| *at == 8 * index);
        let word = bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        words.push(match pointer.map(|(_, target)| target) {
            Some(target @ PointerTarget::Object { object, .. }) => {
                let element = values.objects.get(*object).ok_or(EmitLimitation::NoObject)?.element;
                format!("(void *){}", values.pointer(target, element)?)
            }
            Some(_) => return Err(EmitLimitation::UnnamedType),
            None if word == 0 => "NULL".to_string(),
            None => format!("(void *){word:#x}"),
        });
    }
    Ok(words)
}

/// Returns the line for a change of a global: `CHANGES(fetch, mode, 3);`, `SETS_ERRNO(fetch, 11); /* EAGAIN */`
fn changed(input: &EnvironmentInput, values: &mut ValueWriter) -> Result<String, EmitLimitation> {
    let (function, global) = input.name.split_once('.').ok_or(EmitLimitation::Misfit)?;
    let module = values.module;
    let id = module.global_displayed_as(global).ok_or(EmitLimitation::NoValue)?;
    let data = module.globals[id].data;
    let changed = input.value(&module.types, data, 0);
    let value = values.initialiser(data, &changed, "")?;
    if module.globals[id].role == GlobalRole::LibraryState {
        let known = match changed {
            DataValue::Int(number) => errno::name(number),
            _ => None,
        };
        let comment = known.map_or(String::new(), |name| format!(" /* {name} */"));
        return Ok(format!("SETS_ERRNO({function}, {value});{comment}"));
    }
    let place = values.global(global)?;
    Ok(format!("CHANGES({function}, {place}, {value});"))
}

/// Returns `INPUT_OF(struct order, "o", {.price = 5});`, or `None` if the file does not declare the type.
fn typed_line(program: &TestedProgram, input: &EnvironmentInput) -> Option<String> {
    let (data, value) = as_nameable_type(program, input)?;
    let name = program.ctypes.declare(data, "").ok()?;
    let value = FunctionTest::new(program, &[]).values.initialiser(data, &value, "").ok()?;
    Some(format!("INPUT_OF({name}, {}, {value});", literal::text(&input.title())))
}

/// Returns the input as a value of a type that tests can name.
pub(crate) fn as_nameable_type(program: &TestedProgram, input: &EnvironmentInput) -> Option<(DataTypeId, DataValue)> {
    let (data, value) = input.typed(&program.module.types)?;
    let name = program.ctypes.declare(data, "").ok()?;
    program.visibility.knows_types_at_file_level(&name).then_some((data, value))
}

/// Returns `INPUT("x", 5, 0, 0, 0); /* 5 */`: the bytes, and their meaning as an integer or a string.
fn input_line(program: &TestedProgram, input: &EnvironmentInput) -> String {
    let bytes: Vec<String> = input.bytes.iter().map(u8::to_string).collect();
    let line = format!("INPUT({}, {});", literal::text(&input.title()), bytes.join(", "));
    let number = match *input.bytes.as_slice() {
        [a, b] => Some(i64::from(i16::from_le_bytes([a, b]))),
        [a, b, c, d] => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
        [a, b, c, d, e, f, g, h] => Some(i64::from_le_bytes([a, b, c, d, e, f, g, h])),
        _ => None,
    };
    let meaning = parts_text(program, input).or(number.map(|number| number.to_string()));
    let meaning = meaning.or_else(|| literal::readable_string(&input.bytes));
    match meaning.filter(|text| !text.contains("*/")) {
        Some(text) => format!("{line} /* {text} */"),
        None => line,
    }
}

/// Returns the fields of an input that has a type: `i.speed = 106, i.gear = 3`.
fn parts_text(program: &TestedProgram, input: &EnvironmentInput) -> Option<String> {
    const MAX_PARTS_SHOWN: usize = 12;
    let types = &program.module.types;
    let parts = input.parts(types);
    let text = |ty, number| literal::scalar(&types[ty], number).unwrap_or_else(|| format!("{number:#x}"));
    let shown = parts.iter().take(MAX_PARTS_SHOWN).map(|(name, ty, number)| format!("{name} = {}", text(*ty, *number)));
    let mut shown: Vec<String> = shown.collect();
    shown.extend((parts.len() > MAX_PARTS_SHOWN).then(|| "...".to_string()));
    (!shown.is_empty()).then(|| shown.join(", "))
}
