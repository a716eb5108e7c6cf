//! `__int128`: two registers while it is computed, 16 bytes in memory, passed and returned like a structure.
//!
//! Registers, terms and values have at most 64 bits everywhere else. Sums, products, shifts and comparisons are
//! composed of halves without a branch; division and conversions to and from floats are models in C (`models/wide.c`).

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::selected;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::{AstNode, TypeText};
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::lower::context::lvalue::Location;
use crate::lower::context::unit::Unit;
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_base::extended::Extended;
use touchstone_base::float::{FloatOp, Format};
use touchstone_ir::{BinOp, Callee, CmpOp, DecisionKind, InstKind, Operand, TermKind, Ty};

/// A value in two words: the low and the high half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wide {
    pub low: Operand,
    pub high: Operand,
}

const ZERO: Operand = word(0);

const fn word(value: u64) -> Operand {
    Operand::Const(Ty::I64, value)
}

/// Returns a constant `long double` in two words.
pub(crate) fn number(value: Extended) -> Wide {
    Wide { low: Operand::Const(Ty::I64, value.significand), high: Operand::Const(Ty::I64, u64::from(value.head)) }
}

/// A part of a complex number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ComplexPart {
    Word(Operand),
    /// A part of type `long double`.
    Long(Wide),
}

impl Wide {
    fn constant(value: u128) -> Wide {
        Wide { low: word(value as u64), high: word((value >> 64) as u64) }
    }
}

impl Type {
    /// Returns true if values are computed in two words.
    pub fn is_two_words(&self) -> bool {
        self.wide().is_some() || self.is_long_double()
    }
    /// Returns the signedness of a 128-bit integer type; `None` for other types.
    pub fn wide(&self) -> Option<bool> {
        match self.kind {
            TypeKind::Int128 { signed } => Some(signed),
            _ => None,
        }
    }
}

impl Unit<'_> {
    /// Evaluates a constant expression of 128 bits.
    pub fn const_wide(&self, node: &AstNode) -> Option<u128> {
        let ty = self.type_of(node);
        let Some(signed) = ty.wide() else {
            let value = self.const_int(node)?;
            let signed = self.program.types.is_signed(&ty);
            return Some(if signed { self.const_signed(node)? as i128 as u128 } else { u128::from(value) });
        };
        let first = || node.inner.first();
        match &node.kind {
            K::IntegerLiteral => node.value.as_deref()?.parse().ok(),
            K::ParenExpr | K::ConstantExpr => self.const_wide(first()?),
            K::ImplicitCastExpr | K::CStyleCastExpr if matches!(node.cast, Cast::IntegralCast | Cast::NoOp) => {
                self.const_wide(first()?)
            }
            K::ImplicitValueInitExpr => Some(0),
            K::UnaryOperator => {
                let value = self.const_wide(first()?)?;
                Some(match &node.opcode {
                    Opcode::Minus => value.wrapping_neg(),
                    Opcode::Tilde => !value,
                    Opcode::Plus | Opcode::Extension => value,
                    _ => return None,
                })
            }
            K::BinaryOperator => {
                let [left, right] = node.inner.as_slice() else { return None };
                let (a, b) = (self.const_wide(left)?, self.const_wide(right)?);
                let amount = (b % 128) as u32;
                Some(match &node.opcode {
                    Opcode::Plus => a.wrapping_add(b),
                    Opcode::Minus => a.wrapping_sub(b),
                    Opcode::Star => a.wrapping_mul(b),
                    Opcode::Slash if signed => (a as i128).checked_div(b as i128)? as u128,
                    Opcode::Percent if signed => (a as i128).checked_rem(b as i128)? as u128,
                    Opcode::Slash => a.checked_div(b)?,
                    Opcode::Percent => a.checked_rem(b)?,
                    Opcode::Amp => a & b,
                    Opcode::Pipe => a | b,
                    Opcode::Caret => a ^ b,
                    Opcode::ShiftLeft => a << amount,
                    Opcode::ShiftRight if signed => ((a as i128) >> amount) as u128,
                    Opcode::ShiftRight => a >> amount,
                    _ => return None,
                })
            }
            _ => None,
        }
    }
}

