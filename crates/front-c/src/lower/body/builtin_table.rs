//! The table of recognised functions: names that are lowered to builtins or instructions instead of calls.
//!
//! One function per concept; each is a flat table. Deliberately not here: functions with a model in C (`link/models.rs`).

use crate::lower::numbers::math_calls::{self, Classify, Math};
use touchstone_base::float::Format;
use touchstone_ir::{BinOp, Builtin, CBuiltin, InputSource, Ty};

/// The lowering of a recognised function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BuiltinCall {
    /// A builtin with these argument types and this result.
    Direct(Builtin, &'static [Ty], Option<Ty>),
    /// A builtin that does not return.
    NoReturn(Builtin, &'static [Ty]),
    /// Only the arguments are evaluated.
    ArgumentsOnly,
    /// The arguments are not evaluated.
    Unevaluated,
    Assume,
    Assert,
    AssertFail,
    KleeRange,
    /// The first argument, which the compiler may optimise for.
    Expect,
    Unreachable,
    ConstantP,
    TypeClass,
    ObjectSize,
    ReturnAddress,
    SetJump,
    Copy,
    Set,
    VaStart,
    VaCopy,
    Printf,
    Vprintf,
    Overflow(BinOp),
    Math(Math, Format),
    Classify(Classify),
    /// `ilogbl`.
    LongExponent,
    /// Unsupported; the argument names the construct.
    Unsupported,
}

const PTR: Ty = Ty::Ptr;

/// Returns the lowering of a function, if its name is recognised.
pub(super) fn builtin_call(name: &str) -> Option<BuiltinCall> {
    harness(name)
        .or_else(|| library(name))
        .or_else(|| model_support(name))
        .or_else(|| compiler(name))
        .or_else(|| overflow(name).map(BuiltinCall::Overflow))
        .or_else(|| math_calls::classification(name).map(BuiltinCall::Classify))
        .or_else(|| math_calls::known(name).map(|(math, format)| BuiltinCall::Math(math, format)))
}

/// Returns the lowering of an output function with an unused result.
pub(super) fn quiet_output(name: &str) -> Option<BuiltinCall> {
    Some(match name {
        "printf" => BuiltinCall::Printf,
        "putchar" => BuiltinCall::Direct(Builtin::C(CBuiltin::Putchar), &[Ty::I32], Some(Ty::I32)),
        "puts" => BuiltinCall::Direct(Builtin::C(CBuiltin::Puts), &[Ty::Ptr], None),
        _ => return None,
    })
}

/// Functions of test harnesses: Touchstone's own, KLEE's and those of SV-COMP.
fn harness(name: &str) -> Option<BuiltinCall> {
    let request = Builtin::FreshInt(InputSource::Request);
    Some(match name {
        "klee_make_symbolic" | "touchstone_symbolic" => input_bytes(InputSource::Request),
        "klee_int" => BuiltinCall::Direct(request, &[PTR], Some(Ty::I32)),
        "touchstone_pointer" => BuiltinCall::Direct(request, &[PTR], Some(PTR)),
        "klee_range" => BuiltinCall::KleeRange,
        "klee_assume" | "touchstone_assume" | "__VERIFIER_assume" => BuiltinCall::Assume,
        "touchstone_assert" | "__VERIFIER_assert" => BuiltinCall::Assert,
        "__VERIFIER_error" | "reach_error" | "klee_abort" | "klee_report_error" => {
            BuiltinCall::NoReturn(Builtin::Abort, &[])
        }
        "klee_silent_exit" => BuiltinCall::NoReturn(Builtin::Exit, &[Ty::I32]),
        "klee_prefer_cex"
        | "klee_posix_prefer_cex"
        | "klee_mark_global"
        | "klee_set_forking"
        | "klee_open_merge"
        | "klee_close_merge"
        | "klee_warning"
        | "klee_warning_once"
        | "klee_print_expr"
        | "klee_print_range"
        | "klee_stack_trace"
        | "__VERIFIER_atomic_begin"
        | "__VERIFIER_atomic_end"
        | "touchstone_test_begin" => BuiltinCall::ArgumentsOnly,
        _ => return None,
    })
}

/// Functions of the C library.
fn library(name: &str) -> Option<BuiltinCall> {
    Some(match name {
        "__assert_fail" => BuiltinCall::AssertFail,
        "abort" | "__builtin_abort" | "__builtin_trap" => BuiltinCall::NoReturn(Builtin::Abort, &[]),
        "exit" | "__builtin_exit" => BuiltinCall::NoReturn(Builtin::Exit, &[Ty::I32]),
        "malloc" | "__builtin_malloc" => BuiltinCall::Direct(Builtin::C(CBuiltin::Malloc), &[Ty::I64], Some(PTR)),
        "calloc" | "__builtin_calloc" => {
            BuiltinCall::Direct(Builtin::C(CBuiltin::Calloc), &[Ty::I64, Ty::I64], Some(PTR))
        }
        "free" | "__builtin_free" => BuiltinCall::Direct(Builtin::C(CBuiltin::Free), &[PTR], None),
        "alloca" | "__builtin_alloca" => BuiltinCall::Direct(Builtin::C(CBuiltin::Alloca), &[Ty::I64], Some(PTR)),
        "memcpy" | "memmove" | "__builtin_memcpy" | "__builtin_memmove" => BuiltinCall::Copy,
        "memset" | "__builtin_memset" => BuiltinCall::Set,
        "setjmp" | "_setjmp" | "__sigsetjmp" | "sigsetjmp" | "__builtin_setjmp" => BuiltinCall::SetJump,
        "longjmp" | "siglongjmp" | "_longjmp" | "__builtin_longjmp" => {
            BuiltinCall::NoReturn(Builtin::C(CBuiltin::Resume), &[PTR, Ty::I32])
        }
        "ilogbl" | "__builtin_ilogbl" => BuiltinCall::LongExponent,
        _ => return None,
    })
}

/// Functions that only library models call.
fn model_support(name: &str) -> Option<BuiltinCall> {
    Some(match name {
        "touchstone_given_answer" => input_bytes(InputSource::External),
        "touchstone_given_stdin" => input_bytes(InputSource::Stdin),
        "touchstone_given_file" => input_bytes(InputSource::File),
        "touchstone_given_output" => input_bytes(InputSource::Output),
        "touchstone_given_variable" => input_bytes(InputSource::Variable),
        "touchstone_at_exit" => BuiltinCall::Direct(Builtin::C(CBuiltin::AtExit), &[PTR], None),
        "touchstone_unspecified" => BuiltinCall::Direct(Builtin::Unspecified, &[PTR, Ty::I32], Some(Ty::I32)),
        "touchstone_unspecified_size" => BuiltinCall::Direct(Builtin::Unspecified, &[PTR, Ty::I64], Some(Ty::I64)),
        "touchstone_run_only" => BuiltinCall::Direct(Builtin::RunOnly, &[PTR], None),
        "touchstone_write" => BuiltinCall::Direct(Builtin::Write, &[Ty::I32, PTR, Ty::I64], None),
        "touchstone_read_byte" => BuiltinCall::Direct(Builtin::ReadByte, &[], Some(Ty::I32)),
        "touchstone_float_text" => BuiltinCall::Direct(
            Builtin::C(CBuiltin::FloatText),
            &[Ty::I64, Ty::I32, Ty::I32, Ty::I32, Ty::I32, Ty::I32],
            Some(Ty::I32),
        ),
        "touchstone_vprintf" => BuiltinCall::Vprintf,
        "touchstone_refuse" => BuiltinCall::Unsupported,
        "touchstone_allocate" => BuiltinCall::Direct(Builtin::Allocate, &[Ty::I64], Some(PTR)),
        "touchstone_parse" => BuiltinCall::Direct(Builtin::ParseFloat(Format::F64), &[PTR, Ty::I64], Some(Ty::I64)),
        "touchstone_parsef" => BuiltinCall::Direct(Builtin::ParseFloat(Format::F32), &[PTR, Ty::I64], Some(Ty::I32)),
        "touchstone_access" => BuiltinCall::Direct(Builtin::C(CBuiltin::Access), &[PTR], None),
        "touchstone_is_stream" => BuiltinCall::Direct(Builtin::C(CBuiltin::IsStream), &[PTR], Some(Ty::I32)),
        "touchstone_object_size" => BuiltinCall::Direct(Builtin::ObjectSize, &[PTR], Some(Ty::I64)),
        _ => return None,
    })
}

/// Compiler builtins that are no functions of the library.
fn compiler(name: &str) -> Option<BuiltinCall> {
    Some(match name {
        "__builtin_expect"
        | "__builtin_expect_with_probability"
        | "__builtin_assume_aligned"
        | "__builtin_extract_return_addr"
        | "__builtin_frob_return_addr" => BuiltinCall::Expect,
        "__builtin_assume" | "__assume" => BuiltinCall::Unevaluated,
        "__builtin_prefetch" | "__builtin_va_end" => BuiltinCall::ArgumentsOnly,
        "__builtin_unreachable" => BuiltinCall::Unreachable,
        "__builtin_constant_p" => BuiltinCall::ConstantP,
        "__builtin_classify_type" => BuiltinCall::TypeClass,
        "__builtin_va_start" => BuiltinCall::VaStart,
        "__builtin_va_copy" => BuiltinCall::VaCopy,
        "__builtin_return_address" => BuiltinCall::ReturnAddress,
        "__builtin_object_size" | "__builtin_dynamic_object_size" => BuiltinCall::ObjectSize,
        _ => return None,
    })
}

/// Returns the operation of a builtin for checked arithmetic.
fn overflow(name: &str) -> Option<BinOp> {
    let operation = name.strip_prefix("__builtin_")?.strip_suffix("_overflow")?;
    Some(match operation {
        "add" | "sadd" | "saddl" | "saddll" | "uadd" | "uaddl" | "uaddll" => BinOp::Add,
        "sub" | "ssub" | "ssubl" | "ssubll" | "usub" | "usubl" | "usubll" => BinOp::Sub,
        "mul" | "smul" | "smull" | "smulll" | "umul" | "umull" | "umulll" => BinOp::Mul,
        _ => return None,
    })
}

/// A request for input bytes of a source.
fn input_bytes(source: InputSource) -> BuiltinCall {
    BuiltinCall::Direct(Builtin::MakeSymbolic(source), &[Ty::Ptr, Ty::I64, Ty::Ptr], None)
}
