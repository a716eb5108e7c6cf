//! The word of every operation: one table for printer and parser, checked for completeness by the compiler.

use crate::{BinOp, Builtin, CastOp, CmpOp, DecisionKind, ExprKind, Linkage};

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
        Free => "free", Alloca => "alloca", Release => "release", ObjectSize => "object_size", Settle => "settle",
        Vprintf => "vprintf", Exit => "exit", Abort => "abort",
    }
    DecisionKind {
        If => "if", While => "while", For => "for", DoWhile => "do_while", Ternary => "ternary", Value => "value",
    }
    Linkage {
        External => "external", Internal => "internal", Local => "local", Literal => "literal",
        Undefined => "undefined",
    }
}

/// The operation of a pure expression that is no leaf.
#[derive(Clone, Copy)]
pub(super) enum ExprOp {
    Load,
    Bin(BinOp),
    Cmp(CmpOp),
    Cast(CastOp),
    PtrAdd,
    Not,
    And,
    Or,
    Ite,
}

impl ExprOp {
    /// The operation of an expression; none for a leaf.
    pub fn of(kind: &ExprKind) -> Option<ExprOp> {
        match kind {
            ExprKind::Const(_) | ExprKind::Reg(_) | ExprKind::Slot(_) | ExprKind::Global(_) => None,
            ExprKind::Load(_) => Some(ExprOp::Load),
            ExprKind::Bin(op, ..) => Some(ExprOp::Bin(*op)),
            ExprKind::Cmp(op, ..) => Some(ExprOp::Cmp(*op)),
            ExprKind::Cast(op, _) => Some(ExprOp::Cast(*op)),
            ExprKind::PtrAdd(..) => Some(ExprOp::PtrAdd),
            ExprKind::Not(_) => Some(ExprOp::Not),
            ExprKind::And(..) => Some(ExprOp::And),
            ExprKind::Or(..) => Some(ExprOp::Or),
            ExprKind::Ite(..) => Some(ExprOp::Ite),
        }
    }

    /// How it is written. `and` and `or` are those of bits, so the short-circuit ones have longer words.
    pub fn word(self) -> &'static str {
        match self {
            ExprOp::Load => "load",
            ExprOp::Bin(op) => op.word(),
            ExprOp::Cmp(op) => op.word(),
            ExprOp::Cast(op) => op.word(),
            ExprOp::PtrAdd => "ptr_add",
            ExprOp::Not => "not",
            ExprOp::And => "and_then",
            ExprOp::Or => "or_else",
            ExprOp::Ite => "ite",
        }
    }

    /// What a word means.
    pub fn from_word(word: &str) -> Option<ExprOp> {
        let plain = [ExprOp::Load, ExprOp::PtrAdd, ExprOp::Not, ExprOp::And, ExprOp::Or, ExprOp::Ite];
        let found = plain.into_iter().find(|op| op.word() == word);
        found
            .or_else(|| BinOp::from_word(word).map(ExprOp::Bin))
            .or_else(|| CmpOp::from_word(word).map(ExprOp::Cmp))
            .or_else(|| CastOp::from_word(word).map(ExprOp::Cast))
    }
}
