//! Abstract states: the possible values of registers and memory at a location, and their refinement by conditions.
//!
//! Memory is tracked where it was written (or compared) at constant offsets of a known object; everything else is
//! unconstrained. A register also records its origin as long as it is valid, so that a condition on the register
//! refines the origin too.

use crate::prover::abstract_value::{AbstractPointer, AbstractValue, Base, is_zero};
use crate::prover::interval_domain;
use std::collections::BTreeMap;
use touchstone_base::Id;
use touchstone_ir::{BinOp, CmpOp, Function, Operand, Reg};
use touchstone_solver::Facts;

/// The maximum length of a chain of origins that a condition refines.
const MAX_ORIGIN_DEPTH: u32 = 12;

/// A scalar of a known object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct AbstractCell {
    pub base: Base,
    pub offset: u64,
    pub bytes: u8,
}

/// The origin of a register's value, while it is valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// A comparison.
    Cmp(CmpOp, Operand, Operand),
    /// A copy of another register.
    Copy(Reg),
    /// An extension of another register.
    Extended(Reg),
    /// Another register plus a constant.
    Plus(Reg, u64),
    /// A memory cell.
    Cell(AbstractCell),
}

impl Origin {
    fn mentions(&self, reg: Reg) -> bool {
        match self {
            Origin::Cmp(_, a, b) => *a == Operand::Reg(reg) || *b == Operand::Reg(reg),
            Origin::Copy(from) | Origin::Extended(from) | Origin::Plus(from, _) => *from == reg,
            Origin::Cell(_) => false,
        }
    }
}

/// The possible values at a location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct AbstractState {
    regs: Vec<AbstractValue>,
    /// For every register, whether it is certainly defined.
    defined: Vec<bool>,
    cells: BTreeMap<AbstractCell, AbstractValue>,
    origins: BTreeMap<Reg, Origin>,
}

/// The marker for a contradiction: control does not get here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dead;

impl AbstractState {
    /// Returns the state in which nothing is known but that parameters are defined.
    pub fn unknown(function: &Function) -> AbstractState {
        let mut defined = vec![false; function.regs.len()];
        for param in &function.params {
            defined[param.reg.index()] = true;
        }
        AbstractState {
            regs: function.regs.values().map(|info| AbstractValue::top(info.ty)).collect(),
            defined,
            cells: BTreeMap::new(),
            origins: BTreeMap::new(),
        }
    }

    pub fn reg(&self, reg: Reg) -> AbstractValue {
        self.regs[reg.index()]
    }

    pub fn value(&self, operand: Operand) -> AbstractValue {
        match operand {
            Operand::Reg(reg) => self.reg(reg),
            Operand::Const(ty, value) => AbstractValue::constant(ty, value),
        }
    }

    pub fn is_defined(&self, operand: Operand) -> bool {
        match operand {
            Operand::Reg(reg) => self.defined[reg.index()],
            Operand::Const(..) => true,
        }
    }

    /// Assigns a value to a register.
    pub fn set(&mut self, reg: Reg, value: AbstractValue, origin: Option<Origin>) {
        let defined = true;
        self.assign(reg, value, defined, origin);
    }

    /// Assigns a value to a register, or makes it undefined.
    pub fn assign(&mut self, reg: Reg, value: AbstractValue, defined: bool, origin: Option<Origin>) {
        // A contradiction means that control does not get here; it must not be used as knowledge later.
        let fits = value.fits(self.ty_of(reg)) && !value.is_empty();
        self.regs[reg.index()] = if fits { value } else { AbstractValue::top(self.ty_of(reg)) };
        self.defined[reg.index()] = defined;
        self.origins.remove(&reg);
        self.origins.retain(|_, origin| !origin.mentions(reg));
        if let Some(origin) = origin
            && !origin.mentions(reg)
        {
            self.origins.insert(reg, origin);
        }
    }

    fn ty_of(&self, reg: Reg) -> touchstone_ir::Ty {
        match self.reg(reg) {
            AbstractValue::Int(facts) => touchstone_ir::Ty::Int(facts.width),
            AbstractValue::Ptr(_) => touchstone_ir::Ty::Ptr,
        }
    }

    // Memory.

    pub fn cell(&self, cell: &AbstractCell) -> Option<AbstractValue> {
        self.cells.get(cell).copied()
    }

    pub fn set_cell(&mut self, cell: AbstractCell, value: AbstractValue) {
        self.forget_range(cell.base, cell.offset, cell.offset.saturating_add(u64::from(cell.bytes)));
        if !value.is_empty() {
            self.cells.insert(cell, value);
        }
    }

    /// Forgets the bytes `from..to` of an object.
    pub fn forget_range(&mut self, base: Base, from: u64, to: u64) {
        self.forget(|cell| {
            cell.base == base && cell.offset < to && from < cell.offset.saturating_add(u64::from(cell.bytes))
        });
    }

    /// Forgets the cells that `which` selects.
    pub fn forget(&mut self, which: impl Fn(&AbstractCell) -> bool) {
        self.cells.retain(|cell, _| !which(cell));
        self.origins.retain(|_, origin| !matches!(origin, Origin::Cell(cell) if which(cell)));
    }

    // Joins.

