//! Transfer functions of the relational walk: the effect of one instruction on the abstract state, executed by both
//! versions or by one of them.

use super::control_flow::VersionCfg;
use super::equalities::RelationalState;
use super::matching::CodeLocation;
use super::memory_regions::{DifferingRegions, Region, may_fail};
use super::relational_walk::{CallPair, Impact, LocationPair, PointEqualities, RelationalWalk};
use super::side_effects::Effects;
use std::collections::BTreeSet;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_ir::{
    BinOp, BuiltinEffect, Callee, CastOp, Expr, ExprKind, FuncId, InstKind, Operand, Point, Reg, SlotId,
};

/// How control continues behind an instruction that both versions execute.
pub(super) enum Continuation {
    /// In both versions.
    InBoth,
    /// Possibly in one version only.
    MaybeInOne,
}

/// The operands of an instruction that both versions execute.
struct OperandPairs {
    /// True if the results have one type.
    same_type: bool,
    /// For every operand: true if the values are equal.
    equal: Vec<bool>,
}

impl OperandPairs {
    /// Returns true if all operands are equal.
    fn all(&self) -> bool {
        self.same_type && self.equal.iter().all(|equal| *equal)
    }

    /// Returns true if the operand with this index is equal.
    fn equal(&self, index: usize) -> bool {
        self.same_type && self.equal.get(index) == Some(&true)
    }
}

