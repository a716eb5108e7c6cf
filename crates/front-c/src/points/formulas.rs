//! Formulas: side-effect-free expressions as [`Expr`]s, for program points.
//!
//! A formula computes the value that `expr`, `lvalue` and `decide` lower, but emits nothing, and contains `&&`, `||`
//! and `?:`. An expression has no formula if it has a side effect, is unsupported, contains a difference of pointers
//! (formulas have no such operation) or is nested very deeply; that is no error.
//!
//! A formula preserves the structure of the source (constants are not folded), because mutants are derived from it.
//! Notes for reading one: `a > b` is `b < a`; `-x` is `0 - x` and `~x` is `x ^ -1` with a constant without source text;
//! a conversion between types of one width leaves no trace except the signedness of an explicit one. The result of a
//! comparison is a bit without a sign; its `signed` says how the operands are compared.

use crate::clang::ast_enums::{CastKind as Cast, Opcode};
use crate::clang::ast_queries::{callee_name, is_logical, selected, shown};
use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::lower::context::constants::binary_op;
use crate::lower::context::func::{Local, Lowerer};
use crate::lower::numbers::floats::float_op;
use crate::points::float_formulas::{as_float, is_nonzero};
use crate::types::ctype::{Type, TypeKind};
use touchstone_ir::{BinOp, CastOp, CmpOp, Expr, ExprKind, Reg, Ty, mask};

/// The maximum nesting of a formula's source. One level becomes at most four levels of the formula.
pub(crate) const MAX_SOURCE_DEPTH: u32 = Expr::DEEPEST_SOURCE as u32;

/// The location of an object in a formula.
pub(crate) enum FormulaLocation {
    Register(Reg),
    /// At this address.
    Memory(Expr),
}

/// Returns a constant that is not in the source.
fn number(ty: Ty, value: u64) -> Expr {
    let kind = ExprKind::Const(mask(value, ty.bits()));
    Expr { kind, ty, signed: ty != Ty::Ptr, text: String::new() }
}

/// Returns an operation; `None` if the types don't match.
fn bin(op: BinOp, a: Expr, b: Expr, signed: bool, text: String) -> Option<Expr> {
    let ty = a.ty;
    let fits = a.ty == b.ty && ty != Ty::Ptr;
    fits.then(|| Expr { kind: ExprKind::Bin(op, Box::new(a), Box::new(b)), ty, signed, text })
}

/// Returns a comparison; `None` if the types don't match.
fn relation(op: CmpOp, a: Expr, b: Expr, signed: bool, text: String) -> Option<Expr> {
    let fits = a.ty == b.ty;
    fits.then(|| Expr { kind: ExprKind::Cmp(op, Box::new(a), Box::new(b)), ty: Ty::I1, signed, text })
}

/// Returns `base + bytes`.
fn displaced(base: Expr, bytes: Expr) -> Expr {
    let kind = ExprKind::PtrAdd(Box::new(base), Box::new(bytes));
    Expr { kind, ty: Ty::Ptr, signed: false, text: String::new() }
}

/// Returns `base + size * index`, or the difference.
fn advanced(base: Expr, index: Expr, index_signed: bool, size: u64, back: bool) -> Option<Expr> {
    if base.ty != Ty::Ptr || index.ty == Ty::Ptr {
        return None;
    }
    let mut bytes = resized(index, Ty::I64, index_signed, true);
    if size != 1 {
        bytes = bin(BinOp::Mul, bytes, number(Ty::I64, size), true, String::new())?;
    }
    if back {
        bytes = bin(BinOp::Sub, number(Ty::I64, 0), bytes, true, String::new())?;
    }
    Some(displaced(base, bytes))
}

/// Converts a value to another width. `from_signed` selects the extension, `signed` is the signedness of the result.
pub(crate) fn resized(expr: Expr, to: Ty, from_signed: bool, signed: bool) -> Expr {
    let op = match (expr.ty, to) {
        (from, to) if from == to => return expr,
        (Ty::Ptr, _) => CastOp::PtrToInt,
        (_, Ty::Ptr) => CastOp::IntToPtr,
        (from, to) if to.bits() < from.bits() => CastOp::Trunc,
        _ if from_signed => CastOp::Sext,
        _ => CastOp::Zext,
    };
    Expr { kind: ExprKind::Cast(op, Box::new(expr)), ty: to, signed, text: String::new() }
}