impl Lowerer<'_, '_> {
    /// Evaluates an expression of 128 bits, or of type `long double`.
    pub fn wide(&mut self, node: &AstNode) -> Wide {
        let span = self.unit.span(node);
        let ty = self.unit.type_of(node);
        match (&node.kind, node.inner.as_slice()) {
            (K::FloatingLiteral, _) => match self.long_literal(node) {
                Some(value) => value,
                None => self.unsupported_wide(Construct::LongDoubleLiteral, node),
            },
            (K::IntegerLiteral, _) => match self.unit.const_wide(node) {
                Some(value) => Wide::constant(value),
                None => self.unsupported_wide(Construct::Literal, node),
            },
            (K::ImplicitValueInitExpr, _) | (K::InitListExpr, []) => Wide::constant(0),
            (K::ParenExpr | K::ConstantExpr | K::OpaqueValueExpr | K::InitListExpr, [inner]) => self.wide(inner),
            (K::ImplicitCastExpr | K::CStyleCastExpr, [inner]) => self.wide_cast(node, inner, span),
            (K::UnaryOperator, [inner]) => self.wide_unary(node, inner, span),
            (K::BinaryOperator, [left, right]) => match &node.opcode {
                Opcode::Comma => {
                    self.effect(left);
                    self.wide(right)
                }
                Opcode::Assign => {
                    let place = self.written_lvalue(left);
                    let value = self.wide(right);
                    self.store_wide(place, value, span)
                }
                opcode if ty.is_long_double() => {
                    let (a, b) = (self.wide(left), self.wide(right));
                    self.long_binary(opcode, a, b, node)
                }
                opcode => {
                    let a = self.wide(left);
                    let b = self.wide_operand(right, span);
                    self.wide_binary(opcode, ty.wide() == Some(true), a, b, node)
                }
            },
            (K::CompoundAssignOperator, [left, right]) => self.wide_compound(node, left, right, span),
            (K::ConditionalOperator, [condition, yes, no]) => {
                let result = (self.temp(Ty::I64), self.temp(Ty::I64));
                let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
                self.decide(condition, DecisionKind::Ternary, then_block, else_block);
                for (block, side) in [(then_block, yes), (else_block, no)] {
                    self.start(block);
                    let Wide { low, high } = self.wide(side);
                    self.emit(InstKind::Copy { dst: result.0, src: low }, span);
                    self.emit(InstKind::Copy { dst: result.1, src: high }, span);
                    self.terminate(TermKind::Jump(join), span);
                }
                self.start(join);
                Wide { low: Operand::Reg(result.0), high: Operand::Reg(result.1) }
            }
            (K::CallExpr, _) if let Some(value) = self.long_call(node, span) => value,
            (K::CallExpr, _) => {
                let into = self.temporary(&ty, span);
                self.call(node, Some(into));
                self.load_two_words(Location::Memory(into, 0), &ty, span)
            }
            (K::StmtExpr, _) => {
                let value = self.statement_expression_body(node).map(|last| self.wide(last));
                self.unit.pop_scope();
                value.unwrap_or_else(|| self.unsupported_wide(Construct::StatementExpression, node))
            }
            (K::GenericSelectionExpr, _) => match selected(node) {
                Some(chosen) => self.wide(chosen),
                None => self.unsupported_wide(Construct::GenericSelection, node),
            },
            (K::VAArgExpr, _) => {
                let place = self.next_argument(node, &ty, span);
                self.load_two_words(place, &ty, span)
            }
            (K::DeclRefExpr | K::MemberExpr | K::ArraySubscriptExpr | K::CompoundLiteralExpr, _) => {
                let place = self.lvalue(node);
                self.load_two_words(place, &ty, span)
            }
            (kind, _) => self.unsupported_wide(Construct::Int128Node(kind.clone()), node),
        }
    }
    fn unsupported_wide(&mut self, construct: Construct, node: &AstNode) -> Wide {
        self.unsupported(construct, node);
        Wide::constant(0)
    }
    /// Evaluates an operand that need not have 128 bits itself (a shift amount).
    fn wide_operand(&mut self, node: &AstNode, span: Span) -> Wide {
        let ty = self.unit.type_of(node);
        if ty.wide().is_some() {
            return self.wide(node);
        }
        let value = self.rvalue(node);
        self.widened(value, &ty, span)
    }
    fn wide_cast(&mut self, node: &AstNode, inner: &AstNode, span: Span) -> Wide {
        let (from, ty) = (self.unit.type_of(inner), self.unit.type_of(node));
        match &node.cast {
            Cast::LValueToRValue => {
                let place = self.lvalue(inner);
                self.load_two_words(place, &ty, span)
            }
            Cast::FloatingComplexToReal => match self.complex(inner)[0] {
                ComplexPart::Long(value) => value,
                ComplexPart::Word(_) => self.unsupported_wide(Construct::Int128Complex, node),
            },
            Cast::FloatingCast | Cast::IntegralToFloating | Cast::NoOp if ty.is_long_double() => {
                self.long_of(inner, span)
            }
            Cast::FloatingToIntegral if from.is_long_double() => {
                self.unsupported_wide(Construct::LongDoubleToInt128, node)
            }
            Cast::NoOp | Cast::IntegralCast | Cast::BooleanToSignedIntegral | Cast::PointerToIntegral => {
                self.wide_operand(inner, span)
            }
            Cast::FloatingToIntegral => {
                let value = self.rvalue(inner);
                self.wide_of_float(value, &from, span)
            }
            kind => self.unsupported_wide(Construct::Int128Cast(kind.clone()), node),
        }
    }
    fn wide_unary(&mut self, node: &AstNode, inner: &AstNode, span: Span) -> Wide {
        let ty = self.unit.type_of(node);
        match &node.opcode {
            Opcode::Plus | Opcode::Extension => self.wide(inner),
            Opcode::Minus if ty.is_long_double() => {
                let value = self.wide(inner);
                self.long_negated(value, span)
            }
            Opcode::Minus => {
                let value = self.wide(inner);
                self.wide_sum(BinOp::Sub, Wide::constant(0), value, span)
            }
            Opcode::Tilde => {
                let value = self.wide(inner);
                self.by_halves(BinOp::Xor, value, Wide::constant(u128::MAX), span)
            }
            Opcode::Increment | Opcode::Decrement => {
                let place = self.written_lvalue(inner);
                let old = self.load_two_words(place, &ty, span);
                let up = node.opcode == Opcode::Increment;
                let new = match ty.is_long_double() {
                    true => self.long_stepped(old, up, span),
                    false => self.wide_sum(if up { BinOp::Add } else { BinOp::Sub }, old, Wide::constant(1), span),
                };
                self.store_wide(place, new, span);
                if node.is_postfix { old } else { new }
            }
            Opcode::Star => {
                let place = self.lvalue(node);
                self.load_two_words(place, &ty, span)
            }
            Opcode::Real | Opcode::Imag => match self.part_of(node, inner, span) {
                ComplexPart::Long(value) => value,
                ComplexPart::Word(_) => self.unsupported_wide(Construct::Int128Complex, node),
            },
            other => self.unsupported_wide(Construct::Int128Operator(other.clone()), node),
        }
    }
    /// Lowers `left op= right` for a left side of 128 bits.
    fn wide_compound(&mut self, node: &AstNode, left: &AstNode, right: &AstNode, span: Span) -> Wide {
        let ty = self.unit.type_of(left);
        let place = self.written_lvalue(left);
        let computed = node.compute_result.as_ref().map(|text| self.unit.type_named(text));
        if ty.is_long_double() {
            let operand = self.long_of(right, span);
            let old = self.load_two_words(place, &ty, span);
            let new = self.long_binary(node.opcode.computed(), old, operand, node);
            return self.store_wide(place, new, span);
        }
        let Some(signed) = computed.as_ref().and_then(Type::wide) else {
            return self.unsupported_wide(Construct::Int128CompoundWithFloat, node);
        };
        let operand = self.wide_operand(right, span);
        let old = self.load_wide(place, span);
        let new = self.wide_binary(node.opcode.computed(), signed, old, operand, node);
        self.store_wide(place, new, span)
    }
    /// Computes `old op operand` in 128 bits for a narrower left side of a compound assignment.
    pub fn narrow_compound(
        &mut self,
        node: &AstNode,
        old: Operand,
        ty: &Type,
        right: &AstNode,
        signed: bool,
        span: Span,
    ) -> Operand {
        let a = self.widened(old, ty, span);
        let b = self.wide_operand(right, span);
        let value = self.wide_binary(node.opcode.computed(), signed, a, b, node);
        match ty.kind {
            TypeKind::Bool => {
                let truth = self.wide_truth(value, span);
                self.resize(truth, Ty::I8, false, span)
            }
            _ => {
                let scalar = self.unit.program.types.scalar(ty);
                self.resize(value.low, scalar, false, span)
            }
        }
    }

