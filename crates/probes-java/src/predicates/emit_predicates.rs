//! The bytecode of the predicates of a plan: a static method gets copies of the values that the predicates of a point use. Values that are no
//! longer in the frame by then are saved in additional locals, within their block.

use crate::encode::constant_pool::ConstantPoolBuilder;
use crate::encode::instructions::local;
use crate::predicates::emit_checks::{CheckCode, CheckEmitter};
use crate::predicates::predicate_class::predicate_method;
use crate::predicates::predicate_plan::{CodePoint, FrameValue, PointPredicates, argument_words};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_classfile::Insn;
use touchstone_classfile::opcode as op;

/// The predicates of a point, with their probes.
#[derive(Clone, Debug)]
pub(crate) struct PredicateProbes {
    pub point: PointPredicates,
    /// The probe of the first predicate.
    pub first: u32,
    /// The number of the point among all points of the class.
    pub number: usize,
}

/// Maps a value and its block to the local in which it is saved.
struct SavedValues {
    first: usize,
    used: BTreeMap<usize, usize>,
    locals: BTreeMap<(usize, FrameValue), usize>,
    most: usize,
}

impl SavedValues {
    /// Returns the local of a value, and true if it was not assigned before.
    fn local(&mut self, block: usize, value: FrameValue) -> (usize, bool) {
        if let Some(known) = self.locals.get(&(block, value)) {
            return (*known, false);
        }
        let used = self.used.entry(block).or_default();
        let local = self.first + *used;
        *used += argument_words(&[value]);
        self.most = self.most.max(*used);
        self.locals.insert((block, value), local);
        (local, true)
    }
}

impl CheckEmitter<'_, '_> {
    /// Emits the predicates of a plan, or returns `None` if the plan does not fit the code or an index exceeds its range.
    pub fn emit_predicates(
        &self,
        predicate_class: &str,
        list: &[PredicateProbes],
        pool: &mut ConstantPoolBuilder,
        code: &mut CheckCode,
    ) -> Option<()> {
        let locals_before = usize::from(code.locals);
        let first = self.first_local + locals_before;
        let mut saved = SavedValues { first, used: BTreeMap::new(), locals: BTreeMap::new(), most: 0 };
        let (mut save_before, mut save_after): (BTreeMap<usize, Vec<u8>>, BTreeMap<usize, Vec<u8>>) =
            Default::default();
        let (mut evaluate_before, mut evaluate_after): (BTreeMap<usize, Vec<u8>>, BTreeMap<usize, Vec<u8>>) =
            Default::default();
        let mut deepest = 2;
        for PredicateProbes { point, number, .. } in list {
            let (at, evaluated) = match point.point {
                CodePoint::Before(at) => (at, &mut evaluate_before),
                CodePoint::After(at) => (at, &mut evaluate_after),
            };
            let insn = self.cfg.index(usize::from(at))?;
            let block = self.cfg.block_of(insn);
            let values = point.values();
            deepest = deepest.max(argument_words(&values));
            let bytes = evaluated.entry(insn).or_default();
            let stack_refs: BTreeSet<u16> = values
                .iter()
                .filter_map(|value| if let FrameValue::StackRef(below) = value { Some(*below) } else { None })
                .collect();
            match (stack_refs.is_empty(), &self.cfg.insns[insn].insn) {
                (true, _) => {}
                (false, Insn::IfNull(..)) => {
                    bytes.push(op::DUP);
                    local(op::ASTORE, saved.local(block, FrameValue::StackRef(0)).0, bytes)?;
                }
                (false, Insn::IfRefs(..)) => {
                    bytes.push(op::DUP2);
                    local(op::ASTORE, saved.local(block, FrameValue::StackRef(0)).0, bytes)?;
                    local(op::ASTORE, saved.local(block, FrameValue::StackRef(1)).0, bytes)?;
                }
                _ => return None,
            }
            for value in &values {
                let load = op::ILOAD + value.kind().opcode_offset();
                let store = op::ISTORE + value.kind().opcode_offset();
                match *value {
                    FrameValue::Local(index, _) => local(load, usize::from(index), bytes)?,
                    FrameValue::Field(field, _) => {
                        let [high, low] = field.to_be_bytes();
                        bytes.extend([op::ALOAD_0, op::GETFIELD, high, low]);
                    }
                    FrameValue::StackRef(_) => local(load, saved.local(block, *value).0, bytes)?,
                    FrameValue::Pushed(from, kind) => {
                        let (index, is_new) = saved.local(block, *value);
                        if is_new {
                            let save = save_after.entry(self.cfg.index(usize::from(from))?).or_default();
                            save.push(if kind.is_wide() { op::DUP2 } else { op::DUP });
                            local(store, index, save)?;
                        }
                        local(load, index, bytes)?;
                    }
                    FrameValue::SavedLocal(own, _, from) => {
                        let (index, is_new) = saved.local(block, *value);
                        if is_new {
                            let save = save_before.entry(self.cfg.index(usize::from(from))?).or_default();
                            local(load, usize::from(own), save)?;
                            local(store, index, save)?;
                        }
                        local(load, index, bytes)?;
                    }
                }
            }
            let (name, desc) = predicate_method(*number, &values);
            bytes.extend(pool.call(predicate_class, (&name, &desc)));
        }
        let add = |to: &mut BTreeMap<usize, Vec<u8>>, lists: [BTreeMap<usize, Vec<u8>>; 2]| {
            for (insn, bytes) in lists.into_iter().flatten() {
                to.entry(insn).or_default().extend(bytes);
            }
        };
        add(&mut code.before, [save_before, evaluate_before]);
        add(&mut code.after, [save_after, evaluate_after]);
        code.locals = u16::try_from(locals_before + saved.most).ok()?;
        code.stack = code.stack.max(u16::try_from(deepest).ok()?);
        Some(())
    }
}
