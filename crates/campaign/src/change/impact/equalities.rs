//! The abstract state of the relational analysis at a pair of locations: which registers are equal, and which memory
//! may differ.

use super::memory_regions::DifferingRegions;
use std::collections::BTreeMap;
use touchstone_ir::{Operand, Reg};

/// A one-to-one relation between registers of the two versions that have equal values.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct EqualRegisters {
    to_old: BTreeMap<Reg, Reg>,
    to_new: BTreeMap<Reg, Reg>,
}

impl EqualRegisters {
    pub fn forget_old(&mut self, old: Reg) {
        if let Some(new) = self.to_new.remove(&old) {
            self.to_old.remove(&new);
        }
    }

    pub fn forget_new(&mut self, new: Reg) {
        if let Some(old) = self.to_old.remove(&new) {
            self.to_new.remove(&old);
        }
    }

    pub fn add(&mut self, old: Reg, new: Reg) {
        self.forget_old(old);
        self.forget_new(new);
        self.to_old.insert(new, old);
        self.to_new.insert(old, new);
    }

    pub fn operands(&self, old: Operand, new: Operand) -> bool {
        match (old, new) {
            (Operand::Reg(old), Operand::Reg(new)) => self.to_old.get(&new) == Some(&old),
            (old, new) => old == new,
        }
    }

    /// Returns the pairs as (new register, old register).
    pub fn pairs(&self) -> impl Iterator<Item = (Reg, Reg)> + '_ {
        self.to_old.iter().map(|(new, old)| (*new, *old))
    }

    /// Keeps the pairs (old register, new register) that satisfy a predicate.
    pub fn retain(&mut self, keep: impl Fn(Reg, Reg) -> bool) {
        self.to_old.retain(|new, old| keep(*old, *new));
        self.to_new.retain(|old, new| keep(*old, *new));
    }

    /// Keeps the pairs that both relations have.
    pub fn meet(&mut self, other: &EqualRegisters) {
        self.to_old.retain(|new, old| other.to_old.get(new) == Some(old));
        self.to_new.retain(|old, new| other.to_new.get(old) == Some(new));
    }
}

/// The abstract state at a pair of locations.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct RelationalState {
    pub equal: EqualRegisters,
    pub differing: DifferingRegions,
}
