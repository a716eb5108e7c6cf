//! Bit-fields: reads and writes of parts of bytes.
//!
//! Only bytes that contain bits of the field are accessed, in pieces of valid widths, so that uninitialised neighbours
//! are not read. An uninitialised byte that is shared with other fields becomes zero before it is written: initialisation is
//! tracked per byte, so a bit-field next to a written one reads as zero and not as an error.

use crate::lower::context::func::Lowerer;
use touchstone_base::Span;
use touchstone_ir::{BinOp, Builtin, InstKind, Operand, Ty, mask};

/// A bit-field of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BitField {
    /// Its first bit, relative to the address.
    pub first: i64,
    pub width: u8,
    pub signed: bool,
    /// The register type of its values.
    pub scalar: Ty,
}

/// An access that covers a part of the field.
struct Piece {
    /// The offset in bytes from the address.
    offset: i64,
    ty: Ty,
    /// The positions of the part in the piece and in the field.
    shift: u8,
    position: u8,
    width: u8,
}

impl BitField {
    fn pieces(self) -> Vec<Piece> {
        let (mut byte, end) = (self.first.div_euclid(8), (self.first + i64::from(self.width) + 7).div_euclid(8));
        let mut pieces = Vec::new();
        while byte < end {
            let bytes = [8, 4, 2, 1].into_iter().find(|bytes| byte + bytes <= end).unwrap_or(1);
            let (low, high) = (byte * 8, (byte + bytes) * 8);
            let (from, to) = (low.max(self.first), high.min(self.first + i64::from(self.width)));
            pieces.push(Piece {
                offset: byte,
                ty: Ty::Int((bytes * 8) as u8),
                shift: (from - low) as u8,
                position: (from - self.first) as u8,
                width: (to - from) as u8,
            });
            byte += bytes;
        }
        pieces
    }
}

impl Lowerer<'_, '_> {
    /// Reads a bit-field.
    pub fn load_bits(&mut self, base: Operand, field: BitField, span: Span) -> Operand {
        let mut whole: Option<Operand> = None;
        for piece in field.pieces() {
            let addr = self.offset(base, Operand::Const(Ty::I64, piece.offset as u64), span);
            let dst = self.temp(piece.ty);
            self.emit(InstKind::Load { dst, addr }, span);
            let part = self.shifted(BinOp::LShr, Operand::Reg(dst), piece.shift, span);
            let part = self.resize(part, field.scalar, false, span);
            let part = self.shifted(BinOp::Shl, part, piece.position, span);
            whole = Some(match whole {
                Some(before) => self.bin(BinOp::Or, before, part, span),
                None => part,
            });
        }
        self.narrowed(whole.unwrap_or(Operand::Const(field.scalar, 0)), field, span)
    }

    /// Writes a bit-field; returns the stored value.
    pub fn store_bits(&mut self, base: Operand, field: BitField, value: Operand, span: Span) -> Operand {
        let value = self.keep(value, span);
        for piece in field.pieces() {
            let bits = piece.ty.bits();
            let addr = self.offset(base, Operand::Const(Ty::I64, piece.offset as u64), span);
            let part = self.shifted(BinOp::LShr, value, piece.position, span);
            let mut part = self.resize(part, piece.ty, false, span);
            if piece.width < bits {
                let ours = mask(mask(u64::MAX, piece.width) << piece.shift, bits);
                part = self.shifted(BinOp::Shl, part, piece.shift, span);
                part = self.bin(BinOp::And, part, Operand::Const(piece.ty, ours), span);
                let size = Operand::Const(Ty::I64, u64::from(bits / 8));
                self.emit(
                    InstKind::Builtin { dst: None, builtin: Builtin::ZeroUninitialised, args: vec![addr, size] },
                    span,
                );
                let old = self.temp(piece.ty);
                self.emit(InstKind::Load { dst: old, addr }, span);
                let others = Operand::Const(piece.ty, mask(!ours, bits));
                let rest = self.bin(BinOp::And, Operand::Reg(old), others, span);
                part = self.bin(BinOp::Or, rest, part, span);
            }
            self.emit(InstKind::Store { addr, value: part }, span);
        }
        self.narrowed(value, field, span)
    }

    fn shifted(&mut self, op: BinOp, value: Operand, by: u8, span: Span) -> Operand {
        if by == 0 {
            return value;
        }
        let ty = self.ty(value);
        self.bin(op, value, Operand::Const(ty, u64::from(by)), span)
    }

    /// Truncates a value to the width of the field and extends it to its type.
    fn narrowed(&mut self, value: Operand, field: BitField, span: Span) -> Operand {
        let unused = field.scalar.bits().saturating_sub(field.width);
        if unused == 0 {
            return value;
        }
        if field.signed {
            let high = self.shifted(BinOp::Shl, value, unused, span);
            return self.shifted(BinOp::AShr, high, unused, span);
        }
        self.bin(BinOp::And, value, Operand::Const(field.scalar, mask(u64::MAX, field.width)), span)
    }
}
