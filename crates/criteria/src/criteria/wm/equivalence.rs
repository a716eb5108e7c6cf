//! Structural equivalence of expressions: they compute the same in the same way, however they are written.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use touchstone_ir::{Expr, ExprKind};

/// Returns true if two expressions are structurally equivalent.
pub(super) fn same(a: &Expr, b: &Expr) -> bool {
    let head = |expr: &Expr| std::mem::discriminant(&expr.kind);
    if head(a) != head(b) || a.ty != b.ty {
        return false;
    }
    match (&a.kind, &b.kind) {
        (ExprKind::Bin(x, ..), ExprKind::Bin(y, ..)) if x != y => return false,
        (ExprKind::Cmp(x, ..), ExprKind::Cmp(y, ..)) if x != y => return false,
        (ExprKind::Cast(x, _), ExprKind::Cast(y, _)) if x != y => return false,
        (ExprKind::Float(x, f, _), ExprKind::Float(y, g, _)) if (x, f) != (y, g) => return false,
        (ExprKind::AsFloat(f, _), ExprKind::AsFloat(g, _)) if f != g => return false,
        _ => {}
    }
    let (parts, others) = (a.parts(), b.parts());
    if parts.is_empty() {
        return a.kind == b.kind;
    }
    parts.into_iter().zip(others).all(|(a, b)| same(a, b))
}

/// Expressions, no two the same.
#[derive(Default)]
pub(super) struct Distinct {
    /// By a number that is equal for what is the same; [`same`] has the last word.
    by_hash: FxHashMap<u64, Vec<Expr>>,
}

impl Distinct {
    /// Adds an expression; says whether it was not there.
    pub(super) fn insert(&mut self, expr: Expr) -> bool {
        let mut hasher = FxHasher::default();
        hash(&expr, &mut hasher);
        let alike = self.by_hash.entry(hasher.finish()).or_default();
        let is_new = !alike.iter().any(|known| same(known, &expr));
        if is_new {
            alike.push(expr);
        }
        is_new
    }
}

/// Hashes only what [`same`] compares.
fn hash(expr: &Expr, hasher: &mut FxHasher) {
    std::mem::discriminant(&expr.kind).hash(hasher);
    expr.ty.hash(hasher);
    match &expr.kind {
        ExprKind::Const(value) => value.hash(hasher),
        ExprKind::Reg(reg) => reg.hash(hasher),
        ExprKind::Slot(slot) => slot.hash(hasher),
        ExprKind::Global(global) => global.hash(hasher),
        ExprKind::Bin(op, ..) => op.hash(hasher),
        ExprKind::Cmp(op, ..) => op.hash(hasher),
        _ => {}
    }
    for part in expr.parts() {
        hash(part, hasher);
    }
}
