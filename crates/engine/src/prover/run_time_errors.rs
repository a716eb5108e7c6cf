//! Run-time errors that an instruction can raise in an abstract state.

use crate::prover::abstract_state::AbstractState;
use crate::prover::abstract_value::{AbstractPointer, Base, PointsTo};
use crate::prover::function_facts::FunctionFacts;
use crate::prover::transfer::divides;
use touchstone_ir::{Builtin, Callee, ErrorKind, Inst, InstKind, Linkage, Operand, TermKind, Ty};

/// The kind of an access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

impl FunctionFacts<'_> {
    /// Returns true if an instruction may end the path with this error. `copies`: some reachable code copies memory,
    /// undefined bytes included.
    pub fn may_fail(&self, state: &AbstractState, inst: &Inst, kind: ErrorKind, copies: bool) -> bool {
        let undefined = inst.kind.operands().into_iter().any(|operand| !state.is_defined(operand));
        let uninitialised = kind == ErrorKind::Uninitialised && undefined;
        let access = |addr: Operand, bytes: u64, what: Access| {
            self.access_fails(&state.value(addr).pointer(), bytes, what, kind)
        };
        match &inst.kind {
            InstKind::Copy { .. } => uninitialised,
            InstKind::SlotAddr { .. }
            | InstKind::GlobalAddr { .. }
            | InstKind::SlotBegin { .. }
            | InstKind::SlotEnd { .. }
            | InstKind::Point { .. } => false,
            InstKind::Bin { op, b, .. } => {
                let zero = kind == ErrorKind::DivisionByZero && divides(*op) && state.value(*b).facts().admits(0);
                uninitialised || zero
            }
            InstKind::Cmp { .. }
            | InstKind::Cast { .. }
            | InstKind::Float { .. }
            | InstKind::PtrAdd { .. }
            | InstKind::PtrDiff { .. } => uninitialised,
            InstKind::Call { callee: Callee::Direct(_), .. } => uninitialised,
            InstKind::Call { .. } => true,
            InstKind::Load { dst, addr } => {
                let ty = self.reg_ty(*dst);
                let unwritten = kind == ErrorKind::Uninitialised && !self.is_written(state, *addr, ty, copies);
                uninitialised || unwritten || access(*addr, u64::from(ty.bytes()), Access::Read)
            }
            InstKind::Store { addr, value } => {
                uninitialised || access(*addr, u64::from(self.ty(*value).bytes()), Access::Write)
            }
            InstKind::MemCopy { dst, src, size } => {
                let most = state.value(*size).facts().unsigned.1;
                let fails = access(*dst, most, Access::Write) || access(*src, most, Access::Read);
                kind == ErrorKind::Uninitialised || fails
            }
            InstKind::MemSet { dst, size, .. } => {
                uninitialised || access(*dst, state.value(*size).facts().unsigned.1, Access::Write)
            }
            InstKind::Builtin { builtin: Builtin::Assert, args, .. } => {
                let fails = args.first().is_none_or(|cond| state.value(*cond).facts().admits(0));
                uninitialised || (kind == ErrorKind::Assert && fails)
            }
            InstKind::Builtin { builtin: Builtin::CastPointee, .. } => false,
            InstKind::Builtin { .. } => true,
        }
    }

    /// Returns true if a terminator may end the path with this error.
    pub fn end_may_fail(&self, state: &AbstractState, end: &TermKind, kind: ErrorKind) -> bool {
        let undefined = end.operands().into_iter().any(|operand| !state.is_defined(operand));
        match kind {
            ErrorKind::Uninitialised => undefined,
            ErrorKind::Unreachable => *end == TermKind::Unreachable,
            _ => false,
        }
    }

    fn access_fails(&self, pointer: &AbstractPointer, bytes: u64, what: Access, kind: ErrorKind) -> bool {
        let any = pointer.object == PointsTo::Any;
        match kind {
            ErrorKind::NullPointer => pointer.zero || pointer.bare,
            ErrorKind::InvalidPointer => pointer.bare,
            // Known objects live as long as the frame, except for locals of blocks.
            ErrorKind::Dangling => match pointer.object {
                PointsTo::Known(Base::Slot(slot), _) => self.ends_within(slot),
                _ => any,
            },
            ErrorKind::OutOfBounds => match &pointer.object {
                PointsTo::None => false,
                PointsTo::Known(base, offset) => !self.is_inside(*base, offset, bytes),
                PointsTo::Any => true,
            },
            ErrorKind::ReadOnly if what == Access::Write => match pointer.object {
                PointsTo::None | PointsTo::Known(Base::Slot(_), _) => false,
                PointsTo::Known(Base::Global(global), _) => self.module.globals[global].constant,
                PointsTo::Known(Base::Param(_), _) | PointsTo::Any => true,
            },
            // Uninitialised reads are checked against the state.
            _ => false,
        }
    }

    /// Returns true if a read in bounds certainly finds initialised bytes.
    fn is_written(&self, state: &AbstractState, addr: Operand, ty: Ty, copies: bool) -> bool {
        let pointer = state.value(addr).pointer();
        let PointsTo::Known(base, _) = pointer.object else { return false };
        let (_, cell) = self.read(state, &pointer, ty);
        if cell.is_some_and(|cell| state.cell(&cell).is_some()) {
            return true;
        }
        match base {
            Base::Global(global) => {
                let linked = self.module.globals[global].linkage != Linkage::Undefined;
                self.is_fixed(global) || (linked && !copies)
            }
            Base::Slot(_) | Base::Param(_) => false,
        }
    }
}