    /// Joins two states; with landmarks, bounds that moved are widened to the next one.
    pub fn join(&self, other: &AbstractState, landmarks: Option<&[i128]>) -> AbstractState {
        let either = |a: &AbstractValue, b: &AbstractValue| match landmarks {
            Some(landmarks) => a.widen(b, landmarks),
            None => a.join(b),
        };
        let regs = self.regs.iter().zip(&other.regs);
        let regs = regs.map(|(a, b)| either(a, b).expect("invariant: a register has one type"));
        let cells = self.cells.iter().filter_map(|(cell, a)| {
            let b = other.cells.get(cell)?;
            Some((*cell, either(a, b)?))
        });
        let origins = self.origins.iter().filter(|(reg, origin)| other.origins.get(reg) == Some(origin));
        AbstractState {
            regs: regs.collect(),
            defined: self.defined.iter().zip(&other.defined).map(|(a, b)| *a && *b).collect(),
            cells: cells.collect(),
            origins: origins.map(|(reg, origin)| (*reg, *origin)).collect(),
        }
    }

    // Conditions.

    /// Refines the state to where a truth value is `truth`.
    pub fn assume(&mut self, cond: Operand, truth: bool) -> Result<(), Dead> {
        match cond {
            Operand::Const(_, value) => {
                if (value != 0) == truth {
                    Ok(())
                } else {
                    Err(Dead)
                }
            }
            Operand::Reg(reg) => {
                let facts = Facts::constant(self.reg(reg).facts().width, u64::from(truth));
                self.refine(reg, &facts, MAX_ORIGIN_DEPTH)
            }
        }
    }

    /// Refines the state to where an integer operand is one of these.
    pub fn assume_facts(&mut self, operand: Operand, facts: &Facts) -> Result<(), Dead> {
        match operand {
            Operand::Const(..) => {
                let known = self.value(operand).facts();
                if known.width == facts.width && known.meet(facts).is_empty() { Err(Dead) } else { Ok(()) }
            }
            Operand::Reg(reg) => self.refine(reg, facts, MAX_ORIGIN_DEPTH),
        }
    }

    /// Refines the state to where a comparison has this result.
    pub fn assume_cmp(&mut self, op: CmpOp, a: Operand, b: Operand, truth: bool) -> Result<(), Dead> {
        self.relate(op, a, b, truth, MAX_ORIGIN_DEPTH)
    }

    fn relate(&mut self, op: CmpOp, a: Operand, b: Operand, truth: bool, follow: u32) -> Result<(), Dead> {
        let (x, y) = (self.value(a), self.value(b));
        match (x, y) {
            (AbstractValue::Int(x), AbstractValue::Int(y)) if x.width == y.width => {
                let (x, y) = interval_domain::refine_by(op, &x, &y, truth);
                if x.is_empty() || y.is_empty() {
                    return Err(Dead);
                }
                for (operand, facts) in [(a, x), (b, y)] {
                    if let Operand::Reg(reg) = operand {
                        self.refine(reg, &facts, follow)?;
                    }
                }
                Ok(())
            }
            (AbstractValue::Ptr(_), AbstractValue::Ptr(_)) => {
                let null = match op {
                    CmpOp::Eq => truth,
                    CmpOp::Ne => !truth,
                    _ => return Ok(()),
                };
                match (a, b) {
                    (Operand::Reg(reg), zero) | (zero, Operand::Reg(reg)) if is_zero(zero) => {
                        self.refine_pointer(reg, null, follow)
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn refine(&mut self, reg: Reg, facts: &Facts, follow: u32) -> Result<(), Dead> {
        let AbstractValue::Int(known) = self.reg(reg) else { return Ok(()) };
        if known.width != facts.width {
            return Ok(());
        }
        let known = known.meet(facts);
        if known.is_empty() {
            return Err(Dead);
        }
        self.regs[reg.index()] = AbstractValue::Int(known);
        if follow == 0 {
            return Ok(());
        }
        match self.origins.get(&reg).copied() {
            None => Ok(()),
            Some(Origin::Copy(from)) => self.refine(from, &known, follow - 1),
            Some(Origin::Extended(from)) => {
                let width = self.reg(from).facts().width;
                self.refine(from, &interval_domain::trunc(&known, width), follow - 1)
            }
            Some(Origin::Plus(from, amount)) => {
                let before = interval_domain::bin(BinOp::Sub, &known, &Facts::constant(known.width, amount));
                self.refine(from, &before, follow - 1)
            }
            Some(Origin::Cell(cell)) => self.narrow_cell(cell, &known),
            Some(Origin::Cmp(op, a, b)) => match known.singleton() {
                Some(value) => self.relate(op, a, b, value != 0, follow - 1),
                None => Ok(()),
            },
        }
    }

    fn refine_pointer(&mut self, reg: Reg, null: bool, follow: u32) -> Result<(), Dead> {
        let AbstractValue::Ptr(known) = self.reg(reg) else { return Ok(()) };
        let known = AbstractValue::Ptr(known.refine_null(null));
        if known.is_empty() {
            return Err(Dead);
        }
        self.regs[reg.index()] = known;
        match self.origins.get(&reg).copied() {
            Some(Origin::Copy(from)) if follow > 0 => self.refine_pointer(from, null, follow - 1),
            Some(Origin::Cell(cell)) => {
                let before = self.cell(&cell).map_or(AbstractPointer::ANY, |value| value.pointer());
                self.cells.insert(cell, AbstractValue::Ptr(before.refine_null(null)));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Refines a memory cell, as an integer, to one of these.
    pub fn narrow_cell(&mut self, cell: AbstractCell, facts: &Facts) -> Result<(), Dead> {
        let known = match self.cell(&cell) {
            Some(AbstractValue::Int(known)) if known.width == facts.width => known.meet(facts),
            Some(_) => return Ok(()),
            None => *facts,
        };
        if known.is_empty() {
            return Err(Dead);
        }
        self.cells.insert(cell, AbstractValue::Int(known));
        Ok(())
    }
}