/// Returns the comparison of a value with 0.
pub(crate) fn is_true(value: Expr) -> Option<Expr> {
    match value {
        Expr { ty: Ty::I1, .. } => Some(value),
        // A truth value that was converted to a number.
        Expr { kind: ExprKind::Cast(CastOp::Zext, inner), .. } if inner.ty == Ty::I1 => Some(*inner),
        _ if let Some(format) = value.format() => Some(is_nonzero(format, value)),
        _ => {
            let zero = number(value.ty, 0);
            let signed = value.signed;
            relation(CmpOp::Ne, value, zero, signed, String::new())
        }
    }
}

impl Lowerer<'_, '_> {
    /// Returns the formula of a scalar expression, if it has one.
    pub fn formula(&mut self, node: &AstNode) -> Option<Expr> {
        self.value_formula(node, MAX_SOURCE_DEPTH)
    }
    /// Returns the formula of an expression's truth value, an `i1`, if it has one.
    pub fn formula_of_truth(&mut self, node: &AstNode) -> Option<Expr> {
        self.truth_formula(node, MAX_SOURCE_DEPTH)
    }
    /// Returns the formula of an lvalue's address, if it has one.
    pub fn formula_of_address(&mut self, node: &AstNode) -> Option<Expr> {
        match self.spot(node, MAX_SOURCE_DEPTH)? {
            FormulaLocation::Register(_) => None,
            FormulaLocation::Memory(address) => Some(address),
        }
    }
    /// Returns the formula of the value that a compound assignment stores, if it has one.
    pub fn formula_of_compound(&mut self, node: &AstNode) -> Option<Expr> {
        let [left, right] = node.inner.as_slice() else { return None };
        let opcode = node.opcode.compound()?;
        let ty = self.unit.type_of(node);
        if self.unit.program.types.unsupported(&ty).is_some() || ty.is_record() || self.is_volatile(left) {
            return None;
        }
        let spot = self.spot(left, MAX_SOURCE_DEPTH)?;
        let mut old = self.read(spot, &ty, left)?;
        if let Some(format) = self.unit.program.types.format(&ty) {
            old = as_float(format, old);
        }
        let operand = self.value_formula(right, MAX_SOURCE_DEPTH)?;
        let text = self.unit.short_text(node);
        if ty.is_pointer() {
            let size = self.element_size(&ty)?;
            let signed = self.is_signed(right);
            return Some(Expr { text, ..advanced(old, operand, signed, size, *opcode == Opcode::Minus)? });
        }
        let (from, to) = (node.compute_lhs.as_ref()?, node.compute_result.as_ref()?);
        let (from, to) = (self.unit.type_named(from), self.unit.type_named(to));
        let types = &self.unit.program.types;
        if types.unsupported(&from).is_some() || from.is_record() {
            return None;
        }
        if let Some(format) = types.format(&from) {
            let args = vec![self.converted(old, &ty, &from)?, operand];
            let value = Expr { text, ..Expr::float(float_op(opcode)?, format, args) };
            return self.converted(value, &to, &ty);
        }
        let (wide, narrow) = (types.scalar(&from), types.scalar(&ty));
        let (signed, signed_result) = (types.is_signed(&from), types.is_signed(&ty));
        let old = resized(old, wide, signed_result, signed);
        let operand = resized(operand, wide, false, signed);
        let value = bin(binary_op(opcode, signed)?, old, operand, signed, text)?;
        if ty.kind == TypeKind::Bool {
            return Some(resized(is_true(value)?, narrow, false, false));
        }
        Some(resized(value, narrow, types.is_signed(&to), signed_result))
    }

