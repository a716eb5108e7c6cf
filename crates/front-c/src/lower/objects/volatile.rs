//! Values that the program's text does not determine: volatile objects and weak symbols.
//!
//! Volatile objects are globals and pointees: registers of a device, memory that another thread or a signal handler
//! writes. Locals are private. With `--volatile fresh`, every read of a number is a new input; memory is still
//! accessed, so that invalid accesses are found. Otherwise, a read returns the contents of memory, marked as unspecified,
//! so that no proof relies on it. In both cases such a read has no formula: another read may return another value.
//!
//! Another file may define a weak symbol, or none: its address, and calls of it, are marked in the same way. So is the
//! address of a symbol that the linker defines at the bounds of a section.

use crate::clang::ast_enums::CastKind as Cast;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::lower::context::func::{Local, Lowerer};
use crate::lower::context::lvalue::Location;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_ir::{BinOp, Builtin, GlobalId, InputSource, InstKind, Operand, Ty};

/// The beginnings of symbols that the linker defines at the bounds of a section.
const SECTION_BOUNDS: [&str; 2] = ["__start_", "__stop_"];

impl Lowerer<'_, '_> {
    /// Reads a scalar at the location of an lvalue.
    pub fn read_object(&mut self, lvalue: &AstNode, place: Location, ty: &Type, span: Span) -> Operand {
        if self.is_volatile(lvalue) && !is_named(lvalue) && !self.is_fresh(lvalue) {
            self.refresh(place, ty, span);
        }
        let old = self.load(place, ty, span);
        if !self.is_volatile(lvalue) {
            return old;
        }
        if !self.is_fresh(lvalue) || !matches!(place, Location::Memory(..)) {
            let text = self.unit.short_text(lvalue);
            return self.unspecified(&format!("volatile `{text}` may have another value by then"), old, span);
        }
        let text = self.unit.short_text(lvalue);
        let name = self.unit.program.text_literal(&text, span);
        let name = self.global_address(name, span);
        let scalar = self.unit.program.types.scalar(ty);
        let dst = self.temp(scalar);
        let builtin = Builtin::FreshInt(InputSource::Volatile);
        self.emit(InstKind::Builtin { dst: Some(dst), builtin, args: vec![name] }, span);
        match ty.kind {
            TypeKind::Bool => self.bin(BinOp::And, Operand::Reg(dst), Operand::Const(scalar, 1), span),
            _ => Operand::Reg(dst),
        }
    }

    /// Havocs a pointee before a read of a number: it may be a register of a device.
    fn refresh(&mut self, place: Location, ty: &Type, span: Span) {
        let is_number = matches!(ty.kind, TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum(_));
        if is_number && matches!(place, Location::Memory(..)) {
            let bytes = self.unit.program.types.scalar(ty).bytes();
            let args = vec![self.address(place, span), Operand::Const(Ty::I64, u64::from(bytes))];
            self.emit(InstKind::Builtin { dst: None, builtin: Builtin::Refresh, args }, span);
        }
    }

    /// Returns true if every read of an lvalue is a new input.
    fn is_fresh(&self, lvalue: &AstNode) -> bool {
        let kind = self.unit.type_of(lvalue).kind;
        let is_number =
            matches!(kind, TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum(_) | TypeKind::Bool);
        self.unit.program.types.fresh_volatile && is_number && self.is_volatile(lvalue)
    }

    /// Returns true if an lvalue may change at any time.
    pub fn is_volatile(&self, lvalue: &AstNode) -> bool {
        self.unit.type_of(lvalue).is_volatile && !self.is_own_local(lvalue) && !is_injected(Fault::StableVolatile)
    }

    /// Marks a value that may differ in a real program, with the reason.
    pub fn unspecified(&mut self, why: &str, value: Operand, span: Span) -> Operand {
        let why = self.unit.program.text_literal(why, span);
        let why = self.global_address(why, span);
        let dst = self.temp(self.function.operand_ty(value));
        self.emit(InstKind::Builtin { dst: Some(dst), builtin: Builtin::Unspecified, args: vec![why, value] }, span);
        Operand::Reg(dst)
    }

    /// Emits the address of a named object or function; a weak symbol's may be null or that of another definition, and
    /// a symbol that the linker defines is the address of other variables.
    pub fn named_address(&mut self, name: &str, global: GlobalId, span: Span) -> Operand {
        let address = self.global_address(global, span);
        if self.unit.program.weak.contains(name) {
            return self.unspecified(&weak(name), address, span);
        }
        match SECTION_BOUNDS.iter().any(|prefix| name.starts_with(prefix)) {
            true => self.unspecified(&format!("the linker places `{name}` beside other variables"), address, span),
            false => address,
        }
    }

    /// Marks a call of a weak function, which another definition may replace.
    pub fn emit_weak(&mut self, name: &str, span: Span) {
        let why = self.unit.program.text_literal(&weak(name), span);
        let why = self.global_address(why, span);
        self.emit(InstKind::Builtin { dst: None, builtin: Builtin::Unspecified, args: vec![why] }, span);
    }

    /// Returns true if an lvalue is, or is part of, a local variable.
    fn is_own_local(&self, lvalue: &AstNode) -> bool {
        match (&lvalue.kind, lvalue.inner.first()) {
            (K::DeclRefExpr, _) => {
                let Some(decl) = &lvalue.decl else { return false };
                // Code that has the address may change it.
                let shared = self.has_address(decl.id);
                self.locals.get(&decl.id).is_some_and(|local| !shared && !matches!(local, Local::Static(_)))
            }
            (K::ParenExpr, Some(inner)) => self.is_own_local(inner),
            (K::MemberExpr, Some(inner)) => !lvalue.is_arrow && self.is_own_local(inner),
            (K::ArraySubscriptExpr, Some(base)) => {
                let array = base.inner.first().filter(|_| base.cast == Cast::ArrayToPointerDecay);
                array.is_some_and(|array| self.is_own_local(array))
            }
            _ => false,
        }
    }
}

/// Returns true if an lvalue is, or is part of, a variable, and not a pointee.
fn is_named(lvalue: &AstNode) -> bool {
    match (&lvalue.kind, lvalue.inner.first()) {
        (K::DeclRefExpr, _) => true,
        (K::ParenExpr, Some(inner)) => is_named(inner),
        (K::MemberExpr, Some(inner)) => !lvalue.is_arrow && is_named(inner),
        (K::ArraySubscriptExpr, Some(base)) if base.cast == Cast::ArrayToPointerDecay => {
            base.inner.first().is_some_and(is_named)
        }
        _ => false,
    }
}

fn weak(name: &str) -> String {
    format!("another file may define weak `{name}`")
}