impl<'m> RelationalWalk<'_, 'm> {
    /// Applies an instruction that only the old version executes; returns true if control may leave the function.
    pub(super) fn apply_old(&mut self, kind: &InstKind, known: &mut RelationalState) -> bool {
        let effects = self.versions.old.of(self.ids.0, kind);
        kind.dst().into_iter().for_each(|dst| known.equal.forget_old(dst));
        self.havoc_old(&effects, known);
        self.mark_separate_call(kind, true);
        effects.may_leave()
    }

    pub(super) fn apply_new(&mut self, kind: &InstKind, known: &mut RelationalState) -> bool {
        let effects = self.versions.new.of(self.ids.1, kind);
        kind.dst().into_iter().for_each(|dst| known.equal.forget_new(dst));
        self.havoc_new(&effects, known);
        self.mark_separate_call(kind, false);
        effects.may_leave()
    }

    fn havoc_old(&self, effects: &Effects, known: &mut RelationalState) {
        let (old, new) = (&self.versions.old, &self.versions.new);
        let slot = |slot: SlotId| self.slots.get(&slot).map(|slot| self.seen_by_both(new.slot(self.ids.1, *slot)));
        let writes = effects.writes.iter().filter_map(|region| self.versions.in_new_version(*region, slot));
        known.differing.extend(writes);
        self.mark_definedness(&effects.writes, old.module.has_classes(), known);
    }

    fn havoc_new(&self, effects: &Effects, known: &mut RelationalState) {
        known.differing.extend(effects.writes.iter().map(|region| self.seen_by_both(*region)));
        self.mark_definedness(&effects.writes, self.versions.new.module.has_classes(), known);
    }

    fn mark_definedness(&self, writes: &DifferingRegions, has_classes: bool, known: &mut RelationalState) {
        if !has_classes && writes.iter().any(|region| matches!(region, Region::Slot(_) | Region::Anything)) {
            known.differing.insert(Region::Definedness);
        }
    }

    /// Marks all functions that one version calls and the other does not: they are called at other times.
    fn mark_separate_call(&mut self, kind: &InstKind, old: bool) {
        let InstKind::Call { callee, .. } = kind else { return };
        let facts = if old { &self.versions.old } else { &self.versions.new };
        let called: BTreeSet<FuncId> = match callee {
            Callee::Direct(callee) => facts.calls.reachable_from(*callee),
            Callee::Indirect(_) => facts.module.functions.ids().collect(),
        };
        for id in called {
            let now = match old {
                true => self.versions.new.module.function_named(&facts.module.functions[id].name),
                false => Some(id),
            };
            self.impact.functions.extend(now);
        }
    }

    /// Applies an instruction that both versions execute.
    pub(super) fn execute(&mut self, (at, new): LocationPair, known: &mut RelationalState) -> Continuation {
        let before = &self.old.function.blocks[at.block].insts[at.index].kind;
        let now = &self.new.function.blocks[new.block].insts[new.index].kind;
        let operands = self.compare_operands(before, now, known);
        let (equal, continuation) = match (before, now) {
            (InstKind::Call { .. }, InstKind::Call { .. }) => self.call(before, now, &operands, known),
            (InstKind::Builtin { .. }, InstKind::Builtin { .. }) => self.builtin(before, now, operands.all(), known),
            (InstKind::Load { .. }, InstKind::Load { .. })
            | (InstKind::Store { .. }, InstKind::Store { .. })
            | (InstKind::MemCopy { .. }, InstKind::MemCopy { .. })
            | (InstKind::MemSet { .. }, InstKind::MemSet { .. }) => self.access(before, now, &operands, known),
            (InstKind::SlotBegin { .. }, InstKind::SlotBegin { .. })
            | (InstKind::SlotEnd { .. }, InstKind::SlotEnd { .. }) => {
                (self.slot_lifetime(before, now, known), Continuation::InBoth)
            }
            (InstKind::Point { .. }, InstKind::Point { .. }) => {
                self.record_equalities(new, known);
                (self.evaluates_same(before, now, known), Continuation::InBoth)
            }
            (InstKind::Bin { op: was, .. }, InstKind::Bin { op, .. }) => {
                let divides = |op: &BinOp| matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem);
                let same_divisor = divides(was) && divides(op) && operands.equal(1);
                let fails = self.may_fail(before, now);
                (was == op && operands.all(), continuation(fails && !same_divisor))
            }
            _ => match self.computes_same(before, now, &operands) {
                Some(equal) => (equal, Continuation::InBoth),
                None => {
                    self.havoc_both(before, now, known);
                    (false, Continuation::MaybeInOne)
                }
            },
        };
        if !equal {
            self.mark_affected(new);
        }
        match (equal, before.dst(), now.dst()) {
            (true, Some(old), Some(new)) => known.equal.add(old, new),
            (_, old, new) => {
                old.into_iter().for_each(|old| known.equal.forget_old(old));
                new.into_iter().for_each(|new| known.equal.forget_new(new));
            }
        }
        continuation
    }

    fn compare_operands(&self, before: &InstKind, now: &InstKind, known: &RelationalState) -> OperandPairs {
        let ty = |flow: &VersionCfg<'_>, kind: &InstKind| kind.dst().map(|dst| flow.function.regs[dst].ty);
        let equal = match (before.operands(), now.operands()) {
            (one, other) if one.len() == other.len() => {
                one.into_iter().zip(other).map(|(old, new)| known.equal.operands(old, new)).collect()
            }
            (one, other) => vec![false; one.len().max(other.len())],
        };
        OperandPairs { same_type: ty(&self.old, before) == ty(&self.new, now), equal }
    }

    /// Returns true if two instructions without side effects compute the same value, or `None` if they are of different
    /// kinds.
    fn computes_same(&self, before: &InstKind, now: &InstKind, operands: &OperandPairs) -> Option<bool> {
        Some(match (before, now) {
            (InstKind::SlotAddr { slot: was, .. }, InstKind::SlotAddr { slot, .. }) => {
                self.slots.get(was) == Some(slot)
            }
            (InstKind::GlobalAddr { global: was, .. }, InstKind::GlobalAddr { global, .. }) => {
                self.versions.is_same_global(*was, *global)
            }
            (InstKind::Cmp { op: was, .. }, InstKind::Cmp { op, .. }) => was == op && operands.all(),
            // Addresses have other numeric values in every build.
            (InstKind::Cast { op: was, .. }, InstKind::Cast { op, .. }) => {
                was == op && *op != CastOp::PtrToInt && operands.all() && self.same_sources(before, now)
            }
            (InstKind::Float { op: was, format: from, .. }, InstKind::Float { op, format, .. }) => {
                was == op && from == format && operands.all()
            }
            (InstKind::Copy { .. }, InstKind::Copy { .. })
            | (InstKind::PtrAdd { .. }, InstKind::PtrAdd { .. })
            | (InstKind::PtrDiff { .. }, InstKind::PtrDiff { .. }) => operands.all(),
            _ => return None,
        })
    }

    /// Applies a memory access of both versions; returns whether it has equal results.
    fn access(
        &mut self,
        before: &InstKind,
        now: &InstKind,
        operands: &OperandPairs,
        known: &mut RelationalState,
    ) -> (bool, Continuation) {
        let (all, fails) = (operands.all(), self.may_fail(before, now));
        match now {
            InstKind::Load { addr, dst } => {
                let bytes = self.new.function.regs[*dst].ty.bytes().into();
                let differs = self.differs(&self.versions.new.regions(self.ids.1, *addr, Some(bytes)), known);
                let unwritten = differs && known.differing.contains(&Region::Definedness);
                (all && !differs, continuation(!operands.equal(0) && fails || unwritten))
            }
            InstKind::Store { addr, value } if all && self.same_width(before, now) => {
                let bytes: u64 = self.new.function.operand_ty(*value).bytes().into();
                let whole = self.versions.new.whole_variable(self.ids.1, *addr, bytes);
                let whole = whole.map(|region| self.seen_by_both(region));
                if let Some(region) = whole.filter(|region| *region != Region::Anything) {
                    known.differing.remove(&region);
                }
                (true, Continuation::InBoth)
            }
            InstKind::Store { .. } => {
                if !is_injected(Fault::KeptEqualities) {
                    self.havoc_both(before, now, known);
                }
                (false, continuation(fails && !(operands.equal(0) && self.same_width(before, now))))
            }
            InstKind::MemCopy { src, .. } => {
                let differs = self.differs(&self.versions.new.regions(self.ids.1, *src, None), known);
                if !all || differs {
                    self.havoc_both(before, now, known);
                }
                (all && !differs, continuation(!all && fails))
            }
            _ => {
                if !all {
                    self.havoc_both(before, now, known);
                }
                (all, continuation(fails && !(operands.equal(0) && operands.equal(2))))
            }
        }
    }

    /// Applies the begin or the end of a local variable; returns true if it is the same variable.
    fn slot_lifetime(&mut self, before: &InstKind, now: &InstKind, known: &mut RelationalState) -> bool {
        let slot = |kind: &InstKind| match kind {
            InstKind::SlotBegin { slot } | InstKind::SlotEnd { slot } => Some(*slot),
            _ => None,
        };
        let (Some(was), Some(became)) = (slot(before), slot(now)) else { return false };
        if self.slots.get(&was) != Some(&became) {
            self.havoc_both(before, now, known);
            return false;
        }
        let region = self.seen_by_both(self.versions.new.slot(self.ids.1, became));
        if let (InstKind::SlotBegin { .. }, Region::Slot(_)) = (now, region) {
            known.differing.remove(&region);
        }
        true
    }

    fn may_fail(&self, before: &InstKind, now: &InstKind) -> bool {
        let (old, new) = (&self.versions.old, &self.versions.new);
        may_fail(old.module, self.old.function, &old.addresses[&self.ids.0], before)
            || may_fail(new.module, self.new.function, &new.addresses[&self.ids.1], now)
    }

    fn same_width(&self, before: &InstKind, now: &InstKind) -> bool {
        let width = |flow: &VersionCfg<'_>, kind: &InstKind| match kind {
            InstKind::Store { value, .. } => Some(flow.function.operand_ty(*value)),
            _ => None,
        };
        width(&self.old, before) == width(&self.new, now)
    }

    fn same_sources(&self, before: &InstKind, now: &InstKind) -> bool {
        let types = |flow: &VersionCfg<'_>, kind: &InstKind| -> Vec<_> {
            kind.operands().iter().map(|operand| flow.function.operand_ty(*operand)).collect()
        };
        types(&self.old, before) == types(&self.new, now)
    }

    /// Returns true if one of these regions may differ.
    fn differs(&self, regions: &DifferingRegions, known: &RelationalState) -> bool {
        let may_overlap =
            |region: Region| known.differing.iter().any(|other| self.versions.new.may_overlap(region, *other));
        regions.iter().any(|region| may_overlap(self.seen_by_both(*region)))
    }

    /// Returns a region as both versions see it: a slot that escapes in one of them may be written through pointers
    /// there.
    fn seen_by_both(&self, region: Region) -> Region {
        match region {
            Region::Slot(slot) if self.escaping.contains(&slot) => Region::Anything,
            other => other,
        }
    }

    fn havoc_both(&mut self, before: &InstKind, now: &InstKind, known: &mut RelationalState) {
        let effects = self.versions.old.of(self.ids.0, before);
        self.havoc_old(&effects, known);
        let effects = self.versions.new.of(self.ids.1, now);
        self.havoc_new(&effects, known);
    }

    fn call(
        &mut self,
        before: &InstKind,
        now: &InstKind,
        operands: &OperandPairs,
        known: &mut RelationalState,
    ) -> (bool, Continuation) {
        let direct = |kind: &InstKind| match kind {
            InstKind::Call { callee: Callee::Direct(callee), .. } => Some(*callee),
            _ => None,
        };
        if let (Some(old), Some(new)) = (direct(before), direct(now))
            && operands.same_type
            && self.versions.old_of(new) == Some(old)
            && self.new_params(new) == operands.equal.len()
        {
            let own = |region: &Region| matches!(region, Region::Slot(_));
            let (slots, differing): (DifferingRegions, DifferingRegions) =
                known.differing.iter().partition(|region| own(region));
            let outcome = self.callees.outcome(CallPair { old, new, args: operands.equal.clone(), differing });
            known.differing = outcome.differing;
            known.differing.extend(slots);
            // Without a handler the function ends here, in this state.
            self.outcome.differing.extend(&known.differing);
            return (outcome.result && outcome.same_exit, continuation(!outcome.same_exit || !outcome.thrown));
        }
        self.havoc_both(before, now, known);
        self.mark_separate_call(before, true);
        self.mark_separate_call(now, false);
        let may_leave =
            self.versions.old.of(self.ids.0, before).may_leave() || self.versions.new.of(self.ids.1, now).may_leave();
        (false, continuation(may_leave))
    }

    fn new_params(&self, func: FuncId) -> usize {
        self.versions.new.module.functions[func].params.len()
    }

    fn builtin(
        &mut self,
        before: &InstKind,
        now: &InstKind,
        all: bool,
        known: &mut RelationalState,
    ) -> (bool, Continuation) {
        let (InstKind::Builtin { builtin: was, .. }, InstKind::Builtin { builtin, .. }) = (before, now) else {
            return (false, Continuation::MaybeInOne);
        };
        let memory = known.differing.iter().any(|region| !matches!(region, Region::Environment | Region::Slot(_)));
        let world = known.differing.contains(&Region::Environment);
        let same = was == builtin && all;
        let equal = same
            && match builtin.effect() {
                BuiltinEffect::Nothing | BuiltinEffect::Ends => true,
                BuiltinEffect::Environment => !world,
                BuiltinEffect::OutputsMemory => !world && !memory,
                BuiltinEffect::Anything => known.differing.is_empty(),
            };
        if equal {
            return (true, Continuation::InBoth);
        }
        self.havoc_both(before, now, known);
        let talks = same && builtin.effect() == BuiltinEffect::Environment;
        let may_leave =
            self.versions.old.of(self.ids.0, before).may_leave() || self.versions.new.of(self.ids.1, now).may_leave();
        (false, continuation(may_leave && !talks))
    }

    /// Records the equalities at a point.
    fn record_equalities(&mut self, at: CodeLocation, known: &RelationalState) {
        let name = |flow: &VersionCfg<'_>, reg: Reg| flow.function.regs[reg].name.clone();
        let pairs = known.equal.pairs().filter(|(new, old)| name(&self.new, *new) == name(&self.old, *old));
        let regs = pairs.map(|(new, _)| new).collect();
        let memory = known.differing.iter().all(|region| *region == Region::Environment);
        let mut noted = Impact::default();
        noted.points.insert((self.ids.1, at), PointEqualities { regs, memory });
        self.impact.add(noted);
    }

    /// Returns true if two points evaluate the same expressions over equal values.
    fn evaluates_same(&self, before: &InstKind, now: &InstKind, known: &RelationalState) -> bool {
        let (InstKind::Point { point: was }, InstKind::Point { point }) = (before, now) else { return false };
        let (was, point) = (&self.old.function.points[*was], &self.new.function.points[*point]);
        if std::mem::discriminant(&was.kind) != std::mem::discriminant(&point.kind) || was.text != point.text {
            return false;
        }
        let exprs = |point: &'m Point| -> Vec<&'m Expr> {
            point.kind.exprs().into_iter().chain(point.variables.iter().flat_map(|all| all.iter())).collect()
        };
        let (one, other) = (exprs(was), exprs(point));
        one.len() == other.len() && one.into_iter().zip(other).all(|(old, new)| self.equal_expressions(old, new, known))
    }

    fn equal_expressions(&self, old: &Expr, new: &Expr, known: &RelationalState) -> bool {
        if old.ty != new.ty || old.signed != new.signed {
            return false;
        }
        let kinds = match (&old.kind, &new.kind) {
            (ExprKind::Const(a), ExprKind::Const(b)) => a == b,
            (ExprKind::Reg(a), ExprKind::Reg(b)) => known.equal.operands(Operand::Reg(*a), Operand::Reg(*b)),
            (ExprKind::Slot(a), ExprKind::Slot(b)) => self.slots.get(a) == Some(b),
            (ExprKind::Global(a), ExprKind::Global(b)) => self.versions.is_same_global(*a, *b),
            // The address is not analysed: any difference in memory counts.
            (ExprKind::Load(_), ExprKind::Load(_)) => known.differing.is_empty(),
            (ExprKind::Bin(a, ..), ExprKind::Bin(b, ..)) => a == b,
            (ExprKind::Cmp(a, ..), ExprKind::Cmp(b, ..)) => a == b,
            (ExprKind::Cast(a, _), ExprKind::Cast(b, _)) => a == b,
            (ExprKind::Float(a, from, _), ExprKind::Float(b, to, _)) => a == b && from == to,
            (ExprKind::AsFloat(a, _), ExprKind::AsFloat(b, _)) => a == b,
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        };
        let (one, other) = (old.parts(), new.parts());
        kinds
            && one.len() == other.len()
            && one.into_iter().zip(other).all(|(a, b)| self.equal_expressions(a, b, known))
    }
}

fn continuation(may_part: bool) -> Continuation {
    if may_part { Continuation::MaybeInOne } else { Continuation::InBoth }
}
