//! Facts about a function before it runs: slots that do not escape, sizes of known objects, contents of constant
//! globals, constants in its code.

use crate::prover::abstract_state::{AbstractCell, AbstractState};
use crate::prover::abstract_value::{AbstractPointer, AbstractValue, Base, PointsTo};
use crate::prover::dead_edges::DeadEdges;
use std::collections::BTreeSet;
use touchstone_base::Id;
use touchstone_ir::{
    Builtin, Function, GlobalId, Init, InstKind, Linkage, Module, Operand, Reg, SlotId, TermKind, Ty, sign_extend,
};
use touchstone_solver::Facts;

/// The maximum size of a constant table that is read.
const MAX_TABLE_BYTES: u64 = 1 << 14;
/// The maximum number of possible offsets of a table access.
const MAX_OFFSETS: u64 = 4096;

/// A function with its facts.
pub(crate) struct FunctionFacts<'m> {
    pub module: &'m Module,
    pub function: &'m Function,
    /// The number of bytes behind each parameter of the function under test, if it is certain.
    params: Vec<Option<u64>>,
    /// Globals that may change.
    inputs: &'m BTreeSet<GlobalId>,
    /// For every register the slots that a pointer in it may be derived from.
    derived_slots: Vec<BTreeSet<SlotId>>,
    /// Slots that escape.
    escaped: BTreeSet<SlotId>,
    /// Constants to which bounds are widened, ascending.
    pub landmarks: Vec<i128>,
    /// Outcomes of branches that no run takes.
    pub dead: DeadEdges,
}

