//! Unions as inputs ([`DataType::Union`]): the member is chosen by accesses.
//!
//! The bytes of a union are [`Cell::Union`] until they are read; copies of them stay bytes of the same union. The
//! program announces the member that it accesses ([`touchstone_ir::Builtin::ObserveMember`]), so a read materialises the scalar
//! that this member has there and leaves the rest: members with a common prefix (`int type` in each of them) are
//! distinguished only by what they do not share. A test uses the member that was accessed last, of those that agree
//! with everything materialised.
//!
//! Nothing is lost: a materialised scalar takes any bits, and bits of another member are the same bits of this one. A
//! read across parts that different members materialised is given up if it cannot be reassembled.

use crate::exec::executor::Executor;
use crate::state::inputs::{Inputs, Union, UnionAccess};
use crate::state::memory::{Cell, Contents};
use crate::state::value::{ObjectId, Pointer, Scalar, UnionId, Value};
use crate::state::{State, Stop};
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_criteria::Unsupported;
use touchstone_ir::{DataType, DataTypeId, DataTypes, Ty};
use touchstone_solver::{Rel, TermId};

/// The maximum number of members; larger unions are not modelled.
const MAX_MEMBERS: usize = 64;

/// The maximum number of announced accesses without a read that are remembered, for nested unions.
const MAX_PENDING_UNION_ACCESSES: usize = 4;

/// A part of a member that is materialised as a unit: a scalar, a union, or a structure with bit-fields.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Leaf {
    offset: u64,
    ty: DataTypeId,
    /// The access path from the union, as a suffix of its name.
    path: String,
}

