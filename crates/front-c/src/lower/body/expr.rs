//! Expressions: scalar values and side effects.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::{callee_name, is_logical, selected};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::clang::options::OffsetofMode;
use crate::construct::Construct;
use crate::lower::context::constants::binary_op;
use crate::lower::context::func::Lowerer;
use crate::lower::context::lvalue::unsized_pointee;
use crate::lower::numbers::floats::float_op;
use crate::lower::numbers::int128::ComplexPart;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_ir::{BinOp, CmpOp, DecisionKind, InstKind, Operand, Ty, mask};

/// The value of `++` and `--` that the context uses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Old,
    New,
}

impl Lowerer<'_, '_> {
    /// Evaluates an expression for its side effects.
    pub fn effect(&mut self, node: &AstNode) {
        match &node.kind {
            K::BinaryOperator | K::CompoundAssignOperator | K::UnaryOperator
                if node.opcode != Opcode::Comma && self.unit.type_of(node).is_two_words() =>
            {
                self.wide(node);
            }
            K::UnaryOperator if node.opcode.is_step() && self.unit.type_of(node).complex().is_some() => {
                self.complex(node);
            }
            K::ParenExpr | K::ConstantExpr => self.effect_of_first(node),
            K::UnaryOperator if node.opcode == Opcode::Extension => self.effect_of_first(node),
            K::ImplicitCastExpr | K::CStyleCastExpr if node.cast == Cast::ToVoid => self.effect_of_first(node),
            K::BinaryOperator if node.opcode == Opcode::Comma => node.inner.iter().for_each(|inner| self.effect(inner)),
            // The check for a running measurement is no decision of the program.
            K::ConditionalOperator if callee_name(node) == Some("touchstone_test_begin") => {}
            K::ConditionalOperator if self.unit.type_of(node).kind == TypeKind::Void => {
                match self.unit.chosen_by_type(node) {
                    Some(chosen) => self.effect(chosen),
                    None => self.conditional_effect(node),
                }
            }
            K::CallExpr => self.call_for_effect(node),
            K::StmtExpr => self.statement_expression_effect(node),
            K::GenericSelectionExpr => match selected(node) {
                Some(chosen) => self.effect(chosen),
                None => self.unsupported(Construct::GenericSelection, node),
            },
            K::DeclRefExpr => {}
            K::BinaryOperator if node.opcode == Opcode::Assign && self.unit.type_of(node).is_record() => {
                self.record_assignment(node);
            }
            K::ArraySubscriptExpr | K::MemberExpr | K::CompoundLiteralExpr => drop(self.lvalue(node)),
            K::UnaryOperator if node.opcode == Opcode::Star => drop(self.lvalue(node)),
            K::UnaryOperator if node.opcode.is_step() => drop(self.step(node, Wanted::New)),
            _ => {
                let ty = self.unit.type_of(node);
                if ty.is_record() {
                    let span = self.unit.span(node);
                    let address = self.temporary(&ty, span);
                    self.aggregate(node, &ty, address);
                } else {
                    self.rvalue(node);
                }
            }
        }
    }
    fn effect_of_first(&mut self, node: &AstNode) {
        if let Some(inner) = node.inner.first() {
            self.effect(inner);
        }
    }
    fn conditional_effect(&mut self, node: &AstNode) {
        let [condition, yes, no] = node.inner.as_slice() else {
            return self.unsupported(Construct::MalformedExpression, node);
        };
        let span = self.unit.span(node);
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.decide(condition, DecisionKind::Ternary, then_block, else_block);
        for (block, side) in [(then_block, yes), (else_block, no)] {
            self.start(block);
            self.effect(side);
            self.terminate(touchstone_ir::TermKind::Jump(join), span);
        }
        self.start(join);
    }

