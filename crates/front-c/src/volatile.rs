//! Volatile objects whose every read gives a new input (`--volatile fresh`).
//!
//! Globals and what is behind pointers: a device's registers, what another thread or a signal handler writes. Locals are
//! nobody else's. Numbers only: a volatile pointer or bit-field is read from memory as ever. The memory is still accessed, so
//! that what goes wrong there is found. There is no formula of such a read: looking once more would find another value.

use crate::ast::Node;
use crate::ctype::{Type, TypeKind};
use crate::func::{Local, Lowerer};
use crate::place::Place;
use touchstone_base::Span;
use touchstone_ir::{BinOp, Builtin, InstKind, Operand};

impl Lowerer<'_, '_> {
    /// Reads the scalar at the place of an lvalue.
    pub fn read_object(&mut self, lvalue: &Node, place: Place, ty: &Type, span: Span) -> Operand {
        let old = self.load(place, ty, span);
        if !self.is_fresh(lvalue) || !matches!(place, Place::Memory(..)) {
            return old;
        }
        let text = format!("<volatile {}>", self.unit.short_text(lvalue));
        let name = self.unit.program.text_literal(&text, span);
        let name = self.global_address(name, span);
        let scalar = self.unit.program.types.scalar(ty);
        let dst = self.temp(scalar);
        self.emit(InstKind::Builtin { dst: Some(dst), builtin: Builtin::FreshInt, args: vec![name] }, span);
        match ty.kind {
            TypeKind::Bool => self.bin(BinOp::And, Operand::Reg(dst), Operand::Const(scalar, 1), span),
            _ => Operand::Reg(dst),
        }
    }

    /// Whether every read of an lvalue is a new input.
    pub fn is_fresh(&self, lvalue: &Node) -> bool {
        if !self.unit.program.types.fresh_volatile {
            return false;
        }
        let ty = self.unit.type_of(lvalue);
        let is_number =
            matches!(ty.kind, TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum(_) | TypeKind::Bool);
        ty.is_volatile && is_number && !self.is_own_local(lvalue)
    }

    /// Whether an lvalue is (in) a local of the function.
    fn is_own_local(&self, lvalue: &Node) -> bool {
        match (lvalue.kind.as_str(), lvalue.inner.first()) {
            ("DeclRefExpr", _) => {
                let local = lvalue.decl.as_ref().and_then(|decl| self.locals.get(&decl.id));
                local.is_some_and(|local| !matches!(local, Local::Static(_)))
            }
            ("ParenExpr", Some(inner)) => self.is_own_local(inner),
            ("MemberExpr", Some(inner)) => !lvalue.is_arrow && self.is_own_local(inner),
            ("ArraySubscriptExpr", Some(base)) => {
                let array = base.inner.first().filter(|_| base.cast == "ArrayToPointerDecay");
                array.is_some_and(|array| self.is_own_local(array))
            }
            _ => false,
        }
    }
}
