//! Builtins of Java: strings in the representation of its class library.
//!
//! All other natives are functions that the front end builds from instructions.

use crate::{BuiltinEffect, Ty};

/// A builtin of Java.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum JavaBuiltin {
    /// `(i32 stream, ptr bytes, i64 size, i32 coder)`: writes a text as UTF-8 to standard output (1) or standard error (2). The
    /// bytes are Latin-1 (coder 0) or UTF-16 (1).
    WriteText,
    /// `(ptr bytes, i64 size, i32 coder) -> ptr`: the one string object with this text.
    Intern,
    /// `(ptr bytes, i64 size, i32 coder) -> ptr`: the class object of the class with this name; null if there is none.
    ClassNamed,
}

impl JavaBuiltin {
    /// Returns the effect besides arguments and result.
    pub fn effect(self) -> BuiltinEffect {
        match self {
            JavaBuiltin::WriteText => BuiltinEffect::OutputsMemory,
            JavaBuiltin::Intern | JavaBuiltin::ClassNamed => BuiltinEffect::Anything,
        }
    }

    /// The words of the text form.
    pub(crate) const WORDS: [(JavaBuiltin, &'static str); 3] = [
        (JavaBuiltin::WriteText, "java_write_text"),
        (JavaBuiltin::Intern, "java_intern"),
        (JavaBuiltin::ClassNamed, "java_class_named"),
    ];

    /// Returns the word in the text form.
    pub(crate) fn word(self) -> &'static str {
        JavaBuiltin::WORDS.iter().find(|(known, _)| *known == self).map_or("?", |(_, word)| word)
    }

    /// The types of its arguments and of its result.
    pub(crate) fn signature(self) -> (&'static [Ty], Option<Ty>) {
        match self {
            JavaBuiltin::WriteText => (&[Ty::I32, Ty::Ptr, Ty::I64, Ty::I32], None),
            JavaBuiltin::Intern | JavaBuiltin::ClassNamed => (&[Ty::Ptr, Ty::I64, Ty::I32], Some(Ty::Ptr)),
        }
    }
}
