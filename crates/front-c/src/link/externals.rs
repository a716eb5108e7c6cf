//! Functions that the program calls and nobody defines, as sources of inputs.
//!
//! Such a function gets a body that says what it was called with, asks for an input with the function's name and returns
//! it: whatever executes the module then knows what to do, and a test is the list of what the calls returned, and checks
//! what they were called with. It does nothing else: what its
//! arguments lead to stays as it was, and where they lead to something that it may write, anything else is given up. A
//! pointer that it returns is null or unknown.
//!
//! Deliberately left undefined, and so named where it is called: what never returns, what returns something that can't be
//! made of bytes, and what the runner of tests needs itself.

use crate::link::program::{Declaration, LinkedProgram};
use crate::types::ctype::{Type, TypeKind};
use std::collections::BTreeSet;
use std::rc::Rc;
use touchstone_base::{IndexMap, Span};
use touchstone_ir::{
    Block, Builtin, CmpOp, DataType, DataTypeId, DataTypes, Function, FunctionRole, GlobalId, InputSource, Inst,
    InstKind, Operand, RegInfo, TermKind, Terminator, Ty,
};

/// What the runner of emitted tests, or a sanitizer in it, calls: it can't be replaced in the same process.
const OF_THE_RUNNER: &[&str] = &[
    "clock_gettime",
    "close",
    "dup2",
    "fcntl",
    "fork",
    "getrlimit",
    "kill",
    "mmap",
    "munmap",
    "open",
    "pipe",
    "poll",
    "read",
    "setenv",
    "setpgid",
    "setrlimit",
    "sigaction",
    "signal",
    "strsignal",
    "syscall",
    "unsetenv",
    "waitpid",
    "write",
];

/// Gives every type of functions that something points to a function of which nothing else is known.
pub(crate) fn make_callbacks(program: &mut LinkedProgram) {
    let callbacks = declare_callbacks(program);
    give_bodies(program, FunctionRole::Callback, |_, name| callbacks.contains(name));
}

/// Gives every function without a body one that returns an input.
pub(crate) fn make_inputs(program: &mut LinkedProgram) {
    give_bodies(program, FunctionRole::External, |program, name| {
        let known = OF_THE_RUNNER.contains(&name) || name.starts_with("pthread_") || name.starts_with("__");
        !known && !program.endless.contains(name)
    });
}

fn give_bodies(program: &mut LinkedProgram, role: FunctionRole, is_wanted: impl Fn(&LinkedProgram, &str) -> bool) {
    let undefined: Vec<_> = program.functions.iter().filter(|(_, function)| !function.is_defined()).collect();
    let undefined: Vec<_> = undefined.into_iter().map(|(id, function)| (id, function.name.clone())).collect();
    for (id, name) in undefined {
        if !is_wanted(program, &name) {
            continue;
        }
        let mut bytes = name.into_bytes();
        bytes.push(0);
        let character = TypeKind::Int { name: "char", bits: 8, signed: true };
        let text = Type::plain(TypeKind::Array(Rc::new(Type::plain(character)), bytes.len() as u64));
        let span = program.functions[id].span;
        let title = program.literal(bytes, &text, span);
        let function = &mut program.functions[id];
        if let Some(block) = body(function, &program.types.data, title) {
            function.role = role;
            function.blocks = IndexMap::new();
            function.blocks.push(block);
        }
    }
}

/// Gives their names.
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

/// Asks for the result and returns it; `None` if that can't be done.
fn body(function: &mut Function, types: &DataTypes, title: GlobalId) -> Option<Block> {
    let span = function.span;
    let mut insts = Vec::new();
    let mut add = |kind| insts.push(Inst { kind, span });
    let name = function.regs.push(RegInfo { ty: Ty::Ptr, name: None });
    add(InstKind::GlobalAddr { dst: name, global: title });
    let values = function.own_params().iter().map(|param| Operand::Reg(param.reg));
    let args = std::iter::once(Operand::Reg(name)).chain(values).collect();
    add(InstKind::Builtin { dst: None, builtin: Builtin::Called, args });
    if may_write(function, types) {
        add(InstKind::Builtin { dst: None, builtin: Builtin::MayWrite, args: vec![Operand::Reg(name)] });
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

/// Whether an argument is a way to memory that may be written. Variable arguments are taken to be those of a message, unless
/// the name says otherwise; behind a type that nobody knows is nothing of the program's.
fn may_write(function: &Function, types: &DataTypes) -> bool {
    let written = |data: DataTypeId| match &types[data] {
        DataType::Pointer { pointee, to_const: false } => !matches!(types[*pointee], DataType::Opaque { size: 0, .. }),
        DataType::Array { .. } => true,
        DataType::Struct { .. } | DataType::Opaque { .. } => !is_bytes(types, data),
        _ => false,
    };
    let scans = function.variadic && function.name.contains("scan");
    scans || function.own_params().iter().any(|param| written(param.data))
}

/// Whether any bytes of the size make a value: numbers only.
fn is_bytes(types: &DataTypes, data: DataTypeId) -> bool {
    match &types[data] {
        DataType::Int { .. } | DataType::Float { .. } | DataType::Bool { .. } | DataType::Enum { .. } => true,
        DataType::Array { element, .. } => is_bytes(types, *element),
        DataType::Struct { fields, .. } => {
            fields.iter().all(|field| !matches!(types[field.ty], DataType::Bool { .. }) && is_bytes(types, field.ty))
        }
        DataType::Void
        | DataType::Bits { .. }
        | DataType::Pointer { .. }
        | DataType::OneOf { .. }
        | DataType::Opaque { .. } => false,
    }
}