impl<'m> FunctionFacts<'m> {
    pub fn new(
        module: &'m Module,
        function: &'m Function,
        inputs: &'m BTreeSet<GlobalId>,
        params: Vec<Option<u64>>,
    ) -> FunctionFacts<'m> {
        let derived_slots = derived_slots(function);
        let escaped = escaped(function, &derived_slots);
        let (landmarks, dead) = (landmarks(function), DeadEdges::new());
        FunctionFacts { module, function, params, inputs, derived_slots, escaped, landmarks, dead }
    }

    /// Returns true if a slot's lifetime may end before its frame's.
    pub fn ends_within(&self, slot: SlotId) -> bool {
        let mut insts = self.function.blocks.values().flat_map(|block| &block.insts);
        insts.any(|inst| inst.kind == InstKind::SlotEnd { slot })
    }

    /// Returns the minimum size of an object in bytes.
    pub fn size(&self, base: Base) -> Option<u64> {
        match base {
            Base::Slot(slot) => Some(self.function.slots[slot].size),
            Base::Global(global) => {
                let global = &self.module.globals[global];
                (global.linkage != Linkage::Undefined).then_some(global.size)
            }
            Base::Param(index) => self.params.get(index).copied().flatten(),
        }
    }

    pub fn ty(&self, operand: Operand) -> Ty {
        match operand {
            Operand::Reg(reg) => self.reg_ty(reg),
            Operand::Const(ty, _) => ty,
        }
    }

    pub fn reg_ty(&self, reg: Reg) -> Ty {
        self.function.regs[reg].ty
    }

    /// Returns true if a global always holds its initial value.
    pub fn is_fixed(&self, id: GlobalId) -> bool {
        let global = &self.module.globals[id];
        let never_written = match global.linkage {
            Linkage::Undefined => false,
            Linkage::Local | Linkage::Literal => global.constant,
            Linkage::External | Linkage::Internal => global.constant || !self.inputs.contains(&id),
        };
        never_written && global.init.is_some()
    }

    /// Returns true if an access of this many bytes is certainly in bounds of its object.
    pub fn is_inside(&self, base: Base, offset: &Facts, bytes: u64) -> bool {
        let end = offset.unsigned.1.checked_add(bytes);
        !offset.is_empty() && matches!((self.size(base), end), (Some(size), Some(end)) if end <= size)
    }

    /// Returns the value of a read, and the memory cell that it reads.
    pub fn read(
        &self,
        state: &AbstractState,
        pointer: &AbstractPointer,
        ty: Ty,
    ) -> (AbstractValue, Option<AbstractCell>) {
        let PointsTo::Known(base, offset) = pointer.object else { return (AbstractValue::top(ty), None) };
        let cell = offset.singleton().map(|offset| AbstractCell { base, offset, bytes: ty.bytes() });
        if let Some(known) = cell.and_then(|cell| state.cell(&cell))
            && known.fits(ty)
        {
            return (known, cell);
        }
        let fixed = match (base, ty) {
            (Base::Global(global), Ty::Int(bits)) if self.is_fixed(global) => self.table(global, &offset, bits),
            _ => None,
        };
        (fixed.map_or(AbstractValue::top(ty), AbstractValue::Int), cell)
    }

    /// Returns the possible contents of a constant global at these offsets.
    fn table(&self, id: GlobalId, offset: &Facts, bits: u8) -> Option<Facts> {
        let global = &self.module.globals[id];
        let bytes = u64::from(bits.div_ceil(8));
        let last = global.size.checked_sub(bytes)?.min(offset.unsigned.1);
        let first = offset.unsigned.0;
        if global.size > MAX_TABLE_BYTES || first > last || last - first > MAX_OFFSETS {
            return None;
        }
        let mut content: Vec<Option<u8>> = vec![Some(0); global.size as usize];
        for piece in global.init.iter().flatten() {
            let (from, values): (u64, Vec<Option<u8>>) = match piece {
                Init::Bytes { offset, bytes } => (*offset, bytes.iter().copied().map(Some).collect()),
                Init::GlobalAddr { offset, .. } => (*offset, vec![None; 8]),
            };
            let from = usize::try_from(from).ok()?;
            for (cell, value) in content.get_mut(from..)?.iter_mut().zip(values) {
                *cell = value;
            }
        }
        let mut all: Option<Facts> = None;
        for at in (first..=last).filter(|at| offset.admits(*at)) {
            let mut value = 0;
            for index in (0..bytes).rev() {
                value = value << 8 | u64::from(content[(at + index) as usize]?);
            }
            let one = Facts::constant(bits, touchstone_ir::mask(value, bits));
            all = Some(all.map_or(one, |all| all.join(&one)));
        }
        all
    }

    /// Writes up to `bytes` bytes through a pointer; if the location is unique, it holds `value` afterwards.
    pub fn write(&self, state: &mut AbstractState, addr: Operand, bytes: u64, value: Option<AbstractValue>) {
        let pointer = state.value(addr).pointer();
        match pointer.object {
            PointsTo::None => {}
            PointsTo::Known(base @ (Base::Slot(_) | Base::Global(_)), offset) => {
                let end = offset.unsigned.1.saturating_add(bytes);
                state.forget_range(base, offset.unsigned.0, end);
                if let Base::Global(_) = base {
                    state.forget(|cell| matches!(cell.base, Base::Param(_)));
                }
                if let (Some(offset), Some(value)) = (offset.singleton(), value) {
                    state.set_cell(AbstractCell { base, offset, bytes: bytes as u8 }, value);
                }
            }
            PointsTo::Known(Base::Param(_), _) | PointsTo::Any => {
                let none = BTreeSet::new();
                let own = match addr {
                    Operand::Reg(reg) => &self.derived_slots[reg.index()],
                    Operand::Const(..) => &none,
                };
                state.forget(|cell| {
                    self.is_shared(cell) || matches!(cell.base, Base::Slot(slot) if own.contains(&slot))
                });
            }
        }
    }

    /// Havocs shared memory after a call.
    pub fn havoc(&self, state: &mut AbstractState) {
        state.forget(|cell| self.is_shared(cell));
    }

    /// Returns true if other code may write a cell.
    fn is_shared(&self, cell: &AbstractCell) -> bool {
        match cell.base {
            Base::Slot(slot) => self.escaped.contains(&slot),
            Base::Global(_) | Base::Param(_) => true,
        }
    }
}

