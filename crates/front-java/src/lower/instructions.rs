//! Lowering of single instructions.

use crate::classes::LoweringError;
use crate::classes::layout::register_ty;
use crate::classes::type_names::{short_type_name, type_name};
use crate::classfile::{
    Arith, ArrayKind, Cond, Constant, Convert, Decoded, Desc, Insn, Malformed, MemberRef, MethodDesc, SlotKind, access,
};
use crate::coverage::implicit_exceptions::ImplicitException;
use crate::coverage::source_expressions;
use crate::lower::arrays::MAX_ARRAY_LENGTH;
use crate::lower::builder::{NULL, int, long};
use crate::lower::context::result_ty;
use crate::lower::method_body::Body;
use crate::lower::null_messages::{ValueOrigin, array_word, call_text};
use crate::lower::points::branch_roles::{JumpSense, opposite};
use crate::lower::points::hazard_points::LABEL_CLASS;
use crate::lower::symbols::{FuncKind, GlobalKind};
use touchstone_base::float::{FloatOp, Format};
use touchstone_ir::{ArmName, BinOp, BranchRole, CastOp, CmpOp, GlobalId, Operand, SwitchArm, TermKind, Ty};

fn malformed(error: Malformed) -> LoweringError {
    LoweringError::Malformed(error.to_string())
}

fn kind_ty(kind: SlotKind) -> Ty {
    match kind {
        SlotKind::Int | SlotKind::Float => Ty::I32,
        SlotKind::Long | SlotKind::Double => Ty::I64,
        SlotKind::Ref => Ty::Ptr,
    }
}

fn format(kind: SlotKind) -> Format {
    if kind == SlotKind::Float { Format::F32 } else { Format::F64 }
}

fn element_of(array: ArrayKind) -> Desc {
    match array {
        ArrayKind::Int => Desc::Int,
        ArrayKind::Long => Desc::Long,
        ArrayKind::Float => Desc::Float,
        ArrayKind::Double => Desc::Double,
        ArrayKind::Ref => Desc::Ref("java/lang/Object".into()),
        // Booleans are stored as zero or one, so they load as bytes.
        ArrayKind::Byte => Desc::Byte,
        ArrayKind::Char => Desc::Char,
        ArrayKind::Short => Desc::Short,
    }
}

