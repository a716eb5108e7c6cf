//! External functions as sources of inputs.
//!
//! An external function gets a body that records its arguments, may write inputs through its pointer parameters,
//! requests an input with the function's name and returns it. So executors treat it like any function, and a test
//! consists of the values that the calls wrote and returned, and checks the arguments. A function that never returns
//! ends the run.
//!
//! Deliberately left undefined, and so unsupported where they are called: library functions on objects that only the
//! library can create (`FILE`), and functions that the test runner itself needs, unless the program is a single file,
//! which has its own stubs.

use crate::link::linked_program::{Declaration, LinkedProgram};
use crate::types::ctype::{Type, TypeKind};
use std::collections::BTreeSet;
use std::rc::Rc;
use touchstone_base::{IndexMap, Span};
use touchstone_ir::{
    BinOp, Block, Builtin, CastOp, CmpOp, DataType, DataTypeId, DataTypes, Function, FunctionRole, GlobalId,
    InputSource, Inst, InstKind, Operand, Param, RegInfo, TermKind, Terminator, Ty,
};

/// Functions that change state which library models read.
const MODEL_STATE_SETTERS: [&str; 2] = ["setenv", "unsetenv"];

/// Functions that the test runner, its sandbox or a sanitizer calls or intercepts: they can't be replaced in the
/// process.
const RUNNER_FUNCTIONS: &[&str] = &[
    "clock_gettime",
    "close",
    "dup2",
    "fcntl",
    "fileno",
    "fork",
    "getcwd",
    "getrlimit",
    "isatty",
    "kill",
    "mmap",
    "munmap",
    "open",
    "pipe",
    "poll",
    "read",
    "remove",
    "rename",
    "setpgid",
    "setrlimit",
    "sigaction",
    "signal",
    "strsignal",
    "syscall",
    "unlink",
    "waitpid",
    "write",
];

/// The number of bytes that may be written through a pointer to bytes without a length parameter.
const BYTES_WITHOUT_LENGTH: u64 = 16;

/// Adds an unknown function of every function type that something points to.
pub(crate) fn add_callbacks(program: &mut LinkedProgram) {
    let callbacks = declare_callbacks(program);
    add_stub_bodies(program, FunctionRole::Callback, |_, function| callbacks.contains(&function.name));
}

/// Gives external functions bodies that return inputs.
pub(crate) fn add_external_inputs(program: &mut LinkedProgram) {
    add_stub_bodies(program, FunctionRole::External, |program, function| {
        let name = function.name.as_str();
        let known = is_runner_function(program, name)
            || MODEL_STATE_SETTERS.contains(&name)
            || name.starts_with("pthread_")
            || name.starts_with("__");
        let own = || program.noreturn.contains(name) || uses_library_objects(function, &program.types.data);
        let stays = known || (program.system_functions.contains(name) && own());
        !stays
    });
}

/// Returns true if the test runner needs the real function.
pub(super) fn is_runner_function(program: &LinkedProgram, name: &str) -> bool {
    RUNNER_FUNCTIONS.contains(&name) && program.given_files > 1
}

fn add_stub_bodies(
    program: &mut LinkedProgram,
    role: FunctionRole,
    is_wanted: impl Fn(&LinkedProgram, &Function) -> bool,
) {
    let undefined: Vec<_> = program.functions.iter().filter(|(_, function)| !function.is_defined()).collect();
    let wanted = undefined.into_iter().filter(|(_, function)| is_wanted(program, function));
    let wanted: Vec<_> = wanted.map(|(id, _)| id).collect();
    for id in wanted {
        let (name, span) = (program.functions[id].name.clone(), program.functions[id].span);
        let title = text(program, name.clone(), span);
        let ways = write_params(&program.functions[id], &program.types.data);
        let ways = ways.into_iter().map(|way| (text(program, format!("{name}.{}", way.name), span), way)).collect();
        let returns = !program.noreturn.contains(&name);
        let asks = StubInputs { title, ways, returns };
        let function = &mut program.functions[id];
        if let Some(block) = body(function, &program.types.data, asks) {
            function.role = match role {
                FunctionRole::External if program.system_functions.contains(&name) => FunctionRole::Library,
                role => role,
            };
            function.blocks = IndexMap::new();
            function.blocks.push(block);
        }
    }
}

/// Returns the global of a string constant.
pub(super) fn text(program: &mut LinkedProgram, text: String, span: Span) -> GlobalId {
    let mut bytes = text.into_bytes();
    bytes.push(0);
    let character = TypeKind::Int { name: "char", bits: 8, signed: true };
    let ty = Type::plain(TypeKind::Array(Rc::new(Type::plain(character)), bytes.len() as u64));
    program.literal(bytes, &ty, span)
}

/// The inputs that the body of a function requests.
struct StubInputs {
    /// The function's name.
    title: GlobalId,
    /// The names of the writes, and their targets.
    ways: Vec<(GlobalId, WriteParam)>,
    /// False if the function never returns.
    returns: bool,
}

