//! Execution of single instructions.

use super::{CallFrame, ControlTransfer, Machine, Stop};
use crate::observer::{Event, Observer};
use crate::state_view::StateView;
use crate::unsupported_operation::UnsupportedOperation;
use crate::value::{Pointer, Value};
use touchstone_base::{Id, WorkKind, float, spend};
use touchstone_ir::{
    BlockId, Builtin, Callee, CastOp, CmpOp, ErrorKind, FuncId, GlobalId, Inst, InstKind, Linkage, Operand, Reg,
    TermKind, Ty, mask,
};

impl<'m> Machine<'m> {
    // Inlined into its only caller: a call per instruction would take a quarter of the time.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        frame: &CallFrame<'m>,
        inst: &'m Inst,
        observer: &mut impl Observer,
    ) -> Result<ControlTransfer, Stop> {
        match &inst.kind {
            InstKind::Copy { dst, src } => self.set(frame, *dst, self.used(frame, *src)?),
            InstKind::Bin { dst, op, a, b } => {
                let bits = frame.function.regs[*dst].ty.bits();
                let (x, y) = (self.int(frame, *a)?, self.int(frame, *b)?);
                let value = crate::arith::bin(*op, x, y, bits)?;
                self.traps |= crate::arith::traps(*op, x, y, bits);
                self.set(frame, *dst, Value::Int(value));
            }
            InstKind::Cmp { dst, op, a, b } => {
                let holds = match self.operand_ty(frame, *a) {
                    Ty::Int(bits) => {
                        let (x, y) = (self.int(frame, *a)?, self.int(frame, *b)?);
                        observer.compared(x, y);
                        crate::arith::cmp(*op, x, y, bits)
                    }
                    Ty::Ptr => {
                        let (a, b) = (self.get(frame, *a), self.get(frame, *b));
                        self.layout_dependent |=
                            (Value::in_different_objects(a, b) || a.is_far_out_of_bounds() || b.is_far_out_of_bounds())
                                && self.depends_on_order(*op, a, b);
                        self.memory.compare(*op, a, b)?
                    }
                };
                self.set(frame, *dst, Value::Int(u64::from(holds)));
            }
            InstKind::Cast { dst, op, src } => match self.get(frame, *src) {
                // The common case, without a `Result`.
                Value::Int(value) if *op != CastOp::IntToPtr => {
                    let (from, to) = (self.operand_ty(frame, *src), frame.function.regs[*dst].ty);
                    let value = crate::arith::cast(*op, value, from.bits(), to.bits());
                    self.set(frame, *dst, Value::Int(value));
                }
                _ => self.step_cast(frame, *dst, *op, *src)?,
            },
            InstKind::Float { dst, op, format, args } => self.step_float(frame, *dst, *op, *format, args)?,
            InstKind::SlotAddr { dst, slot } => {
                let object = self.slot(frame, *slot)?;
                self.set(frame, *dst, Value::ptr(object, 0));
            }
            InstKind::GlobalAddr { dst, global } => {
                let object = match self.known_global(*global) {
                    Some(object) => object,
                    None => self.late_global(*global)?,
                };
                self.set(frame, *dst, Value::ptr(object, 0));
            }
            InstKind::PtrAdd { dst, base, offset } => match (self.get(frame, *base), self.get(frame, *offset)) {
                (Value::Ptr(Pointer { object, offset }), Value::Int(bytes)) => {
                    self.set(frame, *dst, Value::ptr(object, offset.wrapping_add(bytes as i64)));
                }
                _ => self.step_ptr_add(frame, *dst, *base, *offset)?,
            },
            InstKind::PtrDiff { dst, a, b } => {
                let value = match (self.get(frame, *a), self.get(frame, *b)) {
                    (Value::Ptr(a), Value::Ptr(b)) if a.object == b.object => a.offset.wrapping_sub(b.offset) as u64,
                    (left, right) => {
                        self.layout_dependent |= Value::in_different_objects(left, right);
                        self.int(frame, *a)?.wrapping_sub(self.int(frame, *b)?)
                    }
                };
                self.set(frame, *dst, Value::Int(value));
            }
            InstKind::Load { dst, addr } => {
                let ty = frame.function.regs[*dst].ty;
                let place = match self.get(frame, *addr) {
                    Value::Int(address) if self.is_register(address) => self.read_register(address, ty.bytes())?,
                    value => self.memory.resolve(value)?,
                };
                let value = self.memory.load(place, ty).map_err(|kind| self.access_error(place, kind))?;
                if let Some(taint) = &mut self.taint {
                    taint.load(place.object);
                }
                self.set(frame, *dst, value);
            }
            InstKind::Store { addr, value } => {
                let place = match self.get(frame, *addr) {
                    Value::Int(address) if self.is_register(address) => self.register_place(address)?,
                    value => self.memory.resolve(value)?,
                };
                let (ty, value) = (self.operand_ty(frame, *value), self.get(frame, *value));
                self.memory.store(place, ty, value).map_err(|kind| self.access_error(place, kind))?;
                if let Some(taint) = &mut self.taint {
                    taint.store(place.object);
                }
            }
            InstKind::MemCopy { dst, src, size } => self.step_copy(frame, *dst, *src, *size)?,
            InstKind::MemSet { dst, value, size } => self.step_set(frame, *dst, *value, *size)?,
            InstKind::Point { point } => {
                // Given back: limits must not depend on points.
                self.steps_left += 1;
                observer.point(*point, &StateView { machine: self, frame });
            }
            InstKind::SlotBegin { slot } => {
                let object = self.slot(frame, *slot)?;
                self.memory.make_undefined(object);
            }
            InstKind::SlotEnd { slot } => {
                if let Some(object) = self.slots[frame.slot_base + slot.index()].take() {
                    self.memory.kill(object);
                }
            }
            InstKind::Call { dst, callee, args } => {
                let callee = match callee {
                    Callee::Direct(callee) => *callee,
                    Callee::Indirect(address) => self.called(frame, *address, *dst, args)?,
                };
                self.arguments.clear();
                for &arg in args {
                    let value = self.used(frame, arg)?;
                    self.arguments.push(value);
                }
                if let InstKind::Call { callee: Callee::Indirect(_), .. } = inst.kind {
                    observer.event(&Event::Indirect { func: frame.func, block: frame.block, callee });
                }
                return Ok(ControlTransfer::Call { callee, result: *dst });
            }
            InstKind::Builtin { dst, builtin: Builtin::C(builtin), args } if builtin.jumps() => {
                return self.step_mark(frame, *builtin, *dst, args);
            }
            InstKind::Builtin { dst, builtin, args } => {
                let result = self.step_builtin(frame, *builtin, *dst, args, observer)?;
                if let Some(dst) = dst {
                    let bits = frame.function.regs[*dst].ty.bits();
                    let result = match result {
                        Value::Int(value) => Value::Int(mask(value, bits)),
                        result => result,
                    };
                    self.set(frame, *dst, result);
                }
            }
        }
        Ok(ControlTransfer::Next)
    }

    /// Returns true if the layout decides a comparison of pointers to different objects: by their order, or by the
    /// reuse of freed memory.
    fn depends_on_order(&self, op: CmpOp, a: Value, b: Value) -> bool {
        !matches!(op, CmpOp::Eq | CmpOp::Ne) || self.memory.is_gone(a) || self.memory.is_gone(b)
    }

    pub(crate) fn at_exit(&mut self, frame: &CallFrame<'m>, function: Operand) -> Result<Value, Stop> {
        match self.used(frame, function)? {
            Value::NULL => self.at_exit.clear(),
            _ => self.at_exit.push(self.called(frame, function, None, &[])?),
        }
        Ok(Value::Undefined)
    }

    /// Returns the function that a pointer points to.
    fn called(
        &self,
        frame: &CallFrame<'m>,
        callee: Operand,
        dst: Option<Reg>,
        args: &[Operand],
    ) -> Result<FuncId, Stop> {
        let place = self.memory.resolve(self.used(frame, callee)?)?;
        // Globals are the first objects.
        let global = GlobalId::new(place.object.index());
        let function = self.module.globals.get(global).and_then(|global| global.function);
        let callee = function.filter(|_| place.offset == 0).ok_or(ErrorKind::InvalidPointer)?;
        let types = args.iter().map(|arg| self.operand_ty(frame, *arg));
        if !self.module.can_call(callee, types, dst.map(|dst| frame.function.regs[dst].ty)) {
            let name = &self.module.functions[callee].name;
            return Err(Stop::Unsupported(UnsupportedOperation::OtherTypes(name.clone())));
        }
        Ok(callee)
    }

    #[inline(never)]
    fn step_cast(&mut self, frame: &CallFrame<'m>, dst: Reg, op: CastOp, src: Operand) -> Result<(), Stop> {
        let (from, to) = (self.operand_ty(frame, src), frame.function.regs[dst].ty);
        let value = crate::arith::cast(op, self.int(frame, src)?, from.bits(), to.bits());
        let value = if op == CastOp::IntToPtr { self.memory.pointer_at(value) } else { Value::Int(value) };
        self.set(frame, dst, value);
        Ok(())
    }

    fn step_float(
        &mut self,
        frame: &CallFrame<'m>,
        dst: Reg,
        op: float::FloatOp,
        format: float::Format,
        args: &[Operand],
    ) -> Result<(), Stop> {
        let mut values = [0; 3];
        for (value, &arg) in values.iter_mut().zip(args) {
            *value = self.int(frame, arg)?;
        }
        self.set(frame, dst, Value::Int(float::eval(op, format, &values)));
        Ok(())
    }

    #[inline(never)]
    fn step_ptr_add(&mut self, frame: &CallFrame<'m>, dst: Reg, base: Operand, offset: Operand) -> Result<(), Stop> {
        let bytes = self.int(frame, offset)?;
        let value = match self.used(frame, base)? {
            Value::Ptr(Pointer { object, offset }) => Value::ptr(object, offset.wrapping_add(bytes as i64)),
            Value::Int(address) => Value::Int(address.wrapping_add(bytes)),
            Value::Undefined => return Err(ErrorKind::Uninitialised.into()),
        };
        self.set(frame, dst, value);
        Ok(())
    }

    fn step_copy(&mut self, frame: &CallFrame<'m>, dst: Operand, src: Operand, size: Operand) -> Result<(), Stop> {
        let (to, from) = (self.used(frame, dst)?, self.used(frame, src)?);
        let size = self.int(frame, size)?;
        if size > 0 {
            // The whole source is checked first, as in the engine.
            let from = self.memory.resolve(from)?;
            spend(WorkKind::Kibibyte, size >> 10);
            self.memory.check_read(from, size).map_err(|kind| self.access_error(from, kind))?;
            let to = self.memory.resolve(to)?;
            self.memory.copy(to, from, size).map_err(|kind| match self.access_error(from, kind) {
                Stop::Error(kind) => self.access_error(to, kind),
                stop => stop,
            })?;
            if let Some(taint) = &mut self.taint {
                taint.load(from.object);
                taint.store(to.object);
            }
        }
        Ok(())
    }

    fn step_set(&mut self, frame: &CallFrame<'m>, dst: Operand, value: Operand, size: Operand) -> Result<(), Stop> {
        let (to, byte) = (self.used(frame, dst)?, self.int(frame, value)? as u8);
        let size = self.int(frame, size)?;
        if size > 0 {
            let to = self.memory.resolve(to)?;
            spend(WorkKind::Kibibyte, size >> 10);
            self.memory.fill(to, byte, size).map_err(|kind| self.access_error(to, kind))?;
            if let Some(taint) = &mut self.taint {
                taint.store(to.object);
            }
        }
        Ok(())
    }

    /// Returns the meaning of a failed access: nothing is known of a variable that the module only declares.
    #[cold]
    fn access_error(&self, place: Pointer, kind: ErrorKind) -> Stop {
        let unknown = matches!(kind, ErrorKind::Uninitialised | ErrorKind::OutOfBounds);
        match self.global_of(place.object).map(|id| &self.module.globals[id]) {
            Some(global) if unknown && global.linkage == Linkage::Undefined => {
                Stop::Unsupported(UnsupportedOperation::ExternalVariable(global.name.clone()))
            }
            _ => Stop::Error(kind),
        }
    }

    // Terminators.

    /// Returns the next location in this frame, or `None` if the frame was left.
    #[inline]
    pub(super) fn finish_block(
        &mut self,
        frame: &CallFrame<'m>,
        kind: &'m TermKind,
        observer: &mut impl Observer,
    ) -> Result<Option<BlockId>, Stop> {
        let (func, block) = (frame.func, frame.block);
        match kind {
            TermKind::Jump(target) => Ok(Some(*target)),
            TermKind::Branch { cond, then_block, else_block, role, tag } => {
                let taken = self.int(frame, *cond)? != 0;
                observer.event(&Event::Branch { func, block, role: *role, tag: *tag, taken });
                Ok(Some(if taken { *then_block } else { *else_block }))
            }
            TermKind::Switch { value, arms, default, role, .. } => {
                let bits = self.operand_ty(frame, *value).bits();
                let value = self.int(frame, *value)?;
                let target = arms.iter().find(|arm| arm.holds(value, bits)).map_or(*default, |arm| arm.target);
                let arm = arms.iter().position(|arm| arm.target == target).unwrap_or(arms.len());
                observer.event(&Event::Switch { func, block, role: *role, arm, target });
                Ok(Some(target))
            }
            TermKind::Return(value) => {
                // A named register is a variable, which is read here. A missing result of a callee may be passed on as
                // long as it is unused.
                let read = matches!(value, Some(Operand::Reg(reg)) if frame.function.regs[*reg].name.is_some());
                let operand = *value;
                let value = operand.map(|operand| self.get(frame, operand));
                if read && value == Some(Value::Undefined) {
                    return Err(ErrorKind::Uninitialised.into());
                }
                if let Some(operand) = operand.filter(|_| value != Some(Value::Undefined)) {
                    observer.returning(operand, &StateView { machine: self, frame });
                }
                self.step_return(value, observer);
                Ok(None)
            }
            TermKind::Throw(value) => {
                let thrown = self.used(frame, *value)?;
                self.step_throw(thrown, observer)?;
                Ok(None)
            }
            TermKind::Catch { next, .. } => Ok(Some(*next)),
            TermKind::Unsupported(what) => Err(Stop::Unsupported(UnsupportedOperation::Construct(what.clone()))),
            TermKind::Unreachable => Err(Stop::Error(ErrorKind::Unreachable)),
        }
    }
}
