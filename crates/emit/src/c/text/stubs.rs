//! Stubs of external functions: a stub returns what the test prescribes, call by call, and records its arguments, which
//! the test checks afterwards.
//!
//! A stub takes its type from the program's own declaration if the file has one, so the two cannot contradict each
//! other; the stub's parameters only need the same argument class. Arguments that are structures are not recorded, nor
//! are those of a function that the file does not declare.

use crate::c::syntax::comment::comment_text;
use crate::c::syntax::declarations::CTypes;
use crate::c::syntax::limitation::EmitLimitation;
use crate::c::syntax::literal;
use crate::c::syntax::names::source_name;
use crate::c::text::test_values::ValueWriter;
use crate::c::text::tested_program::TestedProgram;
use std::collections::BTreeSet;
use touchstone_base::float::Format;
use touchstone_base::{Id, Span};
use touchstone_criteria::{ExpectedCall, TestCase};
use touchstone_ir::{
    Builtin, DataType, DataTypeId, DataTypes, DataValue, FuncId, Function, FunctionRole, InputSource, InstKind,
    Linkage, Module, Operand, Param, PointerTarget, reachable_functions,
};

/// The maximum number of calls that a test checks.
const MAX_CALLS_CHECKED: usize = 32;
/// The maximum number of arguments that `touchstone_stubs.h` records per call.
const MAX_ARGUMENTS_RECORDED: usize = 16;

/// Returns the functions of a module that return inputs, in the order of the module.
fn stubbed_functions(module: &Module) -> impl Iterator<Item = &Function> {
    module.functions.values().filter(|function| {
        let answers =
            matches!(function.role, FunctionRole::Environment | FunctionRole::External | FunctionRole::Library);
        answers && function.is_defined() && !function.internal
    })
}

/// Returns the stubbed functions, and the callbacks, which represent any function of their type.
pub(crate) fn stubs_and_callbacks(module: &Module) -> impl Iterator<Item = &Function> {
    stubbed_functions(module).chain(module.functions.values().filter(|function| function.is_callback()))
}

/// Returns true if tests of a function need stubs: the program calls an external function, or the function may receive
/// a pointer to a function outside of the program, possibly through a pointer that is cast.
pub(crate) fn has_stubs(module: &Module, func: FuncId) -> bool {
    let function = &module.functions[func];
    let callbacks = |data| {
        let marks = module.globals.values().filter(move |global| global.data == data);
        marks.filter_map(|global| global.function).any(|id| module.functions[id].is_callback())
    };
    let params = function.params.iter().map(|param| param.data);
    let globals = module.globals.values().filter(|global| {
        let is_visible = matches!(global.linkage, Linkage::External | Linkage::Internal);
        is_visible && global.function.is_none() && !global.constant
    });
    let mut open: Vec<DataTypeId> = params.chain(globals.map(|global| global.data)).collect();
    open.extend(reachable_functions(module, [func]).iter().flat_map(|id| cast_pointees(&module.functions[*id])));
    let mut seen = BTreeSet::new();
    while let Some(data) = open.pop() {
        if !seen.insert(data) {
            continue;
        }
        match &module.types[data] {
            DataType::Pointer { pointee, .. } if callbacks(*pointee) => return true,
            DataType::Pointer { pointee, .. } => open.push(*pointee),
            DataType::Array { element, .. } => open.push(*element),
            DataType::Struct { fields, .. } => open.extend(fields.iter().map(|field| field.ty)),
            _ => {}
        }
    }
    stubbed_functions(module).next().is_some()
}

/// Returns the types that a function casts pointees to.
fn cast_pointees(function: &Function) -> impl Iterator<Item = DataTypeId> {
    function.blocks.values().flat_map(|block| &block.insts).filter_map(|inst| match &inst.kind {
        InstKind::Builtin { builtin: Builtin::CastPointee, args, .. } => match args.as_slice() {
            [_, Operand::Const(_, number)] => usize::try_from(*number).ok().map(DataTypeId::new),
            _ => None,
        },
        _ => None,
    })
}

/// Returns true if the test file declares the function; a name that is only called has no declaration.
fn is_declared(program: &TestedProgram, function: &Function) -> bool {
    function.span != Span::none() && program.visibility.declares(source_name(&function.name))
}

