//! `long double`: x87's extended format, in two words like [`crate::lower::numbers::int128`]: the significand, then
//! sign and exponent.
//!
//! Computed exactly by a model in C (`models/longdouble.c`), in concrete runs only: symbolic execution stops at the
//! first operation, since the model has a path for every normalisation.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::callee_name;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::lower::context::lvalue::Location;
use crate::lower::context::unit::Unit;
use crate::lower::numbers::int128::{Wide, number};
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_base::extended::Extended;
use touchstone_base::float::{FloatOp, Format};
use touchstone_ir::{BinOp, Builtin, CmpOp, InstKind, Operand, Ty};

const SIGN: Operand = Operand::Const(Ty::I64, 0x8000);

impl Type {
    /// Returns true if it is `long double`.
    pub fn is_long_double(&self) -> bool {
        self.kind == TypeKind::LongDouble
    }
}

impl Unit<'_> {
    /// Evaluates a constant expression of type `long double`.
    pub fn const_long_double(&self, node: &AstNode) -> Option<Extended> {
        let ty = self.type_of(node);
        if !ty.is_long_double() {
            return match self.program.types.format(&ty) {
                Some(format) => Some(Extended::from_double(format.value(self.const_float(node)?))),
                None => {
                    let value = self.const_signed(node)?;
                    let signed = self.program.types.is_signed(&ty);
                    let magnitude = if signed { value.unsigned_abs() } else { value as u64 };
                    Some(Extended::from_integer(magnitude, signed && value < 0))
                }
            };
        }
        let first = || node.inner.first();
        match &node.kind {
            K::FloatingLiteral => Extended::parse(node.value.as_deref()?),
            K::CallExpr => crate::lower::numbers::long_math::named_constant(callee_name(node)?, node),
            K::ParenExpr | K::ConstantExpr => self.const_long_double(first()?),
            K::ImplicitCastExpr | K::CStyleCastExpr
                if matches!(node.cast, Cast::FloatingCast | Cast::IntegralToFloating | Cast::NoOp) =>
            {
                self.const_long_double(first()?)
            }
            K::ImplicitValueInitExpr => Some(Extended::ZERO),
            K::UnaryOperator => match &node.opcode {
                Opcode::Minus => Some(self.const_long_double(first()?)?.negated()),
                Opcode::Plus | Opcode::Extension => self.const_long_double(first()?),
                _ => None,
            },
            K::BinaryOperator => {
                let [left, right] = node.inner.as_slice() else { return None };
                let (a, b) = (self.const_long_double(left)?, self.const_long_double(right)?);
                crate::lower::numbers::long_const::eval(&node.opcode, a, b)
            }
            K::ConditionalOperator => {
                let [condition, yes, no] = node.inner.as_slice() else { return None };
                self.const_long_double(if self.const_int(condition)? != 0 { yes } else { no })
            }
            _ => None,
        }
    }
}

