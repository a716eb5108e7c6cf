//! Arithmetic on bit-fields of more than 32 bits, where compilers differ.
//!
//! C leaves open what such a field is promoted to: gcc computes in the field's own width, clang in that of its declared type.
//! Where both give the same value, that is the value; a path on which they differ ends as unsupported, by name.

use crate::ast::Node;
use crate::func::Lowerer;
use touchstone_base::Span;
use touchstone_ir::{BinOp, CmpOp, Operand, TermKind, Ty};

/// How wide an operand is for a compiler that knows the widths of bit-fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Width {
    /// At most 32 bits: it takes the other's width.
    Narrow,
    /// A bit-field's.
    Field {
        bits: u8,
        signed: bool,
    },
    Full,
}

impl Width {
    /// The width in which two operands meet.
    fn with(self, other: Width) -> Width {
        match (self, other) {
            (Width::Full, _) | (_, Width::Full) => Width::Full,
            (Width::Narrow, width) | (width, Width::Narrow) => width,
            (Width::Field { bits: a, signed: x }, Width::Field { bits: b, signed: y }) => {
                let signed = if a == b {
                    x && y
                } else if a > b {
                    x
                } else {
                    y
                };
                Width::Field { bits: a.max(b), signed }
            }
        }
    }
}

impl Lowerer<'_, '_> {
    /// Goes on with a value of 64 bits only where it is the same in the width of the operands' bit-fields.
    pub fn in_field_width(&mut self, node: &Node, value: Operand, span: Span) -> Operand {
        let grows = match node.kind.as_str() {
            "BinaryOperator" => matches!(node.opcode.as_str(), "+" | "-" | "*" | "<<"),
            _ => matches!(node.opcode.as_str(), "-" | "~"),
        };
        if !grows || self.ty(value) != Ty::I64 {
            return value;
        }
        let Width::Field { bits, signed } = self.field_width(node) else { return value };
        let away = Operand::Const(Ty::I64, u64::from(64 - bits));
        let high = self.bin(BinOp::Shl, value, away, span);
        let narrowed = self.bin(if signed { BinOp::AShr } else { BinOp::LShr }, high, away, span);
        let same = self.cmp(CmpOp::Eq, value, narrowed, span);
        let (differs, fits) = (self.new_block(), self.new_block());
        self.terminate(TermKind::Branch { cond: same, then_block: fits, else_block: differs, tag: None }, span);
        self.start(differs);
        let what = "overflow of a bit-field of more than 32 bits, where compilers differ";
        self.terminate(TermKind::Unsupported(what.to_string()), span);
        self.start(fits);
        value
    }

    fn field_width(&self, node: &Node) -> Width {
        match (node.kind.as_str(), node.inner.as_slice()) {
            ("ParenExpr" | "ConstantExpr", [inner]) => self.field_width(inner),
            ("ImplicitCastExpr", [inner]) if node.cast == "LValueToRValue" => self.read_width(inner),
            ("ImplicitCastExpr", [inner]) if node.cast == "IntegralCast" => {
                let types = &self.unit.program.types;
                if types.size(&self.unit.type_of(inner)) <= 4 { Width::Narrow } else { self.field_width(inner) }
            }
            ("UnaryOperator", [inner]) if matches!(node.opcode.as_str(), "+" | "-" | "~") => self.field_width(inner),
            ("BinaryOperator", [left, right]) => match node.opcode.as_str() {
                "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" => self.field_width(left).with(self.field_width(right)),
                "<<" | ">>" => self.field_width(left),
                _ => Width::Full,
            },
            _ => Width::Full,
        }
    }
    fn read_width(&self, node: &Node) -> Width {
        match (node.kind.as_str(), node.inner.as_slice()) {
            ("ParenExpr", [inner]) => self.read_width(inner),
            ("MemberExpr", _) => {
                let Some(&(record, field)) = self.unit.fields.get(&node.link) else { return Width::Full };
                let field = &self.unit.program.types.records[record].fields[field];
                match field.bits {
                    Some((_, bits @ 33..=63)) => {
                        Width::Field { bits: bits as u8, signed: self.unit.program.types.is_signed(&field.ty) }
                    }
                    _ => Width::Full,
                }
            }
            _ => Width::Full,
        }
    }
}