    /// Reads an object in two words. A `long double` has only 10 significant bytes.
    pub fn load_two_words(&mut self, place: Location, ty: &Type, span: Span) -> Wide {
        let Location::Memory(base, offset) = place else { return Wide::constant(0) };
        if !ty.is_long_double() {
            return self.load_wide(place, span);
        }
        let addr = self.address(place, span);
        let (low, head) = (self.temp(Ty::I64), self.temp(Ty::I16));
        self.emit(InstKind::Load { dst: low, addr }, span);
        let addr = self.address(Location::Memory(base, offset.wrapping_add(8)), span);
        self.emit(InstKind::Load { dst: head, addr }, span);
        let high = self.resize(Operand::Reg(head), Ty::I64, false, span);
        Wide { low: Operand::Reg(low), high }
    }
    /// Reads both halves.
    pub fn load_wide(&mut self, place: Location, span: Span) -> Wide {
        let Location::Memory(base, offset) = place else { return Wide::constant(0) };
        let mut half = |at: i64| {
            let addr = self.address(Location::Memory(base, offset.wrapping_add(at)), span);
            let dst = self.temp(Ty::I64);
            self.emit(InstKind::Load { dst, addr }, span);
            Operand::Reg(dst)
        };
        Wide { low: half(0), high: half(8) }
    }
    /// Writes both halves; returns the stored value.
    pub fn store_wide(&mut self, place: Location, value: Wide, span: Span) -> Wide {
        if let Location::Memory(base, offset) = place {
            for (at, half) in [(0, value.low), (8, value.high)] {
                let addr = self.address(Location::Memory(base, offset.wrapping_add(at)), span);
                self.emit(InstKind::Store { addr, value: half }, span);
            }
        }
        value
    }
    /// Extends an integer (or pointer) to 128 bits.
    pub fn widened(&mut self, value: Operand, from: &Type, span: Span) -> Wide {
        let signed = self.unit.program.types.is_signed(from);
        let low = self.resize(value, Ty::I64, signed, span);
        let low = self.keep(low, span);
        let high = if signed { self.bin(BinOp::AShr, low, word(63), span) } else { ZERO };
        Wide { low, high }
    }
    /// Compares with 0; an `i1`.
    pub fn wide_truth(&mut self, value: Wide, span: Span) -> Operand {
        let any = self.bin(BinOp::Or, value.low, value.high, span);
        self.cmp(CmpOp::Ne, any, ZERO, span)
    }
    /// Emits a comparison, an `i1`.
    pub fn wide_relation(&mut self, opcode: &Opcode, signed: bool, a: Wide, b: Wide, span: Span) -> Operand {
        let not = |this: &mut Self, truth| this.bin(BinOp::Xor, truth, Operand::Const(Ty::I1, 1), span);
        match opcode {
            Opcode::Equal | Opcode::NotEqual => {
                let difference = self.by_halves(BinOp::Xor, a, b, span);
                let differs = self.wide_truth(difference, span);
                if *opcode == Opcode::NotEqual { differs } else { not(self, differs) }
            }
            Opcode::Less => {
                let less = self.cmp(if signed { CmpOp::Slt } else { CmpOp::Ult }, a.high, b.high, span);
                let same = self.cmp(CmpOp::Eq, a.high, b.high, span);
                let below = self.cmp(CmpOp::Ult, a.low, b.low, span);
                let below = self.bin(BinOp::And, same, below, span);
                self.bin(BinOp::Or, less, below, span)
            }
            Opcode::Greater => self.wide_relation(&Opcode::Less, signed, b, a, span),
            Opcode::LessEqual => {
                let greater = self.wide_relation(&Opcode::Less, signed, b, a, span);
                not(self, greater)
            }
            _ => {
                let less = self.wide_relation(&Opcode::Less, signed, a, b, span);
                not(self, less)
            }
        }
    }
    /// Lowers an arithmetic operator.
    pub fn wide_binary(&mut self, opcode: &Opcode, signed: bool, a: Wide, b: Wide, node: &AstNode) -> Wide {
        let span = self.unit.span(node);
        match opcode {
            Opcode::Plus => self.wide_sum(BinOp::Add, a, b, span),
            Opcode::Minus => self.wide_sum(BinOp::Sub, a, b, span),
            Opcode::Star => self.wide_product(a, b, span),
            Opcode::Slash | Opcode::Percent => self.wide_quotient(opcode, signed, a, b, span),
            Opcode::Amp => self.by_halves(BinOp::And, a, b, span),
            Opcode::Pipe => self.by_halves(BinOp::Or, a, b, span),
            Opcode::Caret => self.by_halves(BinOp::Xor, a, b, span),
            Opcode::ShiftLeft => self.shifted_left(a, b.low, span),
            Opcode::ShiftRight => self.shifted_right(a, b.low, signed, span),
            other => self.unsupported_wide(Construct::Int128Operator(other.clone()), node),
        }
    }

