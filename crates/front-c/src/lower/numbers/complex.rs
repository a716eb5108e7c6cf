//! Complex numbers: two parts in memory, passed and assigned like a structure.
//!
//! A real operand stays real (C11 G.5): it has no imaginary part in sums, products and quotients, so that zeros keep
//! their signs. Products and quotients of two complex floats are models in C (`models/complex.c`), which treat
//! infinities as Annex G and common compilers do.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::callee_name;
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::construct::Construct;
use crate::lower::context::constants::binary_op;
use crate::lower::context::func::Lowerer;
use crate::lower::context::lvalue::Location;
use crate::lower::context::unit::Unit;
use crate::lower::numbers::floats::{conversion, float_op};
use crate::lower::numbers::int128::{ComplexPart, Wide};
use crate::types::ctype::{Type, TypeKind};
use touchstone_base::Span;
use touchstone_base::extended::Extended;
use touchstone_base::float::{self, Format};
use touchstone_ir::{BinOp, CmpOp, Operand, Ty, mask, sign_extend};

/// A constant part.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum ConstPart {
    Int(u64),
    Float(Format, u64),
    Long(Extended),
}

impl ConstPart {
    /// Returns its representation in memory, of a size in bytes.
    pub fn bytes(self, size: u64) -> Vec<u8> {
        match self {
            ConstPart::Int(value) | ConstPart::Float(_, value) => {
                value.to_le_bytes()[..(size as usize).min(8)].to_vec()
            }
            ConstPart::Long(value) => {
                let mut bytes = value.significand.to_le_bytes().to_vec();
                bytes.extend(value.head.to_le_bytes());
                bytes
            }
        }
    }
    fn zero(self) -> ConstPart {
        match self {
            ConstPart::Int(_) => ConstPart::Int(0),
            ConstPart::Float(format, _) => ConstPart::Float(format, 0),
            ConstPart::Long(_) => ConstPart::Long(Extended::ZERO),
        }
    }
    fn negated(self) -> ConstPart {
        match self {
            ConstPart::Int(value) => ConstPart::Int(value.wrapping_neg()),
            ConstPart::Float(format, bits) => ConstPart::Float(format, bits ^ format.sign_mask()),
            ConstPart::Long(value) => ConstPart::Long(value.negated()),
        }
    }
    fn plus(self, other: ConstPart) -> Option<ConstPart> {
        Some(match (self, other) {
            (ConstPart::Int(a), ConstPart::Int(b)) => ConstPart::Int(a.wrapping_add(b)),
            (ConstPart::Float(format, a), ConstPart::Float(_, b)) => {
                ConstPart::Float(format, float::eval(float::FloatOp::Add, format, &[a, b]))
            }
            (ConstPart::Long(a), ConstPart::Long(b)) if b.significand == 0 && a.significand != 0 => ConstPart::Long(a),
            (ConstPart::Long(a), ConstPart::Long(b)) if a.significand == 0 && b.significand != 0 => ConstPart::Long(b),
            (ConstPart::Long(a), ConstPart::Long(b)) if a == Extended::ZERO && b == Extended::ZERO => {
                ConstPart::Long(a)
            }
            _ => return None,
        })
    }
    fn times(self, other: ConstPart) -> Option<ConstPart> {
        Some(match (self, other) {
            (ConstPart::Int(a), ConstPart::Int(b)) => ConstPart::Int(a.wrapping_mul(b)),
            (ConstPart::Float(format, a), ConstPart::Float(_, b)) => {
                ConstPart::Float(format, float::eval(float::FloatOp::Mul, format, &[a, b]))
            }
            _ => return None,
        })
    }
    fn to(self, format: Format) -> Option<ConstPart> {
        match self {
            ConstPart::Float(from, bits) => {
                Some(ConstPart::Float(format, float::eval(float::FloatOp::Convert(format), from, &[bits])))
            }
            _ => None,
        }
    }
}

/// Returns true if a complex expression is computed in parts; others are copied like structures.
pub(crate) fn is_computed_complex(node: &AstNode) -> bool {
    match &node.kind {
        K::InitListExpr | K::CompoundAssignOperator | K::ImaginaryLiteral | K::ImplicitValueInitExpr => true,
        K::ImplicitCastExpr | K::CStyleCastExpr => !matches!(node.cast, Cast::LValueToRValue | Cast::NoOp),
        K::UnaryOperator => !matches!(node.opcode, Opcode::Star | Opcode::Extension),
        K::BinaryOperator => !matches!(node.opcode, Opcode::Comma | Opcode::Assign),
        K::CallExpr => callee_name(node) == Some("__builtin_complex"),
        _ => false,
    }
}

