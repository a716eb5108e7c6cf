//! Follows both versions of a function side by side, from the same inputs: at each pair of places it is known which registers and what
//! memory are equal. Where both do the same with equal values they stay equal; where they part, they are followed to where both come
//! together again, and what either may have written in between is not known to be equal any more.
//!
//! What is said to be equal is equal in every run that ends; that loops end is taken for granted. Nothing else is: code that may leave (an error, an exception,
//! the end of the program) in one version only has an impact on everything behind it.

use super::control_flow::Flow;
use super::equalities::{Equal, Known};
use super::matching::{Matching, Place};
use super::memory_regions::{Differing, Part};
use super::side_effects::{Side, leaves};
use super::transfer::Did;
use super::versions::Versions;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_ir::{BlockId, Callee, CondTag, FuncId, InstKind, Reg, SlotId, SwitchArm, TermKind};

/// A call of both versions of a function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Call {
    pub old: FuncId,
    pub new: FuncId,
    /// Which arguments are equal.
    pub args: Vec<bool>,
    pub differing: Differing,
}

/// What is known when both are back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Outcome {
    /// Both return, or both throw, or both end.
    pub together: bool,
    /// They return the same.
    pub result: bool,
    /// They throw the same.
    pub thrown: bool,
    pub differing: Differing,
}

impl Outcome {
    /// Nothing is known to differ but what did before.
    pub fn same(differing: Differing) -> Outcome {
        Outcome { together: true, result: true, thrown: true, differing }
    }
}

/// What a change reaches in the new version.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Reached {
    pub places: BTreeMap<FuncId, BTreeSet<Place>>,
    /// Functions that are called at other times than before: all of them is reached.
    pub functions: BTreeSet<FuncId>,
    /// What is equal whenever control comes to a point, for who asks more there than the point itself.
    pub points: BTreeMap<(FuncId, Place), Here>,
}

/// What is equal at a point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Here {
    /// Registers of the new version, each with the one that has its name in the old one.
    pub regs: BTreeSet<Reg>,
    pub memory: bool,
}

