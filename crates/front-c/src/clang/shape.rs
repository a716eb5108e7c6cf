//! What the shape of a node says by itself, without types or scopes.

use crate::clang::node::Node;

/// Whether a node is an expression (and not a statement or a declaration).
pub(crate) fn is_expression(node: &Node) -> bool {
    let kind = node.kind.as_str();
    kind.ends_with("Expr") || kind.ends_with("Operator") || kind.ends_with("Literal")
}

/// Whether an operator compares.
pub(crate) fn is_comparison(opcode: &str) -> bool {
    matches!(opcode, "==" | "!=" | "<" | ">" | "<=" | ">=")
}

/// Whether a node is `&&`, `||` or `!`.
pub(crate) fn is_logical(node: &Node) -> bool {
    match node.kind.as_str() {
        "BinaryOperator" => matches!(node.opcode.as_str(), "&&" | "||"),
        "UnaryOperator" => node.opcode == "!",
        _ => false,
    }
}

/// Whether evaluating an expression does anything.
pub(crate) fn has_effects(node: &Node) -> bool {
    let effect = match node.kind.as_str() {
        "CallExpr" => !matches!(callee_name(node), Some("__builtin_expect" | "__builtin_constant_p")),
        "StmtExpr" | "CompoundAssignOperator" | "VAArgExpr" | "AtomicExpr" => true,
        "BinaryOperator" => node.opcode == "=",
        "UnaryOperator" => matches!(node.opcode.as_str(), "++" | "--"),
        _ => false,
    };
    effect || node.inner.iter().any(has_effects)
}

/// What people are shown of an expression: without parentheses (which a macro may have put around an argument) and
/// implicit casts.
pub(crate) fn shown(node: &Node) -> &Node {
    match (node.kind.as_str(), node.inner.first()) {
        ("ParenExpr" | "ImplicitCastExpr", Some(inner)) => shown(inner),
        _ => node,
    }
}

/// The initialiser of a variable.
pub(crate) fn initialiser(node: &Node) -> Option<&Node> {
    if node.has_init { node.inner.iter().rfind(|inner| !inner.kind.ends_with("Attr")) } else { None }
}

/// The expression that `_Generic` selects.
pub(crate) fn selected(node: &Node) -> Option<&Node> {
    let association = node.inner.iter().find(|inner| inner.is_selected)?;
    association.inner.last()
}

/// The name of the function that a call calls directly.
pub(crate) fn callee_name(node: &Node) -> Option<&str> {
    let mut callee = node.inner.first()?;
    loop {
        match callee.kind.as_str() {
            "DeclRefExpr" => {
                let decl = callee.decl.as_ref()?;
                return (decl.kind == "FunctionDecl").then_some(decl.name.as_str());
            }
            "ImplicitCastExpr" if callee.cast != "LValueToRValue" => callee = callee.inner.first()?,
            "ParenExpr" => callee = callee.inner.first()?,
            "UnaryOperator" if matches!(callee.opcode.as_str(), "*" | "&" | "__extension__") => {
                callee = callee.inner.first()?;
            }
            _ => return None,
        }
    }
}