/// Returns lines that give stubs of library functions symbols of their own, for programs of one file. The runner,
/// sanitizers and the library itself still call the library's functions.
pub(crate) fn stub_symbol_names(program: &TestedProgram) -> String {
    let of_library = stubbed_functions(program.module).filter(|function| function.role == FunctionRole::Library);
    let names = of_library.map(|function| source_name(&function.name));
    names.map(|name| format!("#pragma redefine_extname {name} touchstone_stub_of_{name}\n")).collect()
}

/// Returns the definitions of all stubs.
pub(crate) fn stub_text(program: &TestedProgram) -> String {
    let mut text = String::new();
    for function in stubbed_functions(program.module) {
        let name = source_name(&function.name);
        let stub = match (name, spelled_type(program, function.result_data)) {
            ("srand" | "srandom", _) => continue,
            ("time", Ok(_)) => "STUB_TIME(time)".to_string(),
            // Sources of time and randomness: their arguments do not matter.
            (_, Ok(result)) if function.role == FunctionRole::Environment => {
                format!("STUB_OF_THE_WORLD({name}, {result})")
            }
            (_, Ok(result)) if is_declared(program, function) => stub(program.module, function, name, &result),
            (_, Ok(result)) => undeclared(program.module, function, name, &result),
            (_, Err(why)) => format!("/* no stub for {name}: {} */", comment_text(&why.to_string())),
        };
        text.push_str(&stub);
        text.push('\n');
    }
    let include = match program.has_stubs {
        true => "#include \"touchstone_stubs.h\"\n",
        false => return text,
    };
    match text.is_empty() {
        true => include.to_string(),
        false => {
            format!("{include}\n/* Stubs of external functions: each call returns what the test prescribes. */\n{text}")
        }
    }
}

/// Returns the definition of a stub: `STUB(measure, int, (int a1), a1)`
fn stub(module: &Module, function: &Function, name: &str, result: &str) -> String {
    let params = parameters(&module.types, function).unwrap_or_default();
    let (mut types, mut recorded) = (Vec::new(), String::new());
    for (index, param) in params.iter().enumerate() {
        let own = format!("a{}", index + 1);
        recorded.push_str(&format!(", {}", param.recorded(&own)));
        types.push(format!("{}{own}", param.spelling()));
    }
    let types = if types.is_empty() { "void".to_string() } else { types.join(", ") };
    let written = write_macros(&module.types, function, name);
    match result {
        _ if never_returns(function) => format!("STUB_THAT_ENDS({name}, ({types}){recorded})"),
        "void" if written.is_empty() => format!("STUB_OF_NOTHING({name}, ({types}){recorded})"),
        "void" => format!("STUB_THAT_ONLY_WRITES({name}, ({types}), {written}{recorded})"),
        result if function.is_described() => {
            // C90 does not allow empty macro arguments.
            let written = if written.is_empty() { "(void)0;" } else { &written };
            format!("STUB_AS_SAID({name}, {result}, ({types}), {written}{recorded})")
        }
        result if written.is_empty() => format!("STUB({name}, {result}, ({types}){recorded})"),
        result => format!("STUB_THAT_WRITES({name}, {result}, ({types}), {written}{recorded})"),
    }
}

/// Returns the definition of a stub that only another file declares. The notation of its parameters in the test file is
/// unknown, so arguments are not recorded.
fn undeclared(module: &Module, function: &Function, name: &str, result: &str) -> String {
    let params = parameters(&module.types, function).unwrap_or_default();
    let types: Vec<String> =
        params.iter().enumerate().map(|(index, param)| format!("{}a{}", param.spelling(), index + 1)).collect();
    let mut written = write_macros(&module.types, function, name);
    let types = if written.is_empty() { String::new() } else { types.join(", ") };
    if !params.is_empty() || !written.is_empty() {
        written.push(' ');
    }
    let changed = format!("touchstone_changed(\"{name}\"); {written}");
    match result {
        _ if never_returns(function) => format!("void {name}() {{ __builtin_exit(0); }}"),
        "void" => format!("void {name}({types}) {{ {changed}}}"),
        _ if function.is_described() => {
            format!("{result} {name}({types}) {{ ANSWERED({result}, \"{name}\", {changed}) }}")
        }
        _ => format!("{result} {name}({types}) {{ {changed}ANSWER({result}, \"{name}\"); }}"),
    }
}

