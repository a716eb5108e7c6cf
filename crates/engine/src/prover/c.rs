//! The effects of C builtins on abstract states.

use touchstone_ir::CBuiltin;

/// The effect of a builtin.
pub(crate) enum CBuiltinEffect {
    /// Control does not continue.
    Ends,
    /// Only the result is new.
    Result,
    /// Memory may change.
    Memory,
}

/// Returns the effect of a builtin.
pub(crate) fn effect(builtin: CBuiltin) -> CBuiltinEffect {
    match builtin {
        CBuiltin::Resume => CBuiltinEffect::Ends,
        CBuiltin::Putchar
        | CBuiltin::Puts
        | CBuiltin::Release
        | CBuiltin::FloatText
        | CBuiltin::IsStream
        | CBuiltin::Access => CBuiltinEffect::Result,
        CBuiltin::Printf
        | CBuiltin::Vprintf
        | CBuiltin::SetMark
        | CBuiltin::ReturnAddress
        | CBuiltin::AtExit
        | CBuiltin::Malloc
        | CBuiltin::Calloc
        | CBuiltin::Free
        | CBuiltin::Alloca => CBuiltinEffect::Memory,
    }
}

/// Returns true if a builtin produces output, which may fail and set the error number.
pub(crate) fn is_output(builtin: CBuiltin) -> bool {
    matches!(builtin, CBuiltin::Printf | CBuiltin::Vprintf | CBuiltin::Putchar | CBuiltin::Puts)
}

/// The memory that a builtin writes in a loop.
pub(crate) enum CBuiltinWrites {
    Nothing,
    /// The pointee of this argument.
    Behind(usize),
    /// Unknown memory.
    Unknown,
}

/// Returns the memory that a builtin writes in each iteration.
pub(crate) fn writes(builtin: CBuiltin) -> CBuiltinWrites {
    match builtin {
        // It advances the pointer to the next argument.
        CBuiltin::Vprintf => CBuiltinWrites::Behind(2),
        // Objects freed in one iteration are dead in the next; effects at program exit or in other code are not
        // modelled. An allocation may set the error number.
        CBuiltin::Free
        | CBuiltin::Release
        | CBuiltin::AtExit
        | CBuiltin::Malloc
        | CBuiltin::Calloc
        | CBuiltin::SetMark
        | CBuiltin::Resume
        | CBuiltin::ReturnAddress => CBuiltinWrites::Unknown,
        CBuiltin::Printf
        | CBuiltin::Putchar
        | CBuiltin::Puts
        | CBuiltin::Alloca
        | CBuiltin::IsStream
        | CBuiltin::Access
        | CBuiltin::FloatText => CBuiltinWrites::Nothing,
    }
}

/// Returns true if control may be resumed here.
pub(crate) fn is_mark(builtin: CBuiltin) -> bool {
    builtin == CBuiltin::SetMark
}

/// Returns true if a builtin ends the lifetime of an object.
pub(crate) fn ends_a_life(builtin: CBuiltin) -> bool {
    matches!(builtin, CBuiltin::Free | CBuiltin::Release)
}
