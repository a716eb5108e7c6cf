//! Late aliases: accesses at symbolic offsets (Kosmatov, section 3).
//!
//! The paper appends `Eq(a[U], V)` and `Aff(a[U], V)` relations to a list and enumerates indices at the end of the
//! path. Here a read is one term, `read(array, offset)`, and a write creates a new version of the array; the chain of
//! versions *is* the paper's list, in order. The solver first treats reads as free variables, checks its model against
//! the chain, and adds only the relations that the model violates.
//!
//! Pointers are not bit vectors, so objects that hold pointers are treated by cases instead: a read is a guarded choice
//! of the pointers at the possible offsets, a write updates every possible location under a guard. Double indirection
//! (`a[b[i]]`, tables of row pointers), which the paper leaves open, needs nothing else. If an integer may be read or
//! written at many offsets of an object and some hold pointers, the path forks: either the access misses all pointers
//! and is delayed like any other, the pointers shadowing the array, or it hits one.

use crate::exec::executor::Executor;
use crate::state::memory::{Assembled, Cell, Contents, assemble, cell_term, disassemble};
use crate::state::value::{ObjectId, Value};
use crate::state::{PointerUse, State, Stop};
use std::ops::Range;
use touchstone_base::Span;
use touchstone_criteria::Unsupported;
use touchstone_ir::Ty;
use touchstone_solver::{ArrayId, Element, Op, Rel, Term, TermId, Terms};

/// The maximum number of offsets that are treated by cases; more are enumerated.
const MAX_CASES: usize = 256;

/// The maximum number of offsets of integers and pointers that are treated by cases; with more, those of pointers are
/// separated first.
const MAX_MIXED_CASES: usize = 16;

/// The maximum size of an object that is accessed at symbolic offsets.
const MAX_INDEXED_BYTES: u64 = 1 << 20;

/// A read or write at a symbolic offset that is in bounds, under a guard (`None`: always).
#[derive(Clone, Copy)]
pub(crate) struct Access {
    pub object: ObjectId,
    pub offset: TermId,
    pub ty: Ty,
    pub guard: Option<TermId>,
    pub span: Span,
}