    fn is_signed(&self, node: &AstNode) -> bool {
        self.unit.program.types.is_signed(&self.unit.type_of(node))
    }
    /// Returns a formula with the source text of a node.
    pub fn written(&mut self, node: &AstNode, kind: ExprKind, ty: Ty, signed: bool) -> Expr {
        let node = shown(node);
        let text = match &node.decl {
            // The name is used also inside a macro.
            Some(decl) if node.kind == K::DeclRefExpr => decl.name.clone(),
            _ => self.unit.short_text(node),
        };
        Expr { kind, ty, signed, text }
    }

    pub fn value_formula(&mut self, node: &AstNode, left: u32) -> Option<Expr> {
        let left = left.checked_sub(1)?;
        let ty = self.unit.type_of(node);
        let types = &self.unit.program.types;
        if types.unsupported(&ty).is_some() || ty.is_record() || ty.kind == TypeKind::Void {
            return None;
        }
        if let Some(format) = types.format(&ty) {
            return self.float_formula(node, format, left);
        }
        let (scalar, signed) = (types.scalar(&ty), types.is_signed(&ty));
        match (&node.kind, node.inner.as_slice()) {
            (
                K::IntegerLiteral
                | K::CharacterLiteral
                | K::CXXBoolLiteralExpr
                | K::UnaryExprOrTypeTraitExpr
                | K::OffsetOfExpr
                | K::SpelledOffset,
                _,
            ) => {
                let value = self.unit.const_int(node)?;
                Some(self.written(node, ExprKind::Const(mask(value, scalar.bits())), scalar, signed))
            }
            (K::DeclRefExpr, _) if self.is_enum_constant(node) => {
                let value = self.unit.const_int(node)?;
                Some(self.written(node, ExprKind::Const(mask(value, scalar.bits())), scalar, signed))
            }
            (K::CXXNullPtrLiteralExpr | K::GNUNullExpr | K::ImplicitValueInitExpr, _) | (K::InitListExpr, []) => {
                Some(self.written(node, ExprKind::Const(0), scalar, signed))
            }
            (K::ParenExpr | K::ConstantExpr | K::InitListExpr, [inner]) => self.value_formula(inner, left),
            (K::ImplicitCastExpr | K::CStyleCastExpr, [inner]) => self.cast_formula(node, inner, &ty, left),
            (K::UnaryOperator, [inner]) => self.unary_formula(node, inner, &ty, left),
            (K::BinaryOperator, [a, b]) => self.binary_formula(node, a, b, &ty, left),
            (K::ConditionalOperator, [condition, yes, no]) => {
                let condition = self.truth_formula(condition, left)?;
                let (yes, no) = (self.value_formula(yes, left)?, self.value_formula(no, left)?);
                self.choice(node, condition, yes, no, signed)
            }
            (K::BinaryConditionalOperator, [common, .., no]) => {
                let (yes, no) = (self.value_formula(common, left)?, self.value_formula(no, left)?);
                let common_signed = self.is_signed(common);
                self.choice(node, is_true(yes.clone())?, resized(yes, scalar, common_signed, signed), no, signed)
            }
            (K::GenericSelectionExpr, _) => self.value_formula(selected(node)?, left),
            (K::CallExpr, [_, first, ..]) if self.is_builtin(node, "__builtin_expect") => {
                self.value_formula(first, left)
            }
            (K::CallExpr, _) if self.is_builtin(node, "__builtin_constant_p") => {
                let value = self.unit.const_int(node)?;
                Some(self.written(node, ExprKind::Const(value), scalar, signed))
            }
            (K::DeclRefExpr | K::ArraySubscriptExpr | K::MemberExpr | K::StringLiteral | K::PredefinedExpr, _) => {
                let spot = self.spot(node, left)?;
                match ty.kind {
                    TypeKind::Array(..) | TypeKind::OpenArray(_) => self.address_formula(spot, node),
                    TypeKind::Function(_) => None,
                    _ => self.read(spot, &ty, node),
                }
            }
            _ => None,
        }
    }
    fn is_builtin(&self, node: &AstNode, name: &str) -> bool {
        callee_name(node) == Some(name) && !self.is_own(name)
    }
    pub fn choice(&mut self, node: &AstNode, condition: Expr, yes: Expr, no: Expr, signed: bool) -> Option<Expr> {
        let ty = yes.ty;
        if ty != no.ty || ty != self.unit.program.types.scalar(&self.unit.type_of(node)) {
            return None;
        }
        let kind = ExprKind::Ite(Box::new(condition), Box::new(yes), Box::new(no));
        Some(self.written(node, kind, ty, signed))
    }

