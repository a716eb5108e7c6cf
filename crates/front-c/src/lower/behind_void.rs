//! What is behind a `void *` parameter: the type that the function casts it to, if it is one type and the parameter is used for
//! nothing else (`struct context *c = arg;`).
//!
//! As an input such a parameter leads to objects of that type. Where there is any other use, bytes are behind it as before: they may
//! be anything, so nothing is left out.

use crate::clang::kind::NodeKind as K;
use crate::clang::node::Node;
use crate::clang::words::{CastKind as Cast, Opcode};
use crate::lower::func::Lowerer;
use crate::types::ctype::{Type, TypeKind};
use touchstone_ir::DataType;

/// What a function does with a parameter.
#[derive(Default)]
struct Uses<'n> {
    /// The casts of it.
    casts: Vec<&'n Node>,
    /// Anything else that may look behind it or change it.
    other: bool,
}

impl Lowerer<'_, '_> {
    /// Parameters that lead to objects of one type are declared so.
    pub(super) fn type_void_parameters(&mut self, node: &Node) {
        if self.function.is_library() {
            return;
        }
        let Some(body) = node.inner.iter().find(|inner| inner.kind == K::CompoundStmt) else { return };
        let hidden = usize::from(self.function.aggregate_result);
        let params = node.inner.iter().filter(|inner| inner.kind == K::ParmVarDecl);
        for (index, param) in params.enumerate() {
            let is_void = |ty: &Type| matches!(ty.kind, TypeKind::Void);
            if !self.unit.type_of(param).element().is_some_and(is_void) {
                continue;
            }
            let mut uses = Uses::default();
            collect(body, param.id, &mut uses);
            let types: Vec<Type> = uses.casts.iter().map(|cast| self.unit.type_of(cast)).collect();
            let Some(first) = types.first().filter(|_| !uses.other) else { continue };
            let plain = |ty: &Type| ty.element().map(|element| element.unaliased().kind);
            if !types.iter().all(|ty| plain(ty) == plain(first)) || !self.is_object(first) {
                continue;
            }
            let data = self.unit.program.types.data(first);
            if let Some(param) = self.function.params.get_mut(index + hidden) {
                param.data = data;
            }
        }
    }

    /// Whether a pointer leads to a function, or to something of a known size that is no plain byte.
    fn is_object(&mut self, pointer: &Type) -> bool {
        let Some(element) = pointer.element() else { return false };
        if element.is_volatile {
            return false;
        }
        match &element.kind {
            TypeKind::Int { bits, .. } => *bits > 8,
            TypeKind::Float { .. } | TypeKind::Pointer(_) | TypeKind::Function { .. } => true,
            TypeKind::Record(_) => {
                let types = &mut self.unit.program.types;
                let data = types.data(element);
                matches!(types.data[data], DataType::Struct { size, .. } if size > 0)
            }
            _ => false,
        }
    }
}

/// Looks for uses of a parameter.
fn collect<'n>(node: &'n Node, param: u64, uses: &mut Uses<'n>) {
    let is_it = |node: &Node| is_value(node, param);
    for inner in &node.inner {
        if !is_it(inner) {
            collect(inner, param, uses);
            continue;
        }
        match (&node.kind, &node.cast, &node.opcode) {
            (K::ImplicitCastExpr | K::CStyleCastExpr, Cast::BitCast, _) => uses.casts.push(node),
            // To ask whether it is null looks at nothing.
            (K::ImplicitCastExpr | K::CStyleCastExpr, Cast::PointerToBoolean | Cast::ToVoid, _)
            | (K::BinaryOperator, _, Opcode::Equal | Opcode::NotEqual | Opcode::And | Opcode::Or)
            | (K::UnaryOperator, _, Opcode::Not)
            | (K::IfStmt, _, _) => {}
            _ => uses.other = true,
        }
    }
    // Its address, or an assignment to it.
    let names_it = |node: &Node| node.kind == K::DeclRefExpr && node.decl.as_ref().is_some_and(|decl| decl.id == param);
    if node.inner.iter().any(names_it) && !is_it(node) && node.kind != K::ParenExpr {
        uses.other = true;
    }
}

/// Whether an expression is the value of a variable.
fn is_value(node: &Node, variable: u64) -> bool {
    let Some(inner) = node.inner.first() else { return false };
    match node.kind {
        K::ParenExpr => is_value(inner, variable),
        K::ImplicitCastExpr if node.cast == Cast::LValueToRValue => {
            let mut named = inner;
            while let (K::ParenExpr, Some(inner)) = (&named.kind, named.inner.first()) {
                named = inner;
            }
            named.kind == K::DeclRefExpr && named.decl.as_ref().is_some_and(|decl| decl.id == variable)
        }
        K::ImplicitCastExpr | K::CStyleCastExpr if node.cast == Cast::NoOp => is_value(inner, variable),
        _ => false,
    }
}