    /// Evaluates a scalar expression. The operand has the register type of the expression's type.
    pub fn rvalue(&mut self, node: &AstNode) -> Operand {
        let ty = self.unit.type_of(node);
        if let Some(what) = self.unit.program.types.unsupported(&ty) {
            return self.unsupported_value(what, node);
        }
        if ty.is_record() {
            return self.unsupported_value(unsupported_scalar(&ty), node);
        }
        let scalar = self.unit.program.types.scalar(&ty);
        let span = self.unit.span(node);
        match &node.kind {
            K::IntegerLiteral
            | K::CharacterLiteral
            | K::CXXBoolLiteralExpr
            | K::UnaryExprOrTypeTraitExpr
            | K::OffsetOfExpr
            | K::SpelledOffset => self.constant_value(node, scalar, span),
            K::FloatingLiteral => match self.unit.const_float(node) {
                Some(bits) => Operand::Const(scalar, bits),
                None => self.unsupported_value(Construct::Literal, node),
            },
            K::CXXNullPtrLiteralExpr | K::GNUNullExpr | K::ImplicitValueInitExpr => Operand::Const(scalar, 0),
            K::ParenExpr | K::ConstantExpr | K::OpaqueValueExpr | K::ExprWithCleanups => self.rvalue_of_first(node),
            K::InitListExpr if node.inner.is_empty() => Operand::Const(scalar, 0),
            K::InitListExpr => self.rvalue_of_first(node),
            K::DeclRefExpr if self.is_enum_constant(node) => {
                let value = self.unit.const_int(node).unwrap_or(0);
                Operand::Const(scalar, value)
            }
            K::ImplicitCastExpr | K::CStyleCastExpr => self.cast(node, &ty, scalar, span),
            K::UnaryOperator => self.unary(node, scalar, span),
            K::BinaryOperator => self.binary(node, &ty, scalar, span),
            K::CompoundAssignOperator => self.compound_assignment(node, &ty, span),
            K::ConditionalOperator if self.unit.chosen_by_type(node).is_none() => self.conditional(node, scalar, span),
            K::ConditionalOperator | K::GenericSelectionExpr | K::ChooseExpr => self.selected_value(node),
            K::BinaryConditionalOperator => self.elvis(node, scalar, span),
            K::CallExpr => self.call(node, None).unwrap_or(Operand::Const(scalar, 0)),
            K::StmtExpr => self.statement_expression(node, scalar),
            K::TypeTraitExpr => match self.unit.const_int(node) {
                Some(value) => Operand::Const(scalar, value),
                None => self.unsupported_value(Construct::TypeTrait, node),
            },
            K::VAArgExpr => {
                let place = self.next_argument(node, &ty, span);
                self.load(place, &ty, span)
            }
            K::AddrLabelExpr => match self.unit.label_address(node) {
                Some(number) => self.resize(Operand::Const(Ty::I64, number), Ty::Ptr, false, span),
                None => self.unsupported_value(Construct::LabelAddress, node),
            },
            K::AtomicExpr => self.atomic(node, span).unwrap_or(Operand::Const(scalar, 0)),
            K::DeclRefExpr
            | K::ArraySubscriptExpr
            | K::MemberExpr
            | K::CompoundLiteralExpr
            | K::StringLiteral
            | K::PredefinedExpr => self.object_value(node, &ty, span),
            kind => self.unsupported_value(Construct::Node(kind.clone()), node),
        }
    }
    /// Evaluates a literal, a `sizeof` or the like.
    fn constant_value(&mut self, node: &AstNode, scalar: Ty, span: Span) -> Operand {
        match self.unit.const_int(node) {
            None if self.is_variable_size(node) => self.variable_size(node, span),
            // `offsetof(struct s, a[i])`.
            None if node.kind == K::SpelledOffset => self.rvalue_of_first(node),
            None if node.kind == K::OffsetOfExpr && self.unit.program.types.offsets == OffsetofMode::Guessed => {
                for index in &node.inner {
                    self.rvalue(index);
                }
                Operand::Reg(self.temp(scalar))
            }
            Some(value) => Operand::Const(scalar, mask(value, scalar.bits())),
            None => self.unsupported_value(unsupported_constant(node), node),
        }
    }
    /// Evaluates the operand that the compiler selects.
    fn selected_value(&mut self, node: &AstNode) -> Operand {
        let (chosen, construct) = match node.kind {
            K::GenericSelectionExpr => (selected(node), Construct::GenericSelection),
            K::ChooseExpr => (self.unit.chosen(node), Construct::ChooseExpression),
            _ => (self.unit.chosen_by_type(node), Construct::MalformedExpression),
        };
        match chosen {
            Some(chosen) => self.rvalue(chosen),
            None => self.unsupported_value(construct, node),
        }
    }
    /// Evaluates an lvalue without a conversion: a member of an rvalue is an rvalue; an array is its address.
    fn object_value(&mut self, node: &AstNode, ty: &Type, span: Span) -> Operand {
        let place = self.lvalue(node);
        match ty.kind {
            TypeKind::Array(..) | TypeKind::OpenArray(_) | TypeKind::Function(_) => self.address(place, span),
            _ => self.load(place, ty, span),
        }
    }
    fn rvalue_of_first(&mut self, node: &AstNode) -> Operand {
        match node.inner.first() {
            Some(inner) => self.rvalue(inner),
            None => self.unsupported_value(Construct::MalformedExpression, node),
        }
    }
    /// Returns true if a node refers to an enumeration constant.
    pub fn is_enum_constant(&self, node: &AstNode) -> bool {
        node.decl.as_ref().is_some_and(|decl| decl.kind == K::EnumConstantDecl)
    }