impl Type {
    /// Returns the type of a complex type's parts.
    pub fn complex(&self) -> Option<Type> {
        match &self.kind {
            TypeKind::Complex(part) => Some((**part).clone()),
            _ => None,
        }
    }
}

impl Unit<'_> {
    /// Evaluates a constant complex expression.
    pub fn const_complex(&self, node: &AstNode) -> Option<[ConstPart; 2]> {
        let Some(part) = self.type_of(node).complex() else {
            let real = self.const_part(node)?;
            return Some([real, real.zero()]);
        };
        match (&node.kind, node.inner.as_slice()) {
            (K::ParenExpr | K::ConstantExpr | K::CompoundLiteralExpr | K::InitListExpr, [inner]) => {
                self.const_complex(inner)
            }
            (K::InitListExpr, [real, imag]) => Some([self.const_part(real)?, self.const_part(imag)?]),
            (K::CallExpr, [_, real, imag]) if callee_name(node) == Some("__builtin_complex") => {
                Some([self.const_part(real)?, self.const_part(imag)?])
            }
            (K::ImaginaryLiteral, [inner]) => {
                let imag = self.const_part(inner)?;
                Some([imag.zero(), imag])
            }
            (K::ImplicitCastExpr | K::CStyleCastExpr, [inner]) => match &node.cast {
                Cast::NoOp | Cast::LValueToRValue | Cast::FloatingRealToComplex | Cast::IntegralRealToComplex => {
                    self.const_complex(inner)
                }
                Cast::FloatingComplexCast => {
                    let format = self.program.types.format(&part)?;
                    let [real, imag] = self.const_complex(inner)?;
                    Some([real.to(format)?, imag.to(format)?])
                }
                Cast::IntegralComplexCast | Cast::IntegralComplexToFloatingComplex => {
                    let from = self.type_of(inner).complex()?;
                    let parts = self.const_complex(inner)?;
                    let [real, imag] = parts.map(|value| self.const_integer_part(value, &from, &part));
                    Some([real?, imag?])
                }
                _ => None,
            },
            (K::UnaryOperator, [inner]) => {
                let [real, imag] = self.const_complex(inner)?;
                match &node.opcode {
                    Opcode::Minus => Some([real.negated(), imag.negated()]),
                    Opcode::Tilde => Some([real, imag.negated()]),
                    Opcode::Plus | Opcode::Extension => Some([real, imag]),
                    _ => None,
                }
            }
            (K::BinaryOperator, [left, right]) => {
                let (a, mut b) = (self.const_complex(left)?, self.const_complex(right)?);
                let real = |side: &AstNode| self.type_of(side).complex().is_none();
                match &node.opcode {
                    Opcode::Star if real(left) => return Some([a[0].times(b[0])?, a[0].times(b[1])?]),
                    Opcode::Star if real(right) => return Some([a[0].times(b[0])?, a[1].times(b[0])?]),
                    Opcode::Minus => b = b.map(ConstPart::negated),
                    Opcode::Plus => {}
                    _ => return None,
                }
                let imag = match (self.type_of(left).complex(), self.type_of(right).complex()) {
                    (Some(_), Some(_)) => a[1].plus(b[1])?,
                    (Some(_), None) => a[1],
                    _ => b[1],
                };
                Some([a[0].plus(b[0])?, imag])
            }
            _ => None,
        }
    }
    /// Converts a constant integer part to another type.
    fn const_integer_part(&self, value: ConstPart, from: &Type, to: &Type) -> Option<ConstPart> {
        let ConstPart::Int(value) = value else { return None };
        let types = &self.program.types;
        let (bits, signed) = (types.scalar(from).bits(), types.is_signed(from));
        let whole = if signed { sign_extend(mask(value, bits), bits) as u64 } else { mask(value, bits) };
        if to.is_long_double() {
            let negative = signed && (whole as i64) < 0;
            let magnitude = if negative { whole.wrapping_neg() } else { whole };
            return Some(ConstPart::Long(Extended::from_integer(magnitude, negative)));
        }
        match conversion(types, from, to) {
            Some((op, format)) => Some(ConstPart::Float(format, float::eval(op, format, &[mask(value, bits)]))),
            None => Some(ConstPart::Int(whole)),
        }
    }
    fn const_part(&self, node: &AstNode) -> Option<ConstPart> {
        let ty = self.type_of(node);
        if ty.is_long_double() {
            return self.const_long_double(node).map(ConstPart::Long);
        }
        match self.program.types.format(&ty) {
            Some(format) => self.const_float(node).map(|bits| ConstPart::Float(format, bits)),
            None => self.const_int(node).map(ConstPart::Int),
        }
    }
}

