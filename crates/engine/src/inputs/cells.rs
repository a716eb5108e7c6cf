//! Fresh inputs: variables laid out by data type, within the ranges that the user gave.

use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::state::inputs::{Inputs, LazyPointer, MAX_INPUT_BYTES};
use crate::state::memory::{Cell, disassemble};
use crate::state::value::Value;
use crate::state::{PathEnd, State, Stop, unanswered};
use touchstone_base::Span;
use touchstone_ir::{DataType, DataTypeId, DataTypes, Field, mask};
use touchstone_solver::{Rel, Side, TermId};

impl Executor<'_> {
    /// Creates a fresh input variable.
    pub(crate) fn input_var(&mut self, inputs: &mut Inputs, width: u8, name: &str) -> TermId {
        let number = inputs.variables;
        inputs.variables += 1;
        self.variable(number, width, name)
    }

    /// Creates the cells of a fresh input of a type. Constraints (ranges, truth values) are collected in `constraints`.
    pub(crate) fn input_cells(
        &mut self,
        inputs: &mut Inputs,
        data: DataTypeId,
        name: &str,
        constraints: &mut Vec<TermId>,
        cells: &mut Vec<Cell>,
    ) {
        let types = &self.module.types;
        match &types[data] {
            DataType::Int { bits, signed, .. } | DataType::Enum { bits, signed, .. } => {
                let value = match self.range_of(name) {
                    // A range of one value is a constant: the engine then runs like an interpreter.
                    Some((low, high)) if low == high => Value::constant(mask(low as u64, *bits)),
                    _ => {
                        let term = self.input_var(inputs, *bits, name);
                        self.constrain(term, *signed, name, constraints);
                        Value::term(&self.terms, term)
                    }
                };
                cells.extend(disassemble(&value, bits / 8, &mut self.pointers));
            }
            DataType::Float { format, .. } => {
                let term = self.input_var(inputs, format.bits(), name);
                if let Some((low, high)) = self.range_of(name) {
                    self.between(term, *format, low as f64, high as f64, constraints);
                }
                cells.extend(disassemble(&Value::term(&self.terms, term), format.bits() / 8, &mut self.pointers));
            }
            DataType::Bool { .. } => {
                let term = self.input_var(inputs, 8, name);
                let one = self.terms.constant(8, 1);
                constraints.push(self.terms.cmp(Rel::Ule, term, one));
                self.constrain(term, false, name, constraints);
                cells.push(Cell::Part { term, index: 0 });
            }
            DataType::Pointer { pointee, .. } => {
                let lazy = inputs.add_lazy_pointer(LazyPointer {
                    name: name.into(),
                    pointee: Some(*pointee),
                    cast_to: None,
                    array: None,
                });
                cells.extend(disassemble(&Value::LazyPointer(lazy), 8, &mut self.pointers));
            }
            DataType::Array { element, length } => {
                for index in 0..*length {
                    if cells.len() >= MAX_INPUT_BYTES {
                        let rest = (length - index) * types[*element].size(types);
                        cells.resize(cells.len() + rest as usize, Cell::Unmaterialised);
                        break;
                    }
                    self.input_cells(inputs, *element, &format!("{name}[{index}]"), constraints, cells);
                }
            }
            // Only an object can have a counted array.
            DataType::Struct { kind, size, .. } if kind.is_counted() => {
                cells.resize(cells.len() + *size as usize, Cell::Unmaterialised);
            }
            DataType::Struct { .. } => self.struct_cells(inputs, data, name, constraints, cells),
            DataType::Union { .. } => self.union_cells(inputs, data, name, constraints, cells),
            // These types never occur on their own.
            DataType::Void | DataType::Bits { .. } | DataType::OneOf { .. } | DataType::Opaque { .. } => {
                let size = types[data].size(types) as usize;
                cells.resize(cells.len() + size, Cell::Unmaterialised);
            }
        }
    }

    /// Creates the cells of a structure's fields, with the padding between them.
    pub(super) fn struct_cells(
        &mut self,
        inputs: &mut Inputs,
        data: DataTypeId,
        name: &str,
        constraints: &mut Vec<TermId>,
        cells: &mut Vec<Cell>,
    ) {
        let types = &self.module.types;
        let DataType::Struct { fields, size, .. } = &types[data] else { return };
        let (start, gaps) = (cells.len(), self.gaps());
        let mut rest = fields.as_slice();
        while let Some((field, others)) = rest.split_first() {
            let at = start + field.offset as usize;
            if at < cells.len() {
                // Packed bit-fields that share bytes over more than 64 bits.
                cells[at..].fill(Cell::Unmaterialised);
                cells.resize(cells.len().max(at + types[field.ty].size(types) as usize), Cell::Unmaterialised);
                rest = others;
                continue;
            }
            self.fill_gap(gaps, at, cells);
            let part = |field: &Field| format!("{name}.{}", field.name);
            if let DataType::Bits { .. } = types[field.ty] {
                let shared = adjacent_bit_fields(types, rest);
                self.bit_cells(inputs, (&rest[..shared], gaps), part, constraints, cells);
                rest = &rest[shared..];
                continue;
            }
            self.input_cells(inputs, field.ty, &part(field), constraints, cells);
            rest = others;
        }
        self.fill_gap(gaps, start + *size as usize, cells);
    }

    /// Returns the treatment of padding: tests leave zeros there, a program may have left anything.
    fn gaps(&self) -> Gaps {
        match self.policy.environment {
            Environment::Testable => Gaps::Zero,
            Environment::Any => Gaps::Inputs,
        }
    }

    /// Adds padding bytes up to an offset. `memcmp` and the like may read them: a proof then stops.
    fn fill_gap(&mut self, gaps: Gaps, end: usize, cells: &mut Vec<Cell>) {
        let cell = match gaps {
            Gaps::Zero => Cell::Byte(0),
            Gaps::Inputs => Cell::Undefined,
        };
        self.ledger.excluded_inputs |= end > cells.len();
        cells.resize(end, cell);
    }

    /// Creates the cells of bit-fields that share bytes: one term concatenated from a variable per field.
    pub(super) fn bit_cells(
        &mut self,
        inputs: &mut Inputs,
        (fields, gaps): (&[Field], Gaps),
        name: impl Fn(&Field) -> String,
        constraints: &mut Vec<TermId>,
        cells: &mut Vec<Cell>,
    ) {
        let types = &self.module.types;
        let begin = fields.first().map_or(0, |field| field.offset);
        let end = fields.iter().map(|field| field.offset + types[field.ty].size(types)).max().unwrap_or(begin);
        let bytes = (end - begin) as u8;
        let mut all: Option<TermId> = None;
        let mut used = 0;
        for field in fields {
            let DataType::Bits { first, width, signed } = types[field.ty] else { continue };
            let at = (8 * (field.offset - begin)) as u8 + first;
            let name = name(field);
            let term = self.input_var(inputs, width, &name);
            self.constrain(term, signed, &name, constraints);
            let gap = (at > used).then(|| self.gap(inputs, gaps, at - used, &name));
            for part in [gap, Some(term)].into_iter().flatten() {
                all = Some(all.map_or(part, |low| self.terms.concat(part, low)));
            }
            used = at + width;
        }
        self.ledger.excluded_inputs |= used < 8 * bytes;
        if let Some(all) = all {
            let term = match gaps {
                Gaps::Inputs if used < 8 * bytes => {
                    let above = self.input_var(inputs, 8 * bytes - used, "padding");
                    self.terms.concat(above, all)
                }
                _ => self.terms.zext(all, 8 * bytes),
            };
            cells.extend((0..bytes).map(|index| Cell::Part { term, index }));
        }
    }

    /// Creates the padding bits before the field of this name.
    fn gap(&mut self, inputs: &mut Inputs, gaps: Gaps, width: u8, name: &str) -> TermId {
        match gaps {
            Gaps::Zero => self.terms.constant(width, 0),
            Gaps::Inputs => self.input_var(inputs, width, &format!("{name}.padding")),
        }
    }

    /// Returns the range that `--range` gives for an input, by the most specific name that matches (`a[2]`, then `a`).
    fn range_of(&self, name: &str) -> Option<(i128, i128)> {
        let mut part = name;
        loop {
            if let Some(range) = self.config.ranges.get(part) {
                return Some(*range);
            }
            part = &part[..part.rfind(['[', '.'])?];
        }
    }

    pub(super) fn constrain(&mut self, term: TermId, signed: bool, name: &str, constraints: &mut Vec<TermId>) {
        let config = self.config;
        for way in config.excluded_choices.iter().filter(|way| way.choice == name) {
            let value = self.terms.constant(self.terms.width(term), way.value);
            let taken = self.terms.eq(term, value);
            constraints.push(self.terms.not(taken));
        }
        let Some(range) = self.range_of(name) else { return };
        let width = self.terms.width(term);
        let (least, greatest) =
            if signed { (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1) } else { (0, (1i128 << width) - 1) };
        let (low, high) = (range.0.max(least), range.1.min(greatest));
        if low > high {
            constraints.push(self.terms.truth(false));
            return;
        }
        let rel = if signed { Rel::Sle } else { Rel::Ule };
        let bits = |value: i128| mask(value as u64, width);
        let (low, high) = (self.terms.constant(width, bits(low)), self.terms.constant(width, bits(high)));
        constraints.push(self.terms.cmp(rel, low, term));
        constraints.push(self.terms.cmp(rel, term, high));
    }

    /// Creates a symbolic string of at most `length` characters. The bytes behind its terminator are zero: no program
    /// may read them.
    pub(super) fn string_cells(&mut self, state: &mut State, name: &str, length: u32) -> Result<Vec<Cell>, Stop> {
        let zero = self.terms.constant(8, 0);
        let (mut cells, mut constraints, mut before) = (Vec::new(), Vec::new(), None);
        for index in 0..length {
            let term = self.input_var(state.inputs_mut(), 8, &format!("{name}[{index}]"));
            if let Some(before) = before {
                let (over, ends) = (self.terms.cmp(Rel::Eq, before, zero), self.terms.cmp(Rel::Eq, term, zero));
                let goes_on = self.terms.not(over);
                constraints.push(self.terms.or(goes_on, ends));
            }
            before = Some(term);
            cells.push(Cell::Part { term, index: 0 });
        }
        cells.push(Cell::Byte(0));
        self.assume_all(state, &constraints)?;
        Ok(cells)
    }

    pub(crate) fn size_of(&self, data: DataTypeId) -> u64 {
        self.module.types[data].size(&self.module.types)
    }

    /// Returns true if memory cannot distinguish two types.
    pub(crate) fn same_layout(&self, a: DataTypeId, b: DataTypeId) -> bool {
        a == b || self.module.pointee(a).same == self.module.pointee(b).same
    }

    pub(crate) fn assume_all(&mut self, state: &mut State, constraints: &[TermId]) -> Result<(), PathEnd> {
        for &constraint in constraints {
            match self.assume(&state.path, constraint) {
                Side::Feasible(path) => state.path = path,
                Side::Infeasible => return Err(PathEnd::Assumed),
                Side::Unknown(why) => {
                    let why = unanswered(why);
                    return Err(PathEnd::Incomplete { why, span: Span::none() });
                }
            }
        }
        Ok(())
    }
}

/// The treatment of padding bits and bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gaps {
    Zero,
    /// Unconstrained inputs.
    Inputs,
}

/// Returns the number of leading fields that are bit-fields sharing bytes with each other within 64 bits.
pub(super) fn adjacent_bit_fields(types: &DataTypes, fields: &[Field]) -> usize {
    let Some(begin) = fields.first().map(|field| field.offset) else { return 0 };
    let mut end = begin;
    let mut count = 0;
    for field in fields {
        let next = field.offset + types[field.ty].size(types);
        let shares = count == 0 || field.offset < end;
        if !matches!(types[field.ty], DataType::Bits { .. }) || !shares || next - begin > 8 {
            break;
        }
        end = end.max(next);
        count += 1;
    }
    count
}
