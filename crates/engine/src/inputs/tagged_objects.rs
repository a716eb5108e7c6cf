//! Input objects with variants ([`DataType::OneOf`]): one object with a symbolic tag.
//!
//! A test of the tag (a cast, `instanceof`, a dispatch) is an ordinary branch condition, so it forks the path into as
//! many outcomes as it has, not into as many as there are variants. Fields that all variants have at the same offset
//! with the same type are inputs from the start. The others are unmaterialised until an access: only then variants with
//! different fields there are distinguished ([`Executor::materialise_fields`]). An access at a symbolic offset, or in a
//! folded expression, fixes the variant.
//!
//! Variants with a counted array are objects of their own (`counted_objects.rs`).

use crate::exec::executor::Executor;
use crate::growth::Room;
use crate::inputs::counted_objects::STRING_FIELD;
use crate::inputs::materialisation::Length;
use crate::state::inputs::{InputObject, LazyPointer};
use crate::state::memory::{Cell, Contents, Object, ObjectKind, ObjectShape};
use crate::state::value::{LazyPointerId, ObjectId, Pointer, Scalar, Value};
use crate::state::{PathEnd, State, Stop};
use std::ops::Range;
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_criteria::{Bound, Unsupported};
use touchstone_ir::{DataType, DataTypeId, Field, TaggedVariant, VariantTag};
use touchstone_solver::TermId;

/// Variants with the same fields in the range of an access.
struct Alike<'m> {
    fields: Vec<&'m Field>,
    tags: Vec<u64>,
}

impl<'m> Executor<'m> {
    /// Returns true if an object is a string: a length that is given for it is that of its characters.
    fn holds_string(&self, data: DataTypeId) -> bool {
        let types = &self.module.types;
        let is_counted = |data: DataTypeId| match &types[data] {
            DataType::OneOf { variants, .. } => variants.iter().all(|variant| types[variant.ty].count(types).is_some()),
            other => other.count(types).is_some(),
        };
        let is_inside = |field: &Field| match &types[field.ty] {
            DataType::Pointer { pointee, .. } => field.name == STRING_FIELD && is_counted(*pointee),
            _ => false,
        };
        matches!(&types[data], DataType::Struct { fields, .. } if fields.iter().any(is_inside))
    }

    /// Creates the pointee of a symbolic pointer: one object for all variants of fixed size, and one for each other.
    pub(super) fn variants(
        &mut self,
        state: &State,
        id: LazyPointerId,
        lazy: &LazyPointer,
        data: DataTypeId,
    ) -> Vec<Result<State, Stop>> {
        let DataType::OneOf { name, tag, variants } = &self.module.types[data] else { return Vec::new() };
        let types = &self.module.types;
        let (counted, plain): (Vec<TaggedVariant>, Vec<TaggedVariant>) =
            variants.iter().partition(|variant| types[variant.ty].count(types).is_some());
        let several = self.config.lengths.get(&*lazy.name).is_some_and(|length| *length != 1);
        if several && plain.iter().any(|variant| !self.holds_string(variant.ty)) {
            let what = Unsupported::SeveralVariants(lazy.name.to_string(), name.clone());
            return vec![Err(Stop::unsupported(what, Span::none()))];
        }
        if state.inputs.fresh >= self.config.max_objects {
            return vec![Err(Stop::bound(Bound::MaxObjects, Span::none()))];
        }
        let mut options = Vec::new();
        if !plain.is_empty() {
            let mut fresh = state.clone();
            fresh.inputs_mut().fresh += 1;
            let made = match plain.as_slice() {
                [only] => {
                    let tagged = Some((*tag, only.tag));
                    self.input_object(&mut fresh, only.ty, Room::ONE, &lazy.name, Length::Default, tagged)
                }
                _ => self.variant_object(&mut fresh, data, *tag, &plain, &lazy.name),
            };
            options.push(made.map(|object| {
                fresh.inputs_mut().set_target(id, Value::pointer(object, 0));
                fresh
            }));
        }
        for variant in counted {
            if let Some(count) = types[variant.ty].count(types) {
                options.extend(self.counted(state, id, lazy, (variant.ty, count), Some((*tag, variant.tag))));
            }
        }
        options
    }