impl Lowerer<'_, '_> {
    /// Evaluates the real and the imaginary part of a complex expression.
    pub fn complex(&mut self, node: &AstNode) -> [ComplexPart; 2] {
        let span = self.unit.span(node);
        let ty = self.unit.type_of(node);
        let Some(part) = ty.complex() else { return self.unsupported_complex(Construct::Complex, node) };
        match (&node.kind, node.inner.as_slice()) {
            (K::ParenExpr | K::ConstantExpr, [inner]) => self.complex(inner),
            (K::InitListExpr, [inner]) if self.unit.type_of(inner).complex().is_some() => self.complex(inner),
            (K::ImplicitValueInitExpr, _) | (K::InitListExpr, []) => [self.zero_part(&part); 2],
            (K::InitListExpr, [real]) => [self.part(real), self.zero_part(&part)],
            (K::InitListExpr, [real, imag]) | (K::CallExpr, [_, real, imag]) if is_computed_complex(node) => {
                let real = self.part(real);
                let real = self.keep_part(real, span);
                let imag = self.part(imag);
                [real, self.keep_part(imag, span)]
            }
            (K::ImaginaryLiteral, [inner]) => [self.zero_part(&part), self.part(inner)],
            (K::ImplicitCastExpr | K::CStyleCastExpr, [inner]) => self.complex_cast(node, inner, &part, span),
            (K::UnaryOperator, [inner]) if is_computed_complex(node) => self.complex_unary(node, inner, &part, span),
            (K::BinaryOperator, [left, right]) if is_computed_complex(node) => {
                let a = self.operand_parts(left, span);
                let b = self.operand_parts(right, span);
                self.complex_binary(&node.opcode, &part, a, b, node)
            }
            (K::CompoundAssignOperator, [left, right]) => {
                let place = self.written_lvalue(left);
                let computed = node.compute_lhs.as_ref().and_then(|text| self.unit.type_named(text).complex());
                let computed = computed.unwrap_or_else(|| part.clone());
                let b = self.operand_parts(right, span);
                let old = self.load_pair(place, &part, span);
                let [real, imag] = old.map(|value| self.convert_part(value, &part, &computed, span));
                let opcode = node.opcode.computed();
                let new = self.complex_binary(opcode, &computed, (real, Some(imag)), b, node);
                let new = new.map(|value| self.convert_part(value, &computed, &part, span));
                self.store_pair(place, &part, new, span);
                new
            }
            _ => {
                let address = self.temporary(&ty, span);
                self.aggregate(node, &ty, address);
                self.load_pair(Location::Memory(address, 0), &part, span)
            }
        }
    }
    fn unsupported_complex(&mut self, construct: Construct, node: &AstNode) -> [ComplexPart; 2] {
        self.unsupported(construct, node);
        let part = self.unit.type_of(node).complex().unwrap_or_else(Type::int);
        [self.zero_part(&part); 2]
    }
    fn zero_part(&self, part: &Type) -> ComplexPart {
        match part.is_two_words() {
            true => ComplexPart::Long(Wide { low: Operand::Const(Ty::I64, 0), high: Operand::Const(Ty::I64, 0) }),
            false => ComplexPart::Word(Operand::Const(self.unit.program.types.scalar(part), 0)),
        }
    }
    /// Evaluates a real expression.
    fn part(&mut self, node: &AstNode) -> ComplexPart {
        match self.unit.type_of(node).is_two_words() {
            true => ComplexPart::Long(self.wide(node)),
            false => ComplexPart::Word(self.rvalue(node)),
        }
    }
    fn keep_part(&mut self, part: ComplexPart, span: Span) -> ComplexPart {
        match part {
            ComplexPart::Word(value) => ComplexPart::Word(self.keep(value, span)),
            long => long,
        }
    }
    /// Evaluates the parts of an operand; a real one has no imaginary part.
    fn operand_parts(&mut self, node: &AstNode, span: Span) -> (ComplexPart, Option<ComplexPart>) {
        if self.unit.type_of(node).complex().is_some() {
            let [real, imag] = self.complex(node);
            return (real, Some(imag));
        }
        let real = self.part(node);
        (self.keep_part(real, span), None)
    }

