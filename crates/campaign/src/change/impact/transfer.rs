//! What one instruction does to what is known: executed by both versions, or by one of them alone.

use super::control_flow::Flow;
use super::equalities::Known;
use super::matching::Place;
use super::memory_regions::{Differing, Part, may_fail};
use super::relational_walk::{Both, Call, Here, Reached, Walk};
use super::side_effects::Effects;
use std::collections::BTreeSet;
use touchstone_ir::{BinOp, Callee, CastOp, Expr, ExprKind, FuncId, InstKind, Operand, Point, Reg, SlotId, Touches};

/// How an instruction that both execute ends.
pub(super) enum Did {
    /// Both go on.
    On,
    /// Only one of them may go on.
    Parted,
}

impl<'m> Walk<'_, 'm> {
    /// Executes an instruction of the old version alone; whether it may leave.
    pub(super) fn alone_old(&mut self, kind: &InstKind, known: &mut Known) -> bool {
        let effects = self.versions.old.of(self.ids.0, kind);
        kind.dst().into_iter().for_each(|dst| known.equal.forget_old(dst));
        self.differ_old(&effects, known);
        self.call_alone(kind, true);
        effects.leaves()
    }

    pub(super) fn alone_new(&mut self, kind: &InstKind, known: &mut Known) -> bool {
        let effects = self.versions.new.of(self.ids.1, kind);
        kind.dst().into_iter().for_each(|dst| known.equal.forget_new(dst));
        self.differ_new(&effects, known);
        self.call_alone(kind, false);
        effects.leaves()
    }

    fn differ_old(&self, effects: &Effects, known: &mut Known) {
        let (old, new) = (&self.versions.old, &self.versions.new);
        let slot = |slot: SlotId| self.slots.get(&slot).map(|slot| self.joint(new.slot(self.ids.1, *slot)));
        let writes = effects.writes.iter().filter_map(|part| self.versions.renamed(*part, slot));
        known.differing.extend(writes);
        self.note_definedness(&effects.writes, old.module.has_classes(), known);
    }

    fn differ_new(&self, effects: &Effects, known: &mut Known) {
        known.differing.extend(effects.writes.iter().map(|part| self.joint(*part)));
        self.note_definedness(&effects.writes, self.versions.new.module.has_classes(), known);
    }

    fn note_definedness(&self, writes: &Differing, has_classes: bool, known: &mut Known) {
        if !has_classes && writes.iter().any(|part| matches!(part, Part::Slot(_) | Part::Anything)) {
            known.differing.insert(Part::Definedness);
        }
    }

    /// What is called by one version only is called at another time.
    fn call_alone(&mut self, kind: &InstKind, old: bool) {
        let InstKind::Call { callee, .. } = kind else { return };
        let side = if old { &self.versions.old } else { &self.versions.new };
        let called: BTreeSet<FuncId> = match callee {
            Callee::Direct(callee) => side.calls.reachable_from(*callee),
            Callee::Indirect(_) => side.module.functions.ids().collect(),
        };
        for id in called {
            let now = match old {
                true => self.versions.new.module.function_named(&side.module.functions[id].name),
                false => Some(id),
            };
            self.reached.functions.extend(now);
        }
    }

    /// Executes an instruction of both.
    pub(super) fn execute(&mut self, (at, new): Both, known: &mut Known) -> Did {
        let before = &self.old.function.blocks[at.block].insts[at.index].kind;
        let now = &self.new.function.blocks[new.block].insts[new.index].kind;
        let ty = |flow: &Flow<'_>, kind: &InstKind| kind.dst().map(|dst| flow.function.regs[dst].ty);
        let alike = ty(&self.old, before) == ty(&self.new, now);
        let pairs: Vec<bool> = match (before.operands(), now.operands()) {
            (one, other) if one.len() == other.len() => {
                one.into_iter().zip(other).map(|(old, new)| known.equal.operands(old, new)).collect()
            }
            (one, other) => vec![false; one.len().max(other.len())],
        };
        let all = alike && pairs.iter().all(|equal| *equal);
        let pair = |index: usize| alike && pairs.get(index) == Some(&true);
        let fails = self.may_fail(before, now);
        let (equal, did) = match (before, now) {
            (InstKind::Call { .. }, InstKind::Call { .. }) => self.call(before, now, &pairs, alike, known),
            (InstKind::Builtin { .. }, InstKind::Builtin { .. }) => self.builtin(before, now, all, known),
            (InstKind::Load { .. }, InstKind::Load { addr, dst }) => {
                let bytes = self.new.function.regs[*dst].ty.bytes().into();
                let differs = self.differs(&self.versions.new.parts(self.ids.1, *addr, Some(bytes)), known);
                let unwritten = differs && known.differing.contains(&Part::Definedness);
                (all && !differs, parted(!pair(0) && fails || unwritten))
            }
            (InstKind::Store { .. }, InstKind::Store { addr, value }) => {
                let bytes: u64 = self.new.function.operand_ty(*value).bytes().into();
                if all && self.same_width(before, now) {
                    let whole = self.versions.new.whole(self.ids.1, *addr, bytes).map(|part| self.joint(part));
                    if let Some(part) = whole.filter(|part| *part != Part::Anything) {
                        known.differing.remove(&part);
                    }
                    (true, Did::On)
                } else {
                    self.both_differ(before, now, known);
                    (false, parted(fails && !(pair(0) && self.same_width(before, now))))
                }
            }
            (InstKind::MemCopy { .. }, InstKind::MemCopy { src, .. }) => {
                let differs = self.differs(&self.versions.new.parts(self.ids.1, *src, None), known);
                if !all || differs {
                    self.both_differ(before, now, known);
                }
                (all && !differs, parted(!all && fails))
            }
            (InstKind::MemSet { .. }, InstKind::MemSet { .. }) => {
                if !all {
                    self.both_differ(before, now, known);
                }
                (all, parted(fails && !(pair(0) && pair(2))))
            }
            (InstKind::SlotBegin { slot: was }, InstKind::SlotBegin { slot }) => {
                let same = self.slots.get(was) == Some(slot);
                match (same, self.joint(self.versions.new.slot(self.ids.1, *slot))) {
                    (true, part @ Part::Slot(_)) => drop(known.differing.remove(&part)),
                    (true, _) => {}
                    (false, _) => self.both_differ(before, now, known),
                }
                (same, Did::On)
            }
            (InstKind::SlotEnd { slot: was }, InstKind::SlotEnd { slot }) => {
                let same = self.slots.get(was) == Some(slot);
                if !same {
                    self.both_differ(before, now, known);
                }
                (same, Did::On)
            }
            (InstKind::SlotAddr { slot: was, .. }, InstKind::SlotAddr { slot, .. }) => {
                (self.slots.get(was) == Some(slot), Did::On)
            }
            (InstKind::GlobalAddr { global: was, .. }, InstKind::GlobalAddr { global, .. }) => {
                (self.versions.is_same_global(*was, *global), Did::On)
            }
            (InstKind::Point { .. }, InstKind::Point { .. }) => {
                self.note(new, known);
                (self.asks_the_same(before, now, known), Did::On)
            }
            (InstKind::Bin { op: was, .. }, InstKind::Bin { op, .. }) => {
                let divides = |op: &BinOp| matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem);
                let together = divides(was) && divides(op) && pair(1);
                (was == op && all, parted(fails && !together))
            }
            (InstKind::Cmp { op: was, .. }, InstKind::Cmp { op, .. }) => (was == op && all, Did::On),
            // The number of an address is another in every program.
            (InstKind::Cast { op: was, .. }, InstKind::Cast { op, .. }) => {
                (was == op && *op != CastOp::PtrToInt && all && self.same_sources(before, now), Did::On)
            }
            (InstKind::Float { op: was, format: from, .. }, InstKind::Float { op, format, .. }) => {
                (was == op && from == format && all, Did::On)
            }
            (InstKind::Copy { .. }, InstKind::Copy { .. })
            | (InstKind::PtrAdd { .. }, InstKind::PtrAdd { .. })
            | (InstKind::PtrDiff { .. }, InstKind::PtrDiff { .. }) => (all, Did::On),
            _ => {
                self.both_differ(before, now, known);
                (false, Did::Parted)
            }
        };
        if !equal {
            self.reach(new);
        }
        match (equal, before.dst(), now.dst()) {
            (true, Some(old), Some(new)) => known.equal.add(old, new),
            (_, old, new) => {
                old.into_iter().for_each(|old| known.equal.forget_old(old));
                new.into_iter().for_each(|new| known.equal.forget_new(new));
            }
        }
        did
    }

    fn may_fail(&self, before: &InstKind, now: &InstKind) -> bool {
        let (old, new) = (&self.versions.old, &self.versions.new);
        may_fail(old.module, self.old.function, &old.addresses[&self.ids.0], before)
            || may_fail(new.module, self.new.function, &new.addresses[&self.ids.1], now)
    }

    fn same_width(&self, before: &InstKind, now: &InstKind) -> bool {
        let width = |flow: &Flow<'_>, kind: &InstKind| match kind {
            InstKind::Store { value, .. } => Some(flow.function.operand_ty(*value)),
            _ => None,
        };
        width(&self.old, before) == width(&self.new, now)
    }

    fn same_sources(&self, before: &InstKind, now: &InstKind) -> bool {
        let types = |flow: &Flow<'_>, kind: &InstKind| -> Vec<_> {
            kind.operands().iter().map(|operand| flow.function.operand_ty(*operand)).collect()
        };
        types(&self.old, before) == types(&self.new, now)
    }

    /// Whether one of these parts of memory may differ.
    fn differs(&self, parts: &Differing, known: &Known) -> bool {
        let overlap = |part: Part| known.differing.iter().any(|other| self.versions.new.overlap(part, *other));
        parts.iter().any(|part| overlap(self.joint(*part)))
    }

    /// A part of memory in terms of both: where pointers lead to a variable in one of the versions, they may write it there.
    fn joint(&self, part: Part) -> Part {
        match part {
            Part::Slot(slot) if self.leaked.contains(&slot) => Part::Anything,
            other => other,
        }
    }

    fn both_differ(&mut self, before: &InstKind, now: &InstKind, known: &mut Known) {
        let effects = self.versions.old.of(self.ids.0, before);
        self.differ_old(&effects, known);
        let effects = self.versions.new.of(self.ids.1, now);
        self.differ_new(&effects, known);
    }

    fn call(
        &mut self,
        before: &InstKind,
        now: &InstKind,
        pairs: &[bool],
        alike: bool,
        known: &mut Known,
    ) -> (bool, Did) {
        let direct = |kind: &InstKind| match kind {
            InstKind::Call { callee: Callee::Direct(callee), .. } => Some(*callee),
            _ => None,
        };
        if let (Some(old), Some(new)) = (direct(before), direct(now))
            && alike
            && self.versions.old_of(new) == Some(old)
            && self.new_params(new) == pairs.len()
        {
            let own = |part: &Part| matches!(part, Part::Slot(_));
            let (slots, differing): (Differing, Differing) = known.differing.iter().partition(|part| own(part));
            let outcome = self.callees.outcome(Call { old, new, args: pairs.to_vec(), differing });
            known.differing = outcome.differing;
            known.differing.extend(slots);
            // Where nobody catches, the function ends here, with this.
            self.outcome.differing.extend(&known.differing);
            return (outcome.result && outcome.together, parted(!outcome.together || !outcome.thrown));
        }
        self.both_differ(before, now, known);
        self.call_alone(before, true);
        self.call_alone(now, false);
        let leaves =
            self.versions.old.of(self.ids.0, before).leaves() || self.versions.new.of(self.ids.1, now).leaves();
        (false, parted(leaves))
    }

    fn new_params(&self, func: FuncId) -> usize {
        self.versions.new.module.functions[func].params.len()
    }

    fn builtin(&mut self, before: &InstKind, now: &InstKind, all: bool, known: &mut Known) -> (bool, Did) {
        let (InstKind::Builtin { builtin: was, .. }, InstKind::Builtin { builtin, .. }) = (before, now) else {
            return (false, Did::Parted);
        };
        let memory = known.differing.iter().any(|part| !matches!(part, Part::World | Part::Slot(_)));
        let world = known.differing.contains(&Part::World);
        let same = was == builtin && all;
        let equal = same
            && match builtin.touches() {
                Touches::Nothing | Touches::Ends => true,
                Touches::World => !world,
                Touches::Shows => !world && !memory,
                Touches::Anything => known.differing.is_empty(),
            };
        if equal {
            return (true, Did::On);
        }
        self.both_differ(before, now, known);
        let talks = same && builtin.touches() == Touches::World;
        let leaves =
            self.versions.old.of(self.ids.0, before).leaves() || self.versions.new.of(self.ids.1, now).leaves();
        (false, parted(leaves && !talks))
    }

    /// Notes what is equal at a point.
    fn note(&mut self, at: Place, known: &Known) {
        let name = |flow: &Flow<'_>, reg: Reg| flow.function.regs[reg].name.clone();
        let pairs = known.equal.pairs().filter(|(new, old)| name(&self.new, *new) == name(&self.old, *old));
        let regs = pairs.map(|(new, _)| new).collect();
        let memory = known.differing.iter().all(|part| *part == Part::World);
        let mut noted = Reached::default();
        noted.points.insert((self.ids.1, at), Here { regs, memory });
        self.reached.add(noted);
    }

    /// Whether two points ask the same of the same values.
    fn asks_the_same(&self, before: &InstKind, now: &InstKind, known: &Known) -> bool {
        let (InstKind::Point { point: was }, InstKind::Point { point }) = (before, now) else { return false };
        let (was, point) = (&self.old.function.points[*was], &self.new.function.points[*point]);
        if std::mem::discriminant(&was.kind) != std::mem::discriminant(&point.kind) || was.text != point.text {
            return false;
        }
        let exprs = |point: &'m Point| -> Vec<&'m Expr> {
            point.kind.exprs().into_iter().chain(point.variables.iter().flat_map(|all| all.iter())).collect()
        };
        let (one, other) = (exprs(was), exprs(point));
        one.len() == other.len() && one.into_iter().zip(other).all(|(old, new)| self.same_value(old, new, known))
    }

    fn same_value(&self, old: &Expr, new: &Expr, known: &Known) -> bool {
        if old.ty != new.ty || old.signed != new.signed {
            return false;
        }
        let kinds = match (&old.kind, &new.kind) {
            (ExprKind::Const(a), ExprKind::Const(b)) => a == b,
            (ExprKind::Reg(a), ExprKind::Reg(b)) => known.equal.operands(Operand::Reg(*a), Operand::Reg(*b)),
            (ExprKind::Slot(a), ExprKind::Slot(b)) => self.slots.get(a) == Some(b),
            (ExprKind::Global(a), ExprKind::Global(b)) => self.versions.is_same_global(*a, *b),
            // What it reads is not looked at more closely.
            (ExprKind::Load(_), ExprKind::Load(_)) => known.differing.is_empty(),
            (ExprKind::Bin(a, ..), ExprKind::Bin(b, ..)) => a == b,
            (ExprKind::Cmp(a, ..), ExprKind::Cmp(b, ..)) => a == b,
            (ExprKind::Cast(a, _), ExprKind::Cast(b, _)) => a == b,
            (ExprKind::Float(a, from, _), ExprKind::Float(b, to, _)) => a == b && from == to,
            (ExprKind::AsFloat(a, _), ExprKind::AsFloat(b, _)) => a == b,
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        };
        let (one, other) = (old.parts(), new.parts());
        kinds && one.len() == other.len() && one.into_iter().zip(other).all(|(a, b)| self.same_value(a, b, known))
    }
}

fn parted(parted: bool) -> Did {
    if parted { Did::Parted } else { Did::On }
}