    /// Creates an object that is any of these variants: its tag, and the fields that all of them share.
    fn variant_object(
        &mut self,
        state: &mut State,
        data: DataTypeId,
        tag: VariantTag,
        variants: &[TaggedVariant],
        name: &str,
    ) -> Result<ObjectId, Stop> {
        let module = self.module;
        let fields = |variant: &TaggedVariant| match &module.types[variant.ty] {
            DataType::Struct { fields, .. } => fields.as_slice(),
            _ => &[],
        };
        let Some((first, others)) = variants.split_first() else { return Err(Stop::End(PathEnd::Assumed)) };
        let of_tag = fields(first).iter().find(|field| field.offset == tag.offset);
        let tag_name = format!("{name}.{}", of_tag.map_or("", |field| &field.name));
        let term = self.input_var(state.inputs_mut(), tag.bits, &tag_name);
        let mut constraints = vec![self.has_tag(term, variants.iter().map(|variant| variant.tag))];
        self.constrain(term, false, &tag_name, &mut constraints);
        let size = self.size_by_tag(term, variants);
        let most = variants.iter().map(|variant| self.size_of(variant.ty)).max().unwrap_or(0);
        let mut cells = vec![Cell::Unmaterialised; most as usize];
        for index in 0..tag.bits / 8 {
            cells[tag.offset as usize + usize::from(index)] = Cell::Part { term, index };
        }
        let made = Object::with_cells(cells.clone(), ObjectKind::Input, Some(data));
        let shape = ObjectShape::Variant { data, tag: term, size };
        let object = state.memory.alloc(Object { shape, ..made });
        let (name, is_array, before, default_length, unaliased, tail) = (name.to_string(), false, 0, true, false, None);
        let input = InputObject {
            object,
            name,
            element: data,
            count: 1,
            is_array,
            before,
            default_length,
            unaliased,
            tail,
            cells,
        };
        state.inputs_mut().objects.push(Rc::new(input));
        self.assume_all(state, &constraints)?;
        let same = |field: &Field| {
            others.iter().all(|other| fields(other).iter().any(|own| (own.offset, own.ty) == (field.offset, field.ty)))
        };
        for field in fields(first).iter().filter(|field| same(field)) {
            if self.has_own_bytes(field) {
                self.materialise_field(state, object, field)?;
            }
        }
        Ok(object)
    }

    /// Returns true if a field shares no bytes with others.
    fn has_own_bytes(&self, field: &Field) -> bool {
        !matches!(self.module.types[field.ty], DataType::Bits { .. })
    }

    /// Returns the condition that a tag is one of these.
    fn has_tag(&mut self, tag: TermId, tags: impl Iterator<Item = u64>) -> TermId {
        let mut any = self.terms.truth(false);
        for value in tags {
            let value = self.terms.constant(self.terms.width(tag), value);
            let here = self.terms.eq(tag, value);
            any = self.terms.or(any, here);
        }
        any
    }

    /// Returns the size of an object as a function of its tag.
    fn size_by_tag(&mut self, tag: TermId, variants: &[TaggedVariant]) -> Scalar {
        let mut size = Scalar::Const(variants.last().map_or(0, |variant| self.size_of(variant.ty)));
        for variant in variants {
            let own = self.terms.constant(64, self.size_of(variant.ty));
            let others = size.term(&mut self.terms, 64);
            let here = self.has_tag(tag, std::iter::once(variant.tag));
            let term = self.terms.ite(here, own, others);
            size = Scalar::from_term(&self.terms, term);
        }
        size
    }

