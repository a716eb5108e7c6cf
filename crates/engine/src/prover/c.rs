//! What builtins of C do to what a proof knows.

use touchstone_ir::CBuiltin;

/// What becomes of a state.
pub(crate) enum Effect {
    /// Nothing follows.
    Ends,
    /// Only the result is new.
    Result,
    /// Memory may be another.
    Memory,
}

/// What a builtin does to a state.
pub(crate) fn effect(builtin: CBuiltin) -> Effect {
    match builtin {
        CBuiltin::Resume => Effect::Ends,
        CBuiltin::Putchar | CBuiltin::Puts | CBuiltin::Release | CBuiltin::FloatText | CBuiltin::IsStream => {
            Effect::Result
        }
        CBuiltin::Printf
        | CBuiltin::Vprintf
        | CBuiltin::SetMark
        | CBuiltin::ReturnAddress
        | CBuiltin::AtExit
        | CBuiltin::Malloc
        | CBuiltin::Calloc
        | CBuiltin::Free
        | CBuiltin::Alloca => Effect::Memory,
    }
}

/// Whether it writes for others to read, which may fail and leave an error number.
pub(crate) fn is_output(builtin: CBuiltin) -> bool {
    matches!(builtin, CBuiltin::Printf | CBuiltin::Vprintf | CBuiltin::Putchar | CBuiltin::Puts)
}

/// What a builtin writes in a loop.
pub(crate) enum Writes {
    Nothing,
    /// What this argument leads to.
    Behind(usize),
    /// That is not followed.
    Unknown,
}

/// What a builtin writes in each iteration.
pub(crate) fn writes(builtin: CBuiltin) -> Writes {
    match builtin {
        // It moves the pointer to the next argument.
        CBuiltin::Vprintf => Writes::Behind(2),
        // What dies in one iteration is dead in the next; what happens at the end, or what others do, is not followed. An
        // allocation may leave an error number.
        CBuiltin::Free
        | CBuiltin::Release
        | CBuiltin::AtExit
        | CBuiltin::Malloc
        | CBuiltin::Calloc
        | CBuiltin::SetMark
        | CBuiltin::Resume
        | CBuiltin::ReturnAddress => Writes::Unknown,
        CBuiltin::Printf
        | CBuiltin::Putchar
        | CBuiltin::Puts
        | CBuiltin::Alloca
        | CBuiltin::IsStream
        | CBuiltin::FloatText => Writes::Nothing,
    }
}

/// Whether control may come back to it.
pub(crate) fn is_mark(builtin: CBuiltin) -> bool {
    builtin == CBuiltin::SetMark
}

/// Whether it ends the life of an object.
pub(crate) fn ends_a_life(builtin: CBuiltin) -> bool {
    matches!(builtin, CBuiltin::Free | CBuiltin::Release)
}