/// Returns for every register the slots that a pointer in it may be derived from, flow-insensitively.
pub(crate) fn derived_slots(function: &Function) -> Vec<BTreeSet<SlotId>> {
    let mut made: Vec<BTreeSet<SlotId>> = vec![BTreeSet::new(); function.regs.len()];
    loop {
        let mut changed = false;
        for inst in function.blocks.values().flat_map(|block| &block.insts) {
            let (dst, from) = match &inst.kind {
                InstKind::SlotAddr { dst, slot } => (*dst, BTreeSet::from([*slot])),
                InstKind::Copy { dst, src: Operand::Reg(from) }
                | InstKind::PtrAdd { dst, base: Operand::Reg(from), .. } => (*dst, made[from.index()].clone()),
                _ => continue,
            };
            let known = &mut made[dst.index()];
            let before = known.len();
            known.extend(from);
            changed |= known.len() != before;
        }
        if !changed {
            return made;
        }
    }
}

/// Returns the slots with an address that is stored, passed, returned or converted to an integer.
pub(crate) fn escaped(function: &Function, made: &[BTreeSet<SlotId>]) -> BTreeSet<SlotId> {
    let mut escaped = BTreeSet::new();
    let mut leaves = |operand: &Operand| {
        if let Operand::Reg(reg) = operand {
            escaped.extend(made[reg.index()].iter().copied());
        }
    };
    for block in function.blocks.values() {
        for inst in &block.insts {
            match &inst.kind {
                // The analysis tracks the address, or it is only read.
                InstKind::Copy { .. }
                | InstKind::PtrAdd { .. }
                | InstKind::Cmp { .. }
                | InstKind::PtrDiff { .. }
                | InstKind::Load { .. }
                | InstKind::MemCopy { .. }
                | InstKind::MemSet { .. }
                | InstKind::SlotAddr { .. }
                | InstKind::GlobalAddr { .. }
                | InstKind::SlotBegin { .. }
                | InstKind::SlotEnd { .. }
                | InstKind::Builtin { builtin: Builtin::CastPointee, .. }
                | InstKind::Point { .. } => {}
                InstKind::Store { value, .. } => leaves(value),
                InstKind::Bin { .. }
                | InstKind::Cast { .. }
                | InstKind::Float { .. }
                | InstKind::Call { .. }
                | InstKind::Builtin { .. } => {
                    inst.kind.operands().iter().for_each(&mut leaves);
                }
            }
        }
        if let TermKind::Return(Some(operand)) | TermKind::Throw(operand) = &block.terminator.kind {
            leaves(operand);
        }
    }
    escaped
}

/// Returns the constants in the code, their neighbours, and the limits of the integer types.
fn landmarks(function: &Function) -> Vec<i128> {
    let mut marks = BTreeSet::from([-1, 0, 1]);
    for bits in [8, 16, 32, 64] {
        let half = 1i128 << (bits - 1);
        marks.extend([-half, half - 1, half, 2 * half - 1]);
    }
    let mut add = |value: u64, bits: u8| {
        for value in [i128::from(value), i128::from(sign_extend(value, bits))] {
            marks.extend([value - 1, value, value + 1]);
        }
    };
    for block in function.blocks.values() {
        let operands = block.insts.iter().flat_map(|inst| inst.kind.operands());
        for operand in operands.chain(block.terminator.kind.operands()) {
            if let Operand::Const(ty, value) = operand {
                add(value, ty.bits());
            }
        }
        if let TermKind::Switch { value, arms, .. } = &block.terminator.kind {
            let bits = match value {
                Operand::Reg(reg) => function.regs[*reg].ty.bits(),
                Operand::Const(ty, _) => ty.bits(),
            };
            for arm in arms {
                add(arm.low, bits);
                add(arm.high, bits);
            }
        }
    }
    marks.into_iter().collect()
}
