//! Transfer functions: one instruction on an abstract state, and the outgoing edges of a block.

use crate::prover::abstract_state::{AbstractState, Dead, Origin};
use crate::prover::abstract_value::{AbstractPointer, AbstractValue, Base, is_zero};
use crate::prover::c;
use crate::prover::function_facts::FunctionFacts;
use crate::prover::interval_domain;
use touchstone_ir::{
    BinOp, BlockId, Builtin, CastOp, CmpOp, Inst, InstKind, Linkage, Operand, Reg, SwitchArm, TermKind, Ty, mask,
    sign_extend,
};
use touchstone_solver::Facts;

/// The maximum number of values of a switch that are evaluated one by one.
const MAX_SWITCH_VALUES: u64 = 512;

/// A feasible outgoing edge of a block.
pub(crate) struct Edge {
    pub target: BlockId,
    /// The outcome of a branch that it represents.
    pub outcome: Option<bool>,
    pub state: AbstractState,
}

/// Returns true if a builtin represents an operation that may fail and then sets the error number.
pub(crate) fn may_fail(builtin: Builtin) -> bool {
    match builtin {
        Builtin::Unspecified | Builtin::Write => true,
        Builtin::C(builtin) => c::is_output(builtin),
        _ => false,
    }
}

impl FunctionFacts<'_> {
    /// Executes an instruction; `Dead` if control does not continue.
    pub fn step(&self, state: &mut AbstractState, inst: &Inst) -> Result<(), Dead> {
        match &inst.kind {
            InstKind::Copy { dst, src } => {
                let origin = as_reg(*src).map(Origin::Copy);
                state.assign(*dst, state.value(*src), state.is_defined(*src), origin);
            }
            InstKind::Bin { dst, op, a, b } => self.step_bin(state, *dst, *op, *a, *b)?,
            InstKind::Cmp { dst, op, a, b } => {
                let value = self.compare(*op, &state.value(*a), &state.value(*b), is_same(*a, *b));
                state.set(*dst, value, Some(Origin::Cmp(*op, *a, *b)));
            }
            InstKind::Cast { dst, op, src } => {
                let value = cast(*op, &state.value(*src), self.reg_ty(*dst));
                let widens = matches!(op, CastOp::Zext | CastOp::Sext);
                state.set(*dst, value, as_reg(*src).filter(|_| widens).map(Origin::Extended));
            }
            InstKind::Float { dst, op, format, args } => {
                let args: Vec<_> = args.iter().map(|&arg| state.value(arg).facts()).collect();
                state.set(*dst, AbstractValue::Int(interval_domain::float(*op, *format, &args)), None);
            }
            InstKind::SlotAddr { dst, slot } => {
                state.set(*dst, AbstractValue::Ptr(AbstractPointer::start(Base::Slot(*slot))), None)
            }
            InstKind::GlobalAddr { dst, global } => {
                let known = &self.module.globals[*global];
                // A linker script may place an array of unknown length over other variables.
                let is_symbol = known.linkage == Linkage::Undefined && known.size == 0 && known.function.is_none();
                let value = match is_symbol {
                    true => AbstractValue::top(Ty::Ptr),
                    false => AbstractValue::Ptr(AbstractPointer::start(Base::Global(*global))),
                };
                state.set(*dst, value, None);
            }
            InstKind::PtrAdd { dst, base, offset } => {
                let by = state.value(*offset).facts();
                let value = state.value(*base).pointer().advanced(&by, |base| self.size(base));
                let same = by.singleton() == Some(0);
                state.set(*dst, AbstractValue::Ptr(value), as_reg(*base).filter(|_| same).map(Origin::Copy));
            }
            InstKind::PtrDiff { dst, .. } => state.set(*dst, AbstractValue::top(self.reg_ty(*dst)), None),
            InstKind::Load { dst, addr } => {
                assume_not_null(state, *addr)?;
                let (value, cell) = self.read(state, &state.value(*addr).pointer(), self.reg_ty(*dst));
                state.set(*dst, value, cell.map(Origin::Cell));
            }
            InstKind::Store { addr, value } => {
                assume_not_null(state, *addr)?;
                let bytes = self.ty(*value).bytes();
                self.write(state, *addr, u64::from(bytes), Some(state.value(*value)));
            }
            InstKind::MemCopy { dst, size, .. } | InstKind::MemSet { dst, size, .. } => {
                let size = state.value(*size).facts();
                self.write(state, *dst, size.unsigned.1, None);
            }
            InstKind::SlotBegin { slot } | InstKind::SlotEnd { slot } => {
                let base = Base::Slot(*slot);
                state.forget(|cell| cell.base == base);
            }
            InstKind::Point { .. } => {}
            InstKind::Call { dst, .. } => {
                self.havoc(state);
                if let Some(dst) = dst {
                    // The callee may return nothing.
                    state.assign(*dst, AbstractValue::top(self.reg_ty(*dst)), false, None);
                }
            }
            InstKind::Builtin { dst, builtin, args } => self.step_builtin(state, *dst, *builtin, args)?,
        }
        Ok(())
    }

    fn step_bin(&self, state: &mut AbstractState, dst: Reg, op: BinOp, a: Operand, b: Operand) -> Result<(), Dead> {
        if divides(op) {
            let zero = Operand::Const(self.ty(b), 0);
            state.assume_cmp(CmpOp::Ne, b, zero, true)?;
        }
        let (x, y) = (state.value(a).facts(), state.value(b).facts());
        let value = binary(op, &x, &y, is_same(a, b), self.reg_ty(dst).bits());
        let origin = match (op, a, b) {
            (BinOp::Add, Operand::Reg(from), Operand::Const(_, amount))
            | (BinOp::Add, Operand::Const(_, amount), Operand::Reg(from)) => Some(Origin::Plus(from, amount)),
            (BinOp::Sub, Operand::Reg(from), Operand::Const(ty, amount)) => {
                Some(Origin::Plus(from, mask(amount.wrapping_neg(), ty.bits())))
            }
            _ => None,
        };
        state.set(dst, AbstractValue::Int(value), origin);
        Ok(())
    }

    fn step_builtin(
        &self,
        state: &mut AbstractState,
        dst: Option<Reg>,
        builtin: Builtin,
        args: &[Operand],
    ) -> Result<(), Dead> {
        if may_fail(builtin)
            && let Some(number) = self.module.error_number()
        {
            state.forget(|cell| cell.base == Base::Global(number));
        }
        match builtin {
            Builtin::Exit | Builtin::Abort | Builtin::Hang => return Err(Dead),
            Builtin::Assume | Builtin::Assert => {
                if let Some(cond) = args.first() {
                    state.assume(*cond, true)?;
                }
            }
            Builtin::FreshInt(_)
            | Builtin::CalledAsSpecified
            | Builtin::RecordEffect(_)
            | Builtin::ObserveMember
            | Builtin::CastPointee
            | Builtin::Refresh
            | Builtin::Unspecified
            | Builtin::ObjectSize
            | Builtin::Write
            | Builtin::ReadByte
            | Builtin::Math(..)
            | Builtin::ParseFloat(_) => {}
            Builtin::MakeSymbolic(_)
            | Builtin::RunOnly
            | Builtin::MayWrite
            | Builtin::HavocPointee
            | Builtin::Called
            | Builtin::Allocate
            | Builtin::ZeroUninitialised => {
                self.havoc(state);
            }
            // Neither of them writes memory that the program can read.
            Builtin::Java(_) => {}
            Builtin::C(builtin) => match c::effect(builtin) {
                c::CBuiltinEffect::Ends => return Err(Dead),
                c::CBuiltinEffect::Result => {}
                c::CBuiltinEffect::Memory => self.havoc(state),
            },
        }
        if let Some(dst) = dst {
            state.assign(dst, AbstractValue::top(self.reg_ty(dst)), false, None);
        }
        Ok(())
    }

    /// Returns the truth value of a comparison.
    pub fn compare(&self, op: CmpOp, a: &AbstractValue, b: &AbstractValue, same: bool) -> AbstractValue {
        let truth = match (a, b) {
            (AbstractValue::Int(_), AbstractValue::Int(_)) if same => {
                Some(matches!(op, CmpOp::Eq | CmpOp::Ule | CmpOp::Sle))
            }
            (AbstractValue::Int(x), AbstractValue::Int(y)) if x.width == y.width => interval_domain::decide(op, x, y),
            (AbstractValue::Ptr(x), AbstractValue::Ptr(y)) => {
                let null = |pointer: &AbstractPointer| *pointer == AbstractPointer::NULL;
                let equal = match (null(x), null(y)) {
                    (true, _) => y.equals_null(),
                    (_, true) => x.equals_null(),
                    _ => None,
                };
                match op {
                    CmpOp::Eq => equal,
                    CmpOp::Ne => equal.map(|equal| !equal),
                    _ => None,
                }
            }
            _ => None,
        };
        AbstractValue::Int(truth.map_or(Facts::top(1), |truth| Facts::constant(1, u64::from(truth))))
    }

    /// Returns the feasible outgoing edges of a block.
    pub fn edges(&self, state: AbstractState, end: &TermKind) -> Vec<Edge> {
        match end {
            TermKind::Jump(target) => vec![Edge { target: *target, outcome: None, state }],
            TermKind::Branch { cond, then_block, else_block, .. } => {
                let mut edges = Vec::new();
                for (target, truth) in [(*then_block, true), (*else_block, false)] {
                    let mut state = state.clone();
                    if state.assume(*cond, truth).is_ok() {
                        edges.push(Edge { target, outcome: Some(truth), state });
                    }
                }
                edges
            }
            TermKind::Switch { value, arms, default, .. } => self.switch(&state, *value, arms, *default),
            TermKind::Catch { thrown, handler, next } => {
                // Any call of the block may return or throw: its result is unknown on both edges.
                let mut caught = state.clone();
                caught.assign(*thrown, AbstractValue::top(self.reg_ty(*thrown)), true, None);
                let on = Edge { target: *next, outcome: None, state };
                vec![on, Edge { target: *handler, outcome: None, state: caught }]
            }
            TermKind::Return(_) | TermKind::Throw(_) | TermKind::Unsupported(_) | TermKind::Unreachable => Vec::new(),
        }
    }

    /// Returns one edge for every target that some value selects.
    fn switch(&self, state: &AbstractState, value: Operand, arms: &[SwitchArm], default: BlockId) -> Vec<Edge> {
        let known = state.value(value).facts();
        let bits = known.width;
        let mut ways: Vec<(BlockId, Facts)> = Vec::new();
        let mut add = |target: BlockId, facts: Facts| match ways.iter_mut().find(|(known, _)| *known == target) {
            Some((_, all)) => *all = all.join(&facts),
            None => ways.push((target, facts)),
        };
        let in_arm = |value: u64| arms.iter().find(|arm| arm.holds(value, bits)).map(|arm| arm.target);
        let (low, high) = known.unsigned;
        if high.wrapping_sub(low) < MAX_SWITCH_VALUES {
            for value in (low..=high).filter(|value| known.admits(*value)) {
                add(in_arm(value).unwrap_or(default), Facts::constant(bits, value));
            }
        } else {
            for arm in arms {
                let range = match arm.signed {
                    true => Facts::signed_between(bits, sign_extend(arm.low, bits), sign_extend(arm.high, bits)),
                    false => Facts::between(bits, arm.low, arm.high),
                };
                let here = known.meet(&range);
                if !here.is_empty() {
                    add(arm.target, here);
                }
            }
            add(default, known);
        }
        let mut edges = Vec::new();
        for (target, facts) in ways {
            let mut state = state.clone();
            if state.assume_facts(value, &facts).is_ok() {
                edges.push(Edge { target, outcome: None, state });
            }
        }
        edges
    }
}

