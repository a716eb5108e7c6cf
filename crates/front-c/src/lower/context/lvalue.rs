//! Lvalues: the locations of objects.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::selected;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::bit_fields::BitField;
use crate::lower::context::func::{Local, Lowerer};
use crate::types::ctype::{FieldInfo, Type, TypeKind};
use touchstone_base::Span;
use touchstone_ir::{BinOp, Builtin, DataType, InstKind, Operand, Reg, Ty};

/// The location of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Location {
    Register(Reg),
    /// An offset in bytes from an address.
    Memory(Operand, i64),
    /// A bit-field relative to an address.
    Bits(Operand, BitField),
}

/// The access for which a location is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Access {
    Read,
    Write,
}

impl Location {
    /// A location for unreachable code.
    pub const UNREACHABLE: Location = Location::Memory(Operand::Const(Ty::Ptr, 0), 0);
}

impl Lowerer<'_, '_> {
    /// Lowers an lvalue that is read.
    pub fn lvalue(&mut self, node: &AstNode) -> Location {
        self.lvalue_for(node, Access::Read)
    }
    /// Lowers an lvalue that is written: its indices have program points.
    pub fn written_lvalue(&mut self, node: &AstNode) -> Location {
        self.lvalue_for(node, Access::Write)
    }
    fn lvalue_for(&mut self, node: &AstNode, access: Access) -> Location {
        let span = self.unit.span(node);
        match &node.kind {
            K::ParenExpr | K::ConstantExpr => self.lvalue_of_first(node, access),
            K::UnaryOperator if node.opcode == Opcode::Extension => self.lvalue_of_first(node, access),
            K::UnaryOperator if node.opcode == Opcode::Star => match node.inner.first() {
                Some(pointer) => Location::Memory(self.rvalue(pointer), 0),
                None => self.unsupported_lvalue(Construct::MalformedExpression, node),
            },
            K::UnaryOperator if matches!(node.opcode, Opcode::Real | Opcode::Imag) => {
                let place = self.lvalue_of_first(node, access);
                match (place, &node.opcode) {
                    (Location::Memory(base, before), Opcode::Imag) => {
                        let size = self.unit.program.types.size(&self.unit.type_of(node)) as i64;
                        Location::Memory(base, before.wrapping_add(size))
                    }
                    (place, _) => place,
                }
            }
            K::ImplicitCastExpr | K::CStyleCastExpr if matches!(node.cast, Cast::NoOp | Cast::LValueBitCast) => {
                self.lvalue_of_first(node, access)
            }
            K::DeclRefExpr => self.lvalue_of_variable(node, span),
            K::ArraySubscriptExpr => self.lvalue_of_element(node, span, access),
            K::MemberExpr => self.lvalue_of_member(node, access),
            K::StringLiteral | K::PredefinedExpr => match self.unit.string_global(node, span) {
                Some(global) => Location::Memory(self.global_address(global, span), 0),
                None => self.unsupported_lvalue(Construct::StringLiteral, node),
            },
            K::CompoundLiteralExpr => self.lvalue_of_literal(node, span),
            K::GenericSelectionExpr => match selected(node) {
                Some(chosen) => self.lvalue_for(chosen, access),
                None => self.unsupported_lvalue(Construct::GenericSelection, node),
            },
            _ if self.unit.type_of(node).is_record() => {
                // An rvalue of structure type (a call's result) is stored in a temporary, so that its members have an
                // address.
                let ty = self.unit.type_of(node);
                let address = self.temporary(&ty, span);
                self.aggregate(node, &ty, address);
                Location::Memory(address, 0)
            }
            kind => self.unsupported_lvalue(Construct::Node(kind.clone()), node),
        }
    }

    fn unsupported_lvalue(&mut self, construct: Construct, node: &AstNode) -> Location {
        self.unsupported(construct, node);
        Location::UNREACHABLE
    }
    fn lvalue_of_first(&mut self, node: &AstNode, access: Access) -> Location {
        match node.inner.first() {
            Some(inner) => self.lvalue_for(inner, access),
            None => self.unsupported_lvalue(Construct::MalformedExpression, node),
        }
    }

