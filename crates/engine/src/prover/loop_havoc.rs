//! The havocked state of a loop: it represents the start of any iteration, with everything unconstrained that the loop
//! can change.

use crate::exec::executor::Executor;
use crate::exec::memory::late_aliases::hits;
use crate::exec::memory::object_layout::layout;
use crate::prover::abstract_state::{AbstractCell, AbstractState};
use crate::prover::abstract_value::{AbstractValue, Base, PointsTo};
use crate::prover::invariant_candidates::{Candidate, LoopVar, Var, definitions};
use crate::prover::loop_effects::{LoopEffects, PointerOrigin, PointerOrigins};
use crate::state::State;
use crate::state::memory::{Assembled, Cell, Contents, Object, ObjectKind, ObjectShape, assemble, global_object};
use crate::state::value::{LazyPointerId, ObjectId, Pointer, Scalar, Value};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Id;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_ir::{FuncId, Operand, Reg, SlotId, Ty, mask};
use touchstone_solver::{Element, Facts, Rel, TermId, Terms};

/// The maximum size of an object that a loop writes.
const MAX_OBJECT_BYTES: u64 = 4096;
/// The maximum number of registers that may be undefined: each doubles the number of states.
const MAX_UNDEFINED_REGISTERS: usize = 2;
/// The maximum number of memory scalars that are related to other variables.
const MAX_MEMORY_VARIABLES: usize = 8;

/// The changes of a loop in a state.
pub(crate) struct LoopHavoc {
    /// Objects that the loop may write.
    pub written: BTreeSet<ObjectId>,
    /// Registers that may be undefined at the head.
    maybe_undefined: Vec<Reg>,
}

/// The points-to set of a pointer in a state.
struct PointsToSet {
    objects: BTreeSet<ObjectId>,
    /// True if the pointer may point anywhere.
    anywhere: bool,
    /// True if the pointer may be something else than a pointer into one of the objects.
    other: bool,
}

impl LoopHavoc {
    /// Computes the changes of a loop that is entered in this state; `None` if they are unknown, `Err` if a symbolic
    /// pointer must be materialised first.
    pub fn plan(
        executor: &Executor<'_>,
        state: &State,
        found: &LoopEffects,
        known: Option<&AbstractState>,
        is_shared: impl Fn(FuncId, SlotId) -> bool,
    ) -> Result<Option<LoopHavoc>, LazyPointerId> {
        let targets = targets_of(state, &found.writes)?;
        let mut written = targets.objects;
        if targets.anywhere {
            // An input object that was not materialised yet could not be havocked.
            if state.inputs.has_lazy_pointers() {
                return Ok(None);
            }
            let own: BTreeSet<ObjectId> = state
                .frames
                .iter()
                .flat_map(|frame| frame.slots.iter().enumerate().map(move |(slot, object)| (frame.func, slot, *object)))
                // After its slots a frame lists its dynamic allocations: their addresses may have escaped.
                .filter(|(func, slot, _)| {
                    *slot < executor.module.functions[*func].slots.len() && !is_shared(*func, SlotId::new(*slot))
                })
                .map(|(_, _, object)| object)
                .collect();
            written.extend(state.memory.ids().filter(|id| !own.contains(id)));
        }
        // A write through one input pointer may change the pointees of others.
        let shared: Vec<ObjectId> = written.iter().flat_map(|id| executor.overlapping_objects(state, *id)).collect();
        written.extend(shared);
        written.retain(|id| {
            let object = state.memory.get(*id);
            let unused = matches!(&object.contents, Contents::Cells(cells) if cells.len() as u64 != object.size);
            object.live && object.kind != ObjectKind::Constant && !unused
        });
        let is_open = |object: &Object| matches!(object.shape, ObjectShape::Variant { .. });
        if written.iter().map(|id| state.memory.get(*id)).any(|known| known.size > MAX_OBJECT_BYTES || is_open(known)) {
            return Ok(None);
        }
        // Pointers that the loop changes must be materialised before.
        let function = &executor.module.functions[state.top().func];
        for (reg, roots) in &found.pointers {
            if found.live.contains(reg) && function.regs[*reg].ty == Ty::Ptr {
                targets_of(state, roots)?;
            }
        }
        let certain = |reg: &Reg| known.is_some_and(|known| known.is_defined(Operand::Reg(*reg)));
        let maybe_undefined: Vec<Reg> =
            found.changed.iter().copied().filter(|reg| found.live.contains(reg) && !certain(reg)).collect();
        if maybe_undefined.len() > MAX_UNDEFINED_REGISTERS {
            return Ok(None);
        }
        Ok(Some(LoopHavoc { written, maybe_undefined }))
    }