impl Body<'_> {
    pub fn lower_insn(&mut self, decoded: &Decoded) -> Result<(), LoweringError> {
        match &decoded.insn {
            Insn::Nop => {}
            Insn::Null => self.push(NULL),
            Insn::PushInt(value) => self.push(int(*value)),
            Insn::PushLong(value) => self.push(long(*value)),
            Insn::PushFloat(bits) => self.push(Operand::Const(Ty::I32, u64::from(*bits))),
            Insn::PushDouble(bits) => self.push(Operand::Const(Ty::I64, *bits)),
            Insn::Constant(index) => self.constant(*index)?,
            Insn::Load(kind, index) => self.load_local(*kind, *index),
            Insn::Store(kind, index) => self.store_local(*kind, *index, decoded.next)?,
            Insn::ArrayLoad(array) => self.array_load(*array)?,
            Insn::ArrayStore(array) => self.array_store(*array)?,
            Insn::Pop | Insn::Pop2 | Insn::Dup | Insn::DupX1 | Insn::DupX2 => self.rearrange(&decoded.insn)?,
            Insn::Swap | Insn::Dup2 | Insn::Dup2X1 | Insn::Dup2X2 => self.rearrange(&decoded.insn)?,
            Insn::Arith(op, kind) => self.arith(*op, *kind)?,
            Insn::Neg(kind) => self.negate(*kind)?,
            Insn::Increment(index, by) => self.increment(*index, *by, decoded.next),
            Insn::Convert(convert) => self.convert(*convert)?,
            Insn::Compare(kind, nan) => self.compare(*kind, *nan)?,
            Insn::If(..) | Insn::IfInts(..) | Insn::IfRefs(..) | Insn::IfNull(..) => self.conditional_jump(decoded)?,
            Insn::Goto(target) => self.continue_at(*target),
            Insn::Jsr(target) => self.subroutine_call(decoded.next, *target),
            Insn::Ret(index) => self.subroutine_return(*index),
            Insn::Switch(default, cases) => self.switch(*default, cases)?,
            Insn::Return(kind) => self.return_value(*kind)?,
            Insn::GetStatic(index) => self.get_static(*index)?,
            Insn::PutStatic(index) => self.put_static(*index)?,
            Insn::GetField(index) => self.get_field(*index)?,
            Insn::PutField(index) => self.put_field(*index)?,
            Insn::InvokeVirtual(index) | Insn::InvokeInterface(index) => self.invoke_virtual(*index)?,
            Insn::InvokeSpecial(index) => self.invoke_special(*index)?,
            Insn::InvokeStatic(index) => self.invoke_static(*index)?,
            Insn::InvokeDynamic(index) => self.invoke_dynamic(*index)?,
            Insn::New(index) => self.new_object(*index)?,
            Insn::NewArray(letter) => self.new_array(&format!("[{letter}"))?,
            Insn::NewRefArray(index) => self.new_ref_array(*index)?,
            Insn::NewMultiArray(index, dimensions) => self.new_multi_array(*index, *dimensions)?,
            Insn::ArrayLength => self.array_length()?,
            Insn::Throw => self.throw()?,
            Insn::CheckCast(index) => self.check_cast(*index)?,
            Insn::InstanceOf(index) => self.instance_of(*index)?,
            Insn::MonitorEnter => self.monitor("enter")?,
            Insn::MonitorExit => self.monitor("exit")?,
        }
        Ok(())
    }

    fn constant(&mut self, index: u16) -> Result<(), LoweringError> {
        let file = self.file.clone();
        match file.pool.get(index).map_err(malformed)? {
            Constant::Integer(value) => self.push(int(*value)),
            Constant::Float(bits) => self.push(Operand::Const(Ty::I32, u64::from(*bits))),
            Constant::Long(value) => self.push(long(*value)),
            Constant::Double(bits) => self.push(Operand::Const(Ty::I64, *bits)),
            Constant::String(text) => {
                let units = file.pool.text(*text).map_err(malformed)?.units();
                let global = self.lowering.global_id(GlobalKind::Literal(units.into()));
                let value = self.b.global(global);
                self.assume_not_null(value);
                self.push(value);
            }
            Constant::Class(_) => {
                let class = self.lowering.classes.load(&file.pool.class(index).map_err(malformed)?)?;
                let global = self.lowering.global_id(GlobalKind::Mirror(class));
                let value = self.b.global(global);
                self.assume_not_null(value);
                self.push(value);
            }
            _ => return Err(LoweringError::Unsupported("a constant that is computed at run time".to_string())),
        }
        Ok(())
    }

    // Local variables and the operand stack.

    fn load_local(&mut self, kind: SlotKind, index: u16) {
        let reg = self.local(index, kind_ty(kind));
        self.push(Operand::Reg(reg));
    }

    fn store_local(&mut self, kind: SlotKind, index: u16, next: usize) -> Result<(), LoweringError> {
        let value = self.pop()?;
        self.mark_assignment(index, kind, value, next);
        self.set_local(index, value);
        Ok(())
    }

    fn increment(&mut self, index: u16, by: i16, next: usize) {
        let reg = self.local(index, Ty::I32);
        let by = i32::from(by);
        let value = self.b.bin(BinOp::Add, Operand::Reg(reg), int(by));
        let (op, by) = if by < 0 { (Arith::Sub, -by) } else { (Arith::Add, by) };
        self.note_arithmetic(value, op, SlotKind::Int, Operand::Reg(reg), int(by));
        self.mark_assignment(index, SlotKind::Int, value, next);
        self.set_local(index, value);
    }

    fn is_wide(&self, value: Operand) -> bool {
        self.b.ty(value) == Ty::I64
    }

    /// Pops one wide value or two others; the topmost is last.
    fn pop_two(&mut self) -> Result<Vec<Operand>, LoweringError> {
        let top = self.pop()?;
        if self.is_wide(top) {
            return Ok(vec![top]);
        }
        let below = self.pop()?;
        Ok(vec![below, top])
    }

    fn rearrange(&mut self, insn: &Insn) -> Result<(), LoweringError> {
        let top = match insn {
            Insn::Pop | Insn::Dup | Insn::DupX1 | Insn::DupX2 | Insn::Swap => vec![self.pop()?],
            _ => self.pop_two()?,
        };
        let below = match insn {
            Insn::DupX1 | Insn::Dup2X1 | Insn::Swap => vec![self.pop()?],
            Insn::DupX2 | Insn::Dup2X2 => self.pop_two()?,
            _ => Vec::new(),
        };
        let order: Vec<Operand> = match insn {
            Insn::Pop | Insn::Pop2 => Vec::new(),
            Insn::Dup | Insn::Dup2 => top.iter().chain(&top).copied().collect(),
            Insn::Swap => top.iter().chain(&below).copied().collect(),
            _ => top.iter().chain(&below).chain(&top).copied().collect(),
        };
        self.stack.extend(order);
        Ok(())
    }

    // Arithmetic.

    fn arith(&mut self, arith: Arith, kind: SlotKind) -> Result<(), LoweringError> {
        let op = arith;
        let shift = matches!(op, Arith::Shl | Arith::Shr | Arith::Ushr);
        let ty = kind_ty(kind);
        let right = self.pop_ty(if shift { Ty::I32 } else { ty })?;
        let left = self.pop_ty(ty)?;
        if matches!(kind, SlotKind::Float | SlotKind::Double) {
            let op = match op {
                Arith::Add => FloatOp::Add,
                Arith::Sub => FloatOp::Sub,
                Arith::Mul => FloatOp::Mul,
                Arith::Div => FloatOp::Div,
                _ => FloatOp::Rem,
            };
            let value = self.b.float(op, format(kind), ty, vec![left, right]);
            self.note_arithmetic(value, arith, kind, left, right);
            self.push(value);
            return Ok(());
        }
        if matches!(op, Arith::Div | Arith::Rem) {
            if !matches!(right, Operand::Const(_, value) if value != 0) {
                self.mark_failure(ImplicitException::Arithmetic, "/ by zero");
            }
            self.lowering.zero_check(&mut self.b, right);
        }
        let by = match shift {
            true => {
                let wide = self.b.cast(CastOp::Zext, ty, right);
                let most = Operand::Const(ty, u64::from(ty.bits()) - 1);
                self.b.bin(BinOp::And, wide, most)
            }
            false => right,
        };
        let op = match op {
            Arith::Add => BinOp::Add,
            Arith::Sub => BinOp::Sub,
            Arith::Mul => BinOp::Mul,
            Arith::Div => BinOp::SDiv,
            Arith::Rem => BinOp::SRem,
            Arith::Shl => BinOp::Shl,
            Arith::Shr => BinOp::AShr,
            Arith::Ushr => BinOp::LShr,
            Arith::And => BinOp::And,
            Arith::Or => BinOp::Or,
            Arith::Xor => BinOp::Xor,
        };
        let value = self.b.bin(op, left, by);
        self.note_arithmetic(value, arith, kind, left, right);
        self.push(value);
        Ok(())
    }

    fn negate(&mut self, kind: SlotKind) -> Result<(), LoweringError> {
        let ty = kind_ty(kind);
        let of = self.pop_ty(ty)?;
        let value = match kind {
            SlotKind::Float | SlotKind::Double => {
                self.b.bin(BinOp::Xor, of, Operand::Const(ty, format(kind).sign_mask()))
            }
            _ => self.b.bin(BinOp::Sub, Operand::Const(ty, 0), of),
        };
        self.note_negation(value, kind, of);
        self.push(value);
        Ok(())
    }

    fn convert(&mut self, convert: Convert) -> Result<(), LoweringError> {
        let of = self.pop_ty(kind_ty(convert.from()))?;
        let value = match convert {
            Convert::Byte | Convert::Short | Convert::Char => {
                let narrow = if convert == Convert::Byte { Ty::I8 } else { Ty::I16 };
                let value = self.b.cast(CastOp::Trunc, narrow, of);
                let widen = if convert == Convert::Char { CastOp::Zext } else { CastOp::Sext };
                self.b.cast(widen, Ty::I32, value)
            }
            Convert::Kinds(from, to) => {
                let is_float = |kind| matches!(kind, SlotKind::Float | SlotKind::Double);
                let (bits, ty) = (kind_ty(from).bits(), kind_ty(to));
                match (is_float(from), is_float(to)) {
                    (false, false) if to == SlotKind::Long => self.b.cast(CastOp::Sext, ty, of),
                    (false, false) => self.b.cast(CastOp::Trunc, ty, of),
                    (false, true) => self.b.float(FloatOp::FromSigned(bits), format(to), ty, vec![of]),
                    (true, false) => self.b.float(FloatOp::Saturate(ty.bits()), format(from), ty, vec![of]),
                    (true, true) => self.b.float(FloatOp::Convert(format(to)), format(from), ty, vec![of]),
                }
            }
        };
        self.note_conversion(value, convert, of);
        self.push(value);
        Ok(())
    }

    /// Lowers a comparison that yields -1, 0 or 1, without a branch.
    fn compare(&mut self, kind: SlotKind, nan: i8) -> Result<(), LoweringError> {
        let ty = kind_ty(kind);
        let (right, left) = (self.pop_ty(ty)?, self.pop_ty(ty)?);
        let (less, greater) = match kind {
            SlotKind::Long => (self.b.cmp(CmpOp::Slt, left, right), self.b.cmp(CmpOp::Slt, right, left)),
            _ => {
                let mut relation = |op, a, b| self.b.float(op, format(kind), Ty::I1, vec![a, b]);
                let one = Operand::Const(Ty::I1, 1);
                match nan {
                    // An unordered comparison counts as less or as greater.
                    -1 => {
                        let (greater, not_less) =
                            (relation(FloatOp::Lt, right, left), relation(FloatOp::Le, right, left));
                        (self.b.bin(BinOp::Xor, not_less, one), greater)
                    }
                    _ => {
                        let (less, not_greater) =
                            (relation(FloatOp::Lt, left, right), relation(FloatOp::Le, left, right));
                        (less, self.b.bin(BinOp::Xor, not_greater, one))
                    }
                }
            }
        };
        let (less, greater) = (self.b.cast(CastOp::Zext, Ty::I32, less), self.b.cast(CastOp::Zext, Ty::I32, greater));
        let value = self.b.bin(BinOp::Sub, greater, less);
        self.note_comparison(value, kind, nan, left, right);
        self.push(value);
        Ok(())
    }

    // Control flow.

    fn conditional_jump(&mut self, decoded: &Decoded) -> Result<(), LoweringError> {
        match decoded.insn {
            Insn::If(cond, target) => {
                let value = self.pop_ty(Ty::I32)?;
                self.jump_if(decoded, cond, value, int(0), target);
            }
            Insn::IfInts(cond, target) => {
                let (right, left) = (self.pop_ty(Ty::I32)?, self.pop_ty(Ty::I32)?);
                self.jump_if(decoded, cond, left, right, target);
            }
            Insn::IfRefs(cond, target) => {
                let (right, left) = (self.pop_ty(Ty::Ptr)?, self.pop_ty(Ty::Ptr)?);
                if self.lowering.is_library(self.class) {
                    self.jump_if(decoded, cond, left, right, target);
                } else {
                    let same = self.lowering.same_reference(&mut self.b, left, right);
                    let no = Operand::Const(Ty::I1, 0);
                    self.jump_if(decoded, opposite(cond), same, no, target);
                }
            }
            Insn::IfNull(cond, target) => {
                let value = self.pop_ty(Ty::Ptr)?;
                self.jump_if(decoded, cond, value, NULL, target);
            }
            _ => {}
        }
        Ok(())
    }

    fn jump_if(&mut self, decoded: &Decoded, cond: Cond, left: Operand, right: Operand, target: usize) {
        let (jump, next) = (self.jump_role(), decoded.next);
        // The first successor is the one for which the source's condition holds, whatever the bytecode jumps for.
        let (cond, target, next) = match jump.taken {
            JumpSense::IfTrue => (cond, target, next),
            JumpSense::IfFalse => (opposite(cond), next, target),
        };
        let (op, less, more) = source_expressions::comparison(cond, left, right);
        let holds = self.b.cmp(op, less, more);
        self.note_outcome(holds, &decoded.insn, jump.taken == JumpSense::IfTrue);
        if let Some(tag) = jump.tag {
            let condition = self.condition_expression(&decoded.insn, cond, left, right, holds);
            self.mark_condition(tag, condition);
        } else if self.table.is_stored_value(decoded.at) {
            let condition = self.condition_expression(&decoded.insn, opposite(cond), left, right, holds);
            self.mark_stored_relation(condition);
        }
        let (target, next) = (self.target(target), self.target(next));
        if let Some(tag) = jump.tag {
            self.b.span = self.table.span_of(tag);
        }
        self.b.end(TermKind::Branch {
            cond: holds,
            then_block: target,
            else_block: next,
            role: jump.role,
            tag: jump.tag,
        });
    }

    fn switch(&mut self, default: usize, cases: &[(i32, usize)]) -> Result<(), LoweringError> {
        let value = self.pop_ty(Ty::I32)?;
        let (role, labels) = self.switch_role(default, cases);
        if role == BranchRole::Condition && labels.is_empty() {
            self.mark_use(value, &Desc::Int);
        }
        let mut arms: Vec<SwitchArm> = Vec::new();
        let mut last = None;
        for (case, at) in cases.iter().filter(|(_, at)| *at != default) {
            let target = self.target(*at);
            let bits = u64::from(*case as u32);
            match arms.last_mut() {
                Some(arm)
                    if arm.target == target && last.is_some_and(|last: i32| last.checked_add(1) == Some(*case)) =>
                {
                    arm.high = bits;
                }
                _ => arms.push(SwitchArm { low: bits, high: bits, signed: true, target }),
            }
            last = Some(*case);
        }
        let default = self.target(default);
        let names = labels.into_iter().map(|(at, name)| ArmName { target: self.target(at), name }).collect();
        self.b.named_switch(value, (arms, default), role, names);
        Ok(())
    }

    fn return_value(&mut self, kind: Option<SlotKind>) -> Result<(), LoweringError> {
        let value = kind.map(|kind| self.pop_ty(kind_ty(kind))).transpose()?;
        if value.map(|value| self.b.ty(value)) != self.result {
            return Err(LoweringError::Malformed(format!("{}: a result of another type", self.file.name)));
        }
        if let Some(value) = value {
            let desc = self.returned.clone();
            self.mark_use(value, &desc);
        }
        self.b.ret(value);
        Ok(())
    }

    fn throw(&mut self) -> Result<(), LoweringError> {
        let thrown = self.pop_ty(Ty::Ptr)?;
        self.null_check(thrown, "Cannot throw exception");
        self.b.throw(thrown);
        Ok(())
    }

    /// Enters or exits a monitor. There is one thread, so only null is checked.
    fn monitor(&mut self, action: &str) -> Result<(), LoweringError> {
        let object = self.pop_ty(Ty::Ptr)?;
        self.null_check(object, &format!("Cannot {action} synchronized block"));
        Ok(())
    }

    fn subroutine_call(&mut self, next: usize, target: usize) {
        self.push(int(next as i32));
        self.continue_at(target);
    }

    fn subroutine_return(&mut self, index: u16) {
        let value = Operand::Reg(self.local(index, Ty::I32));
        let sites: Vec<usize> =
            self.insns.iter().filter(|insn| matches!(insn.insn, Insn::Jsr(_))).map(|insn| insn.next).collect();
        let arms: Vec<SwitchArm> = sites
            .into_iter()
            .filter(|at| self.insns.iter().any(|insn| insn.at == *at))
            .map(|at| SwitchArm { low: at as u64, high: at as u64, signed: false, target: self.target(at) })
            .collect();
        let wrong = self.b.block();
        self.b.switch(value, arms, wrong, BranchRole::Dispatch);
        self.b.at(wrong);
        self.b.end(TermKind::Unreachable);
    }

    // Fields.

    fn static_field(&mut self, index: u16) -> Result<(MemberRef, Desc, GlobalId), LoweringError> {
        let member = self.file.pool.field(index).map_err(malformed)?;
        let field = self.lowering.classes.resolve_static(&member)?;
        self.ensure_init(field.class);
        let (_, desc) = self.lowering.classes.static_field(field);
        Ok((member, desc, self.lowering.global_id(GlobalKind::Static(field))))
    }

    fn put_static(&mut self, index: u16) -> Result<(), LoweringError> {
        let (_, desc, global) = self.static_field(index)?;
        let value = self.pop_ty(register_ty(&desc))?;
        self.mark_use(value, &desc);
        let place = self.b.global(global);
        self.b.store_as(place, &desc, value);
        Ok(())
    }

    fn get_static(&mut self, index: u16) -> Result<(), LoweringError> {
        let (member, desc, global) = self.static_field(index)?;
        let place = self.b.global(global);
        let value = self.b.load_as(place, &desc);
        let text = format!("{}.{}", type_name(&Desc::Ref(member.class.clone())), member.name);
        let class = || short_type_name(&Desc::Ref(member.class.clone()));
        self.note_read(value, &desc, |_| format!("{}.{}", class(), member.name));
        self.note_origin(value, ValueOrigin::Static(text));
        self.push(value);
        Ok(())
    }

    fn get_field(&mut self, index: u16) -> Result<(), LoweringError> {
        let member = self.file.pool.field(index).map_err(malformed)?;
        let field = self.lowering.classes.resolve_field(&member)?;
        let object = self.pop_ty(Ty::Ptr)?;
        self.null_check(object, &format!("Cannot read field \"{}\"", field.name));
        let place = self.b.add(object, long(field.offset as i64));
        let value = self.b.load_as(place, &field.desc);
        let origin = ValueOrigin::Field(self.origin(object), field.name.clone());
        self.note_read(value, &field.desc, |_| origin.display());
        self.note_origin(value, origin);
        self.push(value);
        Ok(())
    }

    fn put_field(&mut self, index: u16) -> Result<(), LoweringError> {
        let member = self.file.pool.field(index).map_err(malformed)?;
        let field = self.lowering.classes.resolve_field(&member)?;
        let value = self.pop_ty(register_ty(&field.desc))?;
        let object = self.pop_ty(Ty::Ptr)?;
        self.mark_use(value, &field.desc);
        self.null_check(object, &format!("Cannot assign field \"{}\"", field.name));
        let place = self.b.add(object, long(field.offset as i64));
        self.b.store_as(place, &field.desc, value);
        Ok(())
    }

    // Arrays.

    fn array_load(&mut self, array: ArrayKind) -> Result<(), LoweringError> {
        let (index, object) = (self.pop_ty(Ty::I32)?, self.pop_ty(Ty::Ptr)?);
        // The array that maps ordinals to case numbers is the compiler's.
        if !self.is_for_switch() {
            self.mark_use(index, &Desc::Int);
        }
        self.null_check(object, &format!("Cannot load from {} array", array_word(array)));
        let text = self.element_text(object, index);
        self.mark_failure(ImplicitException::Index, &text);
        self.lowering.index_check(&mut self.b, object, index);
        let element = element_of(array);
        let place = self.lowering.element_address(&mut self.b, object, index, &element);
        let value = self.b.load_as(place, &element);
        let text = |body: &Self| format!("{}[{}]", body.shown_object(object), body.shown_int(index));
        self.note_read(value, &element, text);
        self.note_origin(value, ValueOrigin::Element(self.origin(object), self.origin(index)));
        self.push(value);
        Ok(())
    }

    fn array_store(&mut self, array: ArrayKind) -> Result<(), LoweringError> {
        let element = element_of(array);
        let value = self.pop_ty(register_ty(&element))?;
        let (index, object) = (self.pop_ty(Ty::I32)?, self.pop_ty(Ty::Ptr)?);
        self.mark_use(index, &Desc::Int);
        self.mark_use(value, &element);
        self.null_check(object, &format!("Cannot store to {} array", array_word(array)));
        let text = self.element_text(object, index);
        self.mark_failure(ImplicitException::Index, &text);
        self.lowering.index_check(&mut self.b, object, index);
        if array == ArrayKind::Ref && value != NULL {
            let check = self.lowering.latest_generation(FuncKind::StoreCheck);
            self.call_that_throws(ImplicitException::Store, &text, |body| {
                body.b.call(check, vec![object, value], None)
            });
        }
        let place = self.lowering.element_address(&mut self.b, object, index, &element);
        self.b.store_as(place, &element, value);
        Ok(())
    }

    fn array_length(&mut self) -> Result<(), LoweringError> {
        let array = self.pop_ty(Ty::Ptr)?;
        self.null_check(array, "Cannot read the array length");
        let length = self.lowering.array_length(&mut self.b, array);
        self.note_read(length, &Desc::Int, |body| format!("{}.length", body.shown_object(array)));
        self.push(length);
        Ok(())
    }

    fn new_ref_array(&mut self, index: u16) -> Result<(), LoweringError> {
        let element = self.file.pool.class(index).map_err(malformed)?;
        self.new_array(&format!("[{}", crate::classfile::class_desc(&element)))
    }

    fn new_array(&mut self, class: &str) -> Result<(), LoweringError> {
        let class = self.lowering.classes.load(&class.into())?;
        let length = self.pop_ty(Ty::I32)?;
        self.mark_use(length, &Desc::Int);
        self.lowering.classes.mark_instantiated(class);
        let value = match length {
            Operand::Const(_, bits) if (0..MAX_ARRAY_LENGTH).contains(&(bits as u32 as i32)) => {
                self.lowering.allocate_array(&mut self.b, class, length)?
            }
            _ => {
                let make = self.lowering.func(FuncKind::NewArray(class));
                let call = |body: &mut Body<'_>| body.b.call(make, vec![length], Some(Ty::Ptr));
                self.call_that_throws(ImplicitException::NegativeSize, "", call)
            }
        };
        self.assume_not_null(value);
        self.push(value);
        Ok(())
    }

    fn new_multi_array(&mut self, index: u16, dimensions: u8) -> Result<(), LoweringError> {
        let class = self.lowering.classes.load(&self.file.pool.class(index).map_err(malformed)?)?;
        let mut lengths = Vec::new();
        for _ in 0..dimensions {
            lengths.push(self.pop_ty(Ty::I32)?);
        }
        lengths.reverse();
        lengths.iter().for_each(|length| self.mark_use(*length, &Desc::Int));
        let make = self.lowering.func(FuncKind::MultiArray(class, dimensions));
        let call = |body: &mut Body<'_>| body.b.call(make, lengths, Some(Ty::Ptr));
        let value = self.call_that_throws(ImplicitException::NegativeSize, "", call);
        self.assume_not_null(value);
        self.push(value);
        Ok(())
    }

    // Classes.

    fn new_object(&mut self, index: u16) -> Result<(), LoweringError> {
        let class = self.lowering.classes.load(&self.file.pool.class(index).map_err(malformed)?)?;
        self.ensure_init(class);
        if self.lowering.classes.get(class).is(access::ABSTRACT | access::INTERFACE) {
            let title = self.lowering.classes.get(class).title();
            self.lowering.throw_constant(&mut self.b, "java/lang/InstantiationError", Some(&title));
            return Ok(());
        }
        let value = self.lowering.allocate(&mut self.b, class);
        self.assume_not_null(value);
        self.push(value);
        Ok(())
    }

    fn check_cast(&mut self, index: u16) -> Result<(), LoweringError> {
        let value = self.pop_ty(Ty::Ptr)?;
        let class = self.lowering.classes.load(&self.file.pool.class(index).map_err(malformed)?);
        self.push(value);
        let class = match class {
            // Null can be cast to any class, even to one that does not exist.
            Err(_) if value == NULL => return Ok(()),
            class => class?,
        };
        if value == NULL || &*self.lowering.classes.get(class).name == "java/lang/Object" {
            return Ok(());
        }
        let (done, test, wrong) = (self.b.block(), self.b.block(), self.b.block());
        if self.is_not_null(value) {
            self.b.jump(test);
        } else {
            let null = self.b.cmp(CmpOp::Eq, value, NULL);
            self.b.branch(null, done, test, BranchRole::Check);
        }
        self.b.at(test);
        let function = self.lowering.latest_generation(|generation| FuncKind::InstanceOf(class, generation));
        let fits = self.b.call(function, vec![value], Some(Ty::I1));
        self.b.branch(fits, done, wrong, BranchRole::Check);
        let text = format!("to {}", self.lowering.classes.get(class).title());
        self.mark_failure(ImplicitException::Cast, &text);
        self.b.at_failure(wrong);
        let failed = self.lowering.latest_generation(|generation| FuncKind::CastFailed(class, generation));
        self.b.call(failed, vec![value], None);
        self.b.end(TermKind::Unreachable);
        self.b.at(done);
        Ok(())
    }

    fn instance_of(&mut self, index: u16) -> Result<(), LoweringError> {
        let value = self.pop_ty(Ty::Ptr)?;
        let class = self.lowering.classes.load(&self.file.pool.class(index).map_err(malformed)?)?;
        if value == NULL {
            self.push(int(0));
            return Ok(());
        }
        let answer = self.b.temp(Ty::I32);
        self.b.copy(answer, int(0));
        let (done, test) = (self.b.block(), self.b.block());
        let null = self.b.cmp(CmpOp::Eq, value, NULL);
        self.b.branch(null, done, test, BranchRole::Check);
        self.b.at(test);
        let function = self.lowering.latest_generation(|generation| FuncKind::InstanceOf(class, generation));
        let fits = self.b.call(function, vec![value], Some(Ty::I1));
        let fits = self.b.cast(CastOp::Zext, Ty::I32, fits);
        self.b.copy(answer, fits);
        self.b.jump(done);
        self.b.at(done);
        let text = |body: &Self| {
            let class = short_type_name(&Desc::Ref(body.lowering.classes.get(class).name.clone()));
            format!("{} instanceof {class}", body.shown_object(value))
        };
        self.note_read(Operand::Reg(answer), &Desc::Boolean, text);
        self.push(Operand::Reg(answer));
        Ok(())
    }

    // Calls.

    fn arguments(&mut self, desc: &MethodDesc) -> Result<Vec<Operand>, LoweringError> {
        let mut args = Vec::with_capacity(desc.params.len() + 1);
        for param in desc.params.iter().rev() {
            args.push(self.pop_ty(register_ty(param))?);
        }
        args.reverse();
        Ok(args)
    }

    fn method_at(&mut self, index: u16) -> Result<(MemberRef, MethodDesc), LoweringError> {
        let (member, _) = self.file.pool.method(index).map_err(malformed)?;
        let desc = MethodDesc::parse(&member.desc);
        let desc = desc.ok_or_else(|| LoweringError::Malformed(format!("the descriptor {}", member.desc)))?;
        Ok((member, desc))
    }

    fn call(&mut self, func: FuncKind, args: Vec<Operand>, desc: &MethodDesc) {
        let function = self.lowering.func(func);
        let result = result_ty(&desc.result);
        let value = self.b.call(function, args, result);
        if result.is_some() {
            self.push(value);
        }
    }

    fn invoke_static(&mut self, index: u16) -> Result<(), LoweringError> {
        let (member, desc) = self.method_at(index)?;
        let args = self.arguments(&desc)?;
        if (&*member.class, &*member.name) == (LABEL_CLASS, "label")
            && let [_, condition] = args.as_slice()
        {
            self.label(*condition);
            return Ok(());
        }
        let method = self.lowering.classes.resolve_method(&member)?;
        if !self.lowering.classes.method(method).is(access::STATIC) {
            let text = format!("Expected static method '{}'", self.lowering.method_title(method));
            self.lowering.throw_constant(&mut self.b, "java/lang/IncompatibleClassChangeError", Some(&text));
            return Ok(());
        }
        self.ensure_init(method.class);
        self.mark_arguments(&desc, &args);
        self.call(FuncKind::Method(method), args.clone(), &desc);
        self.note_call(&member, &desc, &args);
        self.note_call_origin(&member, &desc);
        // The lookup class is the class of the calling code.
        if (&*member.class, &*member.name) == ("java/lang/invoke/MethodHandles", "lookup")
            && let Some(lookup) = self.stack.last().copied()
        {
            let of = self.lowering.jdk("java/lang/invoke/MethodHandles$Lookup")?;
            let mirror = self.lowering.global_id(GlobalKind::Mirror(self.class));
            if let Some(place) = self.lowering.classes.field_named(of, "lookupClass").cloned() {
                let mirror = self.b.global(mirror);
                self.b.store(lookup, place.offset as i64, mirror);
            }
        }
        Ok(())
    }

    fn invoke_special(&mut self, index: u16) -> Result<(), LoweringError> {
        let (member, desc) = self.method_at(index)?;
        let mut args = self.arguments(&desc)?;
        let this = self.pop_ty(Ty::Ptr)?;
        // Arguments are evaluated before the receiver is checked for null.
        self.mark_arguments(&desc, &args);
        self.null_check(this, &format!("Cannot invoke \"{}\"", call_text(&member, &desc)));
        args.insert(0, this);
        let mut method = self.lowering.classes.resolve_method(&member)?;
        let classes = &self.lowering.classes;
        let above = classes.get(self.class).superclass;
        let is_super = &*member.name != "<init>"
            && method.class != self.class
            && !classes.get(method.class).is(access::INTERFACE)
            && classes.is_subtype(self.class, method.class);
        if let (true, Some(above)) = (is_super, above)
            && let Some(found) = classes.find_method(above, &member.name, &member.desc)
        {
            method = found;
        }
        self.call(FuncKind::Method(method), args.clone(), &desc);
        self.note_call(&member, &desc, &args);
        self.note_call_origin(&member, &desc);
        Ok(())
    }

    fn invoke_virtual(&mut self, index: u16) -> Result<(), LoweringError> {
        let (member, desc) = self.method_at(index)?;
        let mut args = self.arguments(&desc)?;
        let this = self.pop_ty(Ty::Ptr)?;
        let handle = matches!(&*member.class, "java/lang/invoke/MethodHandle" | "java/lang/invoke/VarHandle");
        if !handle {
            self.mark_arguments(&desc, &args);
        }
        self.null_check(this, &format!("Cannot invoke \"{}\"", call_text(&member, &desc)));
        args.insert(0, this);
        if handle && self.polymorphic(&member, &desc, &args)? {
            return Ok(());
        }
        if handle {
            self.mark_arguments(&desc, &args);
        }
        let method = self.lowering.classes.resolve_method(&member)?;
        let given = args.clone();
        if self.lowering.is_not_overridable(method) {
            self.call(FuncKind::Method(method), args, &desc);
        } else {
            let function = self.lowering.latest_generation(|generation| FuncKind::Dispatch(method, generation));
            let result = result_ty(&desc.result);
            let value = self.b.call(function, args, result);
            if result.is_some() {
                self.push(value);
            }
        }
        self.note_call(&member, &desc, &given);
        self.note_call_origin(&member, &desc);
        Ok(())
    }

    fn invoke_dynamic(&mut self, index: u16) -> Result<(), LoweringError> {
        let (_, _, desc) = self.file.pool.call_site(index).map_err(malformed)?;
        let desc =
            MethodDesc::parse(&desc).ok_or_else(|| LoweringError::Malformed(format!("the descriptor {desc}")))?;
        let args = self.arguments(&desc)?;
        self.mark_arguments(&desc, &args);
        self.call(FuncKind::Site(self.class, index), args, &desc);
        Ok(())
    }
}