/// A pointer parameter through which the function may write.
struct WriteParam {
    name: String,
    to: Operand,
    size: Size,
}

/// The maximum size of a write.
enum Size {
    Bytes(u64),
    /// A number of elements that another parameter holds: its value and type, and the bytes of an element.
    Given(Operand, Ty, u64),
}

/// Declares the callbacks and returns their names.
fn declare_callbacks(program: &mut LinkedProgram) -> BTreeSet<String> {
    let pointee = |data: &DataType| match data {
        DataType::Pointer { pointee, .. } => Some(*pointee),
        _ => None,
    };
    let pointed: BTreeSet<DataTypeId> = program.types.data.values().filter_map(pointee).collect();
    let kinds: Vec<Type> =
        program.types.functions.iter().filter(|(data, _)| pointed.contains(data)).map(|(_, ty)| ty.clone()).collect();
    let mut names = BTreeSet::new();
    for (index, ty) in kinds.into_iter().enumerate() {
        let name = format!("touchstone_callback_{}", index + 1);
        names.insert(name.clone());
        let declaration = Declaration {
            name,
            ty: ty.clone(),
            param_names: Vec::new(),
            span: Span::none(),
            internal: None,
            label: None,
        };
        let id = program.function(&declaration);
        program.function_mark(id, &ty, Span::none());
    }
    names
}

/// Returns a body that requests the writes and the result; `None` if the result can't be an input.
fn body(function: &mut Function, types: &DataTypes, asks: StubInputs) -> Option<Block> {
    let span = function.span;
    let mut insts = Vec::new();
    let mut add = |kind| insts.push(Inst { kind, span });
    let name = function.regs.push(RegInfo { ty: Ty::Ptr, name: None });
    add(InstKind::GlobalAddr { dst: name, global: asks.title });
    let values = function.own_params().iter().map(|param| Operand::Reg(param.reg));
    let args = std::iter::once(Operand::Reg(name)).chain(values).collect();
    add(InstKind::Builtin { dst: None, builtin: Builtin::Called, args });
    if !asks.returns {
        let status = vec![Operand::Const(Ty::I32, 0)];
        add(InstKind::Builtin { dst: None, builtin: Builtin::Exit, args: status });
        let result = function.result.map(|ty| Operand::Const(ty, 0));
        return Some(Block { insts, terminator: Terminator { kind: TermKind::Return(result), span } });
    }
    if writes_untracked(function, types) {
        add(InstKind::Builtin { dst: None, builtin: Builtin::MayWrite, args: vec![Operand::Reg(name)] });
    }
    for (title, way) in asks.ways {
        let name = function.regs.push(RegInfo { ty: Ty::Ptr, name: None });
        add(InstKind::GlobalAddr { dst: name, global: title });
        let size = match way.size {
            Size::Bytes(bytes) => Operand::Const(Ty::I64, bytes),
            Size::Given(count, ty, element) => {
                let mut wide = count;
                if ty != Ty::I64 {
                    let reg = function.regs.push(RegInfo { ty: Ty::I64, name: None });
                    add(InstKind::Cast { dst: reg, op: CastOp::Zext, src: count });
                    wide = Operand::Reg(reg);
                }
                let bytes = function.regs.push(RegInfo { ty: Ty::I64, name: None });
                let element = Operand::Const(Ty::I64, element);
                add(InstKind::Bin { dst: bytes, op: BinOp::Mul, a: wide, b: element });
                Operand::Reg(bytes)
            }
        };
        let args = vec![Operand::Reg(name), way.to, size];
        add(InstKind::Builtin { dst: None, builtin: Builtin::HavocPointee, args });
    }
    let mut returned = None;
    if function.aggregate_result {
        if !is_bytes(types, function.result_data) {
            return None;
        }
        let size = Operand::Const(Ty::I64, types[function.result_data].size(types));
        let args = vec![Operand::Reg(function.params.first()?.reg), size, Operand::Reg(name)];
        add(InstKind::Builtin { dst: None, builtin: Builtin::MakeSymbolic(InputSource::External), args });
    } else if let Some(ty) = function.result {
        let fits = match &types[function.result_data] {
            DataType::Pointer { .. } => ty == Ty::Ptr,
            data => ty != Ty::Ptr && is_bytes(types, function.result_data) && u64::from(ty.bytes()) == data.size(types),
        };
        if !fits {
            return None;
        }
        let value = function.regs.push(RegInfo { ty, name: None });
        let builtin = Builtin::FreshInt(InputSource::External);
        add(InstKind::Builtin { dst: Some(value), builtin, args: vec![Operand::Reg(name)] });
        if matches!(types[function.result_data], DataType::Bool { .. }) {
            let truth = function.regs.push(RegInfo { ty: Ty::I1, name: None });
            add(InstKind::Cmp { dst: truth, op: CmpOp::Ule, a: Operand::Reg(value), b: Operand::Const(ty, 1) });
            add(InstKind::Builtin { dst: None, builtin: Builtin::Assume, args: vec![Operand::Reg(truth)] });
        }
        returned = Some(Operand::Reg(value));
    }
    Some(Block { insts, terminator: Terminator { kind: TermKind::Return(returned), span } })
}

