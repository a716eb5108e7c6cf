//! Arithmetic on bit-fields of more than 32 bits, where compilers differ.
//!
//! C leaves the promotion of such a field implementation-defined: gcc computes in a type of the field's own width,
//! clang in the declared type. If gcc translates the program, the result is gcc's. If the compiler is unknown, a path
//! is only supported as long as both results agree.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::types::ctype::{Type, TypeKind, WideBitFields};
use touchstone_base::Span;
use touchstone_ir::{BinOp, BranchRole, CmpOp, Operand, TermKind, Ty};

/// The width of an operand for a compiler that respects the widths of bit-fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Width {
    /// At most 32 bits: the other operand determines the width.
    Narrow,
    /// The width of a bit-field.
    Field {
        bits: u8,
        signed: bool,
    },
    Full {
        signed: bool,
    },
}

impl Width {
    /// Returns the common width of two operands.
    fn with(self, other: Width) -> Width {
        match (self, other) {
            (Width::Full { signed: a }, Width::Full { signed: b }) => Width::Full { signed: a && b },
            (full @ Width::Full { .. }, _) | (_, full @ Width::Full { .. }) => full,
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

const OWN_WIDTH: &str =
    "bit-fields of more than 32 bits are computed in their own width, as gcc in `CC` does; clang differs";

impl Lowerer<'_, '_> {
    /// Truncates a value of 64 bits to the width of the operands' bit-fields, if the compiler does; if the compiler is
    /// unknown, continues only where the value is unchanged.
    pub fn in_field_width(&mut self, node: &AstNode, value: Operand, span: Span) -> Operand {
        let grows = match &node.kind {
            K::BinaryOperator => matches!(node.opcode, Opcode::Plus | Opcode::Minus | Opcode::Star | Opcode::ShiftLeft),
            _ => matches!(node.opcode, Opcode::Minus | Opcode::Tilde),
        };
        if !grows || self.ty(value) != Ty::I64 {
            return value;
        }
        let Width::Field { bits, signed } = self.field_width(node) else { return value };
        let away = Operand::Const(Ty::I64, u64::from(64 - bits));
        let high = self.bin(BinOp::Shl, value, away, span);
        let narrowed = self.bin(if signed { BinOp::AShr } else { BinOp::LShr }, high, away, span);
        if self.unit.program.types.wide_fields == WideBitFields::OwnWidth {
            self.function.left_open.insert(OWN_WIDTH.to_string());
            return narrowed;
        }
        let same = self.cmp(CmpOp::Eq, value, narrowed, span);
        let (differs, fits) = (self.new_block(), self.new_block());
        self.terminate(
            TermKind::Branch {
                cond: same,
                then_block: fits,
                else_block: differs,
                role: BranchRole::Condition,
                tag: None,
            },
            span,
        );
        self.start(differs);
        self.terminate(TermKind::Unsupported(Construct::WideBitField.to_string()), span);
        self.start(fits);
        value
    }

    /// Returns the common type of operands; `declared` for a compiler that uses declared types. For gcc, an unsigned
    /// field of 40 bits and a `long` have the common type `long`.
    pub fn operation_type(&mut self, operands: &[&AstNode], declared: Type) -> Type {
        let types = &self.unit.program.types;
        let integer = matches!(declared.kind, TypeKind::Int { bits: 64, .. });
        let (Some(first), true) = (operands.first(), integer) else { return declared };
        if !operands.iter().any(|operand| self.reads_wide_field(operand)) {
            return declared;
        }
        let width = operands.iter().skip(1).fold(self.field_width(first), |all, next| all.with(self.field_width(next)));
        let signed = match width {
            Width::Field { signed, .. } | Width::Full { signed } => signed,
            Width::Narrow => return declared,
        };
        if signed == types.is_signed(&declared) {
            return declared;
        }
        match types.wide_fields {
            WideBitFields::Unknown => self.unsupported(Construct::WideBitField, first),
            WideBitFields::OwnWidth => drop(self.function.left_open.insert(OWN_WIDTH.to_string())),
        }
        let name = if signed { "long" } else { "unsigned long" };
        Type::plain(TypeKind::Int { name, bits: 64, signed })
    }

    fn field_width(&self, node: &AstNode) -> Width {
        match (&node.kind, node.inner.as_slice()) {
            (K::ParenExpr | K::ConstantExpr, [inner]) => self.field_width(inner),
            (K::ImplicitCastExpr, [inner]) if node.cast == Cast::LValueToRValue => self.read_width(inner),
            (K::ImplicitCastExpr, [inner]) if node.cast == Cast::IntegralCast => {
                let types = &self.unit.program.types;
                if types.size(&self.unit.type_of(inner)) <= 4 { Width::Narrow } else { self.field_width(inner) }
            }
            (K::UnaryOperator, [inner]) => match &node.opcode {
                Opcode::Plus | Opcode::Minus | Opcode::Tilde | Opcode::Extension => self.field_width(inner),
                Opcode::Increment | Opcode::Decrement => self.read_width(inner),
                _ => self.declared_width(node),
            },
            (K::CompoundAssignOperator, [left, _]) => self.read_width(left),
            (K::BinaryOperator, [left, right]) => match &node.opcode {
                // The difference of two pointers has no operand of its own type.
                Opcode::Minus if self.unit.type_of(left).is_pointer() => self.declared_width(node),
                Opcode::Plus
                | Opcode::Minus
                | Opcode::Star
                | Opcode::Slash
                | Opcode::Percent
                | Opcode::Amp
                | Opcode::Pipe
                | Opcode::Caret => self.field_width(left).with(self.field_width(right)),
                Opcode::ShiftLeft | Opcode::ShiftRight => self.field_width(left),
                Opcode::Assign => self.read_width(left),
                Opcode::Comma => self.field_width(right),
                _ => self.declared_width(node),
            },
            (K::ConditionalOperator, [_, yes, no]) => self.field_width(yes).with(self.field_width(no)),
            (K::BinaryConditionalOperator, [common, .., no]) => self.field_width(common).with(self.field_width(no)),
            (K::StmtExpr, [body]) => body.inner.last().map_or(Width::Narrow, |last| self.field_width(last)),
            _ => self.declared_width(node),
        }
    }

    /// Returns true if an expression contains a bit-field of more than 32 bits; otherwise compilers agree.
    fn reads_wide_field(&self, node: &AstNode) -> bool {
        let is_one = node.kind == K::MemberExpr && matches!(self.read_width(node), Width::Field { .. });
        is_one || node.inner.iter().any(|inner| self.reads_wide_field(inner))
    }

    fn declared_width(&self, node: &AstNode) -> Width {
        let (ty, types) = (self.unit.type_of(node), &self.unit.program.types);
        if types.size(&ty) <= 4 { Width::Narrow } else { Width::Full { signed: types.is_signed(&ty) } }
    }

    fn read_width(&self, node: &AstNode) -> Width {
        match (&node.kind, node.inner.as_slice()) {
            (K::ParenExpr, [inner]) => self.read_width(inner),
            (K::MemberExpr, _) => {
                let Some(&(record, field)) = self.unit.fields.get(&node.link) else { return self.declared_width(node) };
                let field = &self.unit.program.types.records[record].fields[field];
                match field.bits {
                    Some((_, bits @ 33..=63)) => {
                        Width::Field { bits: bits as u8, signed: self.unit.program.types.is_signed(&field.ty) }
                    }
                    _ => self.declared_width(node),
                }
            }
            _ => self.declared_width(node),
        }
    }
}
