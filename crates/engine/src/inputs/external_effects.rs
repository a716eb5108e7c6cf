//! Side effects of external functions on memory: writes through their pointer arguments, and to globals.
//!
//! Memory after the call is an input of its type, or unchanged: which of both is an input, too, and no fork.
//! Uninitialised memory is always written, since a test that reads it would show nothing about the program. This is for
//! tests only: a proof has already havocked everything that such a function can reach
//! (`exec/environment/external_calls.rs`).
//!
//! Deliberately not written: pointers to objects that no test can name, and memory at symbolic offsets.

use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::exec::memory::access::Written;
use crate::exec::memory::object_layout::layout;
use crate::state::inputs::RequestedInput;
use crate::state::memory::{
    Assembled, Cell, Contents, ObjectKind, ObjectShape, assemble, cell_term, disassemble, global_object,
};
use crate::state::value::{ObjectId, Pointer, Scalar, Value};
use crate::state::{State, Stop};
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{AssumeOption, Caveat};
use touchstone_ir::{DataType, DataTypeId, FunctionRole, GlobalId, GlobalRole, InputSource, Linkage, Operand, Ty};
use touchstone_solver::{Element, Rel, TermId};

/// The maximum size of an object that is written.
const MAX_OBJECT_BYTES: u64 = 256;
/// The maximum number of raw bytes that are written.
const MAX_RAW_BYTES: u64 = 64;
/// The maximum size of a global that is written.
const MAX_GLOBAL_BYTES: u64 = 64;

/// Memory after a call.
struct WrittenMemory {
    /// The contents of memory.
    memory: Vec<Cell>,
    /// True if some bytes behind those written may still be uninitialised.
    partly: bool,
    made: RequestedInput,
}

