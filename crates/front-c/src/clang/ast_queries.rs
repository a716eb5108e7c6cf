//! Queries on a single node, without types or scopes.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;

/// Returns true if a node is `&&`, `||` or `!`.
pub(crate) fn is_logical(node: &AstNode) -> bool {
    match &node.kind {
        K::BinaryOperator => matches!(node.opcode, Opcode::And | Opcode::Or),
        K::UnaryOperator => node.opcode == Opcode::Not,
        _ => false,
    }
}

/// Returns true if evaluating an expression has a side effect.
pub(crate) fn has_effects(node: &AstNode) -> bool {
    let effect = match &node.kind {
        K::CallExpr => !matches!(callee_name(node), Some("__builtin_expect" | "__builtin_constant_p")),
        K::StmtExpr | K::CompoundAssignOperator | K::VAArgExpr | K::AtomicExpr => true,
        K::BinaryOperator => node.opcode == Opcode::Assign,
        K::UnaryOperator => node.opcode.is_step(),
        _ => false,
    };
    effect || node.inner.iter().any(has_effects)
}

/// Returns the part of an expression that is shown to users: without parentheses (a macro may have put them around an
/// argument) and implicit casts.
pub(crate) fn shown(node: &AstNode) -> &AstNode {
    match (&node.kind, node.inner.first()) {
        (K::ParenExpr | K::ImplicitCastExpr, Some(inner)) => shown(inner),
        _ => node,
    }
}

/// Returns the initialiser of a variable.
pub(crate) fn initialiser(node: &AstNode) -> Option<&AstNode> {
    if node.has_init { node.inner.iter().rfind(|inner| !inner.kind.is_attribute()) } else { None }
}

/// Returns the expression that `_Generic` selects.
pub(crate) fn selected(node: &AstNode) -> Option<&AstNode> {
    let association = node.inner.iter().find(|inner| inner.is_selected)?;
    association.inner.last()
}

/// Returns the name of the callee of a direct call.
pub(crate) fn callee_name(node: &AstNode) -> Option<&str> {
    let mut callee = node.inner.first()?;
    loop {
        match &callee.kind {
            K::DeclRefExpr => {
                let decl = callee.decl.as_ref()?;
                return (decl.kind == K::FunctionDecl).then_some(decl.name.as_str());
            }
            K::ImplicitCastExpr if callee.cast != Cast::LValueToRValue => callee = callee.inner.first()?,
            K::ParenExpr => callee = callee.inner.first()?,
            K::UnaryOperator if matches!(callee.opcode, Opcode::Star | Opcode::Amp | Opcode::Extension) => {
                callee = callee.inner.first()?;
            }
            _ => return None,
        }
    }
}
