//! The word of every operation: one table for printer and parser, checked for completeness by the compiler.

use crate::{
    BinOp, BranchRole, Builtin, ByteWrites, CBuiltin, CastOp, CmpOp, DecisionKind, ExprKind, FunctionRole, GlobalRole,
    InputSource, IntKind, JavaBuiltin, Linkage, MemorySharing, PointeeShape,
};
use std::borrow::Cow;
use touchstone_base::float::{Format, Op, Rounding};
use touchstone_base::math::Function;

/// An enumeration that is written as words.
pub(super) trait Word: Copy + Sized + 'static {
    /// Every value.
    const ALL: &'static [Self];
    /// Returns the word in the text form.
    fn word(self) -> &'static str;
    /// Parses a word of the text form.
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
    DecisionKind {
        If => "if", While => "while", For => "for", DoWhile => "do_while", Ternary => "ternary", Value => "value",
    }
    Linkage {
        External => "external", Internal => "internal", Local => "local", Literal => "literal",
        Undefined => "undefined",
    }
    FunctionRole {
        Program => "program", Model => "model", World => "world", Harness => "harness",
        External => "answering", Library => "library", Callback => "callback",
    }
    BranchRole { Condition => "condition", Check => "check", Dispatch => "dispatch" }
    GlobalRole { Variable => "variable", Exposed => "exposed", LeftBehind => "left_behind", Heap => "heap", Runtime => "runtime" }
    IntKind { Number => "number", Character => "character" }
    InputSource {
        Request => "request", External => "external", Argument => "argument", Stdin => "stdin", Variable => "variable",
        Written => "written", Changed => "changed", Chosen => "chosen", Allocation => "allocation",
        Register => "register", Volatile => "volatile", File => "file", Output => "output",
    }
    PointeeShape { Elements => "elements", Text => "text", Arguments => "arguments", Cursor => "cursor" }
    MemorySharing { Parts => "parts", AnyPart => "any_part", Unknown => "unknown", Everything => "everything" }
    ByteWrites { Bytes => "bytes", Anything => "anything" }
}

/// Builtins but those that make inputs, which say where from (`fresh_int_volatile`), and the mathematical functions, which
/// are `math_` with C's name.
const BUILTINS: [(Builtin, &str); 21] = [
    (Builtin::Assume, "assume"),
    (Builtin::Assert, "assert"),
    (Builtin::Allocate, "allocate"),
    (Builtin::ObjectSize, "object_size"),
    (Builtin::Settle, "settle"),
    (Builtin::Look, "look"),
    (Builtin::TakeFor, "take_for"),
    (Builtin::Hang, "hang"),
    (Builtin::Refresh, "refresh"),
    (Builtin::Write, "write"),
    (Builtin::ReadByte, "read_byte"),
    (Builtin::RunOnly, "run_only"),
    (Builtin::MayWrite, "may_write"),
    (Builtin::LetWrite, "let_write"),
    (Builtin::Called, "called"),
    (Builtin::CalledAsSaid, "called_as_said"),
    (Builtin::Unsettled, "unsettled"),
    (Builtin::Exit, "exit"),
    (Builtin::Abort, "abort"),
    (Builtin::ParseFloat(Format::F32), "parse_f32"),
    (Builtin::ParseFloat(Format::F64), "parse_f64"),
];

impl Builtin {
    /// Returns the word in the text form.
    pub(super) fn word(self) -> String {
        match self {
            Builtin::Math(function, format) => format!("math_{}_{format}", function.name()),
            Builtin::MakeSymbolic(source) => from_there("make_symbolic", source),
            Builtin::FreshInt(source) => from_there("fresh_int", source),
            Builtin::Left(source) => from_there("left", source),
            Builtin::C(builtin) => builtin.word().to_string(),
            Builtin::Java(builtin) => builtin.word().to_string(),
            other => BUILTINS.iter().find(|(known, _)| *known == other).map_or("?", |(_, word)| word).to_string(),
        }
    }
    /// Parses a word of the text form.
    pub(super) fn from_word(word: &str) -> Option<Builtin> {
        if let Some((name, format)) = word.strip_prefix("math_").and_then(|rest| rest.split_once('_')) {
            let function = Function::ALL.iter().find(|function| function.name() == name)?;
            return Some(Builtin::Math(*function, Format::from_word(format)?));
        }
        let source = |plain: &str| match word.strip_prefix(plain)? {
            "" => Some(InputSource::Request),
            rest => InputSource::from_word(rest.strip_prefix('_')?),
        };
        if let Some(source) = source("make_symbolic") {
            return Some(Builtin::MakeSymbolic(source));
        }
        if let Some(source) = source("fresh_int") {
            return Some(Builtin::FreshInt(source));
        }
        if let Some(source) = source("left") {
            return Some(Builtin::Left(source));
        }
        let plain = BUILTINS.iter().find(|(_, known)| *known == word).map(|(builtin, _)| *builtin);
        let java = JavaBuiltin::WORDS.iter().find(|(_, known)| *known == word);
        let java = java.map(|(builtin, _)| Builtin::Java(*builtin));
        plain.or(java).or_else(|| CBuiltin::from_word(word).map(Builtin::C))
    }
    /// Every builtin.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Builtin> {
        let formats = |function: &Function| [Format::F32, Format::F64].map(|format| Builtin::Math(*function, format));
        let makes =
            |source: &InputSource| [Builtin::MakeSymbolic(*source), Builtin::FreshInt(*source), Builtin::Left(*source)];
        let plain = BUILTINS
            .iter()
            .map(|(builtin, _)| *builtin)
            .chain(CBuiltin::WORDS.iter().map(|(builtin, _)| Builtin::C(*builtin)))
            .chain(JavaBuiltin::WORDS.iter().map(|(builtin, _)| Builtin::Java(*builtin)));
        plain.chain(InputSource::ALL.iter().flat_map(makes)).chain(Function::ALL.iter().flat_map(formats)).collect()
    }
}

