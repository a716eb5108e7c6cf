//! Standard output, standard error and standard input.

use crate::classes::{LoweringError, MethodRef};
use crate::classfile::Desc;
use crate::lower::builder::{Builder, int, long};
use crate::lower::context::Lowering;
use crate::lower::symbols::{FuncKind, GlobalKind};
use touchstone_ir::{BinOp, BranchRole, Builtin, CastOp, CmpOp, Operand, Ty};

impl Lowering {
    /// Lowers methods of `PrintStream`: standard output and standard error are unbuffered, other streams use the JDK's
    /// code.
    pub fn print_stream(
        &mut self,
        b: &mut Builder,
        method: MethodRef,
        name: &str,
        desc: &str,
    ) -> Result<bool, LoweringError> {
        let known = matches!(
            (name, desc),
            ("write" | "writeln", "(Ljava/lang/String;)V" | "([C)V")
                | ("write", "(I)V" | "([BII)V")
                | ("newLine" | "flush" | "close" | "ensureOpen", "()V")
                | ("checkError", "()Z")
        );
        if !known {
            return Ok(false);
        }
        let this = b.param(0);
        let stream = b.reg(Ty::I32);
        let (ours, other) = (b.block(), b.block());
        for (number, data) in [(1, "stdout"), (2, "stderr")] {
            let object = self.global_id(GlobalKind::Named(data));
            let object = b.global(object);
            let same = b.cmp(CmpOp::Eq, this, object);
            let (found, next) = (b.block(), b.block());
            b.branch(same, found, next, BranchRole::Dispatch);
            b.at(found);
            b.copy(stream, int(number));
            b.jump(ours);
            b.at(next);
        }
        b.jump(other);
        b.at(other);
        let result = self.signature(method).1;
        let original = self.func(FuncKind::Original(method));
        let args = b.params();
        let value = b.call(original, args, result);
        b.ret(result.map(|_| value));
        b.at(ours);
        let stream = Operand::Reg(stream);
        match (name, desc) {
            ("write" | "writeln", "(Ljava/lang/String;)V") => {
                let text = b.param(1);
                self.write_string(b, stream, text)?;
            }
            ("write" | "writeln", "([C)V") => {
                let array = b.param(1);
                self.null_check(b, array);
                self.write_array(b, stream, array, int(1), 1);
            }
            ("write", "(I)V") => {
                let cell = self.global_id(GlobalKind::Cell("written byte"));
                let cell = b.global(cell);
                let byte = b.cast(CastOp::Trunc, Ty::I8, b.param(1));
                b.store(cell, 0, byte);
                b.builtin(Builtin::Write, vec![stream, cell, long(1)], None);
            }
            ("write", _) => {
                let (array, at, length) = (b.param(1), b.param(2), b.param(3));
                self.null_check(b, array);
                let first = self.element_address(b, array, at, &Desc::Byte);
                let length = b.cast(CastOp::Zext, Ty::I64, length);
                b.builtin(Builtin::Write, vec![stream, first, length], None);
            }
            _ => {}
        }
        if matches!(name, "writeln" | "newLine") {
            let end = self.literal(b, "\n");
            self.write_string(b, stream, end)?;
        }
        b.ret((name == "checkError").then(|| int(0)));
        Ok(true)
    }

    pub fn file_native(
        &mut self,
        b: &mut Builder,
        name: &str,
        desc: &str,
        is_native: bool,
    ) -> Result<bool, LoweringError> {
        match (name, desc) {
            ("getHandle", _) => b.ret(Some(long(-1))),
            ("getAppend", _) => b.ret(Some(int(0))),
            ("available0" | "isRegularFile0", _) if is_native => b.ret(Some(int(0))),
            ("read0", _) => {
                let byte = b.builtin(Builtin::ReadByte, vec![], Some(Ty::I32));
                b.ret(Some(byte));
            }
            ("readBytes", "([BII)I") => self.read_bytes(b),
            ("cleanupClose0" | "close0", _) => b.ret(None),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads up to the end of a line, so that interactive programs work.
    pub fn read_bytes(&mut self, b: &mut Builder) {
        let (array, at, length) = (b.param(1), b.param(2), b.param(3));
        let count = b.reg(Ty::I32);
        b.copy(count, int(0));
        let (head, body, kept, done, empty, some) = (b.block(), b.block(), b.block(), b.block(), b.block(), b.block());
        b.jump(head);
        b.at(head);
        let more = b.cmp(CmpOp::Slt, Operand::Reg(count), length);
        b.branch(more, body, some, BranchRole::Check);
        b.at(body);
        let byte = b.builtin(Builtin::ReadByte, vec![], Some(Ty::I32));
        let there = b.cmp(CmpOp::Sle, int(0), byte);
        b.branch(there, kept, done, BranchRole::Check);
        b.at(kept);
        let place = b.bin(BinOp::Add, at, Operand::Reg(count));
        let place = self.element_address(b, array, place, &Desc::Byte);
        b.store_as(place, &Desc::Byte, byte);
        let next = b.bin(BinOp::Add, Operand::Reg(count), int(1));
        b.copy(count, next);
        let end = b.cmp(CmpOp::Eq, byte, int(10));
        b.branch(end, some, head, BranchRole::Check);
        b.at(done);
        let none = b.cmp(CmpOp::Eq, Operand::Reg(count), int(0));
        b.branch(none, empty, some, BranchRole::Check);
        b.at(empty);
        b.ret(Some(int(-1)));
        b.at(some);
        b.ret(Some(Operand::Reg(count)));
    }
}
