//! The word of every operation: one table for printer and parser, checked for completeness by the compiler.

use crate::{BinOp, Builtin, CastOp, CmpOp, DecisionKind, Linkage};

/// An enumeration that is written as words.
pub(super) trait Word: Copy + Sized + 'static {
    /// Every value.
    const ALL: &'static [Self];
    /// How it is written.
    fn word(self) -> &'static str;
    /// What a word means.
    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.word() == word)
    }
}

macro_rules! words {
    ($($ty:ident { $($variant:ident => $word:literal),* $(,)? })*) => {
        $(impl Word for $ty {
            const ALL: &'static [$ty] = &[$($ty::$variant),*];
            fn word(self) -> &'static str {
                match self { $($ty::$variant => $word),* }
            }
        })*
    };
}

words! {
    BinOp {
        Add => "add", Sub => "sub", Mul => "mul", UDiv => "udiv", SDiv => "sdiv", URem => "urem", SRem => "srem",
        And => "and", Or => "or", Xor => "xor", Shl => "shl", LShr => "lshr", AShr => "ashr",
    }
    CmpOp { Eq => "eq", Ne => "ne", Ult => "ult", Ule => "ule", Slt => "slt", Sle => "sle" }
    CastOp {
        Zext => "zext", Sext => "sext", Trunc => "trunc", PtrToInt => "ptr_to_int", IntToPtr => "int_to_ptr",
    }
    Builtin {
        MakeSymbolic => "make_symbolic", FreshInt => "fresh_int", Assume => "assume", Assert => "assert",
        Printf => "printf", Putchar => "putchar", Puts => "puts", Malloc => "malloc", Calloc => "calloc",
        Free => "free", Exit => "exit", Abort => "abort",
    }
    DecisionKind {
        If => "if", While => "while", For => "for", DoWhile => "do_while", Ternary => "ternary", Value => "value",
    }
    Linkage {
        External => "external", Internal => "internal", Local => "local", Literal => "literal",
        Undefined => "undefined",
    }
}