    fn cast_formula(&mut self, node: &AstNode, inner: &AstNode, ty: &Type, left: u32) -> Option<Expr> {
        let types = &self.unit.program.types;
        let (scalar, signed) = (types.scalar(ty), types.is_signed(ty));
        let from = self.unit.type_of(inner);
        let from_signed = types.is_signed(&from);
        let mut expr = match &node.cast {
            Cast::LValueToRValue if self.is_volatile(inner) => return None,
            Cast::LValueToRValue => {
                let spot = self.spot(inner, left)?;
                return self.read(spot, ty, inner);
            }
            Cast::NoOp | Cast::BitCast => {
                let expr = self.value_formula(inner, left)?;
                return (expr.ty == scalar).then_some(expr);
            }
            Cast::NullToPointer => return Some(self.written(node, ExprKind::Const(0), Ty::Ptr, false)),
            Cast::ArrayToPointerDecay => {
                let spot = self.spot(inner, left)?;
                return self.address_formula(spot, inner);
            }
            Cast::IntegralCast | Cast::BooleanToSignedIntegral | Cast::PointerToIntegral => {
                let value = self.value_formula(inner, left)?;
                resized(value, scalar, from_signed, signed)
            }
            Cast::FloatingToIntegral => {
                let value = self.value_formula(inner, left)?;
                self.converted(value, &from, ty)?
            }
            Cast::IntegralToBoolean | Cast::PointerToBoolean | Cast::FloatingToBoolean => {
                let truth = self.truth_formula(inner, left)?;
                resized(truth, scalar, false, false)
            }
            Cast::IntegralToPointer => {
                let value = self.value_formula(inner, left)?;
                resized(resized(value, Ty::I64, from_signed, from_signed), Ty::Ptr, false, false)
            }
            _ => return None,
        };
        if node.kind == K::CStyleCastExpr {
            expr.signed = signed;
            if matches!(expr.kind, ExprKind::Cast(..)) && expr.text.is_empty() {
                expr.text = self.unit.short_text(node);
            }
        }
        Some(expr)
    }

    fn unary_formula(&mut self, node: &AstNode, inner: &AstNode, ty: &Type, left: u32) -> Option<Expr> {
        let types = &self.unit.program.types;
        let (scalar, signed) = (types.scalar(ty), types.is_signed(ty));
        match &node.opcode {
            Opcode::Plus | Opcode::Extension => self.value_formula(inner, left),
            Opcode::Minus => {
                let value = self.value_formula(inner, left)?;
                let text = self.unit.short_text(node);
                bin(BinOp::Sub, number(scalar, 0), value, signed, text)
            }
            Opcode::Tilde => {
                let value = self.value_formula(inner, left)?;
                let text = self.unit.short_text(node);
                bin(BinOp::Xor, value, number(scalar, u64::MAX), signed, text)
            }
            Opcode::Not => {
                let truth = self.truth_formula(node, left)?;
                Some(resized(truth, scalar, false, signed))
            }
            Opcode::Amp => {
                if matches!(self.unit.type_of(inner).kind, TypeKind::Function(_)) {
                    return None;
                }
                let spot = self.spot(inner, left)?;
                self.address_formula(spot, node)
            }
            Opcode::Star if matches!(ty.kind, TypeKind::Array(..) | TypeKind::OpenArray(_)) => {
                let spot = self.spot(node, left)?;
                self.address_formula(spot, node)
            }
            _ => None,
        }
    }

