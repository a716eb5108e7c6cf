//! `System.arraycopy`, with the JVM's messages.

use crate::classes::LoweringError;
use crate::classes::layout::{ARRAY_BASE_OFFSET, CLASS_WORD_OFFSET};
use crate::classfile::Desc;
use crate::lower::builder::{Builder, int, long};
use crate::lower::context::Lowering;
use crate::lower::exceptions::StringPart;
use crate::lower::symbols::{ClassQuery, FuncKind};
use touchstone_ir::{BinOp, BranchRole, CastOp, CmpOp, InstKind, Operand, Ty};

impl Lowering {
    pub fn array_copy(&mut self, b: &mut Builder) -> Result<(), LoweringError> {
        let [from, from_at, to, to_at, length] = [b.param(0), b.param(1), b.param(2), b.param(3), b.param(4)];
        self.null_check(b, from);
        self.null_check(b, to);
        let size = self.latest_generation(|generation| FuncKind::Ask(ClassQuery::ElementSize, generation));
        let (from_class, to_class) = (b.load(from, CLASS_WORD_OFFSET, Ty::I32), b.load(to, CLASS_WORD_OFFSET, Ty::I32));
        let from_size = b.call(size, vec![from_class], Some(Ty::I32));
        let to_size = b.call(size, vec![to_class], Some(Ty::I32));
        let (mismatch, outside) = (b.block(), b.block());
        let is_array = b.cmp(CmpOp::Ne, from_size, int(0));
        b.check(is_array, mismatch);
        let same_class = b.cmp(CmpOp::Eq, from_class, to_class);
        let (fits, other, refs) = (b.block(), b.block(), b.reg(Ty::I1));
        b.copy(refs, Operand::Const(Ty::I1, 0));
        b.branch(same_class, fits, other, BranchRole::Check);
        b.at(other);
        // Arrays of different classes must both hold references, and each element is checked.
        let both = b.bin(BinOp::And, from_size, to_size);
        let are_refs = b.cmp(CmpOp::Slt, both, int(0));
        b.check(are_refs, mismatch);
        b.copy(refs, Operand::Const(Ty::I1, 1));
        b.jump(fits);
        b.at(fits);
        for (array, at) in [(from, from_at), (to, to_at)] {
            for value in [at, length] {
                let fine = b.cmp(CmpOp::Sle, int(0), value);
                b.check(fine, outside);
            }
            let available = self.array_length(b, array);
            let room = b.bin(BinOp::Sub, available, length);
            let fine = b.cmp(CmpOp::Sle, at, room);
            b.check(fine, outside);
        }
        let (slow, fast) = (b.block(), b.block());
        b.branch(Operand::Reg(refs), slow, fast, BranchRole::Check);
        b.at(slow);
        self.copy_refs(b, [from, from_at, to, to_at, length])?;
        b.at(fast);
        let sign = b.bin(BinOp::AShr, from_size, int(31));
        let flipped = b.bin(BinOp::Xor, from_size, sign);
        let scale = b.bin(BinOp::Sub, flipped, sign);
        let scale = b.cast(CastOp::Zext, Ty::I64, scale);
        let place = |b: &mut Builder, array, at| {
            let at = b.cast(CastOp::Zext, Ty::I64, at);
            let bytes = b.bin(BinOp::Mul, at, scale);
            let offset = b.bin(BinOp::Add, bytes, long(ARRAY_BASE_OFFSET));
            b.add(array, offset)
        };
        let (src, dst) = (place(b, from, from_at), place(b, to, to_at));
        let count = b.cast(CastOp::Zext, Ty::I64, length);
        let size = b.bin(BinOp::Mul, count, scale);
        b.emit(InstKind::MemCopy { dst, src, size });
        b.ret(None);
        b.at(mismatch);
        let text = "arraycopy: type mismatch: can not copy between these arrays";
        self.throw_constant(b, "java/lang/ArrayStoreException", Some(text));
        b.at(outside);
        self.copy_outside(b, [from, from_at, to, to_at, length])?;
        Ok(())
    }