    fn lvalue_of_variable(&mut self, node: &AstNode, span: Span) -> Location {
        let Some(decl) = &node.decl else { return self.unsupported_lvalue(Construct::MalformedExpression, node) };
        if let Some(Local::Variable(reg, _)) = self.locals.get(&decl.id) {
            return Location::Memory(Operand::Reg(*reg), 0);
        }
        if let Some(what) = self.unsupported_variable(node) {
            return self.unsupported_lvalue(what, node);
        }
        if let Some(place) = self.local_location(decl.id, span) {
            return place;
        }
        match self.locals.get(&decl.id) {
            None if decl.kind == K::VarDecl => {
                let global = self.unit.global_named(&decl.name, decl.ty.as_ref());
                Location::Memory(self.named_address(&decl.name, global, span), 0)
            }
            None if decl.kind == K::FunctionDecl => {
                let global = self.unit.function_address(&decl.name.clone(), decl.ty.as_ref(), span);
                Location::Memory(self.named_address(&decl.name, global, span), 0)
            }
            _ => self.unsupported_lvalue(Construct::UnknownVariable, node),
        }
    }
    /// Returns the location of a local variable.
    pub fn local_location(&mut self, id: u64, span: Span) -> Option<Location> {
        Some(match self.locals.get(&id).copied()? {
            Local::Register(reg) => Location::Register(reg),
            Local::Slot(slot) => Location::Memory(self.slot_address(slot, span), 0),
            Local::Behind(reg) | Local::Variable(reg, _) => Location::Memory(Operand::Reg(reg), 0),
            Local::Static(global) => Location::Memory(self.global_address(global, span), 0),
        })
    }
    /// Returns the construct of a variable without a layout, which can't even be designated.
    pub fn unsupported_variable(&self, node: &AstNode) -> Option<Construct> {
        let ty = self.unit.type_of(node);
        self.unit.program.types.unsupported(&ty).filter(|construct| {
            matches!(
                construct,
                Construct::VariableLengthArray
                    | Construct::BitInt
                    | Construct::Atomic
                    | Construct::VectorType
                    | Construct::UnknownType
            )
        })
    }

    fn lvalue_of_element(&mut self, node: &AstNode, span: Span, access: Access) -> Location {
        let [left, right] = node.inner.as_slice() else {
            return self.unsupported_lvalue(Construct::MalformedExpression, node);
        };
        let is_base = |ty: Type| ty.is_pointer() || ty.vector().is_some();
        let (base, index) = if is_base(self.unit.type_of(left)) { (left, right) } else { (right, left) };
        let ty = self.unit.type_of(base);
        let lane = ty.vector().map(|(element, _)| self.unit.program.types.size(&element));
        let stride = match lane {
            Some(size) => Some(Operand::Const(Ty::I64, size)),
            None => self.stride(base, span),
        };
        let Some(stride) = stride else { return self.unsupported_lvalue(unsized_pointee(&ty), node) };
        let base = match lane {
            Some(_) => self.lvalue_for(base, access),
            None => self.array_base(base, access),
        };
        if access == Access::Write {
            self.mark_value(index);
        }
        let signed = self.unit.program.types.is_signed(&self.unit.type_of(index));
        let index = self.rvalue(index);
        let index = self.resize(index, Ty::I64, signed, span);
        if let (Location::Memory(address, offset), Operand::Const(_, index), Operand::Const(_, size)) =
            (base, index, stride)
        {
            return Location::Memory(address, offset.wrapping_add((index as i64).wrapping_mul(size as i64)));
        }
        let address = self.address(base, span);
        let bytes = self.times(index, stride, span);
        Location::Memory(self.offset(address, bytes, span), 0)
    }
    /// Lowers the base of a subscript; for an array, its location, so that constant offsets are folded.
    fn array_base(&mut self, base: &AstNode, access: Access) -> Location {
        let mut inner = base;
        while inner.kind == K::ParenExpr
            && let Some(first) = inner.inner.first()
        {
            inner = first;
        }
        if inner.kind == K::ImplicitCastExpr
            && inner.cast == Cast::ArrayToPointerDecay
            && let Some(array) = inner.inner.first()
        {
            return self.lvalue_for(array, access);
        }
        Location::Memory(self.rvalue(base), 0)
    }
    /// Emits `index * size`.
    pub fn bin_scaled(&mut self, index: Operand, size: u64, span: Span) -> Operand {
        if size == 1 { index } else { self.bin(BinOp::Mul, index, Operand::Const(Ty::I64, size), span) }
    }
    /// Returns the size of a pointer's pointee, if it is known.
    pub fn element_size(&self, pointer: &Type) -> Option<u64> {
        let element = pointer.element()?;
        match element.kind {
            TypeKind::Unsupported { size: 0, .. } => None,
            TypeKind::Record(id) if !self.unit.program.types.records[id].complete => None,
            TypeKind::Record(id) if self.unit.program.types.records[id].problem.is_some() => None,
            TypeKind::OpenArray(_) | TypeKind::Variable(..) => None,
            _ => Some(self.unit.program.types.size(element)),
        }
    }