    /// Evaluates a scalar expression as a truth value, an `i1`.
    pub fn truth(&mut self, node: &AstNode) -> Operand {
        let span = self.unit.span(node);
        match (&node.kind, node.inner.first()) {
            (K::ParenExpr | K::ConstantExpr, Some(inner)) => return self.truth(inner),
            (K::ImplicitCastExpr, Some(inner)) if self.keeps_truth(node, inner) => return self.truth(inner),
            (K::BinaryOperator, _) if node.opcode.is_comparison() => return self.comparison(node, span),
            _ if is_logical(node) => return self.decision_value(node, Ty::I1),
            _ => {}
        }
        let ty = self.unit.type_of(node);
        if ty.is_two_words() {
            let value = self.wide(node);
            return match ty.is_long_double() {
                true => self.long_truth(value, span),
                false => self.wide_truth(value, span),
            };
        }
        if ty.complex().is_some() {
            return self.complex_truth(node, span);
        }
        let value = self.rvalue(node);
        self.truth_of(value, &ty, span)
    }
    /// Returns true if a cast preserves the truth value of its operand.
    pub fn keeps_truth(&self, cast: &AstNode, inner: &AstNode) -> bool {
        match &cast.cast {
            Cast::IntegralToBoolean | Cast::PointerToBoolean | Cast::FloatingToBoolean => true,
            Cast::NoOp => !self.unit.type_of(cast).is_record(),
            Cast::IntegralCast => {
                let types = &self.unit.program.types;
                types.size(&self.unit.type_of(cast)) >= types.size(&self.unit.type_of(inner))
            }
            _ => false,
        }
    }

    fn comparison(&mut self, node: &AstNode, span: Span) -> Operand {
        let [left, right] = node.inner.as_slice() else {
            return self.unsupported_value(Construct::MalformedExpression, node);
        };
        let ty = self.unit.type_of(left);
        let signed = self.unit.program.types.is_signed(&ty);
        let ordered = !matches!(node.opcode, Opcode::Equal | Opcode::NotEqual);
        let ty = if ordered { self.operation_type(&[left, right], ty) } else { ty };
        if ty.is_two_words() {
            let (a, b) = (self.wide(left), self.wide(right));
            return match ty.is_long_double() {
                true => self.long_relation(&node.opcode, a, b, span),
                false => self.wide_relation(&node.opcode, signed, a, b, span),
            };
        }
        if ty.complex().is_some() || self.unit.type_of(right).complex().is_some() {
            return self.complex_relation(node, left, right, span);
        }
        let a = self.rvalue(left);
        let b = self.rvalue(right);
        self.scalar_relation(&node.opcode, &ty, a, b, span)
    }
    /// Emits a comparison of scalars of one type, an `i1`.
    pub fn scalar_relation(&mut self, opcode: &Opcode, ty: &Type, a: Operand, b: Operand, span: Span) -> Operand {
        if let Some(format) = self.unit.program.types.format(ty) {
            return self.float_relation(opcode, format, a, b, span);
        }
        let signed = self.unit.program.types.is_signed(ty);
        let (less, less_equal) = if signed { (CmpOp::Slt, CmpOp::Sle) } else { (CmpOp::Ult, CmpOp::Ule) };
        match opcode {
            Opcode::Equal => self.cmp(CmpOp::Eq, a, b, span),
            Opcode::NotEqual => self.cmp(CmpOp::Ne, a, b, span),
            Opcode::Less => self.cmp(less, a, b, span),
            Opcode::Greater => self.cmp(less, b, a, span),
            Opcode::LessEqual => self.cmp(less_equal, a, b, span),
            _ => self.cmp(less_equal, b, a, span),
        }
    }