    fn complex_cast(&mut self, node: &AstNode, inner: &AstNode, part: &Type, span: Span) -> [ComplexPart; 2] {
        let from = self.unit.type_of(inner);
        match (&node.cast, from.complex()) {
            (Cast::LValueToRValue, _) => {
                let place = self.lvalue(inner);
                self.load_pair(place, part, span)
            }
            (Cast::NoOp, _) => self.complex(inner),
            (Cast::FloatingRealToComplex | Cast::IntegralRealToComplex, None) => {
                let real = self.part(inner);
                let real = self.convert_part(real, &from, part, span);
                [self.keep_part(real, span), self.zero_part(part)]
            }
            (_, Some(from)) if !from.is_two_words() || from.is_long_double() => {
                let parts = self.complex(inner);
                parts.map(|value| self.convert_part(value, &from, part, span))
            }
            (kind, _) => self.unsupported_complex(Construct::Cast(kind.clone()), node),
        }
    }
    fn complex_unary(&mut self, node: &AstNode, inner: &AstNode, part: &Type, span: Span) -> [ComplexPart; 2] {
        match &node.opcode {
            Opcode::Plus => self.complex(inner),
            Opcode::Minus => self.complex(inner).map(|value| self.negated_part(value, part, span)),
            Opcode::Tilde => {
                let [real, imag] = self.complex(inner);
                [real, self.negated_part(imag, part, span)]
            }
            Opcode::Increment | Opcode::Decrement => {
                let place = self.written_lvalue(inner);
                let [real, imag] = self.load_pair(place, part, span);
                let up = node.opcode == Opcode::Increment;
                let stepped = match real {
                    ComplexPart::Word(value) => ComplexPart::Word(self.stepped(value, part, up, span)),
                    ComplexPart::Long(value) => ComplexPart::Long(self.long_stepped(value, up, span)),
                };
                self.store_pair(place, part, [stepped, imag], span);
                [if node.is_postfix { real } else { stepped }, imag]
            }
            other => self.unsupported_complex(Construct::ComplexOperator(other.clone()), node),
        }
    }

    /// Lowers `a op b` where at least one operand is complex.
    fn complex_binary(
        &mut self,
        opcode: &Opcode,
        part: &Type,
        (a, ai): (ComplexPart, Option<ComplexPart>),
        (b, bi): (ComplexPart, Option<ComplexPart>),
        node: &AstNode,
    ) -> [ComplexPart; 2] {
        let span = self.unit.span(node);
        match (opcode, ai, bi) {
            (Opcode::Plus | Opcode::Minus, _, _) => {
                let real = self.part_binary(opcode, part, a, b, node);
                let imag = match (ai, bi) {
                    (Some(ai), Some(bi)) => self.part_binary(opcode, part, ai, bi, node),
                    (Some(ai), None) => ai,
                    (None, Some(bi)) if *opcode == Opcode::Minus => self.negated_part(bi, part, span),
                    (None, Some(bi)) => bi,
                    (None, None) => self.zero_part(part),
                };
                [real, imag]
            }
            (Opcode::Star | Opcode::Slash, Some(ai), None) => {
                [a, ai].map(|value| self.part_binary(opcode, part, value, b, node))
            }
            (Opcode::Star, None, Some(bi)) => [b, bi].map(|value| self.part_binary(opcode, part, a, value, node)),
            (Opcode::Star, Some(ai), Some(bi)) if self.is_integer_part(part) => {
                let mut product = |x, y| self.part_binary(&Opcode::Star, part, x, y, node);
                let (ac, bd, ad, bc) = (product(a, b), product(ai, bi), product(a, bi), product(ai, b));
                [
                    self.part_binary(&Opcode::Minus, part, ac, bd, node),
                    self.part_binary(&Opcode::Plus, part, ad, bc, node),
                ]
            }
            (Opcode::Star | Opcode::Slash, _, Some(bi)) => {
                let ai = ai.unwrap_or_else(|| self.zero_part(part));
                self.complex_model(opcode, part, [a, ai], [b, bi], node)
            }
            (other, _, _) => self.unsupported_complex(Construct::ComplexOperator(other.clone()), node),
        }
    }
    fn is_integer_part(&self, part: &Type) -> bool {
        !part.is_long_double() && self.unit.program.types.format(part).is_none()
    }
    /// Calls the model for a product or quotient.
    fn complex_model(
        &mut self,
        opcode: &Opcode,
        part: &Type,
        a: [ComplexPart; 2],
        b: [ComplexPart; 2],
        node: &AstNode,
    ) -> [ComplexPart; 2] {
        let span = self.unit.span(node);
        let types = &self.unit.program.types;
        let (suffix, element) = match types.format(part) {
            Some(Format::F32) => ("f", "float"),
            Some(Format::F64) => ("", "double"),
            None if part.is_long_double() => ("l", "long double"),
            None if types.is_signed(part) => ("_integer", "long"),
            None => ("_unsigned", "unsigned long"),
        };
        let word = |name, signed| Type::plain(TypeKind::Int { name, bits: 64, signed });
        let computed = match suffix {
            "_integer" => word("long", true),
            "_unsigned" => word("unsigned long", false),
            _ => part.clone(),
        };
        let pair = Type::plain(TypeKind::Complex(std::rc::Rc::new(computed.clone())));
        let mut args = vec![self.temporary(&pair, span)];
        for value in [a, b] {
            let address = self.temporary(&pair, span);
            let value = value.map(|value| self.convert_part(value, part, &computed, span));
            self.store_pair(Location::Memory(address, 0), &computed, value, span);
            args.push(address);
        }
        let name =
            format!("touchstone_complex_{}{suffix}", if *opcode == Opcode::Star { "multiply" } else { "divide" });
        let written = format!("void ({element} *, const {element} *, const {element} *)");
        let into = args[0];
        self.wide_model(&name, &written, args, None, span);
        let result = self.load_pair(Location::Memory(into, 0), &computed, span);
        result.map(|value| self.convert_part(value, &computed, part, span))
    }

