//! Calls of math.h: as operations or bit patterns where that is exact, otherwise with the host's values.
//!
//! Without branches, so that a path does not fork where the source has no decision. Functions that need loops or
//! pointers are models in C (`models/math.c`). Classification of `long double` is in `long_math.rs`.

use crate::clang::ast_enums::Opcode;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_base::float::{FloatOp, Format, Rounding};
use touchstone_base::math::MathFunction;
use touchstone_ir::{BinOp, Builtin, CmpOp, InstKind, Operand, Ty};

/// The lowering of a function of math.h.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Math {
    /// One operation.
    Plain(FloatOp),
    /// Rounding to an integer of 64 bits.
    Integer(Rounding),
    Abs,
    CopySign,
    Min,
    Max,
    /// The positive difference.
    Dim,
    /// The value that the host computes.
    Host(MathFunction),
    /// Infinity (also `HUGE_VAL`).
    Infinity,
    Nan,
    /// Conversions between a float and its bits, for models.
    Bits,
    FromBits,
}

/// A classification macro, with an argument of any float type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Classify {
    Nan,
    Infinite,
    /// 1 or -1 for an infinity, by its sign.
    InfiniteSign,
    Finite,
    Normal,
    Sign,
    /// `fpclassify`, which selects one of its first arguments.
    Class,
    /// A comparison that is false for unordered operands.
    Relation(&'static Opcode),
    LessGreater,
    Unordered,
}

/// Returns the lowering of a function of math.h, with its format.
pub(crate) fn known(name: &str) -> Option<(Math, Format)> {
    let plain = name.strip_prefix("__builtin_").unwrap_or(name);
    if let Some(math) = for_double(plain) {
        return Some((math, Format::F64));
    }
    Some((for_double(plain.strip_suffix('f')?)?, Format::F32))
}

fn for_double(name: &str) -> Option<Math> {
    Some(match name {
        "sqrt" => Math::Plain(FloatOp::Sqrt),
        "fma" => Math::Plain(FloatOp::Fma),
        "fmod" => Math::Plain(FloatOp::Rem),
        "floor" => Math::Plain(FloatOp::Round(Rounding::Floor)),
        "ceil" => Math::Plain(FloatOp::Round(Rounding::Ceil)),
        "trunc" => Math::Plain(FloatOp::Round(Rounding::Trunc)),
        "rint" | "nearbyint" | "roundeven" => Math::Plain(FloatOp::Round(Rounding::Even)),
        "round" => Math::Plain(FloatOp::Round(Rounding::Away)),
        "lrint" | "llrint" => Math::Integer(Rounding::Even),
        "lround" | "llround" => Math::Integer(Rounding::Away),
        "fabs" => Math::Abs,
        "copysign" => Math::CopySign,
        "fmin" => Math::Min,
        "fmax" => Math::Max,
        "fdim" => Math::Dim,
        "inf" | "huge_val" => Math::Infinity,
        "nan" => Math::Nan,
        "touchstone_bits" => Math::Bits,
        "touchstone_from_bits" => Math::FromBits,
        _ => Math::Host(MathFunction::of_c(name)?),
    })
}

/// Returns the classification of a builtin or function.
pub(crate) fn classification(name: &str) -> Option<Classify> {
    Some(match name {
        "__builtin_isnan" | "__builtin_isnanf" | "__builtin_isnanl" | "__isnan" | "__isnanf" | "__isnanl" | "isnan"
        | "isnanf" | "isnanl" => Classify::Nan,
        "__builtin_isinf" | "__builtin_isinff" | "__builtin_isinfl" => Classify::Infinite,
        "__builtin_isinf_sign" | "__isinf" | "__isinff" | "__isinfl" | "isinf" | "isinff" | "isinfl" => {
            Classify::InfiniteSign
        }
        "__builtin_isfinite" | "__builtin_finite" | "__builtin_finitef" | "__builtin_finitel" | "__finite"
        | "__finitef" | "__finitel" | "finite" | "finitef" | "finitel" => Classify::Finite,
        "__builtin_isnormal" => Classify::Normal,
        "__builtin_signbit" | "__builtin_signbitf" | "__builtin_signbitl" | "__signbit" | "__signbitf"
        | "__signbitl" => Classify::Sign,
        "__builtin_fpclassify" => Classify::Class,
        "__builtin_isgreater" => Classify::Relation(&Opcode::Greater),
        "__builtin_isgreaterequal" => Classify::Relation(&Opcode::GreaterEqual),
        "__builtin_isless" => Classify::Relation(&Opcode::Less),
        "__builtin_islessequal" => Classify::Relation(&Opcode::LessEqual),
        "__builtin_islessgreater" => Classify::LessGreater,
        "__builtin_isunordered" => Classify::Unordered,
        _ => return None,
    })
}

