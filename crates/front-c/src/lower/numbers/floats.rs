//! Floats: constants, conversions and arithmetic as operations on bits.
//!
//! Only `float` and `double`: other formats are unsupported, except `long double` (`long_double.rs`).

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::{callee_name, selected};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::lower::context::func::Lowerer;
use crate::lower::context::unit::Unit;
use crate::types::ctype::{Type, TypeKind, TypeTable};
use touchstone_base::Span;
use touchstone_base::float::{self, FloatOp, Format};
use touchstone_ir::{BinOp, CastOp, CmpOp, InstKind, Operand, Ty, mask};

/// Returns the float operation of an arithmetic operator.
pub(crate) fn float_op(opcode: &Opcode) -> Option<FloatOp> {
    Some(match opcode {
        Opcode::Plus => FloatOp::Add,
        Opcode::Minus => FloatOp::Sub,
        Opcode::Star => FloatOp::Mul,
        Opcode::Slash => FloatOp::Div,
        _ => return None,
    })
}

/// Returns the operation of a comparison, whether its operands are swapped, and whether its result is negated.
pub(crate) fn float_relation(opcode: &Opcode) -> (FloatOp, bool, bool) {
    match opcode {
        Opcode::Equal => (FloatOp::Eq, false, false),
        Opcode::NotEqual => (FloatOp::Eq, false, true),
        Opcode::Less => (FloatOp::Lt, false, false),
        Opcode::Greater => (FloatOp::Lt, true, false),
        Opcode::LessEqual => (FloatOp::Le, false, false),
        _ => (FloatOp::Le, true, false),
    }
}

/// Returns the conversion between two arithmetic types (except `_Bool`), if one of them is a float.
pub(crate) fn conversion(types: &TypeTable, from: &Type, to: &Type) -> Option<(FloatOp, Format)> {
    Some(match (types.format(from), types.format(to)) {
        (Some(from), Some(to)) => (FloatOp::Convert(to), from),
        (None, Some(to)) => {
            let bits = types.scalar(from).bits();
            (if types.is_signed(from) { FloatOp::FromSigned(bits) } else { FloatOp::FromUnsigned(bits) }, to)
        }
        (Some(from), None) => {
            let bits = types.scalar(to).bits();
            (if types.is_signed(to) { FloatOp::ToSigned(bits) } else { FloatOp::ToUnsigned(bits) }, from)
        }
        (None, None) => return None,
    })
}

impl TypeTable {
    /// Returns the format of a float type.
    pub fn format(&self, ty: &Type) -> Option<Format> {
        match ty.kind {
            TypeKind::Float { format, .. } => Some(format),
            _ => None,
        }
    }
}

impl Unit<'_> {
    /// Evaluates a constant expression of a float type to its bits.
    pub fn const_float(&self, node: &AstNode) -> Option<u64> {
        let format = self.program.types.format(&self.type_of(node))?;
        let first = || node.inner.first();
        match &node.kind {
            K::FloatingLiteral => literal(node.value.as_deref()?, format),
            K::ParenExpr | K::ConstantExpr => self.const_float(first()?),
            K::GenericSelectionExpr => self.const_float(selected(node)?),
            K::ImplicitValueInitExpr => Some(0),
            K::ImplicitCastExpr | K::CStyleCastExpr => self.const_conversion(node, first()?),
            K::UnaryOperator => match &node.opcode {
                Opcode::Minus => Some(self.const_float(first()?)? ^ format.sign_mask()),
                Opcode::Plus | Opcode::Extension => self.const_float(first()?),
                _ => None,
            },
            K::BinaryOperator => {
                let [left, right] = node.inner.as_slice() else { return None };
                let args = [self.const_float(left)?, self.const_float(right)?];
                let is_nan = |bits: &u64| bits & format.magnitude_mask() > format.infinity();
                match float::eval(float_op(&node.opcode)?, format, &args) {
                    // Compilers produce a NaN without a sign, processors one with it.
                    made if is_nan(&made) && !args.iter().any(is_nan) => Some(format.infinity() | format.quiet_bit()),
                    made => Some(made),
                }
            }
            K::ConditionalOperator => {
                let [condition, yes, no] = node.inner.as_slice() else { return None };
                self.const_float(if self.const_int(condition)? != 0 { yes } else { no })
            }
            K::CallExpr => named_constant(callee_name(node)?, format),
            _ => None,
        }
    }
    fn const_conversion(&self, node: &AstNode, inner: &AstNode) -> Option<u64> {
        match &node.cast {
            Cast::NoOp => self.const_float(inner),
            Cast::FloatingCast | Cast::IntegralToFloating => {
                let value = self.const_float(inner).or_else(|| self.const_int(inner))?;
                let (op, format) = conversion(&self.program.types, &self.type_of(inner), &self.type_of(node))?;
                Some(float::eval(op, format, &[value]))
            }
            _ => None,
        }
    }
    /// Converts a constant float to an integer, if it fits.
    pub fn const_from_float(&self, node: &AstNode, inner: &AstNode) -> Option<u64> {
        let value = self.const_float(inner)?;
        let (op, format) = conversion(&self.program.types, &self.type_of(inner), &self.type_of(node))?;
        let fits = match op {
            FloatOp::ToSigned(bits) => float::fits_integer(format, value, bits, true),
            FloatOp::ToUnsigned(bits) => float::fits_integer(format, value, bits, false),
            _ => false,
        };
        fits.then(|| float::eval(op, format, &[value]))
    }
    /// Folds a comparison of constant floats.
    pub fn const_relation(&self, opcode: &Opcode, left: &AstNode, right: &AstNode) -> Option<u64> {
        let format = self.program.types.format(&self.type_of(left))?;
        let (a, b) = (self.const_float(left)?, self.const_float(right)?);
        let (op, swapped, negated) = float_relation(opcode);
        let args = if swapped { [b, a] } else { [a, b] };
        Some(float::eval(op, format, &args) ^ u64::from(negated))
    }
}