impl Lowerer<'_, '_> {
    /// Evaluates a literal.
    pub fn long_literal(&mut self, node: &AstNode) -> Option<Wide> {
        self.unit.const_long_double(node).map(number)
    }
    /// Evaluates an arithmetic expression and converts it to `long double`.
    pub fn long_of(&mut self, node: &AstNode, span: Span) -> Wide {
        let from = self.unit.type_of(node);
        if from.is_long_double() {
            return self.wide(node);
        }
        if let Some(value) = self.unit.const_long_double(node) {
            return number(value);
        }
        if from.wide().is_some() {
            self.unsupported(Construct::Int128ToLongDouble, node);
            return number(Extended::ZERO);
        }
        let value = self.rvalue(node);
        self.long_from(value, &from, span)
    }
    pub fn long_from(&mut self, value: Operand, from: &Type, span: Span) -> Wide {
        match self.unit.program.types.format(from) {
            Some(format) => {
                let bits = match format {
                    Format::F32 => self.float(FloatOp::Convert(Format::F64), format, &[value], span),
                    Format::F64 => value,
                };
                self.long_result("touchstone_long_from_double", vec![bits], span)
            }
            None => {
                let signed = self.unit.program.types.is_signed(from);
                let wide = self.resize(value, Ty::I64, signed, span);
                let negative = match signed {
                    true => self.bin(BinOp::LShr, wide, Operand::Const(Ty::I64, 63), span),
                    false => Operand::Const(Ty::I64, 0),
                };
                // (x ^ -n) + n is the magnitude.
                let ones = self.bin(BinOp::Sub, Operand::Const(Ty::I64, 0), negative, span);
                let flipped = self.bin(BinOp::Xor, wide, ones, span);
                let magnitude = self.bin(BinOp::Add, flipped, negative, span);
                self.long_result("touchstone_long_from_integer", vec![magnitude, negative], span)
            }
        }
    }
    /// Converts a `long double` to another arithmetic type except `_Bool`.
    pub fn long_to(&mut self, value: Wide, to: &Type, span: Span) -> Operand {
        let scalar = self.unit.program.types.scalar(to);
        self.run_only("long double", span);
        let dst = self.temp(Ty::I64);
        match self.unit.program.types.format(to) {
            Some(format) => {
                let word = |value: u8| Operand::Const(Ty::I64, u64::from(value));
                let args = vec![value.low, value.high, word(format.fraction_bits() + 1), word(format.exponent_bits())];
                let written = "unsigned long (unsigned long, unsigned long, unsigned long, unsigned long)";
                self.wide_model("touchstone_long_to_float", written, args, Some(dst), span);
            }
            None => {
                let written = "unsigned long (unsigned long, unsigned long)";
                let args = vec![value.low, value.high];
                self.wide_model("touchstone_long_to_integer", written, args, Some(dst), span);
            }
        }
        self.resize(Operand::Reg(dst), scalar, false, span)
    }
    /// Computes `a op b`.
    pub fn long_binary(&mut self, opcode: &Opcode, a: Wide, b: Wide, node: &AstNode) -> Wide {
        let span = self.unit.span(node);
        let name = match opcode {
            Opcode::Plus => "touchstone_long_add",
            Opcode::Minus => "touchstone_long_subtract",
            Opcode::Star => "touchstone_long_multiply",
            Opcode::Slash => "touchstone_long_divide",
            other => {
                self.unsupported(Construct::LongDoubleOperator(other.clone()), node);
                return number(Extended::ZERO);
            }
        };
        self.long_result(name, vec![a.low, a.high, b.low, b.high], span)
    }
    /// Computes `-value`.
    pub fn long_negated(&mut self, value: Wide, span: Span) -> Wide {
        Wide { low: value.low, high: self.bin(BinOp::Xor, value.high, SIGN, span) }
    }
    /// Computes `value + 1` or `value - 1`.
    pub fn long_stepped(&mut self, value: Wide, up: bool, span: Span) -> Wide {
        let one = number(Extended::from_integer(1, !up));
        self.long_result("touchstone_long_add", vec![value.low, value.high, one.low, one.high], span)
    }
    /// Emits a comparison, an `i1`.
    pub fn long_relation(&mut self, opcode: &Opcode, a: Wide, b: Wide, span: Span) -> Operand {
        self.run_only("long double", span);
        let dst = self.temp(Ty::I32);
        let written = "int (unsigned long, unsigned long, unsigned long, unsigned long)";
        let args = vec![a.low, a.high, b.low, b.high];
        self.wide_model("touchstone_long_compare", written, args, Some(dst), span);
        let order = Operand::Reg(dst);
        let is =
            |this: &mut Self, value: u32| this.cmp(CmpOp::Eq, order, Operand::Const(Ty::I32, u64::from(value)), span);
        let (less, equal, greater) = (u32::MAX, 0, 1);
        match opcode {
            Opcode::Equal => is(self, equal),
            Opcode::NotEqual => self.cmp(CmpOp::Ne, order, Operand::Const(Ty::I32, 0), span),
            Opcode::Less => is(self, less),
            Opcode::Greater => is(self, greater),
            _ => {
                let strict = is(self, if *opcode == Opcode::LessEqual { less } else { greater });
                let same = is(self, equal);
                self.bin(BinOp::Or, strict, same, span)
            }
        }
    }
    /// Compares with zero; an `i1`.
    pub fn long_truth(&mut self, value: Wide, span: Span) -> Operand {
        self.run_only("long double", span);
        self.cmp(CmpOp::Ne, value.low, Operand::Const(Ty::I64, 0), span)
    }
    /// Computes the new value of `left op= right` where the left side is no `long double`.
    pub fn long_compound(&mut self, node: &AstNode, old: Operand, ty: &Type, right: &AstNode, span: Span) -> Operand {
        let a = self.long_from(old, ty, span);
        let b = self.long_of(right, span);
        let value = self.long_binary(node.opcode.computed(), a, b, node);
        match ty.kind {
            TypeKind::Bool => {
                let truth = self.long_truth(value, span);
                self.resize(truth, Ty::I8, false, span)
            }
            _ => self.long_to(value, ty, span),
        }
    }

    fn long_result(&mut self, name: &str, args: Vec<Operand>, span: Span) -> Wide {
        self.run_only("long double", span);
        let slot = self.new_bytes(16);
        self.emit(InstKind::SlotBegin { slot }, span);
        let into = self.slot_address(slot, span);
        let written = format!("void (unsigned long *{})", ", unsigned long".repeat(args.len()));
        self.wide_model(name, &written, std::iter::once(into).chain(args).collect(), None, span);
        let into = self.slot_address(slot, span);
        self.load_wide(Location::Memory(into, 0), span)
    }
    /// Marks the following code as supported in concrete runs only.
    pub fn run_only(&mut self, name: &str, span: Span) {
        let name = self.unit.program.text_literal(name, span);
        let name = self.global_address(name, span);
        self.emit(InstKind::Builtin { dst: None, builtin: Builtin::RunOnly, args: vec![name] }, span);
    }
}
