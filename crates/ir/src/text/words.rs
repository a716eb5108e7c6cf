//! The word of every operation: one table for printer and parser, checked for completeness by the compiler.

use crate::{
    BinOp, BranchRole, Builtin, ByteWrites, CBuiltin, CastOp, CmpOp, DecisionKind, ExprKind, FunctionRole, GlobalRole,
    InputSource, IntKind, JavaBuiltin, Linkage, MemorySharing, PointeeShape,
};
use std::borrow::Cow;
use touchstone_base::float::{FloatOp, Format, Rounding};
use touchstone_base::math::MathFunction;

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
        Program => "program", Model => "model", Environment => "environment", Harness => "harness",
        External => "answering", Library => "library", Callback => "callback",
    }
    BranchRole { Condition => "condition", Check => "check", Dispatch => "dispatch" }
    GlobalRole { Variable => "variable", Exposed => "exposed", LibraryState => "library_state", Heap => "heap", Runtime => "runtime" }
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
    (Builtin::ZeroUninitialised, "zero_uninitialised"),
    (Builtin::ObserveMember, "observe_member"),
    (Builtin::CastPointee, "cast_pointee"),
    (Builtin::Hang, "hang"),
    (Builtin::Refresh, "refresh"),
    (Builtin::Write, "write"),
    (Builtin::ReadByte, "read_byte"),
    (Builtin::RunOnly, "run_only"),
    (Builtin::MayWrite, "may_write"),
    (Builtin::HavocPointee, "havoc_pointee"),
    (Builtin::Called, "called"),
    (Builtin::CalledAsSpecified, "called_as_specified"),
    (Builtin::Unspecified, "unspecified"),
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
            Builtin::RecordEffect(source) => from_there("record_effect", source),
            Builtin::C(builtin) => builtin.word().to_string(),
            Builtin::Java(builtin) => builtin.word().to_string(),
            other => BUILTINS.iter().find(|(known, _)| *known == other).map_or("?", |(_, word)| word).to_string(),
        }
    }
    /// Parses a word of the text form.
    pub(super) fn from_word(word: &str) -> Option<Builtin> {
        if let Some((name, format)) = word.strip_prefix("math_").and_then(|rest| rest.split_once('_')) {
            let function = MathFunction::ALL.iter().find(|function| function.name() == name)?;
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
        if let Some(source) = source("record_effect") {
            return Some(Builtin::RecordEffect(source));
        }
        let plain = BUILTINS.iter().find(|(_, known)| *known == word).map(|(builtin, _)| *builtin);
        let java = JavaBuiltin::WORDS.iter().find(|(_, known)| *known == word);
        let java = java.map(|(builtin, _)| Builtin::Java(*builtin));
        plain.or(java).or_else(|| CBuiltin::from_word(word).map(Builtin::C))
    }
    /// Every builtin.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Builtin> {
        let formats =
            |function: &MathFunction| [Format::F32, Format::F64].map(|format| Builtin::Math(*function, format));
        let makes = |source: &InputSource| {
            [Builtin::MakeSymbolic(*source), Builtin::FreshInt(*source), Builtin::RecordEffect(*source)]
        };
        let plain = BUILTINS
            .iter()
            .map(|(builtin, _)| *builtin)
            .chain(CBuiltin::WORDS.iter().map(|(builtin, _)| Builtin::C(*builtin)))
            .chain(JavaBuiltin::WORDS.iter().map(|(builtin, _)| Builtin::Java(*builtin)));
        plain.chain(InputSource::ALL.iter().flat_map(makes)).chain(MathFunction::ALL.iter().flat_map(formats)).collect()
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
const FLOAT_OPS: [(FloatOp, &str); 37] = [
    (FloatOp::Add, "add"),
    (FloatOp::Sub, "sub"),
    (FloatOp::Mul, "mul"),
    (FloatOp::Div, "div"),
    (FloatOp::Rem, "rem"),
    (FloatOp::Sqrt, "sqrt"),
    (FloatOp::Fma, "fma"),
    (FloatOp::Eq, "eq"),
    (FloatOp::Lt, "lt"),
    (FloatOp::Le, "le"),
    (FloatOp::Round(Rounding::Floor), "floor"),
    (FloatOp::Round(Rounding::Ceil), "ceil"),
    (FloatOp::Round(Rounding::Trunc), "trunc"),
    (FloatOp::Round(Rounding::Even), "even"),
    (FloatOp::Round(Rounding::Away), "away"),
    (FloatOp::Convert(Format::F32), "to_f32"),
    (FloatOp::Convert(Format::F64), "to_f64"),
    (FloatOp::FromSigned(8), "from_i8"),
    (FloatOp::FromSigned(16), "from_i16"),
    (FloatOp::FromSigned(32), "from_i32"),
    (FloatOp::FromSigned(64), "from_i64"),
    (FloatOp::FromUnsigned(8), "from_u8"),
    (FloatOp::FromUnsigned(16), "from_u16"),
    (FloatOp::FromUnsigned(32), "from_u32"),
    (FloatOp::FromUnsigned(64), "from_u64"),
    (FloatOp::ToSigned(8), "to_i8"),
    (FloatOp::ToSigned(16), "to_i16"),
    (FloatOp::ToSigned(32), "to_i32"),
    (FloatOp::ToSigned(64), "to_i64"),
    (FloatOp::ToUnsigned(8), "to_u8"),
    (FloatOp::ToUnsigned(16), "to_u16"),
    (FloatOp::ToUnsigned(32), "to_u32"),
    (FloatOp::ToUnsigned(64), "to_u64"),
    (FloatOp::Saturate(8), "saturate_i8"),
    (FloatOp::Saturate(16), "saturate_i16"),
    (FloatOp::Saturate(32), "saturate_i32"),
    (FloatOp::Saturate(64), "saturate_i64"),
];

impl Word for FloatOp {
    const ALL: &'static [FloatOp] = &{
        let mut all = [FloatOp::Add; FLOAT_OPS.len()];
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
    Float(FloatOp, Format),
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
                Some(ExprOp::Float(FloatOp::from_word(op)?, Format::from_word(format)?))
            })
    }
}