/// Returns the bits of a literal in clang's spelling, which has enough digits to be exact.
pub(crate) fn literal(text: &str, format: Format) -> Option<u64> {
    match format {
        Format::F32 => text.parse().ok().map(|value: f32| u64::from(value.to_bits())),
        Format::F64 => text.parse().ok().map(f64::to_bits),
    }
}

/// Returns the value of a builtin that names a constant.
fn named_constant(name: &str, format: Format) -> Option<u64> {
    match name.strip_prefix("__builtin_")?.trim_end_matches('f') {
        // The name of infinity itself ends in the suffix.
        "in" | "huge_val" => Some(format.infinity()),
        // The argument sets the payload; it is nearly always empty.
        "nan" => Some(format.infinity() | format.quiet_bit()),
        _ => None,
    }
}

impl Lowerer<'_, '_> {
    /// Emits `op(args)`, or folds it.
    pub fn float(&mut self, op: FloatOp, format: Format, args: &[Operand], span: Span) -> Operand {
        let ty = Ty::Int(op.result_bits(format));
        let known: Option<Vec<u64>> = args
            .iter()
            .map(|arg| match arg {
                Operand::Const(_, value) => Some(*value),
                Operand::Reg(_) => None,
            })
            .collect();
        if let Some(args) = known {
            return Operand::Const(ty, float::eval(op, format, &args));
        }
        let dst = self.temp(ty);
        self.emit(InstKind::Float { dst, op, format, args: args.to_vec() }, span);
        Operand::Reg(dst)
    }
    /// Emits a comparison, an `i1`.
    pub fn float_relation(&mut self, opcode: &Opcode, format: Format, a: Operand, b: Operand, span: Span) -> Operand {
        let (op, swapped, negated) = float_relation(opcode);
        let args = if swapped { [b, a] } else { [a, b] };
        let truth = self.float(op, format, &args, span);
        if negated { self.bin(BinOp::Xor, truth, Operand::Const(Ty::I1, 1), span) } else { truth }
    }
    /// Compares a scalar with zero; an `i1`.
    pub fn truth_of(&mut self, value: Operand, ty: &Type, span: Span) -> Operand {
        let zero = Operand::Const(self.ty(value), 0);
        match self.unit.program.types.format(ty) {
            Some(format) => self.float_relation(&Opcode::NotEqual, format, value, zero, span),
            None => self.cmp(CmpOp::Ne, value, zero, span),
        }
    }
    /// Converts a value to another arithmetic type.
    pub fn convert(&mut self, value: Operand, from: &Type, to: &Type, span: Span) -> Operand {
        let types = &self.unit.program.types;
        let (scalar, signed) = (types.scalar(to), types.is_signed(from));
        if to.kind == TypeKind::Bool && from.kind != TypeKind::Bool {
            let truth = self.truth_of(value, from, span);
            return self.resize(truth, scalar, false, span);
        }
        match conversion(types, from, to) {
            Some((FloatOp::Convert(to), from)) if from == to => value,
            Some((op, format)) => self.float(op, format, &[value], span),
            None => self.resize(value, scalar, signed, span),
        }
    }
    /// Computes `-value`.
    pub fn negated(&mut self, value: Operand, ty: &Type, span: Span) -> Operand {
        let scalar = self.ty(value);
        match self.unit.program.types.format(ty) {
            Some(format) => self.bin(BinOp::Xor, value, Operand::Const(scalar, format.sign_mask()), span),
            None => self.bin(BinOp::Sub, Operand::Const(scalar, 0), value, span),
        }
    }
    /// Computes `value + 1` or `value - 1`.
    pub fn stepped(&mut self, value: Operand, ty: &Type, up: bool, span: Span) -> Operand {
        match self.unit.program.types.format(ty) {
            Some(format) => {
                let one = Operand::Const(self.ty(value), format.of(1.0));
                self.float(if up { FloatOp::Add } else { FloatOp::Sub }, format, &[value, one], span)
            }
            None => {
                let one = Operand::Const(self.ty(value), 1);
                self.bin(if up { BinOp::Add } else { BinOp::Sub }, value, one, span)
            }
        }
    }
    /// Emits `condition ? a : b` without a branch.
    pub fn select(&mut self, condition: Operand, a: Operand, b: Operand, span: Span) -> Operand {
        let ty = self.ty(a);
        let ones = match condition {
            Operand::Const(_, value) => Operand::Const(ty, if value == 0 { 0 } else { mask(u64::MAX, ty.bits()) }),
            Operand::Reg(_) => {
                let dst = self.temp(ty);
                self.emit(InstKind::Cast { dst, op: CastOp::Sext, src: condition }, span);
                Operand::Reg(dst)
            }
        };
        // b ^ ((a ^ b) & ones)
        let differing = self.bin(BinOp::Xor, a, b, span);
        let kept = self.bin(BinOp::And, differing, ones, span);
        self.bin(BinOp::Xor, b, kept, span)
    }
}
