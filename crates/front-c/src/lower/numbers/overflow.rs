//! Checked arithmetic: `__builtin_add_overflow` and the like. The result is wrapped to its type, and an overflow is
//! reported.

use crate::clang::ast_enums::Opcode;
use crate::clang::node::{AstNode, TypeText};
use crate::construct::Construct;
use crate::lower::context::func::Lowerer;
use crate::lower::context::lvalue::Location;
use crate::lower::numbers::int128::Wide;
use crate::types::ctype::Type;
use touchstone_base::Span;
use touchstone_ir::{BinOp, Callee, CmpOp, InstKind, Operand, Ty};

impl Lowerer<'_, '_> {
    /// Lowers `op(a, b, &result)`.
    pub fn overflow(&mut self, op: BinOp, args: &[AstNode], node: &AstNode, span: Span) -> Option<Operand> {
        let [a, b, into] = args else { return Some(self.unsupported_value(Construct::OverflowBuiltin, node)) };
        let types = [self.unit.type_of(a), self.unit.type_of(b)];
        let Some(result) = self.unit.type_of(into).element().cloned() else {
            return Some(self.unsupported_value(Construct::OverflowBuiltin, node));
        };
        if types.iter().chain([&result]).any(|ty| ty.wide().is_some()) {
            return Some(self.overflow_of_wide(op, args, &types, &result, node));
        }
        let (a, b) = (self.rvalue(a), self.rvalue(b));
        let (a, b) = (self.keep(a, span), self.keep(b, span));
        let into = self.rvalue(into);
        let of = |lowerer: &Self, ty: &Type| {
            let types = &lowerer.unit.program.types;
            (types.scalar(ty), types.is_signed(ty))
        };
        let [(wide_a, signed_a), (wide_b, signed_b)] = types.each_ref().map(|ty| of(self, ty));
        let (narrow, signed) = of(self, &result);
        let small = |ty: Ty| ty.bits() <= 32;
        // The exact result for 32 bits fits into 64, except for a product of two unsigned numbers, which is then
        // unsigned.
        let exact = op != BinOp::Mul || signed_a || signed_b;
        let (value, overflows) = if small(wide_a) && small(wide_b) && small(narrow) && exact {
            let (a, b) = (self.resize(a, Ty::I64, signed_a, span), self.resize(b, Ty::I64, signed_b, span));
            let sum = self.bin(op, a, b, span);
            let value = self.resize(sum, narrow, false, span);
            let again = self.resize(value, Ty::I64, signed, span);
            (value, self.cmp(CmpOp::Ne, again, sum, span))
        } else if (wide_a, signed_a) == (narrow, signed) && (wide_b, signed_b) == (narrow, signed) {
            self.overflow_of_one_type(op, a, b, signed, span)
        } else {
            let (a, b) = (self.widened(a, &types[0], span), self.widened(b, &types[1], span));
            self.overflow_of_many_types(op, a, b, &result, node)
        };
        self.store(Location::Memory(into, 0), value, span);
        Some(self.resize(overflows, Ty::I8, false, span))
    }

    /// Computes in 128 bits, into which the exact result fits. The product of two unsigned numbers may use the sign
    /// bit, but then the high half is not all ones, so that it does not look like a negative number that fits.
    fn overflow_of_many_types(
        &mut self,
        op: BinOp,
        a: Wide,
        b: Wide,
        result: &Type,
        node: &AstNode,
    ) -> (Operand, Operand) {
        let span = self.unit.span(node);
        let opcode = match op {
            BinOp::Add => &Opcode::Plus,
            BinOp::Sub => &Opcode::Minus,
            _ => &Opcode::Star,
        };
        let exact = self.wide_binary(opcode, true, a, b, node);
        let scalar = self.unit.program.types.scalar(result);
        let value = self.resize(exact.low, scalar, false, span);
        let again = self.widened(value, result, span);
        (value, self.wide_relation(&Opcode::NotEqual, true, again, exact, span))
    }