/// Returns `WRITTEN(fetch, to, a1)` for each parameter with a pointee that the function may write, and `FAILED(fetch)`
/// if it may end the program.
fn write_macros(types: &DataTypes, function: &Function, name: &str) -> String {
    let builtins = || {
        function.blocks.values().flat_map(|block| &block.insts).filter_map(|inst| match &inst.kind {
            InstKind::Builtin { builtin, args, .. } => Some((builtin, args)),
            _ => None,
        })
    };
    let is_written = |param: &Param| {
        builtins().any(|(builtin, args)| {
            let leaves = matches!(builtin, Builtin::HavocPointee | Builtin::RecordEffect(InputSource::Written));
            leaves && args.get(1) == Some(&Operand::Reg(param.reg))
        })
    };
    let named = parameters(types, function).is_some();
    let params = function.own_params().iter().enumerate().filter(|(_, param)| named && is_written(param));
    let ways =
        params.map(|(index, param)| format!("WRITTEN({name}, {}, a{})", parameter_name(index, param), index + 1));
    let fails = builtins().any(|(builtin, _)| *builtin == Builtin::Abort);
    ways.chain(fails.then(|| format!("FAILED({name})"))).collect::<Vec<_>>().join(" ")
}

/// Returns the name of a parameter in prescribed results.
pub(crate) fn parameter_name(index: usize, param: &Param) -> String {
    if param.name.is_empty() { format!("a{}", index + 1) } else { param.name.clone() }
}

fn never_returns(function: &Function) -> bool {
    let mut insts = function.blocks.values().flat_map(|block| &block.insts);
    insts.any(|inst| matches!(inst.kind, InstKind::Builtin { builtin: Builtin::Exit, .. }))
}

/// The class of an argument, which determines how it is passed.
enum ArgumentClass {
    Integer { bits: u8, signed: bool },
    Truth,
    Float(Format),
    Pointer,
}

impl ArgumentClass {
    /// Returns a type of this class, to be followed by a name.
    fn spelling(&self) -> &'static str {
        match self {
            ArgumentClass::Integer { bits: 8, signed: true } => "signed char ",
            ArgumentClass::Integer { bits: 8, signed: false } => "unsigned char ",
            ArgumentClass::Integer { bits: 16, signed: true } => "short ",
            ArgumentClass::Integer { bits: 16, signed: false } => "unsigned short ",
            ArgumentClass::Integer { bits: 32, signed: true } => "int ",
            ArgumentClass::Integer { bits: 32, signed: false } => "unsigned ",
            ArgumentClass::Integer { signed: true, .. } => "long ",
            ArgumentClass::Integer { signed: false, .. } => "unsigned long ",
            ArgumentClass::Truth => "_Bool ",
            ArgumentClass::Float(Format::F32) => "float ",
            ArgumentClass::Float(Format::F64) => "double ",
            ArgumentClass::Pointer => "const void *",
        }
    }

    /// Returns an expression as a recorded or expected argument.
    fn recorded(&self, text: &str) -> String {
        match self {
            ArgumentClass::Integer { .. } | ArgumentClass::Truth => text.to_string(),
            ArgumentClass::Float(_) => format!("REAL({text})"),
            ArgumentClass::Pointer => format!("ADDRESS({text})"),
        }
    }
}

/// Returns the classes of the parameters, or `None` if they cannot be recorded.
fn parameters(types: &DataTypes, function: &Function) -> Option<Vec<ArgumentClass>> {
    let params = function.own_params();
    let passed = |param: &touchstone_ir::Param| match &types[param.data] {
        _ if param.aggregate => None,
        DataType::Int { bits, signed, .. } | DataType::Enum { bits, signed, .. } => {
            Some(ArgumentClass::Integer { bits: *bits, signed: *signed })
        }
        DataType::Bool { .. } => Some(ArgumentClass::Truth),
        DataType::Float { format, .. } => Some(ArgumentClass::Float(*format)),
        DataType::Pointer { .. } | DataType::Array { .. } => Some(ArgumentClass::Pointer),
        DataType::Void
        | DataType::Bits { .. }
        | DataType::Struct { .. }
        | DataType::Union { .. }
        | DataType::OneOf { .. }
        | DataType::Opaque { .. } => None,
    };
    params
        .iter()
        .map(passed)
        .collect::<Option<Vec<ArgumentClass>>>()
        .filter(|params| params.len() <= MAX_ARGUMENTS_RECORDED)
}