    fn cast(&mut self, node: &AstNode, ty: &Type, scalar: Ty, span: Span) -> Operand {
        let Some(inner) = node.inner.first() else {
            return self.unsupported_value(Construct::MalformedExpression, node);
        };
        let from = self.unit.type_of(inner);
        // The lengths would be evaluated at every use of the type.
        if node.kind == K::CStyleCastExpr && ty.has_length_effect() {
            return self.unsupported_value(Construct::LengthEffectInCast, node);
        }
        match &node.cast {
            Cast::LValueToRValue => {
                let place = self.lvalue(inner);
                let value = self.read_object(inner, place, ty, span);
                if let Some(inferred_pointee) = self.inferred_pointee(inner) {
                    self.hint_pointee(value, &inferred_pointee, span);
                }
                value
            }
            Cast::BitCast if from.vector().is_some() => self.vector_as_scalar(inner, ty, span),
            Cast::FloatingComplexToReal | Cast::IntegralComplexToReal => self.real_part(inner, node),
            Cast::BitCast if self.is_pointee_hint(inner, &from, ty) => {
                let pointer = self.rvalue(inner);
                self.hint_pointee(pointer, ty, span);
                pointer
            }
            Cast::NoOp | Cast::BitCast | Cast::AtomicToNonAtomic | Cast::NonAtomicToAtomic => self.rvalue(inner),
            Cast::FloatingCast | Cast::FloatingToIntegral if from.is_long_double() => {
                let value = self.wide(inner);
                self.long_to(value, ty, span)
            }
            Cast::IntegralCast if from.wide().is_some() => {
                let value = self.wide(inner);
                self.resize(value.low, scalar, false, span)
            }
            Cast::IntegralToFloating if from.wide().is_some() => {
                let Some(format) = self.unit.program.types.format(ty) else {
                    return self.unsupported_value(Construct::CastOfInt128, node);
                };
                let value = self.wide(inner);
                self.wide_to_float(value, from.wide() == Some(true), format, span)
            }
            Cast::IntegralToPointer if from.wide().is_some() => {
                let value = self.wide(inner);
                self.resize(value.low, Ty::Ptr, false, span)
            }
            Cast::IntegralCast | Cast::BooleanToSignedIntegral => {
                let signed = self.unit.program.types.is_signed(&from);
                let value = self.rvalue(inner);
                self.resize(value, scalar, signed, span)
            }
            Cast::IntegralToBoolean
            | Cast::PointerToBoolean
            | Cast::FloatingToBoolean
            | Cast::FloatingComplexToBoolean
            | Cast::IntegralComplexToBoolean => {
                let truth = self.truth(inner);
                self.resize(truth, scalar, false, span)
            }
            Cast::NullToPointer => Operand::Const(Ty::Ptr, 0),
            Cast::ArrayToPointerDecay => {
                let place = self.lvalue(inner);
                self.address(place, span)
            }
            Cast::FunctionToPointerDecay => {
                let place = self.lvalue(inner);
                self.address(place, span)
            }
            Cast::BuiltinFnToFnPtr => self.unsupported_value(Construct::BuiltinAddress, node),
            Cast::PointerToIntegral => {
                let value = self.rvalue(inner);
                self.resize(value, scalar, false, span)
            }
            Cast::IntegralToPointer => {
                let signed = self.unit.program.types.is_signed(&from);
                let value = self.rvalue(inner);
                let wide = self.resize(value, Ty::I64, signed, span);
                match wide {
                    Operand::Const(_, 0) => Operand::Const(Ty::Ptr, 0),
                    Operand::Const(..) => {
                        let dst = self.temp(Ty::Ptr);
                        self.emit(InstKind::Cast { dst, op: touchstone_ir::CastOp::IntToPtr, src: wide }, span);
                        Operand::Reg(dst)
                    }
                    Operand::Reg(_) => self.resize(wide, Ty::Ptr, false, span),
                }
            }
            Cast::ToVoid => {
                self.effect(inner);
                Operand::Const(scalar, 0)
            }
            Cast::FloatingToIntegral | Cast::IntegralToFloating | Cast::FloatingCast => {
                let from = self.operation_type(&[inner], from);
                let value = self.rvalue(inner);
                self.convert(value, &from, ty, span)
            }
            Cast::ToUnion => self.unsupported_value(Construct::Union, node),
            kind => self.unsupported_value(Construct::Cast(kind.clone()), node),
        }
    }

