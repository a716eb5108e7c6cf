//! What functions that nobody defines leave behind: where their pointers lead, and in globals.
//!
//! It is an input of its type, or what was there before: which of both is an input, too, and no fork. Memory that nobody
//! wrote is always written, since a test that union_accesses at it would show nothing of the program. Only tests are made here: a
//! proof has forgotten all that such a function may reach already (`world.rs`).
//!
//! Deliberately not written: pointers that lead to objects which no test can name, and memory at places that depend on inputs.

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
use touchstone_criteria::{Assume, Doubt};
use touchstone_ir::{DataType, DataTypeId, FunctionRole, GlobalId, GlobalRole, InputSource, Linkage, Operand, Ty};
use touchstone_solver::{Element, Rel, TermId};

/// A larger object is not written.
const MAX_OBJECT_BYTES: u64 = 256;
/// So many bytes are written at most.
const MAX_RAW_BYTES: u64 = 64;
/// A larger global is not changed.
const MAX_GLOBAL_BYTES: u64 = 64;

/// What a call left.
struct WrittenMemory {
    /// What memory holds then.
    memory: Vec<Cell>,
    /// Some of it, behind what was left, may still be what nobody wrote.
    partly: bool,
    made: RequestedInput,
}

impl Executor<'_> {
    /// Somebody may leave something where a parameter leads to.
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
        let left = match self.config.assume.contains(&Assume::PureExternals) {
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

    /// Of a function that is described nothing was forgotten but this.
    fn havoc_pointee(&mut self, state: &mut State, name: &str, to: Operand) -> Result<(), Stop> {
        let function = &self.module.functions[state.top().func];
        if !function.is_described() {
            return Ok(());
        }
        let doubt = Doubt::External(function.name.clone());
        let objects = match state.top().value(to) {
            Value::LazyPointer(id) => match state.inputs.target_of(id) {
                Some(Value::Ptr(pointer)) => Some(pointer.object),
                // Nobody has looked there yet, so it is anything already.
                _ => None,
            },
            Value::Ptr(pointer) => Some(pointer.object),
            Value::Int(Scalar::Const(_)) => None,
            _ => return self.assume_no_external_writes(state, name),
        };
        match objects {
            Some(object) => self.havoc_object(state, object, Written::Bytes, doubt, Span::none()),
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
            // Nobody has looked there yet, so whatever is there may as well be what was left.
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
            // The object, if there is room for it.
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
        // RequestedType before inputs are made: it may take a choice.
        let mut old = self.plain_cells(state, object, at as usize..(at + most) as usize)?;
        let least = if of_bytes && room > step { 0 } else { step };
        let (most, length) = match given {
            // Who is given memory that nobody wrote fills it.
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
            // No test knows the type to write it with.
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

    /// What the parameter says that it leads to, and whether that is bytes of anything.
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

    /// Inputs for the pieces of an object that lie among its next bytes.
    fn bytes_at(&mut self, state: &mut State, object: ObjectId, at: u64, most: u64, name: &str, new: &mut Vec<Cell>) {
        for (start, bytes) in layout(self, state, object) {
            if start != at + new.len() as u64 || new.len() as u64 + u64::from(bytes) > most {
                continue;
            }
            let term = self.input_var(state.inputs_mut(), 8 * bytes, &format!("{name}[{}]", new.len()));
            new.extend(disassemble(&Value::term(&self.terms, term), bytes, &mut self.pointers));
        }
    }

    /// What memory holds after something new was left there, or not; `None` if no test can say that.
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
                // A pointer that a test can name stays.
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

    /// Bytes are left as far as a length says: what is behind them, and nobody wrote, stays so.
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

    /// Whether these are all bytes of a pointer to something that a test has a name for.
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

    /// Somebody whom nobody defines ran: globals that it knows, and that are inputs, may hold something else.
    pub(crate) fn external_globals_change(&mut self, state: &mut State, function: &str) -> Result<(), Stop> {
        let caller = &self.module.functions[state.top().func];
        let changes = match caller.role {
            FunctionRole::Callback => self.config.externals,
            role => matches!(role, FunctionRole::External | FunctionRole::Library),
        };
        // The library knows nothing of the program's, but tells what went wrong.
        let knows = caller.role != FunctionRole::Library;
        let pure = self.config.assume.contains(&Assume::PureExternals);
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
                // Tests begin with 0; what an earlier call left may as well be what this one leaves.
                GlobalRole::LeftBehind if old.iter().all(|cell| cell.is_unmaterialised()) => {
                    vec![Cell::Byte(0); old.len()]
                }
                _ => old.clone(),
            };
            if global.size > MAX_GLOBAL_BYTES || !old.iter().all(plain) {
                continue;
            }
            let name = format!("{function}.{}", global.known_as.as_ref().unwrap_or(&global.name));
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

/// Where the values in fresh cells begin, and how many bytes they have.
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