    /// Returns the variables of candidate invariants, with their values on entry.
    pub fn variables(&self, executor: &mut Executor<'_>, state: &State, found: &LoopEffects) -> Vec<LoopVar> {
        let function = &executor.module.functions[state.top().func];
        let mut vars = Vec::new();
        let registers: Vec<Var> = found
            .live
            .iter()
            .filter(|reg| matches!(function.regs[**reg].ty, Ty::Int(_)))
            .map(|reg| Var::Reg(*reg))
            .collect();
        let pieces: Vec<Var> =
            self.written.iter().flat_map(|id| pieces(executor, state, *id)).take(MAX_MEMORY_VARIABLES).collect();
        for var in registers.into_iter().chain(pieces) {
            let changed = match var {
                Var::Reg(reg) => found.changed.contains(&reg),
                Var::Cell { .. } => true,
            };
            if let Some(entry) = executor.integer_value(state, var) {
                vars.push(LoopVar { var, width: executor.terms.width(entry), entry, changed });
            }
        }
        vars
    }

    /// Returns the states that together represent the start of any iteration, each with constraints on its fresh
    /// variables. Equations among the `assumed` candidates determine some registers; `entry` are the values on entry.
    pub fn states(
        &self,
        executor: &mut Executor<'_>,
        state: &State,
        found: &LoopEffects,
        known: Option<&AbstractState>,
        assumed: &[Candidate],
        entry: &BTreeMap<Var, TermId>,
    ) -> Vec<(State, Vec<TermId>)> {
        let mut any = state.clone();
        let mut constraints = Vec::new();
        let defined = definitions(assumed);
        for &reg in found.changed.iter().filter(|reg| !defined.contains_key(reg)) {
            let value = match found.live.contains(&reg) {
                true => self.register(executor, state, found, reg, known, &mut constraints),
                // The register is written before it is read.
                false => Value::Undefined,
            };
            any.set(reg, value);
        }
        for (reg, equation) in defined {
            let (Candidate::Step(_, _, other) | Candidate::Sum(_, other)) = equation else { continue };
            let value = executor.integer_value(&any, other);
            let now = |var: Var| value.filter(|_| var == other);
            let solved = equation.solved(&mut executor.terms, &now, &|var| entry.get(&var).copied());
            let value = match solved {
                Some(term) => {
                    if let Some(AbstractValue::Int(facts)) = known.map(|known| known.reg(reg)) {
                        constrain(&mut executor.terms, term, &facts, &mut constraints);
                    }
                    Value::term(&executor.terms, term)
                }
                None => self.register(executor, state, found, reg, known, &mut constraints),
            };
            any.set(reg, value);
        }
        for &object in self.written.iter().filter(|_| !is_injected(Fault::LoopKeepsMemory)) {
            self.object(executor, &mut any, object, found, known, &mut constraints);
        }
        let mut states = vec![(any, constraints)];
        for &reg in &self.maybe_undefined {
            let without: Vec<(State, Vec<TermId>)> = states
                .iter()
                .map(|(state, constraints)| {
                    let mut state = state.clone();
                    state.set(reg, Value::Undefined);
                    (state, constraints.clone())
                })
                .collect();
            states.extend(without);
        }
        states
    }