    fn binary_formula(&mut self, node: &AstNode, a: &AstNode, b: &AstNode, ty: &Type, left: u32) -> Option<Expr> {
        let types = &self.unit.program.types;
        let (scalar, signed) = (types.scalar(ty), types.is_signed(ty));
        let opcode = &node.opcode;
        if is_logical(node) || opcode.is_comparison() {
            let truth = self.truth_formula(node, left)?;
            return Some(resized(truth, scalar, false, signed));
        }
        let (a_signed, b_signed) = (self.is_signed(a), self.is_signed(b));
        let pointer_first = self.unit.type_of(a).is_pointer();
        if ty.is_pointer() {
            let size = self.element_size(ty)?;
            let (x, y) = (self.value_formula(a, left)?, self.value_formula(b, left)?);
            let (base, index, index_signed) = if pointer_first { (x, y, b_signed) } else { (y, x, a_signed) };
            let text = self.unit.short_text(node);
            return Some(Expr { text, ..advanced(base, index, index_signed, size, *opcode == Opcode::Minus)? });
        }
        if pointer_first {
            return None;
        }
        let op = binary_op(opcode, a_signed)?;
        let (x, y) = (self.value_formula(a, left)?, self.value_formula(b, left)?);
        let y = resized(y, scalar, false, b_signed);
        let text = self.unit.short_text(node);
        bin(op, x, y, signed, text)
    }

    pub fn truth_formula(&mut self, node: &AstNode, left: u32) -> Option<Expr> {
        let left = left.checked_sub(1)?;
        match (&node.kind, node.inner.as_slice()) {
            (K::ParenExpr | K::ConstantExpr, [inner]) => self.truth_formula(inner, left),
            (K::ImplicitCastExpr, [inner]) if self.keeps_truth(node, inner) => self.truth_formula(inner, left),
            (K::UnaryOperator, [inner]) if node.opcode == Opcode::Not => {
                let truth = self.truth_formula(inner, left)?;
                Some(self.written(node, ExprKind::Not(Box::new(truth)), Ty::I1, false))
            }
            (K::BinaryOperator, [a, b]) if is_logical(node) => {
                let (a, b) = (Box::new(self.truth_formula(a, left)?), Box::new(self.truth_formula(b, left)?));
                let kind = if node.opcode == Opcode::And { ExprKind::And(a, b) } else { ExprKind::Or(a, b) };
                Some(self.written(node, kind, Ty::I1, false))
            }
            (K::BinaryOperator, [a, b]) if node.opcode.is_comparison() => self.relation_formula(node, a, b, left),
            _ => is_true(self.value_formula(node, left)?),
        }
    }
    fn relation_formula(&mut self, node: &AstNode, a: &AstNode, b: &AstNode, left: u32) -> Option<Expr> {
        let signed = self.is_signed(a);
        let format = self.unit.program.types.format(&self.unit.type_of(a));
        let (a, b) = (self.value_formula(a, left)?, self.value_formula(b, left)?);
        if let Some(format) = format {
            return Some(self.float_relation_formula(node, format, a, b));
        }
        let (less, less_equal) = if signed { (CmpOp::Slt, CmpOp::Sle) } else { (CmpOp::Ult, CmpOp::Ule) };
        let text = self.unit.short_text(node);
        match &node.opcode {
            Opcode::Equal => relation(CmpOp::Eq, a, b, signed, text),
            Opcode::NotEqual => relation(CmpOp::Ne, a, b, signed, text),
            Opcode::Less => relation(less, a, b, signed, text),
            Opcode::Greater => relation(less, b, a, signed, text),
            Opcode::LessEqual => relation(less_equal, a, b, signed, text),
            _ => relation(less_equal, b, a, signed, text),
        }
    }