    /// Materialises the fields of an object with a symbolic variant that an access touches. If variants differ in them,
    /// the path forks between those that do.
    pub(crate) fn materialise_fields(&mut self, state: &mut State, pointer: Pointer, bytes: u64) -> Result<(), Stop> {
        let object = state.memory.get(pointer.object);
        let ObjectShape::Variant { data, tag, .. } = object.shape else { return Ok(()) };
        let at = match pointer.offset {
            Scalar::Const(at) => Some(at),
            Scalar::Term(offset) => state.fixed_value(offset),
        };
        let Some(at) = at else { return Err(Stop::unfixed(tag)) };
        let Contents::Cells(cells) = &object.contents else { return Err(Stop::unfixed(tag)) };
        let range = at as usize..at.saturating_add(bytes) as usize;
        // Out of bounds only in a folded expression, which is undefined there already.
        if cells.get(range.clone()).is_none_or(|cells| !cells.contains(&Cell::Unmaterialised)) {
            return Ok(());
        }
        if state.is_folded() {
            return Err(Stop::unfixed(tag));
        }
        let alike = self.alike(data, &range);
        let count = alike.len();
        for Alike { fields, tags } in alike {
            let is_one = self.has_tag(tag, tags.into_iter());
            match self.terms.as_const(is_one).or_else(|| state.fixed_value(is_one)) {
                Some(0) => continue,
                None if count > 1 => return Err(Stop::unfixed(is_one)),
                _ => {}
            }
            if !fields.iter().all(|field| self.has_own_bytes(field)) {
                return Err(Stop::unfixed(tag));
            }
            for field in &fields {
                self.materialise_field(state, pointer.object, field)?;
            }
            let is_between = |at: &usize| !fields.iter().any(|field| self.bytes_of_field(field).contains(at));
            let between: Vec<usize> = range.filter(is_between).collect();
            self.put_unmaterialised(state, pointer.object, |at| between.contains(&at).then_some(Cell::Byte(0)));
            return Ok(());
        }
        Ok(())
    }

    /// Groups the variants of a type by their fields in a range; those that end before it have none.
    fn alike(&self, data: DataTypeId, range: &Range<usize>) -> Vec<Alike<'m>> {
        let (module, mut found): (_, Vec<Alike<'m>>) = (self.module, Vec::new());
        let DataType::OneOf { variants, .. } = &module.types[data] else { return found };
        for variant in variants {
            let DataType::Struct { fields, size, kind, .. } = &module.types[variant.ty] else { continue };
            if range.end as u64 > *size || kind.is_counted() {
                continue;
            }
            let meets = |field: &&Field| {
                let own = self.bytes_of_field(field);
                own.start < range.end && range.start < own.end
            };
            let fields: Vec<&Field> = fields.iter().filter(meets).collect();
            let place = |field: &&Field| (field.offset, field.ty);
            match found.iter_mut().find(|known| known.fields.iter().map(place).eq(fields.iter().map(place))) {
                Some(known) => known.tags.push(variant.tag),
                None => found.push(Alike { fields, tags: vec![variant.tag] }),
            }
        }
        found
    }

    fn bytes_of_field(&self, field: &Field) -> Range<usize> {
        field.offset as usize..(field.offset + self.size_of(field.ty)) as usize
    }

    /// Materialises a field of an object.
    fn materialise_field(&mut self, state: &mut State, object: ObjectId, field: &Field) -> Result<(), Stop> {
        let Some(input) = state.inputs.objects.iter().find(|input| input.object == object) else { return Ok(()) };
        let range = self.bytes_of_field(field);
        if !input.cells[range.clone()].iter().all(|cell| *cell == Cell::Unmaterialised) {
            return Ok(());
        }
        let name = format!("{}.{}", input.name, field.name);
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        self.input_cells(state.inputs_mut(), field.ty, &name, &mut constraints, &mut cells);
        self.put_unmaterialised(state, object, |at| cells.get(at.checked_sub(range.start)?).copied());
        Ok(self.assume_all(state, &constraints)?)
    }

