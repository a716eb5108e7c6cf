//! What surrounds the program in a test: its arguments, standard input, variables of the environment, and functions that
//! nobody defines.
//!
//! Such a function is a stub in the test file that returns what the test says, call by call. It takes its type from the
//! program's own declaration where the file has one, so the two can't contradict each other.

use crate::body::Program;
use crate::ctype::{CTypes, Unwritable};
use crate::form::Form;
use crate::literal;
use crate::names::source_name;
use crate::values::Values;
use touchstone_base::Span;
use touchstone_criteria::{InputSource, MadeInput, TestCase};
use touchstone_ir::{DataType, DataTypeId, Function, Module};

/// The folder of the C library's models in the names of files.
const LIBRARY: &str = "<library>/";
/// Models of functions whose answers come from the test, and so have a stub: `models/time.c`.
const WORLD: &str = "<library>/time.c";

/// The functions of a module that answer with inputs, in the order of the module.
fn stubs(module: &Module) -> impl Iterator<Item = &Function> {
    module.functions.values().filter(|function| {
        let file = module.files.get(function.span.file).map_or("", String::as_str);
        let own = file == WORLD || !file.starts_with(LIBRARY);
        function.library && function.is_defined() && !function.internal && !function.is_callback() && own
    })
}

/// The definitions of the functions that the program calls and nobody defines.
pub(crate) fn stub_text(program: &Program) -> String {
    if program.form != Form::Touchstone {
        return String::new();
    }
    // A name that is only called has no declaration at the end of the file.
    let declared =
        |function: &Function| function.span != Span::none() && program.visibility.knows(source_name(&function.name));
    let mut text = String::new();
    for function in stubs(program.module) {
        let name = source_name(&function.name);
        let stub = match (name, result(function, &program.ctypes)) {
            ("srand" | "srandom", _) => continue,
            ("time", Ok(_)) => "STUB_TIME(time)".to_string(),
            (_, Ok(result)) if result == "void" && declared(function) => format!("STUB_OF_NOTHING({name})"),
            (_, Ok(result)) if declared(function) => format!("STUB({name}, {result})"),
            (_, Ok(result)) if result == "void" => format!("void {name}() {{}}"),
            (_, Ok(result)) => format!("{result} {name}() {{ ANSWER({result}, \"{name}\"); }}"),
            (_, Err(Unwritable(why))) => format!("/* no stub for {name}: {why} */"),
        };
        text.push_str(&stub);
        text.push('\n');
    }
    match text.is_empty() {
        true => text,
        false => format!(
            "\n/* The program calls these and defines none of them: each call gets what the test says. */\n{text}"
        ),
    }
}

/// The definition of a function that stands for any of its type.
pub(crate) fn callback(program: &Values, function: &Function) -> Result<String, Unwritable> {
    let module = program.module;
    let standing = module
        .globals
        .values()
        .find(|global| global.function.is_some_and(|id| std::ptr::eq(&module.functions[id], function)));
    let data = standing.ok_or_else(|| Unwritable("a function that nothing points to".to_string()))?.data;
    let (name, result) = (&function.name, result(function, program.ctypes)?);
    let stub = if result == "void" { format!("STUB_OF_NOTHING({name})") } else { format!("STUB({name}, {result})") };
    Ok(format!("extern {};\n{stub}", program.ctypes.declare(data, name)?))
}

/// The type that a function returns, as a name that can stand before a variable.
fn result(function: &Function, types: &CTypes) -> Result<String, Unwritable> {
    types.declare(function.result_data, "")
}

/// The lines that set up what surrounds the program, and the words that it is called with.
pub(crate) fn lines(program: &Program, test: &TestCase) -> Result<Vec<String>, Unwritable> {
    if program.form != Form::Touchstone && !test.answers.is_empty() {
        return Err(Unwritable(
            "it needs answers from outside of the program, which only --emit c can give".to_string(),
        ));
    }
    let (mut lines, mut rest) = (Vec::new(), Vec::new());
    let mut words = Vec::new();
    for input in &test.answers {
        match input.source() {
            InputSource::Argument(_) => {
                let word = format!("argument_{}", words.len() + 1);
                lines.push(format!("char {word}[{}] = {};", input.bytes.len(), array_text(&input.bytes)));
                words.push(word);
            }
            InputSource::Stdin(text) => rest.push(format!("STANDARD_INPUT({});", literal::string(text))),
            InputSource::Variable(name, text) => {
                let text = text.map_or("NULL".to_string(), literal::string);
                rest.push(format!("ENVIRONMENT({}, {text});", literal::text(name)));
            }
            InputSource::Request => rest.push(request(program, input)),
        }
    }
    if !words.is_empty() {
        lines.push(format!("char *arguments[] = {{\"program\", {}, NULL}};", words.join(", ")));
    }
    lines.extend(rest);
    Ok(lines)
}

/// What `main` is called with.
pub(crate) fn arguments(program: &Program, test: &TestCase) -> String {
    let words = test.answers.iter().filter(|input| matches!(input.source(), InputSource::Argument(_))).count();
    let list = if words == 0 { "touchstone_arguments" } else { "arguments" };
    let all = [format!("{}", words + 1), list.to_string(), format!("{list} + {}", words + 1)];
    all[..program.function.params.len().min(3)].join(", ")
}

/// Bytes as the initialiser of an array of exactly their number.
fn array_text(bytes: &[u8]) -> String {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    literal::string(&bytes[..end])
}

/// `RETURNS(int, sensor, 5);` for a call of a stub, `INPUT("x", 5, 0, 0, 0); /* 5 */` for others.
fn request(program: &Program, input: &MadeInput) -> String {
    let callbacks = program.module.functions.values().filter(|function| function.is_callback());
    let stub = stubs(program.module).chain(callbacks).find(|function| source_name(&function.name) == input.name);
    stub.and_then(|function| returned(program, function.result_data, input)).unwrap_or_else(|| input_line(input))
}

fn returned(program: &Program, data: DataTypeId, input: &MadeInput) -> Option<String> {
    let types = &program.module.types;
    let name = program.ctypes.declare(data, "").ok()?;
    let mut bytes = [0; 8];
    bytes.get_mut(..input.bytes.len())?.copy_from_slice(&input.bytes);
    let value = match &types[data] {
        DataType::Pointer { .. } => "NULL".to_string(),
        scalar => literal::scalar(scalar, u64::from_le_bytes(bytes))?,
    };
    (types[data].size(types) == input.bytes.len() as u64).then(|| format!("RETURNS({name}, {}, {value});", input.name))
}

/// `INPUT("x", 5, 0, 0, 0); /* 5 */`: bytes, and what they mean as a number or as text.
fn input_line(input: &MadeInput) -> String {
    let bytes: Vec<String> = input.bytes.iter().map(u8::to_string).collect();
    let line = format!("INPUT({}, {});", literal::text(&input.name), bytes.join(", "));
    let number = match *input.bytes.as_slice() {
        [a, b] => Some(i64::from(i16::from_le_bytes([a, b]))),
        [a, b, c, d] => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
        [a, b, c, d, e, f, g, h] => Some(i64::from_le_bytes([a, b, c, d, e, f, g, h])),
        _ => None,
    };
    let meaning = number.map(|number| number.to_string()).or_else(|| literal::readable_string(&input.bytes));
    match meaning.filter(|text| !text.contains("*/")) {
        Some(text) => format!("{line} /* {text} */"),
        None => line,
    }
}
