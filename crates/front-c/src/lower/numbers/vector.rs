//! GNU vectors (`vector_size`): bytes in memory, passed and assigned like a structure, computed lane by lane.
//!
//! Without branches: a comparison is all ones or zero in each lane, as in GNU C. Deliberately not here: lanes of 128
//! bits, and vectors of more than [`MAX_LANES`] lanes, which are unsupported.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::constants::binary_op;
use crate::lower::context::func::Lowerer;
use crate::lower::context::lvalue::Location;
use crate::lower::numbers::floats::float_op;
use crate::types::ctype::{MAX_LANES, Type, TypeKind};
use touchstone_base::Span;
use touchstone_ir::{BinOp, CmpOp, InstKind, Operand, Ty, mask};

/// Returns true if a vector expression is computed in lanes; others are copied like structures.
pub(crate) fn is_computed_vector(node: &AstNode) -> bool {
    match &node.kind {
        K::InitListExpr | K::CompoundAssignOperator | K::ShuffleVectorExpr | K::ConvertVectorExpr => true,
        K::ImplicitCastExpr | K::CStyleCastExpr => matches!(node.cast, Cast::VectorSplat | Cast::BitCast),
        K::UnaryOperator => matches!(node.opcode, Opcode::Minus | Opcode::Plus | Opcode::Tilde | Opcode::Not),
        K::BinaryOperator => !matches!(node.opcode, Opcode::Comma | Opcode::Assign),
        _ => false,
    }
}

impl Type {
    /// Returns the type and number of a vector type's lanes.
    pub fn vector(&self) -> Option<(Type, u64)> {
        match &self.kind {
            TypeKind::Vector(element, lanes) => Some(((**element).clone(), *lanes)),
            _ => None,
        }
    }
}

impl Lowerer<'_, '_> {
    /// Evaluates the lanes of a vector expression. Not called for unsupported types.
    pub fn lanes(&mut self, node: &AstNode) -> Vec<Operand> {
        let span = self.unit.span(node);
        let ty = self.unit.type_of(node);
        let Some((element, count)) = ty.vector().filter(|_| self.unit.program.types.unsupported(&ty).is_none()) else {
            return self.unsupported_lanes(Construct::Vector, node);
        };
        match (&node.kind, node.inner.as_slice()) {
            (K::ParenExpr | K::ConstantExpr, [inner]) => self.lanes(inner),
            (K::InitListExpr, [inner]) if self.unit.type_of(inner).vector().is_some() => self.lanes(inner),
            (K::InitListExpr, values) => {
                let zero = Operand::Const(self.unit.program.types.scalar(&element), 0);
                let mut lanes: Vec<Operand> = Vec::new();
                for value in values.iter().take(count as usize) {
                    let value = self.rvalue(value);
                    lanes.push(self.keep(value, span));
                }
                lanes.resize(count as usize, zero);
                lanes
            }
            (K::ImplicitCastExpr | K::CStyleCastExpr, [inner]) => match &node.cast {
                Cast::LValueToRValue => {
                    let place = self.lvalue(inner);
                    let address = self.address(place, span);
                    self.load_lanes(address, &element, count, span)
                }
                Cast::NoOp => self.lanes(inner),
                Cast::VectorSplat => {
                    let from = self.unit.type_of(inner);
                    let value = self.rvalue(inner);
                    let value = self.convert(value, &from, &element, span);
                    vec![self.keep(value, span); count as usize]
                }
                Cast::BitCast => {
                    let address = self.bytes_of(inner, span);
                    self.load_lanes(address, &element, count, span)
                }
                other => self.unsupported_lanes(Construct::VectorCast(other.clone()), node),
            },
            (K::UnaryOperator, [inner]) if is_computed_vector(node) => {
                let lanes = self.lanes(inner);
                lanes.into_iter().map(|lane| self.lane_unary(node, lane, &element, span)).collect()
            }
            (K::BinaryOperator, [left, right]) if is_computed_vector(node) => {
                let (a, b) = (self.lanes(left), self.lanes(right));
                let operand = self.unit.type_of(left).vector().map_or_else(|| element.clone(), |(element, _)| element);
                let opcode = &node.opcode;
                if opcode.is_comparison() {
                    return self.lane_relations(opcode, &operand, (&a, &b), &element, span);
                }
                self.lanes_of(node, opcode, &operand, (&a, &b), span)
            }
            (K::CompoundAssignOperator, [left, right]) => {
                let place = self.written_lvalue(left);
                let address = self.address(place, span);
                let b = self.lanes(right);
                let a = self.load_lanes(address, &element, count, span);
                let lanes = self.lanes_of(node, node.opcode.computed(), &element, (&a, &b), span);
                self.store_lanes(address, &element, &lanes, span);
                lanes
            }
            // gcc's form: the second vector has the indices, modulo the number of lanes.
            (K::ShuffleVectorExpr, [a, indices]) => {
                let lanes = self.lanes(a);
                let indices = self.lanes(indices);
                indices.into_iter().map(|index| self.chosen_lane(&lanes, index, span)).collect()
            }
            (K::ShuffleVectorExpr, [a, b, indices @ ..]) => {
                let mut from = self.lanes(a);
                from.extend(self.lanes(b));
                let index = |index: &AstNode| usize::try_from(self.unit.const_signed(index).unwrap_or(0)).unwrap_or(0);
                let chosen: Option<Vec<Operand>> = indices.iter().map(|node| from.get(index(node)).copied()).collect();
                chosen.unwrap_or_else(|| self.unsupported_lanes(Construct::ShuffleVector, node))
            }
            (K::ConvertVectorExpr, [inner]) => {
                let Some((from, _)) = self.unit.type_of(inner).vector() else {
                    return self.unsupported_lanes(Construct::ConvertVector, node);
                };
                let lanes = self.lanes(inner);
                lanes.into_iter().map(|lane| self.convert(lane, &from, &element, span)).collect()
            }
            _ => {
                let address = self.bytes_of(node, span);
                self.load_lanes(address, &element, count, span)
            }
        }
    }
    /// Selects a lane by an index modulo the number of lanes, a power of two.
    fn chosen_lane(&mut self, lanes: &[Operand], index: Operand, span: Span) -> Operand {
        let ty = self.ty(index);
        let low = self.bin(BinOp::And, index, Operand::Const(ty, lanes.len().saturating_sub(1) as u64), span);
        let first = lanes.first().copied().unwrap_or(Operand::Const(Ty::I32, 0));
        lanes.iter().enumerate().skip(1).fold(first, |chosen, (number, &lane)| {
            let here = self.cmp(CmpOp::Eq, low, Operand::Const(ty, number as u64), span);
            self.select(here, lane, chosen, span)
        })
    }
    fn unsupported_lanes(&mut self, construct: Construct, node: &AstNode) -> Vec<Operand> {
        self.unsupported(construct, node);
        let ty = self.unit.type_of(node);
        let (element, count) = ty.vector().unwrap_or((Type::int(), 1));
        vec![Operand::Const(self.unit.program.types.scalar(&element), 0); count.min(MAX_LANES) as usize]
    }

