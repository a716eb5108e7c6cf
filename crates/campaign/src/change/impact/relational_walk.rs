//! A relational analysis of two versions of a function: both are walked in lockstep, from the same inputs. At each pair
//! of locations the abstract state says which registers and memory are equal. Where both execute the same operation on
//! equal values they stay equal. Where control diverges, the walk continues at the nearest common post-dominator, and
//! everything that either version may have written in between is no longer known to be equal.
//!
//! Claimed equalities hold in every run that terminates; termination of loops is assumed. Nothing else is: code that
//! may leave the function (an error, an exception, the end of the program) in one version only affects everything
//! behind it. Functions with unsupported constructs are not walked: they are equal only if their texts are.

use super::control_flow::{VersionCfg, WalkStart};
use super::equalities::{EqualRegisters, RelationalState};
use super::matching::{CodeLocation, Matching};
use super::memory_regions::{DifferingRegions, Region};
use super::side_effects::{VersionFacts, may_leave};
use super::transfer::Continuation;
use super::versions::Versions;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_ir::{BlockId, Callee, CondTag, FuncId, InstKind, Reg, SlotId, SwitchArm, TermKind};

/// A call of both versions of a function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct CallPair {
    pub old: FuncId,
    pub new: FuncId,
    /// For every argument: true if both versions pass equal values.
    pub args: Vec<bool>,
    pub differing: DifferingRegions,
}

/// The abstract result of a call pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PairOutcome {
    /// True if both return, both throw, or both end the program.
    pub same_exit: bool,
    /// True if they return the same value.
    pub result: bool,
    /// True if they throw the same exception.
    pub thrown: bool,
    pub differing: DifferingRegions,
}

impl PairOutcome {
    /// Returns the outcome of versions that add no difference.
    pub fn same(differing: DifferingRegions) -> PairOutcome {
        PairOutcome { same_exit: true, result: true, thrown: true, differing }
    }
}

/// The part of the new version that a change affects.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Impact {
    pub locations: BTreeMap<FuncId, BTreeSet<CodeLocation>>,
    /// Functions that are called at other times than before; they are affected as a whole.
    pub functions: BTreeSet<FuncId>,
    /// The equalities that hold whenever control reaches a point, for predicates that read more than the location
    /// itself.
    pub points: BTreeMap<(FuncId, CodeLocation), PointEqualities>,
}

/// The equalities at a point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PointEqualities {
    /// Registers of the new version that equal the register of the same name in the old one.
    pub regs: BTreeSet<Reg>,
    pub memory: bool,
}

impl Impact {
    /// Joins two impacts. Only equalities that hold in both remain.
    pub fn add(&mut self, other: Impact) {
        for (func, locations) in other.locations {
            self.locations.entry(func).or_default().extend(locations);
        }
        self.functions.extend(other.functions);
        for (at, here) in other.points {
            match self.points.get_mut(&at) {
                None => drop(self.points.insert(at, here)),
                Some(known) => {
                    known.regs.retain(|reg| here.regs.contains(reg));
                    known.memory &= here.memory;
                }
            }
        }
    }
}

/// Provides the outcomes of call pairs.
pub(crate) trait CallOutcomes {
    fn outcome(&mut self, call: CallPair) -> PairOutcome;
}

/// A location of each version, old first.
pub(super) type LocationPair = (CodeLocation, CodeLocation);

/// The walk over one pair of functions.
pub(crate) struct RelationalWalk<'v, 'm> {
    pub(super) versions: &'v Versions<'m>,
    pub(super) callees: &'v mut dyn CallOutcomes,
    pub(super) ids: (FuncId, FuncId),
    pub(super) old: VersionCfg<'m>,
    pub(super) new: VersionCfg<'m>,
    pub(super) matching: &'v Matching,
    pub(super) slots: BTreeMap<SlotId, SlotId>,
    /// Slots of the new frame whose counterpart escapes in the old version.
    pub(super) escaping: BTreeSet<SlotId>,
    seen: BTreeMap<LocationPair, RelationalState>,
    pending: BTreeSet<LocationPair>,
    pub(super) outcome: PairOutcome,
    pub impact: Impact,
}