impl Executor<'_> {
    /// Reads at a symbolic offset that is in bounds.
    pub(crate) fn read_late(&mut self, state: &mut State, access: Access) -> Result<Value, Stop> {
        let Access { object, offset, ty, guard, span } = access;
        let bytes = ty.bytes();
        let shared = std::rc::Rc::clone(state.memory.shared(object));
        small_enough(shared.size, span)?;
        let runs = shared.contents.pointer_runs();
        match &shared.contents {
            Contents::Delayed { array, defined, .. } => {
                if !self.misses(state, offset, u64::from(bytes), &runs)? {
                    return self.read_hidden(state, access, &runs);
                }
                if let Some(defined) = defined {
                    let flags = self.terms.read(*defined, offset, bytes);
                    let all = self.terms.constant(8 * bytes, 0x0101_0101_0101_0101);
                    let fine = self.terms.eq(flags, all);
                    let fine = self.guarded(guard, fine);
                    self.require_written(state, fine, span)?;
                }
                let term = self.terms.read(*array, offset, bytes);
                Ok(Value::term(&self.terms, term))
            }
            Contents::Cells(cells) => {
                let mut candidates = self.candidates(state, offset, u64::from(bytes), shared.size);
                let range = |at: u64| at as usize..at as usize + usize::from(bytes);
                if candidates.iter().any(|&at| cells[range(at)].iter().any(|cell| cell.is_unmaterialised())) {
                    return Err(self.unmaterialised_read(object, span));
                }
                let undefined: Vec<u64> =
                    candidates.iter().copied().filter(|&at| cells[range(at)].contains(&Cell::Undefined)).collect();
                if !undefined.is_empty() {
                    let fine = self.none_of(offset, &undefined);
                    let fine = self.guarded(guard, fine);
                    self.require_written(state, fine, span)?;
                }
                let mut by_cases = ty == Ty::Ptr || candidates.iter().any(|&at| hits(at, u64::from(bytes), &runs));
                if by_cases && ty != Ty::Ptr && candidates.len() > MAX_MIXED_CASES {
                    by_cases = !self.misses(state, offset, u64::from(bytes), &runs)?;
                    candidates.retain(|&at| hits(at, u64::from(bytes), &runs));
                    let all_slots = candidates.iter().all(|&at| is_slot(&shared.contents, at, bytes));
                    if by_cases && !all_slots && state.fixed_value(offset).is_none() {
                        return Err(part_of_pointer(span));
                    }
                }
                if by_cases {
                    self.read_cases(state, (0, cells), access, &candidates)
                } else {
                    let array = self.base_array(cells, bytes);
                    let term = self.terms.read(array, offset, bytes);
                    Ok(Value::term(&self.terms, term))
                }
            }
        }
    }

    /// Reads where pointers shadow the array.
    fn read_hidden(&mut self, state: &mut State, access: Access, runs: &[Range<u64>]) -> Result<Value, Stop> {
        let Access { object, offset, ty, guard, span } = access;
        let bytes = u64::from(ty.bytes());
        let size = state.memory.get(object).size;
        if let Some(at) = self.terms.as_const(offset).or_else(|| state.fixed_value(offset)) {
            if at.checked_add(bytes).is_none_or(|end| end > size) {
                return Ok(Value::constant(0));
            }
            let cells = self.plain_cells(state, object, at as usize..(at + bytes) as usize)?;
            return match self.assemble_cells(state, &cells, ty, span)? {
                Some(value) => Ok(value),
                None => self.undefined(state, guard, span),
            };
        }
        let mut candidates = self.candidates(state, offset, bytes, size);
        candidates.retain(|&at| hits(at, bytes, runs));
        let contents = &state.memory.get(object).contents;
        if ty != Ty::Ptr && !candidates.iter().all(|&at| is_slot(contents, at, ty.bytes())) {
            return Err(part_of_pointer(span));
        }
        let (Some(&first), Some(&last)) = (candidates.first(), candidates.last()) else {
            return Err(Stop::unfixed(offset));
        };
        let cells = self.plain_cells(state, object, first as usize..(last + bytes) as usize)?;
        if cells.contains(&Cell::Undefined) {
            return Err(Stop::unfixed(offset));
        }
        self.read_cases(state, (first, &cells), access, &candidates)
    }

    /// Reads a pointer, or bytes of one: a guarded choice of the values at each candidate. The cells begin at `first`.
    fn read_cases(
        &mut self,
        state: &State,
        (first, cells): (u64, &[Cell]),
        access: Access,
        candidates: &[u64],
    ) -> Result<Value, Stop> {
        let Access { offset, ty, span, .. } = access;
        if let Some(at) = state.fixed_value(offset) {
            // As in `load_at`: out of bounds, any value will do.
            let at = at.wrapping_sub(first) as usize;
            let end = at.checked_add(usize::from(ty.bytes()));
            let Some(cells) = end.and_then(|end| cells.get(at..end)) else {
                return Ok(Value::constant(0));
            };
            return Ok(self.assemble_cells(state, cells, ty, span)?.unwrap_or(Value::Undefined));
        }
        if candidates.len() > MAX_CASES {
            return Err(Stop::unfixed(offset));
        }
        let mut result: Option<Value> = None;
        for &at in candidates {
            let here = (at - first) as usize;
            let cells = &cells[here..here + usize::from(ty.bytes())];
            let Some(value) = self.assemble_cells(state, cells, ty, span)? else { continue };
            let value = match value {
                Value::LazyPointer(id) => match state.inputs.target_of(id) {
                    Some(decided) => decided.clone(),
                    None => return Err(Stop::Materialise(id, PointerUse::Access)),
                },
                value => value,
            };
            result = Some(match result {
                None => value,
                Some(other) => {
                    let here = self.offset_is(offset, at);
                    self.select(here, &value, &other, ty)
                }
            });
        }
        Ok(result.unwrap_or(Value::Undefined))
    }

    /// Returns true if an access misses all these ranges. If that depends on inputs, both cases are explored.
    fn misses(&mut self, state: &State, offset: TermId, bytes: u64, runs: &[Range<u64>]) -> Result<bool, Stop> {
        if runs.is_empty() {
            return Ok(true);
        }
        if let Some(at) = self.terms.as_const(offset).or_else(|| state.fixed_value(offset)) {
            return Ok(!hits(at, bytes, runs));
        }
        let (low, high) = self.solver.range(&self.terms, &state.path, offset).unsigned;
        let (stride, residue) = stride(&self.terms, offset);
        let mut clear = self.terms.truth(true);
        for run in runs {
            let first = (run.start + 1).saturating_sub(bytes);
            let possible = first.max(low)..run.end.min(high.saturating_add(1));
            if !possible.clone().any(|at| at.wrapping_sub(residue).is_multiple_of(stride.max(1))) {
                continue;
            }
            let (first, end) = (self.terms.constant(64, first), self.terms.constant(64, run.end));
            let before = self.terms.cmp(Rel::Ult, offset, first);
            let after = self.terms.cmp(Rel::Ule, end, offset);
            let elsewhere = self.terms.or(before, after);
            clear = self.terms.and(clear, elsewhere);
        }
        let known = self.terms.as_const(clear).or_else(|| state.fixed_value(clear));
        known.map(|clear| clear == 1).ok_or(Stop::unfixed(clear))
    }

    /// Reassembles cells; `None` if one is undefined.
    pub(crate) fn assemble_cells(
        &mut self,
        state: &State,
        cells: &[Cell],
        ty: Ty,
        span: Span,
    ) -> Result<Option<Value>, Stop> {
        match assemble(cells, ty, &mut self.terms, &self.pointers) {
            Assembled::Value(value) => Ok(Some(value)),
            Assembled::Undefined => Ok(None),
            Assembled::Mixed => self.integer_of_cells(state, cells, span).map(Some),
            Assembled::Clobbered => Err(clobbered(span)),
        }
    }

    /// Writes at a symbolic offset that is in bounds.
    pub(crate) fn write_late(&mut self, state: &mut State, access: Access, value: &Value) -> Result<(), Stop> {
        let Access { object, offset, ty, guard, span } = access;
        let shared = std::rc::Rc::clone(state.memory.shared(object));
        small_enough(shared.size, span)?;
        if matches!(&shared.contents, Contents::Cells(cells) if cells.iter().any(|cell| cell.is_unmaterialised())) {
            return Err(self.unmaterialised_read(object, span));
        }
        let bytes = ty.bytes();
        let fixed = self.terms.as_const(offset).or_else(|| state.fixed_value(offset));
        let runs = shared.contents.pointer_runs();
        let Value::Int(scalar) = value else {
            if let (Some(at), None, false) = (fixed, guard, *value == Value::Undefined) {
                let made: Vec<Cell> = disassemble(value, bytes, &mut self.pointers).collect();
                if let Contents::Delayed { pointers, .. } = &mut state.memory.get_mut(object).contents {
                    hide(pointers, at as usize, &made);
                    return Ok(());
                }
            }
            return self.write_cases(state, access, value, None);
        };
        let is_delayed = matches!(shared.contents, Contents::Delayed { .. });
        let plainly_over = |at: u64| is_delayed && guard.is_none() && hits(at, u64::from(bytes), &runs);
        if !runs.is_empty() && !fixed.is_some_and(plainly_over) {
            let candidates = match fixed {
                Some(at) => vec![at],
                None => self.candidates(state, offset, u64::from(bytes), shared.size),
            };
            let (met, missed): (Vec<u64>, Vec<u64>) =
                candidates.iter().partition(|&&at| hits(at, u64::from(bytes), &runs));
            let few = met.is_empty() && missed.len() <= MAX_MIXED_CASES;
            if !is_delayed && (fixed.is_some() || few) {
                return self.write_cases(state, access, value, None);
            }
            if !self.misses(state, offset, u64::from(bytes), &runs)? {
                // Locations that hold a whole pointer or an integer; otherwise the write may hit a part of a pointer.
                if met.iter().all(|&at| is_slot(&shared.contents, at, bytes)) {
                    return self.write_cases(state, access, value, Some(&runs));
                }
                met.iter().for_each(|&at| clobber(&mut state.memory.get_mut(object).contents, at as usize, bytes));
                return Ok(());
            }
        }
        let (array, defined, mut pointers) = match &shared.contents {
            Contents::Delayed { array, defined, pointers } => (*array, *defined, pointers.clone()),
            Contents::Cells(cells) => {
                let defined = cells.contains(&Cell::Undefined).then(|| self.defined_array(cells));
                let pointers = cells.iter().copied().enumerate().filter(|(_, cell)| cell.is_pointer()).collect();
                (self.base_array(cells, bytes), defined, pointers)
            }
        };
        if let Some(at) = fixed {
            let end = at.saturating_add(u64::from(bytes));
            pointers.retain(|(place, _)| (*place as u64) < at || *place as u64 >= end);
        }
        let mut term = scalar.term(&mut self.terms, 8 * bytes);
        let mut flags = self.terms.constant(8 * bytes, 0x0101_0101_0101_0101);
        if let Some(guard) = guard {
            let old = self.terms.read(array, offset, bytes);
            term = self.terms.ite(guard, term, old);
            if let Some(defined) = defined {
                let old = self.terms.read(defined, offset, bytes);
                flags = self.terms.ite(guard, flags, old);
            }
        }
        let array = self.terms.store(array, offset, term, bytes);
        let defined = defined.map(|defined| self.terms.store(defined, offset, flags, bytes));
        state.memory.get_mut(object).contents = Contents::Delayed { array, defined, pointers };
        Ok(())
    }

    /// Writes by cases: every candidate location, or only those that intersect `only`, is updated under a guard.
    fn write_cases(
        &mut self,
        state: &mut State,
        access: Access,
        value: &Value,
        only: Option<&[Range<u64>]>,
    ) -> Result<(), Stop> {
        let Access { object, offset, ty, guard, span } = access;
        let size = state.memory.get(object).size;
        let mut candidates = match state.fixed_value(offset) {
            Some(at) if at.checked_add(u64::from(ty.bytes())).is_some_and(|end| end <= size) => vec![at],
            Some(_) => Vec::new(),
            None => self.candidates(state, offset, u64::from(ty.bytes()), size),
        };
        if let Some(only) = only {
            candidates.retain(|&at| hits(at, u64::from(ty.bytes()), only));
        }
        if candidates.len() > MAX_CASES {
            return Err(Stop::unfixed(offset));
        }
        let mut cells = self.plain_cells(state, object, 0..size as usize)?;
        for at in candidates {
            let range = at as usize..at as usize + usize::from(ty.bytes());
            let here = self.offset_is(offset, at);
            let here = match guard {
                Some(guard) => self.terms.and(here, guard),
                None => here,
            };
            let old = self.assemble_cells(state, &cells[range.clone()], ty, span)?;
            let new = match (self.terms.as_const(here).or_else(|| state.fixed_value(here)), old) {
                (Some(0), _) => continue,
                (Some(_), _) => value.clone(),
                (None, Some(old)) => self.select(here, value, &old, ty),
                // A later read must know whether this location was written.
                (None, None) => return Err(Stop::unfixed(here)),
            };
            for (cell, new) in cells[range].iter_mut().zip(disassemble(&new, ty.bytes(), &mut self.pointers)) {
                *cell = new;
            }
        }
        state.memory.get_mut(object).contents = Contents::Cells(cells);
        Ok(())
    }

    /// Returns a range of the object's contents as cells, with delayed writes applied. If it depends on delayed writes
    /// whether a cell is defined, both cases are explored.
    pub(crate) fn plain_cells(
        &mut self,
        state: &State,
        object: ObjectId,
        range: Range<usize>,
    ) -> Result<Vec<Cell>, Stop> {
        let (array, defined, pointers) = match &state.memory.get(object).contents {
            Contents::Cells(cells) => return Ok(cells[range].to_vec()),
            Contents::Delayed { array, defined, pointers } => (*array, *defined, pointers),
        };
        let hidden =
            |at: usize| pointers.binary_search_by_key(&at, |(place, _)| *place).ok().map(|found| pointers[found].1);
        let flags = match defined {
            Some(defined) => self.definedness(state, defined, range.clone(), &|at| hidden(at).is_some())?,
            None => vec![true; range.len()],
        };
        let cell = |(at, is_defined): (usize, bool)| {
            if let Some(pointer) = hidden(at) {
                return pointer;
            }
            let at = self.terms.constant(64, at as u64);
            let term = self.terms.read(array, at, 1);
            match self.terms.as_const(term) {
                _ if !is_defined => Cell::Undefined,
                Some(byte) => Cell::Byte(byte as u8),
                None => Cell::Part { term, index: 0 },
            }
        };
        Ok(range.zip(flags).map(cell).collect())
    }

    /// Returns which bytes of a range are defined; shadowed ones are. Queries all bytes in one condition first, since
    /// they usually are.
    fn definedness(
        &mut self,
        state: &State,
        defined: ArrayId,
        range: Range<usize>,
        hidden: &dyn Fn(usize) -> bool,
    ) -> Result<Vec<bool>, Stop> {
        let flag = |at: usize| {
            if hidden(at) {
                return self.terms.truth(true);
            }
            let at = self.terms.constant(64, at as u64);
            let (flag, one) = (self.terms.read(defined, at, 1), self.terms.constant(8, 1));
            self.terms.eq(flag, one)
        };
        let flags: Vec<TermId> = range.map(flag).collect();
        let mut all = self.terms.truth(true);
        for &flag in &flags {
            all = self.terms.and(all, flag);
        }
        let known = |this: &Self, term| this.terms.as_const(term).or_else(|| state.fixed_value(term));
        let certainly_not_all = flags.iter().any(|&flag| known(self, flag) == Some(0));
        match known(self, all) {
            Some(1) => return Ok(vec![true; flags.len()]),
            None if !certainly_not_all => return Err(Stop::unfixed(all)),
            _ => {}
        }
        flags.into_iter().map(|flag| known(self, flag).map(|flag| flag == 1).ok_or(Stop::unfixed(flag))).collect()
    }

    fn offset_is(&mut self, offset: TermId, at: u64) -> TermId {
        let at = self.terms.constant(64, at);
        self.terms.eq(offset, at)
    }

    fn none_of(&mut self, offset: TermId, places: &[u64]) -> TermId {
        let mut fine = self.terms.truth(true);
        for &at in places {
            let here = self.offset_is(offset, at);
            let elsewhere = self.terms.not(here);
            fine = self.terms.and(fine, elsewhere);
        }
        fine
    }

    /// Returns the offsets at which an access of `bytes` bytes can be, as far as ranges and strides restrict them.
    fn candidates(&mut self, state: &State, offset: TermId, bytes: u64, size: u64) -> Vec<u64> {
        if let Some(at) = self.terms.as_const(offset) {
            return vec![at];
        }
        let (low, high) = self.solver.range(&self.terms, &state.path, offset).unsigned;
        let high = high.min(size - bytes);
        let (stride, residue) = stride(&self.terms, offset);
        let stride = stride.max(1);
        (low..=high).filter(|at| at.wrapping_sub(residue).is_multiple_of(stride)).collect()
    }

    /// Creates the first version of an array from cells, in elements that fit accesses of `bytes` bytes.
    fn base_array(&mut self, cells: &[Cell], bytes: u8) -> ArrayId {
        self.ledger.allocated_bytes += 2 * cells.len() as u64;
        let mut elements = Vec::new();
        let mut at = 0;
        while at < cells.len() {
            let (term, length) = self.element(cells, at, usize::from(bytes));
            elements.push(Element { offset: at as u64, bytes: length as u8, term });
            at += length;
        }
        self.terms.base_array(cells.len() as u64, elements)
    }

    fn element(&mut self, cells: &[Cell], at: usize, bytes: usize) -> (TermId, usize) {
        let run = |length: usize, fits: &dyn Fn(usize, &Cell) -> bool| {
            at + length <= cells.len() && cells[at..at + length].iter().enumerate().all(|(i, cell)| fits(i, cell))
        };
        match cells[at] {
            Cell::Part { term, index: 0 } => {
                let length = usize::from(self.terms.width(term) / 8);
                if run(length, &|i, cell| *cell == Cell::Part { term, index: i as u8 }) {
                    return (term, length);
                }
            }
            Cell::Byte(_) | Cell::Undefined
                if at.is_multiple_of(bytes)
                    && run(bytes, &|_, cell| matches!(cell, Cell::Byte(_) | Cell::Undefined)) =>
            {
                let byte = |cell: &Cell| match cell {
                    Cell::Byte(byte) => u64::from(*byte),
                    _ => 0,
                };
                let value = cells[at..at + bytes].iter().rev().fold(0u64, |sum, cell| sum << 8 | byte(cell));
                return (self.terms.constant(8 * bytes as u8, value), bytes);
            }
            _ => {}
        }
        // The byte is uninitialised or belongs to a pointer, and no access through this array reaches it.
        let byte = cell_term(cells[at], &mut self.terms).unwrap_or_else(|| self.terms.constant(8, 0));
        (byte, 1)
    }

    fn defined_array(&mut self, cells: &[Cell]) -> ArrayId {
        self.ledger.allocated_bytes += 2 * cells.len() as u64;
        let elements = cells
            .iter()
            .enumerate()
            .map(|(at, cell)| {
                let flag = self.terms.constant(8, u64::from(*cell != Cell::Undefined));
                Element { offset: at as u64, bytes: 1, term: flag }
            })
            .collect();
        self.terms.base_array(cells.len() as u64, elements)
    }
}

