//! Constant expressions: evaluation of integers without side effects, by the rules of C.
//!
//! Variables are never constants here, not even `const` ones: a condition on one is a condition.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::{callee_name, has_effects, selected};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::unit::Unit;
use crate::types::compatibility::compatible;
use crate::types::ctype::{Type, TypeKind};
use touchstone_ir::{BinOp, CmpOp, mask, sign_extend};

impl Unit<'_> {
    /// Returns the value of an integer constant expression, masked to its type's width.
    pub fn const_int(&self, node: &AstNode) -> Option<u64> {
        let ty = self.type_of(node);
        let bits = self.int_bits(&ty)?;
        let first = || node.inner.first();
        let value = match &node.kind {
            K::IntegerLiteral | K::CharacterLiteral | K::CXXBoolLiteralExpr => parse_integer(node.value.as_deref()?)?,
            K::ConstantExpr => match node.value.as_deref().and_then(parse_integer) {
                Some(value) => value,
                None => self.const_int(first()?)?,
            },
            K::ParenExpr => self.const_int(first()?)?,
            K::DeclRefExpr => *self.constants.get(&node.decl.as_ref()?.id)? as u64,
            K::ImplicitCastExpr | K::CStyleCastExpr => return self.const_cast(node, bits),
            K::UnaryExprOrTypeTraitExpr => self.size_operator(node)?,
            K::SpelledOffset => self.null_offset(first()?)?,
            K::OffsetOfExpr => self.offset_of(node)?,
            K::UnaryOperator => {
                let operand = self.const_int(first()?)?;
                match &node.opcode {
                    Opcode::Minus => operand.wrapping_neg(),
                    Opcode::Plus | Opcode::Extension => operand,
                    Opcode::Tilde => !operand,
                    Opcode::Not => u64::from(operand == 0),
                    _ => return None,
                }
            }
            K::BinaryOperator => return self.const_binary(node, bits),
            K::ConditionalOperator => {
                let [condition, yes, no] = node.inner.as_slice() else { return None };
                let chosen = if self.const_int(condition)? != 0 { yes } else { no };
                self.const_int(chosen)?
            }
            K::GenericSelectionExpr => self.const_int(selected(node)?)?,
            K::ImplicitValueInitExpr => 0,
            K::ChooseExpr => self.const_int(self.chosen(node)?)?,
            K::TypeTraitExpr => {
                let [a, b] = node.inner.as_slice() else { return None };
                let (a, b) = (self.asked_type(a), self.asked_type(b));
                let types = &self.program.types;
                if types.unsupported(&a).or_else(|| types.unsupported(&b)) == Some(Construct::UnknownType) {
                    return None;
                }
                u64::from(compatible(types, &a, &b))
            }
            K::CallExpr => {
                let callee = callee_name(node)?;
                match callee {
                    "__builtin_expect" if !has_effects(node) => self.const_int(node.inner.get(1)?)?,
                    // Compilers may also know the value of other expressions.
                    "__builtin_constant_p" if self.is_constant(node.inner.get(1)?) => 1,
                    "__builtin_classify_type" => self.type_class(&self.type_of(node.inner.get(1)?)),
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(mask(value, bits))
    }
    /// Returns the operand type of a type trait; for `typeof`, clang has the expression.
    fn asked_type(&self, node: &AstNode) -> Type {
        match node.inner.first() {
            Some(operand) if node.kind == K::TypeOfExprType => self.type_of(operand),
            _ => self.type_of(node),
        }
    }
    /// Returns true if `__builtin_constant_p` is true: for a number or a string literal.
    pub fn is_constant(&self, node: &AstNode) -> bool {
        let is_text = match (&node.kind, node.inner.first()) {
            (K::ParenExpr | K::ImplicitCastExpr, Some(inner)) if node.cast != Cast::LValueToRValue => {
                self.is_constant(inner)
            }
            (K::StringLiteral, _) => true,
            _ => false,
        };
        is_text || self.const_int(node).is_some() || self.const_float(node).is_some()
    }
    /// Returns the value of `__builtin_classify_type`, in gcc's numbering.
    pub fn type_class(&self, ty: &Type) -> u64 {
        match &ty.kind {
            TypeKind::Void => 0,
            TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Int128 { .. } | TypeKind::Enum(_) => 1,
            TypeKind::Pointer(_)
            | TypeKind::Array(..)
            | TypeKind::OpenArray(_)
            | TypeKind::Variable(..)
            | TypeKind::Function(_) => 5,
            TypeKind::Float { .. } | TypeKind::LongDouble => 8,
            TypeKind::Complex(_) => 9,
            TypeKind::Record(id) if self.program.types.records[*id].is_union => 13,
            TypeKind::Record(_) => 12,
            TypeKind::Vector(..) => 19,
            // gcc's `no_type_class`.
            TypeKind::Unsupported { .. } => u64::MAX,
        }
    }
    /// Returns the value of an integer constant expression, sign-extended if its type is signed.
    pub fn const_signed(&self, node: &AstNode) -> Option<i64> {
        let ty = self.type_of(node);
        let value = self.const_int(node)?;
        let bits = self.int_bits(&ty)?;
        Some(if self.program.types.is_signed(&ty) { sign_extend(value, bits) } else { value as i64 })
    }

    fn int_bits(&self, ty: &Type) -> Option<u8> {
        match ty.kind {
            TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Enum(_) => Some(self.program.types.scalar(ty).bits()),
            _ => None,
        }
    }

    fn const_cast(&self, node: &AstNode, bits: u8) -> Option<u64> {
        let inner = node.inner.first()?;
        match &node.cast {
            Cast::IntegralCast | Cast::NoOp | Cast::BooleanToSignedIntegral | Cast::NonAtomicToAtomic => {
                Some(mask(self.const_signed(inner)? as u64, bits))
            }
            Cast::FloatingToIntegral => self.const_from_float(node, inner),
            Cast::FloatingToBoolean => Some(u64::from(self.const_float(inner)? << 1 != 0)),
            Cast::IntegralToBoolean => Some(u64::from(self.const_int(inner)? != 0)),
            _ => None,
        }
    }

    fn const_binary(&self, node: &AstNode, bits: u8) -> Option<u64> {
        let [left, right] = node.inner.as_slice() else { return None };
        if node.opcode.is_comparison() && self.program.types.format(&self.type_of(left)).is_some() {
            return self.const_relation(&node.opcode, left, right);
        }
        let a = self.const_int(left)?;
        match &node.opcode {
            Opcode::And if a == 0 => return Some(0),
            Opcode::Or if a != 0 => return Some(1),
            _ => {}
        }
        let b = self.const_int(right)?;
        let operand = self.type_of(left);
        let signed = self.program.types.is_signed(&operand);
        let width = self.int_bits(&operand)?;
        let truth = |op, a, b| Some(u64::from(fold_cmp(op, a, b, width)));
        let (less, less_equal) = if signed { (CmpOp::Slt, CmpOp::Sle) } else { (CmpOp::Ult, CmpOp::Ule) };
        match &node.opcode {
            Opcode::And | Opcode::Or => Some(u64::from(b != 0)),
            Opcode::Equal => truth(CmpOp::Eq, a, b),
            Opcode::NotEqual => truth(CmpOp::Ne, a, b),
            Opcode::Less => truth(less, a, b),
            Opcode::Greater => truth(less, b, a),
            Opcode::LessEqual => truth(less_equal, a, b),
            Opcode::GreaterEqual => truth(less_equal, b, a),
            opcode => fold_bin(binary_op(opcode, signed)?, a, b, bits),
        }
    }

    /// Returns the value of `sizeof` and `_Alignof`.
    pub fn size_operator(&self, node: &AstNode) -> Option<u64> {
        let ty = match (&node.arg_type, node.inner.first()) {
            (Some(text), _) => self.type_named(text),
            (None, Some(inner)) => self.type_of(inner),
            (None, None) => return None,
        };
        let known = match self.program.types.unsupported(&ty) {
            Some(Construct::PragmaPack | Construct::RecordLayout) => false,
            Some(_) => self.program.types.size(&ty) > 0,
            None => true,
        };
        match node.name.as_str() {
            "sizeof" if known => Some(self.program.types.size(&ty)),
            "alignof" | "__alignof" if known => match (&node.arg_type, node.inner.first()) {
                (None, Some(inner)) => self.alignment_of(inner, &ty),
                _ => Some(self.program.types.align(&ty)),
            },
            _ => None,
        }
    }

    /// Returns the alignment of an expression: that of its declaration, if it refers to one.
    fn alignment_of(&self, node: &AstNode, ty: &Type) -> Option<u64> {
        let own = |id: u64| self.alignments.get(&id).copied();
        match (&node.kind, node.inner.first()) {
            (K::ParenExpr, Some(inner)) => self.alignment_of(inner, ty),
            (K::DeclRefExpr, _) => {
                let of_type = if matches!(ty.kind, TypeKind::Function(_)) { 1 } else { self.program.types.align(ty) };
                Some(own(node.decl.as_ref()?.id).map_or(of_type, |own| own.max(of_type)))
            }
            (K::MemberExpr, _) => own(node.link),
            // gcc uses the largest alignment among the types before the casts.
            (K::UnaryOperator, Some(inner)) if node.opcode == Opcode::Star && inner.kind == K::CStyleCastExpr => None,
            _ => Some(self.program.types.align(ty)),
        }
    }

    /// Evaluates an `offsetof` by parsing its source text: clang's JSON does not have its operands.
    pub fn offset_of(&self, node: &AstNode) -> Option<u64> {
        let begin = node.begin.expansion?;
        let name = self.names.get(begin.file as usize)?;
        let text = self.program.sources.text(name);
        let text = std::str::from_utf8(text.get(begin.offset as usize..)?).ok()?;
        crate::types::offsetof::evaluate(text, &self.scopes, &self.program.types)
    }
}

impl Unit<'_> {
    /// Returns the offset of an address expression that starts at a null pointer.
    fn null_offset(&self, node: &AstNode) -> Option<u64> {
        let first = node.inner.first()?;
        match &node.kind {
            K::ParenExpr => self.null_offset(first),
            K::ImplicitCastExpr | K::CStyleCastExpr if node.cast == Cast::NullToPointer => Some(0),
            K::ImplicitCastExpr | K::CStyleCastExpr => self.null_offset(first),
            K::UnaryOperator if node.opcode == Opcode::Amp => self.null_offset(first),
            K::MemberExpr => {
                let &(record, field) = self.fields.get(&node.link)?;
                let record = &self.program.types.records[record];
                let field =
                    record.fields.get(field).filter(|field| field.bits.is_none() && record.problem.is_none())?;
                Some(self.null_offset(first)? + field.offset)
            }
            K::ArraySubscriptExpr => {
                let [base, index] = node.inner.as_slice() else { return None };
                let (base, index) = if self.type_of(base).is_pointer() { (base, index) } else { (index, base) };
                let size = self.program.types.size(&self.type_of(node));
                let index = self.const_signed(index)? as u64;
                Some(self.null_offset(base)?.wrapping_add(index.wrapping_mul(size)))
            }
            _ => None,
        }
    }
}

/// Returns the IR operation of an arithmetic operator.
pub(crate) fn binary_op(opcode: &Opcode, signed: bool) -> Option<BinOp> {
    Some(match opcode {
        Opcode::Plus => BinOp::Add,
        Opcode::Minus => BinOp::Sub,
        Opcode::Star => BinOp::Mul,
        Opcode::Slash if signed => BinOp::SDiv,
        Opcode::Slash => BinOp::UDiv,
        Opcode::Percent if signed => BinOp::SRem,
        Opcode::Percent => BinOp::URem,
        Opcode::Amp => BinOp::And,
        Opcode::Pipe => BinOp::Or,
        Opcode::Caret => BinOp::Xor,
        Opcode::ShiftLeft => BinOp::Shl,
        Opcode::ShiftRight if signed => BinOp::AShr,
        Opcode::ShiftRight => BinOp::LShr,
        _ => return None,
    })
}

/// Folds an arithmetic operation; `None` for a division by zero.
pub(crate) fn fold_bin(op: BinOp, a: u64, b: u64, bits: u8) -> Option<u64> {
    let (sa, sb) = (sign_extend(a, bits), sign_extend(b, bits));
    let amount = (b % u64::from(bits)) as u32;
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a.checked_div(b)?,
        BinOp::URem => a.checked_rem(b)?,
        BinOp::SDiv | BinOp::SRem if b == 0 => return None,
        BinOp::SDiv => sa.wrapping_div(sb) as u64,
        BinOp::SRem => sa.wrapping_rem(sb) as u64,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => a << amount,
        BinOp::LShr => a >> amount,
        BinOp::AShr => (sa >> amount) as u64,
    };
    Some(mask(value, bits))
}

/// Folds a comparison.
pub(crate) fn fold_cmp(op: CmpOp, a: u64, b: u64, bits: u8) -> bool {
    let (sa, sb) = (sign_extend(a, bits), sign_extend(b, bits));
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::Ult => a < b,
        CmpOp::Ule => a <= b,
        CmpOp::Slt => sa < sb,
        CmpOp::Sle => sa <= sb,
    }
}

fn parse_integer(text: &str) -> Option<u64> {
    match text.strip_prefix('-') {
        Some(_) => text.parse::<i64>().ok().map(|value| value as u64),
        None => text.parse().ok(),
    }
}