    fn unary(&mut self, node: &AstNode, scalar: Ty, span: Span) -> Operand {
        let Some(inner) = node.inner.first() else {
            return self.unsupported_value(Construct::MalformedExpression, node);
        };
        match &node.opcode {
            Opcode::Plus | Opcode::Extension => self.rvalue(inner),
            Opcode::Minus => {
                let value = self.rvalue(inner);
                let ty = self.unit.type_of(node);
                let value = self.negated(value, &ty, span);
                self.in_field_width(node, value, span)
            }
            Opcode::Tilde => {
                let value = self.rvalue(inner);
                let value = self.bin(BinOp::Xor, value, Operand::Const(scalar, mask(u64::MAX, scalar.bits())), span);
                self.in_field_width(node, value, span)
            }
            Opcode::Not => self.decision_value(node, scalar),
            Opcode::Increment | Opcode::Decrement => {
                self.step(node, if node.is_postfix { Wanted::Old } else { Wanted::New })
            }
            Opcode::Amp => self.address_of(inner, span),
            Opcode::Star => {
                let place = self.lvalue(node);
                self.address(place, span)
            }
            Opcode::Real | Opcode::Imag => match self.part_of(node, inner, span) {
                ComplexPart::Word(value) => value,
                ComplexPart::Long(_) => self.unsupported_value(Construct::LongDoubleScalar, node),
            },
            other => self.unsupported_value(Construct::Operator(other.clone()), node),
        }
    }
    fn address_of(&mut self, inner: &AstNode, span: Span) -> Operand {
        let place = self.lvalue(inner);
        self.address(place, span)
    }
    /// Lowers `++` and `--`.
    fn step(&mut self, node: &AstNode, wanted: Wanted) -> Operand {
        let ty = &self.unit.type_of(node);
        if let Some(what) = self.unit.program.types.unsupported(ty) {
            return self.unsupported_value(what, node);
        }
        let Some(inner) = node.inner.first() else {
            return self.unsupported_value(Construct::MalformedExpression, node);
        };
        let span = self.unit.span(node);
        let scalar = self.unit.program.types.scalar(ty);
        self.mark_step(node);
        let place = self.written_lvalue(inner);
        let mut old = self.read_object(inner, place, ty, span);
        if wanted == Wanted::Old {
            old = self.keep(old, span);
        }
        let up = node.opcode == Opcode::Increment;
        let new = if ty.is_pointer() {
            let Some(stride) = self.stride(inner, span) else {
                return self.unsupported_value(unsized_pointee(ty), node);
            };
            let bytes = if up { stride } else { self.bin(BinOp::Sub, Operand::Const(Ty::I64, 0), stride, span) };
            self.offset(old, bytes, span)
        } else if ty.kind == TypeKind::Bool {
            if up { Operand::Const(scalar, 1) } else { self.bin(BinOp::Xor, old, Operand::Const(scalar, 1), span) }
        } else {
            self.stepped(old, ty, up, span)
        };
        let new = self.store(place, new, span);
        if wanted == Wanted::Old { old } else { new }
    }