fn float_type(format: Format) -> Type {
    let name = match format {
        Format::F32 => "float",
        Format::F64 => "double",
    };
    Type::plain(TypeKind::Float { name, format })
}

impl Lowerer<'_, '_> {
    /// Lowers a call of a function of math.h.
    pub fn math_call(&mut self, math: Math, format: Format, args: &[AstNode], node: &AstNode, span: Span) -> Operand {
        let ty = Ty::Int(format.bits());
        let number = |value: u64| Operand::Const(ty, value);
        if math == Math::FromBits {
            return match args.first() {
                Some(arg) => self.rvalue(arg),
                None => number(0),
            };
        }
        if math == Math::Nan && args.first().is_some_and(|arg| !is_empty_text(arg)) {
            return self.unsupported_value(Construct::NanPayload, node);
        }
        let mut values = Vec::new();
        // The argument of `nan` is not evaluated.
        for arg in args.iter().filter(|_| math != Math::Nan) {
            values.push(self.float_argument(arg, format, span));
        }
        values.resize(values.len().max(3), number(0));
        let &[a, b, ..] = values.as_slice() else { return number(0) };
        match math {
            Math::Plain(op) => self.float(op, format, &values[..op.arity()], span),
            Math::Integer(rounding) => {
                let whole = self.float(FloatOp::Round(rounding), format, &[a], span);
                self.float(FloatOp::ToSigned(64), format, &[whole], span)
            }
            Math::Abs => self.bin(BinOp::And, a, number(format.magnitude_mask()), span),
            Math::CopySign => {
                let magnitude = self.bin(BinOp::And, a, number(format.magnitude_mask()), span);
                let sign = self.bin(BinOp::And, b, number(format.sign_mask()), span);
                self.bin(BinOp::Or, magnitude, sign, span)
            }
            // If one operand is a NaN, the result is the other one. Of zeros C allows either: glibc returns the second
            // of doubles and the first of floats.
            Math::Min | Math::Max => {
                let args = if math == Math::Min { [a, b] } else { [b, a] };
                let op = if format == Format::F64 { FloatOp::Lt } else { FloatOp::Le };
                let better = self.float(op, format, &args, span);
                let alone = self.float_relation(&Opcode::NotEqual, format, b, b, span);
                let first = self.bin(BinOp::Or, better, alone, span);
                self.select(first, a, b, span)
            }
            Math::Dim => {
                let none = self.float(FloatOp::Le, format, &[a, b], span);
                let difference = self.float(FloatOp::Sub, format, &[a, b], span);
                self.select(none, number(0), difference, span)
            }
            Math::Host(function) => {
                let dst = self.temp(ty);
                let args = values[..function.arity()].to_vec();
                self.emit(InstKind::Builtin { dst: Some(dst), builtin: Builtin::Math(function, format), args }, span);
                Operand::Reg(dst)
            }
            Math::Infinity => number(format.infinity()),
            Math::Nan => number(format.infinity() | format.quiet_bit()),
            Math::Bits | Math::FromBits => a,
        }
    }
    fn float_argument(&mut self, arg: &AstNode, format: Format, span: Span) -> Operand {
        self.mark_value(arg);
        let from = self.unit.type_of(arg);
        let value = self.rvalue(arg);
        self.convert(value, &from, &float_type(format), span)
    }