/// The word of a builtin that makes an input.
fn from_there(builtin: &str, source: InputSource) -> String {
    match source {
        InputSource::Request => builtin.to_string(),
        source => format!("{builtin}_{}", source.word()),
    }
}

/// Float operations carry widths and directions, so they have a table of their own.
const FLOAT_OPS: [(Op, &str); 37] = [
    (Op::Add, "add"),
    (Op::Sub, "sub"),
    (Op::Mul, "mul"),
    (Op::Div, "div"),
    (Op::Rem, "rem"),
    (Op::Sqrt, "sqrt"),
    (Op::Fma, "fma"),
    (Op::Eq, "eq"),
    (Op::Lt, "lt"),
    (Op::Le, "le"),
    (Op::Round(Rounding::Floor), "floor"),
    (Op::Round(Rounding::Ceil), "ceil"),
    (Op::Round(Rounding::Trunc), "trunc"),
    (Op::Round(Rounding::Even), "even"),
    (Op::Round(Rounding::Away), "away"),
    (Op::Convert(Format::F32), "to_f32"),
    (Op::Convert(Format::F64), "to_f64"),
    (Op::FromSigned(8), "from_i8"),
    (Op::FromSigned(16), "from_i16"),
    (Op::FromSigned(32), "from_i32"),
    (Op::FromSigned(64), "from_i64"),
    (Op::FromUnsigned(8), "from_u8"),
    (Op::FromUnsigned(16), "from_u16"),
    (Op::FromUnsigned(32), "from_u32"),
    (Op::FromUnsigned(64), "from_u64"),
    (Op::ToSigned(8), "to_i8"),
    (Op::ToSigned(16), "to_i16"),
    (Op::ToSigned(32), "to_i32"),
    (Op::ToSigned(64), "to_i64"),
    (Op::ToUnsigned(8), "to_u8"),
    (Op::ToUnsigned(16), "to_u16"),
    (Op::ToUnsigned(32), "to_u32"),
    (Op::ToUnsigned(64), "to_u64"),
    (Op::Saturate(8), "saturate_i8"),
    (Op::Saturate(16), "saturate_i16"),
    (Op::Saturate(32), "saturate_i32"),
    (Op::Saturate(64), "saturate_i64"),
];

impl Word for Op {
    const ALL: &'static [Op] = &{
        let mut all = [Op::Add; FLOAT_OPS.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = FLOAT_OPS[index].0;
            index += 1;
        }
        all
    };
    fn word(self) -> &'static str {
        FLOAT_OPS.iter().find(|(op, _)| *op == self).map_or("bad_width", |(_, word)| word)
    }
}

impl Word for Format {
    const ALL: &'static [Format] = &[Format::F32, Format::F64];
    fn word(self) -> &'static str {
        match self {
            Format::F32 => "f32",
            Format::F64 => "f64",
        }
    }
}

/// The operation of a pure expression that is no leaf.
#[derive(Clone, Copy)]
pub(super) enum ExprOp {
    Load,
    Bin(BinOp),
    Cmp(CmpOp),
    Cast(CastOp),
    Float(Op, Format),
    AsFloat(Format),
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
            ExprKind::Float(op, format, _) => Some(ExprOp::Float(*op, *format)),
            ExprKind::AsFloat(format, _) => Some(ExprOp::AsFloat(*format)),
            ExprKind::PtrAdd(..) => Some(ExprOp::PtrAdd),
            ExprKind::Not(_) => Some(ExprOp::Not),
            ExprKind::And(..) => Some(ExprOp::And),
            ExprKind::Or(..) => Some(ExprOp::Or),
            ExprKind::Ite(..) => Some(ExprOp::Ite),
        }
    }

    /// Returns the word in the text form. `and` and `or` are bitwise; the short-circuit operators have longer words.
    pub fn word(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            ExprOp::Float(op, format) => return Cow::Owned(format!("{format}_{}", op.word())),
            ExprOp::AsFloat(Format::F32) => "as_f32",
            ExprOp::AsFloat(Format::F64) => "as_f64",
            ExprOp::Load => "load",
            ExprOp::Bin(op) => op.word(),
            ExprOp::Cmp(op) => op.word(),
            ExprOp::Cast(op) => op.word(),
            ExprOp::PtrAdd => "ptr_add",
            ExprOp::Not => "not",
            ExprOp::And => "and_then",
            ExprOp::Or => "or_else",
            ExprOp::Ite => "ite",
        })
    }

    /// Parses a word of the text form.
    pub fn from_word(word: &str) -> Option<ExprOp> {
        let plain = [ExprOp::Load, ExprOp::PtrAdd, ExprOp::Not, ExprOp::And, ExprOp::Or, ExprOp::Ite];
        let floats = Format::ALL.iter().map(|&format| ExprOp::AsFloat(format));
        let found = plain.into_iter().chain(floats).find(|op| op.word() == word);
        found
            .or_else(|| BinOp::from_word(word).map(ExprOp::Bin))
            .or_else(|| CmpOp::from_word(word).map(ExprOp::Cmp))
            .or_else(|| CastOp::from_word(word).map(ExprOp::Cast))
            .or_else(|| {
                let (format, op) = word.split_once('_')?;
                Some(ExprOp::Float(Op::from_word(op)?, Format::from_word(format)?))
            })
    }
}