impl Executor<'_> {
    /// Lets an external function write the pointee of an argument.
    pub(crate) fn external_writes_pointee(
        &mut self,
        state: &mut State,
        name: String,
        to: Operand,
        size: Operand,
    ) -> Result<(), Stop> {
        if self.policy.environment == Environment::Any {
            return self.havoc_pointee(state, &name, to);
        }
        let left = match self.config.assume.contains(&AssumeOption::PureExternals) {
            true => None,
            false => self.pointee_after_call(state, &name, to, size)?,
        };
        let made = match left {
            None => RequestedInput::new(InputSource::Written, name, Vec::new()),
            Some((object, at, left)) => {
                match left.made.length {
                    Some(length) if left.partly => self.overwrite_partly(state, object, at, &left.memory, length)?,
                    _ => self.overwrite(state, object, at, &left.memory)?,
                }
                left.made
            }
        };
        state.inputs_mut().requested.push(Rc::new(made));
        Ok(())
    }

    /// Havocs the pointee of an argument of a function with a description: nothing else was havocked.
    fn havoc_pointee(&mut self, state: &mut State, name: &str, to: Operand) -> Result<(), Stop> {
        let function = &self.module.functions[state.top().func];
        if !function.is_described() {
            return Ok(());
        }
        let caveat = Caveat::External(function.name.clone());
        let objects = match state.top().value(to) {
            Value::LazyPointer(id) => match state.inputs.target_of(id) {
                Some(Value::Ptr(pointer)) => Some(pointer.object),
                // The pointee was not accessed yet, so it is unconstrained already.
                _ => None,
            },
            Value::Ptr(pointer) => Some(pointer.object),
            Value::Int(Scalar::Const(_)) => None,
            _ => return self.assume_no_external_writes(state, name),
        };
        match objects {
            Some(object) => self.havoc_object(state, object, Written::Bytes, caveat, Span::none()),
            None => Ok(()),
        }
    }

    fn pointee_after_call(
        &mut self,
        state: &mut State,
        name: &str,
        to: Operand,
        size: Operand,
    ) -> Result<Option<(ObjectId, usize, WrittenMemory)>, Stop> {
        let value = match state.top().value(to) {
            // The pointee was not accessed yet, so its contents may as well be those after the call.
            Value::LazyPointer(id) => match state.inputs.target_of(id) {
                Some(decided) => decided.clone(),
                None => return Ok(None),
            },
            value => value,
        };
        let function = name.split_once('.').map_or(name, |(function, _)| function).to_string();
        let (object, at) = match value {
            Value::Ptr(Pointer { object, offset: Scalar::Const(at) }) => (object, at),
            Value::Int(Scalar::Const(_)) => return Ok(None),
            _ => {
                self.assume_no_external_writes(state, &function)?;
                return Ok(None);
            }
        };
        let known = state.memory.get(object);
        let writable = known.live && known.kind != ObjectKind::Constant && known.shape == ObjectShape::Concrete;
        let Some(room) = known.size.checked_sub(at).filter(|room| writable && *room > 0) else { return Ok(None) };
        let (data, of_bytes) = self.pointee_of(state, to);
        let given = self.scalar(state, size, Span::none())?;
        let whole = known.data.filter(|data| at == 0 && !self.is_of_one_byte(*data));
        let element = match (of_bytes, whole, given) {
            (false, ..) => data,
            // The whole object, if the size allows it.
            (true, Some(whole), Scalar::Const(size)) if self.size_of(whole) <= size => Some(whole),
            _ => None,
        };
        let step = element.map_or(1, |element| self.size_of(element));
        if step > room.min(MAX_OBJECT_BYTES) {
            if step <= room {
                self.assume_no_external_writes(state, &function)?;
            }
            return Ok(None);
        }
        let most = room.min(if element.is_some() { MAX_OBJECT_BYTES } else { MAX_RAW_BYTES });
        // Reads the cells before inputs are created: this may fork.
        let mut old = self.plain_cells(state, object, at as usize..(at + most) as usize)?;
        let least = if of_bytes && room > step { 0 } else { step };
        let (most, length) = match given {
            // A function that receives uninitialised memory fills it.
            Scalar::Const(size) if !of_bytes && size == step && old.contains(&Cell::Undefined) => (most, None),
            Scalar::Const(size) => (size.max(least).min(most), None),
            Scalar::Term(_) if room == step => (most, None),
            Scalar::Term(size) => (most, Some(size)),
        };
        let mut new = Vec::new();
        match element {
            Some(element) => {
                let mut constraints = Vec::new();
                for index in 0..most / step {
                    let name = if most < 2 * step { name.to_string() } else { format!("{name}[{index}]") };
                    self.input_cells(state.inputs_mut(), element, &name, &mut constraints, &mut new);
                }
                self.assume_all(state, &constraints)?;
            }
            None => self.bytes_at(state, object, at, most, name, &mut new),
        }
        old.truncate(new.len());
        if of_bytes && new.iter().any(|cell| cell.is_pointer()) {
            // A test does not know the type to write it with.
            self.assume_no_external_writes(state, &function)?;
            return Ok(None);
        }
        if new.is_empty() {
            return Ok(None);
        }
        let length = length.map(|length| self.at_least(length, least));
        let is_number = |cell: &Cell| matches!(cell, Cell::Byte(_) | Cell::Part { .. } | Cell::Undefined);
        if length.is_some() && old.contains(&Cell::Undefined) {
            let size = state.memory.get(object).size;
            let all = self.plain_cells(state, object, 0..size as usize)?;
            if size > MAX_OBJECT_BYTES || !all.iter().chain(&new).all(is_number) {
                self.assume_no_external_writes(state, &function)?;
                return Ok(None);
            }
        }
        let left = self.merged(state, (InputSource::Written, name.to_string()), &old, new, length);
        if left.is_none() {
            self.assume_no_external_writes(state, &function)?;
        }
        Ok(left.map(|left| (object, at as usize, left)))
    }

    /// Returns the declared pointee of a parameter, and whether it is raw bytes.
    fn pointee_of(&self, state: &State, to: Operand) -> (Option<DataTypeId>, bool) {
        let function = &self.module.functions[state.top().func];
        let param = function.params.iter().find(|param| Operand::Reg(param.reg) == to);
        let data = param.map(|param| match self.module.types[param.data] {
            DataType::Pointer { pointee, .. } => pointee,
            _ => param.data,
        });
        let of_bytes = data.is_none_or(|data| self.size_of(data) == 0 || self.is_of_one_byte(data));
        (data, of_bytes)
    }

    fn is_of_one_byte(&self, data: DataTypeId) -> bool {
        matches!(self.module.types[data], DataType::Int { bits: 8, .. })
    }

    fn at_least(&mut self, length: TermId, least: u64) -> TermId {
        let least = self.terms.constant(64, least);
        let less = self.terms.cmp(Rel::Ult, length, least);
        self.terms.ite(less, least, length)
    }

    /// Creates inputs for the scalar pieces of an object in its next bytes.
    fn bytes_at(&mut self, state: &mut State, object: ObjectId, at: u64, most: u64, name: &str, new: &mut Vec<Cell>) {
        for (start, bytes) in layout(self, state, object) {
            if start != at + new.len() as u64 || new.len() as u64 + u64::from(bytes) > most {
                continue;
            }
            let term = self.input_var(state.inputs_mut(), 8 * bytes, &format!("{name}[{}]", new.len()));
            new.extend(disassemble(&Value::term(&self.terms, term), bytes, &mut self.pointers));
        }
    }

    /// Merges memory before and after a write that may not happen; `None` if no test can express it.
    fn merged(
        &mut self,
        state: &mut State,
        (source, name): (InputSource, String),
        old: &[Cell],
        mut new: Vec<Cell>,
        length: Option<TermId>,
    ) -> Option<WrittenMemory> {
        let unknown = |cell: &Cell| matches!(cell, Cell::Unmaterialised | Cell::Union { .. } | Cell::Clobbered);
        if new.is_empty() || new.iter().chain(old).any(unknown) {
            return None;
        }
        let pieces = pieces(&new, &self.terms);
        let mut always = old.contains(&Cell::Undefined);
        for &(at, bytes) in &pieces {
            let before = &old[at..at + bytes];
            let is_empty = before.iter().all(|cell| matches!(cell, Cell::Byte(0) | Cell::Undefined));
            match (new[at].is_pointer(), before.iter().any(|cell| cell.is_pointer())) {
                (true, false) if is_empty => always = true,
                // A pointer that a test can name is kept.
                (true, true) if self.is_nameable(state, before) => new[at..at + bytes].copy_from_slice(before),
                (false, false) => {}
                _ => return None,
            }
        }
        let given = (!always).then(|| self.input_var(state.inputs_mut(), 1, &format!("{name}?")));
        let mut memory = new.clone();
        for (at, bytes) in pieces {
            let condition = match (given, length) {
                (Some(given), None) => given,
                (given, Some(length)) => {
                    let here = self.terms.constant(64, at as u64);
                    let inside = self.terms.cmp(Rel::Ult, here, length);
                    given.map_or(inside, |given| self.terms.and(given, inside))
                }
                (None, None) => continue,
            };
            let (before, after) = (&old[at..at + bytes], &new[at..at + bytes]);
            if after[0].is_pointer() || before == after || before.contains(&Cell::Undefined) {
                continue;
            }
            let ty = Ty::Int(8 * bytes as u8);
            let (Assembled::Value(Value::Int(before)), Assembled::Value(Value::Int(after))) = (
                assemble(before, ty, &mut self.terms, &self.pointers),
                assemble(after, ty, &mut self.terms, &self.pointers),
            ) else {
                return None;
            };
            let (before, after) = (before.term(&mut self.terms, ty.bits()), after.term(&mut self.terms, ty.bits()));
            let merged = self.terms.ite(condition, after, before);
            let merged = Value::term(&self.terms, merged);
            let cells = disassemble(&merged, bytes as u8, &mut self.pointers);
            memory[at..at + bytes].iter_mut().zip(cells).for_each(|(cell, new)| *cell = new);
        }
        let partly = length.is_some() && old.contains(&Cell::Undefined);
        Some(WrittenMemory {
            memory,
            partly,
            made: RequestedInput { data: None, source, name, cells: new, given, length },
        })
    }

    /// Writes bytes up to a symbolic length: uninitialised bytes behind them stay uninitialised.
    fn overwrite_partly(
        &mut self,
        state: &mut State,
        object: ObjectId,
        at: usize,
        new: &[Cell],
        length: TermId,
    ) -> Result<(), Stop> {
        let size = state.memory.get(object).size;
        let old = self.plain_cells(state, object, 0..size as usize)?;
        let (no, yes) = (self.terms.constant(8, 0), self.terms.constant(8, 1));
        let (mut elements, mut flags) = (Vec::new(), Vec::new());
        for (index, before) in old.iter().enumerate() {
            let after = index.checked_sub(at).and_then(|place| new.get(place));
            let term = cell_term(*after.unwrap_or(before), &mut self.terms).unwrap_or(no);
            let flag = match (before, after) {
                (Cell::Undefined, None) => no,
                (Cell::Undefined, Some(_)) => {
                    let place = self.terms.constant(64, (index - at) as u64);
                    let inside = self.terms.cmp(Rel::Ult, place, length);
                    self.terms.ite(inside, yes, no)
                }
                _ => yes,
            };
            elements.push(Element { offset: index as u64, bytes: 1, term });
            flags.push(Element { offset: index as u64, bytes: 1, term: flag });
        }
        let defined = Some(self.terms.base_array(size, flags));
        let array = self.terms.base_array(size, elements);
        state.memory.get_mut(object).contents = Contents::Delayed { array, defined, pointers: Vec::new() };
        Ok(())
    }

    /// Returns true if these are all bytes of a pointer to an object that a test can name.
    fn is_nameable(&self, state: &State, cells: &[Cell]) -> bool {
        let [Cell::Pointer { value, index: 0 }, ..] = cells else { return false };
        let whole = |(at, cell): (usize, &Cell)| *cell == Cell::Pointer { value: *value, index: at as u8 };
        let named = |object: ObjectId| {
            let global = self.module.globals.get(GlobalId::new(object.index()));
            let visible = global.is_some_and(|global| matches!(global.linkage, Linkage::External | Linkage::Internal));
            visible || state.inputs.objects.iter().any(|input| input.object == object)
        };
        let leads = match self.pointers.get(*value) {
            Value::LazyPointer(id) => match state.inputs.target_of(*id) {
                Some(Value::Ptr(pointer)) => named(pointer.object),
                Some(value) => *value == Value::NULL,
                None => true,
            },
            Value::Ptr(pointer) => named(pointer.object),
            _ => false,
        };
        cells.len() == 8 && leads && cells.iter().enumerate().all(whole)
    }

    /// Lets an external function change the global inputs that it can name.
    pub(crate) fn external_globals_change(&mut self, state: &mut State, function: &str) -> Result<(), Stop> {
        let caller = &self.module.functions[state.top().func];
        let changes = match caller.role {
            FunctionRole::Callback => self.config.externals,
            role => matches!(role, FunctionRole::External | FunctionRole::Library),
        };
        // The library does not access globals of the program, but it sets the error number.
        let knows = caller.role != FunctionRole::Library;
        let pure = self.config.assume.contains(&AssumeOption::PureExternals);
        if !changes || pure || self.policy.environment == Environment::Any || state.is_folded() {
            return Ok(());
        }
        let globals = state.inputs.globals.iter().filter_map(|input| self.module.global_named(&input.name));
        let globals = globals.filter(|id| knows && self.module.globals[*id].linkage == Linkage::External);
        let globals: Vec<GlobalId> = globals.chain(self.error_number(state).map(|(id, _)| id)).collect();
        for id in globals {
            let global = &self.module.globals[id];
            let object = global_object(id);
            let contents = &state.memory.get(object).contents;
            let Contents::Cells(old) = contents else { continue };
            let plain = |cell: &Cell| matches!(cell, Cell::Byte(_) | Cell::Part { .. });
            let old = match global.role {
                // Tests begin with 0; a value left by an earlier call may as well be set by this one.
                GlobalRole::LibraryState if old.iter().all(|cell| cell.is_unmaterialised()) => {
                    vec![Cell::Byte(0); old.len()]
                }
                _ => old.clone(),
            };
            if global.size > MAX_GLOBAL_BYTES || !old.iter().all(plain) {
                continue;
            }
            let name = format!("{function}.{}", global.display_name.as_ref().unwrap_or(&global.name));
            let (mut new, mut constraints) = (Vec::new(), Vec::new());
            self.input_cells(state.inputs_mut(), global.data, &name, &mut constraints, &mut new);
            self.assume_all(state, &constraints)?;
            if new.len() != old.len() || !new.iter().all(plain) {
                continue;
            }
            if let Some(left) = self.merged(state, (InputSource::Changed, name), &old, new, None) {
                self.overwrite(state, object, 0, &left.memory)?;
                state.inputs_mut().requested.push(Rc::new(left.made));
            }
        }
        Ok(())
    }
}

/// Returns the offset and size of the scalars in fresh cells.
fn pieces(cells: &[Cell], terms: &touchstone_solver::Terms) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < cells.len() {
        let bytes = match cells[at] {
            Cell::Part { term, index: 0 } => usize::from(terms.width(term) / 8),
            Cell::Pointer { index: 0, .. } => 8,
            _ => 1,
        };
        let bytes = bytes.clamp(1, cells.len() - at);
        found.push((at, bytes));
        at += bytes;
    }
    found
}