    fn lvalue_of_member(&mut self, node: &AstNode, access: Access) -> Location {
        let Some(base) = node.inner.first() else {
            return self.unsupported_lvalue(Construct::MalformedExpression, node);
        };
        let place = if node.is_arrow { Location::Memory(self.rvalue(base), 0) } else { self.lvalue_for(base, access) };
        let Some(&(record, field)) = self.unit.fields.get(&node.link) else {
            return self.unsupported_lvalue(Construct::UnknownMember, node);
        };
        let (record_id, field_index) = (record, field);
        let record = &self.unit.program.types.records[record];
        let field = &record.fields[field];
        let offset = field.offset as i64;
        if let Some(problem) = record.problem.clone() {
            return self.unsupported_lvalue(problem, node);
        }
        let bits = field.bits.map(|bits| (bits, field.ty.clone()));
        let span = self.unit.span(node);
        self.observe_member(place, record_id, field_index, span);
        match (place, bits) {
            (Location::Memory(address, before), None) => Location::Memory(address, before.wrapping_add(offset)),
            (Location::Memory(address, before), Some((bits, ty))) => {
                Location::Bits(address, self.bit_field(before, bits, &ty))
            }
            // A structure is never in a register.
            (Location::Register(_) | Location::Bits(..), _) => self.unsupported_lvalue(Construct::ScalarMember, node),
        }
    }

    /// Records by which member a union is accessed, if its inputs depend on that.
    fn observe_member(&mut self, place: Location, record: usize, field: usize, span: Span) {
        let types = &self.unit.program.types;
        let known = &types.records[record];
        if !matches!(types.data[known.data], DataType::Union { .. }) {
            return;
        }
        let told = |field: &&FieldInfo| field.bits.is_none() || !field.name.is_empty();
        let member = known.fields[..field].iter().filter(told).count() as u64;
        let size = Operand::Const(Ty::I64, known.size);
        let args = vec![self.address(place, span), size, Operand::Const(Ty::I64, member)];
        self.emit(InstKind::Builtin { dst: None, builtin: Builtin::ObserveMember, args }, span);
    }

    /// Returns a bit-field of the structure at an offset from an address.
    pub fn bit_field(&self, before: i64, (first, width): (u64, u64), ty: &Type) -> BitField {
        let types = &self.unit.program.types;
        let scalar = types.scalar(ty);
        let width = width.min(u64::from(scalar.bits())) as u8;
        BitField {
            first: before.wrapping_mul(8).wrapping_add(first as i64),
            width,
            signed: types.is_signed(ty),
            scalar,
        }
    }

    fn lvalue_of_literal(&mut self, node: &AstNode, span: Span) -> Location {
        let ty = self.unit.type_of(node);
        let Some(value) = node.inner.first() else { return self.unsupported_lvalue(Construct::CompoundLiteral, node) };
        if let Some(what) = self.unit.program.types.unsupported(&ty) {
            return self.unsupported_lvalue(what, node);
        }
        // The slot is not begun here: where control returns to the literal within one block, it is the same object. Its
        // initialiser may read the old value and overwrites it completely.
        let slot = self.new_slot(None, &ty);
        self.lifetimes.declare_literal(slot);
        let address = self.slot_address(slot, span);
        self.initialise(value, &ty, Location::Memory(address, 0));
        Location::Memory(address, 0)
    }

    /// Emits the address of an object in memory.
    pub fn address(&mut self, place: Location, span: Span) -> Operand {
        match place {
            Location::Memory(base, offset) => self.offset(base, Operand::Const(Ty::I64, offset as u64), span),
            // Variables with an address are never in registers, and a bit-field has no address.
            Location::Register(_) | Location::Bits(..) => Operand::Const(Ty::Ptr, 0),
        }
    }
    /// Reads a scalar.
    pub fn load(&mut self, place: Location, ty: &Type, span: Span) -> Operand {
        match place {
            Location::Register(reg) => Operand::Reg(reg),
            Location::Bits(base, field) => self.load_bits(base, field, span),
            Location::Memory(..) => {
                let addr = self.address(place, span);
                let dst = self.temp(self.unit.program.types.scalar(ty));
                self.emit(InstKind::Load { dst, addr }, span);
                Operand::Reg(dst)
            }
        }
    }
    /// Writes a scalar; returns the stored value.
    pub fn store(&mut self, place: Location, value: Operand, span: Span) -> Operand {
        match place {
            Location::Register(reg) => {
                self.assign(reg, value, span);
                Operand::Reg(reg)
            }
            Location::Bits(base, field) => self.store_bits(base, field, value, span),
            Location::Memory(..) => {
                let addr = self.address(place, span);
                self.emit(InstKind::Store { addr, value }, span);
                value
            }
        }
    }
}

/// Returns the construct of a pointer to a type of unknown size.
pub(crate) fn unsized_pointee(pointer: &Type) -> Construct {
    match pointer.is_variably_modified() {
        true => Construct::VariableLengthArrayForm,
        false => Construct::IncompleteType,
    }
}
