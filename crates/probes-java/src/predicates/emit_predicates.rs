//! The code by which the predicates of a plan are asked for: values that are gone by then wait in locals behind all others, for as long as
//! their block lasts; a static method is given copies of all that a place needs.

use crate::predicates::emit_checks::{Questioning, Questions};
use crate::predicates::predicate_class::judge_method;
use crate::predicates::predicate_plan::{Held, Place, Planned, words};
use crate::trace::emit_events::local;
use crate::weave::class_weaver::Added;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_classfile::opcode as op;
use touchstone_classfile::{Insn, SlotKind};

/// What a place is asked, with its probes.
#[derive(Clone, Debug)]
pub(crate) struct PlannedProbes {
    pub planned: Planned,
    /// The probe of the first predicate.
    pub first: u32,
    /// Which of the places of the class it is.
    pub number: usize,
}

fn number(kind: SlotKind) -> u8 {
    match kind {
        SlotKind::Int => 0,
        SlotKind::Long => 1,
        SlotKind::Float => 2,
        SlotKind::Double => 3,
        SlotKind::Ref => 4,
    }
}

/// Where values wait: locals, by block and value.
struct Waiting {
    first: usize,
    used: BTreeMap<usize, usize>,
    places: BTreeMap<(usize, Held), usize>,
    most: usize,
}

impl Waiting {
    /// The local of a value, and whether it is new.
    fn place(&mut self, block: usize, held: Held) -> (usize, bool) {
        if let Some(known) = self.places.get(&(block, held)) {
            return (*known, false);
        }
        let used = self.used.entry(block).or_default();
        let place = self.first + *used;
        *used += words(&[held]);
        self.most = self.most.max(*used);
        self.places.insert((block, held), place);
        (place, true)
    }
}

impl Questioning<'_, '_> {
    /// Code that asks for what is planned; `None` if the plan is not one of this code, or if there is no room for it.
    pub fn planned(
        &self,
        judge: &str,
        list: &[PlannedProbes],
        pool: &mut Added<'_>,
        questions: &mut Questions,
    ) -> Option<()> {
        let before_all = usize::from(questions.locals);
        let first = self.first_local + before_all;
        let mut waiting = Waiting { first, used: BTreeMap::new(), places: BTreeMap::new(), most: 0 };
        let (mut save_before, mut save_after): (BTreeMap<usize, Vec<u8>>, BTreeMap<usize, Vec<u8>>) =
            Default::default();
        let (mut ask_before, mut ask_after): (BTreeMap<usize, Vec<u8>>, BTreeMap<usize, Vec<u8>>) = Default::default();
        let mut deepest = 2;
        for PlannedProbes { planned, number: judged, .. } in list {
            let (at, asks) = match planned.place {
                Place::Before(at) => (at, &mut ask_before),
                Place::After(at) => (at, &mut ask_after),
            };
            let insn = self.flow.index(usize::from(at))?;
            let block = self.flow.block_of(insn);
            let held = planned.held();
            deepest = deepest.max(words(&held));
            let bytes = asks.entry(insn).or_default();
            let tops: BTreeSet<u16> =
                held.iter().filter_map(|held| if let Held::Top(below) = held { Some(*below) } else { None }).collect();
            match (tops.is_empty(), &self.flow.insns[insn].insn) {
                (true, _) => {}
                (false, Insn::IfNull(..)) => {
                    bytes.push(op::DUP);
                    local(op::ISTORE + 4, waiting.place(block, Held::Top(0)).0, bytes)?;
                }
                (false, Insn::IfRefs(..)) => {
                    bytes.push(op::DUP2);
                    local(op::ISTORE + 4, waiting.place(block, Held::Top(0)).0, bytes)?;
                    local(op::ISTORE + 4, waiting.place(block, Held::Top(1)).0, bytes)?;
                }
                _ => return None,
            }
            for held in &held {
                let load = op::ILOAD + number(held.kind());
                let store = op::ISTORE + number(held.kind());
                match *held {
                    Held::Local(index, _) => local(load, usize::from(index), bytes)?,
                    Held::Field(field, _) => {
                        let [high, low] = field.to_be_bytes();
                        bytes.extend([op::ALOAD_0, op::GETFIELD, high, low]);
                    }
                    Held::Top(_) => local(load, waiting.place(block, *held).0, bytes)?,
                    Held::Pushed(from, kind) => {
                        let (place, is_new) = waiting.place(block, *held);
                        if is_new {
                            let save = save_after.entry(self.flow.index(usize::from(from))?).or_default();
                            save.push(if kind.is_wide() { op::DUP2 } else { op::DUP });
                            local(store, place, save)?;
                        }
                        local(load, place, bytes)?;
                    }
                    Held::Old(index, _, from) => {
                        let (place, is_new) = waiting.place(block, *held);
                        if is_new {
                            let save = save_before.entry(self.flow.index(usize::from(from))?).or_default();
                            local(load, usize::from(index), save)?;
                            local(store, place, save)?;
                        }
                        local(load, place, bytes)?;
                    }
                }
            }
            let (name, desc) = judge_method(*judged, &held);
            let [high, low] = pool.method(judge, &name, &desc).to_be_bytes();
            bytes.extend([op::INVOKESTATIC, high, low]);
        }
        let add = |to: &mut BTreeMap<usize, Vec<u8>>, lists: [BTreeMap<usize, Vec<u8>>; 2]| {
            for (insn, bytes) in lists.into_iter().flatten() {
                to.entry(insn).or_default().extend(bytes);
            }
        };
        add(&mut questions.before, [save_before, ask_before]);
        add(&mut questions.after, [save_after, ask_after]);
        questions.locals = u16::try_from(before_all + waiting.most).ok()?;
        questions.stack = questions.stack.max(u16::try_from(deepest).ok()?);
        Some(())
    }
}
