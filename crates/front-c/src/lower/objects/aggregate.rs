//! Structures and arrays: copies, initialisers, unnamed values.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::selected;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::lower::context::initialisers::{elements, unbraced};
use crate::lower::context::lvalue::Location;
use crate::lower::numbers::complex::is_computed_complex;
use crate::lower::numbers::vector::is_computed_vector;
use crate::types::ctype::{FieldInfo, Type, TypeKind};
use touchstone_base::Span;
use touchstone_ir::{DecisionKind, InstKind, Operand, TermKind, Ty};

impl Lowerer<'_, '_> {
    /// Writes the value of a structure expression to an address.
    pub fn aggregate(&mut self, node: &AstNode, ty: &Type, dst: Operand) {
        if let Some(what) = self.unit.program.types.unsupported(ty) {
            return self.unsupported(what, node);
        }
        let span = self.unit.span(node);
        if ty.is_two_words() {
            let value = self.wide(node);
            self.store_wide(Location::Memory(dst, 0), value, span);
            return;
        }
        if let Some((element, _)) = ty.vector()
            && is_computed_vector(node)
        {
            let lanes = self.lanes(node);
            return self.store_lanes(dst, &element, &lanes, span);
        }
        if let Some(part) = ty.complex()
            && is_computed_complex(node)
        {
            let pair = self.complex(node);
            return self.store_pair(Location::Memory(dst, 0), &part, pair, span);
        }
        match (&node.kind, node.inner.as_slice()) {
            (K::ParenExpr | K::ConstantExpr | K::OpaqueValueExpr, [inner]) => self.aggregate(inner, ty, dst),
            (K::UnaryOperator, [inner]) if node.opcode == Opcode::Extension => self.aggregate(inner, ty, dst),
            (K::ImplicitCastExpr | K::CStyleCastExpr, [inner]) if node.cast == Cast::LValueToRValue => {
                let place = self.lvalue(inner);
                let src = self.address(place, span);
                self.copy(dst, src, ty, span);
            }
            (K::ImplicitCastExpr | K::CStyleCastExpr, [inner]) if node.cast == Cast::NoOp => {
                self.aggregate(inner, ty, dst)
            }
            (K::CallExpr, _) => drop(self.call(node, Some(dst))),
            (K::InitListExpr, _) => self.initialise(node, ty, Location::Memory(dst, 0)),
            (K::ImplicitValueInitExpr, _) => self.clear(dst, ty, span),
            (K::BinaryOperator, [left, right]) if node.opcode == Opcode::Comma => {
                self.effect(left);
                self.aggregate(right, ty, dst);
            }
            (K::BinaryOperator, _) if node.opcode == Opcode::Assign => {
                let src = self.record_assignment(node);
                self.copy(dst, src, ty, span);
            }
            (K::ConditionalOperator, [condition, yes, no]) => {
                let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
                self.decide(condition, DecisionKind::Ternary, then_block, else_block);
                for (block, side) in [(then_block, yes), (else_block, no)] {
                    self.start(block);
                    self.aggregate(side, ty, dst);
                    self.terminate(TermKind::Jump(join), span);
                }
                self.start(join);
            }
            (K::StmtExpr, _) => {
                if let Some(last) = self.statement_expression_body(node) {
                    self.aggregate(last, ty, dst);
                }
                self.unit.pop_scope();
            }
            (K::GenericSelectionExpr, _) => match selected(node) {
                Some(chosen) => self.aggregate(chosen, ty, dst),
                None => self.unsupported(Construct::GenericSelection, node),
            },
            (K::ChooseExpr, _) => match self.unit.chosen(node) {
                Some(chosen) => self.aggregate(chosen, ty, dst),
                None => self.unsupported(Construct::ChooseExpression, node),
            },
            (K::VAArgExpr, _) => {
                let place = self.next_argument(node, ty, span);
                let src = self.address(place, span);
                self.copy(dst, src, ty, span);
            }
            (K::DeclRefExpr | K::MemberExpr | K::ArraySubscriptExpr | K::CompoundLiteralExpr | K::UnaryOperator, _) => {
                let place = self.lvalue(node);
                let src = self.address(place, span);
                self.copy(dst, src, ty, span);
            }
            (kind, _) => {
                self.unsupported(Construct::Node(kind.clone()), node);
            }
        }
    }

    /// Assigns a structure; returns the address of the left side.
    pub fn record_assignment(&mut self, node: &AstNode) -> Operand {
        let [left, right] = node.inner.as_slice() else {
            return self.unsupported_value(Construct::MalformedExpression, node);
        };
        let span = self.unit.span(node);
        let ty = self.unit.type_of(left);
        let place = self.written_lvalue(left);
        let dst = self.address(place, span);
        let plain = right.kind == K::ImplicitCastExpr && right.cast == Cast::LValueToRValue;
        if plain {
            self.aggregate(right, &ty, dst);
        } else {
            // The right side may read the object that is overwritten.
            let value = self.temporary(&ty, span);
            self.aggregate(right, &ty, value);
            self.copy(dst, value, &ty, span);
        }
        dst
    }

    fn copy(&mut self, dst: Operand, src: Operand, ty: &Type, span: Span) {
        let size = Operand::Const(Ty::I64, self.unit.program.types.size(ty));
        self.emit(InstKind::MemCopy { dst, src, size }, span);
    }
    fn clear(&mut self, dst: Operand, ty: &Type, span: Span) {
        let size = Operand::Const(Ty::I64, self.unit.program.types.size(ty));
        self.emit(InstKind::MemSet { dst, value: Operand::Const(Ty::I8, 0), size }, span);
    }