    /// Evaluates an expression into memory; returns its address.
    fn bytes_of(&mut self, node: &AstNode, span: Span) -> Operand {
        let ty = self.unit.type_of(node);
        let address = self.temporary(&ty, span);
        if ty.is_record() {
            self.aggregate(node, &ty, address);
        } else {
            let value = self.rvalue(node);
            self.store(Location::Memory(address, 0), value, span);
        }
        address
    }
    /// Reinterprets a vector's bytes as a scalar.
    pub fn vector_as_scalar(&mut self, node: &AstNode, ty: &Type, span: Span) -> Operand {
        let address = self.bytes_of(node, span);
        self.load(Location::Memory(address, 0), ty, span)
    }
    fn load_lanes(&mut self, address: Operand, element: &Type, count: u64, span: Span) -> Vec<Operand> {
        let size = self.unit.program.types.size(element) as i64;
        (0..count as i64).map(|index| self.load(Location::Memory(address, index * size), element, span)).collect()
    }
    /// Writes the lanes to memory.
    pub fn store_lanes(&mut self, address: Operand, element: &Type, lanes: &[Operand], span: Span) {
        let size = self.unit.program.types.size(element) as i64;
        for (index, &lane) in lanes.iter().enumerate() {
            self.store(Location::Memory(address, index as i64 * size), lane, span);
        }
    }

    fn lane_unary(&mut self, node: &AstNode, lane: Operand, element: &Type, span: Span) -> Operand {
        let scalar = self.ty(lane);
        match &node.opcode {
            Opcode::Minus => self.negated(lane, element, span),
            Opcode::Tilde => self.bin(BinOp::Xor, lane, Operand::Const(scalar, mask(u64::MAX, scalar.bits())), span),
            Opcode::Not => {
                let zero = self.cmp(CmpOp::Eq, lane, Operand::Const(scalar, 0), span);
                self.all_ones(zero, scalar, span)
            }
            _ => lane,
        }
    }
    fn lanes_of(
        &mut self,
        node: &AstNode,
        opcode: &Opcode,
        element: &Type,
        (a, b): (&[Operand], &[Operand]),
        span: Span,
    ) -> Vec<Operand> {
        let types = &self.unit.program.types;
        let (format, signed) = (types.format(element), types.is_signed(element));
        let mut lanes = Vec::new();
        for (&a, &b) in a.iter().zip(b) {
            lanes.push(match (format, float_op(opcode), binary_op(opcode, signed)) {
                (Some(format), Some(op), _) => self.float(op, format, &[a, b], span),
                (None, _, Some(op)) => {
                    let b = self.resize(b, self.ty(a), false, span);
                    self.bin(op, a, b, span)
                }
                _ => {
                    return self.unsupported_lanes(Construct::VectorOperator(opcode.clone()), node);
                }
            });
        }
        lanes
    }
    fn lane_relations(
        &mut self,
        opcode: &Opcode,
        operand: &Type,
        (a, b): (&[Operand], &[Operand]),
        result: &Type,
        span: Span,
    ) -> Vec<Operand> {
        let scalar = self.unit.program.types.scalar(result);
        let pairs = a.iter().zip(b);
        pairs
            .map(|(&a, &b)| {
                let truth = self.scalar_relation(opcode, operand, a, b, span);
                self.all_ones(truth, scalar, span)
            })
            .collect()
    }
    /// Extends an `i1` to all ones or zero.
    fn all_ones(&mut self, truth: Operand, ty: Ty, span: Span) -> Operand {
        match truth {
            Operand::Const(_, value) => Operand::Const(ty, if value == 0 { 0 } else { mask(u64::MAX, ty.bits()) }),
            Operand::Reg(_) => {
                let dst = self.temp(ty);
                self.emit(InstKind::Cast { dst, op: touchstone_ir::CastOp::Sext, src: truth }, span);
                Operand::Reg(dst)
            }
        }
    }
}
