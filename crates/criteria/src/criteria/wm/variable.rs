//! Variables in expressions: what is read, under a name, perhaps converted from the width that a variable of its type has.

use touchstone_ir::{Expr, ExprKind, Ty};

/// Returns the register or memory that is read, without implicit conversions.
fn source(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Reg(_) | ExprKind::Load(_) => Some(expr),
        ExprKind::Cast(_, inner) if inner.text.is_empty() => source(inner),
        _ => None,
    }
}

/// Returns true if the source reads a variable here.
pub(super) fn is_read(expr: &Expr) -> bool {
    !expr.text.is_empty() && source(expr).is_some()
}

/// A truth value that is read as one.
pub(super) fn is_read_truth(expr: &Expr) -> bool {
    expr.ty == Ty::I1 && is_read(expr)
}

/// Returns true if a variable is read whose text is one identifier.
pub(super) fn is_named(expr: &Expr) -> bool {
    is_read(expr) && expr.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A variable that is a number, and no float.
pub(super) fn is_number(expr: &Expr) -> bool {
    is_named(expr) && matches!(expr.ty, Ty::Int(bits) if bits > 1)
}

/// A variable that is a truth value.
pub(super) fn is_truth(expr: &Expr) -> bool {
    is_named(expr) && expr.ty == Ty::I1
}

/// Returns true if another variable has the same type: the same width and the same conversions.
pub(super) fn is_alike(expr: &Expr, other: &Expr) -> bool {
    fn same_type(a: &Expr, b: &Expr) -> bool {
        a.ty == b.ty
            && match (&a.kind, &b.kind) {
                (ExprKind::Cast(one, a), ExprKind::Cast(other, b)) => one == other && same_type(a, b),
                (ExprKind::Cast(..), _) | (_, ExprKind::Cast(..)) => false,
                _ => true,
            }
    }
    is_named(other) && same_type(expr, other) && other.text != expr.text
}