    /// Initialises an object.
    pub fn initialise(&mut self, node: &AstNode, ty: &Type, place: Location) {
        let span = self.unit.span(node);
        if ty.is_two_words() {
            let value = self.wide(node);
            self.store_wide(place, value, span);
            return;
        }
        if ty.vector().is_some() || ty.complex().is_some() {
            let address = self.address(place, span);
            return self.aggregate(node, ty, address);
        }
        if !matches!(ty.kind, TypeKind::Record(_) | TypeKind::Array(..)) {
            self.mark_value(node);
            let value = self.rvalue(node);
            self.store(place, value, span);
            return;
        }
        let mut list = node;
        while let (K::ParenExpr, Some(inner)) = (&list.kind, list.inner.first()) {
            list = inner;
        }
        list = unbraced(list, ty);
        if let Some(what) = self.unit.program.types.unsupported(ty)
            && list.kind != K::InitListExpr
        {
            return self.unsupported(what, node);
        }
        let zeroed = list.kind == K::InitListExpr && has_gaps(list, ty);
        if zeroed {
            let address = self.address(place, span);
            self.clear(address, ty, span);
        }
        self.fill(list, ty, place, zeroed);
    }

    /// Writes the explicit parts of an initialiser.
    fn fill(&mut self, node: &AstNode, ty: &Type, place: Location, zeroed: bool) {
        let node = unbraced(node, ty);
        let span = self.unit.span(node);
        match (&node.kind, &ty.kind) {
            (K::ImplicitValueInitExpr, _) if zeroed => {}
            (K::ParenExpr, _) if node.inner.len() == 1 => self.fill(&node.inner[0], ty, place, zeroed),
            (K::InitListExpr, TypeKind::Array(element, _)) => {
                let size = self.unit.program.types.size(element) as i64;
                for (index, value) in elements(node).iter().enumerate() {
                    self.fill(value, element, inside(place, index as i64 * size), zeroed);
                }
            }
            (K::InitListExpr, TypeKind::Record(id)) => self.fill_record(node, *id, place, zeroed),
            (K::StringLiteral | K::PredefinedExpr, TypeKind::Array(..)) => {
                let Some(global) = self.unit.string_global(node, span) else {
                    return self.unsupported(Construct::StringLiteral, node);
                };
                let src = self.global_address(global, span);
                let dst = self.address(place, span);
                let length = self.unit.program.globals[global].size.min(self.unit.program.types.size(ty));
                self.emit(InstKind::MemCopy { dst, src, size: Operand::Const(Ty::I64, length) }, span);
            }
            (K::CompoundLiteralExpr, TypeKind::Array(..)) => {
                let source = self.lvalue(node);
                let src = self.address(source, span);
                let dst = self.address(place, span);
                self.copy(dst, src, ty, span);
            }
            _ if ty.is_record() => {
                let dst = self.address(place, span);
                self.aggregate(node, ty, dst);
            }
            (kind, TypeKind::Array(..) | TypeKind::OpenArray(_)) => {
                self.unsupported(Construct::ArrayInitialiser(kind.clone()), node);
            }
            _ => {
                self.mark_element(node);
                let value = self.rvalue(node);
                if !(zeroed && matches!(value, Operand::Const(_, 0))) {
                    self.store(place, value, span);
                }
            }
        }
    }
    fn fill_record(&mut self, node: &AstNode, id: usize, place: Location, zeroed: bool) {
        let record = self.unit.program.types.records[id].clone();
        if let Some(what) = record.problem {
            return self.unsupported(what, node);
        }
        let named = |field: &&FieldInfo| field.bits.is_none() || !field.name.is_empty();
        let chosen = node.decl.as_ref().map(|decl| decl.id);
        let fields = record.fields.iter().filter(|field| !record.is_union || Some(field.id) == chosen).filter(named);
        for (field, value) in fields.zip(&node.inner) {
            let part = match (field.bits, place) {
                (Some(bits), Location::Memory(base, before)) => {
                    Location::Bits(base, self.bit_field(before, bits, &field.ty))
                }
                _ => inside(place, field.offset as i64),
            };
            self.fill(value, &field.ty, part, zeroed);
        }
    }
}

fn inside(place: Location, offset: i64) -> Location {
    match place {
        Location::Memory(base, before) => Location::Memory(base, before.wrapping_add(offset)),
        Location::Register(_) | Location::Bits(..) => place,
    }
}

/// Returns true if an initialiser leaves bytes to be zeroed (also because of a union or bit-field, which are written
/// partly).
fn has_gaps(node: &AstNode, ty: &Type) -> bool {
    let node = unbraced(node, ty);
    if node.kind == K::ImplicitValueInitExpr {
        return true;
    }
    if node.kind != K::InitListExpr {
        return false;
    }
    let short = match &ty.kind {
        TypeKind::Array(_, length) => (elements(node).len() as u64) < *length,
        _ => node.inner.is_empty() || node.decl.is_some(),
    };
    let element = ty.element().cloned();
    short
        || !node.filler.is_empty()
        || node.inner.iter().any(|inner| {
            // The type of a structure's member is not needed: an incomplete list has a filler.
            has_gaps(inner, element.as_ref().unwrap_or(&Type::int()))
        })
}