    /// Returns the formula of an object's value.
    pub fn read(&mut self, spot: FormulaLocation, ty: &Type, node: &AstNode) -> Option<Expr> {
        let types = &self.unit.program.types;
        let (scalar, signed) = (types.scalar(ty), types.is_signed(ty));
        let kind = match spot {
            FormulaLocation::Register(reg) if self.function.regs[reg].ty != scalar => return None,
            FormulaLocation::Register(reg) => ExprKind::Reg(reg),
            FormulaLocation::Memory(address) => ExprKind::Load(Box::new(address)),
        };
        Some(self.written(node, kind, scalar, signed))
    }
    fn address_formula(&mut self, spot: FormulaLocation, node: &AstNode) -> Option<Expr> {
        match spot {
            FormulaLocation::Register(_) => None,
            FormulaLocation::Memory(address) => Some(self.written(node, address.kind, Ty::Ptr, false)),
        }
    }

    pub fn spot(&mut self, node: &AstNode, left: u32) -> Option<FormulaLocation> {
        let left = left.checked_sub(1)?;
        match (&node.kind, node.inner.as_slice()) {
            (K::ParenExpr | K::ConstantExpr, [inner]) => self.spot(inner, left),
            (K::UnaryOperator, [inner]) if node.opcode == Opcode::Extension => self.spot(inner, left),
            (K::UnaryOperator, [pointer]) if node.opcode == Opcode::Star => self.behind(pointer, left),
            (K::ImplicitCastExpr | K::CStyleCastExpr, [inner])
                if matches!(node.cast, Cast::NoOp | Cast::LValueBitCast) =>
            {
                self.spot(inner, left)
            }
            (K::DeclRefExpr, _) => self.variable_spot(node),
            (K::ArraySubscriptExpr, [a, b]) => {
                let (base, index) = if self.unit.type_of(a).is_pointer() { (a, b) } else { (b, a) };
                let size = self.element_size(&self.unit.type_of(base))?;
                let base = self.value_formula(base, left)?;
                let signed = self.is_signed(index);
                let index = self.value_formula(index, left)?;
                Some(FormulaLocation::Memory(advanced(base, index, signed, size, false)?))
            }
            (K::MemberExpr, [base]) => {
                let spot = if node.is_arrow { self.behind(base, left)? } else { self.spot(base, left)? };
                let &(record, field) = self.unit.fields.get(&node.link)?;
                let record = &self.unit.program.types.records[record];
                let field = &record.fields[field];
                let plain = record.problem.is_none() && field.bits.is_none();
                match spot {
                    FormulaLocation::Memory(address) if plain && field.offset == 0 => {
                        Some(FormulaLocation::Memory(address))
                    }
                    FormulaLocation::Memory(address) if plain => {
                        Some(FormulaLocation::Memory(displaced(address, number(Ty::I64, field.offset))))
                    }
                    _ => None,
                }
            }
            (K::StringLiteral | K::PredefinedExpr, _) => {
                let span = self.unit.span(node);
                let global = self.unit.string_global(node, span)?;
                Some(FormulaLocation::Memory(self.written(node, ExprKind::Global(global), Ty::Ptr, false)))
            }
            (K::GenericSelectionExpr, _) => self.spot(selected(node)?, left),
            _ => None,
        }
    }
    fn behind(&mut self, pointer: &AstNode, left: u32) -> Option<FormulaLocation> {
        let address = self.value_formula(pointer, left)?;
        (address.ty == Ty::Ptr).then_some(FormulaLocation::Memory(address))
    }
    fn variable_spot(&mut self, node: &AstNode) -> Option<FormulaLocation> {
        let decl = node.decl.as_ref()?;
        if self.unsupported_variable(node).is_some() {
            return None;
        }
        let at = |kind| FormulaLocation::Memory(Expr { kind, ty: Ty::Ptr, signed: false, text: String::new() });
        Some(match self.locals.get(&decl.id).copied() {
            Some(Local::Register(reg)) => FormulaLocation::Register(reg),
            Some(Local::Slot(slot)) => at(ExprKind::Slot(slot)),
            Some(Local::Behind(reg) | Local::Variable(reg, _)) => at(ExprKind::Reg(reg)),
            Some(Local::Static(global)) => at(ExprKind::Global(global)),
            None if decl.kind == K::VarDecl => {
                at(ExprKind::Global(self.unit.global_named(&decl.name, decl.ty.as_ref())))
            }
            None => return None,
        })
    }
}