/// Rejects large objects: an access at a symbolic offset concerns the whole object.
fn small_enough(size: u64, span: Span) -> Result<(), Stop> {
    if size <= MAX_INDEXED_BYTES {
        return Ok(());
    }
    Err(Stop::unsupported(Unsupported::SymbolicIndex(size), span))
}

/// Returns the stop for a read of a part of a pointer at a symbolic offset: the program could only copy it.
fn part_of_pointer(span: Span) -> Stop {
    Stop::unsupported(Unsupported::PartAtSymbolicOffset, span)
}

/// Returns true if an access intersects one of these ranges.
pub(crate) fn hits(at: u64, bytes: u64, runs: &[Range<u64>]) -> bool {
    let end = at.saturating_add(bytes);
    let first = runs.partition_point(|run| run.end <= at);
    runs.get(first).is_some_and(|run| run.start < end)
}

/// Returns true if an access covers exactly one whole pointer.
fn is_slot(contents: &Contents, at: u64, bytes: u8) -> bool {
    let is_byte =
        |(index, cell): (usize, &Cell)| matches!(cell, Cell::Pointer { index: own, .. } if usize::from(*own) == index);
    bytes == 8
        && match contents {
            Contents::Cells(cells) => cells[at as usize..].iter().take(8).enumerate().all(is_byte),
            Contents::Delayed { pointers, .. } => {
                let first = pointers.partition_point(|(place, _)| (*place as u64) < at);
                let cells = pointers[first..].iter().take(8);
                cells
                    .enumerate()
                    .all(|(index, (place, cell))| *place as u64 == at + index as u64 && is_byte((index, cell)))
            }
        }
}

