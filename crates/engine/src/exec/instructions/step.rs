//! One step: executes an instruction or a terminator.

use crate::exec::executor::{Check, Executor};
use crate::exec::instructions::calls::end_lifetime;
use crate::exec::instructions::fork::{Fork, OutcomeFork};
use crate::exec::memory::access::{Intent, Written};
use crate::goals::tracker::GoalHit;
use crate::state::memory::{Cell, Contents, Object, ObjectKind, address_term, global_object};
use crate::state::trail::BranchOutcome;
use crate::state::value::{Pointer, PointerBytes, Scalar, Value};
use crate::state::{PathEnd, PointerUse, State, Stop};
use touchstone_base::{Id, Span, WorkKind, spend};
use touchstone_criteria::{Bound, IncompletePaths, PathsOf, Unsupported};
use touchstone_ir::{
    BlockId, BranchRole, Callee, CondTag, ErrorKind, Inst, InstKind, Operand, Reg, SlotId, SwitchArm, TermKind,
    Terminator, Ty,
};
use touchstone_solver::{Op, Rel, TermId};

/// The result of a step.
pub(crate) struct StepResult {
    pub flow: Flow,
    /// Paths that a failed check has ended.
    pub ended: Vec<(State, PathEnd)>,
    /// Goals that were reached.
    pub hits: Vec<GoalHit>,
    /// Paths that were given up.
    pub gave_up: Vec<IncompletePaths>,
    /// Checks that were made, if the policy records them.
    pub checks: Vec<Check>,
}

/// The continuation of the path.
pub(crate) enum Flow {
    /// The state can be stepped again.
    Next,
    /// Inputs decide. At a symbolic pointer or a value to fix, the state is still before the instruction.
    Fork(Fork),
    /// The path has ended.
    End(PathEnd),
}

/// The outcome of a branch.
#[derive(Clone, Copy)]
pub(crate) struct BranchResult {
    pub role: BranchRole,
    pub tag: Option<CondTag>,
    pub taken: bool,
    /// True if the outcome depends on inputs.
    pub chosen: bool,
}

