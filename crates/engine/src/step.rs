//! One instruction at a time.

use crate::access::Intent;
use crate::executor::{Executor, Mode, Overflow};
use crate::globals::global_object;
use crate::memory::{Cell, Contents, Object, ObjectKind, address_term};
use crate::state::{Frame, PathEnd, Purpose, State, Stop};
use crate::value::{Pointer, PointerBytes, Scalar, Value};
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Bound, GoalId};
use touchstone_interp::arith;
use touchstone_ir::{
    BinOp, BlockId, Callee, CastOp, CmpOp, CondTag, ErrorKind, FuncId, GlobalId, Inst, InstKind, Operand, Reg, SlotId,
    SwitchArm, TermKind, Terminator, Ty, sign_extend,
};
use touchstone_solver::{Op, Rel, TermId};

/// What the driver has to do next.
pub(crate) enum Flow {
    /// Step again.
    Next,
    /// A condition that depends on inputs.
    Branch { cond: TermId, then_block: BlockId, else_block: BlockId, tag: Option<CondTag>, span: Span },
    /// Labels to fork on (direct mode only); the point is behind the state already.
    Labels { forks: Vec<(GoalId, TermId)>, span: Span },
    /// A switch whose value depends on inputs: a condition for each target; they exclude each other and one holds.
    Switch { targets: Vec<(BlockId, TermId)>, span: Span },
}