    /// Puts cells where an input object has none yet: in memory, and in its initial contents.
    fn put_unmaterialised(&self, state: &mut State, object: ObjectId, new: impl Fn(usize) -> Option<Cell>) {
        let Some(index) = state.inputs.objects.iter().position(|input| input.object == object) else { return };
        let input = Rc::clone(&state.inputs.objects[index]);
        let Contents::Cells(cells) = &state.memory.get(object).contents else { return };
        let known = input.cells.iter().zip(cells).enumerate();
        let open = known.filter(|(_, (first, now))| **first == Cell::Unmaterialised && **now == Cell::Unmaterialised);
        let made: Vec<(usize, Cell)> = open.filter_map(|(at, _)| Some((at, new(at)?))).collect();
        let mut changed = InputObject { name: input.name.clone(), cells: input.cells.clone(), ..*input };
        made.iter().for_each(|(at, cell)| changed.cells[*at] = *cell);
        state.inputs_mut().objects[index] = Rc::new(changed);
        if let Contents::Cells(cells) = &mut state.memory.get_mut(object).contents {
            made.iter().for_each(|(at, cell)| cells[*at] = *cell);
        }
    }

    /// Fixes the variant of an object by its tag and materialises all its fields.
    pub(crate) fn fix_variant(&mut self, state: &mut State, tag: TermId, value: u64) -> Result<(), Stop> {
        let is_it = |input: &&Rc<InputObject>| matches!(state.memory.get(input.object).shape, ObjectShape::Variant { tag: own, .. } if own == tag);
        let Some(input) = state.inputs.objects.iter().find(is_it) else { return Ok(()) };
        let (object, element, name) = (input.object, input.element, input.name.clone());
        let Some(data) = self.module.types[element].variant(value) else { return Ok(()) };
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        self.struct_cells(state.inputs_mut(), data, &name, &mut constraints, &mut cells);
        self.put_unmaterialised(state, object, |at| cells.get(at).copied());
        let size = self.size_of(data);
        let settled = state.memory.get_mut(object);
        (settled.size, settled.data, settled.shape) = (size, Some(data), ObjectShape::Concrete);
        if let Contents::Cells(cells) = &mut settled.contents {
            cells.truncate(size as usize);
        }
        for input in state.inputs_mut().objects.iter_mut().filter(|input| input.object == object) {
            let mut cells = input.cells.clone();
            cells.truncate(size as usize);
            *input = Rc::new(InputObject { name: name.clone(), cells, ..**input });
        }
        Ok(self.assume_all(state, &constraints)?)
    }

    /// Returns the condition under which a pointer to `wanted` may point to an existing object: `None` if never,
    /// `Some(None)` if always.
    pub(super) fn may_point_to(&mut self, object: &InputObject, wanted: DataTypeId) -> Option<Option<TermId>> {
        let types = &self.module.types;
        if self.same_layout(object.element, wanted) {
            return Some(None);
        }
        let (tag, tags): (VariantTag, Vec<u64>) = match (&types[object.element], &types[wanted]) {
            (DataType::OneOf { tag, variants: have, .. }, DataType::OneOf { tag: other, variants: want, .. }) => {
                let shared = have.iter().filter(|variant| tag == other && want.contains(variant));
                (*tag, shared.map(|variant| variant.tag).collect())
            }
            (DataType::OneOf { tag, variants, .. }, _) => {
                let same = variants.iter().filter(|variant| variant.ty == wanted);
                (*tag, same.map(|variant| variant.tag).collect())
            }
            (_, DataType::OneOf { tag, variants, .. }) if object.count == 1 => {
                let same = variants.iter().filter(|variant| variant.ty == object.element);
                (*tag, same.map(|variant| variant.tag).collect())
            }
            _ => return None,
        };
        let own = self.tag_term(object, tag)?;
        let cond = self.has_tag(own, tags.into_iter());
        match self.terms.as_const(cond) {
            Some(0) => None,
            Some(_) => Some(None),
            None => Some(Some(cond)),
        }
    }

    /// Returns the initial tag of an input object.
    fn tag_term(&mut self, object: &InputObject, tag: VariantTag) -> Option<TermId> {
        let range = tag.offset as usize..tag.offset as usize + usize::from(tag.bits / 8);
        let bytes = object.cells.get(range)?.iter().map(|cell| crate::state::memory::cell_term(*cell, &mut self.terms));
        let bytes: Vec<TermId> = bytes.collect::<Option<_>>()?;
        Some(crate::state::memory::concat_bytes(&bytes, &mut self.terms))
    }
}
