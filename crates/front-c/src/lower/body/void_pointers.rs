//! Inference of pointee types for `void *`, for pointers to types that are never defined (`struct state *` in a header)
//! and for pointers to a common initial member (`struct base *`).
//!
//! A `void *` parameter gets the type that the function casts it to, if there is only one and the parameter is not used
//! otherwise (`struct context *c = arg;`). As an input it points to objects of that type.
//!
//! Elsewhere (members, results, parameters with other uses), a cast is recorded as a hint for the pointee type from
//! there on ([`Builtin::CastPointee`]). A variable or member that a function casts to one type (or to one that begins with
//! the others) has the hint wherever it is read there, so that it is effective at a check for null before the cast. The
//! hint is sound: the pointer may still point to plain bytes, which can be anything.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::lower::context::func::Lowerer;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::{Id, Span};
use touchstone_ir::{Builtin, DataType, InstKind, Operand, Ty};

/// The uses of a parameter.
#[derive(Default)]
struct Uses<'n> {
    /// Casts of its value.
    casts: Vec<&'n AstNode>,
    /// True if it has other uses, which may dereference or change it.
    other: bool,
}

impl Lowerer<'_, '_> {
    /// Gives `void *` parameters the type that they are cast to.
    pub fn type_void_parameters(&mut self, node: &AstNode) {
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

    /// Collects the types that `void *` variables and members are cast to.
    pub fn collect_void_casts(&mut self, node: &AstNode) {
        if self.function.is_library() {
            return;
        }
        let mut waiting: Vec<&AstNode> = node.inner.iter().collect();
        while let Some(node) = waiting.pop() {
            waiting.extend(&node.inner);
            let is_cast = matches!(node.kind, K::ImplicitCastExpr | K::CStyleCastExpr) && node.cast == Cast::BitCast;
            let Some(inner) = node.inner.first().filter(|_| is_cast) else { continue };
            let Some(read) = read_of(inner) else { continue };
            let (from, to) = (self.unit.type_of(inner), self.unit.type_of(node));
            if self.is_pointee_hint(inner, &from, &to) {
                let known = match self.inferred_pointees.remove(&read) {
                    Some(known) => known.and_then(|known| self.larger(known, to)),
                    None => Some(to),
                };
                self.inferred_pointees.insert(read, known);
            }
        }
    }

    /// Returns the more specific of two pointer types: its pointee equals or begins with that of the other.
    fn larger(&mut self, one: Type, other: Type) -> Option<Type> {
        let types = &mut self.unit.program.types;
        let (a, b) = (types.data(one.element()?), types.data(other.element()?));
        match (
            a == b,
            types.data[a].is_compatible_with(b, &types.data),
            types.data[b].is_compatible_with(a, &types.data),
        ) {
            (true, ..) | (_, true, _) => Some(one),
            (_, _, true) => Some(other),
            _ => None,
        }
    }

    /// Returns the inferred type of a variable or member that is read.
    pub fn inferred_pointee(&self, read: &AstNode) -> Option<Type> {
        self.inferred_pointees.get(&named(read)?)?.clone()
    }

    /// Returns true if a cast is a hint for the pointee type: the previous type is less specific, and the object is not
    /// freshly allocated.
    pub fn is_pointee_hint(&mut self, pointer: &AstNode, from: &Type, to: &Type) -> bool {
        let (Some(before), Some(after)) = (from.element(), to.element()) else { return false };
        let is_function = matches!(after.unaliased().kind, TypeKind::Function { .. });
        self.may_be_other(before, after)
            && !is_function
            && !self.function.is_library()
            && !allocates(pointer)
            && self.is_object(to)
    }

    /// Returns true if an object declared with the first type may be of the second: the first is `void`, or the second
    /// begins with it.
    fn may_be_other(&mut self, before: &Type, after: &Type) -> bool {
        match before.kind {
            TypeKind::Void => true,
            TypeKind::Record(_) => {
                let types = &mut self.unit.program.types;
                let (before, after) = (types.data(before), types.data(after));
                types.data[after].is_compatible_with(before, &types.data)
            }
            _ => false,
        }
    }

    /// Emits the hint for the pointee type.
    pub fn hint_pointee(&mut self, pointer: Operand, to: &Type, span: Span) {
        let Some(element) = to.element() else { return };
        let ty = self.unit.program.types.data(element).index() as u64;
        let args = vec![pointer, Operand::Const(Ty::I64, ty)];
        self.emit(InstKind::Builtin { dst: None, builtin: Builtin::CastPointee, args }, span);
    }

    /// Returns true if a pointer points to a function, or to an object of a known size other than a byte.
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

/// Returns the variable or member that an expression reads.
fn read_of(node: &AstNode) -> Option<u64> {
    let inner = node.inner.first()?;
    match (&node.kind, &node.cast) {
        (K::ParenExpr, _) | (K::ImplicitCastExpr | K::CStyleCastExpr, Cast::NoOp) => read_of(inner),
        (K::ImplicitCastExpr, Cast::LValueToRValue) => named(inner),
        _ => None,
    }
}

fn named(place: &AstNode) -> Option<u64> {
    match place.kind {
        K::ParenExpr => named(place.inner.first()?),
        K::DeclRefExpr => place.decl.as_ref().map(|decl| decl.id),
        K::MemberExpr => Some(place.link),
        _ => None,
    }
}

/// Returns true if an expression is a null pointer or a call of an allocator.
fn allocates(node: &AstNode) -> bool {
    const FRESH: [&str; 6] = ["malloc", "calloc", "realloc", "alloca", "aligned_alloc", "__builtin_alloca"];
    let names_fresh = |node: &AstNode| node.decl.as_ref().is_some_and(|decl| FRESH.contains(&decl.name.as_str()));
    match (&node.kind, node.inner.first()) {
        (K::IntegerLiteral, _) => true,
        (K::DeclRefExpr, _) => names_fresh(node),
        (K::ParenExpr | K::ImplicitCastExpr | K::CStyleCastExpr | K::CallExpr, Some(inner)) => {
            node.cast != Cast::LValueToRValue && allocates(inner)
        }
        _ => false,
    }
}

/// Collects the uses of a parameter.
fn collect<'n>(node: &'n AstNode, param: u64, uses: &mut Uses<'n>) {
    let is_it = |node: &AstNode| is_value(node, param);
    for inner in &node.inner {
        if !is_it(inner) {
            collect(inner, param, uses);
            continue;
        }
        match (&node.kind, &node.cast, &node.opcode) {
            (K::ImplicitCastExpr | K::CStyleCastExpr, Cast::BitCast, _) => uses.casts.push(node),
            // A check for null does not dereference it.
            (K::ImplicitCastExpr | K::CStyleCastExpr, Cast::PointerToBoolean | Cast::ToVoid, _)
            | (K::BinaryOperator, _, Opcode::Equal | Opcode::NotEqual | Opcode::And | Opcode::Or)
            | (K::UnaryOperator, _, Opcode::Not)
            | (K::IfStmt, _, _) => {}
            _ => uses.other = true,
        }
    }
    // Its address is taken, or it is assigned.
    let names_it =
        |node: &AstNode| node.kind == K::DeclRefExpr && node.decl.as_ref().is_some_and(|decl| decl.id == param);
    if node.inner.iter().any(names_it) && !is_it(node) && node.kind != K::ParenExpr {
        uses.other = true;
    }
}

/// Returns true if an expression reads a variable.
fn is_value(node: &AstNode, variable: u64) -> bool {
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
