//! Overlap and aliasing of objects that exist before the call: input objects, and globals that pointers from outside
//! may reach.

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
use touchstone_base::fault::{Fault, is_injected};
use touchstone_criteria::{Bound, Caveat, Incomplete, Unspecified};
use touchstone_ir::{DataType, DataTypeId, GlobalId, Linkage, MemorySharing};

/// The type and length of an object that exists before the call.
#[derive(Clone, Copy)]
struct Extent {
    element: DataTypeId,
    /// True if it has more than one element.
    many: bool,
    /// True if the user gave the number of elements, and with it the object's end.
    exact: bool,
    global: bool,
}

impl Executor<'_> {
    /// Records an access outside of an input object: a pointer may point into the middle of a larger object, and a
    /// declared length binds no caller. A length given by the user is exact.
    pub(crate) fn note_out_of_bounds(&mut self, state: &State, pointer: Pointer, span: Span) {
        let Some(here) = self.extent(state, pointer.object).filter(|here| !here.global) else { return };
        // A label's predicate is undefined there and does not hold.
        if state.is_folded() {
            return;
        }
        let (before, behind) = match pointer.offset {
            Scalar::Const(offset) => ((offset as i64) < 0, (offset as i64) >= 0),
            Scalar::Term(offset) => (self.solver.range(&self.terms, &state.path, offset).unsigned.1 >= 1 << 63, true),
        };
        if before && self.considers(Caveat::Overlap) {
            self.give_up(Incomplete::Doubt(Caveat::Overlap), span, 1);
        }
        if behind && !here.exact {
            match self.policy.environment {
                Environment::Testable => self.ledger.excluded_inputs = true,
                Environment::Any => self.give_up(Incomplete::Bound(Bound::Length), span, 1),
            }
        }
    }

    /// Returns true if pointers into two objects may be equal: the objects overlap, or one begins where the other ends.
    pub(crate) fn may_be_equal(&mut self, state: &State, a: &Pointer, b: &Pointer, span: Span) -> Result<bool, Stop> {
        let start = |pointer: &Pointer| pointer.offset == Scalar::Const(0);
        let (least_a, least_b) = (self.min_size(state, a.object), self.min_size(state, b.object));
        let at_end = |pointer: &Pointer| match pointer.offset {
            Scalar::Const(offset) => offset >= if pointer.object == a.object { least_a } else { least_b },
            Scalar::Term(_) => true,
        };
        let gone = |pointer: &Pointer| !state.memory.get(pointer.object).live;
        if gone(a) || gone(b) {
            let what = "freed memory may be allocated again".to_string();
            let caveat = Caveat::Unspecified(Unspecified::Said(what));
            return match self.policy.environment {
                Environment::Testable => Err(self.stop_for_caveat(caveat, span)),
                Environment::Any => Ok(self.considers(caveat)),
            };
        }
        // The addresses of undefined variables are chosen by other files.
        if self.is_undefined_variable(a.object) || self.is_undefined_variable(b.object) {
            return Ok(self.considers(Caveat::Overlap));
        }
        if self.is_literal(a.object) && self.is_literal(b.object) {
            let what = "equal string literals, and ends of them, may be one object".to_string();
            return Ok(self.considers(Caveat::Unspecified(Unspecified::Said(what))));
        }
        let (Some(x), Some(y)) = (self.extent(state, a.object), self.extent(state, b.object)) else {
            let possible = at_end(a) || at_end(b) || self.may_hold_constant(state, a, b);
            return Ok(possible && self.considers(Caveat::Overlap));
        };
        let same = self.same_layout(x.element, y.element);
        let distinct = same && start(a) && start(b);
        // The case that a pointer points into the other's object is explored separately if that object is older and has
        // a known length.
        let case = |first: &Pointer, later: &Pointer| start(later) && self.is_older_with_length(state, first, later);
        if same && (case(a, b) || case(b, a)) {
            return Ok(false);
        }
        let (array, other) = (self.is_declared_array(state, a), self.is_declared_array(state, b));
        let explored = |(array, other): &(ObjectId, ObjectId)| {
            (*array, *other) == (a.object, b.object) || (*array, *other) == (b.object, a.object)
        };
        if same && (array || other) && !state.inputs.distinct_arrays.iter().any(explored) {
            return Ok(self.considers(Caveat::Overlap));
        }
        // A pointer may hold an address of another type as long as it is not dereferenced.
        let only_held = !(same || (x.global && y.global));
        let possible = only_held || at_end(a) || at_end(b) || (!distinct && self.may_overlap(x, y));
        Ok(possible && self.considers(Caveat::Overlap))
    }

    /// Returns true if one of two pointers is an input and the other points to a constant that it may point to, too:
    /// the sentinel of a list, an exported default.
    fn may_hold_constant(&self, state: &State, a: &Pointer, b: &Pointer) -> bool {
        let is_input = |pointer: &Pointer| state.memory.get(pointer.object).kind == ObjectKind::Input;
        (is_input(a) && self.is_reachable_constant(b.object)) || (is_input(b) && self.is_reachable_constant(a.object))
    }

    /// Returns true if an object is a literal that represents no function.
    fn is_literal(&self, object: ObjectId) -> bool {
        let global = self.module.globals.get(GlobalId::new(object.index()));
        global.is_some_and(|global| global.linkage == Linkage::Literal && global.function.is_none())
    }

    /// Returns true if an object is a constant whose address a pointer from outside may hold.
    pub(crate) fn is_reachable_constant(&self, object: ObjectId) -> bool {
        self.reachable_constants.contains(&GlobalId::new(object.index())) && !is_injected(Fault::UnreachableConstants)
    }

    /// Returns true if an input object of known length is older than another one.
    fn is_older_with_length(&self, state: &State, first: &Pointer, later: &Pointer) -> bool {
        let inputs = &state.inputs.objects;
        let place = |pointer: &Pointer| inputs.iter().position(|input| input.object == pointer.object);
        match (place(first), place(later)) {
            (Some(first), Some(later)) => first < later && !inputs[first].default_length && !inputs[later].unaliased,
            _ => false,
        }
    }

    /// Returns true if a pointer points to the object of a parameter that is declared as an array.
    fn is_declared_array(&self, state: &State, pointer: &Pointer) -> bool {
        state.inputs.objects.iter().any(|input| input.object == pointer.object && input.unaliased)
    }

    /// Returns the minimum size of an object in bytes.
    fn min_size(&mut self, state: &State, object: ObjectId) -> u64 {
        let object = state.memory.get(object);
        object.shape.size().map_or(object.size, |size| self.solver.range(&self.terms, &state.path, size).unsigned.0)
    }

    /// Returns true if an object is a variable that no given file defines.
    pub(crate) fn is_undefined_variable(&self, object: ObjectId) -> bool {
        let global = self.module.globals.get(GlobalId::new(object.index()));
        global.is_some_and(|global| global.linkage == Linkage::Undefined && global.function.is_none())
    }

    /// Havocs the objects that a write to this one may also change.
    pub(crate) fn havoc_overlapping(
        &mut self,
        state: &mut State,
        object: ObjectId,
        intent: Intent,
        span: Span,
    ) -> Result<(), Stop> {
        let Intent::Write(written) = intent else { return Ok(()) };
        if is_injected(Fault::NoOverlap) {
            return Ok(());
        }
        if self.policy.environment == Environment::Testable && self.ledger.caveats.contains(&Caveat::Overlap) {
            return Ok(());
        }
        let Some(here) = self.extent(state, object) else { return Ok(()) };
        // The testable environment only records that overlapping objects may exist: later ones are not created yet.
        let others = match self.policy.environment {
            Environment::Testable => vec![object],
            Environment::Any => self.overlapping(state, object, here, written),
        };
        if others.is_empty() || !self.considers(Caveat::Overlap) {
            return Ok(());
        }
        others.into_iter().try_for_each(|other| self.havoc_object(state, other, written, Caveat::Overlap, span))
    }

    /// Returns the objects that a write to this one may change.
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

    /// Returns the extent of an object that pointers from outside may point to.
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
                let (many, exact) = match self.module.types[data].has_intrinsic_size() {
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

    /// Returns true if two objects may share bytes. The case that they are one object is explored separately
    /// (`inputs/materialisation.rs`).
    fn may_overlap(&self, a: Extent, b: Extent) -> bool {
        if a.global && b.global {
            return false;
        }
        if self.same_layout(a.element, b.element) {
            return (a.many || b.many) && !(a.exact && b.exact);
        }
        let everything = |data: DataTypeId| self.module.pointee(data).shares == MemorySharing::Everything;
        everything(a.element)
            || everything(b.element)
            || self.contains(a.element, b.element)
            || self.contains(b.element, a.element)
    }

    /// Returns true if a value of one type may contain one of another, or be compatible with it.
    fn contains(&self, whole: DataTypeId, part: DataTypeId) -> bool {
        if whole == part {
            return true;
        }
        let (outside, inside) = (self.module.pointee(whole), self.module.pointee(part));
        let types = &self.module.types;
        outside.part == inside.part
            || matches!(outside.shares, MemorySharing::AnyPart | MemorySharing::Unknown)
            || inside.shares == MemorySharing::Unknown
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
