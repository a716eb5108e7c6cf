//! Materialisation: the possible pointees of a symbolic pointer, chosen at its first dereference (lazy initialisation).

use crate::config::InteriorPointers;
use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::growth::Room;
use crate::inputs::MAX_INPUT_OBJECT_BYTES;
use crate::state::inputs::{InputObject, LazyPointer, MAX_INPUT_BYTES, TailLength};
use crate::state::memory::{Cell, Object, ObjectKind, global_object};
use crate::state::value::{LazyPointerId, ObjectId, Pointer, Scalar, Value};
use crate::state::{PointerUse, State, Stop};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_base::{Id, Span};
use touchstone_criteria::{Bound, Unsupported};
use touchstone_ir::{DataType, DataTypeId, FuncId, GlobalId, PointeeShape, VariantTag};
use touchstone_solver::{Op, Rel};

/// The origin of the number of elements of an input object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// The user gave it.
    Given,
    /// A declaration as an array gave it.
    Declared,
    /// Unknown: one element.
    Default,
}

impl Executor<'_> {
    /// Materialises a symbolic pointer: a fresh object, null, or any earlier input object of the same element type.
    pub(crate) fn materialise(
        &mut self,
        state: &State,
        id: LazyPointerId,
        purpose: PointerUse,
    ) -> Vec<Result<State, Stop>> {
        let lazy = state.inputs.lazy_pointers[id].clone();
        let mut options = self.materialise_cast(state, id, &lazy, purpose);
        if let Some(pointee) =
            lazy.cast_to.or(lazy.pointee).filter(|_| self.config.interior_pointers == InteriorPointers::Included)
        {
            options.extend(self.point_into_parts(state, id, self.element_of(pointee)));
        }
        options
    }

    /// Materialises a pointer to whole objects, of the type that it is cast to as well.
    fn materialise_cast(
        &mut self,
        state: &State,
        id: LazyPointerId,
        lazy: &LazyPointer,
        purpose: PointerUse,
    ) -> Vec<Result<State, Stop>> {
        let Some(cast_to) = lazy.cast_to.filter(|_| !self.config.lengths.contains_key(&*lazy.name)) else {
            return self.materialise_as(state, id, lazy, purpose);
        };
        let mut options =
            self.materialise_as(state, id, &LazyPointer { pointee: Some(cast_to), ..lazy.clone() }, purpose);
        // The pointer may also have its declared type; only later rounds rely on the cast.
        if self.config.growth.is_none() {
            let is_null = |state: &State| state.inputs.materialised.contains(&(id, Value::NULL));
            let others = self.materialise_as(state, id, lazy, purpose).into_iter();
            options.extend(others.filter(|option| !option.as_ref().is_ok_and(is_null)));
        }
        options
    }

    /// Records that the program casts a pointer to this type, if the declaration allows it.
    pub(crate) fn set_cast(&mut self, state: &mut State, pointer: &Value, ty: u64) {
        let Value::LazyPointer(id) = *pointer else { return };
        let lazy = &state.inputs.lazy_pointers[id];
        let (ty, types) = (DataTypeId::new(ty as usize), &self.module.types);
        let may_be = lazy.pointee.is_some_and(|pointee| types[ty].is_compatible_with(pointee, types));
        if may_be && lazy.cast_to != Some(ty) {
            state.inputs_mut().set_cast(id, Some(ty));
        }
    }

    /// Returns a state for every possible target of a symbolic pointer with this pointee.
    pub(super) fn materialise_as(
        &mut self,
        state: &State,
        id: LazyPointerId,
        lazy: &LazyPointer,
        purpose: PointerUse,
    ) -> Vec<Result<State, Stop>> {
        if let Some(options) = self.same_object_targets(state, id, lazy, purpose) {
            return options;
        }
        let Some(pointee) = lazy.pointee else {
            let unknown = Unsupported::UnknownPointee(lazy.name.to_string());
            return vec![Ok(state.clone().with_target(id, Value::NULL)), Err(Stop::unsupported(unknown, Span::none()))];
        };
        if let Some(array) = lazy.array {
            return self.array_targets(state, id, lazy, array, purpose);
        }
        if matches!(self.module.pointee(pointee).stands, PointeeShape::Arguments | PointeeShape::Cursor) {
            let mut fresh = state.clone();
            let made = self.unaliased_pointee(&mut fresh, pointee, &lazy.name);
            return vec![made.map(|value| fresh.with_target(id, value))];
        }
        let functions = self.functions_of_type(pointee);
        let is_callback = |(_, id): &(GlobalId, FuncId)| self.module.functions[*id].is_callback();
        // A callback represents all external functions.
        let mut options = match self.config.externals && functions.iter().any(is_callback) {
            true => Vec::new(),
            false => self.fresh_targets(state, id, lazy, pointee, purpose),
        };
        // The functions of the program; others were given up above.
        for (global, _) in functions.iter() {
            options.push(Ok(state.clone().with_target(id, Value::pointer(global_object(*global), 0))));
        }
        // Later rounds do not explore null dereferences.
        if (self.config.growth.is_none() || purpose != PointerUse::Access) && !is_injected(Fault::DroppedNull) {
            options.push(Ok(state.clone().with_target(id, Value::NULL)));
        }
        self.add_aliases(state, id, lazy, pointee, purpose, &mut options);
        options
    }

    /// Returns the targets of a pointer that is ordered with a pointer into an object, if it can point into that
    /// object.
    fn same_object_targets(
        &mut self,
        state: &State,
        id: LazyPointerId,
        lazy: &LazyPointer,
        purpose: PointerUse,
    ) -> Option<Vec<Result<State, Stop>>> {
        let PointerUse::SameObject(object) = purpose else { return None };
        let other = state.inputs.objects.iter().find(|input| input.object == object)?;
        let fits = self.policy.environment == Environment::Testable
            && lazy.pointee.is_some_and(|pointee| self.same_layout(other.element, self.element_of(pointee)))
            && self.declared_elements(state, lazy).is_none_or(|length| length <= other.count);
        if !fits {
            return None;
        }
        // Pointers into different objects have no order; null is less than all others on common machines.
        self.ledger.excluded_inputs = true;
        Some(vec![self.inside(state, id, lazy, other, purpose), Ok(state.clone().with_target(id, Value::NULL))])
    }

    /// Returns the targets that are fresh objects, and the bounds for those that are not explored.
    fn fresh_targets(
        &mut self,
        state: &State,
        id: LazyPointerId,
        lazy: &LazyPointer,
        pointee: DataTypeId,
        purpose: PointerUse,
    ) -> Vec<Result<State, Stop>> {
        let element = self.element_of(pointee);
        if matches!(self.module.types[element], DataType::OneOf { .. }) {
            return self.variants(state, id, lazy, element);
        }
        if let Some(count) = self.module.types[element].count(&self.module.types) {
            return self.counted(state, id, lazy, (element, count), None);
        }
        if self.size_of(element) == 0 {
            return self.unsized_targets(state, id, lazy, pointee, purpose);
        }
        let length = self.declared_elements(state, lazy);
        let mut fresh = state.clone();
        if let Some(most) = self.config.strings.filter(|_| length.is_none() && self.is_string(pointee)) {
            let made = self.string_object(&mut fresh, pointee, most, &lazy.name);
            let made = made.map(|object| fresh.with_target(id, Value::pointer(object, 0)));
            return vec![made, Err(Stop::bound(Bound::Strings, Span::none()))];
        }
        if state.inputs.fresh >= self.config.max_objects && length.is_none() {
            return vec![Err(Stop::bound(Bound::MaxObjects, Span::none()))];
        }
        fresh.inputs_mut().fresh += 1;
        let types = &self.module.types;
        let (room, origin) = match length {
            Some(elements) => (Room { elements, ..self.room(&lazy.name) }, Length::Given),
            // The array at the object's end grows, not the number of objects.
            None if types[element].tail(types).is_some() => (Room::ONE, Length::Default),
            None => (self.room(&lazy.name), Length::Default),
        };
        let made = self.input_object(&mut fresh, element, room, &lazy.name, origin, None);
        let offset = room.before * self.size_of(element);
        vec![made.map(|object| fresh.with_target(id, Value::pointer(object, offset)))]
    }

    /// Returns the targets of a pointer to a function or to an incomplete type.
    fn unsized_targets(
        &mut self,
        state: &State,
        id: LazyPointerId,
        lazy: &LazyPointer,
        pointee: DataTypeId,
        purpose: PointerUse,
    ) -> Vec<Result<State, Stop>> {
        if !self.functions_of_type(pointee).is_empty() {
            let unknown = Unsupported::UnknownFunction(lazy.name.to_string());
            return vec![Err(Stop::unsupported(unknown, Span::none()))];
        }
        let mut options = Vec::new();
        if purpose != PointerUse::Access {
            // Only the address is used: an object of unknown type exists.
            let (mut fresh, element) = (state.clone(), self.element_of(pointee));
            let made = self.input_object(&mut fresh, element, Room::ONE, &lazy.name, Length::Default, None);
            options.push(made.map(|object| fresh.with_target(id, Value::pointer(object, 0))));
        }
        options.push(Err(Stop::unsupported(Unsupported::UnsizedObject(lazy.name.to_string()), Span::none())));
        options
    }

    /// Adds the targets that are existing input objects and globals.
    fn add_aliases(
        &mut self,
        state: &State,
        id: LazyPointerId,
        lazy: &LazyPointer,
        pointee: DataTypeId,
        purpose: PointerUse,
        options: &mut Vec<Result<State, Stop>>,
    ) {
        if is_injected(Fault::DroppedAlias) {
            return;
        }
        let element = self.element_of(pointee);
        for earlier in &state.inputs.objects {
            if let Some(cond) = self.may_point_to(earlier, element) {
                let inside = self.inside(state, id, lazy, earlier, purpose);
                options.push(inside.and_then(|mut alias| {
                    self.assume_all(&mut alias, cond.as_slice())?;
                    Ok(alias)
                }));
            }
        }
        for input in &state.inputs.globals {
            if let Some(global) = self.module.global_named(&input.name)
                && self.begins_with(input.data, pointee)
            {
                options.push(Ok(state.clone().with_target(id, Value::pointer(global_object(global), 0))));
            }
        }
        if let PointerUse::EqualTo(object, offset) = purpose
            && state.memory.get(object).data.is_some_and(|data| self.begins_with(data, pointee))
        {
            options.push(Ok(state.clone().with_target(id, Value::pointer(object, offset))));
        }
    }

    /// Creates the pointee of a pointer that is never null and never aliased.
    fn unaliased_pointee(&mut self, state: &mut State, pointee: DataTypeId, name: &str) -> Result<Value, Stop> {
        match self.module.pointee(pointee).stands {
            PointeeShape::Arguments => self.variadic_arguments(state, pointee),
            _ => {
                let object = self.input_object(state, pointee, Room::ONE, name, Length::Given, None)?;
                Ok(Value::pointer(object, 0))
            }
        }
    }

    /// Lets a symbolic pointer point into an object: to any element that has the declared number of elements behind it.
    fn inside(
        &mut self,
        state: &State,
        id: LazyPointerId,
        lazy: &LazyPointer,
        object: &InputObject,
        purpose: PointerUse,
    ) -> Result<State, Stop> {
        let needed = match (self.declared_elements(state, lazy), purpose) {
            // The object has no interior elements of its own type.
            _ if self.module.types[object.element].has_intrinsic_size() => 1,
            (Some(length), _) => length,
            (None, PointerUse::Access) => 1,
            (None, PointerUse::Compare | PointerUse::EqualTo(..)) if object.default_length => 1,
            (None, PointerUse::Compare | PointerUse::EqualTo(..) | PointerUse::SameObject(_)) => 0,
        };
        if object.default_length && self.is_walked_over(object.element, purpose) {
            // The program may walk over more than one element between the two pointers.
            let element = self.size_of(object.element);
            self.ledger.shortage.of(&object.name, element).more = true;
        }
        let mut alias = state.clone();
        let last = object.count.saturating_sub(needed);
        let offset = if last == 0 {
            Scalar::Const(0)
        } else {
            let index = self.input_var(alias.inputs_mut(), 64, &format!("{}@", lazy.name));
            let last = self.terms.constant(64, last);
            let inside = self.terms.cmp(Rel::Ule, index, last);
            self.assume_all(&mut alias, &[inside])?;
            let size = self.terms.constant(64, self.size_of(object.element));
            Scalar::Term(self.terms.bin(Op::Mul, index, size))
        };
        alias.inputs_mut().set_target(id, Value::Ptr(Pointer { object: object.object, offset }));
        Ok(alias)
    }

    /// Returns true if two compared pointers are probably the ends of a range that the program walks over. Pointers to
    /// structures may just be compared for identity.
    fn is_walked_over(&self, element: DataTypeId, purpose: PointerUse) -> bool {
        match purpose {
            PointerUse::Access => false,
            PointerUse::SameObject(_) => true,
            PointerUse::Compare | PointerUse::EqualTo(..) => {
                !matches!(self.module.types[element], DataType::Struct { .. } | DataType::OneOf { .. })
            }
        }
    }

    /// Creates an object that exists before the call; a variant has its tag.
    pub(super) fn input_object(
        &mut self,
        state: &mut State,
        element: DataTypeId,
        room: Room,
        name: &str,
        length: Length,
        tagged: Option<(VariantTag, u64)>,
    ) -> Result<ObjectId, Stop> {
        // A string that grew is terminated.
        let ends = room.elements > 1 && length == Length::Default && self.is_string(element);
        let count = room.before + room.elements + u64::from(ends);
        let is_array = length != Length::Default || count > 1;
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        let size = count.saturating_mul(self.size_of(element));
        if size > MAX_INPUT_OBJECT_BYTES {
            let what = Unsupported::LargeInput(size, name.to_string(), MAX_INPUT_OBJECT_BYTES);
            return Err(Stop::unsupported(what, Span::none()));
        }
        for index in 0..count {
            if cells.len() >= MAX_INPUT_BYTES {
                cells.resize(size as usize, Cell::Unmaterialised);
                break;
            }
            let part = if is_array { format!("{name}[{index}]") } else { format!("*{name}") };
            let part = part.strip_prefix('*').unwrap_or(&part).to_string();
            self.input_cells(state.inputs_mut(), element, &part, &mut constraints, &mut cells);
        }
        let tail = self.tail_length(element, name).filter(|_| count == 1);
        if let Some(length) = tail {
            self.tail_cells(state.inputs_mut(), element, name, length, &mut constraints, &mut cells);
        }
        if ends && let Some(last) = cells.last_mut() {
            *last = Cell::Byte(0);
            // No access goes beyond its terminator, so a longer string must be requested explicitly.
            self.ledger.shortage.of(name, 1).more = true;
        }
        let tail = tail.map(TailLength::Fixed);
        if let Some((tag, value)) = tagged {
            write_tag(&mut cells, tag, value);
        }
        let object = state.memory.alloc(Object::with_cells(cells.clone(), ObjectKind::Input, Some(element)));
        let (default_length, unaliased) = (length == Length::Default, length == Length::Declared);
        let (name, before) = (name.to_string(), room.before);
        let input =
            InputObject { object, name, element, count, is_array, before, default_length, unaliased, tail, cells };
        state.inputs_mut().objects.push(Rc::new(input));
        self.assume_all(state, &constraints)?;
        Ok(object)
    }

    /// Creates a string of at most `most` characters.
    fn string_object(
        &mut self,
        state: &mut State,
        element: DataTypeId,
        most: u32,
        name: &str,
    ) -> Result<ObjectId, Stop> {
        let cells = self.string_cells(state, name, most)?;
        let object = state.memory.alloc(Object::with_cells(cells.clone(), ObjectKind::Input, Some(element)));
        let (name, count) = (name.to_string(), u64::from(most) + 1);
        let (is_array, before, default_length, unaliased, tail) = (true, 0, false, false, None);
        let input =
            InputObject { object, name, element, count, is_array, before, default_length, unaliased, tail, cells };
        state.inputs_mut().objects.push(Rc::new(input));
        Ok(object)
    }

    /// Returns true if a pointer to `part` can be the address of a variable of this type: the type itself, or an array
    /// of it.
    fn begins_with(&self, data: DataTypeId, part: DataTypeId) -> bool {
        let element = match self.module.types[data] {
            DataType::Array { element, .. } => element,
            _ => data,
        };
        self.same_layout(element, part)
    }

    fn is_string(&self, pointee: DataTypeId) -> bool {
        self.module.pointee(pointee).stands == PointeeShape::Text
    }

    /// Returns the element type of objects behind a pointer to this type.
    fn element_of(&self, pointee: DataTypeId) -> DataTypeId {
        self.module.pointee(pointee).element
    }

    /// Returns the targets of a parameter that is declared as an array: its own object; where the program compares it,
    /// also null and the objects of other pointers.
    fn array_targets(
        &mut self,
        state: &State,
        id: LazyPointerId,
        lazy: &LazyPointer,
        array: ObjectId,
        purpose: PointerUse,
    ) -> Vec<Result<State, Stop>> {
        let mut own = state.clone();
        own.inputs_mut().set_target(id, Value::pointer(array, 0));
        if purpose == PointerUse::Access {
            return vec![Ok(own)];
        }
        let mut without = state.clone();
        without.inputs_mut().objects.retain(|input| input.object != array);
        let mut null = without.clone();
        null.inputs_mut().set_target(id, Value::NULL);
        let mut options = vec![Ok(null)];
        let elements = self.declared_elements(state, lazy).unwrap_or_default();
        for other in without.inputs.objects.clone().iter().filter(|other| other.count >= elements) {
            let is_taken = !without.inputs.unmaterialised_arrays().any(|array| array == other.object);
            if let Some(cond) = self.may_point_to(other, lazy.pointee.unwrap_or(other.element)).filter(|_| is_taken) {
                own.inputs_mut().distinct_arrays.push((array, other.object));
                // Any element: the declared length means little where the pointer is compared.
                let inside = self.inside(&without, id, lazy, other, purpose);
                options.push(inside.and_then(|mut alias| {
                    self.assume_all(&mut alias, cond.as_slice())?;
                    Ok(alias)
                }));
            }
        }
        options.insert(0, Ok(own));
        options
    }

    /// Returns the number of elements of a pointee, if it was given or declared.
    fn declared_elements(&self, state: &State, lazy: &LazyPointer) -> Option<u64> {
        let array = state.inputs.objects.iter().find(|input| Some(input.object) == lazy.array);
        array.map(|input| input.count).or_else(|| self.config.lengths.get(&*lazy.name).copied())
    }

    /// Returns the functions that a pointer to this type may point to. Cached: programs have many globals, and pointers
    /// are materialised often.
    fn functions_of_type(&self, pointee: DataTypeId) -> Rc<[(GlobalId, FuncId)]> {
        let all = self.functions_by_type.get_or_init(|| {
            let mut found: FxHashMap<DataTypeId, Vec<(GlobalId, FuncId)>> = FxHashMap::default();
            for (id, global) in self.module.globals.iter() {
                if let Some(function) = global.function {
                    found.entry(global.data).or_default().push((id, function));
                }
            }
            found.into_iter().map(|(data, functions)| (data, functions.into())).collect()
        });
        all.get(&pointee).map_or_else(|| Rc::from([]), Rc::clone)
    }

    /// Returns true if the user gave the number of elements of a pointee.
    pub(crate) fn has_length(&self, state: &State, id: LazyPointerId) -> bool {
        self.config.lengths.contains_key(&*state.inputs.lazy_pointers[id].name)
    }
}

/// Writes the tag of a variant into its cells.
pub(super) fn write_tag(cells: &mut [Cell], tag: VariantTag, value: u64) {
    let (at, bytes) = (tag.offset as usize, usize::from(tag.bits / 8));
    for (cell, byte) in cells.iter_mut().skip(at).zip(&value.to_le_bytes()[..bytes]) {
        *cell = Cell::Byte(*byte);
    }
}