impl<'v, 'm> RelationalWalk<'v, 'm> {
    pub fn new(
        versions: &'v Versions<'m>,
        callees: &'v mut dyn CallOutcomes,
        matching: &'v Matching,
        call: &CallPair,
    ) -> Self {
        let old = VersionCfg::new(&versions.old.module.functions[call.old]);
        let new = VersionCfg::new(&versions.new.module.functions[call.new]);
        let slots = pair_slots(&old, &new);
        let escaping = &versions.old.addresses[&call.old].escaping_slots;
        RelationalWalk {
            versions,
            callees,
            ids: (call.old, call.new),
            escaping: slots.iter().filter(|(old, _)| escaping.contains(old)).map(|(_, new)| *new).collect(),
            slots,
            old,
            new,
            matching,
            seen: BTreeMap::new(),
            pending: BTreeSet::new(),
            outcome: PairOutcome::same(DifferingRegions::new()),
            impact: Impact::default(),
        }
    }

    /// Walks both functions to their ends.
    pub fn run(mut self, call: &CallPair) -> (PairOutcome, Impact) {
        let versions = self.versions;
        let unsupported = versions.old.has_unsupported(call.old) || versions.new.has_unsupported(call.new);
        if unsupported || versions.new.is_opaque(call.new) && !versions.is_same_text(call.new) {
            return self.give_up(call);
        }
        // The old version may reach its counterpart, which is not known: matching is between reachable code.
        for location in self.new.unreachable() {
            self.mark_affected(location);
        }
        let mut known = RelationalState { equal: EqualRegisters::default(), differing: call.differing.clone() };
        let params = self.old.function.params.iter().zip(&self.new.function.params);
        for ((old, new), _) in params.zip(&call.args).filter(|(_, equal)| **equal) {
            known.equal.add(old.reg, new.reg);
        }
        let entry = CodeLocation::first(touchstone_base::Id::new(0));
        self.join((entry, entry), known);
        while let Some(both) = self.pending.pop_first() {
            let known = self.seen[&both].clone();
            self.follow(both, known);
        }
        self.outcome.differing.retain(|region| !matches!(region, Region::Slot(_)));
        (self.outcome, self.impact)
    }

    /// Gives up on functions with an unsupported construct, which may do anything with what differs: both versions leave
    /// unrelated states, and everything that they may execute is affected.
    fn give_up(mut self, call: &CallPair) -> (PairOutcome, Impact) {
        let mut differing = call.differing.clone();
        differing.extend([Region::Anything, Region::Environment, Region::Definedness]);
        differing.extend(self.versions.writes_of_both(call.new));
        self.impact.functions.extend(self.versions.new.calls.reachable_from(call.new));
        (PairOutcome { same_exit: false, result: false, thrown: false, differing }, self.impact)
    }

    fn join(&mut self, both: LocationPair, mut known: RelationalState) {
        // Without the temporaries of other blocks, states stay small in long functions.
        known.equal.retain(|old, new| {
            !self.old.is_temporary_elsewhere(old, both.0.block) && !self.new.is_temporary_elsewhere(new, both.1.block)
        });
        let changed = match self.seen.get_mut(&both) {
            None => {
                self.seen.insert(both, known);
                true
            }
            Some(before) => {
                let was = before.clone();
                before.equal.meet(&known.equal);
                before.differing.extend(known.differing);
                *before != was
            }
        };
        if changed {
            self.pending.insert(both);
        }
    }

    pub(super) fn mark_affected(&mut self, new: CodeLocation) {
        self.impact.locations.entry(self.ids.1).or_default().insert(new);
    }

    /// Walks from a pair of locations to the next branch.
    fn follow(&mut self, (mut old, mut new): LocationPair, mut known: RelationalState) {
        loop {
            if let (true, TermKind::Jump(to)) = (self.old.is_end(old), self.old.end(old)) {
                return self.join((CodeLocation::first(*to), new), known);
            }
            if let (true, TermKind::Jump(to)) = (self.new.is_end(new), self.new.end(new)) {
                return self.join((old, CodeLocation::first(*to)), known);
            }
            if self.matching.new_of(old) == Some(new) {
                if self.old.is_end(old) || self.new.is_end(new) {
                    return self.end((old, new), known);
                }
                if let Continuation::MaybeInOne = self.execute((old, new), &mut known) {
                    return self.continue_behind_partial((old, new), known);
                }
                (old, new) = (old.next(), new.next());
            } else if !self.old.is_end(old) && self.matching.new_of(old).is_none() {
                let kind = &self.old.function.blocks[old.block].insts[old.index].kind;
                if self.apply_old(kind, &mut known) {
                    return self.give_up_lockstep((old, new), known);
                }
                old = old.next();
            } else if !self.new.is_end(new) && self.matching.old_of(new).is_none() {
                self.mark_affected(new);
                let kind = &self.new.function.blocks[new.block].insts[new.index].kind;
                if self.apply_new(kind, &mut known) {
                    return self.give_up_lockstep((old, new), known);
                }
                new = new.next();
            } else {
                return self.diverge((old, new), known, WalkStart::Here);
            }
        }
    }