impl Reached {
    /// Both of them.
    pub fn add(&mut self, other: Reached) {
        for (func, places) in other.places {
            self.places.entry(func).or_default().extend(places);
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

/// Answers what calls do.
pub(crate) trait Callees {
    fn outcome(&mut self, call: Call) -> Outcome;
}

/// Where both are.
pub(super) type Both = (Place, Place);

/// Follows one pair of functions.
pub(crate) struct Walk<'v, 'm> {
    pub(super) versions: &'v Versions<'m>,
    pub(super) callees: &'v mut dyn Callees,
    pub(super) ids: (FuncId, FuncId),
    pub(super) old: Flow<'m>,
    pub(super) new: Flow<'m>,
    pub(super) matching: &'v Matching,
    pub(super) slots: BTreeMap<SlotId, SlotId>,
    /// Variables of the new frame that pointers led to in the old one.
    pub(super) leaked: BTreeSet<SlotId>,
    seen: BTreeMap<Both, Known>,
    pending: BTreeSet<Both>,
    pub(super) outcome: Outcome,
    pub reached: Reached,
}

impl<'v, 'm> Walk<'v, 'm> {
    pub fn new(versions: &'v Versions<'m>, callees: &'v mut dyn Callees, matching: &'v Matching, call: &Call) -> Self {
        let old = Flow::new(&versions.old.module.functions[call.old]);
        let new = Flow::new(&versions.new.module.functions[call.new]);
        let slots = pair_slots(&old, &new);
        let leaked = &versions.old.addresses[&call.old].leaked_slots;
        Walk {
            versions,
            callees,
            ids: (call.old, call.new),
            leaked: slots.iter().filter(|(old, _)| leaked.contains(old)).map(|(_, new)| *new).collect(),
            slots,
            old,
            new,
            matching,
            seen: BTreeMap::new(),
            pending: BTreeSet::new(),
            outcome: Outcome::same(Differing::new()),
            reached: Reached::default(),
        }
    }

    /// Follows both to their ends.
    pub fn run(mut self, call: &Call) -> (Outcome, Reached) {
        let mut known = Known { equal: Equal::default(), differing: call.differing.clone() };
        let params = self.old.function.params.iter().zip(&self.new.function.params);
        for ((old, new), _) in params.zip(&call.args).filter(|(_, equal)| **equal) {
            known.equal.add(old.reg, new.reg);
        }
        let entry = Place::first(touchstone_base::Id::new(0));
        self.come((entry, entry), known);
        while let Some(both) = self.pending.pop_first() {
            let known = self.seen[&both].clone();
            self.follow(both, known);
        }
        self.outcome.differing.retain(|part| !matches!(part, Part::Slot(_)));
        (self.outcome, self.reached)
    }

    fn come(&mut self, both: Both, known: Known) {
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

    pub(super) fn reach(&mut self, new: Place) {
        self.reached.places.entry(self.ids.1).or_default().insert(new);
    }

    /// From a pair of places to where control goes several ways.
    fn follow(&mut self, (mut old, mut new): Both, mut known: Known) {
        loop {
            if let (true, TermKind::Jump(to)) = (self.old.is_end(old), self.old.end(old)) {
                return self.come((Place::first(*to), new), known);
            }
            if let (true, TermKind::Jump(to)) = (self.new.is_end(new), self.new.end(new)) {
                return self.come((old, Place::first(*to)), known);
            }
            if self.matching.new_of(old) == Some(new) {
                if self.old.is_end(old) || self.new.is_end(new) {
                    return self.end((old, new), known);
                }
                if let Did::Parted = self.execute((old, new), &mut known) {
                    return self.part((old, new), known);
                }
                (old, new) = (old.next(), new.next());
            } else if !self.old.is_end(old) && self.matching.new_of(old).is_none() {
                let kind = &self.old.function.blocks[old.block].insts[old.index].kind;
                if self.alone_old(kind, &mut known) {
                    return self.lose((old, new), known);
                }
                old = old.next();
            } else if !self.new.is_end(new) && self.matching.old_of(new).is_none() {
                self.reach(new);
                let kind = &self.new.function.blocks[new.block].insts[new.index].kind;
                if self.alone_new(kind, &mut known) {
                    return self.lose((old, new), known);
                }
                new = new.next();
            } else {
                return self.diverge((old, new), known, false);
            }
        }
    }

    /// The ends of two blocks that are one.
    fn end(&mut self, both: Both, known: Known) {
        let (old, new) = both;
        if !self.old.is_end(old) || !self.new.is_end(new) {
            return self.lose(both, known);
        }
        let firsts = |old: &BlockId, new: &BlockId| (Place::first(*old), Place::first(*new));
        match (self.old.end(old), self.new.end(new)) {
            (
                TermKind::Branch { cond: was, then_block: then_old, else_block: else_old, tag: asked, .. },
                TermKind::Branch { cond, then_block, else_block, tag, .. },
            ) => {
                let decision = |flow: &Flow<'m>, tag: &Option<CondTag>| {
                    tag.map(|tag| (flow.function.decisions[tag.decision].tree.clone(), tag.condition))
                };
                if decision(&self.old, asked) != decision(&self.new, tag) {
                    self.reach(new);
                }
                if !known.equal.operands(*was, *cond) {
                    self.reach(new);
                    return self.diverge(both, known, true);
                }
                self.come(firsts(then_old, then_block), known.clone());
                self.come(firsts(else_old, else_block), known);
            }
            (
                TermKind::Switch { value: was, arms: before, default: default_old, .. },
                TermKind::Switch { value, arms, default, .. },
            ) => {
                let ranges =
                    |arms: &[SwitchArm]| -> Vec<_> { arms.iter().map(|arm| (arm.low, arm.high, arm.signed)).collect() };
                if !known.equal.operands(*was, *value) || ranges(before) != ranges(arms) {
                    self.reach(new);
                    return self.diverge(both, known, true);
                }
                for (was, arm) in before.iter().zip(arms) {
                    self.come(firsts(&was.target, &arm.target), known.clone());
                }
                self.come(firsts(default_old, default), known);
            }
            (TermKind::Return(was), TermKind::Return(value)) => {
                let same = match (was, value) {
                    (Some(was), Some(value)) => known.equal.operands(*was, *value),
                    (None, None) => true,
                    _ => false,
                };
                if !same {
                    self.reach(new);
                }
                self.outcome.result &= same;
                self.outcome.differing.extend(known.differing);
            }
            (TermKind::Throw(was), TermKind::Throw(value)) => {
                let same = known.equal.operands(*was, *value);
                if !same {
                    self.reach(new);
                }
                self.outcome.thrown &= same;
                self.outcome.differing.extend(known.differing);
            }
            (
                TermKind::Catch { thrown: was, handler: handler_old, next: next_old },
                TermKind::Catch { thrown, handler, next },
            ) => {
                // The calls before them were asked for when they were made: both threw, or both returned.
                self.come(firsts(next_old, next), known.clone());
                let mut known = known;
                // The result of a call that throws stays what it was.
                let last = |flow: &Flow<'_>, end: Place| flow.function.blocks[end.block].insts.last()?.kind.dst();
                last(&self.old, old).into_iter().for_each(|dst| known.equal.forget_old(dst));
                last(&self.new, new).into_iter().for_each(|dst| known.equal.forget_new(dst));
                known.equal.add(*was, *thrown);
                self.come(firsts(handler_old, handler), known);
            }
            (TermKind::Unsupported(_), TermKind::Unsupported(_)) | (TermKind::Unreachable, TermKind::Unreachable) => {}
            _ => self.diverge(both, known, false),
        }
    }

    /// Behind an instruction of both of which only one may go on: where both catch what it throws, they may meet again.
    fn part(&mut self, (old, new): Both, known: Known) {
        let ends = (old.next(), new.next());
        let catches = |side: &Side<'_>, flow: &Flow<'_>, call: Place| match &flow.function.blocks[call.block].insts
            [call.index]
            .kind
        {
            InstKind::Call { callee: Callee::Direct(callee), .. } => {
                flow.is_end(call.next())
                    && matches!(flow.end(call), TermKind::Catch { .. })
                    && !side.of_call(*callee).ends
                    && !side.of_call(*callee).fails
            }
            _ => false,
        };
        if catches(&self.versions.old, &self.old, old) && catches(&self.versions.new, &self.new, new) {
            self.reach(ends.1);
            return self.diverge(ends, known, true);
        }
        self.lose(ends, known);
    }

    /// Control goes different ways from here on, or may: to where all of them meet.
    fn diverge(&mut self, (old, new): Both, mut known: Known, behind: bool) {
        let ahead: BTreeSet<Place> = self.new.ahead(new, behind).into_iter().collect();
        let meets = self.old.ahead(old, behind).into_iter().find_map(|place| {
            let became = self.matching.new_of(place)?;
            ahead.contains(&became).then_some((place, became))
        });
        let between = (
            self.old.between(old, behind, meets.map(|(old, _)| old)),
            self.new.between(new, behind, meets.map(|(_, new)| new)),
        );
        let leaves = self.apart(&between, &mut known);
        match meets {
            Some(both) if !leaves => self.come(both, known),
            None if !leaves => {
                // Both return, nobody knows what.
                self.outcome.result = false;
                self.outcome.differing.extend(known.differing);
            }
            _ => self.lose((old, new), known),
        }
    }

    /// Code that each version executes for itself; whether control may leave in it.
    fn apart(&mut self, (old, new): &(BTreeSet<Place>, BTreeSet<Place>), known: &mut Known) -> bool {
        let mut leave = false;
        for place in old {
            if let Some(became) = self.matching.new_of(*place) {
                self.reach(became);
            }
            match self.old.is_end(*place) {
                true => {
                    leave |= leaves(self.old.end(*place));
                    self.old.end(*place).dst().into_iter().for_each(|dst| known.equal.forget_old(dst));
                }
                false => {
                    let kind = &self.old.function.blocks[place.block].insts[place.index].kind;
                    leave |= self.alone_old(kind, known);
                }
            }
        }
        for place in new {
            self.reach(*place);
            match self.new.is_end(*place) {
                true => {
                    leave |= leaves(self.new.end(*place));
                    self.new.end(*place).dst().into_iter().for_each(|dst| known.equal.forget_new(dst));
                }
                false => {
                    let kind = &self.new.function.blocks[place.block].insts[place.index].kind;
                    leave |= self.alone_new(kind, known);
                }
            }
        }
        leave
    }

    /// Only one of them may go on from here: all that may follow is reached.
    fn lose(&mut self, (old, new): Both, mut known: Known) {
        let between = (self.old.between(old, false, None), self.new.between(new, false, None));
        self.apart(&between, &mut known);
        self.outcome.together = false;
        self.outcome.result = false;
        self.outcome.thrown = false;
        self.outcome.differing.extend(known.differing);
    }
}

/// Variables of both frames that are one: those of the same name, size and order.
fn pair_slots(old: &Flow<'_>, new: &Flow<'_>) -> BTreeMap<SlotId, SlotId> {
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