    fn register(
        &self,
        executor: &mut Executor<'_>,
        state: &State,
        found: &LoopEffects,
        reg: Reg,
        known: Option<&AbstractState>,
        constraints: &mut Vec<TermId>,
    ) -> Value {
        let info = &executor.module.functions[state.top().func].regs[reg];
        let name = info.name.clone().unwrap_or_else(|| "loop".to_string());
        let fresh = executor.terms.var(info.ty.bits(), &name);
        let known = known.map(|known| known.reg(reg));
        match (info.ty, known) {
            (Ty::Int(_), Some(AbstractValue::Int(facts))) => {
                constrain(&mut executor.terms, fresh, &facts, constraints);
                Value::term(&executor.terms, fresh)
            }
            (Ty::Int(_), _) => Value::term(&executor.terms, fresh),
            (Ty::Ptr, known) => {
                let targets = found.pointers.get(&reg).and_then(|roots| targets_of(state, roots).ok());
                let only = targets.filter(|targets| !targets.anywhere && !targets.other && targets.objects.len() == 1);
                let Some(object) = only.and_then(|targets| targets.objects.first().copied()) else {
                    return Value::term(&executor.terms, fresh);
                };
                if let Some(AbstractValue::Ptr(pointer)) = known
                    && let PointsTo::Known(_, offsets) = pointer.object
                    && !pointer.bare
                {
                    constrain(&mut executor.terms, fresh, &offsets, constraints);
                }
                Value::Ptr(Pointer { object, offset: Scalar::Term(fresh) })
            }
        }
    }

    fn object(
        &self,
        executor: &mut Executor<'_>,
        any: &mut State,
        id: ObjectId,
        found: &LoopEffects,
        known: Option<&AbstractState>,
        constraints: &mut Vec<TermId>,
    ) {
        let base = base_of(executor, any, id);
        let mut cells = Vec::new();
        let mut elements = Vec::new();
        let layout = layout(executor, any, id);
        for &(offset, bytes) in &layout {
            let fresh = executor.terms.var(8 * bytes, "memory");
            cells.extend((0..bytes).map(|index| Cell::Part { term: fresh, index }));
            elements.push(Element { offset, bytes, term: fresh });
            let cell = base.map(|base| AbstractCell { base, offset, bytes });
            if let Some(AbstractValue::Int(facts)) = known.zip(cell).and_then(|(known, cell)| known.cell(&cell))
                && facts.width == 8 * bytes
            {
                constrain(&mut executor.terms, fresh, &facts, constraints);
            }
        }
        let begun = matches!(base, Some(Base::Slot(slot)) if found.begun.contains(&slot));
        let written = match &any.memory.get(id).contents {
            Contents::Cells(cells) => !cells.contains(&Cell::Undefined),
            Contents::Delayed { defined, .. } => defined.is_none(),
        };
        let size = any.memory.get(id).size;
        any.memory.get_mut(id).contents = if written && !begun && !found.copies {
            Contents::Cells(cells)
        } else {
            // It is unknown as well which bytes were written by now.
            let flags = (0..size).map(|offset| {
                let term = executor.terms.var(8, "written");
                Element { offset, bytes: 1, term }
            });
            let flags = flags.collect();
            let defined = Some(executor.terms.base_array(size, flags));
            Contents::Delayed { array: executor.terms.base_array(size, elements), defined, pointers: Vec::new() }
        };
    }
}

/// Returns the name of an object in the fixpoint.
fn base_of(executor: &Executor<'_>, state: &State, id: ObjectId) -> Option<Base> {
    let slots = executor.module.functions[state.top().func].slots.len();
    let slot = state.top().slots[..slots].iter().position(|slot| *slot == id);
    let slot = slot.map(|slot| Base::Slot(SlotId::new(slot)));
    slot.or_else(|| {
        let global = executor.module.globals.ids().find(|global| global_object(*global) == id);
        global.map(Base::Global)
    })
}

fn pieces(executor: &Executor<'_>, state: &State, id: ObjectId) -> Vec<Var> {
    let make = |(offset, bytes)| Var::Cell { object: id, offset, bytes };
    layout(executor, state, id).into_iter().take(MAX_MEMORY_VARIABLES).map(make).collect()
}