    fn by_halves(&mut self, op: BinOp, a: Wide, b: Wide, span: Span) -> Wide {
        Wide { low: self.bin(op, a.low, b.low, span), high: self.bin(op, a.high, b.high, span) }
    }
    fn wide_sum(&mut self, op: BinOp, a: Wide, b: Wide, span: Span) -> Wide {
        let low = self.bin(op, a.low, b.low, span);
        let carries = match op {
            BinOp::Add => self.cmp(CmpOp::Ult, low, a.low, span),
            _ => self.cmp(CmpOp::Ult, a.low, b.low, span),
        };
        let carry = self.resize(carries, Ty::I64, false, span);
        let high = self.bin(op, a.high, b.high, span);
        Wide { low, high: self.bin(op, high, carry, span) }
    }
    /// Computes the carry of a sum out of 128 bits, or the borrow of a difference.
    pub fn wide_carry(&mut self, op: BinOp, a: Wide, b: Wide, span: Span) -> Operand {
        let less = |this: &mut Self, x, y| {
            let less = this.cmp(CmpOp::Ult, x, y, span);
            this.resize(less, Ty::I64, false, span)
        };
        let (low, high) = (self.bin(op, a.low, b.low, span), self.bin(op, a.high, b.high, span));
        let (first, second) = match op {
            BinOp::Add => {
                let carry = less(self, low, a.low);
                let sum = self.bin(op, high, carry, span);
                (less(self, high, a.high), less(self, sum, high))
            }
            _ => {
                let borrow = less(self, a.low, b.low);
                (less(self, a.high, b.high), less(self, high, borrow))
            }
        };
        self.bin(BinOp::Or, first, second, span)
    }
    /// Multiplies the low halves by 32-bit digits (schoolbook); the other products affect only the high half.
    fn wide_product(&mut self, a: Wide, b: Wide, span: Span) -> Wide {
        let (digit, half) = (word(0xffff_ffff), word(32));
        let [a0, b0] = [a.low, b.low].map(|x| self.bin(BinOp::And, x, digit, span));
        let [a1, b1] = [a.low, b.low].map(|x| self.bin(BinOp::LShr, x, half, span));
        let [low, cross_a, cross_b, top] =
            [(a0, b0), (a0, b1), (a1, b0), (a1, b1)].map(|(x, y)| self.bin(BinOp::Mul, x, y, span));
        let mut middle = self.bin(BinOp::LShr, low, half, span);
        let mut high = top;
        for cross in [cross_a, cross_b] {
            let part = self.bin(BinOp::And, cross, digit, span);
            middle = self.bin(BinOp::Add, middle, part, span);
            let part = self.bin(BinOp::LShr, cross, half, span);
            high = self.bin(BinOp::Add, high, part, span);
        }
        let carry = self.bin(BinOp::LShr, middle, half, span);
        high = self.bin(BinOp::Add, high, carry, span);
        for (x, y) in [(a.low, b.high), (a.high, b.low)] {
            let part = self.bin(BinOp::Mul, x, y, span);
            high = self.bin(BinOp::Add, high, part, span);
        }
        Wide { low: self.bin(BinOp::Mul, a.low, b.low, span), high }
    }
    fn wide_quotient(&mut self, opcode: &Opcode, signed: bool, a: Wide, b: Wide, span: Span) -> Wide {
        // Fails here, at the position in the user's source, if the divisor is zero.
        let any = self.bin(BinOp::Or, b.low, b.high, span);
        self.bin(BinOp::UDiv, word(1), any, span);
        let slot = self.new_bytes(32);
        self.emit(InstKind::SlotBegin { slot }, span);
        let into = self.slot_address(slot, span);
        let name = if signed { "touchstone_wide_divide_signed" } else { "touchstone_wide_divide" };
        let written = "void (unsigned long *, unsigned long, unsigned long, unsigned long, unsigned long)";
        self.wide_model(name, written, vec![into, a.low, a.high, b.low, b.high], None, span);
        let into = self.slot_address(slot, span);
        self.load_wide(Location::Memory(into, if *opcode == Opcode::Slash { 0 } else { 16 }), span)
    }
    /// Returns the amount modulo 64, and a mask of ones if it is 64 or more.
    fn shift_parts(&mut self, amount: Operand, span: Span) -> (Operand, Operand) {
        let small = self.bin(BinOp::And, amount, word(63), span);
        let big = self.bin(BinOp::LShr, amount, word(6), span);
        let big = self.bin(BinOp::And, big, word(1), span);
        (small, self.bin(BinOp::Sub, ZERO, big, span))
    }
    /// Selects `a` where the mask is 0, `b` where it is 1.
    fn masked(&mut self, mask: Operand, a: Operand, b: Operand, span: Span) -> Operand {
        let differing = self.bin(BinOp::Xor, a, b, span);
        let kept = self.bin(BinOp::And, differing, mask, span);
        self.bin(BinOp::Xor, a, kept, span)
    }
    fn shifted_left(&mut self, value: Wide, amount: Operand, span: Span) -> Wide {
        let (small, big) = self.shift_parts(amount, span);
        let low = self.bin(BinOp::Shl, value.low, small, span);
        let high = self.bin(BinOp::Shl, value.high, small, span);
        // In two steps, since a shift by 64 is undefined.
        let rest = self.bin(BinOp::Xor, small, word(63), span);
        let moved = self.bin(BinOp::LShr, value.low, word(1), span);
        let moved = self.bin(BinOp::LShr, moved, rest, span);
        let high = self.bin(BinOp::Or, high, moved, span);
        Wide { low: self.masked(big, low, ZERO, span), high: self.masked(big, high, low, span) }
    }
    fn shifted_right(&mut self, value: Wide, amount: Operand, signed: bool, span: Span) -> Wide {
        let (small, big) = self.shift_parts(amount, span);
        let low = self.bin(BinOp::LShr, value.low, small, span);
        let high = self.bin(if signed { BinOp::AShr } else { BinOp::LShr }, value.high, small, span);
        let rest = self.bin(BinOp::Xor, small, word(63), span);
        let moved = self.bin(BinOp::Shl, value.high, word(1), span);
        let moved = self.bin(BinOp::Shl, moved, rest, span);
        let low = self.bin(BinOp::Or, low, moved, span);
        let fill = if signed { self.bin(BinOp::AShr, value.high, word(63), span) } else { ZERO };
        Wide { low: self.masked(big, low, high, span), high: self.masked(big, high, fill, span) }
    }