/// Returns the definition of a function that represents any function of its type.
pub(crate) fn callback(program: &ValueWriter, function: &Function) -> Result<String, EmitLimitation> {
    let module = program.module;
    let mark = module
        .globals
        .values()
        .find(|global| global.function.is_some_and(|id| std::ptr::eq(&module.functions[id], function)));
    let data = mark.ok_or(EmitLimitation::NothingPointsToIt)?.data;
    let (name, result) = (&function.name, result(function, program.ctypes)?);
    let stub = stub(module, function, name, &result);
    Ok(format!("extern {};\n{stub}", program.ctypes.declare(data, name)?))
}

/// Returns the function's result type, to be followed by a variable name.
fn result(function: &Function, types: &CTypes) -> Result<String, EmitLimitation> {
    types.declare(function.result_data, "")
}

/// Returns a type name that the file declares. A name that only another file declares is replaced by a type that is
/// returned in the same way.
pub(crate) fn spelled_type(program: &TestedProgram, data: DataTypeId) -> Result<String, EmitLimitation> {
    let own = program.ctypes.declare(data, "");
    if own.as_ref().is_ok_and(|name| program.visibility.knows_types_of(name, "")) {
        return own;
    }
    match &program.module.types[data] {
        DataType::Int { bits, signed, .. } | DataType::Enum { bits, signed, .. } => {
            Ok(ArgumentClass::Integer { bits: *bits, signed: *signed }.spelling().trim_end().to_string())
        }
        DataType::Bool { .. } => Ok(ArgumentClass::Truth.spelling().trim_end().to_string()),
        DataType::Float { format, .. } => Ok(ArgumentClass::Float(*format).spelling().trim_end().to_string()),
        DataType::Pointer { .. } => Ok("void *".to_string()),
        _ => Err(EmitLimitation::UnknownResultType),
    }
}

/// Returns `CALLED(measure, 3);` for each recorded call, then the check that there were no others.
pub(crate) fn calls(program: &TestedProgram, values: &mut ValueWriter, test: &TestCase) -> Vec<String> {
    let Some(calls) = test.expected.calls.as_ref().filter(|_| program.has_stubs) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for call in calls {
        let Some(id) = program.module.function_named(&call.function) else { continue };
        let function = &program.module.functions[id];
        if !function.is_callback() && !is_declared(program, function) {
            continue;
        }
        if lines.len() == MAX_CALLS_CHECKED {
            lines.push(format!("/* … and more of {} calls in all */", calls.len()));
            return lines;
        }
        let params = parameters(&program.module.types, function).unwrap_or_default();
        let text: String = params
            .iter()
            .enumerate()
            .map(|(at, param)| format!(", {}", argument(values, function, call, at, param)))
            .collect();
        lines.push(format!("CALLED({}{text});", source_name(&function.name)));
    }
    lines.push("NO_MORE_CALLS();".to_string());
    lines
}

fn argument(
    values: &mut ValueWriter,
    function: &Function,
    call: &ExpectedCall,
    at: usize,
    passed: &ArgumentClass,
) -> String {
    let data = &values.module.types[function.own_params()[at].data];
    let known = match (data, call.arguments.get(at)) {
        (DataType::Float { format, .. }, Some(DataValue::Int(bits))) => Some(literal::float(*format, *bits)),
        (
            DataType::Pointer { pointee: to, .. } | DataType::Array { element: to, .. },
            Some(DataValue::Pointer(target)),
        ) if *target != PointerTarget::Elsewhere => values.pointer(target, *to).ok(),
        (data, Some(DataValue::Int(bits))) => literal::scalar(data, *bits),
        _ => None,
    };
    known.map_or("ANYTHING".to_string(), |text| passed.recorded(&text))
}
