//! Allocation of arrays, and addresses of their elements.

use crate::classes::ClassShape;
use crate::classes::layout::{ARRAY_BASE_OFFSET, ARRAY_LENGTH_OFFSET, CLASS_WORD_OFFSET};
use crate::classes::{ClassId, LoweringError};
use crate::classfile::Desc;
use crate::lower::builder::{Builder, int, long};
use crate::lower::context::Lowering;
use crate::lower::symbols::FuncKind;
use touchstone_ir::{BinOp, BlockId, BranchRole, Builtin, CastOp, CmpOp, Operand, Ty};

/// The length from which on HotSpot refuses to allocate an array, however large the heap is.
pub(super) const MAX_ARRAY_LENGTH: i32 = i32::MAX - 1;

impl Lowering {
    /// Returns the element type of an array class.
    pub fn element(&self, class: ClassId) -> Result<Desc, LoweringError> {
        match &self.classes.get(class).shape {
            ClassShape::Array { element, .. } => Ok(element.clone()),
            _ => Err(LoweringError::Malformed(format!("{} is no array", self.classes.get(class).name))),
        }
    }

    /// Returns the address of an element, without a bounds check.
    pub fn element_address(&mut self, b: &mut Builder, array: Operand, index: Operand, element: &Desc) -> Operand {
        let wide = b.cast(CastOp::Zext, Ty::I64, index);
        let bytes = match element.size() {
            1 => wide,
            size => b.bin(BinOp::Mul, wide, long(size as i64)),
        };
        let offset = b.bin(BinOp::Add, bytes, long(ARRAY_BASE_OFFSET));
        b.add(array, offset)
    }

    /// Allocates an array; the length must not be negative.
    pub fn allocate_array(
        &mut self,
        b: &mut Builder,
        class: ClassId,
        length: Operand,
    ) -> Result<Operand, LoweringError> {
        let element = self.element(class)?;
        self.classes.mark_instantiated(class);
        let wide = b.cast(CastOp::Zext, Ty::I64, length);
        let bytes = b.bin(BinOp::Mul, wide, long(element.size() as i64));
        let size = b.bin(BinOp::Add, bytes, long(ARRAY_BASE_OFFSET));
        let array = b.builtin(Builtin::Allocate, vec![size], Some(Ty::Ptr));
        b.store(array, CLASS_WORD_OFFSET, Operand::Const(Ty::I32, self.word(class)));
        b.store(array, ARRAY_LENGTH_OFFSET, length);
        Ok(array)
    }

    pub fn new_array(&mut self, b: &mut Builder, class: ClassId) -> Result<(), LoweringError> {
        let length = b.param(0);
        self.length_check(b, length);
        let array = self.allocate_array(b, class, length)?;
        b.ret(Some(array));
        Ok(())
    }

    /// Continues if an array may have this length, else throws.
    fn length_check(&mut self, b: &mut Builder, length: Operand) {
        let fine = b.cmp(CmpOp::Ult, length, int(MAX_ARRAY_LENGTH));
        let (next, wrong, too_long) = (b.block(), b.block(), b.block());
        b.branch(fine, next, wrong, BranchRole::Check);
        b.at(wrong);
        self.negative_check_else(b, length, too_long);
        b.at(too_long);
        let message = "Requested array size exceeds VM limit";
        self.throw_constant(b, "java/lang/OutOfMemoryError", Some(message));
        b.at(next);
    }

    fn negative_check(&mut self, b: &mut Builder, length: Operand) {
        let next = b.block();
        self.negative_check_else(b, length, next);
        b.at(next);
    }

    fn negative_check_else(&mut self, b: &mut Builder, length: Operand, next: BlockId) {
        let fine = b.cmp(CmpOp::Sle, int(0), length);
        let wrong = b.block();
        b.branch(fine, next, wrong, BranchRole::Check);
        b.at(wrong);
        let throw = self.func(FuncKind::ThrowNegative);
        b.call(throw, vec![length], None);
        b.end(touchstone_ir::TermKind::Unreachable);
    }

    /// Lowers the allocation of an array of arrays with its elements. As in HotSpot, the outer array is allocated
    /// before the inner lengths are checked, so that the heap may be exhausted first.
    pub fn multi_array(&mut self, b: &mut Builder, class: ClassId, dimensions: u8) -> Result<(), LoweringError> {
        let lengths = b.params();
        self.length_check(b, lengths[0]);
        let outer = self.allocate_array(b, class, lengths[0])?;
        let outer_reg = b.reg(Ty::Ptr);
        b.copy(outer_reg, outer);
        let outer = Operand::Reg(outer_reg);
        if let [_, next, others @ ..] = &lengths[..] {
            self.negative_check(b, *next);
            if !others.is_empty() {
                let (empty, full) = (b.block(), b.block());
                let is_empty = b.cmp(CmpOp::Eq, lengths[0], int(0));
                b.branch(is_empty, empty, full, BranchRole::Check);
                b.at(empty);
                // The loop below does not run, so it does not check them.
                others.iter().for_each(|length| self.negative_check(b, *length));
                b.jump(full);
                b.at(full);
            }
            let element = self.element(class)?;
            let ClassShape::Array { component, .. } = self.classes.get(class).shape else { return Ok(()) };
            let make = self.func(FuncKind::MultiArray(component, dimensions - 1));
            let index = b.reg(Ty::I32);
            b.copy(index, int(0));
            let (head, body, done) = (b.block(), b.block(), b.block());
            b.jump(head);
            b.at(head);
            let more = b.cmp(CmpOp::Slt, Operand::Reg(index), lengths[0]);
            b.branch(more, body, done, BranchRole::Check);
            b.at(body);
            let inner = b.call(make, lengths[1..].to_vec(), Some(Ty::Ptr));
            let place = self.element_address(b, outer, Operand::Reg(index), &element);
            b.store_as(place, &element, inner);
            let next = b.bin(BinOp::Add, Operand::Reg(index), int(1));
            b.copy(index, next);
            b.jump(head);
            b.at(done);
        }
        b.ret(Some(outer));
        Ok(())
    }

    /// Loads the length of an array that is not null.
    pub fn array_length(&mut self, b: &mut Builder, array: Operand) -> Operand {
        b.load(array, ARRAY_LENGTH_OFFSET, Ty::I32)
    }

    /// Continues if an index is within the bounds of an array, else throws.
    pub fn index_check(&mut self, b: &mut Builder, array: Operand, index: Operand) {
        let length = self.array_length(b, array);
        let inside = b.cmp(CmpOp::Ult, index, length);
        let (next, wrong) = (b.block(), b.block());
        b.branch(inside, next, wrong, BranchRole::Check);
        b.at_failure(wrong);
        let throw = self.func(FuncKind::ThrowIndex);
        b.call(throw, vec![index, length], None);
        b.end(touchstone_ir::TermKind::Unreachable);
        b.at(next);
    }
}