    /// Converts to a float.
    pub fn wide_to_float(&mut self, value: Wide, signed: bool, format: Format, span: Span) -> Operand {
        let (name, result) = match format {
            Format::F32 => ("touchstone_wide_to_float", "float (unsigned long, unsigned long, unsigned long)"),
            Format::F64 => ("touchstone_wide_to_double", "double (unsigned long, unsigned long, unsigned long)"),
        };
        let negative = match signed {
            true => self.bin(BinOp::LShr, value.high, word(63), span),
            false => ZERO,
        };
        let dst = self.temp(Ty::Int(format.bits()));
        self.wide_model(name, result, vec![value.low, value.high, negative], Some(dst), span);
        Operand::Reg(dst)
    }
    fn wide_of_float(&mut self, value: Operand, from: &Type, span: Span) -> Wide {
        let double = match self.unit.program.types.format(from) {
            Some(Format::F32) => self.float(FloatOp::Convert(Format::F64), Format::F32, &[value], span),
            _ => value,
        };
        let slot = self.new_bytes(16);
        self.emit(InstKind::SlotBegin { slot }, span);
        let into = self.slot_address(slot, span);
        let written = "void (unsigned long *, double)";
        self.wide_model("touchstone_wide_from_double", written, vec![into, double], None, span);
        let into = self.slot_address(slot, span);
        self.load_wide(Location::Memory(into, 0), span)
    }
    /// Calls a model.
    pub fn wide_model(
        &mut self,
        name: &str,
        written: &str,
        args: Vec<Operand>,
        dst: Option<touchstone_ir::Reg>,
        span: Span,
    ) {
        let model = TypeText { written: written.into(), desugared: None };
        let callee = Callee::Direct(self.unit.function_named(name, Some(&model)));
        self.emit(InstKind::Call { dst, callee, args }, span);
    }
}
