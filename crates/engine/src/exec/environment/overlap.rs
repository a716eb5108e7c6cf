//! OVERLAP

use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::exec::memory::access::{Intent, Written};
use crate::state::inputs::InputObject;
use crate::state::memory::{Contents, ObjectKind, global_object};
use crate::state::value::{ObjectId, Pointer, Scalar};
use crate::state::{State, Stop};
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_base::Span;
use touchstone_criteria::{Bound, Doubt, Incomplete, Unsettled};
use touchstone_ir::{DataType, DataTypeId, GlobalId, Linkage, Shares};

/// What an object from outside is made of.
#[derive(Clone, Copy)]
struct Extent {
    element: DataTypeId,
    /// More than one element.
    many: bool,
    /// The user said how many, and so where the object ends.
    exact: bool,
    global: bool,
}

impl Executor<'_> {
    /// An access outside of an input object: a pointer may lead into the middle of a larger one, and a declared length binds no
    /// caller. What the user says of a length holds.
    pub(crate) fn note_out_of_bounds(&mut self, state: &State, pointer: Pointer, span: Span) {
        let Some(here) = self.extent(state, pointer.object).filter(|here| !here.global) else { return };
        // A label's predicate that union_accesses there is not defined, and does not hold.
        if state.is_folded() {
            return;
        }
        let (before, behind) = match pointer.offset {
            Scalar::Const(offset) => ((offset as i64) < 0, (offset as i64) >= 0),
            Scalar::Term(offset) => (self.solver.range(&self.terms, &state.path, offset).unsigned.1 >= 1 << 63, true),
        };
        if before && self.doubts(Doubt::Overlap) {
            self.give_up(Incomplete::Doubt(Doubt::Overlap), span, 1);
        }
        if behind && !here.exact {
            match self.policy.environment {
                Environment::Testable => self.ledger.excluded_inputs = true,
                Environment::Any => self.give_up(Incomplete::Bound(Bound::Length), span, 1),
            }
        }
    }

    /// Whether pointers into two objects may be equal: the objects overlap, or one begins where the other ends.
    pub(crate) fn may_be_equal(&mut self, state: &State, a: &Pointer, b: &Pointer, span: Span) -> Result<bool, Stop> {
        let start = |pointer: &Pointer| pointer.offset == Scalar::Const(0);
        let (least_a, least_b) = (self.min_size(state, a.object), self.min_size(state, b.object));
        let at_end = |pointer: &Pointer| match pointer.offset {
            Scalar::Const(offset) => offset >= if pointer.object == a.object { least_a } else { least_b },
            Scalar::Term(_) => true,
        };
        let gone = |pointer: &Pointer| !state.memory.get(pointer.object).live;
        if gone(a) || gone(b) {
            let what = "memory that was given back may be given out again".to_string();
            let doubt = Doubt::Unsettled(Unsettled::Said(what));
            return match self.policy.environment {
                Environment::Testable => Err(self.stop_for_doubt(doubt, span)),
                Environment::Any => Ok(self.doubts(doubt)),
            };
        }
        // Where others put their variables is theirs to say.
        if self.is_undefined_variable(a.object) || self.is_undefined_variable(b.object) {
            return Ok(self.doubts(Doubt::Overlap));
        }
        let (Some(x), Some(y)) = (self.extent(state, a.object), self.extent(state, b.object)) else {
            return Ok((at_end(a) || at_end(b)) && self.doubts(Doubt::Overlap));
        };
        let same = self.same_layout(x.element, y.element);
        let distinct = same && start(a) && start(b);
        // A pointer into the other's object is a case of its own if that object was there first, with all its elements.
        let case = |first: &Pointer, later: &Pointer| start(later) && self.is_older_with_length(state, first, later);
        if same && (case(a, b) || case(b, a)) {
            return Ok(false);
        }
        // A pointer may hold the address of what its type can't be used for, as long as nobody reads through it.
        let only_held = !(same || (x.global && y.global));
        let possible = only_held || at_end(a) || at_end(b) || (!distinct && self.may_overlap(x, y));
        Ok(possible && self.doubts(Doubt::Overlap))
    }

    /// Whether an input object of known length was made before another.
    fn is_older_with_length(&self, state: &State, first: &Pointer, later: &Pointer) -> bool {
        let inputs = &state.inputs.objects;
        let place = |pointer: &Pointer| inputs.iter().position(|input| input.object == pointer.object);
        match (place(first), place(later)) {
            (Some(first), Some(later)) => first < later && !inputs[first].default_length && !inputs[later].unaliased,
            _ => false,
        }
    }

    /// What an object has at least, in bytes.
    fn min_size(&mut self, state: &State, object: ObjectId) -> u64 {
        let object = state.memory.get(object);
        object.shape.size().map_or(object.size, |size| self.solver.range(&self.terms, &state.path, size).unsigned.0)
    }

    /// Whether an object is a variable that no given file defines.
    pub(crate) fn is_undefined_variable(&self, object: ObjectId) -> bool {
        let global = self.module.globals.get(GlobalId::new(object.index()));
        global.is_some_and(|global| global.linkage == Linkage::Undefined && global.function.is_none())
    }

    /// An object is accessed: a write may change what other input pointers lead to.
    pub(crate) fn havoc_overlapping(
        &mut self,
        state: &mut State,
        object: ObjectId,
        intent: Intent,
        span: Span,
    ) -> Result<(), Stop> {
        let Intent::Write(written) = intent else { return Ok(()) };
        if self.policy.environment == Environment::Testable && self.ledger.doubts.contains(&Doubt::Overlap) {
            return Ok(());
        }
        let Some(here) = self.extent(state, object) else { return Ok(()) };
        // The tested world only has to know that there may be others: later ones are not there yet.
        let others = match self.policy.environment {
            Environment::Testable => vec![object],
            Environment::Any => self.overlapping(state, object, here, written),
        };
        if others.is_empty() || !self.doubts(Doubt::Overlap) {
            return Ok(());
        }
        others.into_iter().try_for_each(|other| self.havoc_object(state, other, written, Doubt::Overlap, span))
    }

    /// Objects from outside that a write to this one may change.
    pub(crate) fn overlapping_objects(&self, state: &State, object: ObjectId) -> Vec<ObjectId> {
        let all = |here| self.overlapping(state, object, here, Written::Bytes);
        self.extent(state, object).map_or(Vec::new(), all)
    }

    fn overlapping(&self, state: &State, object: ObjectId, here: Extent, written: Written) -> Vec<ObjectId> {
        let inputs = state.inputs.objects.iter().map(|input| input.object);
        let globals = self.reachable_globals.iter().filter(|_| !here.global).map(|id| global_object(*id));
        let others = inputs.chain(globals).filter(|other| *other != object);
        // Bytes may be copied to objects of any type.
        let meets = |there: Extent| match written {
            Written::Bytes if !self.same_layout(here.element, there.element) => true,
            _ => self.may_overlap(here, there),
        };
        others.filter(|other| self.extent(state, *other).is_some_and(meets)).collect()
    }

    /// What an object that somebody outside may have a pointer to is made of.
    fn extent(&self, state: &State, id: ObjectId) -> Option<Extent> {
        let object = state.memory.get(id);
        let used = !matches!(&object.contents, Contents::Cells(cells) if cells.len() as u64 != object.size);
        if !object.live || !used {
            return None;
        }
        let data = object.data?;
        match object.kind {
            ObjectKind::Input => {
                let mut inputs = state.inputs.objects.iter();
                let said =
                    |input: &Rc<InputObject>| input.object == id && self.config.lengths.contains_key(&input.name);
                let (many, exact) = match self.module.types[data].says_its_size() {
                    true => (false, true),
                    false => (object.size > self.size_of(data), inputs.any(said)),
                };
                Some(Extent { element: data, many, exact, global: false })
            }
            ObjectKind::Global if self.reachable_globals.contains(&GlobalId::new(id.index())) => {
                let (element, many) = match self.module.types[data] {
                    DataType::Array { element, length } => (element, length > 1),
                    _ => (data, false),
                };
                Some(Extent { element, many, exact: false, global: true })
            }
            _ => None,
        }
    }

    /// Whether two objects may share bytes. One that is the same as another is a case of its own (`inputs.rs`).
    fn may_overlap(&self, a: Extent, b: Extent) -> bool {
        if a.global && b.global {
            return false;
        }
        if self.same_layout(a.element, b.element) {
            return (a.many || b.many) && !(a.exact && b.exact);
        }
        let everything = |data: DataTypeId| self.module.pointee(data).shares == Shares::Everything;
        everything(a.element)
            || everything(b.element)
            || self.contains(a.element, b.element)
            || self.contains(b.element, a.element)
    }

    /// Whether a value of one type may have one of another as a part, or be one of it under another name.
    fn contains(&self, whole: DataTypeId, part: DataTypeId) -> bool {
        if whole == part {
            return true;
        }
        let (outside, inside) = (self.module.pointee(whole), self.module.pointee(part));
        let types = &self.module.types;
        outside.part == inside.part
            || matches!(outside.shares, Shares::AnyPart | Shares::Unknown)
            || inside.shares == Shares::Unknown
            || matches!(&types[part], DataType::OneOf { variants, .. }
                if variants.iter().any(|variant| self.contains(whole, variant.ty)))
            || match &types[whole] {
                DataType::Array { element, .. } => self.contains(*element, part),
                DataType::OneOf { variants, .. } => variants.iter().any(|variant| self.contains(variant.ty, part)),
                DataType::Union { members, .. } => members.iter().any(|member| self.contains(member.ty, part)),
                DataType::Struct { fields, .. } => fields.iter().any(|field| self.contains(field.ty, part)),
                _ => false,
            }
    }
}