    /// Handles two matched terminators.
    fn end(&mut self, both: LocationPair, known: RelationalState) {
        let (old, new) = both;
        if !self.old.is_end(old) || !self.new.is_end(new) {
            return self.give_up_lockstep(both, known);
        }
        let firsts = |old: &BlockId, new: &BlockId| (CodeLocation::first(*old), CodeLocation::first(*new));
        match (self.old.end(old), self.new.end(new)) {
            (
                TermKind::Branch { cond: was, then_block: then_old, else_block: else_old, tag: asked, .. },
                TermKind::Branch { cond, then_block, else_block, tag, .. },
            ) => {
                let decision = |flow: &VersionCfg<'m>, tag: &Option<CondTag>| {
                    tag.map(|tag| (flow.function.decisions[tag.decision].tree.clone(), tag.condition))
                };
                if decision(&self.old, asked) != decision(&self.new, tag) {
                    self.mark_affected(new);
                }
                if !known.equal.operands(*was, *cond) {
                    self.mark_affected(new);
                    return self.diverge(both, known, WalkStart::AfterTerminator);
                }
                self.join(firsts(then_old, then_block), known.clone());
                self.join(firsts(else_old, else_block), known);
            }
            (
                TermKind::Switch { value: was, arms: before, default: default_old, .. },
                TermKind::Switch { value, arms, default, .. },
            ) => {
                let ranges =
                    |arms: &[SwitchArm]| -> Vec<_> { arms.iter().map(|arm| (arm.low, arm.high, arm.signed)).collect() };
                if !known.equal.operands(*was, *value) || ranges(before) != ranges(arms) {
                    self.mark_affected(new);
                    return self.diverge(both, known, WalkStart::AfterTerminator);
                }
                for (was, arm) in before.iter().zip(arms) {
                    self.join(firsts(&was.target, &arm.target), known.clone());
                }
                self.join(firsts(default_old, default), known);
            }
            (TermKind::Return(was), TermKind::Return(value)) => {
                let same = match (was, value) {
                    (Some(was), Some(value)) => known.equal.operands(*was, *value),
                    (None, None) => true,
                    _ => false,
                };
                if !same {
                    self.mark_affected(new);
                }
                self.outcome.result &= same;
                self.outcome.differing.extend(known.differing);
            }
            (TermKind::Throw(was), TermKind::Throw(value)) => {
                let same = known.equal.operands(*was, *value);
                if !same {
                    self.mark_affected(new);
                }
                self.outcome.thrown &= same;
                self.outcome.differing.extend(known.differing);
            }
            (
                TermKind::Catch { thrown: was, handler: handler_old, next: next_old },
                TermKind::Catch { thrown, handler, next },
            ) => {
                // The calls before them were analysed as a pair: both threw, or both returned.
                self.join(firsts(next_old, next), known.clone());
                let mut known = known;
                // The result register of a call that throws keeps its old value.
                let last =
                    |flow: &VersionCfg<'_>, end: CodeLocation| flow.function.blocks[end.block].insts.last()?.kind.dst();
                last(&self.old, old).into_iter().for_each(|dst| known.equal.forget_old(dst));
                last(&self.new, new).into_iter().for_each(|dst| known.equal.forget_new(dst));
                known.equal.add(*was, *thrown);
                self.join(firsts(handler_old, handler), known);
            }
            (TermKind::Unreachable, TermKind::Unreachable) => {}
            _ => self.diverge(both, known, WalkStart::Here),
        }
    }

    /// Continues behind a matched instruction that only one version may complete: where both catch the exception,
    /// control may join again.
    fn continue_behind_partial(&mut self, (old, new): LocationPair, known: RelationalState) {
        let ends = (old.next(), new.next());
        let catches = |facts: &VersionFacts<'_>, flow: &VersionCfg<'_>, call: CodeLocation| match &flow.function.blocks
            [call.block]
            .insts[call.index]
            .kind
        {
            InstKind::Call { callee: Callee::Direct(callee), .. } => {
                flow.is_end(call.next())
                    && matches!(flow.end(call), TermKind::Catch { .. })
                    && !facts.call_effects(*callee).ends
                    && !facts.call_effects(*callee).fails
            }
            _ => false,
        };
        if catches(&self.versions.old, &self.old, old) && catches(&self.versions.new, &self.new, new) {
            self.mark_affected(ends.1);
            return self.diverge(ends, known, WalkStart::AfterTerminator);
        }
        self.give_up_lockstep(ends, known);
    }

    /// Handles diverging control flow: continues at the nearest common post-dominator.
    fn diverge(&mut self, (old, new): LocationPair, mut known: RelationalState, start: WalkStart) {
        let post_dominating: BTreeSet<CodeLocation> = self.new.post_dominating(new, start).into_iter().collect();
        let meets = self.old.post_dominating(old, start).into_iter().find_map(|location| {
            let became = self.matching.new_of(location)?;
            post_dominating.contains(&became).then_some((location, became))
        });
        let locations_before = (
            self.old.locations_before(old, start, meets.map(|(old, _)| old)),
            self.new.locations_before(new, start, meets.map(|(_, new)| new)),
        );
        let may_leave = self.apply_separately(&locations_before, &mut known);
        match meets {
            Some(both) if !may_leave => self.join(both, known),
            None if !may_leave => {
                // Both return, with unrelated values.
                self.outcome.result = false;
                self.outcome.differing.extend(known.differing);
            }
            _ => self.give_up_lockstep((old, new), known),
        }
    }

    /// Applies the effects of code that each version executes separately; returns true if control may leave the
    /// function there.
    fn apply_separately(
        &mut self,
        (old, new): &(BTreeSet<CodeLocation>, BTreeSet<CodeLocation>),
        known: &mut RelationalState,
    ) -> bool {
        let mut leave = false;
        for location in old {
            if let Some(became) = self.matching.new_of(*location) {
                self.mark_affected(became);
            }
            match self.old.is_end(*location) {
                true => {
                    leave |= may_leave(self.old.end(*location));
                    self.old.end(*location).dst().into_iter().for_each(|dst| known.equal.forget_old(dst));
                }
                false => {
                    let kind = &self.old.function.blocks[location.block].insts[location.index].kind;
                    leave |= self.apply_old(kind, known);
                }
            }
        }
        for location in new {
            self.mark_affected(*location);
            match self.new.is_end(*location) {
                true => {
                    leave |= may_leave(self.new.end(*location));
                    self.new.end(*location).dst().into_iter().for_each(|dst| known.equal.forget_new(dst));
                }
                false => {
                    let kind = &self.new.function.blocks[location.block].insts[location.index].kind;
                    leave |= self.apply_new(kind, known);
                }
            }
        }
        leave
    }

    /// Gives up on lockstep because only one version may continue: everything that may follow is affected.
    fn give_up_lockstep(&mut self, (old, new): LocationPair, mut known: RelationalState) {
        let locations_before = (
            self.old.locations_before(old, WalkStart::Here, None),
            self.new.locations_before(new, WalkStart::Here, None),
        );
        self.apply_separately(&locations_before, &mut known);
        self.outcome.same_exit = false;
        self.outcome.result = false;
        self.outcome.thrown = false;
        self.outcome.differing.extend(known.differing);
    }
}

/// Pairs slots of the two frames by name, size and order.
fn pair_slots(old: &VersionCfg<'_>, new: &VersionCfg<'_>) -> BTreeMap<SlotId, SlotId> {
    let mut named: BTreeMap<(Option<&str>, u64), Vec<SlotId>> = BTreeMap::new();
    for (id, slot) in new.function.slots.iter() {
        named.entry((slot.name.as_deref(), slot.size)).or_default().push(id);
    }
    named.values_mut().for_each(|ids| ids.reverse());
    let mut pairs = BTreeMap::new();
    for (id, slot) in old.function.slots.iter() {
        if let Some(became) = named.get_mut(&(slot.name.as_deref(), slot.size)).and_then(Vec::pop) {
            pairs.insert(id, became);
        }
    }
    pairs
}