    fn part_binary(
        &mut self,
        opcode: &Opcode,
        part: &Type,
        a: ComplexPart,
        b: ComplexPart,
        node: &AstNode,
    ) -> ComplexPart {
        let span = self.unit.span(node);
        let types = &self.unit.program.types;
        let (format, signed) = (types.format(part), types.is_signed(part));
        match (a, b) {
            (ComplexPart::Long(a), ComplexPart::Long(b)) => ComplexPart::Long(self.long_binary(opcode, a, b, node)),
            (ComplexPart::Word(a), ComplexPart::Word(b)) => match (format, float_op(opcode), binary_op(opcode, signed))
            {
                (Some(format), Some(op), _) => ComplexPart::Word(self.float(op, format, &[a, b], span)),
                (None, _, Some(op)) => ComplexPart::Word(self.bin(op, a, b, span)),
                _ => self.unsupported_complex(Construct::ComplexPartOperator, node)[0],
            },
            _ => self.unsupported_complex(Construct::MixedComplex, node)[0],
        }
    }
    fn negated_part(&mut self, value: ComplexPart, part: &Type, span: Span) -> ComplexPart {
        match value {
            ComplexPart::Word(value) => ComplexPart::Word(self.negated(value, part, span)),
            ComplexPart::Long(value) => ComplexPart::Long(self.long_negated(value, span)),
        }
    }
    fn convert_part(&mut self, value: ComplexPart, from: &Type, to: &Type, span: Span) -> ComplexPart {
        match (value, to.is_long_double()) {
            (ComplexPart::Long(_), true) => value,
            (ComplexPart::Long(value), false) => ComplexPart::Word(self.long_to(value, to, span)),
            (ComplexPart::Word(value), true) => ComplexPart::Long(self.long_from(value, from, span)),
            (ComplexPart::Word(Operand::Const(_, bits)), false)
                if let Some((op, format)) = conversion(&self.unit.program.types, from, to) =>
            {
                let scalar = self.unit.program.types.scalar(to);
                ComplexPart::Word(Operand::Const(scalar, mask(float::eval(op, format, &[bits]), scalar.bits())))
            }
            (ComplexPart::Word(value), false) => ComplexPart::Word(self.convert(value, from, to, span)),
        }
    }