/// Returns the points-to set of pointer origins; `Err` if a symbolic pointer must be materialised first.
fn targets_of(state: &State, roots: &PointerOrigins) -> Result<PointsToSet, LazyPointerId> {
    let mut targets = PointsToSet { objects: BTreeSet::new(), anywhere: roots.anywhere, other: false };
    for root in &roots.known {
        match root {
            PointerOrigin::Slot(slot) => {
                targets.objects.insert(state.top().slots[slot.index()]);
            }
            PointerOrigin::Global(global) => {
                targets.objects.insert(global_object(*global));
            }
            PointerOrigin::Entry(reg) => add_value(state, &state.top().regs[reg.index()], &mut targets)?,
        }
    }
    Ok(targets)
}

fn add_value(state: &State, value: &Value, targets: &mut PointsToSet) -> Result<(), LazyPointerId> {
    match value {
        Value::Ptr(pointer) => {
            targets.objects.insert(pointer.object);
        }
        Value::LazyPointer(id) => match state.inputs.target_of(*id) {
            Some(decided) => add_value(state, &decided.clone(), targets)?,
            None => return Err(*id),
        },
        Value::Choice(options) => {
            for (_, option) in options.iter() {
                add_value(state, option, targets)?;
            }
            targets.other |= options.len() > 1;
        }
        Value::Int(Scalar::Const(0)) => targets.other = true,
        Value::Int(_) | Value::Bytes(_) => targets.anywhere = true,
        // A path that uses it stops.
        Value::Undefined => {}
    }
    Ok(())
}

/// Adds the constraints that facts imply for a term.
fn constrain(terms: &mut Terms, term: TermId, facts: &Facts, constraints: &mut Vec<TermId>) {
    let width = terms.width(term);
    if facts.width != width || facts.is_empty() {
        return;
    }
    let mut relate = |terms: &mut Terms, rel: Rel, low: u64, high: u64| {
        let (low, high) = (terms.constant(width, low), terms.constant(width, high));
        constraints.push(terms.cmp(rel, low, term));
        constraints.push(terms.cmp(rel, term, high));
    };
    relate(terms, Rel::Ule, facts.unsigned.0, facts.unsigned.1);
    relate(terms, Rel::Sle, mask(facts.signed.0 as u64, width), mask(facts.signed.1 as u64, width));
    let certain = facts.zeros | facts.ones;
    if certain != 0 {
        let (bits, ones) = (terms.constant(width, certain), terms.constant(width, facts.ones));
        let these = terms.bin(touchstone_solver::Op::And, term, bits);
        constraints.push(terms.eq(these, ones));
    }
}

impl Executor<'_> {
    /// Returns the integer value of a variable in a state, if it certainly has one.
    pub(crate) fn integer_value(&mut self, state: &State, var: Var) -> Option<TermId> {
        match var {
            Var::Reg(reg) => {
                let Ty::Int(bits) = self.module.functions[state.top().func].regs[reg].ty else { return None };
                match &state.top().regs[reg.index()] {
                    Value::Int(scalar) => Some(scalar.term(&mut self.terms, bits)),
                    _ => None,
                }
            }
            Var::Cell { object, offset, bytes } => match &state.memory.get(object).contents {
                Contents::Cells(cells) => {
                    let cells = cells.get(offset as usize..offset as usize + usize::from(bytes))?;
                    match assemble(cells, Ty::Int(8 * bytes), &mut self.terms, &self.pointers) {
                        Assembled::Value(Value::Int(scalar)) => Some(scalar.term(&mut self.terms, 8 * bytes)),
                        _ => None,
                    }
                }
                Contents::Delayed { defined: Some(_), .. } => None,
                contents @ Contents::Delayed { array, defined: None, .. } => {
                    let array = *array;
                    if hits(offset, u64::from(bytes), &contents.pointer_runs()) {
                        return None;
                    }
                    let offset = self.terms.constant(64, offset);
                    Some(self.terms.read(array, offset, bytes))
                }
            },
        }
    }
}