impl Executor<'_> {
    /// Executes one instruction or terminator. On `Force` and `Enumerate` the state still stands before it.
    pub(crate) fn step(&mut self, state: &mut State) -> Result<Flow, Stop> {
        let module = self.module;
        state.steps += 1;
        let frame = state.top();
        let function = &module.functions[frame.func];
        let block = &function.blocks[frame.block];
        match block.insts.get(frame.inst) {
            Some(inst) => {
                if state.steps > self.config.steps {
                    return Err(Stop::bound(Bound::Steps, inst.span));
                }
                if let InstKind::Point { point } = inst.kind {
                    // A point is no instruction of the program: it counts no step.
                    state.steps -= 1;
                    let flow = match self.mode {
                        Mode::Explore => self.watch_point(state, point, inst.span)?,
                        Mode::Fold => Flow::Next,
                    };
                    state.top_mut().inst += 1;
                    return Ok(flow);
                }
                let calls = self.step_inst(state, inst)?;
                if !calls {
                    state.top_mut().inst += 1;
                }
                Ok(Flow::Next)
            }
            None => self.step_terminator(state, &block.terminator),
        }
    }

    /// `true` if the instruction entered a function (and the frame below has moved on already).
    fn step_inst(&mut self, state: &mut State, inst: &Inst) -> Result<bool, Stop> {
        let span = inst.span;
        match &inst.kind {
            InstKind::Copy { dst, src } => self.step_copy(state, *dst, *src, span)?,
            InstKind::Bin { dst, op, a, b } => self.step_bin(state, *dst, *op, *a, *b, span)?,
            InstKind::Cmp { dst, op, a, b } => self.step_cmp(state, *dst, *op, *a, *b, span)?,
            InstKind::Cast { dst, op, src } => self.step_cast(state, *dst, *op, *src, span)?,
            InstKind::Float { dst, op, format, args } => self.step_float(state, *dst, *op, *format, args, span)?,
            InstKind::SlotAddr { dst, slot } => {
                let object = self.slot(state, *slot);
                state.set(*dst, Value::pointer(object, 0));
            }
            InstKind::GlobalAddr { dst, global } => state.set(*dst, Value::pointer(global_object(*global), 0)),
            InstKind::PtrAdd { dst, base, offset } => self.step_ptr_add(state, *dst, *base, *offset, span)?,
            InstKind::PtrDiff { dst, a, b } => self.step_ptr_diff(state, *dst, *a, *b, span)?,
            InstKind::Load { dst, addr } => {
                let ty = self.reg_ty(state, *dst);
                let addr = state.top().value(*addr);
                let value = self.load(state, &addr, ty, span)?;
                state.set(*dst, value);
            }
            InstKind::Store { addr, value } => {
                let ty = self.operand_ty(state, *value);
                let (addr, value) = (state.top().value(*addr), state.top().value(*value));
                if value == Value::Undefined {
                    return Err(self.uninitialised(span));
                }
                self.store(state, &addr, &value, ty, span)?;
            }
            InstKind::MemCopy { dst, src, size } => self.step_mem_copy(state, *dst, *src, *size, span)?,
            InstKind::MemSet { dst, value, size } => self.step_mem_set(state, *dst, *value, *size, span)?,
            InstKind::SlotBegin { slot } => self.step_slot_begin(state, *slot),
            InstKind::SlotEnd { slot } => end_life(state, state.top().slots[slot.index()]),
            InstKind::Point { .. } => {}
            InstKind::Call { dst, callee, args } => {
                let direct = match callee {
                    Callee::Direct(callee) => *callee,
                    Callee::Indirect(address) => self.called(state, *address, *dst, args, span)?,
                };
                let (func, block) = (state.top().func, state.top().block);
                self.step_call(state, *dst, direct, args, span)?;
                if matches!(callee, Callee::Indirect(_)) && self.mode == Mode::Explore {
                    state.hash.indirect(func, block, direct);
                }
                return Ok(true);
            }
            InstKind::Builtin { dst, builtin, args } => self.step_builtin(state, *dst, *builtin, args, span)?,
        }
        Ok(false)
    }

    pub(crate) fn reg_ty(&self, state: &State, reg: Reg) -> Ty {
        self.module.functions[state.top().func].regs[reg].ty
    }

    pub(crate) fn operand_ty(&self, state: &State, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.reg_ty(state, reg),
            Operand::Const(ty, _) => ty,
        }
    }

    pub(crate) fn uninitialised(&self, span: Span) -> Stop {
        match self.mode {
            Mode::Explore => Stop::error(ErrorKind::Uninitialised, span),
            Mode::Fold => Stop::End(PathEnd::Assumed),
        }
    }

    /// An operand as an integer.
    pub(crate) fn scalar(&mut self, state: &State, operand: Operand, span: Span) -> Result<Scalar, Stop> {
        let value = state.top().value(operand);
        self.as_scalar(state, &value, span)
    }

    /// A value as an integer.
    pub(crate) fn as_scalar(&mut self, state: &State, value: &Value, span: Span) -> Result<Scalar, Stop> {
        match value {
            Value::Int(scalar) => Ok(*scalar),
            Value::Undefined => Err(self.uninitialised(span)),
            pointer => {
                let pointer = self.decided(state, pointer)?;
                self.look_at_address(&pointer, span)?;
                match address_term(&pointer, &mut self.terms, &self.pointers) {
                    Some(term) => Ok(Scalar::from_term(&self.terms, term)),
                    None => Err(Stop::unsupported("address of an undecided pointer", span)),
                }
            }
        }
    }

    /// An operand as a number that must be constant on this path.
    pub(crate) fn fixed(&mut self, state: &State, operand: Operand, span: Span) -> Result<u64, Stop> {
        match self.scalar(state, operand, span)? {
            Scalar::Const(value) => Ok(value),
            Scalar::Term(term) => state.fixed_value(term).ok_or(Stop::Enumerate(term)),
        }
    }

    /// A pointer without undecided parts.
    pub(crate) fn decided(&mut self, state: &State, value: &Value) -> Result<Value, Stop> {
        match value {
            Value::Lazy(id) => match state.inputs.shape(*id) {
                Some(decided) => Ok(decided.clone()),
                None => Err(Stop::Force(*id, Purpose::Access)),
            },
            Value::Choice(options) => {
                let mut made = Vec::with_capacity(options.len());
                for (guard, option) in options.iter() {
                    made.push((*guard, self.decided(state, option)?));
                }
                Ok(Value::Choice(made.into()))
            }
            Value::Bytes(part) => {
                let whole = self.pointers.get(part.pointer).clone();
                let decided = self.decided(state, &whole)?;
                Ok(Value::Bytes(PointerBytes { pointer: self.pointers.intern(&decided), ..*part }))
            }
            other => Ok(other.clone()),
        }
    }

    fn step_copy(&mut self, state: &mut State, dst: Reg, src: Operand, span: Span) -> Result<(), Stop> {
        let value = state.top().value(src);
        if value == Value::Undefined {
            return Err(self.uninitialised(span));
        }
        state.set(dst, value);
        Ok(())
    }

    fn step_bin(
        &mut self,
        state: &mut State,
        dst: Reg,
        op: BinOp,
        a: Operand,
        b: Operand,
        span: Span,
    ) -> Result<(), Stop> {
        let width = self.reg_ty(state, dst).bits();
        let (a, b) = (state.top().value(a), state.top().value(b));
        let value = self.binary(state, op, &a, &b, width, span)?;
        state.set(dst, value);
        Ok(())
    }

    /// `a op b` as a value.
    pub(crate) fn binary(
        &mut self,
        state: &mut State,
        op: BinOp,
        a: &Value,
        b: &Value,
        width: u8,
        span: Span,
    ) -> Result<Value, Stop> {
        let (a, b) = (self.as_scalar(state, a, span)?, self.as_scalar(state, b, span)?);
        let divides = matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem);
        if divides {
            let fine = match b {
                Scalar::Const(value) => self.terms.truth(value != 0),
                Scalar::Term(term) => {
                    let zero = self.terms.constant(width, 0);
                    self.terms.ne(term, zero)
                }
            };
            self.require(state, fine, ErrorKind::DivisionByZero, span)?;
            if matches!(op, BinOp::SDiv | BinOp::SRem) {
                self.avoid_overflow(state, a, b, width);
            }
        }
        Ok(match (a, b) {
            (Scalar::Const(a), Scalar::Const(b)) => {
                Value::constant(arith::bin(op, a, b, width).map_err(|kind| Stop::error(kind, span))?)
            }
            _ => {
                let (a, b) = (a.term(&mut self.terms, width), b.term(&mut self.terms, width));
                let term = self.terms.bin(solver_op(op), a, b);
                Value::term(&self.terms, term)
            }
        })
    }

    /// The most negative number divided by -1 has no defined result and traps on common machines: no test goes there as
    /// long as the path has other inputs.
    fn avoid_overflow(&mut self, state: &mut State, a: Scalar, b: Scalar, width: u8) {
        if matches!((a, b), (Scalar::Const(_), Scalar::Const(_))) {
            return;
        }
        let (a, b) = (a.term(&mut self.terms, width), b.term(&mut self.terms, width));
        let (least, minus_one) = (self.terms.constant(width, 1 << (width - 1)), self.terms.constant(width, u64::MAX));
        let (other_dividend, other_divisor) = (self.terms.ne(a, least), self.terms.ne(b, minus_one));
        let fine = self.terms.or(other_dividend, other_divisor);
        self.avoid(state, fine);
    }

    /// Keeps to inputs for which something has a defined result, as long as the path has some.
    pub(crate) fn avoid(&mut self, state: &mut State, fine: TermId) {
        if self.overflow == Overflow::Followed || fine == self.terms.truth(true) {
            return;
        }
        self.avoided = true;
        match self.mode {
            Mode::Fold => state.proper = self.terms.and(state.proper, fine),
            Mode::Explore => {
                if let touchstone_solver::Side::Feasible(path) = self.solver.assume(&mut self.terms, &state.path, fine)
                {
                    state.path = path;
                }
            }
        }
    }

    fn step_cmp(
        &mut self,
        state: &mut State,
        dst: Reg,
        op: CmpOp,
        a: Operand,
        b: Operand,
        span: Span,
    ) -> Result<(), Stop> {
        let ty = self.operand_ty(state, a);
        let (left, right) = (state.top().value(a), state.top().value(b));
        let value = self.compare(state, op, &left, &right, ty, span)?;
        state.set(dst, value);
        Ok(())
    }

    /// `a op b` as a truth value.
    pub(crate) fn compare(
        &mut self,
        state: &State,
        op: CmpOp,
        left: &Value,
        right: &Value,
        ty: Ty,
        span: Span,
    ) -> Result<Value, Stop> {
        Ok(match (left, right) {
            (Value::Undefined, _) | (_, Value::Undefined) => return Err(self.uninitialised(span)),
            (Value::Int(Scalar::Const(a)), Value::Int(Scalar::Const(b))) => {
                Value::constant(u64::from(arith::cmp(op, *a, *b, ty.bits())))
            }
            (Value::Int(a), Value::Int(b)) => {
                let (a, b) = (a.term(&mut self.terms, ty.bits()), b.term(&mut self.terms, ty.bits()));
                let term = self.cmp_terms(op, a, b);
                Value::term(&self.terms, term)
            }
            _ => {
                let term = self.compare_pointers(state, op, left, right, ty, span)?;
                Value::term(&self.terms, term)
            }
        })
    }

    pub(crate) fn cmp_terms(&mut self, op: CmpOp, a: TermId, b: TermId) -> TermId {
        match op {
            CmpOp::Eq => self.terms.eq(a, b),
            CmpOp::Ne => self.terms.ne(a, b),
            CmpOp::Ult => self.terms.cmp(Rel::Ult, a, b),
            CmpOp::Ule => self.terms.cmp(Rel::Ule, a, b),
            CmpOp::Slt => self.terms.cmp(Rel::Slt, a, b),
            CmpOp::Sle => self.terms.cmp(Rel::Sle, a, b),
        }
    }

    fn step_cast(&mut self, state: &mut State, dst: Reg, op: CastOp, src: Operand, span: Span) -> Result<(), Stop> {
        let (from, to) = (self.operand_ty(state, src), self.reg_ty(state, dst));
        let value = state.top().value(src);
        let value = self.cast(state, op, &value, from, to, span)?;
        state.set(dst, value);
        Ok(())
    }

    /// A value of another type.
    pub(crate) fn cast(
        &mut self,
        state: &State,
        op: CastOp,
        value: &Value,
        from: Ty,
        to: Ty,
        span: Span,
    ) -> Result<Value, Stop> {
        let (from, to) = (from.bits(), to.bits());
        if op == CastOp::IntToPtr {
            return Ok(value.clone());
        }
        // A number that nobody has looked at is still the pointer.
        if op == CastOp::PtrToInt && to == 64 && *value != Value::Undefined {
            return Ok(value.clone());
        }
        if let (Value::Bytes(part), CastOp::Zext | CastOp::Trunc) = (value, op)
            && let Some(resized) = part.resized(to / 8).filter(|_| to >= 8)
        {
            return Ok(Value::Bytes(resized));
        }
        Ok(match self.as_scalar(state, value, span)? {
            Scalar::Const(bits) => Value::constant(arith::cast(op, bits, from, to)),
            Scalar::Term(term) => {
                let term = match op {
                    CastOp::Sext => self.terms.sext(term, to),
                    CastOp::Zext => self.terms.zext(term, to),
                    CastOp::Trunc => self.terms.extract(term, 0, to),
                    CastOp::PtrToInt if to < 64 => self.terms.extract(term, 0, to),
                    CastOp::PtrToInt | CastOp::IntToPtr => term,
                };
                Value::term(&self.terms, term)
            }
        })
    }

    fn step_mem_copy(
        &mut self,
        state: &mut State,
        dst: Operand,
        src: Operand,
        size: Operand,
        span: Span,
    ) -> Result<(), Stop> {
        let (dst, src) = (state.top().value(dst), state.top().value(src));
        // The source is looked at first, in whole: of two things that are wrong, the interpreter names that one.
        self.limit_size(state, &src, size, span)?;
        self.limit_size(state, &dst, size, span)?;
        let size = self.fixed(state, size, span)?;
        if size == 0 {
            return Ok(());
        }
        let (from, at) = self.fixed_place(state, &src, size, Intent::Read, span)?;
        let cells = self.plain_cells(state, from, at..at + size as usize)?;
        let (to, at) = self.fixed_place(state, &dst, size, Intent::Write, span)?;
        self.overwrite(state, to, at, &cells)
    }

    /// A size that depends on inputs is first cut to what the object has room for; beyond that the path goes wrong.
    fn limit_size(&mut self, state: &mut State, addr: &Value, size: Operand, span: Span) -> Result<(), Stop> {
        let Scalar::Term(size) = self.scalar(state, size, span)? else { return Ok(()) };
        if matches!(self.decided(state, addr)?, Value::Int(Scalar::Const(0))) {
            let zero = self.terms.constant(64, 0);
            let nothing = self.terms.cmp(Rel::Eq, size, zero);
            return self.require(state, nothing, ErrorKind::NullPointer, span);
        }
        let Value::Ptr(Pointer { object, offset: Scalar::Const(offset) }) = self.decided(state, addr)? else {
            return Ok(());
        };
        let room = state.memory.get(object).size.saturating_sub(offset);
        let room = self.terms.constant(64, room);
        let fits = self.terms.cmp(Rel::Ule, size, room);
        self.require(state, fits, ErrorKind::OutOfBounds, span)
    }

    fn step_mem_set(
        &mut self,
        state: &mut State,
        dst: Operand,
        value: Operand,
        size: Operand,
        span: Span,
    ) -> Result<(), Stop> {
        let target = state.top().value(dst);
        self.limit_size(state, &target, size, span)?;
        let size = self.fixed(state, size, span)?;
        if size == 0 {
            return Ok(());
        }
        let cell = match self.scalar(state, value, span)? {
            Scalar::Const(byte) => Cell::Byte(byte as u8),
            Scalar::Term(term) => Cell::Part { term, index: 0 },
        };
        let dst = state.top().value(dst);
        let (to, at) = self.fixed_place(state, &dst, size, Intent::Write, span)?;
        self.overwrite(state, to, at, &vec![cell; size as usize])
    }

    pub(crate) fn overwrite(
        &mut self,
        state: &mut State,
        object: crate::value::ObjectId,
        at: usize,
        new: &[Cell],
    ) -> Result<(), Stop> {
        let size = state.memory.get(object).size as usize;
        if new.len() == size {
            state.memory.get_mut(object).contents = Contents::Cells(new.to_vec());
            return Ok(());
        }
        if matches!(state.memory.get(object).contents, Contents::Delayed { .. }) {
            let cells = self.plain_cells(state, object, 0..size)?;
            state.memory.get_mut(object).contents = Contents::Cells(cells);
        }
        if let Contents::Cells(cells) = &mut state.memory.get_mut(object).contents {
            cells[at..at + new.len()].copy_from_slice(new);
        }
        Ok(())
    }

    fn step_slot_begin(&mut self, state: &mut State, slot: SlotId) {
        let object = self.slot(state, slot);
        let object = state.memory.get_mut(object);
        object.contents = Contents::Cells(vec![Cell::Undefined; object.size as usize]);
    }

    /// The object of a slot; a new one if its life had ended.
    fn slot(&mut self, state: &mut State, slot: SlotId) -> crate::value::ObjectId {
        let id = state.top().slots[slot.index()];
        let object = state.memory.get(id);
        if object.live {
            return id;
        }
        let new = Object::undefined(object.size, ObjectKind::Slot, object.data);
        match self.mode {
            Mode::Explore => {
                let id = state.memory.alloc(new);
                state.top_mut().slots[slot.index()] = id;
                id
            }
            // Both sides of a branch must have the same objects.
            Mode::Fold => {
                *state.memory.get_mut(id) = new;
                id
            }
        }
    }

    /// The function that a call through a pointer goes to: an outcome of the path. A pointer that depends on inputs is
    /// fixed to each function that it can be.
    fn called(
        &mut self,
        state: &mut State,
        callee: Operand,
        dst: Option<Reg>,
        args: &[Operand],
        span: Span,
    ) -> Result<FuncId, Stop> {
        let value = state.top().value(callee);
        let value = match self.decided(state, &value)? {
            choice @ Value::Choice(_) => {
                let unknown = || Stop::unsupported("call through an undecided pointer", span);
                let address = address_term(&choice, &mut self.terms, &self.pointers).ok_or_else(unknown)?;
                let fixed = self.terms.as_const(address).or_else(|| state.fixed_value(address));
                Value::constant(fixed.ok_or(Stop::Enumerate(address))?)
            }
            value => value,
        };
        let Pointer { object, offset } = self.target(state, &value, span)?;
        // Globals are the first objects.
        let global = self.module.globals.get(GlobalId::new(object.index()));
        let Some(callee) = global.and_then(|global| global.function).filter(|_| offset == Scalar::Const(0)) else {
            return Err(Stop::error(ErrorKind::InvalidPointer, span));
        };
        let types = args.iter().map(|arg| self.operand_ty(state, *arg));
        if !self.module.can_call(callee, types, dst.map(|dst| self.reg_ty(state, dst))) {
            let name = &self.module.functions[callee].name;
            return Err(Stop::unsupported(format!("call of `{name}` with other types than its definition"), span));
        }
        Ok(callee)
    }

    fn step_call(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        callee: FuncId,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let function = &self.module.functions[callee];
        if !function.is_defined() {
            return Err(Stop::unsupported(format!("external function {}", function.name), span));
        }
        if state.frames.len() >= self.config.call_depth {
            return Err(Stop::bound(Bound::CallDepth, span));
        }
        let args: Vec<Value> = args.iter().map(|arg| state.top().value(*arg)).collect();
        if args.contains(&Value::Undefined) {
            return Err(self.uninitialised(span));
        }
        let before = self.watches_entry(callee).then(|| state.clone());
        state.top_mut().inst += 1;
        self.enter(state, callee, args, dst).inspect_err(|_| {
            if let Some(before) = before {
                *state = before;
            }
        })
    }

    /// Pushes a frame. `Err` if an input must be decided before the goals of the entry can be told: the state is then of
    /// no use any more.
    pub(crate) fn enter(
        &mut self,
        state: &mut State,
        callee: FuncId,
        args: Vec<Value>,
        result: Option<Reg>,
    ) -> Result<(), Stop> {
        let function = &self.module.functions[callee];
        let mut regs = vec![Value::Undefined; function.regs.len()];
        for (param, arg) in function.params.iter().zip(args) {
            regs[param.reg.index()] = arg;
        }
        let slots = function
            .slots
            .values()
            .map(|slot| state.memory.alloc(Object::undefined(slot.size, ObjectKind::Slot, Some(slot.data))))
            .collect();
        let frame = Frame {
            func: callee,
            block: BlockId::new(0),
            inst: 0,
            regs,
            slots,
            result,
            decisions: Vec::new(),
            arrivals: Vec::new(),
        };
        state.frames.push(Rc::new(frame));
        match self.mode {
            Mode::Explore => self.watch_entry(state, callee),
            Mode::Fold => Ok(()),
        }
    }

    fn step_terminator(&mut self, state: &mut State, terminator: &Terminator) -> Result<Flow, Stop> {
        let span = terminator.span;
        if state.steps > self.config.steps {
            return Err(Stop::bound(Bound::Steps, span));
        }
        match &terminator.kind {
            TermKind::Jump(target) => {
                self.goto(state, *target, None, span)?;
                Ok(Flow::Next)
            }
            TermKind::Branch { cond, then_block, else_block, tag } => match self.scalar(state, *cond, span)? {
                Scalar::Const(value) => {
                    self.take_branch(state, *tag, value & 1 == 1, *then_block, *else_block, span)?;
                    Ok(Flow::Next)
                }
                Scalar::Term(cond) => {
                    Ok(Flow::Branch { cond, then_block: *then_block, else_block: *else_block, tag: *tag, span })
                }
            },
            TermKind::Switch { value, arms, default } => self.step_switch(state, *value, arms, *default, span),
            TermKind::Return(value) => {
                let function = &self.module.functions[state.top().func];
                // A variable is read here; what a callee did not return may be passed on, if nobody looks at it.
                let read = matches!(value, Some(Operand::Reg(reg)) if function.regs[*reg].name.is_some());
                let value = match value.map(|value| state.top().value(value)) {
                    Some(Value::Undefined) if read => return Err(self.uninitialised(span)),
                    None if function.result.is_some() => Some(Value::Undefined),
                    value => value,
                };
                self.leave(state, value);
                Ok(Flow::Next)
            }
            TermKind::Unsupported(what) => Err(Stop::unsupported(what.clone(), span)),
            TermKind::Unreachable => Err(Stop::error(ErrorKind::Unreachable, span)),
        }
    }

    /// Records a branch outcome and goes there.
    pub(crate) fn take_branch(
        &mut self,
        state: &mut State,
        tag: Option<CondTag>,
        taken: bool,
        then_block: BlockId,
        else_block: BlockId,
        span: Span,
    ) -> Result<(), Stop> {
        let (func, block) = (state.top().func, state.top().block);
        if self.mode == Mode::Explore {
            state.hash.branch(func, block, tag, taken);
            let depth = state.frames.len() as u32;
            let earlier = state.trail.take();
            state.trail = Some(Rc::new(crate::state::Outcome { func, tag, taken, depth, earlier }));
            if let Some(tag) = tag {
                self.watch_branch(state, tag, taken);
            }
        }
        self.goto(state, if taken { then_block } else { else_block }, tag, span)
    }

    /// Records a switch outcome and goes there.
    pub(crate) fn take_arm(&mut self, state: &mut State, target: BlockId, span: Span) -> Result<(), Stop> {
        let (func, block) = (state.top().func, state.top().block);
        if self.mode == Mode::Explore {
            state.hash.switch(func, block, target);
            self.watch_arm(state, target);
        }
        self.goto(state, target, None, span)
    }

    fn step_switch(
        &mut self,
        state: &mut State,
        value: Operand,
        arms: &[SwitchArm],
        default: BlockId,
        span: Span,
    ) -> Result<Flow, Stop> {
        let width = self.operand_ty(state, value).bits();
        let value = match self.scalar(state, value, span)? {
            Scalar::Const(value) => {
                let target = arms.iter().find(|arm| arm_holds(arm, value, width)).map_or(default, |arm| arm.target);
                self.take_arm(state, target, span)?;
                return Ok(Flow::Next);
            }
            Scalar::Term(term) => term,
        };
        let mut targets: Vec<(BlockId, TermId)> = Vec::new();
        let mut any = self.terms.truth(false);
        for arm in arms {
            let here = self.arm_condition(arm, value, width);
            any = self.terms.or(any, here);
            match targets.iter_mut().find(|(target, _)| *target == arm.target) {
                Some((_, cond)) => *cond = self.terms.or(*cond, here),
                None => targets.push((arm.target, here)),
            }
        }
        let none = self.terms.not(any);
        match targets.iter_mut().find(|(target, _)| *target == default) {
            Some((_, cond)) => *cond = self.terms.or(*cond, none),
            None => targets.push((default, none)),
        }
        Ok(Flow::Switch { targets, span })
    }

    fn arm_condition(&mut self, arm: &SwitchArm, value: TermId, width: u8) -> TermId {
        let low = self.terms.constant(width, arm.low);
        if arm.low == arm.high {
            return self.terms.eq(value, low);
        }
        let high = self.terms.constant(width, arm.high);
        let rel = if arm.signed { Rel::Sle } else { Rel::Ule };
        let (above, below) = (self.terms.cmp(rel, low, value), self.terms.cmp(rel, value, high));
        self.terms.and(above, below)
    }

    /// Pops a frame; its slots die.
    fn leave(&mut self, state: &mut State, value: Option<Value>) {
        let frame = state.frames.pop().expect("invariant: a returning state has a frame");
        for &slot in &frame.slots {
            end_life(state, slot);
        }
        if state.frames.is_empty() {
            state.returned = Some(value);
        } else if let (Some(dst), Some(value)) = (frame.result, value) {
            state.set(dst, value);
        }
    }

    /// Goes to a block of the same function; loop bounds are checked here.
    fn goto(&mut self, state: &mut State, target: BlockId, tag: Option<CondTag>, span: Span) -> Result<(), Stop> {
        if (self.config.loop_bound.is_some() || self.config.iterations.is_some()) && self.mode == Mode::Explore {
            self.count_iteration(state, target, tag, span)?;
        }
        let frame = state.top_mut();
        frame.block = target;
        frame.inst = 0;
        Ok(())
    }
}

/// Ends the life of a local.
fn end_life(state: &mut State, object: crate::value::ObjectId) {
    let object = state.memory.get_mut(object);
    object.live = false;
    object.contents = Contents::Cells(Vec::new());
}

/// Whether a constant is in an arm's range.
fn arm_holds(arm: &SwitchArm, value: u64, width: u8) -> bool {
    if arm.signed {
        let signed = |value| sign_extend(value, width);
        (signed(arm.low)..=signed(arm.high)).contains(&signed(value))
    } else {
        (arm.low..=arm.high).contains(&value)
    }
}

fn solver_op(op: BinOp) -> Op {
    match op {
        BinOp::Add => Op::Add,
        BinOp::Sub => Op::Sub,
        BinOp::Mul => Op::Mul,
        BinOp::UDiv => Op::UDiv,
        BinOp::SDiv => Op::SDiv,
        BinOp::URem => Op::URem,
        BinOp::SRem => Op::SRem,
        BinOp::And => Op::And,
        BinOp::Or => Op::Or,
        BinOp::Xor => Op::Xor,
        BinOp::Shl => Op::Shl,
        BinOp::LShr => Op::LShr,
        BinOp::AShr => Op::AShr,
    }
}