    fn binary(&mut self, node: &AstNode, ty: &Type, scalar: Ty, span: Span) -> Operand {
        let [left, right] = node.inner.as_slice() else {
            return self.unsupported_value(Construct::MalformedExpression, node);
        };
        match &node.opcode {
            Opcode::Comma => {
                self.effect(left);
                self.rvalue(right)
            }
            Opcode::Assign => self.assignment(left, right, span),
            Opcode::And | Opcode::Or => self.decision_value(node, scalar),
            opcode if opcode.is_comparison() => {
                let truth = self.comparison(node, span);
                self.resize(truth, scalar, false, span)
            }
            Opcode::Plus | Opcode::Minus if ty.is_pointer() => {
                let is_left = self.unit.type_of(left).is_pointer();
                self.pointer_sum(node, if is_left { (left, right) } else { (right, left) }, ty, span)
            }
            Opcode::Minus if self.unit.type_of(left).is_pointer() => self.pointer_difference(node, left, right, span),
            opcode => {
                let a = self.rvalue(left);
                let b = self.rvalue(right);
                if let (Some(format), Some(op)) = (self.unit.program.types.format(ty), float_op(opcode)) {
                    return self.float(op, format, &[a, b], span);
                }
                let ty = match opcode {
                    Opcode::Slash | Opcode::Percent => self.operation_type(&[left, right], self.unit.type_of(left)),
                    Opcode::ShiftRight => self.operation_type(&[left], self.unit.type_of(left)),
                    _ => self.unit.type_of(left),
                };
                let signed = self.unit.program.types.is_signed(&ty);
                let Some(op) = binary_op(opcode, signed) else {
                    return self.unsupported_value(Construct::Operator(opcode.clone()), node);
                };
                let b = self.resize(b, scalar, false, span);
                let value = self.bin(op, a, b, span);
                self.in_field_width(node, value, span)
            }
        }
    }
    fn pointer_sum(
        &mut self,
        node: &AstNode,
        (pointer, number): (&AstNode, &AstNode),
        ty: &Type,
        span: Span,
    ) -> Operand {
        let Some(stride) = self.stride(pointer, span) else {
            return self.unsupported_value(unsized_pointee(ty), node);
        };
        let signed = self.unit.program.types.is_signed(&self.unit.type_of(number));
        let (base, index) = if std::ptr::eq(pointer, &raw const node.inner[0]) {
            let base = self.rvalue(pointer);
            (base, self.rvalue(number))
        } else {
            let index = self.rvalue(number);
            (self.rvalue(pointer), index)
        };
        self.advance(base, index, signed, stride, node.opcode == Opcode::Minus, span)
    }
    fn advance(
        &mut self,
        base: Operand,
        index: Operand,
        signed: bool,
        size: Operand,
        back: bool,
        span: Span,
    ) -> Operand {
        let index = self.resize(index, Ty::I64, signed, span);
        let mut bytes = self.times(index, size, span);
        if back {
            bytes = self.bin(BinOp::Sub, Operand::Const(Ty::I64, 0), bytes, span);
        }
        self.offset(base, bytes, span)
    }
    fn pointer_difference(&mut self, node: &AstNode, left: &AstNode, right: &AstNode, span: Span) -> Operand {
        let Some(stride) = self.stride(left, span) else {
            return self.unsupported_value(unsized_pointee(&self.unit.type_of(left)), node);
        };
        let a = self.rvalue(left);
        let b = self.rvalue(right);
        let dst = self.temp(Ty::I64);
        self.emit(InstKind::PtrDiff { dst, a, b }, span);
        match stride {
            Operand::Const(_, 0) => self.unsupported_value(Construct::EmptyPointeeDifference, node),
            Operand::Const(_, 1) => Operand::Reg(dst),
            _ => self.bin(BinOp::SDiv, Operand::Reg(dst), stride, span),
        }
    }

