//! What is known of two versions at a pair of places: which registers are equal, and what memory may not be.

use super::memory_regions::Differing;
use std::collections::BTreeMap;
use touchstone_ir::{Operand, Reg};

/// Registers with equal values.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Equal {
    to_old: BTreeMap<Reg, Reg>,
    to_new: BTreeMap<Reg, Reg>,
}

impl Equal {
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

    /// Pairs of the new and the old version.
    pub fn pairs(&self) -> impl Iterator<Item = (Reg, Reg)> + '_ {
        self.to_old.iter().map(|(new, old)| (*new, *old))
    }

    /// What is equal here and there.
    pub fn meet(&mut self, other: &Equal) {
        self.to_old.retain(|new, old| other.to_old.get(new) == Some(old));
        self.to_new.retain(|old, new| other.to_new.get(old) == Some(new));
    }
}

/// What is known at a pair of places.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Known {
    pub equal: Equal,
    pub differing: Differing,
}
