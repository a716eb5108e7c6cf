//! Formulas of float expressions; `formulas.rs` defines formulas.
//!
//! Objects and constants are operands of an [`ExprKind::AsFloat`], which has the source text. `-x` flips the sign bit,
//! `a != b` is `!(a == b)` and `a > b` is `b < a`.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::selected;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::lower::context::func::Lowerer;
use crate::lower::numbers::floats::{conversion, float_op, float_relation};
use crate::points::formulas::{is_true, resized};
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::float::{FloatOp, Format};
use touchstone_ir::{BinOp, Expr, ExprKind, Ty};

/// Reinterprets the bits of an expression as a float, which takes over the source text.
pub(crate) fn as_float(format: Format, mut bits: Expr) -> Expr {
    let (text, ty) = (std::mem::take(&mut bits.text), bits.ty);
    Expr { kind: ExprKind::AsFloat(format, Box::new(bits)), ty, signed: false, text }
}

/// Returns a float constant that is not in the source.
fn constant(format: Format, bits: u64) -> Expr {
    as_float(format, Expr::constant(Ty::Int(format.bits()), bits))
}

/// Returns the comparison of a float with zero.
pub(crate) fn is_nonzero(format: Format, value: Expr) -> Expr {
    negated(Expr::float(FloatOp::Eq, format, vec![value, constant(format, 0)]), String::new())
}

fn negated(truth: Expr, text: String) -> Expr {
    Expr { kind: ExprKind::Not(Box::new(truth)), ty: Ty::I1, signed: false, text }
}

impl Lowerer<'_, '_> {
    /// Returns the formula of a float expression.
    pub fn float_formula(&mut self, node: &AstNode, format: Format, left: u32) -> Option<Expr> {
        let ty = self.unit.type_of(node);
        match (&node.kind, node.inner.as_slice()) {
            (K::FloatingLiteral | K::ImplicitValueInitExpr, _) => {
                let bits = self.unit.const_float(node)?;
                let value = self.written(node, ExprKind::Const(bits), Ty::Int(format.bits()), false);
                Some(as_float(format, value))
            }
            (K::ParenExpr | K::ConstantExpr | K::InitListExpr, [inner]) => self.value_formula(inner, left),
            (K::ImplicitCastExpr | K::CStyleCastExpr, [inner]) => match &node.cast {
                Cast::LValueToRValue => {
                    let spot = self.spot(inner, left)?;
                    Some(as_float(format, self.read(spot, &ty, inner)?))
                }
                Cast::NoOp => self.value_formula(inner, left),
                Cast::FloatingCast | Cast::IntegralToFloating => {
                    let value = self.value_formula(inner, left)?;
                    let from = self.unit.type_of(inner);
                    let mut expr = self.converted(value, &from, &ty)?;
                    if node.kind == K::CStyleCastExpr && expr.text.is_empty() {
                        expr.text = self.unit.short_text(node);
                    }
                    Some(expr)
                }
                _ => None,
            },
            (K::UnaryOperator, [inner]) => match &node.opcode {
                Opcode::Plus | Opcode::Extension => self.value_formula(inner, left),
                Opcode::Minus => {
                    let value = self.value_formula(inner, left)?;
                    let (ty, text) = (value.ty, self.unit.short_text(node));
                    let sign = Expr::constant(ty, format.sign_mask());
                    let kind = ExprKind::Bin(BinOp::Xor, Box::new(value), Box::new(sign));
                    Some(as_float(format, Expr { kind, ty, signed: false, text }))
                }
                Opcode::Star => {
                    let spot = self.spot(node, left)?;
                    Some(as_float(format, self.read(spot, &ty, node)?))
                }
                _ => None,
            },
            (K::BinaryOperator, [a, b]) => {
                let op = float_op(&node.opcode)?;
                let args = vec![self.value_formula(a, left)?, self.value_formula(b, left)?];
                let text = self.unit.short_text(node);
                Some(Expr { text, ..Expr::float(op, format, args) })
            }
            (K::ConditionalOperator, [condition, yes, no]) => {
                let condition = self.truth_formula(condition, left)?;
                let (yes, no) = (self.value_formula(yes, left)?, self.value_formula(no, left)?);
                Some(as_float(format, self.choice(node, condition, yes, no, false)?))
            }
            (K::GenericSelectionExpr, _) => self.value_formula(selected(node)?, left),
            (K::DeclRefExpr | K::ArraySubscriptExpr | K::MemberExpr, _) => {
                let spot = self.spot(node, left)?;
                Some(as_float(format, self.read(spot, &ty, node)?))
            }
            _ => None,
        }
    }

    /// Returns the formula of a comparison of floats.
    pub fn float_relation_formula(&mut self, node: &AstNode, format: Format, a: Expr, b: Expr) -> Expr {
        let (op, swapped, negate) = float_relation(&node.opcode);
        let relation = Expr::float(op, format, if swapped { vec![b, a] } else { vec![a, b] });
        let text = self.unit.short_text(node);
        if negate { negated(relation, text) } else { Expr { text, ..relation } }
    }

    /// Converts a value to another arithmetic type; one of the types may be a float.
    pub fn converted(&mut self, value: Expr, from: &Type, to: &Type) -> Option<Expr> {
        let types = &self.unit.program.types;
        if types.unsupported(from).is_some() || types.unsupported(to).is_some() {
            return None;
        }
        let (scalar, from_signed, signed) = (types.scalar(to), types.is_signed(from), types.is_signed(to));
        if to.kind == TypeKind::Bool && from.kind != TypeKind::Bool {
            return Some(resized(is_true(value)?, scalar, false, false));
        }
        Some(match conversion(types, from, to) {
            Some((FloatOp::Convert(to), from)) if from == to => value,
            Some((op, format)) => Expr { signed, ..Expr::float(op, format, vec![value]) },
            None => resized(value, scalar, from_signed, signed),
        })
    }
}