impl Executor<'_> {
    /// Creates the cells of an input union.
    pub(super) fn union_cells(
        &mut self,
        inputs: &mut Inputs,
        data: DataTypeId,
        name: &str,
        constraints: &mut Vec<TermId>,
        cells: &mut Vec<Cell>,
    ) {
        let DataType::Union { members, size, .. } = &self.module.types[data] else { return };
        let count = members.len();
        if count == 0 || count > MAX_MEMBERS || *size > u64::from(u16::MAX) {
            return cells.resize(cells.len() + *size as usize, Cell::Unmaterialised);
        }
        let selector = self.input_var(inputs, 8, &format!("{name}@member"));
        let last = self.terms.constant(8, count as u64 - 1);
        constraints.push(self.terms.cmp(Rel::Ule, selector, last));
        let union = inputs.add_union(name.trim_end_matches('.'), data, *size as u16, selector);
        cells.extend((0..*size as u16).map(|index| Cell::Union { union, index }));
    }

    /// Records an announced access to a member of a union.
    pub(crate) fn announce_union_access(
        &mut self,
        state: &mut State,
        at: &Value,
        size: u64,
        member: u64,
        span: Span,
    ) -> Result<(), Stop> {
        if let Some(pointer) = self.variadic_argument_at(state, at)? {
            return self.take_variadic_argument(state, pointer, member as usize, span);
        }
        let looked = UnionAccess { at: at.clone(), size, member: member as usize };
        let union_accesses = &mut state.inputs_mut().union_accesses;
        union_accesses.retain(|known| known.at != looked.at || known.size != looked.size);
        if union_accesses.len() == MAX_PENDING_UNION_ACCESSES {
            union_accesses.remove(0);
        }
        union_accesses.push(looked);
        // A copy is read elsewhere and must know its member.
        if let Some(pointer) = location_of(state, at)
            && let Scalar::Const(offset) = pointer.offset
        {
            self.note_union_access(state, pointer.object, offset);
        }
        Ok(())
    }

    /// Records the accessed member in the union that has the byte at this location.
    fn note_union_access(&self, state: &mut State, object: ObjectId, at: u64) {
        let Some(Cell::Union { union, index }) = cell_at(state, object, at) else { return };
        let Some(start) = at.checked_sub(u64::from(index)) else { return };
        let size = state.inputs.unions[union].cells.len() as u64;
        let here = |looked: &&UnionAccess| {
            looked.size == size
                && location_of(state, &looked.at).is_some_and(|place| {
                    place.object == object
                        && match place.offset {
                            Scalar::Const(offset) => offset == start,
                            Scalar::Term(offset) => state.fixed_value(offset) == Some(start),
                        }
                })
        };
        if let Some(member) = state.inputs.union_accesses.iter().rev().find(here).map(|looked| looked.member) {
            state.inputs_mut().union_mut(union).last_member = Some(member);
        }
    }

    /// Returns true if an object has bytes of unions that were not read yet.
    pub(crate) fn has_unread_union(&self, state: &State, object: ObjectId) -> bool {
        let Contents::Cells(cells) = &state.memory.get(object).contents else { return false };
        cells.iter().any(|cell| matches!(cell, Cell::Union { .. }))
    }

    /// Materialises the bytes of unions that a read accesses. Returns false if there are none, or if they cannot be
    /// materialised.
    pub(crate) fn materialise_union_bytes(
        &mut self,
        state: &mut State,
        object: ObjectId,
        at: u64,
        ty: Ty,
        span: Span,
    ) -> Result<bool, Stop> {
        let mut made = false;
        // A member may be a union again.
        for _ in 0..4 * u64::from(ty.bytes()) {
            let mut bytes = at..at + u64::from(ty.bytes());
            let open = bytes.find_map(|at| match cell_at(state, object, at)? {
                Cell::Union { union, index } => Some((at, union, index)),
                _ => None,
            });
            let Some((place, union, index)) = open else { return Ok(made) };
            let selector = state.inputs.unions[union].selector;
            if state.is_folded() {
                // Parts materialised while a formula is folded would be lost.
                return match state.fixed_value(selector) {
                    None => Err(Stop::unfixed(selector)),
                    Some(_) => Ok(false),
                };
            }
            self.note_union_access(state, object, place);
            let Some(leaf) = self.leaf_to_materialise(state, union, u64::from(index), ty, span)? else {
                return Ok(false);
            };
            self.materialise_leaf(state, union, &leaf)?;
            made = true;
        }
        Ok(made)
    }

    /// Returns the part that a read at a byte of a union accesses.
    fn leaf_to_materialise(
        &mut self,
        state: &State,
        id: UnionId,
        index: u64,
        ty: Ty,
        span: Span,
    ) -> Result<Option<Leaf>, Stop> {
        let union = &state.inputs.unions[id];
        let types = &self.module.types;
        let DataType::Union { members, .. } = &types[union.data] else { return Ok(None) };
        let leaf_of = |member: usize| match union.may_be(member) {
            true => members.get(member).and_then(|field| leaf_at(types, field.ty, index, &step("", &field.name))),
            false => None,
        };
        let chosen = state.fixed_value(union.selector).map(|member| member as usize).or(union.last_member);
        if let Some(leaf) = chosen.and_then(leaf_of) {
            return Ok(Some(leaf));
        }
        // No member was announced: a member with exactly this scalar is chosen.
        let mut fitting: Vec<Leaf> = Vec::new();
        for leaf in (0..members.len()).filter_map(leaf_of) {
            let (is_pointer, size) = match &types[leaf.ty] {
                DataType::Pointer { .. } => (true, 8),
                DataType::Union { .. } => (ty == Ty::Ptr, u64::from(ty.bytes())),
                other => (false, other.size(types)),
            };
            let fits = leaf.offset == index && is_pointer == (ty == Ty::Ptr) && size == u64::from(ty.bytes());
            if fits && !fitting.iter().any(|known| known.ty == leaf.ty) {
                fitting.push(leaf);
            }
        }
        match fitting.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(only.clone())),
            [first, ..] if ty != Ty::Ptr => Ok(Some(first.clone())),
            _ if state.fixed_value(union.selector).is_some() => Err(Stop::unsupported(Unsupported::UnmadeInput, span)),
            _ => Err(Stop::unfixed(union.selector)),
        }
    }

    /// Materialises a part of a union, wherever its bytes were copied to.
    pub(super) fn materialise_leaf(&mut self, state: &mut State, id: UnionId, leaf: &Leaf) -> Result<(), Stop> {
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        let name = format!("{}{}", state.inputs.unions[id].name, leaf.path);
        self.input_cells(state.inputs_mut(), leaf.ty, &name, &mut constraints, &mut cells);
        let begin = leaf.offset as u16;
        let made = |cell: Cell| match cell {
            Cell::Union { union, index } if union == id => {
                index.checked_sub(begin).and_then(|at| cells.get(usize::from(at)).copied())
            }
            _ => None,
        };
        let has = |cells: &[Cell]| cells.iter().any(|cell| made(*cell).is_some());
        let put = |cells: &mut [Cell]| {
            cells.iter_mut().for_each(|cell| *cell = made(*cell).unwrap_or(*cell));
        };
        let ids: Vec<ObjectId> = state.memory.ids().collect();
        for object in ids {
            if !matches!(&state.memory.get(object).contents, Contents::Cells(cells) if has(cells)) {
                continue;
            }
            if let Contents::Cells(cells) = &mut state.memory.get_mut(object).contents {
                put(cells);
            }
        }
        let types = &self.module.types;
        let alike = |member: DataTypeId| {
            leaf_at(types, member, leaf.offset, "").is_some_and(|own| {
                own.offset == leaf.offset && (own.ty == leaf.ty || self.same_layout(own.ty, leaf.ty))
            })
        };
        let mut possible = 0;
        if let DataType::Union { members, .. } = &types[state.inputs.unions[id].data] {
            for (index, member) in members.iter().enumerate() {
                possible |= u64::from(alike(member.ty)) << index;
            }
        }
        let union = state.inputs_mut().union_mut(id);
        put(&mut union.cells);
        union.possible &= possible;
        Ok(self.assume_all(state, &constraints)?)
    }

    /// Fixes the member of a union (a formula depends on it) and materialises all of it.
    pub(crate) fn fix_union(&mut self, state: &mut State, selector: TermId, value: u64) -> Result<bool, Stop> {
        let Some(id) = state.inputs.union_of(selector) else { return Ok(true) };
        let union = &state.inputs.unions[id];
        let DataType::Union { members, .. } = &self.module.types[union.data] else { return Ok(true) };
        let (Some(member), true) = (members.get(value as usize), union.may_be(value as usize)) else {
            return Ok(false);
        };
        let (data, path, size) = (member.ty, step("", &member.name), self.size_of(member.ty));
        let mut at = 0;
        while at < size {
            let leaf = leaf_at(&self.module.types, data, at, &path);
            let Some(leaf) = leaf.filter(|leaf| self.size_of(leaf.ty) > 0) else {
                at += 1;
                continue;
            };
            if matches!(state.inputs.unions[id].cells[leaf.offset as usize], Cell::Union { union, .. } if union == id) {
                self.materialise_leaf(state, id, &leaf)?;
            }
            at = leaf.offset + self.size_of(leaf.ty);
        }
        let union = state.inputs_mut().union_mut(id);
        (union.possible, union.last_member) = (1 << value, Some(value as usize));
        Ok(true)
    }

    /// Replaces unmaterialised unions by new ones: they may have been overwritten.
    pub(crate) fn havoc_unions(&mut self, state: &mut State, cells: &mut [Cell]) {
        let mut at = 0;
        while at < cells.len() {
            let Cell::Union { union, index } = cells[at] else {
                at += 1;
                continue;
            };
            let (known, data) = (Rc::clone(&state.inputs.unions[union]), state.inputs.unions[union].data);
            let whole = cells[at..].get(..known.cells.len()).filter(|_| index == 0);
            let (size, mut made) = (known.cells.len(), Vec::new());
            if whole.is_some_and(|cells| same_union(cells, union)) {
                self.union_cells(state.inputs_mut(), data, &known.name, &mut Vec::new(), &mut made);
                cells[at..at + size].copy_from_slice(&made);
                at += size;
            } else {
                cells[at] = Cell::Clobbered;
                at += 1;
            }
        }
    }

    /// Returns the member that a test uses for a union, if it was accessed.
    pub(crate) fn member_of(&self, union: &Union) -> Option<usize> {
        if union.possible == u64::MAX {
            return None;
        }
        let looked = union.last_member.filter(|member| union.may_be(*member));
        looked.or_else(|| (0..MAX_MEMBERS).find(|member| union.may_be(*member)))
    }
}