impl Executor<'_> {
    /// Executes until an event (a fork, an end, a goal, a large object), for at most `most` instructions.
    pub(crate) fn run(&mut self, state: &mut State, most: u32) -> StepResult {
        let mut left = most;
        loop {
            left -= self.run_constants(state, left.saturating_sub(1));
            if !self.effects.is_empty() {
                return self.step_done(state, Ok(Flow::Next));
            }
            if left <= 1 {
                return self.step(state);
            }
            left -= 1;
            let flow = self.step_once(state);
            let plain = matches!(flow, Ok(Flow::Next)) && state.returned.is_none();
            if !plain || !self.effects.is_empty() || state.memory.has_new_large_objects() {
                return self.step_done(state, flow);
            }
        }
    }

    /// Executes one instruction or terminator.
    pub(crate) fn step(&mut self, state: &mut State) -> StepResult {
        let flow = self.step_once(state);
        self.step_done(state, flow)
    }

    fn step_done(&mut self, state: &mut State, flow: Result<Flow, Stop>) -> StepResult {
        if !self.effects.raised.is_empty() {
            self.keep_caveats(state);
        }
        let mut stepped = self.stepped(flow);
        if !state.is_folded()
            && let Some(value) = state.returned.take()
        {
            stepped.flow = Flow::End(PathEnd::Returned(value));
        }
        stepped
    }

    /// Collects the effects of a step.
    pub(crate) fn stepped(&mut self, flow: Result<Flow, Stop>) -> StepResult {
        let flow = match flow {
            Ok(flow) => flow,
            Err(Stop::End(end)) => Flow::End(end),
            Err(Stop::Materialise(id, purpose)) => Flow::Fork(Fork::Shape { id, purpose }),
            Err(Stop::Enumerate(unfixed)) => Flow::Fork(Fork::Value(unfixed)),
        };
        let effects = &mut self.effects;
        StepResult {
            flow,
            ended: std::mem::take(&mut effects.ended),
            hits: std::mem::take(&mut effects.hits),
            gave_up: std::mem::take(&mut effects.gave_up),
            checks: std::mem::take(&mut effects.checks),
        }
    }

    /// Executes one instruction. A parameter that is declared as an array points to its own object where it is used,
    /// without a fork.
    fn step_once(&mut self, state: &mut State) -> Result<Flow, Stop> {
        loop {
            let (steps, charged_steps) = (state.steps, state.charged_steps);
            match self.try_step(state) {
                // While a formula is folded, the caller materialises pointers.
                Err(Stop::Materialise(id, PointerUse::Access))
                    if !state.is_folded()
                        && let Some(array) = state.inputs.lazy_pointers[id].array =>
                {
                    state.inputs_mut().set_target(id, Value::pointer(array, 0));
                    (state.steps, state.charged_steps) = (steps, charged_steps);
                }
                flow => return flow,
            }
        }
    }

    fn try_step(&mut self, state: &mut State) -> Result<Flow, Stop> {
        let module = self.module;
        spend(WorkKind::Instruction, 1);
        state.steps += 1;
        state.charged_steps += 1;
        let frame = state.top();
        let function = &module.functions[frame.func];
        let block = &function.blocks[frame.block];
        match block.insts.get(frame.inst) {
            Some(inst) => {
                if self.is_over_step_limit(state) {
                    return Err(Stop::bound(Bound::Steps, inst.span));
                }
                if let InstKind::Point { point } = inst.kind {
                    // A point is not an instruction of the program and counts no step.
                    state.steps -= 1;
                    state.charged_steps -= 1;
                    let flow = match state.is_folded() {
                        true => Flow::Next,
                        false => self.watch_point(state, point, inst.span)?,
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

    /// Returns true if the instruction entered a function (the caller's frame is then past the call).
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
                    return Err(self.uninitialised(state, span));
                }
                self.store(state, &addr, &value, ty, span)?;
            }
            InstKind::MemCopy { dst, src, size } => self.step_mem_copy(state, *dst, *src, *size, span)?,
            InstKind::MemSet { dst, value, size } => self.step_mem_set(state, *dst, *value, *size, span)?,
            InstKind::SlotBegin { slot } => self.step_slot_begin(state, *slot),
            InstKind::SlotEnd { slot } => end_lifetime(state, state.top().slots[slot.index()]),
            InstKind::Point { .. } => {}
            InstKind::Call { dst, callee, args } => {
                let direct = match callee {
                    Callee::Direct(callee) => *callee,
                    Callee::Indirect(address) => self.resolve_callee(state, *address, *dst, args, span)?,
                };
                let (func, block) = (state.top().func, state.top().block);
                self.step_call(state, *dst, direct, args, span)?;
                if matches!(callee, Callee::Indirect(_)) && !state.is_folded() {
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

    /// Returns the stop for a use of an uninitialised value.
    pub(crate) fn uninitialised(&self, state: &State, span: Span) -> Stop {
        match state.is_folded() {
            true => Stop::End(PathEnd::Assumed),
            false => Stop::error(ErrorKind::Uninitialised, span),
        }
    }

    /// Returns an operand as an integer.
    pub(crate) fn scalar(&mut self, state: &State, operand: Operand, span: Span) -> Result<Scalar, Stop> {
        let value = state.top().value(operand);
        self.as_scalar(state, &value, span)
    }

    /// Returns a value as an integer.
    pub(crate) fn as_scalar(&mut self, state: &State, value: &Value, span: Span) -> Result<Scalar, Stop> {
        match value {
            Value::Int(scalar) => Ok(*scalar),
            Value::Undefined => Err(self.uninitialised(state, span)),
            pointer => {
                let pointer = self.resolved(state, pointer)?;
                self.expose_address(&pointer, span)?;
                match address_term(&pointer, &mut self.terms, &self.pointers) {
                    Some(term) => Ok(Scalar::from_term(&self.terms, term)),
                    None => Err(Stop::unsupported(Unsupported::UndecidedAddress, span)),
                }
            }
        }
    }

    /// Returns an operand as an integer that must be constant on this path.
    pub(crate) fn fixed(&mut self, state: &State, operand: Operand, span: Span) -> Result<u64, Stop> {
        match self.scalar(state, operand, span)? {
            Scalar::Const(value) => Ok(value),
            Scalar::Term(term) => state.fixed_value(term).ok_or(Stop::unfixed(term)),
        }
    }

    /// Returns a pointer with all symbolic pointers in it materialised.
    pub(crate) fn resolved(&mut self, state: &State, value: &Value) -> Result<Value, Stop> {
        match value {
            Value::LazyPointer(id) => match state.inputs.target_of(*id) {
                Some(decided) => Ok(decided.clone()),
                None => Err(Stop::Materialise(*id, PointerUse::Access)),
            },
            Value::Choice(options) => {
                let mut made = Vec::with_capacity(options.len());
                for (guard, option) in options.iter() {
                    made.push((*guard, self.resolved(state, option)?));
                }
                Ok(Value::Choice(made.into()))
            }
            Value::Bytes(part) => {
                let whole = self.pointers.get(part.pointer).clone();
                let decided = self.resolved(state, &whole)?;
                Ok(Value::Bytes(PointerBytes { pointer: self.pointers.intern(&decided), ..*part }))
            }
            other => Ok(other.clone()),
        }
    }

    fn step_copy(&mut self, state: &mut State, dst: Reg, src: Operand, span: Span) -> Result<(), Stop> {
        let value = state.top().value(src);
        if value == Value::Undefined {
            return Err(self.uninitialised(state, span));
        }
        state.set(dst, value);
        Ok(())
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
        // The source is checked first and completely: of two errors, the interpreter reports that one.
        self.limit_size(state, &src, size, span)?;
        self.limit_size(state, &dst, size, span)?;
        let size = self.fixed(state, size, span)?;
        if size == 0 {
            return Ok(());
        }
        let (from, at) = self.fixed_location(state, &src, size, Intent::Read, span)?;
        let cells = self.plain_cells(state, from, at..at + size as usize)?;
        let (to, at) = self.fixed_location(state, &dst, size, Intent::Write(Written::Bytes), span)?;
        self.overwrite(state, to, at, &cells)
    }

    /// Restricts a symbolic size to the room in the object; beyond it the path ends in an error.
    fn limit_size(&mut self, state: &mut State, addr: &Value, size: Operand, span: Span) -> Result<(), Stop> {
        let Scalar::Term(size) = self.scalar(state, size, span)? else { return Ok(()) };
        if matches!(self.resolved(state, addr)?, Value::Int(Scalar::Const(0))) {
            let zero = self.terms.constant(64, 0);
            let nothing = self.terms.cmp(Rel::Eq, size, zero);
            return self.require(state, nothing, ErrorKind::NullPointer, span);
        }
        let Value::Ptr(Pointer { object, offset: Scalar::Const(offset) }) = self.resolved(state, addr)? else {
            return Ok(());
        };
        let room = match state.memory.get(object).shape.size() {
            None => self.terms.constant(64, state.memory.get(object).size.saturating_sub(offset)),
            Some(bytes) => {
                let (offset, nothing) = (self.terms.constant(64, offset), self.terms.constant(64, 0));
                let inside = self.terms.cmp(Rel::Ule, offset, bytes);
                let room = self.terms.bin(Op::Sub, bytes, offset);
                self.terms.ite(inside, room, nothing)
            }
        };
        let fits = self.terms.cmp(Rel::Ule, size, room);
        self.require_room(state, fits, Pointer { object, offset: Scalar::Term(size) }, span)
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
        let (to, at) = self.fixed_location(state, &dst, size, Intent::Write(Written::Bytes), span)?;
        self.overwrite(state, to, at, &vec![cell; size as usize])
    }

    pub(crate) fn overwrite(
        &mut self,
        state: &mut State,
        object: crate::state::value::ObjectId,
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

    /// Returns the object of a slot; a new one if its lifetime had ended.
    fn slot(&mut self, state: &mut State, slot: SlotId) -> crate::state::value::ObjectId {
        let id = state.top().slots[slot.index()];
        let object = state.memory.get(id);
        if object.live {
            return id;
        }
        let new = Object::undefined(object.size, ObjectKind::Slot, object.data);
        if state.is_folded() {
            // Both sides of a fold must have the same objects.
            *state.memory.get_mut(id) = new;
            return id;
        }
        let id = state.memory.alloc(new);
        state.top_mut().slots[slot.index()] = id;
        id
    }

    /// Returns true if a path has as many instructions as it may have. A replay executes no runs of constants, and was
    /// within the limit before.
    fn is_over_step_limit(&self, state: &State) -> bool {
        state.charged_steps > self.config.steps && self.replay.is_none()
    }

    fn step_terminator(&mut self, state: &mut State, terminator: &Terminator) -> Result<Flow, Stop> {
        let span = terminator.span;
        if self.is_over_step_limit(state) {
            return Err(Stop::bound(Bound::Steps, span));
        }
        match &terminator.kind {
            TermKind::Jump(target) => {
                self.goto(state, *target, None, span)?;
                Ok(Flow::Next)
            }
            TermKind::Branch { cond, then_block, else_block, role, tag } => match self.scalar(state, *cond, span)? {
                Scalar::Const(value) => {
                    let taken = value & 1 == 1;
                    let target = if taken { *then_block } else { *else_block };
                    self.take_branch(
                        state,
                        BranchResult { role: *role, tag: *tag, taken, chosen: false },
                        target,
                        span,
                    )?;
                    Ok(Flow::Next)
                }
                Scalar::Term(cond) => {
                    let (then_block, else_block, role, tag) = (*then_block, *else_block, *role, *tag);
                    let fork = OutcomeFork::Branch { cond, then_block, else_block, role, tag, span };
                    Ok(Flow::Fork(Fork::Outcome(fork)))
                }
            },
            TermKind::Switch { value, arms, default, role, .. } => {
                self.step_switch(state, *value, arms, *default, *role, span)
            }
            TermKind::Return(value) => {
                let function = &self.module.functions[state.top().func];
                // A variable is read here, while an undefined result of a callee may be passed on as long as it is
                // unused.
                let read = matches!(value, Some(Operand::Reg(reg)) if function.regs[*reg].name.is_some());
                let value = match value.map(|value| state.top().value(value)) {
                    Some(Value::Undefined) if read => return Err(self.uninitialised(state, span)),
                    None if function.result.is_some() => Some(Value::Undefined),
                    value => value,
                };
                if value.is_some() && !state.is_folded() {
                    self.watch_return(state, span)?;
                }
                self.leave(state, value);
                Ok(Flow::Next)
            }
            TermKind::Throw(value) => {
                let thrown = state.top().value(*value);
                self.step_throw(state, thrown, span)?;
                Ok(Flow::Next)
            }
            TermKind::Catch { next, .. } => {
                self.goto(state, *next, None, span)?;
                Ok(Flow::Next)
            }
            TermKind::Unsupported(what) => Err(Stop::unsupported(Unsupported::Construct(what.clone()), span)),
            TermKind::Unreachable => Err(Stop::error(ErrorKind::Unreachable, span)),
        }
    }

    /// Records a branch outcome and jumps.
    pub(in crate::exec) fn take_branch(
        &mut self,
        state: &mut State,
        BranchResult { role, tag, taken, chosen }: BranchResult,
        target: BlockId,
        span: Span,
    ) -> Result<(), Stop> {
        let (func, block) = (state.top().func, state.top().block);
        if !state.is_folded() && role.is_outcome() {
            state.hash.branch(func, block, role, tag, taken);
            let depth = state.frames.len() as u32;
            state.trail.outcome(BranchOutcome { func, tag, taken, chosen, depth });
            if let Some(tag) = tag {
                self.watch_branch(state, tag, taken);
            }
        }
        self.goto(state, target, tag, span)
    }

    /// Records a switch outcome and jumps.
    pub(crate) fn take_arm(
        &mut self,
        state: &mut State,
        role: BranchRole,
        target: BlockId,
        span: Span,
    ) -> Result<(), Stop> {
        let (func, block) = (state.top().func, state.top().block);
        if !state.is_folded() && role.is_outcome() {
            state.hash.switch(func, block, role, target);
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
        role: BranchRole,
        span: Span,
    ) -> Result<Flow, Stop> {
        let width = self.operand_ty(state, value).bits();
        let value = match self.scalar(state, value, span)? {
            Scalar::Const(value) => {
                let target = arms.iter().find(|arm| arm.holds(value, width)).map_or(default, |arm| arm.target);
                self.take_arm(state, role, target, span)?;
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
        Ok(Flow::Fork(Fork::Outcome(OutcomeFork::Switch { targets, role, span })))
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

    /// Jumps to a block of the same function; loop bounds are checked here.
    pub(in crate::exec) fn goto(
        &mut self,
        state: &mut State,
        target: BlockId,
        tag: Option<CondTag>,
        span: Span,
    ) -> Result<(), Stop> {
        if !state.is_folded() {
            if let PathsOf::Visits(most) = self.config.paths {
                self.count_visit(state, target, most)?;
            }
            if self.config.loop_bound.is_some() || matches!(self.config.paths, PathsOf::Iterations(_)) {
                self.count_iteration(state, target, tag, span)?;
            }
        }
        let frame = state.top_mut();
        frame.block = target;
        frame.inst = 0;
        Ok(())
    }
}
