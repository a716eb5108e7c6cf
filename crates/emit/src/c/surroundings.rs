//! What surrounds the program in a test: its arguments, standard input, variables of the environment, and what functions
//! return that nobody defines (`stubs.rs`).

use crate::c::body::TestedProgram;
use crate::c::form::Form;
use crate::c::literal;
use crate::c::names::source_name;
use crate::c::stubs::{spelled, stubs_and_callbacks};
use crate::c::unwritable::Unwritable;
use touchstone_criteria::{Given, MadeInput, TestCase};
use touchstone_ir::{DataType, DataTypeId, Function, InputSource};

/// The lines that set up what surrounds the program, and the words that it is called with.
pub(crate) fn lines(program: &TestedProgram, test: &TestCase) -> Result<Vec<String>, Unwritable> {
    let (mut lines, mut rest) = (Vec::new(), Vec::new());
    if program.form != Form::Touchstone {
        if test.answers.iter().any(|input| stub_of(program, input).is_none()) {
            return Err(Unwritable::InputsFromOutside);
        }
        lines.extend(program.has_stubs.then(|| "FORGET_CALLS();".to_string()));
    }
    let mut words = Vec::new();
    for input in &test.answers {
        match input.given() {
            Given::Argument(_) => {
                let word = format!("argument_{}", words.len() + 1);
                lines.push(format!("char {word}[{}] = {};", input.bytes.len(), array_text(&input.bytes)));
                words.push(word);
            }
            Given::Stdin(text) => rest.push(format!("STANDARD_INPUT({});", literal::string(text))),
            Given::Variable(name, text) => {
                let text = text.map_or("NULL".to_string(), literal::string);
                rest.push(format!("ENVIRONMENT({}, {text});", literal::text(name)));
            }
            Given::Answer(_) => rest.push(request(program, input)),
        }
    }
    if !words.is_empty() {
        lines.push(format!("char *arguments[] = {{\"program\", {}, NULL}};", words.join(", ")));
    }
    lines.extend(rest);
    Ok(lines)
}

/// What `main` is called with.
pub(crate) fn arguments(program: &TestedProgram, test: &TestCase) -> String {
    let words = test.answers.iter().filter(|input| input.is_argument()).count();
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
fn request(program: &TestedProgram, input: &MadeInput) -> String {
    let stub = stub_of(program, input);
    stub.and_then(|function| returned(program, function.result_data, input)).unwrap_or_else(|| input_line(input))
}

/// The stub that answers a request.
fn stub_of<'m>(program: &TestedProgram<'m>, input: &MadeInput) -> Option<&'m Function> {
    let mut stubs = stubs_and_callbacks(program.module).filter(|_| input.source == InputSource::External);
    stubs.find(|function| source_name(&function.name) == input.name)
}

fn returned(program: &TestedProgram, data: DataTypeId, input: &MadeInput) -> Option<String> {
    let types = &program.module.types;
    let name = spelled(program, data).ok()?;
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
    let line = format!("INPUT({}, {});", literal::text(&input.title()), bytes.join(", "));
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