/// Marks bytes that an integer may have overwritten.
fn clobber(contents: &mut Contents, at: usize, bytes: u8) {
    let bytes = usize::from(bytes);
    match contents {
        Contents::Cells(cells) => cells[at..at + bytes].fill(Cell::Clobbered),
        Contents::Delayed { pointers, .. } => hide(pointers, at, &vec![Cell::Clobbered; bytes]),
    }
}

/// Shadows bytes of the array by cells of a pointer.
fn hide(pointers: &mut Vec<(usize, Cell)>, at: usize, cells: &[Cell]) {
    let from = pointers.partition_point(|(place, _)| *place < at);
    let to = pointers.partition_point(|(place, _)| *place < at + cells.len());
    pointers.splice(from..to, cells.iter().enumerate().map(|(index, cell)| (at + index, *cell)));
}

/// `(stride, residue)` with `value = residue + k * stride` for some `k`, modulo 2^64; stride 0 means constant.
fn stride(terms: &Terms, term: TermId) -> (u64, u64) {
    match terms.get(term) {
        Term::Const { value, .. } => (0, *value),
        Term::Bin(Op::Add, a, b) => {
            let ((sa, ra), (sb, rb)) = (stride(terms, *a), stride(terms, *b));
            (gcd(sa, sb), ra.wrapping_add(rb))
        }
        Term::Bin(Op::Sub, a, b) => {
            let ((sa, ra), (sb, rb)) = (stride(terms, *a), stride(terms, *b));
            (gcd(sa, sb), ra.wrapping_sub(rb))
        }
        Term::Bin(Op::Mul, a, b) => match (terms.as_const(*a), terms.as_const(*b)) {
            (Some(k), _) => scaled(stride(terms, *b), k),
            (_, Some(k)) => scaled(stride(terms, *a), k),
            _ => (1, 0),
        },
        Term::Bin(Op::Shl, a, b) => match terms.as_const(*b) {
            Some(k) if k < 64 => scaled(stride(terms, *a), 1 << k),
            _ => (1, 0),
        },
        Term::Concat { low, .. } if terms.as_const(*low) == Some(0) => (1 << terms.width(*low).min(63), 0),
        _ => (1, 0),
    }
}

/// Multiplication wraps, so in general only a divisor of 2^64 survives: a stride from a small factor is exact only if
/// nothing wraps, which the in-bounds constraint on the offset does not guarantee. Powers of two always survive.
fn scaled((stride, residue): (u64, u64), factor: u64) -> (u64, u64) {
    let stride = stride.saturating_mul(factor);
    let power = if stride == 0 { 0 } else { 1u64 << stride.trailing_zeros() };
    (power, residue.wrapping_mul(factor))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the stop for a read of a pointer that an integer may have overwritten.
pub(crate) fn clobbered(span: Span) -> Stop {
    Stop::unsupported(Unsupported::OverwrittenPointer, span)
}