/// Returns true if these are the bytes of a union, in order.
fn same_union(cells: &[Cell], id: UnionId) -> bool {
    let own = |(at, cell): (usize, &Cell)| matches!(cell, Cell::Union { union, index } if *union == id && usize::from(*index) == at);
    cells.iter().enumerate().all(own)
}

/// Extends an access path; an anonymous part adds nothing.
pub(super) fn step(path: &str, name: &str) -> String {
    if name.is_empty() { path.to_string() } else { format!("{path}.{name}") }
}

/// Returns the location of an address, if it is materialised.
pub(super) fn location_of(state: &State, at: &Value) -> Option<Pointer> {
    match at {
        Value::Ptr(pointer) => Some(*pointer),
        Value::LazyPointer(id) => state.inputs.target_of(*id).and_then(|decided| location_of(state, decided)),
        _ => None,
    }
}

pub(super) fn cell_at(state: &State, object: ObjectId, at: u64) -> Option<Cell> {
    match &state.memory.get(object).contents {
        Contents::Cells(cells) => cells.get(usize::try_from(at).ok()?).copied(),
        Contents::Delayed { .. } => None,
    }
}

/// Returns the part at a byte of a type, with its access path.
pub(super) fn leaf_at(types: &DataTypes, ty: DataTypeId, at: u64, path: &str) -> Option<Leaf> {
    let inside = |mut leaf: Leaf, begin: u64| {
        leaf.offset += begin;
        leaf
    };
    match &types[ty] {
        DataType::Array { element, .. } => {
            let step = types[*element].size(types);
            let index = at.checked_div(step).filter(|_| at < types[ty].size(types))?;
            leaf_at(types, *element, at % step, &format!("{path}[{index}]")).map(|leaf| inside(leaf, index * step))
        }
        DataType::Struct { fields, .. }
            if !fields.iter().any(|field| matches!(types[field.ty], DataType::Bits { .. })) =>
        {
            let holds =
                |field: &&touchstone_ir::Field| at >= field.offset && at - field.offset < types[field.ty].size(types);
            let field = fields.iter().find(holds)?;
            leaf_at(types, field.ty, at - field.offset, &step(path, &field.name)).map(|leaf| inside(leaf, field.offset))
        }
        DataType::Void | DataType::Bits { .. } | DataType::OneOf { .. } | DataType::Opaque { .. } => None,
        whole => (at < whole.size(types)).then(|| Leaf { offset: 0, ty, path: path.to_string() }),
    }
}

impl Inputs {
    fn add_union(&mut self, name: &str, data: DataTypeId, size: u16, selector: TermId) -> UnionId {
        let union = Rc::make_mut(&mut self.unions).next_id();
        let cells = (0..size).map(|index| Cell::Union { union, index }).collect();
        let made = Union { name: name.into(), data, selector, possible: u64::MAX, last_member: None, cells };
        Rc::make_mut(&mut self.unions).push(Rc::new(made))
    }

    pub(super) fn union_mut(&mut self, id: UnionId) -> &mut Union {
        Rc::make_mut(&mut Rc::make_mut(&mut self.unions)[id])
    }

    fn union_of(&self, selector: TermId) -> Option<UnionId> {
        self.unions.iter().find(|(_, union)| union.selector == selector).map(|(id, _)| id)
    }
}