/// Control continues behind an access only if the address is not null.
fn assume_not_null(state: &mut AbstractState, addr: Operand) -> Result<(), Dead> {
    if is_zero(addr) {
        return Err(Dead);
    }
    state.assume_cmp(CmpOp::Ne, addr, Operand::Const(Ty::Ptr, 0), true)
}

pub(crate) fn divides(op: BinOp) -> bool {
    matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem)
}

/// Returns the possible values of `a op b`; `same` if both are the same register.
pub(crate) fn binary(op: BinOp, a: &Facts, b: &Facts, same: bool, bits: u8) -> Facts {
    if a.width != bits || b.width != bits {
        return Facts::top(bits);
    }
    if same && matches!(op, BinOp::Sub | BinOp::Xor) {
        return Facts::constant(bits, 0);
    }
    interval_domain::bin(op, a, b)
}

/// Returns the possible values of a conversion.
pub(crate) fn cast(op: CastOp, value: &AbstractValue, to: Ty) -> AbstractValue {
    let facts = value.facts();
    match (op, to) {
        (CastOp::Zext, Ty::Int(bits)) if bits >= facts.width => AbstractValue::Int(interval_domain::zext(&facts, bits)),
        (CastOp::Sext, Ty::Int(bits)) if bits >= facts.width => AbstractValue::Int(interval_domain::sext(&facts, bits)),
        (CastOp::Trunc | CastOp::PtrToInt, Ty::Int(bits)) if bits <= facts.width => {
            AbstractValue::Int(interval_domain::trunc(&facts, bits))
        }
        (CastOp::IntToPtr, Ty::Ptr) if facts.singleton() == Some(0) => AbstractValue::Ptr(AbstractPointer::NULL),
        (_, to) => AbstractValue::top(to),
    }
}

fn as_reg(operand: Operand) -> Option<Reg> {
    match operand {
        Operand::Reg(reg) => Some(reg),
        Operand::Const(..) => None,
    }
}

fn is_same(a: Operand, b: Operand) -> bool {
    as_reg(a).is_some() && a == b
}
