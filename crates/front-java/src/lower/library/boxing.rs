//! Boxing without the JDK's cache, for methods under test.
//!
//! With the cache, boxing a symbolic number would be a choice among 256 objects. Here `valueOf` allocates, and sets a
//! flag in the object; `==` in the program treats two flagged objects of the same small number as one. The JDK's own
//! code compares references only as a shortcut for `equals`, so that only `==` of the program and compare-and-swap need
//! this. A program that is run from `main` uses the JDK's cache.

use crate::classes::layout::{CACHED_WRAPPERS, CLASS_WORD_OFFSET, WRAPPER_HIDDEN_BYTES, memory_ty, register_ty};
use crate::classes::{ClassId, LoweringError};
use crate::classfile::Desc;
use crate::lower::builder::{Builder, NULL, int, long};
use crate::lower::context::Lowering;
use crate::lower::symbols::FuncKind;
use touchstone_ir::{BlockId, BranchRole, CastOp, CmpOp, Operand, SwitchArm, Ty};

/// The identity of small wrapper objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wrappers {
    /// The JDK's cache determines it.
    Cached,
    /// A flag in the object determines it.
    Marked,
}

/// Returns the primitive type of a wrapper class with a cache. Values from -128 (characters: 0) to 127 are cached.
fn cached(class: &str) -> Option<Desc> {
    Some(match class {
        "java/lang/Integer" => Desc::Int,
        "java/lang/Long" => Desc::Long,
        "java/lang/Short" => Desc::Short,
        "java/lang/Byte" => Desc::Byte,
        "java/lang/Character" => Desc::Char,
        _ => return None,
    })
}

impl Lowering {
    /// Lowers `valueOf` of a wrapper class; returns false for other methods.
    pub fn box_native(&mut self, b: &mut Builder, class: &str, name: &str, desc: &str) -> Result<bool, LoweringError> {
        let Some(value) = cached(class).filter(|_| self.boxes == Wrappers::Marked && name == "valueOf") else {
            return Ok(false);
        };
        if desc != format!("({})L{class};", value.text()) {
            return Ok(false);
        }
        let id = self.jdk(class)?;
        let Some(field) = self.classes.field_named(id, "value").cloned() else { return Ok(false) };
        let object = self.allocate(b, id);
        let object = b.copied(object);
        let place = b.add(object, long(field.offset as i64));
        b.store_as(place, &value, b.param(0));
        b.store(object, self.value_of_flag(id), int(1));
        b.ret(Some(object));
        Ok(true)
    }

    fn value_of_flag(&self, class: ClassId) -> i64 {
        (self.classes.get(class).size - WRAPPER_HIDDEN_BYTES) as i64
    }

    /// Compares two references in code of the program.
    pub fn same_reference(&mut self, b: &mut Builder, left: Operand, right: Operand) -> Operand {
        let equal = b.cmp(CmpOp::Eq, left, right);
        if self.boxes == Wrappers::Cached {
            return equal;
        }
        let same = b.temp(Ty::I1);
        b.copy(same, equal);
        let (other, done) = (b.block(), b.block());
        b.branch(equal, done, other, BranchRole::Check);
        b.at(other);
        let function = self.func(FuncKind::SameBox);
        let boxes = b.call(function, vec![left, right], Some(Ty::I1));
        b.copy(same, boxes);
        b.jump(done);
        b.at(done);
        Operand::Reg(same)
    }

    /// Lowers `(ptr, ptr) -> i1`: true if two objects represent the same object of the JDK's cache.
    pub fn same_box(&mut self, b: &mut Builder) -> Result<(), LoweringError> {
        let (left, right) = (b.param(0), b.param(1));
        let no = b.block();
        for side in [left, right] {
            let there = b.cmp(CmpOp::Ne, side, NULL);
            b.check(there, no);
        }
        let (one, other) = (b.load(left, CLASS_WORD_OFFSET, Ty::I32), b.load(right, CLASS_WORD_OFFSET, Ty::I32));
        let alike = b.cmp(CmpOp::Eq, one, other);
        b.check(alike, no);
        let entry = b.current_block();
        let mut arms = Vec::new();
        for class in CACHED_WRAPPERS {
            let Some(desc) = cached(class) else { continue };
            let id = self.jdk(class)?;
            let block = b.block();
            arms.push(SwitchArm { low: self.word(id), high: self.word(id), signed: false, target: block });
            b.at(block);
            self.same_value(b, id, &desc, no);
        }
        b.at(entry);
        b.switch(one, arms, no, BranchRole::Dispatch);
        b.at(no);
        b.ret(Some(Operand::Const(Ty::I1, 0)));
        Ok(())
    }

    fn same_value(&mut self, b: &mut Builder, class: ClassId, desc: &Desc, no: BlockId) {
        let (left, right) = (b.param(0), b.param(1));
        for side in [left, right] {
            let mark = b.load(side, self.value_of_flag(class), Ty::I32);
            let made = b.cmp(CmpOp::Ne, mark, int(0));
            b.check(made, no);
        }
        let Some(offset) = self.classes.field_named(class, "value").map(|field| field.offset as i64) else {
            return b.jump(no);
        };
        let (one, other) = (b.load(left, offset, memory_ty(desc)), b.load(right, offset, memory_ty(desc)));
        let equal = b.cmp(CmpOp::Eq, one, other);
        b.check(equal, no);
        let unsigned = *desc == Desc::Char;
        let wide = register_ty(desc);
        let value = b.cast(if unsigned { CastOp::Zext } else { CastOp::Sext }, wide, one);
        let constant = |value: i64| match wide {
            Ty::I64 => long(value),
            _ => int(value as i32),
        };
        let low = b.cmp(CmpOp::Sle, constant(if unsigned { 0 } else { -128 }), value);
        b.check(low, no);
        let high = b.cmp(CmpOp::Sle, value, constant(127));
        b.ret(Some(high));
    }
}