    /// Throws the exception for an index or a length that is out of bounds.
    pub fn copy_outside(
        &mut self,
        b: &mut Builder,
        [from, from_at, to, to_at, length]: [Operand; 5],
    ) -> Result<(), LoweringError> {
        let text = |text: &str| StringPart::Text(text.to_string());
        let class = self.jdk("java/lang/ArrayIndexOutOfBoundsException")?;
        let throw = self.func(FuncKind::Throw(class));
        let say = |lowering: &mut Lowering, b: &mut Builder, parts: Vec<StringPart>| -> Result<(), LoweringError> {
            let message = lowering.concat(b, &parts)?;
            b.call(throw, vec![message], None);
            b.end(touchstone_ir::TermKind::Unreachable);
            Ok(())
        };
        for (array, at, word) in [(from, from_at, "source"), (to, to_at, "destination")] {
            let (wrong, next) = (b.block(), b.block());
            let negative = b.cmp(CmpOp::Slt, at, int(0));
            b.branch(negative, wrong, next, BranchRole::Check);
            b.at(wrong);
            let name = self.array_title(b, array)?;
            let parts = vec![
                text(&format!("arraycopy: {word} index ")),
                StringPart::Value(at, Desc::Int),
                text(" out of bounds for "),
                StringPart::Value(name, Desc::Ref("java/lang/String".into())),
            ];
            say(self, b, parts)?;
            b.at(next);
        }
        let (wrong, next) = (b.block(), b.block());
        let negative = b.cmp(CmpOp::Slt, length, int(0));
        b.branch(negative, wrong, next, BranchRole::Check);
        b.at(wrong);
        say(self, b, vec![text("arraycopy: length "), StringPart::Value(length, Desc::Int), text(" is negative")])?;
        b.at(next);
        for (array, at, word) in [(from, from_at, "source"), (to, to_at, "destination")] {
            let available = self.array_length(b, array);
            let room = b.bin(BinOp::Sub, available, length);
            let fine = b.cmp(CmpOp::Sle, at, room);
            let (wrong, next) = (b.block(), b.block());
            b.branch(fine, next, wrong, BranchRole::Check);
            b.at(wrong);
            let last = b.bin(BinOp::Add, at, length);
            let last = b.cast(CastOp::Zext, Ty::I64, last);
            let name = self.array_title(b, array)?;
            let parts = vec![
                text(&format!("arraycopy: last {word} index ")),
                StringPart::Value(last, Desc::Long),
                text(" out of bounds for "),
                StringPart::Value(name, Desc::Ref("java/lang/String".into())),
            ];
            say(self, b, parts)?;
            b.at(next);
        }
        b.end(touchstone_ir::TermKind::Unreachable);
        Ok(())
    }

    /// Returns an array as messages write it: `int[10]`, `object array[3]`.
    pub fn array_title(&mut self, b: &mut Builder, array: Operand) -> Result<Operand, LoweringError> {
        let word = b.load(array, CLASS_WORD_OFFSET, Ty::I32);
        let size = self.latest_generation(|generation| FuncKind::Ask(ClassQuery::ElementSize, generation));
        let size = b.call(size, vec![word], Some(Ty::I32));
        let simple = self.latest_generation(|generation| FuncKind::Ask(ClassQuery::SimpleName, generation));
        let simple = b.call(simple, vec![word], Some(Ty::Ptr));
        let length = ("java/lang/String", "length", "()I");
        let letters = self.call_jdk(b, length, vec![simple])?;
        let letters = b.bin(BinOp::Sub, letters, int(2));
        let cut = ("java/lang/String", "substring", "(II)Ljava/lang/String;");
        let element = self.call_jdk(b, cut, vec![simple, int(0), letters])?;
        let title = b.reg(Ty::Ptr);
        b.copy(title, element);
        let is_ref = b.cmp(CmpOp::Slt, size, int(0));
        let (refs, done) = (b.block(), b.block());
        b.branch(is_ref, refs, done, BranchRole::Check);
        b.at(refs);
        let words = self.literal(b, "object array");
        b.copy(title, words);
        b.jump(done);
        b.at(done);
        let count = self.array_length(b, array);
        let parts = [
            StringPart::Value(Operand::Reg(title), Desc::Ref("java/lang/String".into())),
            StringPart::Text("[".to_string()),
            StringPart::Value(count, Desc::Int),
            StringPart::Text("]".to_string()),
        ];
        self.concat(b, &parts)
    }

    pub fn copy_refs(
        &mut self,
        b: &mut Builder,
        [from, from_at, to, to_at, length]: [Operand; 5],
    ) -> Result<(), LoweringError> {
        let element = Desc::Ref("java/lang/Object".into());
        let index = b.reg(Ty::I32);
        b.copy(index, int(0));
        let (head, body, done) = (b.block(), b.block(), b.block());
        b.jump(head);
        b.at(head);
        let more = b.cmp(CmpOp::Slt, Operand::Reg(index), length);
        b.branch(more, body, done, BranchRole::Check);
        b.at(body);
        let source = b.bin(BinOp::Add, from_at, Operand::Reg(index));
        let target = b.bin(BinOp::Add, to_at, Operand::Reg(index));
        let place = self.element_address(b, from, source, &element);
        let value = b.load(place, 0, Ty::Ptr);
        let check = self.latest_generation(FuncKind::StoreCheck);
        b.call(check, vec![to, value], None);
        let place = self.element_address(b, to, target, &element);
        b.store(place, 0, value);
        let next = b.bin(BinOp::Add, Operand::Reg(index), int(1));
        b.copy(index, next);
        b.jump(head);
        b.at(done);
        b.ret(None);
        Ok(())
    }
}