    fn load_pair(&mut self, place: Location, part: &Type, span: Span) -> [ComplexPart; 2] {
        let size = self.unit.program.types.size(part) as i64;
        [0, size].map(|at| match place {
            Location::Memory(base, before) => {
                let place = Location::Memory(base, before.wrapping_add(at));
                match part.is_two_words() {
                    true => ComplexPart::Long(self.load_two_words(place, part, span)),
                    false => ComplexPart::Word(self.load(place, part, span)),
                }
            }
            // A complex number is never in a register.
            Location::Register(_) | Location::Bits(..) => self.zero_part(part),
        })
    }
    /// Writes both parts.
    pub fn store_pair(&mut self, place: Location, part: &Type, pair: [ComplexPart; 2], span: Span) {
        let Location::Memory(base, before) = place else { return };
        let size = self.unit.program.types.size(part) as i64;
        for (value, at) in pair.into_iter().zip([0, size]) {
            let place = Location::Memory(base, before.wrapping_add(at));
            match value {
                ComplexPart::Word(value) => drop(self.store(place, value, span)),
                ComplexPart::Long(value) => drop(self.store_wide(place, value, span)),
            }
        }
    }

    /// Compares a complex expression with zero; an `i1`.
    pub fn complex_truth(&mut self, node: &AstNode, span: Span) -> Operand {
        let part = self.unit.type_of(node).complex().unwrap_or_else(Type::int);
        let [real, imag] = self.complex(node).map(|value| self.part_truth(value, &part, span));
        self.bin(BinOp::Or, real, imag, span)
    }
    fn part_truth(&mut self, value: ComplexPart, part: &Type, span: Span) -> Operand {
        match value {
            ComplexPart::Word(value) => self.truth_of(value, part, span),
            ComplexPart::Long(value) => self.long_truth(value, span),
        }
    }
    /// Lowers `==` and `!=`, an `i1`.
    pub fn complex_relation(&mut self, node: &AstNode, left: &AstNode, right: &AstNode, span: Span) -> Operand {
        let ty = [left, right].map(|side| self.unit.type_of(side)).into_iter().find_map(|ty| ty.complex());
        let part = ty.unwrap_or_else(Type::int);
        let (a, ai) = self.operand_parts(left, span);
        let (b, bi) = self.operand_parts(right, span);
        let zero = self.zero_part(&part);
        let mut equal = Operand::Const(Ty::I1, 1);
        for (x, y) in [(a, b), (ai.unwrap_or(zero), bi.unwrap_or(zero))] {
            let same = match (x, y) {
                (ComplexPart::Word(x), ComplexPart::Word(y)) => self.scalar_relation(&Opcode::Equal, &part, x, y, span),
                (ComplexPart::Long(x), ComplexPart::Long(y)) => self.long_relation(&Opcode::Equal, x, y, span),
                _ => return self.unsupported_value(Construct::MixedComplexComparison, node),
            };
            equal = self.bin(BinOp::And, equal, same, span);
        }
        match &node.opcode {
            Opcode::NotEqual => self.cmp(CmpOp::Eq, equal, Operand::Const(Ty::I1, 0), span),
            _ => equal,
        }
    }
    /// Evaluates the real part of a complex expression as a scalar.
    pub fn real_part(&mut self, inner: &AstNode, node: &AstNode) -> Operand {
        match self.complex(inner)[0] {
            ComplexPart::Word(value) => value,
            ComplexPart::Long(_) => self.unsupported_value(Construct::LongDoubleScalar, node),
        }
    }
    /// Evaluates `__real__ inner` and `__imag__ inner`.
    pub fn part_of(&mut self, node: &AstNode, inner: &AstNode, span: Span) -> ComplexPart {
        let ty = self.unit.type_of(inner);
        let imaginary = node.opcode == Opcode::Imag;
        if ty.complex().is_some() {
            return self.complex(inner)[usize::from(imaginary)];
        }
        let real = self.part(inner);
        let real = self.keep_part(real, span);
        if imaginary { self.zero_part(&ty) } else { real }
    }
    /// Computes the new value of a scalar in `scalar op= complex`.
    pub fn complex_compound(
        &mut self,
        node: &AstNode,
        old: ComplexPart,
        ty: &Type,
        right: &AstNode,
        part: &Type,
        span: Span,
    ) -> Operand {
        let old = self.convert_part(old, ty, part, span);
        let b = self.operand_parts(right, span);
        let [real, _] = self.complex_binary(node.opcode.computed(), part, (old, None), b, node);
        match self.convert_part(real, part, ty, span) {
            ComplexPart::Word(value) => value,
            ComplexPart::Long(_) => self.unsupported_value(Construct::LongDoubleScalar, node),
        }
    }
}