/// Returns the parameters through which the function may write: one object of the type, or as many as a following
/// integer parameter says; [`BYTES_WITHOUT_LENGTH`] bytes without one. A pointee of incomplete type is not the
/// program's.
fn write_params(function: &Function, types: &DataTypes) -> Vec<WriteParam> {
    let params = function.own_params();
    let mut ways = Vec::new();
    if !params.iter().all(|param| is_simple_param(types, param)) {
        return ways;
    }
    for (index, param) in params.iter().enumerate().filter(|(_, param)| !param.aggregate) {
        let to = match &types[param.data] {
            DataType::Pointer { pointee, to_const: false } => *pointee,
            DataType::Array { .. } => param.data,
            _ => continue,
        };
        if is_library_object(types, to) {
            continue;
        }
        let beside =
            params.get(index + 1).filter(|param| matches!(&types[param.data], DataType::Int { bits, .. } if *bits > 8));
        let size = match (&types[to], beside) {
            (DataType::Array { .. }, _) => Size::Bytes(types[to].size(types)),
            (to, Some(count)) if to.size(types) > 0 || matches!(to, DataType::Void) => {
                Size::Given(Operand::Reg(count.reg), function.regs[count.reg].ty, to.size(types).max(1))
            }
            (DataType::Void | DataType::Int { bits: 8, .. }, _) => Size::Bytes(BYTES_WITHOUT_LENGTH),
            (to, _) => Size::Bytes(to.size(types)),
        };
        let name = if param.name.is_empty() { format!("a{}", index + 1) } else { param.name.clone() };
        if !matches!(size, Size::Bytes(0)) {
            ways.push(WriteParam { name, to: Operand::Reg(param.reg), size });
        }
    }
    ways
}

/// Returns true if a stub can declare such a parameter independently of the program's type names.
fn is_simple_param(types: &DataTypes, param: &Param) -> bool {
    let alone = matches!(
        types[param.data],
        DataType::Int { .. }
            | DataType::Enum { .. }
            | DataType::Bool { .. }
            | DataType::Float { .. }
            | DataType::Pointer { .. }
            | DataType::Array { .. }
    );
    alone && !param.aggregate
}

/// Returns true if the function may write memory that no parameter points to directly, or that no stub can write.
/// Variable arguments are assumed to be only read, unless the name contains `scan`.
fn writes_untracked(function: &Function, types: &DataTypes) -> bool {
    let passes_pointers = |data: DataTypeId| match &types[data] {
        DataType::Struct { .. } | DataType::Union { .. } | DataType::Opaque { .. } => !is_bytes(types, data),
        DataType::Pointer { pointee, to_const: false } => !matches!(types[*pointee], DataType::Opaque { size: 0, .. }),
        DataType::Array { .. } => true,
        _ => false,
    };
    let params = function.own_params();
    let scans = function.variadic && function.name.contains("scan");
    let all_seen = params.iter().all(|param| is_simple_param(types, param));
    scans || (!all_seen && params.iter().any(|param| passes_pointers(param.data)))
}

/// Returns true if only the library can create such an object: it is opaque, or has a reserved name and contains more
/// than numbers (`sigset_t` contains only numbers).
fn is_library_object(types: &DataTypes, data: DataTypeId) -> bool {
    if let DataType::Array { element, .. } = &types[data] {
        return is_library_object(types, *element);
    }
    let (DataType::Struct { name, .. } | DataType::Union { name, .. } | DataType::Opaque { name, .. }) = &types[data]
    else {
        return false;
    };
    let tag = name.strip_prefix("struct ").or(name.strip_prefix("union ")).unwrap_or(name);
    (tag.starts_with('_') && !is_bytes(types, data)) || ["FILE", "DIR", "va_list"].contains(&tag)
}

/// Returns true if a function takes or returns objects that only the library can create: `FILE *`.
fn uses_library_objects(function: &Function, types: &DataTypes) -> bool {
    let leads_there = |data: DataTypeId| match &types[data] {
        DataType::Pointer { pointee, .. } => is_library_object(types, *pointee),
        _ => is_library_object(types, data),
    };
    leads_there(function.result_data) || function.own_params().iter().any(|param| leads_there(param.data))
}

/// Returns true if every bit pattern is a value: numbers only.
pub(super) fn is_bytes(types: &DataTypes, data: DataTypeId) -> bool {
    match &types[data] {
        DataType::Int { .. } | DataType::Float { .. } | DataType::Bool { .. } | DataType::Enum { .. } => true,
        DataType::Array { element, .. } => is_bytes(types, *element),
        DataType::Struct { fields, .. } => {
            fields.iter().all(|field| !matches!(types[field.ty], DataType::Bool { .. }) && is_bytes(types, field.ty))
        }
        DataType::Void
        | DataType::Bits { .. }
        | DataType::Pointer { .. }
        | DataType::Union { .. }
        | DataType::OneOf { .. }
        | DataType::Opaque { .. } => false,
    }
}