    /// Computes with operands of 128 bits. The exact result has a third word, which is all ones or zeros if the result
    /// fits.
    fn overflow_of_wide(
        &mut self,
        op: BinOp,
        args: &[AstNode],
        types: &[Type; 2],
        result: &Type,
        node: &AstNode,
    ) -> Operand {
        let span = self.unit.span(node);
        let [(a, third_a), (b, third_b)] = [0, 1].map(|index| self.in_three_words(&args[index], &types[index], span));
        let into = self.rvalue(&args[2]);
        let (value, third) = match op {
            BinOp::Add | BinOp::Sub => {
                let carry = self.wide_carry(op, a, b, span);
                let value =
                    self.wide_binary(if op == BinOp::Add { &Opcode::Plus } else { &Opcode::Minus }, true, a, b, node);
                let third = self.bin(op, third_a, third_b, span);
                (value, self.bin(op, third, carry, span))
            }
            _ => self.product_in_three_words((a, third_a), (b, third_b), span),
        };
        let zero = Operand::Const(Ty::I64, 0);
        let overflows = match result.wide() {
            Some(signed) => {
                self.store_wide(Location::Memory(into, 0), value, span);
                let fits =
                    if signed { self.bin(BinOp::AShr, value.high, Operand::Const(Ty::I64, 63), span) } else { zero };
                self.cmp(CmpOp::Ne, third, fits, span)
            }
            None => {
                let narrow = self.resize(value.low, self.unit.program.types.scalar(result), false, span);
                self.store(Location::Memory(into, 0), narrow, span);
                let again = self.widened(narrow, result, span);
                let differs = self.wide_relation(&Opcode::NotEqual, true, again, value, span);
                let other = self.cmp(CmpOp::Ne, third, again.high, span);
                self.bin(BinOp::Or, differs, other, span)
            }
        };
        self.resize(overflows, Ty::I8, false, span)
    }

    /// Evaluates an operand in 128 bits, with the word that follows in its sign extension.
    fn in_three_words(&mut self, node: &AstNode, ty: &Type, span: Span) -> (Wide, Operand) {
        let (value, signed) = match ty.wide() {
            Some(signed) => (self.wide(node), signed),
            None => {
                let value = self.rvalue(node);
                (self.widened(value, ty, span), self.unit.program.types.is_signed(ty))
            }
        };
        let third = match signed {
            true => self.bin(BinOp::AShr, value.high, Operand::Const(Ty::I64, 63), span),
            false => Operand::Const(Ty::I64, 0),
        };
        (value, third)
    }

    fn product_in_three_words(&mut self, a: (Wide, Operand), b: (Wide, Operand), span: Span) -> (Wide, Operand) {
        let slot = self.new_bytes(24);
        self.emit(InstKind::SlotBegin { slot }, span);
        let into = self.slot_address(slot, span);
        let written = "void (unsigned long *, unsigned long, unsigned long, unsigned long, unsigned long, unsigned long, \
                       unsigned long)";
        let args = vec![into, a.0.low, a.0.high, a.1, b.0.low, b.0.high, b.1];
        self.wide_model("touchstone_wide_multiply", written, args, None, span);
        let into = self.slot_address(slot, span);
        let value = self.load_wide(Location::Memory(into, 0), span);
        let addr = self.address(Location::Memory(into, 16), span);
        let third = self.temp(Ty::I64);
        self.emit(InstKind::Load { dst: third, addr }, span);
        (value, Operand::Reg(third))
    }

    fn overflow_of_one_type(
        &mut self,
        op: BinOp,
        a: Operand,
        b: Operand,
        signed: bool,
        span: Span,
    ) -> (Operand, Operand) {
        let ty = self.ty(a);
        let value = self.bin(op, a, b, span);
        let overflows = match (op, signed) {
            (BinOp::Add, false) => self.cmp(CmpOp::Ult, value, a, span),
            (BinOp::Sub, false) => self.cmp(CmpOp::Ult, a, b, span),
            (BinOp::Add, true) => {
                let (x, y) = (self.bin(BinOp::Xor, a, value, span), self.bin(BinOp::Xor, b, value, span));
                let both = self.bin(BinOp::And, x, y, span);
                self.cmp(CmpOp::Slt, both, Operand::Const(ty, 0), span)
            }
            (BinOp::Sub, true) => {
                let (x, y) = (self.bin(BinOp::Xor, a, b, span), self.bin(BinOp::Xor, a, value, span));
                let both = self.bin(BinOp::And, x, y, span);
                self.cmp(CmpOp::Slt, both, Operand::Const(ty, 0), span)
            }
            _ => {
                let name = if signed { "touchstone_smul_overflows" } else { "touchstone_umul_overflows" };
                let (x, y) = (self.resize(a, Ty::I64, signed, span), self.resize(b, Ty::I64, signed, span));
                let written = "int (unsigned long, unsigned long, unsigned long)".into();
                let model = TypeText { written, desugared: None };
                let most = Operand::Const(Ty::I64, u64::from(ty.bits()));
                let callee = Callee::Direct(self.unit.function_named(name, Some(&model)));
                let dst = self.temp(Ty::I32);
                self.emit(InstKind::Call { dst: Some(dst), callee, args: vec![x, y, most] }, span);
                self.cmp(CmpOp::Ne, Operand::Reg(dst), Operand::Const(Ty::I32, 0), span)
            }
        };
        (value, overflows)
    }
}