    fn assignment(&mut self, left: &AstNode, right: &AstNode, span: Span) -> Operand {
        let place = self.written_lvalue(left);
        self.mark_value(right);
        let value = self.rvalue(right);
        self.mark_store(left, right);
        self.store(place, value, span)
    }
    fn compound_assignment(&mut self, node: &AstNode, ty: &Type, span: Span) -> Operand {
        let [left, right] = node.inner.as_slice() else {
            return self.unsupported_value(Construct::MalformedExpression, node);
        };
        let opcode = node.opcode.computed();
        let place = self.written_lvalue(left);
        self.mark_compound(node);
        let computed = node.compute_lhs.as_ref().map(|text| self.unit.type_named(text));
        if let Some(part) = computed.as_ref().and_then(Type::complex) {
            let old = self.load(place, ty, span);
            let new = self.complex_compound(node, ComplexPart::Word(old), ty, right, &part, span);
            return self.store(place, new, span);
        }
        if computed.as_ref().is_some_and(Type::is_long_double) {
            let old = self.load(place, ty, span);
            let new = self.long_compound(node, old, ty, right, span);
            return self.store(place, new, span);
        }
        if let Some(signed) = computed.as_ref().and_then(Type::wide) {
            let old = self.load(place, ty, span);
            let new = if self.unit.program.types.format(ty).is_some() {
                self.unsupported_value(Construct::FloatCompoundWithInt128, node)
            } else {
                self.narrow_compound(node, old, ty, right, signed, span)
            };
            return self.store(place, new, span);
        }
        let operand = self.rvalue(right);
        let old = self.read_object(left, place, ty, span);
        let new = if ty.is_pointer() {
            let Some(stride) = self.stride(left, span) else {
                return self.unsupported_value(unsized_pointee(ty), node);
            };
            let signed = self.unit.program.types.is_signed(&self.unit.type_of(right));
            self.advance(old, operand, signed, stride, *opcode == Opcode::Minus, span)
        } else {
            let (Some(from), Some(to)) = (&node.compute_lhs, &node.compute_result) else {
                return self.unsupported_value(Construct::CompoundAssignment, node);
            };
            let (from, to) = (self.unit.type_named(from), self.unit.type_named(to));
            if let Some(what) = self.unit.program.types.unsupported(&from) {
                return self.unsupported_value(what, node);
            }
            let old = self.convert(old, ty, &from, span);
            let value = match (self.unit.program.types.format(&from), float_op(opcode)) {
                (Some(format), Some(op)) => self.float(op, format, &[old, operand], span),
                _ => {
                    let ty = match opcode {
                        Opcode::Slash | Opcode::Percent => self.operation_type(&[node, right], from.clone()),
                        _ => from,
                    };
                    let signed = self.unit.program.types.is_signed(&ty);
                    let Some(op) = binary_op(opcode, signed) else {
                        return self.unsupported_value(Construct::CompoundAssignment, node);
                    };
                    let operand = self.resize(operand, self.ty(old), false, span);
                    self.bin(op, old, operand, span)
                }
            };
            self.convert(value, &to, ty, span)
        };
        self.store(place, new, span)
    }

    fn conditional(&mut self, node: &AstNode, scalar: Ty, span: Span) -> Operand {
        let [condition, yes, no] = node.inner.as_slice() else {
            return self.unsupported_value(Construct::MalformedExpression, node);
        };
        if self.unit.type_of(node).kind == TypeKind::Void {
            self.conditional_effect(node);
            return Operand::Const(scalar, 0);
        }
        let result = self.temp(scalar);
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.decide(condition, DecisionKind::Ternary, then_block, else_block);
        for (block, side) in [(then_block, yes), (else_block, no)] {
            self.start(block);
            let value = self.rvalue(side);
            self.assign(result, value, span);
            self.terminate(touchstone_ir::TermKind::Jump(join), span);
        }
        self.start(join);
        Operand::Reg(result)
    }
    /// Lowers `a ?: b`; the first operand is evaluated once.
    fn elvis(&mut self, node: &AstNode, scalar: Ty, span: Span) -> Operand {
        let (Some(common), Some(no)) = (node.inner.first(), node.inner.last()) else {
            return self.unsupported_value(Construct::MalformedExpression, node);
        };
        let result = self.temp(scalar);
        let value = self.rvalue(common);
        // Converted to the type of the whole expression before the test: that is never narrower, so the truth value is
        // the same.
        let (from, to) = (self.unit.type_of(common), self.unit.type_of(node));
        let value = if to.is_pointer() { value } else { self.convert(value, &from, &to, span) };
        self.emit(InstKind::Copy { dst: result, src: value }, span);
        let (else_block, join) = (self.new_block(), self.new_block());
        self.decide_on(node, common, Operand::Reg(result), join, else_block);
        self.start(else_block);
        let value = self.rvalue(no);
        self.assign(result, value, span);
        self.flow_into(join, span);
        Operand::Reg(result)
    }
}

/// Returns the construct of a value that is no scalar.
fn unsupported_scalar(ty: &Type) -> Construct {
    match ty.kind {
        TypeKind::Int128 { .. } => Construct::Int128Scalar,
        TypeKind::LongDouble => Construct::LongDoubleScalar,
        TypeKind::Vector(..) => Construct::VectorScalar,
        TypeKind::Complex(_) => Construct::ComplexScalar,
        _ => Construct::StructureScalar,
    }
}

fn unsupported_constant(node: &AstNode) -> Construct {
    match &node.kind {
        K::OffsetOfExpr | K::SpelledOffset => Construct::OffsetOf,
        K::UnaryExprOrTypeTraitExpr if node.name == "sizeof" => Construct::SizeOf,
        K::UnaryExprOrTypeTraitExpr => Construct::AlignOf,
        _ => Construct::Literal,
    }
}
