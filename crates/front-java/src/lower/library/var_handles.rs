//! Calls on variable handles: the method's name and the types at the call site determine the access.

use crate::classes::LoweringError;
use crate::classes::layout::{HANDLE_HIDDEN_BYTES, register_ty};
use crate::classfile::{Desc, MemberRef, MethodDesc};
use crate::lower::builder::{int, long};
use crate::lower::method_body::Body;
use touchstone_ir::{BinOp, BranchRole, CastOp, CmpOp, Operand, Ty};

impl Body<'_> {
    /// Lowers a call of a signature-polymorphic method; returns false for other methods.
    pub fn polymorphic(
        &mut self,
        member: &MemberRef,
        desc: &MethodDesc,
        args: &[Operand],
    ) -> Result<bool, LoweringError> {
        let name = &*member.name;
        if &*member.class == "java/lang/invoke/MethodHandle" {
            return match name {
                "invoke" | "invokeExact" => Err(LoweringError::Unsupported("a call of a method handle".to_string())),
                _ => Ok(false),
            };
        }
        let values = if name.starts_with("compareAnd") || name.starts_with("weakCompareAnd") {
            2
        } else if name.starts_with("set") || name.starts_with("getAnd") {
            1
        } else if name.starts_with("get") {
            0
        } else {
            return Ok(false);
        };
        let Some(coordinates) = desc.params.len().checked_sub(values) else { return Ok(false) };
        // The type of the variable is that of the new values, or of the result.
        let variable = if values > 0 { desc.params[coordinates].clone() } else { desc.result.clone() };
        let place = self.variable(args, coordinates, &variable)?;
        let result = self.access(name, &variable, place, &args[1 + coordinates..])?;
        match (&desc.result, result) {
            (Desc::Void, _) | (_, None) => {}
            (_, Some(value)) => self.push(value),
        }
        Ok(true)
    }

    fn variable(&mut self, args: &[Operand], coordinates: usize, variable: &Desc) -> Result<Operand, LoweringError> {
        let handle = self.lowering.jdk("java/lang/invoke/VarHandle")?;
        let hidden = self.lowering.classes.get(handle).size - HANDLE_HIDDEN_BYTES;
        match coordinates {
            1 => {
                self.null_check(args[1], "Cannot access a variable");
                let offset = self.b.load(args[0], hidden as i64, Ty::I64);
                Ok(self.b.add(args[1], offset))
            }
            2 => {
                self.null_check(args[1], "Cannot access a variable");
                let place = self.b.reg(Ty::Ptr);
                let is_view = self.b.load(args[0], hidden as i64 + 8, Ty::I64);
                let is_view = self.b.cmp(CmpOp::Ne, is_view, long(0));
                let (view, element, done) = (self.b.block(), self.b.block(), self.b.block());
                self.b.branch(is_view, view, element, BranchRole::Dispatch);
                self.b.at(view);
                let last = self.b.bin(BinOp::Add, args[2], int(variable.size() as i32 - 1));
                self.lowering.index_check(&mut self.b, args[1], args[2]);
                self.lowering.index_check(&mut self.b, args[1], last);
                let at = self.lowering.element_address(&mut self.b, args[1], args[2], &Desc::Byte);
                self.b.copy(place, at);
                self.b.jump(done);
                self.b.at(element);
                self.lowering.index_check(&mut self.b, args[1], args[2]);
                let at = self.lowering.element_address(&mut self.b, args[1], args[2], variable);
                self.b.copy(place, at);
                self.b.jump(done);
                self.b.at(done);
                Ok(Operand::Reg(place))
            }
            _ => Err(LoweringError::Unsupported("a handle of a static variable".to_string())),
        }
    }

    fn access(
        &mut self,
        name: &str,
        variable: &Desc,
        place: Operand,
        values: &[Operand],
    ) -> Result<Option<Operand>, LoweringError> {
        if name.starts_with("set") {
            self.b.store_as(place, variable, values[0]);
            return Ok(None);
        }
        let old = self.b.load_as(place, variable);
        if let [expected, value] = values {
            let same = self.b.cmp(CmpOp::Eq, old, *expected);
            let (swap, done) = (self.b.block(), self.b.block());
            self.b.branch(same, swap, done, BranchRole::Check);
            self.b.at(swap);
            self.b.store_as(place, variable, *value);
            self.b.jump(done);
            self.b.at(done);
            return Ok(Some(match name.contains("Exchange") {
                true => old,
                false => self.b.cast(CastOp::Zext, Ty::I32, same),
            }));
        }
        if let [value] = values {
            let op = match name.trim_start_matches("getAnd") {
                name if name.starts_with("Set") => None,
                name if name.starts_with("Add") => Some(BinOp::Add),
                name if name.starts_with("BitwiseOr") => Some(BinOp::Or),
                name if name.starts_with("BitwiseAnd") => Some(BinOp::And),
                name if name.starts_with("BitwiseXor") => Some(BinOp::Xor),
                name => return Err(LoweringError::Unsupported(format!("a handle's {name}"))),
            };
            if op.is_some() && (matches!(variable, Desc::Float | Desc::Double) || register_ty(variable) == Ty::Ptr) {
                return Err(LoweringError::Unsupported(format!("a handle's {name}")));
            }
            let new = match op {
                Some(op) => self.b.bin(op, old, *value),
                None => *value,
            };
            self.b.store_as(place, variable, new);
        }
        Ok(Some(old))
    }
}