    /// Lowers a classification, an `int`.
    pub fn classify_call(&mut self, what: Classify, args: &[AstNode], node: &AstNode, span: Span) -> Operand {
        let Some(last) = args.last() else { return self.unsupported_value(Construct::EmptyClassification, node) };
        if self.unit.type_of(last).is_long_double() {
            return self.classify_long(what, args, node, span);
        }
        let format = self.unit.program.types.format(&self.unit.type_of(last)).unwrap_or(Format::F64);
        let number = |value: u64| Operand::Const(Ty::Int(format.bits()), value);
        let mut classes = Vec::new();
        if what == Classify::Class {
            for arg in args.iter().take(5) {
                classes.push(self.rvalue(arg));
            }
        }
        let mut values = Vec::new();
        for arg in args.iter().skip(classes.len()) {
            values.push(self.float_argument(arg, format, span));
        }
        let Some(&a) = values.first() else { return self.unsupported_value(Construct::EmptyClassification, node) };
        let b = values.get(1).copied().unwrap_or(a);
        let magnitude = self.bin(BinOp::And, a, number(format.magnitude_mask()), span);
        let infinity = number(format.infinity());
        let least_normal = number(1 << format.fraction_bits());
        let truth = match what {
            Classify::Nan => self.float_relation(&Opcode::NotEqual, format, a, a, span),
            Classify::Infinite => self.cmp(CmpOp::Eq, magnitude, infinity, span),
            Classify::InfiniteSign => {
                let infinite = self.cmp(CmpOp::Eq, magnitude, infinity, span);
                let negative = self.cmp(CmpOp::Slt, a, number(0), span);
                let (one, minus_one) = (Operand::Const(Ty::I32, 1), Operand::Const(Ty::I32, 0xffff_ffff));
                let signed = self.select(negative, minus_one, one, span);
                return self.select(infinite, signed, Operand::Const(Ty::I32, 0), span);
            }
            Classify::Finite => self.cmp(CmpOp::Ult, magnitude, infinity, span),
            Classify::Normal => {
                let above = self.cmp(CmpOp::Ule, least_normal, magnitude, span);
                let below = self.cmp(CmpOp::Ult, magnitude, infinity, span);
                self.bin(BinOp::And, above, below, span)
            }
            Classify::Sign => self.cmp(CmpOp::Slt, a, number(0), span),
            Classify::Class => {
                let &[nan, infinite, normal, subnormal, zero] = classes.as_slice() else {
                    return self.unsupported_value(Construct::Fpclassify, node);
                };
                let is_nan = self.cmp(CmpOp::Ult, infinity, magnitude, span);
                let is_infinite = self.cmp(CmpOp::Eq, magnitude, infinity, span);
                let is_small = self.cmp(CmpOp::Ult, magnitude, least_normal, span);
                let is_zero = self.cmp(CmpOp::Eq, magnitude, number(0), span);
                let class = self.select(is_small, subnormal, normal, span);
                let class = self.select(is_zero, zero, class, span);
                let class = self.select(is_infinite, infinite, class, span);
                return self.select(is_nan, nan, class, span);
            }
            Classify::Relation(opcode) => self.float_relation(opcode, format, a, b, span),
            Classify::LessGreater => {
                let less = self.float(FloatOp::Lt, format, &[a, b], span);
                let greater = self.float(FloatOp::Lt, format, &[b, a], span);
                self.bin(BinOp::Or, less, greater, span)
            }
            Classify::Unordered => {
                let (left, right) = (
                    self.float_relation(&Opcode::NotEqual, format, a, a, span),
                    self.float_relation(&Opcode::NotEqual, format, b, b, span),
                );
                self.bin(BinOp::Or, left, right, span)
            }
        };
        self.resize(truth, Ty::I32, false, span)
    }
}

/// Returns true if an argument is `""`.
pub(crate) fn is_empty_text(node: &AstNode) -> bool {
    match (&node.kind, node.inner.first()) {
        (K::ImplicitCastExpr | K::ParenExpr, Some(inner)) => is_empty_text(inner),
        (K::StringLiteral, _) => node.value.as_deref() == Some("\"\""),
        _ => false,
    }
}
