//! Conditions of assumptions and assertions. An assumption belongs to the test harness and not to the code under test:
//! where possible it is computed without a branch, so that it adds no decision and no path.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::is_logical;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::lower::context::func::Lowerer;
use crate::types::ctype::TypeKind;
use touchstone_ir::{BinOp, Operand, Ty};

impl Lowerer<'_, '_> {
    /// Evaluates the argument of an assertion: as a decision if it is a logical operator, otherwise as a value.
    pub fn asserted_truth(&mut self, node: &AstNode) -> Operand {
        match (&node.kind, node.inner.first()) {
            (K::ParenExpr | K::ConstantExpr, Some(inner)) => self.asserted_truth(inner),
            (K::ImplicitCastExpr, Some(inner)) if self.keeps_truth(node, inner) => self.asserted_truth(inner),
            _ => self.truth(node),
        }
    }

    /// Evaluates the argument of an assumption. Branches remain only where they guard an evaluation that has a side
    /// effect or can fail.
    pub fn assumed_truth(&mut self, node: &AstNode) -> Operand {
        let span = self.unit.span(node);
        match (&node.kind, node.inner.as_slice()) {
            (K::ParenExpr | K::ConstantExpr, [inner]) => self.assumed_truth(inner),
            (K::ImplicitCastExpr, [inner]) if self.keeps_truth(node, inner) => self.assumed_truth(inner),
            (K::UnaryOperator, [inner]) if node.opcode == Opcode::Not => {
                let value = self.assumed_truth(inner);
                self.bin(BinOp::Xor, value, Operand::Const(Ty::I1, 1), span)
            }
            (K::BinaryOperator, [left, right]) => match joins(node) {
                Some(_) if is_logical(node) && !self.is_pure_truth(right) => self.asserted_truth(node),
                Some(op) => {
                    let a = self.assumed_truth(left);
                    let b = self.assumed_truth(right);
                    self.bin(op, a, b, span)
                }
                None => self.truth(node),
            },
            _ => self.truth(node),
        }
    }

    /// Returns true if evaluating a truth value has no side effects and can't fail.
    fn is_pure_truth(&self, node: &AstNode) -> bool {
        match (&node.kind, node.inner.as_slice()) {
            (K::ParenExpr | K::ConstantExpr, [inner]) => self.is_pure_truth(inner),
            (K::ImplicitCastExpr, [inner]) if self.keeps_truth(node, inner) => self.is_pure_truth(inner),
            (K::UnaryOperator, [inner]) if node.opcode == Opcode::Not => self.is_pure_truth(inner),
            (K::BinaryOperator, [left, right]) if joins(node).is_some() => {
                self.is_pure_truth(left) && self.is_pure_truth(right)
            }
            _ => self.is_pure(node),
        }
    }

    fn is_pure(&self, node: &AstNode) -> bool {
        let ty = self.unit.type_of(node);
        if self.unit.program.types.unsupported(&ty).is_some() || ty.is_record() || is_logical(node) {
            return false;
        }
        let children = || node.inner.iter().all(|inner| self.is_pure(inner));
        match &node.kind {
            K::IntegerLiteral
            | K::FloatingLiteral
            | K::CharacterLiteral
            | K::UnaryExprOrTypeTraitExpr
            | K::DeclRefExpr => true,
            K::ParenExpr | K::ConstantExpr => children(),
            K::ImplicitCastExpr | K::CStyleCastExpr => match &node.cast {
                Cast::LValueToRValue
                | Cast::NoOp
                | Cast::IntegralCast
                | Cast::IntegralToBoolean
                | Cast::NullToPointer
                | Cast::PointerToBoolean
                | Cast::FloatingCast
                | Cast::IntegralToFloating
                | Cast::FloatingToBoolean => children(),
                _ => false,
            },
            K::UnaryOperator => matches!(node.opcode, Opcode::Plus | Opcode::Minus | Opcode::Tilde) && children(),
            K::BinaryOperator => {
                !matches!(node.opcode, Opcode::Slash | Opcode::Percent | Opcode::Assign | Opcode::Comma) && children()
            }
            K::MemberExpr => !node.is_arrow && children(),
            K::ArraySubscriptExpr => self.is_safe_element(node),
            _ => false,
        }
    }
    /// Returns true for an element of an array at a constant index within bounds.
    fn is_safe_element(&self, node: &AstNode) -> bool {
        let [base, index] = node.inner.as_slice() else { return false };
        if base.kind != K::ImplicitCastExpr || base.cast != Cast::ArrayToPointerDecay {
            return false;
        }
        let (Some(array), Some(index)) = (base.inner.first(), self.unit.const_signed(index)) else { return false };
        match self.unit.type_of(array).kind {
            TypeKind::Array(_, length) => u64::try_from(index).is_ok_and(|index| index < length) && self.is_pure(array),
            _ => false,
        }
    }
}

/// Returns the operation that combines two truth values: `&&`, `||`, or a bitwise operator on 0 and 1.
fn joins(node: &AstNode) -> Option<BinOp> {
    let truths = || node.inner.iter().all(is_truth_value);
    match node.opcode {
        Opcode::And => Some(BinOp::And),
        Opcode::Or => Some(BinOp::Or),
        Opcode::Amp if truths() => Some(BinOp::And),
        Opcode::Pipe if truths() => Some(BinOp::Or),
        Opcode::Caret if truths() => Some(BinOp::Xor),
        _ => None,
    }
}

/// Returns true if the operator of an expression yields only 0 or 1.
fn is_truth_value(node: &AstNode) -> bool {
    match (&node.kind, node.inner.as_slice()) {
        (K::ParenExpr | K::ConstantExpr, [inner]) => is_truth_value(inner),
        (K::ImplicitCastExpr, [inner]) => node.cast == Cast::IntegralCast && is_truth_value(inner),
        (K::UnaryOperator, _) => node.opcode == Opcode::Not,
        (K::BinaryOperator, [left, right]) => match node.opcode {
            Opcode::And | Opcode::Or => true,
            Opcode::Amp | Opcode::Pipe | Opcode::Caret => is_truth_value(left) && is_truth_value(right),
            _ => node.opcode.is_comparison(),
        },
        _ => false,
    }
}
