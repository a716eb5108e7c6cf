//! Builtins of C: output functions, heap and stack allocation, non-local jumps.
//!
//! They are separate from the builtins of all languages ([`crate::Builtin`]), and so is their implementation in
//! executors (`c` of `interp`, and the `c.rs` files of `engine`).

use crate::{BuiltinEffect, DataType, Ty};

/// A builtin of C.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CBuiltin {
    /// `(ptr format, …) -> i32`: writes to standard output.
    Printf,
    /// `(i32) -> i32`: writes one byte to standard output.
    Putchar,
    /// `(ptr) -> i32`: writes a line to standard output.
    Puts,
    /// `(i32 stream, ptr format, ptr list) -> i32`: writes to standard output (1) or standard error (2); the pointer to the
    /// next argument is at `list`, each takes 8 bytes, and it is moved behind those that are used.
    Vprintf,
    /// `(i64 float, i32 conversion, i32 flags, i32 width, i32 precision, i32 index) -> i32`: a byte of the text that
    /// `printf` makes of a float, -1 behind its end. Flags are 1 for `-`, 2 for `0`, 4 for `+`, 8 for a space and 16 for
    /// `#`; a negative precision is none.
    FloatText,
    /// `(i64 size) -> ptr`: a fresh heap object with undefined bytes. Never fails.
    Malloc,
    /// `(i64 count, i64 size) -> ptr`: a fresh zeroed heap object.
    Calloc,
    /// `(ptr)`: ends the life of a heap object. Null is ignored.
    Free,
    /// `(i64 size) -> ptr`: a fresh object with undefined bytes that dies with its frame, if [`CBuiltin::Release`] does not
    /// end its life before.
    Alloca,
    /// `(ptr)`: ends the life of an object that [`CBuiltin::Alloca`] made. Anything else is left alone.
    Release,
    /// `(ptr function)`: the function (no parameters, no result) runs when the program ends; null: none of those so far.
    AtExit,
    /// `(ptr buffer) -> i32`: 0, and the buffer (8 bytes) then names this place of this call. A resumption goes on here with
    /// another result.
    SetMark,
    /// `(ptr buffer, i32 value)`: leaves calls up to the one that a mark names, and goes on behind its [`CBuiltin::SetMark`],
    /// whose result is the value (1 for 0). Registers and memory stay as they are. Nothing follows.
    Resume,
    /// `(i32 level) -> ptr`: the return address of this call (0), of its caller (1), …: the same number for the same
    /// call site. It points to no object.
    ReturnAddress,
    /// `(ptr) -> i32`: 1 if the object was made as a stream ([`is_stream`]), 0 if it was made as anything else. A run only knows its size.
    IsStream,
    /// `(ptr)`: the byte at the address is accessed. Its value does not matter, so that it may be uninitialised.
    Access,
}

/// Returns true if a type is that of the library's streams.
pub fn is_stream(data: &DataType) -> bool {
    const STREAMS: [&str; 2] = ["struct _IO_FILE", "struct __sFILE"];
    matches!(data, DataType::Struct { name, .. } if STREAMS.contains(&name.as_str()))
}

impl CBuiltin {
    /// Returns the effect besides arguments and result.
    pub fn effect(self) -> BuiltinEffect {
        match self {
            CBuiltin::Malloc | CBuiltin::Calloc | CBuiltin::Alloca => BuiltinEffect::Nothing,
            CBuiltin::Putchar => BuiltinEffect::Environment,
            CBuiltin::Printf | CBuiltin::Puts => BuiltinEffect::OutputsMemory,
            _ => BuiltinEffect::Anything,
        }
    }

    /// The words of the text form.
    pub(crate) const WORDS: [(CBuiltin, &'static str); 16] = [
        (CBuiltin::Printf, "printf"),
        (CBuiltin::Putchar, "putchar"),
        (CBuiltin::Puts, "puts"),
        (CBuiltin::Vprintf, "vprintf"),
        (CBuiltin::FloatText, "float_text"),
        (CBuiltin::Malloc, "malloc"),
        (CBuiltin::Calloc, "calloc"),
        (CBuiltin::Free, "free"),
        (CBuiltin::Alloca, "alloca"),
        (CBuiltin::Release, "release"),
        (CBuiltin::AtExit, "at_exit"),
        (CBuiltin::SetMark, "set_mark"),
        (CBuiltin::Resume, "resume"),
        (CBuiltin::ReturnAddress, "return_address"),
        (CBuiltin::IsStream, "is_stream"),
        (CBuiltin::Access, "access"),
    ];

    /// Returns the word in the text form.
    pub(crate) fn word(self) -> &'static str {
        CBuiltin::WORDS.iter().find(|(known, _)| *known == self).map_or("?", |(_, word)| word)
    }

    /// Parses a word of the text form.
    pub(crate) fn from_word(word: &str) -> Option<CBuiltin> {
        CBuiltin::WORDS.iter().find(|(_, known)| *known == word).map(|(builtin, _)| *builtin)
    }

    /// Returns true if control continues elsewhere, or may return to it: the main loop of an executor handles it.
    pub fn jumps(self) -> bool {
        matches!(self, CBuiltin::SetMark | CBuiltin::Resume)
    }

    /// The types of its arguments, but for those that may follow, and of its result.
    pub(crate) fn signature(self) -> (&'static [Ty], Option<Ty>) {
        use Ty as T;
        match self {
            CBuiltin::Printf | CBuiltin::Puts | CBuiltin::SetMark | CBuiltin::IsStream => (&[T::Ptr], Some(T::I32)),
            CBuiltin::Putchar => (&[T::I32], Some(T::I32)),
            CBuiltin::Vprintf => (&[T::I32, T::Ptr, T::Ptr], Some(T::I32)),
            CBuiltin::FloatText => (&[T::I64, T::I32, T::I32, T::I32, T::I32, T::I32], Some(T::I32)),
            CBuiltin::Malloc | CBuiltin::Alloca => (&[T::I64], Some(T::Ptr)),
            CBuiltin::Calloc => (&[T::I64, T::I64], Some(T::Ptr)),
            CBuiltin::Free | CBuiltin::Release | CBuiltin::AtExit | CBuiltin::Access => (&[T::Ptr], None),
            CBuiltin::Resume => (&[T::Ptr, T::I32], None),
            CBuiltin::ReturnAddress => (&[T::I32], Some(T::Ptr)),
        }
    }

    /// Returns true if arguments may follow, each `i32`, `i64` or `ptr`.
    pub(crate) fn is_variadic(self) -> bool {
        self == CBuiltin::Printf
    }
}
