//! Functions of math.h on `long double` that only need its bits: classification, signs, infinities.
//!
//! Comparisons are in `long_double`. Deliberately not here: other functions on `long double`, which are external.

use crate::clang::ast_enums::Opcode;
use crate::clang::ast_queries::callee_name;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::lower::numbers::int128::{Wide, number};
use crate::lower::numbers::math_calls::{Classify, is_empty_text};
use touchstone_base::Span;
use touchstone_base::extended::Extended;
use touchstone_ir::{BinOp, CmpOp, Operand, Ty};

/// The exponent of infinities and NaNs.
const MAX_EXPONENT: u64 = 0x7fff;
const SIGN: u64 = 0x8000;

fn word(value: u64) -> Operand {
    Operand::Const(Ty::I64, value)
}

/// Returns the value of a builtin that names a constant.
pub(crate) fn named_constant(name: &str, node: &AstNode) -> Option<Extended> {
    match name {
        "__builtin_infl" | "__builtin_huge_vall" => Some(Extended { significand: 1 << 63, head: MAX_EXPONENT as u16 }),
        "__builtin_nanl" if node.inner.get(1).is_some_and(is_empty_text) => {
            Some(Extended { significand: 3 << 62, head: MAX_EXPONENT as u16 })
        }
        _ => None,
    }
}

impl Lowerer<'_, '_> {
    /// Lowers a call that only needs the bits of its arguments; `None` for other calls.
    pub fn long_call(&mut self, node: &AstNode, span: Span) -> Option<Wide> {
        let name = callee_name(node)?;
        if self.is_own(name) {
            return None;
        }
        if let Some(constant) = named_constant(name, node) {
            return Some(number(constant));
        }
        let args = node.inner.get(1..)?;
        match (name.strip_prefix("__builtin_").unwrap_or(name), args) {
            ("fabsl", [value]) => {
                let value = self.long_of(value, span);
                Some(Wide { low: value.low, high: self.bin(BinOp::And, value.high, word(MAX_EXPONENT), span) })
            }
            ("copysignl", [value, sign]) => {
                let (value, sign) = (self.long_of(value, span), self.long_of(sign, span));
                let magnitude = self.bin(BinOp::And, value.high, word(MAX_EXPONENT), span);
                let sign = self.bin(BinOp::And, sign.high, word(SIGN), span);
                Some(Wide { low: value.low, high: self.bin(BinOp::Or, magnitude, sign, span) })
            }
            // If one operand is a NaN, the result is the other one.
            (name @ ("fmaxl" | "fminl"), [a, b]) => {
                let (a, b) = (self.long_of(a, span), self.long_of(b, span));
                let better = self.long_relation(
                    if name == "fmaxl" { &Opcode::GreaterEqual } else { &Opcode::LessEqual },
                    a,
                    b,
                    span,
                );
                let alone = self.long_is_special(b, CmpOp::Ne, span);
                let first = self.bin(BinOp::Or, better, alone, span);
                Some(Wide {
                    low: self.select(first, a.low, b.low, span),
                    high: self.select(first, a.high, b.high, span),
                })
            }
            _ => None,
        }
    }

    /// Lowers `ilogbl`, an `int`.
    pub fn long_exponent(&mut self, value: &AstNode, span: Span) -> Operand {
        let value = self.long_of(value, span);
        self.run_only("long double", span);
        let dst = self.temp(Ty::I32);
        let args = vec![value.low, value.high];
        self.wide_model("touchstone_long_exponent", "int (unsigned long, unsigned long)", args, Some(dst), span);
        Operand::Reg(dst)
    }

    /// Lowers a classification, an `int`.
    pub fn classify_long(&mut self, what: Classify, args: &[AstNode], node: &AstNode, span: Span) -> Operand {
        let mut classes = Vec::new();
        if what == Classify::Class {
            for arg in args.iter().take(5) {
                classes.push(self.rvalue(arg));
            }
        }
        let mut values = Vec::new();
        for arg in args.iter().skip(classes.len()) {
            values.push(self.long_of(arg, span));
        }
        let Some(&a) = values.first() else { return self.unsupported_value(Construct::EmptyClassification, node) };
        let b = values.get(1).copied().unwrap_or(a);
        let truth = match what {
            Classify::Nan => self.long_is_special(a, CmpOp::Ne, span),
            Classify::Infinite => self.long_is_special(a, CmpOp::Eq, span),
            Classify::InfiniteSign => {
                let infinite = self.long_is_special(a, CmpOp::Eq, span);
                let negative = self.long_sign(a, span);
                let signed =
                    self.select(negative, Operand::Const(Ty::I32, 0xffff_ffff), Operand::Const(Ty::I32, 1), span);
                return self.select(infinite, signed, Operand::Const(Ty::I32, 0), span);
            }
            Classify::Finite => {
                let exponent = self.bin(BinOp::And, a.high, word(MAX_EXPONENT), span);
                self.cmp(CmpOp::Ne, exponent, word(MAX_EXPONENT), span)
            }
            Classify::Normal => {
                let exponent = self.bin(BinOp::And, a.high, word(MAX_EXPONENT), span);
                let below = self.cmp(CmpOp::Ne, exponent, word(MAX_EXPONENT), span);
                let above = self.cmp(CmpOp::Ne, exponent, word(0), span);
                self.bin(BinOp::And, below, above, span)
            }
            Classify::Sign => self.long_sign(a, span),
            Classify::Class => {
                let &[nan, infinite, normal, subnormal, zero] = classes.as_slice() else {
                    return self.unsupported_value(Construct::Fpclassify, node);
                };
                let exponent = self.bin(BinOp::And, a.high, word(MAX_EXPONENT), span);
                let is_small = self.cmp(CmpOp::Eq, exponent, word(0), span);
                let is_zero = self.cmp(CmpOp::Eq, a.low, word(0), span);
                let is_infinite = self.long_is_special(a, CmpOp::Eq, span);
                let is_nan = self.long_is_special(a, CmpOp::Ne, span);
                let class = self.select(is_small, subnormal, normal, span);
                let class = self.select(is_zero, zero, class, span);
                let class = self.select(is_infinite, infinite, class, span);
                return self.select(is_nan, nan, class, span);
            }
            Classify::Relation(opcode) => self.long_relation(opcode, a, b, span),
            Classify::LessGreater => {
                let (less, greater) =
                    (self.long_relation(&Opcode::Less, a, b, span), self.long_relation(&Opcode::Greater, a, b, span));
                self.bin(BinOp::Or, less, greater, span)
            }
            Classify::Unordered => {
                let (left, right) =
                    (self.long_is_special(a, CmpOp::Ne, span), self.long_is_special(b, CmpOp::Ne, span));
                self.bin(BinOp::Or, left, right, span)
            }
        };
        self.resize(truth, Ty::I32, false, span)
    }
    /// Returns true, an `i1`, if the exponent is the largest and the fraction is (or is not) zero.
    fn long_is_special(&mut self, value: Wide, fraction: CmpOp, span: Span) -> Operand {
        let exponent = self.bin(BinOp::And, value.high, word(MAX_EXPONENT), span);
        let special = self.cmp(CmpOp::Eq, exponent, word(MAX_EXPONENT), span);
        let rest = self.bin(BinOp::Shl, value.low, word(1), span);
        let fits = self.cmp(fraction, rest, word(0), span);
        self.bin(BinOp::And, special, fits, span)
    }
    fn long_sign(&mut self, value: Wide, span: Span) -> Operand {
        let sign = self.bin(BinOp::And, value.high, word(SIGN), span);
        self.cmp(CmpOp::Ne, sign, word(0), span)
    }
}
